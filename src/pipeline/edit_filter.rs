//! Decides about each single edit that a stage proposes.
//!
//! An edit is dropped that saves no tokens, that contains only a part of something that looks like a marker, or that
//! claims to be lossless and whose fold does not restore exactly the text that it replaced.

use std::iter::Peekable;
use std::ops::Range;

use super::draft::{Draft, Origins};
use super::edits::{cuts_marker, has_notes, marker_ranges, renumber};
use super::fold::Fold;
use super::measure::saving;
use super::restore::undone;
use super::{Edit, FusionContext, Prior};

/// The result of [`Draft::unfolded_pieces`].
type Pieces<'a> = Box<dyn Iterator<Item = (Range<usize>, &'a str)> + 'a>;

/// Decides on the edits of one stage, from left to right.
pub(super) struct EditFilter<'a> {
    context: &'a FusionContext<'a>,
    markers: Vec<Range<usize>>,
    lines: Option<LineMap<'a>>,
    /// The unfolded text before the next edit, which a fold may refer to.
    before: Prior,
    pieces: Peekable<Pieces<'a>>,
}

impl<'a> EditFilter<'a> {
    pub(super) fn new(original: &str, context: &'a FusionContext<'a>, draft: &'a Draft, edits: &[Edit]) -> Self {
        let markers = if edits.is_empty() { Vec::new() } else { marker_ranges(context.text) };
        let noted = edits.iter().any(has_notes);
        let lines = (noted && context.text != original).then(|| LineMap::new(context.text, original, draft));
        let pieces: Pieces<'a> = Box::new(draft.unfolded_pieces());
        Self { context, markers, lines, before: Prior::default(), pieces: pieces.peekable() }
    }

    /// Returns the edit, renumbered and sealed, with the tokens that it saves; `None` if it is not sound.
    pub(super) fn accept(&mut self, mut edit: Edit) -> Option<(Edit, isize)> {
        let replaced = &self.context.text[edit.range.clone()];
        if edit.text == replaced || cuts_marker(&self.markers, &edit.range) {
            return None;
        }
        if let Some(lines) = &self.lines {
            renumber(&mut edit, replaced, |first, last| lines.original(first, last));
        }
        let fold = edit.seal(replaced);
        // Line numbers are not always known and digits vary in price, so they must not affect the decision.
        let mut priced = edit.clone();
        renumber(&mut priced, replaced, |_, _| None);
        let saved = saving(self.context.text, &priced, self.context.encoding);
        let is_sound = !edit.lossless || saved > 0 && fold.is_some_and(|fold| self.is_proved(&fold, edit.range.start));
        (saved > 0 && is_sound).then_some((edit, saved))
    }

    /// Returns true if a sealed fold at offset `start` can be restored.
    fn is_proved(&mut self, fold: &Fold, start: usize) -> bool {
        // Edits never cut sealed parts, so a piece with a fold lies entirely before or after the edit.
        while let Some((range, text)) = self.pieces.peek_mut().filter(|(range, _)| range.start < start) {
            if range.end <= start {
                self.before.push(text);
                self.pieces.next();
            } else {
                let (before, rest) = text.split_at(start - range.start);
                self.before.push(before);
                (range.start, *text) = (start, rest);
            }
        }
        undone(fold, &mut self.before).is_some()
    }
}

/// Maps line numbers of a draft to line numbers of the original. Both are 1-based.
struct LineMap<'a> {
    line_starts: Vec<usize>,
    len: usize,
    original_line_ends: Vec<usize>,
    origins: Origins<'a>,
}

impl<'a> LineMap<'a> {
    fn new(text: &str, original: &str, draft: &'a Draft) -> Self {
        let ends = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).collect::<Vec<_>>();
        let line_starts = std::iter::once(0).chain(ends(text).into_iter().map(|end| end + 1)).collect();
        Self { line_starts, len: text.len(), original_line_ends: ends(original), origins: draft.origins() }
    }

    fn original(&self, first: usize, last: usize) -> Option<(usize, usize)> {
        let start = *self.line_starts.get(first.checked_sub(1)?)?;
        // The line end is excluded because it may belong to the next part.
        let end = self.line_starts.get(last).map_or(self.len, |next| next - 1);
        let range = self.origins.of(&(start..end))?;
        let line = |at: usize| self.original_line_ends.partition_point(|&end| end < at) + 1;
        Some((line(range.start), line(range.end)))
    }
}
