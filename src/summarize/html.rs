//! HTML -> title, headings.
//!
//! Tags are found by their brackets, without a parser, which is enough for titles and headings.

use std::sync::LazyLock;

use regex::Regex;

use super::line_pattern;
use super::sheet::{Sheet, quote};
use crate::content::head;

/// The most bytes that are read between the tags of a heading.
const HEADING: usize = 400;

static OPENING: LazyLock<Regex> = LazyLock::new(|| line_pattern(r"(?i)<(title|h[1-4])(?:\s[^<>]*)?>"));

/// Writes the summary, and returns false if the page has neither title nor heading.
pub(super) fn summarize(text: &str, sheet: &mut Sheet) -> bool {
    let mut title = None;
    let mut headings = Vec::new();
    for found in OPENING.captures_iter(text) {
        let start = found.get(0).expect("group 0 always matches").end();
        let inner = head(&text[start..], HEADING);
        let inner = inner
            .to_ascii_lowercase()
            .find(&format!("</{}", found[1].to_ascii_lowercase()))
            .map_or(inner, |close| &inner[..close]);
        let words = words_of(inner);
        if words.is_empty() {
            continue;
        }
        if found[1].eq_ignore_ascii_case("title") {
            title.get_or_insert(words);
        } else {
            headings.push(format!("{} {words}", found[1].to_ascii_lowercase()));
        }
    }
    if title.is_none() && headings.is_empty() {
        return false;
    }
    sheet.say("HTML page");
    if let Some(title) = title {
        sheet.say(&format!("title: {title}"));
    }
    // Navigation often comes first and has low-level headings.
    headings.sort_by_key(|heading| heading.as_bytes()[1]);
    if !headings.is_empty() {
        sheet.list("headings:", &headings, sheet.share(70));
    }
    true
}

/// Returns the words outside tags, with the most common entities decoded.
fn words_of(html: &str) -> String {
    let mut out = String::new();
    let mut in_tag = false;
    for c in html.chars() {
        match c {
            '<' => in_tag = true,
            '>' if in_tag => in_tag = false,
            c if !in_tag => out.push(c),
            _ => {}
        }
    }
    for (entity, word) in
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")]
    {
        if out.contains(entity) {
            out = out.replace(entity, word);
        }
    }
    quote(out.trim_end_matches('¶'), 100)
}
