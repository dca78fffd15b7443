//! The place in a message from which thinking has left.
//!
//! Nothing stands there, so the ledger keeps the place: the message by the place that [`BlockKey`] knows and by the
//! block beside the gap, and the index that the part had.
//!
//! [`BlockKey`]: crate::store::BlockKey

use serde::{Deserialize, Serialize};

use super::content_hash::hash_of;
use crate::transcript::{Block, BlockKind, Message};

/// Where a part was missing from its message.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct ThinkingGap {
    /// The index that it had.
    pub(super) index: usize,
    /// What the first block that cannot leave is known by.
    pub(super) beside: String,
}

impl ThinkingGap {
    /// The gap that a block of this message leaves; `None` where it is no element, or the only one.
    pub(super) fn of(message: &Message, block: &Block) -> Option<Self> {
        let beside = hash_of(first_lasting(message)?).to_hex();
        Some(Self { index: block.path.last_index()?, beside })
    }
}

/// The first block that cannot leave: no thinking.
fn first_lasting<'v, 'a>(message: &'v Message<'a>) -> Option<&'v Block<'a>> {
    message.blocks.iter().find(|block| !matches!(block.kind, BlockKind::Thinking(_)))
}
