//! Recognises the lines of printed JSON, and finds the end of a JSON value inside other text.
//!
//! Values are parsed and dropped; no tree is built.

use serde::de::IgnoredAny;
use serde_json::Deserializer;

use super::lines::lines;

/// Returns the end of the JSON value at the start of a text.
///
/// # Errors
/// The number of bytes that were read before it was clear that the text begins with no value, or with a truncated one.
pub fn value_end(text: &str) -> Result<usize, usize> {
    let mut stream = Deserializer::from_str(text).into_iter::<IgnoredAny>();
    match stream.next() {
        Some(Ok(_)) => Ok(stream.byte_offset()),
        Some(Err(error)) if !error.is_eof() => {
            let before = memchr::memchr_iter(b'\n', text.as_bytes()).take(error.line().saturating_sub(1)).last();
            Err(before.map_or(0, |at| at + 1) + error.column())
        }
        _ => Err(text.len()),
    }
}

/// Returns true if a line without surrounding blanks is an object.
pub(crate) fn is_record(line: &str) -> bool {
    line.starts_with("{\"") && line.ends_with('}')
}

/// Returns true if a line without surrounding blanks is a name with its value.
pub(crate) fn is_member(line: &str) -> bool {
    line.starts_with('"') && line.contains("\":")
}

/// Returns true if a line without surrounding blanks consists of brackets, or is an item of an array.
pub(crate) fn is_item(line: &str) -> bool {
    let is_value = line.starts_with(['"', '-']) || line.starts_with(|c: char| c.is_ascii_digit());
    line.bytes().all(|byte| matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b' ')) || is_value && line.ends_with(',')
}

/// The budget of attempts to parse values inside other text. It keeps a text of opening brackets linear.
#[derive(Debug)]
pub(crate) struct Budget {
    bytes: usize,
}

/// The minimum length of a value on one line. A shorter one stays part of the text around it.
const MIN_INLINE: usize = 200;

impl Budget {
    /// Creates the budget for one text.
    pub(crate) fn of(text: &str) -> Self {
        Self { bytes: text.len().saturating_mul(2) }
    }

    /// Returns the start of the line after the object or array that starts at byte `start`, a line start, and ends with
    /// a line. Returns `None` if the value is malformed, is shorter than 200 bytes on one line, or the budget is used
    /// up.
    pub(crate) fn block_end(&mut self, text: &str, start: usize) -> Option<usize> {
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
        let end = match value_end(bare) {
            Ok(length) => start + indent + length,
            Err(read) => {
                self.bytes = self.bytes.saturating_sub(read.max(1));
                return None;
            }
        };
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
    }
}
