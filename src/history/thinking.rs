//! Which thinking has done its work.
//!
//! Providers want a model's thinking back while the turn it belongs to goes on, calls and results included, and allow to leave it out
//! afterwards: <https://platform.claude.com/docs/en/build-with-claude/extended-thinking> (preserving thinking blocks).

use crate::transcript::{Block, Kind, Message, Role, Transcript, has_opaque};

/// The index up to which all turns are finished: a person spoke since, or the model ended its turn with an answer and no call.
pub(super) fn finished_until(transcript: &Transcript) -> usize {
    let messages = &transcript.messages;
    let is_answer = |message: &Message| {
        message.role == Role::Assistant && !message.blocks.iter().any(|block| matches!(block.kind, Kind::Call(_)))
    };
    // Words beside results belong to the turn that the results go on.
    let spoke = |message: &&Message| matches!(message.role, Role::User | Role::Assistant | Role::Tool);
    match messages.iter().rev().find(spoke) {
        Some(last) if is_answer(last) => messages.len(),
        _ => messages.iter().rposition(|message| message.starts_turn).unwrap_or(0),
    }
}

/// Whether a message has words or calls beside its thinking: providers refuse an empty one.
pub(super) fn says_more_than_thinking(message: &Message) -> bool {
    message.role == Role::Assistant
        && message.blocks.iter().any(|block| match block.kind {
            Kind::Text(text) => !text.trim().is_empty(),
            Kind::Call(_) => true,
            _ => false,
        })
}

/// Whether a block is thinking that can be kept, and so brought back, byte for byte.
pub(super) fn is_whole_thinking(block: &Block) -> bool {
    matches!(block.kind, Kind::Thinking(part) if !has_opaque(part)) && block.path.last_index().is_some()
}
