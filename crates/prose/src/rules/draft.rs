//! A text while it is being shortened, with the spans that nothing may change.
//!
//! The spans are found once, in the text as it came, and move along with every edit. What a transform proposes is
//! dropped whole when any part of it would touch one: half of an edit is worse than none.

use std::ops::Range;

use super::protected::protected_spans;
use crate::change::{Change, applied, ends_line};

/// Changes that are made together or not at all; in order, apart, and apart from those of other proposals.
pub(super) type Proposal = Vec<Change>;

/// A text, and the spans in it that nothing may change.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) text: String,
    protected: Vec<Range<usize>>,
}

impl Draft {
    pub(super) fn new(text: &str) -> Self {
        let protected = protected_spans(text).into_iter().map(|span| span.range).collect();
        Self { text: text.to_owned(), protected }
    }

    /// Makes the proposals that touch nothing protected and that `admits` lets through, given the lines as they are and
    /// as they would be. Returns whether any was made.
    pub(super) fn revise(&mut self, proposals: Vec<Proposal>, mut admits: impl FnMut(&str, &str) -> bool) -> bool {
        let mut accepted: Vec<Change> = Vec::new();
        let mut span = 0;
        for proposal in proposals {
            let (Some(first), Some(last)) = (proposal.first(), proposal.last()) else { continue };
            while self.protected.get(span).is_some_and(|span| span.end < first.range.start) {
                span += 1;
            }
            let lines = self.lines(first.range.start, last.range.end);
            if !self.touches(&proposal, span)
                && admits(&self.text[lines.clone()], &applied(&self.text, lines.clone(), &proposal))
            {
                accepted.extend(proposal);
            }
        }
        self.apply(&accepted);
        !accepted.is_empty()
    }

    fn touches(&self, proposal: &Proposal, from: usize) -> bool {
        let mut span = from;
        proposal.iter().filter(|edit| !edit.is_structural).any(|edit| {
            while self.protected.get(span).is_some_and(|span| span.end < edit.range.start) {
                span += 1;
            }
            let mut spans = self.protected[span..].iter().take_while(|span| span.start <= edit.range.end);
            spans.any(|span| edit.range.start < span.end && span.start < edit.range.end)
        })
    }

    /// From the start of the first line to the end of the last, with the blank lines behind it.
    fn lines(&self, start: usize, end: usize) -> Range<usize> {
        let bytes = self.text.as_bytes();
        let start = memchr::memrchr(b'\n', &bytes[..start]).map_or(0, |at| at + 1);
        let end = if end > start && ends_line(&self.text, end) { end - 1 } else { end };
        let mut end = memchr::memchr(b'\n', &bytes[end..]).map_or(bytes.len(), |at| end + at + 1);
        while bytes.get(end) == Some(&b'\n') {
            end += 1;
        }
        start..end
    }

    fn apply(&mut self, edits: &[Change]) {
        if edits.is_empty() {
            return;
        }
        let mut edit = 0;
        let mut shift = 0_i64;
        let moved = |at: usize, shift: i64| {
            usize::try_from(at as i64 + shift).expect("no edit before it removed more than there was")
        };
        let mut protected = Vec::with_capacity(self.protected.len());
        for span in &self.protected {
            while let Some(done) = edits.get(edit).filter(|done| done.range.end <= span.start) {
                shift += done.text.len() as i64 - done.range.len() as i64;
                edit += 1;
            }
            // What a structural edit took away is protected no more.
            if edits.get(edit).is_none_or(|next| next.range.start >= span.end) {
                protected.push(moved(span.start, shift)..moved(span.end, shift));
            }
        }
        self.text = applied(&self.text, 0..self.text.len(), edits);
        self.protected = protected;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_move_along_and_stay() {
        let mut draft = Draft::new("the map `a b` of the `c`");
        let at = |draft: &Draft, word: &str| draft.text.find(word).expect("it is there");
        let (the, code) = (at(&draft, "the"), at(&draft, "a b"));
        assert!(
            draft.revise(vec![vec![Change::new(the..the + 4, "")], vec![Change::new(code..code + 2, "")]], |_, _| true)
        );
        assert_eq!(draft.text, "map `a b` of the `c`");
        let code = at(&draft, "c`");
        assert!(!draft.revise(vec![vec![Change::new(0..1, "M"), Change::new(code..code + 1, "d")]], |_, _| true));
    }

    #[test]
    fn a_proposal_is_judged_by_its_lines() {
        let mut draft = Draft::new("one\ntwo words\n\nthree");
        let mut seen = Vec::new();
        draft.revise(vec![vec![Change::new(4..8, "")]], |before, after| {
            seen.push((before.to_owned(), after.to_owned()));
            false
        });
        assert_eq!(seen, [("two words\n\n".to_owned(), "words\n\n".to_owned())]);
    }
}
