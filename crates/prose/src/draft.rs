//! A text while it is being shortened, and the changes that are proposed for it.
//!
//! The spans that must not change are found once, in the original text, and move along with every change. A proposal
//! that touches one is rejected as a whole, because half of it could be worse than none.

use std::ops::Range;

/// One place of a text, and its new text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The place, in bytes.
    pub range: Range<usize>,
    /// The new text.
    pub text: String,
    /// True if protected spans may be removed or moved: by a diagram, or by the header of a table, which is repeated
    /// in its rows.
    pub(crate) is_structural: bool,
}

impl Change {
    pub(crate) fn new(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into(), is_structural: false }
    }

    pub(crate) fn structural(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { is_structural: true, ..Self::new(range, text) }
    }

    /// Returns the change for a text that starts this many bytes later.
    pub(crate) fn moved(self, bytes: usize) -> Self {
        Self { range: self.range.start + bytes..self.range.end + bytes, ..self }
    }
}

/// Changes that are made together or not at all. They are in order and do not touch each other or other proposals.
pub type Proposal = Vec<Change>;

/// Returns a part of a text with changes, which are in order and do not overlap.
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

/// Groups changes by line. They are in order and do not overlap.
pub(crate) fn by_line(text: &str, changes: Vec<Change>) -> Vec<Proposal> {
    let mut lines: Vec<Proposal> = Vec::new();
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

/// Returns true if a line ends immediately before byte `at`.
fn ends_line(text: &str, at: usize) -> bool {
    text.as_bytes()[..at].ends_with(b"\n")
}

/// A text, and the spans in it that must not change.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) text: String,
    /// Sorted, without overlaps.
    protected: Vec<Range<usize>>,
}

impl Draft {
    pub(crate) fn new(text: &str, protected: impl IntoIterator<Item = Range<usize>>) -> Self {
        Self { text: text.to_owned(), protected: protected.into_iter().collect() }
    }

    /// Makes those proposals that touch no protected span and that `admits` accepts, given their lines before and
    /// after. Returns the number of proposals made.
    pub(crate) fn revise(
        &mut self,
        proposals: impl IntoIterator<Item = Proposal>,
        mut admits: impl FnMut(&str, &str) -> bool,
    ) -> usize {
        let (mut accepted, mut count, mut span) = (Vec::new(), 0, 0);
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
                count += 1;
            }
        }
        if count > 0 {
            self.apply(&accepted);
        }
        count
    }

    fn touches(&self, proposal: &Proposal, from: usize) -> bool {
        let mut span = from;
        proposal.iter().filter(|change| !change.is_structural).any(|change| {
            while self.protected.get(span).is_some_and(|span| span.end < change.range.start) {
                span += 1;
            }
            let mut spans = self.protected[span..].iter().take_while(|span| span.start <= change.range.end);
            spans.any(|span| change.range.start < span.end && span.start < change.range.end)
        })
    }

    /// Returns the whole lines from `start` to `end`, with the blank lines below them.
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

    fn apply(&mut self, changes: &[Change]) {
        let (mut next, mut shift) = (0, 0);
        self.protected.retain_mut(|span| {
            while let Some(done) = changes.get(next).filter(|done| done.range.end <= span.start) {
                shift += done.text.len() as isize - done.range.len() as isize;
                next += 1;
            }
            // A span that a structural change replaced is no longer protected.
            let stays = changes.get(next).is_none_or(|next| next.range.start >= span.end);
            let moved = |at: usize| at.checked_add_signed(shift).expect("no change removes more than there is");
            *span = if stays { moved(span.start)..moved(span.end) } else { 0..0 };
            stays
        });
        self.text = applied(&self.text, 0..self.text.len(), changes);
    }
}
