//! The place in a message from which thinking has been removed.
//!
//! Nothing stands there, so the ledger stores the place: the message's [`BlockKey`] place, the hash of a block beside
//! the gap, and the former index of the part.
//!
//! [`BlockKey`]: crate::store::BlockKey

use serde::{Deserialize, Serialize};

use super::content_hash::hash_of;
use crate::transcript::{Block, BlockKind, Message};

/// The place of a part that was removed from its message.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct ThinkingGap {
    /// The former index of the part.
    pub(super) index: usize,
    /// The hash of the first block in the message that is not thinking.
    pub(super) neighbour_hash: String,
}

impl ThinkingGap {
    /// Returns the gap that a block of this message leaves; `None` if the block is not an array element, or the message
    /// has nothing but thinking.
    pub(super) fn of(message: &Message, block: &Block) -> Option<Self> {
        let neighbour_hash = hash_of(first_block_that_is_not_thinking(message)?).to_hex();
        Some(Self { index: block.path.last_index()?, neighbour_hash })
    }
}

/// Returns the first block that is not thinking.
fn first_block_that_is_not_thinking<'v, 'a>(message: &'v Message<'a>) -> Option<&'v Block<'a>> {
    message.blocks.iter().find(|block| !matches!(block.kind, BlockKind::Thinking(_)))
}
