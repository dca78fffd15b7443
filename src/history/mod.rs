//! The decisions on each block of a history: the blocks that may leave it, the reason, since when, and the outputs that
//! are too long to stay whole.
//!
//! `squeeze()`, `assemble()` and the planner render these decisions; none of them judges by itself. Decisions depend on
//! the messages alone, so two processes that see the same history decide the same. User text and assistant text are
//! never selected, whatever their age; thinking only once its turn is over, and then whole.

mod age;
mod command_output;
mod files;
mod keep;
pub mod measure;
mod oversize;
mod path;
mod protection;
mod read_result;
mod shell;
mod superseded;
mod thinking;

use crate::transcript::{Block, BlockKind, Message, Role};

pub use age::{Fates, fates};
pub use keep::{KeptByPerson, asks_to_keep, kept_by_person};
pub use measure::{Meter, message_tokens};
pub use oversize::{can_replace_fresh, can_shorten_fresh, is_exact, is_over_threshold, is_truncated, must_keep_lines};
pub use protection::can_replace;
pub use read_result::reports_failure;
pub(crate) use shell::commands;

/// The position of a block: the index of its message, and its index in that message.
pub type BlockPosition = (usize, usize);

/// The kind of a block that may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FoldablePart {
    /// A text of a tool result.
    Result,
    /// The arguments of a tool call.
    Arguments,
    /// An image, of a person or of a tool.
    Image,
}

/// The reason for which a block may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// It is too many turns or model calls old.
    Stale,
    /// Something later shows the same or newer content of a file.
    Superseded,
    /// The same text stands in a later result.
    Duplicate,
}

impl Reason {
    /// Returns the word for reports and for the ledger.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Superseded => "superseded",
            Self::Duplicate => "duplicate",
        }
    }

    /// Returns true if a reason in the ledger means that the block was folded because something later holds its
    /// content. It is restored when that is gone.
    pub fn needs_successor(word: &str) -> bool {
        [Self::Superseded, Self::Duplicate].iter().any(|reason| reason.as_str() == word)
    }
}

/// A result that shows again what an earlier result shows: the same text, or lines of a file that has not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rerun {
    /// The nearest earlier result.
    pub earlier: BlockPosition,
    /// The result that repeats it.
    pub later: BlockPosition,
}

/// The permission to fold a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoldPermission {
    /// The reason that applied first.
    pub reason: Reason,
    /// True if its age alone is enough.
    pub is_old: bool,
    /// The number of model calls since it first might have gone.
    pub calls: u64,
    /// The number of user turns since it first might have gone.
    pub turns: u64,
}

/// The decision on a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It stays.
    Stays,
    /// It is not stale yet. It goes only when the context is full or, if it is nearly stale, where that costs nothing.
    Young {
        /// True if it is a few calls short of stale.
        is_nearly_stale: bool,
    },
    /// It may go whenever that pays.
    Foldable(FoldPermission),
    /// Thinking of a finished turn: it may leave together with what goes before it, where the provider allows that.
    Finished,
    /// It stays because the options or a person protect it.
    Protected {
        /// True if it could be folded otherwise.
        is_due: bool,
    },
}

impl Fate {
    /// Returns the permission to fold the block at any time, if there is one.
    pub fn permission(self) -> Option<FoldPermission> {
        match self {
            Self::Foldable(permission) => Some(permission),
            Self::Stays | Self::Young { .. } | Self::Finished | Self::Protected { .. } => None,
        }
    }

    /// Returns the fate of the block once it is protected.
    #[must_use]
    pub fn protected(self) -> Self {
        match self {
            Self::Protected { .. } => self,
            _ => Self::Protected { is_due: self.permission().is_some() },
        }
    }

    /// Returns true if the block is protected.
    pub fn is_protected(self) -> bool {
        matches!(self, Self::Protected { .. })
    }
}

/// Returns the kind of a block that may go; `None` for one that never may.
pub fn foldable_part(message: &Message, block: &Block) -> Option<FoldablePart> {
    if matches!(message.role, Role::System | Role::Other) {
        return None;
    }
    match block.kind {
        BlockKind::Text(_) if block.result.is_some() => Some(FoldablePart::Result),
        BlockKind::Call(call) if block.result.is_none() && !call.is_typed => Some(FoldablePart::Arguments),
        BlockKind::Image(_) => Some(FoldablePart::Image),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
