//! A result of 60,000 characters, of any age -> its head, the lines that report a failure, and its tail
//!
//! The model may not have seen the text yet, so the most likely needed parts stay. The same text is cut the same way
//! when it is stale: content that was shown once keeps its bytes.

use std::ops::Range;

use crate::content::severity::mentions;
use crate::tokens::utf16;

/// The maximum number of UTF-16 units of an excerpt around one failure. Chosen by judgement.
const MAX_EXCERPT_CHARS: usize = 200;

/// The divisor of the preview length that gives the tail's length. Chosen by judgement.
const TAIL_DIVISOR: usize = 2;

const FAILURES_TITLE: &str = "\n[… lines with failures]\n";
const TAIL_TITLE: &str = "\n[… the end]\n";

/// Returns the cut form of a text of `tokens` tokens.
///
/// The head has `preview_chars` characters, the tail up to half as many, and the lines between them that report a
/// failure up to as many again. `is_plain_string` marks content that is a string, whose published wording has no token
/// count.
pub(super) fn cut(text: &str, tokens: usize, is_plain_string: bool, preview_chars: usize) -> String {
    let chars = utf16::thousands(utf16::len(text));
    let tokens = if is_plain_string { String::new() } else { format!(", ~{} tokens", utf16::thousands(tokens)) };
    let head = utf16::head(text, preview_chars);
    let rest = text[head.len()..].trim_end();
    let tail = last_lines(rest, preview_chars / TAIL_DIVISOR);
    let failures = excerpts(&rest[..rest.len() - tail.len()], preview_chars);
    let mut shortened = format!("[large result truncated — was {chars} chars{tokens}]\nPreview: {head}");
    for (title, part) in [(FAILURES_TITLE, failures.as_str()), (TAIL_TITLE, tail)] {
        if !part.is_empty() {
            shortened.push_str(title);
            shortened.push_str(part);
        }
    }
    shortened
}

/// Returns the maximum number of UTF-16 units after the header of a cut text.
pub(super) fn max_kept_chars(preview_chars: usize) -> usize {
    2 * preview_chars + preview_chars / TAIL_DIVISOR + utf16::len(FAILURES_TITLE) + utf16::len(TAIL_TITLE)
}

/// Returns the lines of a text that report a failure, in order, in at most this many UTF-16 units.
fn excerpts(text: &str, max_chars: usize) -> String {
    let mut found = String::new();
    let mut remaining_chars = max_chars;
    let mut from = 0;
    for failure in failures(text) {
        if failure.start < from {
            continue;
        }
        let before = &text[from..failure.start];
        let start = before.rfind('\n').map_or(from, |at| from + at + 1);
        let lead = utf16::tail(&text[start..failure.start], MAX_EXCERPT_CHARS / 2);
        let start = failure.start - lead.len();
        let excerpt = utf16::head(&text[start..], MAX_EXCERPT_CHARS);
        let excerpt = excerpt.split_once('\n').map_or(excerpt, |(line, _)| line);
        // Always after the match, so that the search advances.
        from = failure.end.max(start + excerpt.len());
        let line = excerpt.trim();
        let chars = utf16::len(line) + usize::from(!found.is_empty());
        if chars > remaining_chars {
            break;
        }
        if !found.is_empty() {
            found.push('\n');
        }
        found.push_str(line);
        remaining_chars -= chars;
    }
    found
}

/// Returns the ranges of a text that report failures.
pub(super) fn failures(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    mentions(text).filter(|mention| mention.severity.is_failure()).map(|mention| mention.range)
}

/// Returns the end of a text in at most this many UTF-16 units, from the start of a line if possible.
pub(super) fn last_lines(text: &str, chars: usize) -> &str {
    let text = text.trim_end();
    let end = utf16::tail(text, chars);
    let is_whole_line = end.len() == text.len() || text[..text.len() - end.len()].ends_with('\n');
    match end.split_once('\n') {
        _ if is_whole_line => end,
        Some((cut_line, lines)) if cut_line.len() < end.len() / 2 => lines,
        _ => end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_failures_and_tail_stay() {
        let text = format!(
            "$ make\n{}src/a.c:3: error: no such thing\n{}make: *** stopped\n",
            "compiling\n".repeat(6000),
            "linking\n".repeat(6000)
        );
        let chars = utf16::thousands(text.len());
        let expected_end = "\n[… lines with failures]\nsrc/a.c:3: error: no such thing\n[… the end]\n";
        let short = cut(&text, 26_000, false, 100);
        assert!(
            short.starts_with(&format!(
                "[large result truncated — was {chars} chars, ~26,000 tokens]\nPreview: $ make\n"
            ))
        );
        assert!(short.contains(expected_end), "{short}");
        assert!(short.ends_with("\nmake: *** stopped"), "{short}");
        let plain = cut(&text, 26_000, true, 100);
        assert!(plain.starts_with(&format!("[large result truncated — was {chars} chars]\nPreview: ")));
    }

    #[test]
    fn a_cut_text_is_never_longer_than_its_bound() {
        for text in [
            "error\n".repeat(20_000),
            "error ".repeat(20_000),
            "x".repeat(100_000),
            "世😀 error\r\n".repeat(9000),
            "\n".repeat(60_000),
            format!("{}error{}", "a".repeat(60_000), "b".repeat(60_000)),
        ] {
            for preview_chars in [0, 1, 100, 500, 5000] {
                let short = cut(&text, 1, true, preview_chars);
                let header = short.find("Preview: ").unwrap() + "Preview: ".len();
                assert!(utf16::len(&short[header..]) <= max_kept_chars(preview_chars), "{short}");
            }
        }
    }

    #[test]
    fn a_failure_inside_a_huge_line_is_shown_with_its_surroundings() {
        let text = format!("{}<b>Fatal: out of cheese</b>{}", "<i>".repeat(30_000), "</i>".repeat(30_000));
        assert!(cut(&text, 1, true, 500).contains("Fatal: out of cheese"));
    }
}
