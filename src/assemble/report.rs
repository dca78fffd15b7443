//! The result of a job: the change to the messages, and a report.

use serde::Serialize;

use super::redaction::Question;
use crate::error::Error;
use crate::store::Epoch;
use crate::transcript::Rewrite;

/// The reason for an output over the reference threshold.
pub(super) const LARGE: &str = "large";

/// The reason for thinking that leaves.
pub(super) const THINKING: &str = "thinking";

/// One block that was rewritten, for reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Action {
    /// Index of the message.
    pub message: usize,
    /// Index of the block in it.
    pub block: usize,
    /// The reason: `shortened`, `shrunk` (an image) or `large` at birth; `stale`, `superseded`, `duplicate`,
    /// `restored` or the epoch's reason later; `replay` for an earlier decision.
    pub reason: &'static str,
    /// The id that the placeholder prints.
    pub ref_id: Option<String>,
    /// Tokens of the block as the host holds it.
    pub tokens_before: u64,
    /// Tokens of what is shown.
    pub tokens_after: u64,
}

/// The report of a job.
#[derive(Debug, Default)]
pub struct Report {
    /// One for each rewritten block.
    pub actions: Vec<Action>,
    /// Tokens of the blocks that were looked at, as they came.
    pub tokens_before: u64,
    /// Tokens of the same blocks as returned.
    pub tokens_after: u64,
    /// Set when already-sent content changed in this call.
    pub epoch: Option<Epoch>,
    /// Set when the store failed and new content went out unreplaced.
    pub warning: Option<Warning>,
}

/// A failure that did not stop the turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Stable code of the error.
    pub code: &'static str,
    /// The error message.
    pub message: String,
}

impl From<&Error> for Warning {
    fn from(error: &Error) -> Self {
        Self { code: error.code(), message: error.to_string() }
    }
}

/// The result of a job: the change to the messages and a report.
#[derive(Debug, Default)]
pub struct Reply {
    /// The change; empty if everything stays.
    pub rewrite: Rewrite,
    /// The report.
    pub report: Report,
    /// Questions that the caller's redactor must answer before anything is folded ([`super::RedactorMode::Ask`]).
    pub questions: Vec<Question>,
}

impl Reply {
    pub(super) fn unchanged(report: Report) -> Self {
        Self { report, ..Self::default() }
    }
}
