//! Splits a text into lines with their positions, and takes small samples of long texts.
//!
//! The text of a line excludes its line end (`\n` or `\r\n`), its range includes it: the ranges of consecutive lines
//! touch.

use std::borrow::Cow;
use std::ops::Range;

use regex::Regex;

/// One line of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// The start of the line in the text.
    pub(crate) start: usize,
    /// The start of the next line.
    pub(crate) end: usize,
    /// The text of the line without its line end.
    pub(crate) text: &'a str,
}

/// Returns the lines of `text` from byte `start`, a line start.
pub(crate) fn lines_from(text: &str, start: usize) -> impl Iterator<Item = Line<'_>> {
    let mut at = start;
    std::iter::from_fn(move || {
        if at >= text.len() {
            return None;
        }
        let start = at;
        let newline = memchr::memchr(b'\n', &text.as_bytes()[start..]).map(|offset| start + offset);
        at = newline.map_or(text.len(), |newline| newline + 1);
        let bare = &text[start..newline.unwrap_or(text.len())];
        Some(Line { start, end: at, text: bare.strip_suffix('\r').unwrap_or(bare) })
    })
}

/// Returns all lines of a text.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    lines_from(text, 0)
}

const HEAD: usize = 24 * 1024;
const PART: usize = 8 * 1024;

/// Returns a sample from which the kind of a text is judged: all of a short text; otherwise its start, parts of its
/// middle and its end, 40 KB in total. The parts begin at line starts if there are any nearby.
pub(crate) fn sample(text: &str) -> Cow<'_, str> {
    if text.len() <= HEAD + 2 * PART {
        return Cow::Borrowed(text);
    }
    let middle = text.len() / 2;
    let tail = text.len() - PART;
    let parts = [0..HEAD, middle..middle + PART, tail..text.len()].map(|range| part(text, range));
    Cow::Owned(parts.join(if parts[0].ends_with('\n') { "" } else { "\n" }))
}

fn part(text: &str, range: Range<usize>) -> &str {
    let end = text.floor_char_boundary(range.end);
    let mut start = text.floor_char_boundary(range.start);
    if start > 0
        && let Some(newline) = memchr::memchr(b'\n', &text.as_bytes()[start..end])
    {
        start += newline + 1;
    }
    // A truncated last line would look like something else, so it is removed unless it is the only one.
    let cut = if end < text.len() { memchr::memrchr(b'\n', &text.as_bytes()[start..end]) } else { None };
    &text[start..cut.map_or(end, |newline| start + newline + 1)]
}

/// Returns the first `max` bytes of a line, or slightly fewer at a character boundary. Examining more of it would not
/// be linear.
pub fn head(line: &str, max: usize) -> &str {
    &line[..line.floor_char_boundary(max)]
}

/// Compiles a pattern for lines. Its `\b` and `\d` are ASCII only: with Unicode, one letter beyond ASCII makes the
/// whole line slow.
///
/// # Panics
/// If the pattern is invalid.
pub fn line_pattern(pattern: &str) -> Regex {
    let pattern = pattern.replace(r"\b", r"(?-u:\b)").replace(r"\d", "[0-9]");
    Regex::new(&pattern).expect("the patterns are fixed and valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_touch_and_lose_only_their_line_ends() {
        let text = "a\r\n\n\u{e9}b\nlast";
        let found: Vec<_> = lines(text).collect();
        assert_eq!(found.iter().map(|line| line.text).collect::<Vec<_>>(), ["a", "", "\u{e9}b", "last"]);
        assert!(found.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!((found[0].start, found[3].end), (0, text.len()));
    }

    #[test]
    fn a_sample_of_a_long_text_is_small_and_whole_lines() {
        let text = "some line with words\n".repeat(20_000);
        let found = sample(&text);
        assert!(found.len() <= HEAD + 2 * PART && found.len() > HEAD + PART);
        assert!(found.lines().all(|line| line == "some line with words"));
    }

    #[test]
    fn a_single_long_line_is_sampled_at_character_boundaries() {
        let text = "\u{4e00}".repeat(100_000);
        assert!(sample(&text).chars().all(|c| c == '\u{4e00}' || c == '\n'));
        assert_eq!(head("a\u{4e00}", 2), "a");
    }
}
