//! The result of a compression: the text, its originals, and one row for each stage.
//!
//! Rows are in the order in which the stages ran. Each row starts with the tokens that the row before ended with. A
//! codec may offer more than is taken if another codec saves more on the same text. The last row differs from
//! [`Compressed::tokens_after`] by the marker line, which belongs to no stage.

use crate::content::{ContentType, Language};
use crate::reference::Original;

/// A compressed text. It equals the input if nothing paid.
#[derive(Debug, Clone, PartialEq)]
pub struct Compressed {
    /// The compressed text.
    pub text: String,
    /// The number of tokens of the input.
    pub tokens_before: usize,
    /// The number of tokens of the text, including the marker.
    pub tokens_after: usize,
    /// The detected type of the largest part of the input.
    pub content_type: ContentType,
    /// The language of the input, if it is code.
    pub language: Option<Language>,
    /// True if the input can be restored from the text alone.
    pub lossless: bool,
    /// One row for each stage of the pipeline, in the order in which they ran.
    pub stages: Vec<StageReport>,
    /// The originals that must be stored before the text may be shown: the input, if the text is not lossless.
    pub originals: Vec<Original>,
}

/// The effect of one stage.
#[derive(Debug, Clone, PartialEq)]
pub struct StageReport {
    /// The name of the stage.
    pub name: String,
    /// True if the text contains an edit of the stage.
    pub fired: bool,
    /// The number of tokens before it ran.
    pub tokens_before: usize,
    /// The number of tokens after it ran.
    pub tokens_after: usize,
    /// The number of tokens that its edits alone would have saved, in its best attempt.
    pub offered: usize,
    /// The time spent deciding whether the stage applies, in milliseconds, over all attempts.
    pub gate_ms: f64,
    /// The time spent proposing, measuring and proving edits, in milliseconds, over all attempts.
    pub work_ms: f64,
    /// Notes of the stage, as name and value. `unsettled` means that the stage kept finding more to do in its own
    /// output, so that the reversible form was dropped.
    pub notes: Vec<(String, String)>,
}

/// The edits of one stage that were made.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    pub(super) folds: Sum,
    /// The edits that need the original to be undone.
    pub(super) changes: Sum,
    pub(super) notes: Vec<(String, String)>,
}

/// A number of edits and the tokens that they save; negative if they cost tokens.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    pub(super) edits: usize,
    pub(super) saved: isize,
}

impl Sum {
    pub(super) fn add(&mut self, other: Self) {
        self.edits += other.edits;
        self.saved += other.saved;
    }
}

/// The most tokens that one stage offered, and its time over all attempts in milliseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Attempts {
    pub(super) offered: usize,
    pub(super) gate_ms: f64,
    pub(super) work_ms: f64,
}

/// Returns the rows of a report.
pub(super) fn rows(names: &[&str], tallies: &[Tally], attempts: &[Attempts], tokens_before: usize) -> Vec<StageReport> {
    let mut tokens = tokens_before;
    names
        .iter()
        .zip(tallies)
        .zip(attempts)
        .map(|((name, tally), attempts)| {
            let before = tokens;
            tokens = before.saturating_add_signed(-(tally.folds.saved + tally.changes.saved));
            StageReport {
                name: (*name).to_owned(),
                fired: tally.folds.edits + tally.changes.edits > 0,
                tokens_before: before,
                tokens_after: tokens,
                offered: attempts.offered,
                gate_ms: attempts.gate_ms,
                work_ms: attempts.work_ms,
                notes: tally.notes.clone(),
            }
        })
        .collect()
}

/// Adapts rows to another form of the text, which has `tokens_before` tokens. If its result is not shown, no row fired.
pub(super) fn recount(rows: &mut [StageReport], tokens_before: usize, is_shown: bool) {
    let mut tokens = tokens_before;
    for row in rows {
        let saved = row.tokens_before as isize - row.tokens_after as isize;
        row.fired &= is_shown;
        row.tokens_before = tokens;
        tokens = if row.fired { tokens.saturating_add_signed(-saved) } else { tokens };
        row.tokens_after = tokens;
    }
}
