//! The place of a block: a running hash of everything before it.
//!
//! If messages have timestamps, the place is the message's timestamp, because hosts rewrite and repeat call ids.
//! Otherwise it is the hash of the block's prefix, ids included: a copy with a different prefix is a different block,
//! so nothing that a host drops, edits or resends can apply an old decision to a new copy.

use indexmap::IndexSet;
use xxhash_rust::xxh3::xxh3_64;

use super::decisions::{Decision, Decisions};
use crate::reference::ContentHash;
use crate::store::BlockKey;
use crate::transcript::{Block, BlockKind, Message, Role};

/// The place of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedBlock<'d, 'l> {
    pub(super) place: i64,
    /// The decision whose replacement the block is, if a caller keeps the folded history as its own. The block then has
    /// the place of the decision's block; the same text at any other place is not ours.
    pub(super) decision: Option<&'d Decision<'l>>,
}

/// A running hash up to the end of a message. It excludes what hosts change from call to call: system prompts,
/// thinking, unknown fields.
#[derive(Default, Clone, Copy)]
pub(super) struct Prefix(u64);

/// The maximum number of ways to read the replacements in one message that are tried: two to the power of twelve,
/// chosen by judgement. Beyond it no text is taken for one of our replacements.
const MAX_READINGS: usize = 4096;

impl Prefix {
    /// Adds a message whose blocks have these `hashes`, and returns the place of each block.
    ///
    /// Several blocks may have had the same replacement, for instance an output and a fetched part of it. The place
    /// tells them apart, but it depends on everything in the message, so all ways to read the message are tried.
    pub(super) fn add_message<'d, 'l>(
        &mut self,
        message: &Message,
        hashes: &[ContentHash],
        decisions: &'d Decisions<'l>,
    ) -> Vec<PlacedBlock<'d, 'l>> {
        // Thinking that has left does not change the indexes of the blocks after it.
        let mut stable_indexes = 0..;
        let indexes: Vec<usize> = (message.blocks.iter().enumerate())
            .map(|(index, block)| match block.kind {
                BlockKind::Thinking(_) => index,
                _ => stable_indexes.next().unwrap_or(index),
            })
            .collect();
        // The place depends on the content that a block stood for, and not on the row that says so.
        let shown_for = |hash| decisions.shown_as(hash).map(|row| row.projection.block.hash);
        let contents: Vec<IndexSet<ContentHash>> = hashes.iter().map(|hash| shown_for(hash).collect()).collect();
        let readings = contents.iter().try_fold(1_usize, |readings, contents| readings.checked_mul(contents.len() + 1));
        // The last way assumes no replacements and always holds.
        for reading in (0..readings.unwrap_or(usize::MAX).min(MAX_READINGS)).map(Some).chain([None]) {
            let mut rest = reading;
            let mut choose = |contents: &IndexSet<ContentHash>| {
                let (more, at) = (rest? / (contents.len() + 1), rest? % (contents.len() + 1));
                rest = Some(more);
                contents.get_index(at).copied()
            };
            let chosen: Vec<Option<ContentHash>> = contents.iter().map(&mut choose).collect();
            let mut prefix = *self;
            for ((block, hash), content) in message.blocks.iter().zip(hashes).zip(&chosen) {
                prefix.hash_block(message, block, &content.unwrap_or(*hash));
            }
            let place_block = |((index, shown), content): ((&usize, &ContentHash), Option<ContentHash>)| {
                let place = prefix.place(message, *index);
                let Some(hash) = content else { return Some(PlacedBlock { place, decision: None }) };
                let decision =
                    decisions.shown_as(shown).find(|row| row.projection.block == BlockKey { hash, place })?;
                Some(PlacedBlock { place, decision: Some(decision) })
            };
            let placed: Option<Vec<PlacedBlock>> = indexes.iter().zip(hashes).zip(chosen).map(place_block).collect();
            if let Some(placed) = placed {
                *self = prefix;
                return placed;
            }
        }
        unreachable!("the last way holds")
    }

    fn hash_block(&mut self, message: &Message, block: &Block, hash: &ContentHash) {
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

    /// Returns the place of the block with this index in the message that was added last.
    pub(super) fn place(&self, message: &Message, index: usize) -> i64 {
        let place = || xxh3_64(&[self.0, index as u64].map(u64::to_le_bytes).concat()) as i64;
        message.timestamp.unwrap_or_else(place)
    }
}
