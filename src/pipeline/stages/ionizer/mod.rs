//! `[{"id":1,"ok":true},{"id":2,"ok":true}]` -> `[A` with columns `id=^+1,ok=true`: JSON becomes columns, rows and rules.

mod cells;
mod escapes;
mod fit;
mod json;
mod layout;
mod read;
mod records;
mod scan;
mod shared_text;
mod steps;
mod write;

use crate::config::Encoding;

/// temporary
pub fn try_fold(text: &str) -> Option<(String, String)> {
    let scan = scan::scan(text)?;
    Some(json::fold(text, &scan, false, Encoding::O200kBase))
}
/// temporary
pub fn try_unfold(l: &str, b: &str) -> Option<String> {
    json::unfold(l, b)
}
