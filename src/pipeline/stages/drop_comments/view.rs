//! The code that the steps look at, and the notes that they leave in it.

use tree_sitter::Node;

use super::change::{Change, ONE_LINE};
use crate::pipeline::elided;
use crate::pipeline::syntax::{Source, Syntax};

/// From this many bytes on, the note says the range of the lines too. Fewer may not pay for it, and whether they do
/// would depend on the digits.
const RANGE_FROM_BYTES: usize = 160;

/// A removal of fewer bytes does not pay for the note that tells of all removals.
const NOTE_PAYS_BYTES: usize = 48;

/// A block with fewer lines or fewer visible bytes is not worth a note.
const WORTH_LINES: usize = 3;
const WORTH_BYTES: usize = 64;

/// What the steps look at.
pub(super) struct View<'a> {
    pub(super) code: &'a str,
    pub(super) source: &'a Source<'a>,
    /// The row of the source that the code starts in.
    pub(super) row: usize,
    pub(super) syntax: &'static Syntax,
    pub(super) max: bool,
}

impl View<'_> {
    /// The words for elided rows: `[…]` for one, which stands where it was, else their number, and their range where
    /// much is gone.
    pub(super) fn elided(&self, rows: (usize, usize), bytes: usize) -> String {
        let lines = self.source.lines((self.row + rows.0, self.row + rows.1)).filter(|_| bytes >= RANGE_FROM_BYTES);
        match rows.1 - rows.0 + 1 {
            1 => ONE_LINE.to_owned(),
            count => elided(count, "lines", lines),
        }
    }

    /// The same as a comment; within a line only where something follows on it.
    pub(super) fn note(&self, words: &str, ends_line: bool) -> String {
        match self.syntax.block_comment {
            Some((open, close)) if !ends_line => format!("{open} {words} {close}"),
            _ => format!("{} {words}", self.syntax.line_comment),
        }
    }

    /// The change that leaves a note of a block of several lines, and what the language wants where a block is.
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
        // Blocks by indentation; the others need their own words to be blocks.
        let is_python = self.syntax.block_comment.is_none() && block.kind() == "block";
        let text = text.trim_end();
        let rows = (rows.0, rows.0 + text.matches('\n').count());
        (is_python && is_worth(text, rows)).then(|| {
            let words = self.note(&self.elided(rows, text.len()), true);
            Change::note(range.start..range.start + text.len(), format!("...  {words}"))
        })
    }

    /// Puts one note about all removals in the place of the first one that is long enough to pay for it.
    pub(super) fn note_removals(&self, changes: &mut [Change]) {
        let removed: usize = changes.iter().map(|change| change.removed_lines).sum();
        let pays = |change: &&mut Change| change.removed_lines > 0 && change.range.len() >= NOTE_PAYS_BYTES;
        let Some(first) = changes.iter_mut().find(pays) else { return };
        let gone = &self.code[first.range.clone()];
        let whole_lines = gone.ends_with('\n');
        let end = first.range.start + if whole_lines { gone.trim_end_matches(['\n', '\r']).len() } else { gone.len() };
        let start = first.range.end - gone.trim_start_matches([' ', '\t']).len();
        // Within the lines, so that the number which a tool printed before the first of them stays.
        first.range = start..end;
        first.text = self.note(&elided(removed, "comment lines", None), whole_lines);
        first.is_note = true;
    }
}

/// Whether what stands in some rows is worth a note.
pub(super) fn is_worth(text: &str, rows: (usize, usize)) -> bool {
    rows.1 + 1 >= rows.0 + WORTH_LINES && text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count() >= WORTH_BYTES
}
