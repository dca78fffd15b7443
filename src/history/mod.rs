//! One conversation as every part of Concertina sees it: which blocks may leave it, why, and since when, and which are
//! too long to stay whole.
//!
//! `squeeze()`, `assemble()` and the planner render these decisions; none of them judges by itself. Decisions are read
//! off the messages alone, so two processes that see the same history decide the same. User text and assistant text are
//! never selected, whatever their age; thinking only once its turn is over, and then whole.

mod age;
mod command_output;
mod exempt;
mod files;
pub mod measure;
mod oversize;
mod path;
mod read_result;
mod superseded;
mod thinking;

use crate::config::Config;
use crate::transcript::{Block, BlockKind, Message, Role, ToolResult};

pub use age::fates;
pub use measure::{Meter, message_tokens};
pub use oversize::{is_cut, is_exact, is_over, keeps_lines, may_go_fresh, may_replace, may_shrink_fresh};
pub use read_result::tells_of_failure;

/// Where a block stands: index of its message, and its index among that message's blocks.
pub type BlockPosition = (usize, usize);

/// What kind of block may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FoldablePart {
    /// A text of a tool result.
    Result,
    /// The arguments of a tool call.
    Arguments,
    /// An image, of a person or of a tool.
    Image,
}

/// Why a block may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Too many turns or model calls ago.
    Stale,
    /// Something later shows the same or newer content of a file.
    Superseded,
    /// The same text stands in a later result.
    Duplicate,
}

impl Reason {
    /// The word for reports and for the ledger.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Superseded => "superseded",
            Self::Duplicate => "duplicate",
        }
    }

    /// Whether a ledger's word means that a block went because something later holds it, so that it comes back when
    /// that is gone.
    pub fn needs_successor(word: &str) -> bool {
        [Self::Superseded, Self::Duplicate].iter().any(|reason| reason.as_str() == word)
    }
}

/// That a block may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MayGo {
    /// Why: the reason that came first.
    pub reason: Reason,
    /// Whether its age alone is enough.
    pub is_old: bool,
    /// How many model calls were made since it might have gone.
    pub calls: u64,
    /// How many user turns have begun since it might have gone.
    pub turns: u64,
}

/// What is decided on a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It stays.
    Stays,
    /// It is not stale yet, and goes only when the context is full, or, when it is nearly stale, where that costs
    /// nothing.
    Young {
        /// Whether it is a few calls short of stale.
        is_nearly_stale: bool,
    },
    /// It may go whenever that pays.
    MayGo(MayGo),
    /// Thinking of a finished turn: it may leave together with what goes before it, where the provider allows that.
    Finished,
}

impl Fate {
    /// That it may go at any time.
    pub fn may_go(self) -> Option<MayGo> {
        match self {
            Self::MayGo(may_go) => Some(may_go),
            Self::Stays | Self::Young { .. } | Self::Finished => None,
        }
    }
}

/// Whether the options allow a block of this tool, or of this command, to be replaced. A result without a known tool is
/// one of no listed tool.
pub fn may_touch(block: &Block, config: &Config) -> bool {
    if !may_touch_output(block.result.as_ref(), config) {
        return false;
    }
    let tool_name = match (&block.kind, block.result) {
        (_, Some(result)) => result.tool_name,
        (BlockKind::Call(call), None) => Some(call.name),
        _ => None,
    };
    tool_name.map_or(config.only_tools.is_empty(), |name| config.may_touch_tool(name))
}

/// Whether `skipCommands` lets the output of the command behind a result be replaced. Each line of a command counts as
/// one, too.
pub fn may_touch_output(result: Option<&ToolResult>, config: &Config) -> bool {
    config.skip_commands.is_empty()
        || result.and_then(|result| result.arguments?.command()).is_none_or(|command| {
            config.may_touch_command(&command) && command.lines().all(|line| config.may_touch_command(line))
        })
}

/// What kind of block may go; `None` for one that never may.
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
