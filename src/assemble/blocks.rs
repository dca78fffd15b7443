//! The blocks of a history with their keys, by which earlier decisions are found again.
//!
//! A [`BlockKey`] is a content hash and a place; `prefix` defines the place.

use concertina_base::hashing::FastMap;

use super::asked_again::mark_of;
use super::content_cache::ContentCache;
use super::decisions::Decisions;
use super::fetch_answers::{can_be_fetch_answer, is_fetch_result};
use super::prefix::Prefix;
use crate::config::Config;
use crate::history::{Fate, Fates, FoldPermission, Meter, can_replace_fresh, is_over_threshold};
use crate::reference::ContentHash;
use crate::store::{BlockKey, FoldedKind};
use crate::transcript::{Block, BlockKind, Message, Transcript};

/// A block with its key and its fate.
pub(super) struct KeyedBlock<'t, 'a> {
    pub(super) message_index: usize,
    pub(super) block_index: usize,
    pub(super) message: &'t Message<'a>,
    pub(super) block: &'t Block<'a>,
    pub(super) key: BlockKey,
    /// Tokens of the block as the host holds it.
    pub(super) tokens: u64,
    pub(super) fate: Fate,
    /// True if the agent asked for it again. That is known by the fetch tool's name, or by the ledger, which records
    /// answers whatever the tool is called, and results that repeat a folded one.
    pub(super) is_fetched: bool,
    /// True if a mark of the session protects it.
    pub(super) is_pinned: bool,
}

impl KeyedBlock<'_, '_> {
    /// Returns the category under which the block is counted when it is folded.
    pub(super) fn folded_kind(&self) -> FoldedKind {
        match (self.block.kind, &self.block.result) {
            (BlockKind::Text(_), Some(_)) => FoldedKind::Results,
            (BlockKind::Call(_), _) => FoldedKind::Arguments,
            (BlockKind::Thinking(_), _) => FoldedKind::Thinking,
            (BlockKind::Image(_), _) => FoldedKind::Images,
            _ => FoldedKind::Other,
        }
    }

    /// Returns true if the block is an output over the reference threshold that birth replaces unless it is protected.
    pub(super) fn is_oversize_output(&self, config: &Config) -> bool {
        let is_over = |text: &str| {
            let result = self.block.result.as_ref();
            result.is_some_and(|result| is_over_threshold(text, result, &self.message.blocks, config))
        };
        !self.is_fetched
            && matches!(self.block.kind, BlockKind::Text(text) if is_over(text))
            && can_replace_fresh(self.message.raw, self.block, config)
    }
}

/// Hashes and counts every block. Each content is processed once in the life of the cache.
///
/// Blocks with equal keys (equal results of parallel calls at one time) share one fate: that of the block that has to
/// stay longest.
pub(super) fn key_blocks<'t, 'a>(
    transcript: &'t Transcript<'a>,
    fates: &Fates,
    decisions: &Decisions,
    contents: &ContentCache,
    meter: &Meter,
) -> Vec<KeyedBlock<'t, 'a>> {
    let mut prefix = Prefix::default();
    let mut blocks: Vec<KeyedBlock> = Vec::new();
    for (message_index, message) in transcript.messages.iter().enumerate() {
        let hashes_and_tokens: Vec<(ContentHash, u64)> =
            message.blocks.iter().map(|block| contents.of_block(block, meter)).collect();
        let hashes: Vec<ContentHash> = hashes_and_tokens.iter().map(|(hash, _)| *hash).collect();
        let places = prefix.add_message(message, &hashes, decisions).into_iter().map(|placed| placed.place);
        let keyed = message.blocks.iter().zip(hashes_and_tokens).zip(places).enumerate();
        for (block_index, ((block, (hash, tokens)), place)) in keyed {
            let key = BlockKey { hash, place };
            let answered = decisions.fetched.get(&hash).zip(block.result.as_ref());
            let is_fetched = is_fetch_result(block)
                || !decisions.reruns.is_empty() && decisions.reruns.contains(&mark_of(&key))
                || answered.is_some_and(|(original, result)| can_be_fetch_answer(result, *original));
            let fate = fates.by_message[message_index][block_index];
            blocks.push(KeyedBlock {
                message_index,
                block_index,
                message,
                block,
                key,
                tokens,
                fate,
                is_fetched,
                is_pinned: false,
            });
        }
    }
    unify_fates(&mut blocks);
    blocks
}

fn unify_fates(blocks: &mut [KeyedBlock]) {
    let mut fates: FastMap<BlockKey, Fate> = FastMap::default();
    for block in blocks.iter() {
        let shared = fates.entry(block.key);
        shared.and_modify(|fate| *fate = later_fate(*fate, block.fate)).or_insert(block.fate);
    }
    for block in blocks {
        block.fate = fates[&block.key];
    }
}

/// Returns the shared fate of two blocks with equal keys. If both may go, the reason is that of the later block: the
/// earlier one's reason may be that the later one holds its content.
fn later_fate(earlier: Fate, later: Fate) -> Fate {
    match (earlier, later) {
        (fate, other) | (other, fate) if fate.is_protected() => Fate::Protected {
            is_due: [fate, other].iter().all(|fate| fate.protected() == Fate::Protected { is_due: true }),
        },
        (Fate::Foldable(first), Fate::Foldable(second)) => Fate::Foldable(FoldPermission {
            is_old: first.is_old && second.is_old,
            calls: first.calls.min(second.calls),
            turns: first.turns.min(second.turns),
            ..second
        }),
        (Fate::Foldable(_), other) | (other, Fate::Foldable(_)) => other,
        (Fate::Young { is_nearly_stale: first }, Fate::Young { is_nearly_stale: second }) => {
            Fate::Young { is_nearly_stale: first && second }
        }
        _ => Fate::Stays,
    }
}
