//! Finds the messages from which thinking was removed, and its places in them.

use std::collections::{BTreeSet, HashMap};

use super::content_hash::hash_of;
use super::decisions::Decisions;
use super::prefix::Prefix;
use super::replacement::Replacement;
use super::thinking_gap::ThinkingGap;
use crate::reference::ContentHash;
use crate::transcript::{Block, BlockKind, Role, Transcript};

/// A thinking part to be put back into a message.
pub(super) struct RemovedThinking {
    pub(super) message_index: usize,
    /// The index that it had in the complete message.
    pub(super) index: usize,
    pub(super) original: ContentHash,
}

/// Returns the thinking to put back, in order, and the hashes of thinking that has no clear place: it fits several
/// messages, or its message is still there but with a different history before it.
pub(super) fn removed_thinking(
    decisions: &Decisions,
    transcript: &Transcript,
) -> (Vec<RemovedThinking>, BTreeSet<ContentHash>) {
    let gaps = decisions.rows.iter().filter_map(|row| match &row.stored.replacement {
        Replacement::Thinking(gap) => Some(((row.projection.block.place, gap), row.projection.original)),
        _ => None,
    });
    let gaps: HashMap<(i64, &ThinkingGap), ContentHash> = gaps.collect();
    let indexes: BTreeSet<usize> = gaps.keys().map(|(_, gap)| gap.index).collect();
    let mut found: Vec<RemovedThinking> = Vec::new();
    // First-block hashes of messages without thinking and without a matching gap.
    let mut first_blocks_without_gap: BTreeSet<String> = BTreeSet::new();
    let mut prefix = Prefix::default();
    let messages = transcript.messages.iter().enumerate().filter(|_| !gaps.is_empty());
    for (message_index, message) in messages {
        let hashes: Vec<ContentHash> = message.blocks.iter().map(hash_of).collect();
        prefix.add_message(message, &hashes, decisions);
        let is_not_thinking = |block: &Block| !matches!(block.kind, BlockKind::Thinking(_));
        let Some(first) = message.blocks.iter().position(is_not_thinking).filter(|_| message.role == Role::Assistant)
        else {
            continue;
        };
        // The gap names the block as the host held it when the thinking left: as it is now, or before it was folded.
        let folded = decisions.shown_as(&hashes[first]).map(|decision| decision.projection.block.hash);
        let neighbour_hashes: BTreeSet<String> = folded.chain([hashes[first]]).map(ContentHash::to_hex).collect();
        let missing = |index: &usize| {
            let gap = |neighbour_hash: &String| ThinkingGap { index: *index, neighbour_hash: neighbour_hash.clone() };
            let place = prefix.place(message, *index);
            let original =
                neighbour_hashes.iter().find_map(|neighbour_hash| gaps.get(&(place, &gap(neighbour_hash))).copied())?;
            Some(RemovedThinking { message_index, index: *index, original })
        };
        let before = found.len();
        found.extend(indexes.iter().filter_map(missing));
        if found.len() == before && message.blocks.iter().all(is_not_thinking) {
            first_blocks_without_gap.extend(neighbour_hashes);
        }
    }
    let mut places_found: HashMap<ContentHash, u64> = HashMap::new();
    found.iter().for_each(|thinking| *places_found.entry(thinking.original).or_default() += 1);
    let rows = |original: &ContentHash| gaps.values().filter(|other| *other == original).count() as u64;
    let mut ambiguous: BTreeSet<ContentHash> = places_found
        .iter()
        .filter(|(original, places_found)| **places_found > rows(original))
        .map(|(original, _)| *original)
        .collect();
    found.retain(|thinking| !ambiguous.contains(&thinking.original));
    let misplaced = gaps.iter().filter(|((_, gap), original)| {
        first_blocks_without_gap.contains(&gap.neighbour_hash) && !places_found.contains_key(original)
    });
    ambiguous.extend(misplaced.map(|(_, original)| *original));
    (found, ambiguous)
}
