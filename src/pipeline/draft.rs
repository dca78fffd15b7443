//! A text between two stages, and for each part of it the place in the original that it comes from.
//!
//! A part is either verbatim (bytes of the original) or written by an edit. A fold keeps the parts that it replaced.
//! The draft can therefore be unfolded without a stage, and line numbers stay exact.

use std::ops::Range;
use std::rc::Rc;

use super::Edit;

/// A text whose parts know their origins.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
struct Part {
    len: usize,
    source: Source,
    sealed: bool,
    /// True for a note of an earlier round. It is no longer sealed, but it must not be removed.
    note: bool,
    folded: Option<Rc<Draft>>,
}

/// The place in the original that a part comes from.
#[derive(Debug, Clone)]
enum Source {
    /// The bytes of the original that start at this offset.
    Verbatim(usize),
    /// A replacement of this range of the original.
    Replaces(Range<usize>),
    /// The origin is unknown.
    Unknown,
}

impl Source {
    /// Returns the offset in the original for an offset in a part of length `len`.
    fn at(&self, offset: usize, len: usize) -> Option<usize> {
        match self {
            Self::Verbatim(start) => Some(start + offset),
            Self::Replaces(range) if offset == 0 => Some(range.start),
            Self::Replaces(range) => (offset == len).then_some(range.end),
            Self::Unknown => None,
        }
    }
}

impl Part {
    fn plain(len: usize, source: Source) -> Self {
        Self { len, source, sealed: false, note: false, folded: None }
    }
}

impl Draft {
    /// Creates a draft that equals the original.
    pub(super) fn verbatim(text: &str) -> Self {
        Self { text: text.to_owned(), parts: vec![Part::plain(text.len(), Source::Verbatim(0))] }
    }

    /// Creates a draft whose text comes from the original in an unknown way.
    pub(super) fn derived(text: &str) -> Self {
        Self { text: text.to_owned(), parts: vec![Part::plain(text.len(), Source::Unknown)] }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the ranges that later stages must not change.
    pub(super) fn sealed(&self) -> Vec<Range<usize>> {
        self.located().filter(|(_, part)| part.sealed).map(|(range, _)| range).collect()
    }

    fn located(&self) -> impl Iterator<Item = (Range<usize>, &Part)> {
        self.parts.iter().scan(0, |end, part| {
            let start = *end;
            *end += part.len;
            Some((start..*end, part))
        })
    }

    /// Appends text that has no origin.
    pub(super) fn append(&mut self, text: &str) {
        self.text.push_str(text);
        self.parts.push(Part::plain(text.len(), Source::Unknown));
    }

    /// Applies edits. They must be sorted, must not overlap, and must lie in bounds and on character boundaries. None
    /// may touch a sealed part.
    ///
    /// The second value is true if a note of an earlier round was removed and not kept inside a fold.
    pub(super) fn apply(&self, edits: &[Edit]) -> (Self, bool) {
        let mut applied = Self { text: String::with_capacity(self.text.len()), parts: Vec::new() };
        let mut lost_note = false;
        let mut reader = Reader { draft: self, index: 0, offset: 0, at: 0 };
        for edit in edits {
            reader.read_to(edit.range.start, &mut applied);
            let mut replaced = Self { text: String::new(), parts: Vec::new() };
            let start = reader.origin();
            if edit.lossless {
                reader.read_to(edit.range.end, &mut replaced);
            } else {
                reader.read_parts_to(edit.range.end, &mut replaced.parts);
            }
            lost_note |= !edit.lossless && replaced.parts.iter().any(|part| part.note);
            let end = replaced.parts.last().map_or(start, |part| part.source.at(part.len, part.len));
            let source = match (start, end) {
                (Some(start), Some(end)) if start <= end => Source::Replaces(start..end),
                _ => Source::Unknown,
            };
            applied.text.push_str(&edit.text);
            applied.parts.push(Part {
                len: edit.text.len(),
                source,
                sealed: edit.sealed,
                note: false,
                folded: edit.lossless.then(|| Rc::new(replaced)),
            });
        }
        reader.read_to(self.text.len(), &mut applied);
        (applied, lost_note)
    }

    /// Returns the draft for the next round: every fold is undone and nothing is sealed.
    pub(super) fn unfolded(&self) -> Self {
        let mut unfolded = Self { text: String::with_capacity(self.text.len()), parts: Vec::new() };
        for (range, part) in self.located() {
            match &part.folded {
                Some(folded) => {
                    unfolded.text.push_str(&folded.text);
                    unfolded.parts.extend(folded.parts.iter().cloned());
                }
                None => {
                    unfolded.text.push_str(&self.text[range]);
                    unfolded.parts.push(Part { note: part.note || part.sealed, sealed: false, ..part.clone() });
                }
            }
        }
        unfolded
    }

    /// Returns the pieces of the unfolded text, each with its range in this draft.
    pub(super) fn unfolded_pieces(&self) -> impl Iterator<Item = (Range<usize>, &str)> {
        self.located().map(|(range, part)| match &part.folded {
            Some(folded) => (range, folded.text.as_str()),
            None => (range.clone(), &self.text[range]),
        })
    }

    /// Returns a map from places in this draft to places in the original.
    pub(super) fn origins(&self) -> Origins<'_> {
        let (starts, parts) = self.located().map(|(range, part)| (range.start, part)).unzip();
        Origins { starts, parts }
    }
}

/// The result of [`Draft::origins`].
pub(super) struct Origins<'a> {
    starts: Vec<usize>,
    parts: Vec<&'a Part>,
}

impl Origins<'_> {
    /// Maps a range of the draft to the original. Returns `None` if the origin of its start or of its end is unknown.
    pub(super) fn of(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let place =
            |at: usize, index: usize| self.parts[index].source.at(at - self.starts[index], self.parts[index].len);
        let first = self.starts.partition_point(|&start| start <= range.start).checked_sub(1)?;
        let last = self.starts.partition_point(|&start| start < range.end).checked_sub(1)?;
        let (start, end) = (place(range.start, first)?, place(range.end, last)?);
        (start <= end).then_some(start..end)
    }
}

/// Copies the parts of a draft from left to right and splits them where necessary.
struct Reader<'a> {
    draft: &'a Draft,
    index: usize,
    /// The number of bytes of the part at `index` that were read.
    offset: usize,
    at: usize,
}

impl Reader<'_> {
    /// Returns the offset in the original of the next byte, if it is known.
    fn origin(&self) -> Option<usize> {
        match self.draft.parts.get(self.index) {
            Some(part) => part.source.at(self.offset, part.len),
            None => self.draft.parts.last().and_then(|part| part.source.at(part.len, part.len)),
        }
    }

    fn read_to(&mut self, end: usize, into: &mut Draft) {
        into.text.push_str(&self.draft.text[self.at..end]);
        self.read_parts_to(end, &mut into.parts);
    }

    /// Does the same as [`Reader::read_to`] without copying the text.
    fn read_parts_to(&mut self, end: usize, into: &mut Vec<Part>) {
        while self.at < end {
            let part = &self.draft.parts[self.index];
            let len = (part.len - self.offset).min(end - self.at);
            if len == part.len {
                into.push(part.clone());
            } else {
                let source = match part.source {
                    Source::Verbatim(start) => Source::Verbatim(start + self.offset),
                    _ => Source::Unknown,
                };
                into.push(Part { note: part.note, ..Part::plain(len, source) });
            }
            self.at += len;
            self.offset += len;
            if self.offset == part.len {
                self.index += 1;
                self.offset = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::fold::Fold;

    #[test]
    fn edits_apply_and_folds_come_undone() {
        let draft = Draft::verbatim("aa\nbb\ncc\ndd\nee");
        let fold = Fold::new("x", "", Some("B".into()));
        let edits = [Edit::note(0..2, "[…]"), Edit::fold(3..8, &fold)];
        let (applied, lost_note) = draft.apply(&edits);
        assert!(!lost_note);
        assert_eq!(applied.text(), "[…]\n[[FOLD:x 1]]\nB\ndd\nee");
        assert_eq!(applied.sealed(), [0..5, 6..20]);
        let unfolded = applied.unfolded();
        assert_eq!(unfolded.text(), "[…]\nbb\ncc\ndd\nee");
        assert!(unfolded.sealed().is_empty());
        let pieces: String = applied.unfolded_pieces().map(|(_, text)| text).collect();
        assert_eq!(pieces, unfolded.text());
    }

    #[test]
    fn origins_survive_folding_and_unfolding() {
        let original = "aa\nbb\ncc\ndd\nee";
        let draft = Draft::verbatim(original);
        let (draft, _) = draft.apply(&[Edit::fold(3..8, &Fold::new("x", "long enough", None))]);
        let at = draft.text().find("dd").unwrap();
        assert_eq!(draft.origins().of(&(at..at + 2)), Some(9..11));
        assert_eq!(draft.origins().of(&(at - 3..at + 2)), None);
        let (draft, _) = draft.unfolded().apply(&[Edit::reversible(0..2, "")]);
        let at = draft.text().find("cc").unwrap();
        assert_eq!(draft.origins().of(&(at..at + 5)), Some(6..11));
        assert_eq!(&original[6..11], "cc\ndd");
    }

    #[test]
    fn a_note_of_an_earlier_round_that_goes_is_noticed() {
        let (draft, _) = Draft::verbatim("aa\nbb\ncc").apply(&[Edit::note(3..5, "[… 1 line]")]);
        let round = draft.unfolded();
        assert!(round.apply(&[Edit::reversible(0..round.text().len(), "")]).1);
        assert!(!round.apply(&[Edit::fold(0..round.text().len(), &Fold::new("x", "", None))]).1);
        assert!(!round.apply(&[Edit::reversible(0..2, "")]).1);
    }

    #[test]
    fn an_insertion_in_the_middle_of_a_part_splits_it() {
        let (draft, _) = Draft::verbatim("abcd").apply(&[Edit::reversible(2..2, "X"), Edit::reversible(4..4, "Y")]);
        assert_eq!(draft.text(), "abXcdY");
        assert_eq!(draft.origins().of(&(3..5)), Some(2..4));
    }
}
