//! The contest of codecs for the lines of a text: each proposes edits, and the combination that saves most is made.

use std::ops::Range;

use super::Edit;

/// The discount on folds of stages for plain text, in percent. Stages that know the type of a text are preferred
/// because names of columns, paths and hunks tell a reader more than line positions.
pub(super) const PLAIN_TEXT_DISCOUNT: isize = 10;

/// The percentage of a segment's tokens that a fold by a stage for its type must save to settle the segment. Planning
/// the folds of all other codecs costs several times as much as the fold itself.
pub(super) const SETTLED: isize = 66;

/// The percentage of its lines' tokens that a fold of plain text must save. A reader pays for templates, counters and
/// references; the fold is not made if it saves less, unless the caller asks for its stage.
pub(super) const EARNED: isize = 15;

/// Returns true if an edit that leaves `after` tokens saves at least this percentage of those before.
pub(super) fn saves_percent(saved: isize, after: usize, percent: isize) -> bool {
    saved * 100 >= percent * (saved + after as isize)
}

/// An edit that a step proposes, with its value.
pub(super) struct Candidate {
    /// The index of the step that proposes the edit.
    pub(super) step: usize,
    pub(super) edit: Edit,
    /// The tokens that the edit saves.
    pub(super) saved: isize,
    /// The saved tokens in hundredths, after the discount. Competing edits are compared by it.
    pub(super) worth: isize,
}

/// Returns the non-overlapping edits with the highest total worth, sorted.
pub(super) fn best(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    candidates.sort_by_key(|candidate| (candidate.edit.range.end, candidate.edit.range.start));
    // `most[n]` is the highest worth of the first `n` candidates, and whether the last of them is taken.
    let mut most = vec![(0isize, false); candidates.len() + 1];
    let before =
        |candidate: &Candidate| candidates.partition_point(|other| other.edit.range.end <= candidate.edit.range.start);
    for (index, candidate) in candidates.iter().enumerate() {
        let with = most[before(candidate).min(index)].0 + candidate.worth;
        let without = most[index].0;
        most[index + 1] = if with > without { (with, true) } else { (without, false) };
    }
    let mut is_taken = vec![false; candidates.len()];
    let mut at = candidates.len();
    while at > 0 {
        is_taken[at - 1] = most[at].1;
        at = if most[at].1 { before(&candidates[at - 1]).min(at - 1) } else { at - 1 };
    }
    let mut is_taken = is_taken.into_iter();
    candidates.retain(|_| is_taken.next() == Some(true));
    candidates
}

/// Sorts ranges and joins those that overlap.
pub(super) fn merged<'r>(ranges: impl Iterator<Item = &'r Range<usize>>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = ranges.cloned().collect();
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    ranges.dedup_by(|next, last| {
        let overlaps = next.start < last.end;
        if overlaps {
            last.end = last.end.max(next.end);
        }
        overlaps
    });
    ranges
}

/// Returns true if `range` overlaps one of `ranges`, which are sorted and do not overlap.
pub(super) fn overlaps(ranges: &[Range<usize>], range: &Range<usize>) -> bool {
    let first = ranges.partition_point(|other| other.end <= range.start);
    ranges.get(first).is_some_and(|other| other.start < range.end)
}
