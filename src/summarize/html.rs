//! HTML -> title, headings.

use super::sheet::{Sheet, quote};
use crate::content::markup::{Piece, pieces};

/// The most bytes that are read of a heading.
const HEADING: usize = 400;

/// Writes the summary, and returns false if the page has neither title nor heading.
pub(super) fn summarize(text: &str, sheet: &mut Sheet) -> bool {
    let mut told: Vec<(String, String)> = Vec::new();
    let mut is_open = false;
    for piece in pieces(text) {
        match (piece, told.last_mut()) {
            (Piece::Open(name, _), _) => {
                let name = name.to_ascii_lowercase();
                if matches!(&*name, "title" | "h1" | "h2" | "h3" | "h4") {
                    told.push((name, String::new()));
                    is_open = true;
                }
            }
            (Piece::Close(name), Some((open, _))) => is_open &= !name.eq_ignore_ascii_case(open),
            (Piece::Words(words), Some((_, said))) if is_open && said.len() < HEADING => said.push_str(words),
            _ => {}
        }
    }
    let told = told.iter().map(|(name, words)| (&**name, decoded(words))).filter(|(_, words)| !words.is_empty());
    let (titles, mut headings): (Vec<_>, Vec<_>) = told.partition(|(name, _)| *name == "title");
    if titles.is_empty() && headings.is_empty() {
        return false;
    }
    sheet.say("HTML page");
    if let Some((_, title)) = titles.first() {
        sheet.say(&format!("title: {title}"));
    }
    // Navigation often comes first and has low-level headings.
    headings.sort_by_key(|(name, _)| *name);
    let headings: Vec<String> = headings.iter().map(|(name, words)| format!("{name} {words}")).collect();
    if !headings.is_empty() {
        sheet.list("headings:", &headings, sheet.share(70));
    }
    true
}

/// Returns words with the most common entities decoded.
fn decoded(words: &str) -> String {
    const ENTITIES: [(&str, &str); 6] =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")];
    let words = ENTITIES.iter().fold(words.to_owned(), |words, (entity, character)| words.replace(entity, character));
    quote(words.trim_end_matches('¶'), 100)
}
