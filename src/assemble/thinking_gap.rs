//! The place in a message from which thinking has been removed.
//!
//! Nothing stands there, so the ledger stores the place: the message's [`BlockKey`] place, the hash of a block beside
//! the gap, the former index of the part, and a hash of all thinking that the message had. The last one tells whether a
//! message is the one that lost the part: several may have had the same place, because thinking is no part of it.
//!
//! [`BlockKey`]: crate::store::BlockKey

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::content_cache::hash_of;
use crate::reference::ContentHash;
use crate::transcript::{Block, BlockKind, Message};

/// The place of a part that was removed from its message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ThinkingGap {
    /// The former index of the part.
    pub(super) index: usize,
    /// The hash of the first block in the message that is not thinking.
    pub(super) neighbour_hash: String,
    /// The [`hash_of_thinking`] of the message before the part was removed.
    pub(super) thinking_hash: String,
}

impl ThinkingGap {
    /// Returns the gap that a block of this message leaves; `None` if the block is not an array element, or the message
    /// has nothing but thinking.
    pub(super) fn of(message: &Message, block: &Block) -> Option<Self> {
        let neighbour_hash = hash_of(first_block_that_is_not_thinking(message)?).to_hex();
        let thinking_hash = hash_of_thinking(&thinking_of(message));
        Some(Self { index: block.path.last_index()?, neighbour_hash, thinking_hash })
    }
}

/// Returns the first block that is not thinking.
fn first_block_that_is_not_thinking<'v, 'a>(message: &'v Message<'a>) -> Option<&'v Block<'a>> {
    message.blocks.iter().find(|block| !matches!(block.kind, BlockKind::Thinking(_)))
}

/// Returns the indexes and hashes of the thinking in a message, in order.
pub(super) fn thinking_of(message: &Message) -> Vec<(usize, ContentHash)> {
    let thinking = message.blocks.iter().filter(|block| matches!(block.kind, BlockKind::Thinking(_)));
    thinking.filter_map(|block| Some((block.path.last_index()?, hash_of(block)))).collect()
}

/// Returns the hash of all thinking of a message with its indexes.
pub(super) fn hash_of_thinking(thinking: &[(usize, ContentHash)]) -> String {
    let mut sum = Sha256::new();
    for (index, hash) in thinking {
        sum.update((*index as u64).to_le_bytes());
        sum.update(hash.0);
    }
    ContentHash(sum.finalize().into()).to_hex()
}
