//! Replays the decisions of earlier calls byte for byte.
//!
//! A decision is withdrawn only where it would hide content: a block that was folded because something later holds its
//! content is restored, in an epoch of its own, when the host has dropped the later copy.

use std::collections::BTreeSet;

use super::blocks::KeyedBlock;
use super::decisions::{Decision, Decisions};
use super::replacement::Change;
use super::report::{Action, LARGE, Reply, THINKING};
use crate::history::{Fate, Reason};
use crate::reference::ContentHash;
use crate::store::{BlockKey, Projection, RESTORED};
use crate::transcript::Patch;

/// The reply of an assembly under construction, with the originals that it refers to.
#[derive(Default)]
pub(super) struct ReplyBuilder {
    pub(super) reply: Reply,
    pub(super) in_context: BTreeSet<ContentHash>,
    /// Decisions of earlier calls that no longer hold.
    pub(super) withdrawn: Vec<BlockKey>,
    /// True if one of them no longer holds because its block is protected now.
    pub(super) has_restored: bool,
}

impl ReplyBuilder {
    /// Adds a change with its action. The block costs `tokens_after` afterwards.
    pub(super) fn show(
        &mut self,
        block: &KeyedBlock,
        reason: &'static str,
        ref_id: Option<String>,
        change: Change,
        tokens_after: u64,
    ) {
        let report = &mut self.reply.report;
        report.tokens_after = (report.tokens_after + tokens_after).saturating_sub(block.tokens);
        report.actions.push(Action {
            message: block.message_index,
            block: block.block_index,
            reason,
            ref_id,
            tokens_before: block.tokens,
            tokens_after,
        });
        let (message, path) = (block.message_index, block.block.path.clone());
        match change {
            Change::Remove => self.reply.rewrite.removed.push((message, path)),
            Change::Set(value) => self.reply.rewrite.patches.push(Patch { message, path, value }),
        }
    }
}

/// The state of a block before this call decides anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockState {
    /// The block is as the host holds it.
    Open,
    /// The host holds our placeholder, which costs this many tokens.
    Placeholder(u64),
    /// The block is replaced by an earlier decision and costs this many tokens.
    Replaced(u64),
}

impl BlockState {
    /// Returns the tokens of the block as the last request showed it.
    pub(super) fn tokens(self, block: &KeyedBlock) -> u64 {
        match self {
            Self::Open => block.tokens,
            Self::Placeholder(tokens) | Self::Replaced(tokens) => tokens,
        }
    }
}

/// Applies earlier decisions as patches, and returns the state of each block.
pub(super) fn replay(decisions: &Decisions, blocks: &[KeyedBlock], builder: &mut ReplyBuilder) -> Vec<BlockState> {
    let state_of = |block: &KeyedBlock| {
        let row = decisions.of_block(&block.key);
        let is_restored = row.is_some_and(|row| row.projection.reason == RESTORED && is_valid(row.projection, block));
        if let Some(original) = decisions.placeholders.get(&block.key.hash).filter(|_| !is_restored) {
            let outdated = row.filter(|row| row.projection.reason == RESTORED);
            builder.withdrawn.extend(outdated.map(|row| row.projection.block));
            builder.in_context.insert(*original);
            return BlockState::Placeholder(block.tokens);
        }
        if let Some(Decision { projection, stored }) = row {
            let Some(change) = stored.replacement.change(block.message, block.block) else {
                return BlockState::Replaced(block.tokens);
            };
            if is_valid(projection, block) {
                builder.in_context.insert(projection.original);
                builder.show(block, "replay", None, change, stored.tokens);
                return BlockState::Replaced(stored.tokens);
            }
            builder.withdrawn.push(projection.block);
            builder.has_restored |= block.fate.is_protected();
        }
        // A copy in context keeps its original alive: its placeholder will name it.
        builder.in_context.extend(decisions.copies.get(&block.key.hash));
        BlockState::Open
    };
    blocks.iter().map(state_of).collect()
}

/// Returns true if a decision still holds. A protected block is shown in full. A block folded because of something
/// later needs that to exist. A block folded for its age or because the context was full is restored when it is young
/// again: the host went back in the history, or the agent has just fetched a copy.
fn is_valid(row: &Projection, block: &KeyedBlock) -> bool {
    let is_young = matches!(block.fate, Fate::Young { .. });
    match row.reason.as_str() {
        RESTORED => block.is_pinned,
        _ if block.fate.is_protected() => false,
        _ if block.fate.permission().is_some() => true,
        LARGE => true,
        THINKING => block.fate == Fate::Finished,
        reason if Reason::needs_successor(reason) => false,
        "stale" => is_young && block.message.turn_age > 1,
        _ => is_young,
    }
}
