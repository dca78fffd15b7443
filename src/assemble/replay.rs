//! What earlier calls decided, shown again byte for byte.
//!
//! A decision is taken back only where it would hide a text: what went because something later holds it comes back, in
//! an epoch of its own, when the host has dropped what held it.

use std::collections::{BTreeSet, HashMap};

use super::blocks::KeyedBlock;
use super::decisions::{Decision, Decisions};
use super::replacement::Change;
use super::report::{Action, LARGE, Reply, THINKING};
use crate::history::{Fate, Reason};
use crate::reference::ContentHash;
use crate::store::{BlockKey, Projection};
use crate::transcript::Patch;

/// The reply of an assembly as it is made, with what it refers to.
#[derive(Default)]
pub(super) struct Assembled {
    pub(super) reply: Reply,
    pub(super) in_context: BTreeSet<ContentHash>,
    /// Decisions of earlier calls that no longer hold.
    pub(super) withdrawn: Vec<BlockKey>,
}

impl Assembled {
    /// Adds a change, after which the block costs `tokens_after`, and its action.
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

/// How a block is shown before this call decides anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockState {
    /// As the host holds it.
    Open,
    /// The host holds our placeholder, of this cost.
    Placeholder(u64),
    /// Replaced as an earlier call decided, at this cost.
    Replaced(u64),
}

/// Patches what earlier calls decided; returns how each block is shown now.
pub(super) fn replay(decisions: &Decisions, blocks: &[KeyedBlock], assembled: &mut Assembled) -> Vec<BlockState> {
    let rows: HashMap<BlockKey, &Decision> = decisions.rows.iter().map(|row| (row.projection.block, row)).collect();
    let state_of = |block: &KeyedBlock| {
        if let Some(original) = decisions.placeholders.get(&block.key.hash) {
            assembled.in_context.insert(*original);
            return BlockState::Placeholder(block.tokens);
        }
        if let Some(Decision { projection, stored }) = rows.get(&block.key) {
            let Some(change) = stored.replacement.change(block.message, block.block) else {
                return BlockState::Replaced(block.tokens);
            };
            if still_holds(projection, block) {
                assembled.in_context.insert(projection.original);
                assembled.show(block, "replay", None, change, stored.tokens);
                return BlockState::Replaced(stored.tokens);
            }
            assembled.withdrawn.push(projection.block);
        }
        // A copy in sight keeps its original alive: its placeholder will name it.
        assembled.in_context.extend(decisions.copies.get(&block.key.hash));
        BlockState::Open
    };
    blocks.iter().map(state_of).collect()
}

/// Whether a decision may stand. What went for the sake of something later needs that, and what went for its age or for
/// lack of room comes back when it is new again: the host took back what came after it, or it is a copy that the agent
/// has just asked for.
fn still_holds(row: &Projection, block: &KeyedBlock) -> bool {
    let is_young = matches!(block.fate, Fate::Young { .. });
    match row.reason.as_str() {
        _ if block.fate.may_go().is_some() => true,
        LARGE => true,
        THINKING => block.fate == Fate::Finished,
        reason if Reason::needs_successor(reason) => false,
        "stale" => is_young && block.message.turn_age > 1,
        _ => is_young,
    }
}
