//! Changes of code, before they are mapped to edits of the text.

use std::ops::Range;

use crate::pipeline::Edit;
use crate::pipeline::syntax::Source;

/// The replacement of a one-line comment.
pub(super) const ONE_LINE: &str = "[…]";

/// A change of the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// The bytes of the code that are replaced.
    pub(super) range: Range<usize>,
    /// The replacement.
    pub(super) text: String,
    /// True if the replacement is a note, which later stages must not change.
    pub(super) is_note: bool,
    /// The number of comment lines that are removed without a note of their own.
    pub(super) removed_lines: usize,
}

impl Change {
    pub(super) fn note(range: Range<usize>, text: String) -> Self {
        Self { range, text, is_note: true, removed_lines: 0 }
    }

    pub(super) fn cleanup(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into(), is_note: false, removed_lines: 0 }
    }

    pub(super) fn removal(range: Range<usize>, text: &str, removed_lines: usize) -> Self {
        Self { range, text: text.to_owned(), is_note: false, removed_lines }
    }

    pub(super) fn into_edit(self, source: &Source) -> Edit {
        let range = source.to_text(&self.range);
        if self.is_note { Edit::note(range, self.text) } else { Edit::reversible(range, self.text) }
    }
}

/// Applies sorted changes. Returns the code and the ranges of the replacements in it.
pub(super) fn apply(code: &str, changes: &[Change]) -> (String, Vec<Range<usize>>) {
    let mut rewritten = String::with_capacity(code.len());
    let mut replacing = Vec::with_capacity(changes.len());
    let mut copied = 0;
    for change in changes {
        rewritten.push_str(&code[copied..change.range.start]);
        replacing.push(rewritten.len()..rewritten.len() + change.text.len());
        rewritten.push_str(&change.text);
        copied = change.range.end;
    }
    rewritten.push_str(&code[copied..]);
    (rewritten, replacing)
}

/// Returns true if the words of a comment or docstring are a note that this stage wrote.
pub(super) fn is_note(words: &str) -> bool {
    let inside = words.strip_prefix("[…").and_then(|words| words.strip_suffix(']'));
    inside.is_some_and(|inside| !inside.contains(['[', ']', '\n']))
}

/// Returns the lines of a range, with their line ends, if they contain nothing else. Empty lines after them are
/// included, except for one; that one is included too if an empty line precedes the range. No blank lines are then left
/// to normalise.
pub(super) fn whole_lines(code: &str, range: Range<usize>) -> Option<Range<usize>> {
    let bytes = code.as_bytes();
    let before = bytes[..range.start].iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let start = range.start - before;
    if start > 0 && bytes[start - 1] != b'\n' {
        return None;
    }
    let mut end = range.end + blank_line(&bytes[range.end..])?;
    let is_apart = start == 0 || code[..start - 1].trim_end_matches([' ', '\t', '\r']).ends_with('\n');
    while let Some(len) = blank_line(&bytes[end..]) {
        let is_last = len == 1 && blank_line(&bytes[end + 1..]).is_none();
        if is_last && !is_apart {
            break;
        }
        end += len;
    }
    Some(start..end)
}

/// Returns the length of an empty line with its line end.
fn blank_line(bytes: &[u8]) -> Option<usize> {
    let blanks = bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    (bytes.get(blanks) == Some(&b'\n')).then_some(blanks + 1)
}
