//! What a compression gives back: the text, its originals, and one row for each stage.
//!
//! Rows stand in the order in which the stages were tried, and chain: each starts with the tokens that the one before
//! left. A codec may offer more than is taken, where another one saves more of the same text. The last row and
//! [`Compressed::tokens_after`] differ by the marker line, which belongs to no stage.

use crate::content::{ContentType, Language};
use crate::reference::Original;

/// A compressed text. When nothing paid, the text is the input.
#[derive(Debug, Clone, PartialEq)]
pub struct Compressed {
    /// The text.
    pub text: String,
    /// Tokens of the input.
    pub tokens_before: usize,
    /// Tokens of the text, marker included.
    pub tokens_after: usize,
    /// What most of the input was taken for.
    pub content_type: ContentType,
    /// Its language, for code.
    pub language: Option<Language>,
    /// Whether the text alone restores the input.
    pub lossless: bool,
    /// One row for each stage that was in the pipeline, in the order in which they ran.
    pub stages: Vec<StageReport>,
    /// What must be stored before the text may be shown: the input, when the text is not lossless.
    pub originals: Vec<Original>,
}

/// What one stage did.
#[derive(Debug, Clone, PartialEq)]
pub struct StageReport {
    /// The stage.
    pub name: String,
    /// Whether any of its edits is in the text.
    pub fired: bool,
    /// Tokens before it ran.
    pub tokens_before: usize,
    /// Tokens after it ran.
    pub tokens_after: usize,
    /// Tokens that its edits would have saved by themselves, in the attempt where that was most.
    pub offered: usize,
    /// Time spent on deciding whether to look closer, in milliseconds, over all attempts.
    pub gate_ms: f64,
    /// Time spent on proposing, measuring and proving edits, in milliseconds, over all attempts.
    pub work_ms: f64,
    /// What the stage has to say, as name and value. `unsettled` stands at a stage that always found more to do in its
    /// own output, so that the reversible form was given up.
    pub notes: Vec<(String, String)>,
}

/// What one stage did.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    pub(super) folds: Sum,
    /// Edits that need the original to be undone.
    pub(super) changes: Sum,
    pub(super) notes: Vec<(String, String)>,
}

/// A number of edits and the tokens that they save; negative where they cost some.
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

/// What one stage took and offered over all attempts; times in milliseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Attempts {
    pub(super) offered: usize,
    pub(super) gate_ms: f64,
    pub(super) work_ms: f64,
}

/// The rows of a report.
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
