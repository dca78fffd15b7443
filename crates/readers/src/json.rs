//! JSON documents, streams of them (NDJSON, `jq` output), and JSON that was cut short.
//!
//! Nothing is built: values are parsed and dropped. A scalar alone is not JSON here, `"ok"` and `42` are texts.

use serde::de::IgnoredAny;
use serde_json::Deserializer;

use super::lines::lines;
use super::seen::{Page, Question, Seen, filled};

/// Whether a text is JSON: one or more objects or arrays and nothing else but a short tail, or the intact head of one.
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

/// Whether the head of a value shows more than a bracket.
fn has_structure(cut: &str) -> bool {
    let dense: String = cut.chars().filter(|c| !c.is_whitespace()).take(200).collect();
    dense.contains("\":") || ["[{", "[[", "[\""].iter().any(|start| dense.starts_with(start)) && dense.len() > 8
}

/// Lines of a printed document whose middle was left out, or records of which some are cut: nearly all lines are of JSON's form.
pub(super) fn has_json_lines(lines: &[Seen]) -> bool {
    let (mut total, mut members, mut items) = (0usize, 0usize, 0usize);
    for line in filled(lines) {
        total += 1;
        let is_member = line.is(Question::Record) || line.is(Question::Member);
        members += usize::from(is_member);
        items += usize::from(!is_member && line.is(Question::Item));
    }
    total >= 3 && members * 10 >= total * 3 && (members + items) * 10 >= total * 9
}

/// Whether a line, without blanks around it, is an object.
pub(super) fn is_record(line: &str) -> bool {
    line.starts_with("{\"") && line.ends_with('}')
}

/// Whether a line, without blanks around it, is a name with its value.
pub(super) fn is_member(line: &str) -> bool {
    line.starts_with('"') && line.contains("\":")
}

/// Whether a line, without blanks around it, is brackets, or an item of an array.
pub(super) fn is_item(line: &str) -> bool {
    let is_value = line.starts_with(['"', '-']) || line.starts_with(|c: char| c.is_ascii_digit());
    line.bytes().all(|byte| matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b' ')) || is_value && line.ends_with(',')
}

/// The share of lines, in percent of `length` bytes, that are objects.
pub(super) fn share_of_records(lines: &[Seen], length: usize) -> usize {
    let records = lines.iter().filter(|line| line.is(Question::Record));
    records.map(|line| line.bare.len()).sum::<usize>() * 100 / length.max(1)
}

/// Attempts to read values inside other text; bounded, so that a text of opening brackets stays linear.
#[derive(Debug)]
pub(super) struct Budget {
    bytes: usize,
}

/// A value on one line that is shorter stays part of what it stands in.
const MIN_INLINE: usize = 200;

impl Budget {
    /// For one text.
    pub(super) fn of(text: &str) -> Self {
        Self { bytes: text.len().saturating_mul(2) }
    }

    /// The object or array that starts at byte `start`, a line start, and ends with a line: the byte where the next line
    /// starts. `None` when it is broken, shorter than 200 bytes on one line, or the budget is spent.
    pub(super) fn block_end(&mut self, text: &str, start: usize) -> Option<usize> {
        let bare = text[start..].trim_start_matches([' ', '\t']);
        let indent = text.len() - start - bare.len();
        let mut marks = bare.bytes().filter(|byte| !byte.is_ascii_whitespace()).take(2);
        let opens = matches!(
            (marks.next()?, marks.next()?),
            (b'{', b'"' | b'}') | (b'[', b'{' | b'[' | b'"' | b'0'..=b'9' | b'-' | b']')
        );
        if !opens || self.bytes == 0 {
            return None;
        }
        let mut stream = Deserializer::from_str(bare).into_iter::<IgnoredAny>();
        let value = stream.next()?;
        if let Err(error) = value {
            // The parser stopped at the error's line; an unfinished value was read to the end.
            let read = if error.is_eof() {
                bare.len()
            } else {
                lines(bare).nth(error.line().saturating_sub(1)).map_or(bare.len(), |line| line.end)
            };
            self.bytes = self.bytes.saturating_sub(read.max(1));
            return None;
        }
        let end = start + indent + stream.byte_offset();
        let rest = lines(&text[end..]).next();
        let (tail, line_end) = rest.map_or(("", end), |line| (line.text, end + line.end));
        let bytes = end - start;
        let long = bytes >= MIN_INLINE || memchr::memchr(b'\n', &text.as_bytes()[start..end]).is_some() && bytes >= 20;
        if !long || !tail.trim().is_empty() {
            self.bytes = self.bytes.saturating_sub(bytes);
            return None;
        }
        Some(line_end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_streams_and_cut_documents_are_json() {
        for text in [
            "{}",
            " [1, 2]\n",
            "\u{feff}{\"a\": 1}",
            "{\"a\":1}\n{\"a\":2}\n",
            "{\n  \"a\": 1\n}\n{\n  \"a\": 2\n}\n",
            "{\"a\": [1, 2, {\"b\":",
            "[{\"name\": \"x\"}, {\"na",
            "{\n\"a\": 1,\n\"b\": 2,\n...\n\"c\": 3,\n\"d\": 4,\n\"e\": 5,\n\"f\": 6,\n\"g\": 7,\n\"h\": 8\n}",
        ] {
            assert!(is_json(text), "{text}");
        }
    }

    #[test]
    fn scalars_blocks_and_tags_are_not_json() {
        for text in [
            "",
            "42",
            "\"text\"",
            "{",
            "[",
            "[note] a line",
            "[0042] step\n[0043] step",
            "{ return x; }",
            "[1] a\n[2] b\nmore",
            "{'a': 1}",
        ] {
            assert!(!is_json(text), "{text}");
        }
    }

    #[test]
    fn a_value_inside_a_text_is_found_by_its_brackets() {
        let text = "before\n{\n  \"a\": [1, 2],\n  \"b\": {}\n}\nafter\n";
        let end = Budget::of(text).block_end(text, 7);
        assert_eq!(end.map(|end| &text[end..]), Some("after\n"));
        assert_eq!(Budget::of("{\"a\":1} and\n").block_end("{\"a\":1} and\n", 0), None);
    }

    #[test]
    fn nested_brackets_without_end_are_given_up_after_a_few_tries() {
        let text = "[[\n".repeat(100_000);
        let mut budget = Budget::of(&text);
        let tries = (0..100_000).filter(|line| budget.bytes > 0 && budget.block_end(&text, line * 3).is_none()).count();
        assert!(tries <= 3, "{tries}");
        assert!(!is_json("{\n".repeat(50_000).as_str()));
    }
}
