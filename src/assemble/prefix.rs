//! Where a block stands: all that stands before it, as one running hash.
//!
//! Where messages have times, the place is the message's time, whatever the ids of calls: hosts rewrite and repeat
//! them. Elsewhere it is the prefix of the block, ids included: a copy whose prefix is another one is another block, so
//! nothing that a host drops, edits or sends again can make an old decision fall on a new copy.

use xxhash_rust::xxh3::xxh3_64;

use super::decisions::{Decision, Decisions};
use crate::reference::ContentHash;
use crate::transcript::{Block, BlockKind, Message, Role};

/// Where a block stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedBlock<'d, 'l> {
    pub(super) place: i64,
    /// The decision whose replacement the block is: a caller may keep the folded history as its own. Then it stands
    /// where the block of that decision stood; the same text elsewhere is somebody's own.
    pub(super) decision: Option<&'d Decision<'l>>,
}

/// All that stands up to the end of a message. What hosts change from call to call has no part in it: system prompts,
/// thinking, unknown fields.
#[derive(Default, Clone, Copy)]
pub(super) struct Prefix(u64);

/// Most ways to read the replacements in one message that are tried: two to the power of twelve, chosen by judgement.
/// Beyond that each is taken for somebody's own text.
const WAYS: usize = 4096;

impl Prefix {
    /// Adds a message, whose blocks are known by `hashes`, and returns where each of them stands.
    ///
    /// Several blocks may have had one replacement, an output and a part of it that was fetched for instance. Which of
    /// them a replacement stands for is told by the place, and that depends on all that the message holds, so the ways
    /// to read it are tried.
    pub(super) fn add_message<'d, 'l>(
        &mut self,
        message: &Message,
        hashes: &[ContentHash],
        decisions: &'d Decisions<'l>,
    ) -> Vec<PlacedBlock<'d, 'l>> {
        // Where thinking has left, the blocks after it still are what they were.
        let mut lasting = 0..;
        let indexes: Vec<usize> = (message.blocks.iter().enumerate())
            .map(|(index, block)| match block.kind {
                BlockKind::Thinking(_) => index,
                _ => lasting.next().unwrap_or(index),
            })
            .collect();
        let rows: Vec<Vec<&Decision>> = hashes.iter().map(|hash| decisions.shown_as(hash).collect()).collect();
        let ways = rows.iter().try_fold(1_usize, |ways, rows| ways.checked_mul(rows.len() + 1)).unwrap_or(usize::MAX);
        // The last way takes nothing for a replacement, and always holds.
        for way in (0..ways.min(WAYS)).map(Some).chain([None]) {
            let mut rest = way;
            let mut choose = |rows: &Vec<&'d Decision<'l>>| {
                let (more, at) = (rest? / (rows.len() + 1), rest? % (rows.len() + 1));
                rest = Some(more);
                rows.get(at).copied()
            };
            let chosen: Vec<Option<&Decision>> = rows.iter().map(&mut choose).collect();
            let mut prefix = *self;
            for ((block, hash), decision) in message.blocks.iter().zip(hashes).zip(&chosen) {
                prefix.add_block(message, block, &decision.map_or(*hash, |decision| decision.projection.block.hash));
            }
            let placed = indexes
                .iter()
                .zip(chosen)
                .map(|(index, decision)| PlacedBlock { place: prefix.place(message, *index), decision });
            let placed: Vec<PlacedBlock> = placed.collect();
            if placed.iter().all(|one| one.decision.is_none_or(|decision| decision.projection.block.place == one.place))
            {
                *self = prefix;
                return placed;
            }
        }
        unreachable!("the last way holds")
    }

    fn add_block(&mut self, message: &Message, block: &Block, hash: &ContentHash) {
        if matches!(message.role, Role::System | Role::Other)
            || matches!(block.kind, BlockKind::Thinking(_) | BlockKind::Other(_))
        {
            return;
        }
        let (id, name) = match (&block.kind, &block.result) {
            (BlockKind::Call(call), _) => (call.id, call.name),
            (_, Some(result)) => (result.call_id, if result.is_error { "failed" } else { "" }),
            _ => ("", ""),
        };
        self.0 = xxh3_64(&[&self.0.to_le_bytes()[..], &hash.0, id.as_bytes(), b"\0", name.as_bytes()].concat());
    }

    /// The place of what has this index in the message that was passed last.
    pub(super) fn place(&self, message: &Message, index: usize) -> i64 {
        let place = || xxh3_64(&[self.0, index as u64].map(u64::to_le_bytes).concat()) as i64;
        message.timestamp.unwrap_or_else(place)
    }
}
