//! Folded content that the agent asked for again: it fetched an original, or called the tool again.
//!
//! Both are counted and billed to the plugin, and both lengthen the limits for content of that tool in the session. A
//! rerun is recorded by the first assembly that sees it.

use super::blocks::KeyedBlock;
use super::decisions::Decisions;
use crate::history::{BlockPosition, Reason, Rerun};
use crate::reference::{ContentHash, SHORT_ID_DIGITS};
use crate::store::{AskedAgain, BlockKey, Ledger, Mark, MarkKind, RESTORED};

/// The share of a session's content that is asked for again and comes from one tool, from which on content of that tool
/// stays longer. In recorded sessions, whose agents saw everything, up to 5 % of what was folded was read again.
const USUAL_SHARE: f64 = 0.05;

/// The share at which it stays twice as long, which is the maximum. Chosen by judgement.
const DOUBLING_SHARE: f64 = 0.15;

/// Returns a limit on content of a tool in a session with this ledger. `contents` is the number of contents of all
/// tools that the agent could have asked for. One time alone is chance.
pub(super) fn lengthened(limit: u64, ledger: &Ledger, tool: Option<&str>, contents: usize) -> u64 {
    let times = tool.and_then(|tool| ledger.asked_again.get(tool)).copied().unwrap_or(0);
    let share = times.saturating_sub(1) as f64 / contents.max(1) as f64;
    let excess = (share - USUAL_SHARE) / (DOUBLING_SHARE - USUAL_SHARE);
    limit.saturating_add((limit as f64 * excess.clamp(0.0, 1.0)) as u64)
}

/// The maximum number of model calls between a result and one that repeats it. After more calls an agent that still
/// sees the result reads it again as well.
const MAX_CALLS: u64 = 60;

/// The reruns that an assembly sees first, as they are stored.
#[derive(Default)]
pub(super) struct NewReruns {
    pub(super) marked: Vec<Mark>,
    pub(super) asked_again: Vec<AskedAgain>,
}

impl NewReruns {
    /// Finds the blocks that repeat what an earlier assembly or birth has folded, among the messages from `first_new`
    /// on, and marks them as asked for again.
    pub(super) fn find(reruns: &[Rerun], first_new: usize, decisions: &Decisions, blocks: &mut [KeyedBlock]) -> Self {
        let mut new = Self::default();
        for rerun in reruns.iter().filter(|rerun| rerun.later.0 >= first_new) {
            let (Some(earlier), Some(later)) = (index_of(blocks, rerun.earlier), index_of(blocks, rerun.later)) else {
                continue;
            };
            let calls = blocks[earlier].message.calls_after.saturating_sub(blocks[later].message.calls_after);
            let Some(original) = folded_original(&blocks[earlier], decisions).filter(|_| calls <= MAX_CALLS) else {
                continue;
            };
            let tool = blocks[earlier].block.tool_name().unwrap_or_default().to_owned();
            let later = &mut blocks[later];
            if later.is_fetched {
                continue;
            }
            later.is_fetched = true;
            new.marked.push(Mark::on(MarkKind::Rerun, mark_of(&later.key)));
            new.asked_again.push(AskedAgain {
                ref_id: original.to_ref_id(SHORT_ID_DIGITS).to_string(),
                tool,
                tokens: later.tokens,
                is_rerun: true,
            });
        }
        new
    }
}

/// Returns the content of the mark of a rerun. It names the block and not its text, which the folded result may share.
pub(super) fn mark_of(rerun: &BlockKey) -> ContentHash {
    ContentHash::of(&[&rerun.hash.0[..], &rerun.place.to_le_bytes()].concat())
}

fn index_of(blocks: &[KeyedBlock], position: BlockPosition) -> Option<usize> {
    blocks.binary_search_by_key(&position, |block| (block.message_index, block.block_index)).ok()
}

/// Returns the original of a block that is folded although nothing later holds its content.
fn folded_original(block: &KeyedBlock, decisions: &Decisions) -> Option<ContentHash> {
    match decisions.of_block(&block.key).map(|row| row.projection) {
        Some(row) => {
            let is_missing = row.reason != RESTORED && !Reason::needs_successor(&row.reason);
            is_missing.then_some(row.original)
        }
        None => decisions.placeholders.get(&block.key.hash).copied(),
    }
}
