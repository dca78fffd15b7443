//! The changes that a text is to have, whoever proposes them.

use std::ops::Range;

/// One place of the text, and what stands there instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where it is, in bytes.
    pub range: Range<usize>,
    /// What stands there instead.
    pub text: String,
    /// May take protected words with it: a table's header, which is repeated in its rows, and diagrams.
    pub(crate) is_structural: bool,
}

impl Change {
    pub(crate) fn new(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into(), is_structural: false }
    }

    pub(crate) fn structural(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { is_structural: true, ..Self::new(range, text) }
    }

    /// The same change where the text begins so many bytes further on.
    pub(crate) fn moved(self, bytes: usize) -> Self {
        Self { range: self.range.start + bytes..self.range.end + bytes, ..self }
    }
}

/// A part of a text with the changes in it, which are in order and apart.
pub(crate) fn applied(text: &str, part: Range<usize>, changes: &[Change]) -> String {
    let mut changed = String::with_capacity(part.len());
    let mut at = part.start;
    for change in changes {
        changed.push_str(&text[at..change.range.start]);
        changed.push_str(&change.text);
        at = change.range.end;
    }
    changed + &text[at..part.end]
}

/// The changes of each line, which are in order and apart.
pub(crate) fn by_line(text: &str, changes: Vec<Change>) -> Vec<Vec<Change>> {
    let mut lines: Vec<Vec<Change>> = Vec::new();
    for change in changes {
        match lines.last_mut().and_then(|line| line.last().map(|last| last.range.end).zip(Some(line))) {
            Some((end, line)) if !text[end - usize::from(ends_line(text, end))..change.range.start].contains('\n') => {
                line.push(change);
            }
            _ => lines.push(vec![change]),
        }
    }
    lines
}

/// Whether a line ends right before a place.
pub(crate) fn ends_line(text: &str, at: usize) -> bool {
    text.as_bytes()[..at].ends_with(b"\n")
}
