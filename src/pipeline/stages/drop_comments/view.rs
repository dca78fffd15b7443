//! The code that the steps of this stage examine, and the notes that they write.

use tree_sitter::Node;

use super::change::{Change, ONE_LINE};
use crate::pipeline::elided;
use crate::pipeline::syntax::{Source, Syntax};

/// The minimum size of an omission whose note includes the line range. In smaller ones the range may not pay, and
/// whether it does would depend on its digits.
const RANGE_FROM_BYTES: usize = 160;

/// The minimum size of a removal that pays for the note about all removals.
const NOTE_PAYS_BYTES: usize = 48;

/// The minimum number of lines and visible bytes of a block that is replaced by a note.
const WORTH_LINES: usize = 3;
const WORTH_BYTES: usize = 64;

/// The code that the steps examine.
pub(super) struct View<'a> {
    pub(super) code: &'a str,
    pub(super) source: &'a Source<'a>,
    pub(super) syntax: &'static Syntax,
    pub(super) max: bool,
}

impl View<'_> {
    /// Returns the text of the note for omitted rows: `[…]` for one row, or else their number, with the line range if
    /// the omission is large enough.
    pub(super) fn elided(&self, rows: (usize, usize), bytes: usize) -> String {
        let lines = self.source.lines(rows).filter(|_| bytes >= RANGE_FROM_BYTES);
        match rows.1 - rows.0 + 1 {
            1 => ONE_LINE.to_owned(),
            count => elided(count, "lines", lines),
        }
    }

    /// Returns the note as a comment. A block comment is used only if something follows on the line.
    pub(super) fn note(&self, words: &str, ends_line: bool) -> String {
        match self.syntax.block_comment {
            Some((open, close)) if !ends_line => format!("{open} {words} {close}"),
            _ => format!("{} {words}", self.syntax.line_comment),
        }
    }

    /// Returns the change that replaces a block of several lines by a note and by whatever the language requires in a
    /// block.
    pub(super) fn elide_block(&self, block: Node) -> Option<Change> {
        let range = block.byte_range();
        let text = &self.code[range.clone()];
        let rows = (block.start_position().row, block.end_position().row);
        if let Some(inner) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
            let rows = (rows.0 + usize::from(inner.starts_with('\n')), rows.1.saturating_sub(1));
            let (open, close) = self.syntax.block_comment.filter(|_| is_worth(inner, rows))?;
            let words = self.elided(rows, inner.len());
            return Some(Change::note(range.start + 1..range.end - 1, format!(" {open} {words} {close} ")));
        }
        // Blocks by indentation in Python. Other languages of this kind need a keyword to end a block.
        let is_python = self.syntax.block_comment.is_none() && block.kind() == "block";
        let text = text.trim_end();
        let rows = (rows.0, rows.0 + text.matches('\n').count());
        (is_python && is_worth(text, rows)).then(|| {
            let words = self.note(&self.elided(rows, text.len()), true);
            Change::note(range.start..range.start + text.len(), format!("...  {words}"))
        })
    }

    /// Adds one note about all removals, at the first one that is long enough to pay for it.
    pub(super) fn note_removals(&self, changes: &mut [Change]) {
        let removed: usize = changes.iter().map(|change| change.removed_lines).sum();
        let pays = |change: &&mut Change| change.removed_lines > 0 && change.range.len() >= NOTE_PAYS_BYTES;
        let Some(first) = changes.iter_mut().find(pays) else { return };
        let gone = &self.code[first.range.clone()];
        let whole_lines = gone.ends_with('\n');
        let end = first.range.start + if whole_lines { gone.trim_end_matches(['\n', '\r']).len() } else { gone.len() };
        let start = first.range.end - gone.trim_start_matches([' ', '\t']).len();
        // The range stays within the lines, so that a number that a tool printed before the first line is kept.
        first.range = start..end;
        first.text = self.note(&elided(removed, "comment lines", None), whole_lines);
        first.is_note = true;
    }
}

/// Returns true if the text of some rows is large enough for a note.
pub(super) fn is_worth(text: &str, rows: (usize, usize)) -> bool {
    rows.1 + 1 >= rows.0 + WORTH_LINES && text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count() >= WORTH_BYTES
}
