//! What a caller says of a call beside its history.

use super::redaction::RedactorMode;
use crate::plan::prices::Prices;

/// What a caller may ask of an assembly.
#[derive(Debug, Clone, Default)]
pub struct AssembleOptions {
    /// Names of the tools that this run has; `None` when the caller does not know. Without the fetch tool nothing is
    /// folded.
    pub available_tools: Option<Vec<String>>,
    /// The model, for the tokens of images and for its own options.
    pub model: Option<String>,
    /// Also replace oversize results that were never seen at birth (for engines that are wrapped, not hosted).
    pub refer_oversize: bool,
    /// What the model's tokens cost; by its family where nobody says.
    pub prices: Option<Prices>,
    /// How many tokens the host leaves for the history.
    pub token_budget: Option<u64>,
    /// Whether a user turn begins with this call whose message is not among the messages yet.
    pub turn_begins: bool,
    /// How a redactor of the caller's takes part.
    pub redactor: RedactorMode,
}
