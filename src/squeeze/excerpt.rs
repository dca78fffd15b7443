//! The parts of a text that a placeholder keeps: reports of failures, and the end.

use std::ops::Range;

use crate::content::severity::mentions;
use crate::tokens::utf16;

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
