//! A JSON text -> legend and body.

use concertina_format::ionizer::json::HOW_TO_READ;

use super::layout;
use super::records::Plan;
use super::scan::Scan;
use super::write;
use crate::tokens::Encoding;

/// Folds a scanned text; `tail` is the rest of its last line. `None` if no layout rule fits.
pub(super) fn fold(scan: &Scan<'_>, lines: bool, tail: &str, encoding: Encoding) -> Option<(String, String)> {
    let mut setting = layout::detect(scan, lines)?;
    setting.tail = !tail.is_empty();
    let plan = Plan::of(&scan.tree, encoding);
    let mut body = write::write(&scan.tree, &plan, encoding);
    if setting.tail {
        body.push('\n');
        body.push_str(tail);
    }
    let how = if plan.classes.is_empty() { "" } else { HOW_TO_READ };
    Some((format!("json {}{how}", setting.to_words()), body))
}
