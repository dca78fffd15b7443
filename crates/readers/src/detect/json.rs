//! Whether a text, or lines, are JSON: documents, streams of them (NDJSON, `jq` output), and JSON that was cut short.
//!
//! Nothing is built: values are parsed and dropped. A scalar alone is not JSON here, `"ok"` and `42` are texts.

use serde::de::IgnoredAny;
use serde_json::Deserializer;

use super::page::{Page, PageLine, Question, filled};

/// Returns true if a text is JSON: one or more objects or arrays and nothing else but a short tail, or the intact head
/// of one.
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
            // What follows the values is a note of the tool that printed them, or this was no JSON at all.
            Some(_) => return parsed * 10 >= bare.len() * 8 || has_json_lines(Page::of(bare).view().lines),
        }
    }
}

/// Returns true if the head of a value shows more than a bracket.
fn has_structure(cut: &str) -> bool {
    let dense: String = cut.chars().filter(|c| !c.is_whitespace()).take(200).collect();
    dense.contains("\":") || ["[{", "[[", "[\""].iter().any(|start| dense.starts_with(start)) && dense.len() > 8
}

/// Lines of a printed document whose middle was left out, or records of which some are cut: nearly all lines are of
/// JSON's form.
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

/// Returns the share of lines, in percent of `length` bytes, that are objects.
pub(super) fn share_of_records(lines: &[PageLine], length: usize) -> usize {
    let records = lines.iter().filter(|line| line.is(Question::Record));
    records.map(|line| line.bare.len()).sum::<usize>() * 100 / length.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_without_end_are_no_json() {
        assert!(!is_json("{\n".repeat(50_000).as_str()));
    }
}
