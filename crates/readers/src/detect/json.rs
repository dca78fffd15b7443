//! Detects JSON in a text or in lines: documents, streams of them (NDJSON, `jq` output), and truncated JSON.
//!
//! Values are parsed and dropped; no tree is built. A single scalar, such as `"ok"` or `42`, does not count as JSON.

use serde::de::IgnoredAny;
use serde_json::Deserializer;

use super::page::{Page, PageLine, Question, filled};

/// Returns true if a text is JSON: one or more objects or arrays with at most a short tail after them, or the intact
/// start of one.
pub(super) fn is_json(text: &str) -> bool {
    let bare = text.trim_start_matches('\u{feff}').trim();
    if !bare.starts_with(['{', '[']) {
        return false;
    }
    let mut stream = Deserializer::from_str(bare).into_iter::<IgnoredAny>();
    loop {
        let parsed = stream.byte_offset();
        match stream.next() {
            None => return true,
            Some(Ok(_)) if bare[parsed..].trim_start().starts_with(['{', '[']) => {}
            Some(Err(error)) if error.is_eof() && has_structure(&bare[parsed..]) => return true,
            // The rest is a note of the tool that printed the values, or the text is not JSON.
            Some(_) => return parsed * 10 >= bare.len() * 8 || has_json_lines(Page::of(bare).view().lines),
        }
    }
}

/// Returns true if the start of a truncated value has more than a bracket.
fn has_structure(cut: &str) -> bool {
    let dense: String = cut.chars().filter(|c| !c.is_whitespace()).take(200).collect();
    dense.contains("\":") || ["[{", "[[", "[\""].iter().any(|start| dense.starts_with(start)) && dense.len() > 8
}

/// Returns true if nearly all lines have the form of JSON: a printed document with an omitted middle, or records of
/// which some are truncated.
pub(super) fn has_json_lines(lines: &[PageLine]) -> bool {
    let (mut total, mut members, mut items) = (0usize, 0usize, 0usize);
    for line in filled(lines) {
        total += 1;
        let is_member = line.is(Question::Record) || line.is(Question::Member);
        members += usize::from(is_member);
        items += usize::from(!is_member && line.is(Question::Item));
    }
    total >= 3 && members * 10 >= total * 3 && (members + items) * 10 >= total * 9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_without_end_are_no_json() {
        assert!(!is_json("{\n".repeat(50_000).as_str()));
    }
}
