//! The options of one assembly.

use super::redaction::RedactorMode;
use crate::plan::prices::StatedPrices;

/// The options of one assembly, beside the history itself.
#[derive(Debug, Clone, Default)]
pub struct AssembleOptions {
    /// Names of the tools that are available in this run; `None` if the caller does not know. Nothing is folded without
    /// the fetch tool.
    pub available_tools: Option<Vec<String>>,
    /// The model: selects the image tokenizer and the per-model options.
    pub model: Option<String>,
    /// Also replace oversize results that were never seen at birth (for engines that are wrapped, not hosted).
    pub refer_oversize: bool,
    /// Prices of the model's tokens, as far as the caller states them.
    pub prices: Option<StatedPrices>,
    /// The token budget that the host reserves for the history.
    pub token_budget: Option<u64>,
    /// True if a user turn begins with this call and its message is not among the messages yet.
    pub turn_begins: bool,
    /// The message that begins the turn, if it is not among the messages yet.
    pub prompt: Option<String>,
    /// The way in which the caller's redactor takes part.
    pub redactor: RedactorMode,
}
