//! Changes of code, before they become edits of the text.

use std::ops::Range;

use crate::pipeline::Edit;
use crate::pipeline::syntax::Source;

/// What stands for a comment of one line, where the comment stood.
pub(super) const ONE_LINE: &str = "[…]";

/// One change of the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// What goes, in bytes of the code.
    pub(super) range: Range<usize>,
    /// What comes.
    pub(super) text: String,
    /// Whether that is a note, which nobody may touch.
    pub(super) is_note: bool,
    /// How many lines of comments go without a note of their own.
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

    /// The change in code that starts so many bytes before.
    pub(super) fn moved(self, by: usize) -> Self {
        Self { range: self.range.start + by..self.range.end + by, ..self }
    }

    pub(super) fn into_edit(self, source: &Source) -> Edit {
        let range = source.to_text(&self.range);
        if self.is_note { Edit::note(range, self.text) } else { Edit::reversible(range, self.text) }
    }
}

/// The code with sorted changes applied, and where their texts are in it.
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

/// Whether a comment's or docstring's words are a note of ours.
pub(super) fn is_note(words: &str) -> bool {
    let inside = words.strip_prefix("[…").and_then(|words| words.strip_suffix(']'));
    inside.is_some_and(|inside| !inside.contains(['[', ']', '\n']))
}

/// The lines of a range that hold nothing else, line end included. Of the empty lines after them all but one go too,
/// and that one where an empty line stands before them: nothing is left to normalise.
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

/// The length of an empty line with its line end.
fn blank_line(bytes: &[u8]) -> Option<usize> {
    let blanks = bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    (bytes.get(blanks) == Some(&b'\n')).then_some(blanks + 1)
}
