//! Finds the messages from which thinking was removed, and its places in them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::content_cache::hash_of;
use super::decisions::Decisions;
use super::prefix::Prefix;
use super::replacement::Replacement;
use super::thinking_gap::{ThinkingGap, hash_of_thinking, thinking_of};
use crate::reference::ContentHash;
use crate::transcript::{Block, BlockKind, Message, Role, Transcript};

/// A thinking part to be put back into a message.
pub(super) struct RemovedThinking {
    pub(super) message_index: usize,
    /// The index that it had in the complete message.
    pub(super) index: usize,
    pub(super) original: ContentHash,
}

/// Returns the thinking to put back, in order, and the hashes of thinking that has no clear place: it fits several
/// messages, other thinking fits its message as well, its message shows other thinking, or its message is still there
/// but with a different history before it.
///
/// A message that never had thinking, after the same messages and with the same calls as one that lost it, cannot be
/// distinguished from that one, because both are shown alike.
pub(super) fn removed_thinking(
    decisions: &Decisions,
    transcript: &Transcript,
) -> (Vec<RemovedThinking>, BTreeSet<ContentHash>) {
    let rows = GapRows::of(decisions);
    let mut found: Vec<RemovedThinking> = Vec::new();
    // Per original: the number of messages that it belongs to.
    let mut messages_found: HashMap<ContentHash, usize> = HashMap::new();
    // Originals whose place has a message that may be another one.
    let mut unplaced: BTreeSet<ContentHash> = BTreeSet::new();
    // First-block hashes of messages without thinking and without a matching gap.
    let mut first_blocks_without_gap: BTreeSet<String> = BTreeSet::new();
    let mut prefix = Prefix::default();
    let messages = transcript.messages.iter().enumerate().filter(|_| !rows.indexes.is_empty());
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
        let candidates = rows.at(&prefix, message, &neighbour_hashes);
        let shown = thinking_of(message);
        let mut fitting = candidates.iter().filter_map(|(hash, parts)| {
            let (thinking_hash, missing) = missing_parts(&shown, parts);
            (thinking_hash == *hash).then_some((*hash, missing))
        });
        let only_fit = fitting.next().filter(|_| fitting.next().is_none());
        for (hash, parts) in &candidates {
            let originals = parts.iter().map(|part| part.original);
            match &only_fit {
                Some((fit, _)) if fit == hash => originals.for_each(|one| *messages_found.entry(one).or_default() += 1),
                _ => unplaced.extend(originals),
            }
        }
        if only_fit.is_none() && shown.is_empty() {
            first_blocks_without_gap.extend(neighbour_hashes);
        }
        let missing = only_fit.into_iter().flat_map(|(_, missing)| missing);
        found.extend(missing.map(|part| RemovedThinking {
            message_index,
            index: part.gap.index,
            original: part.original,
        }));
    }
    unplaced.extend(rows.beside(&first_blocks_without_gap));
    let is_ambiguous = |original: &ContentHash| messages_found[original] > rows.count(original);
    let mut unclear: BTreeSet<ContentHash> = messages_found.keys().copied().filter(is_ambiguous).collect();
    found.retain(|thinking| !unclear.contains(&thinking.original));
    unclear.extend(unplaced.into_iter().filter(|original| !messages_found.contains_key(original)));
    (found, unclear)
}

/// A row of the ledger for a removed part.
struct RemovedPart<'d> {
    gap: &'d ThinkingGap,
    /// The hash of the part as a block.
    hash: ContentHash,
    original: ContentHash,
}

/// The rows of the ledger for removed parts.
struct GapRows<'d> {
    /// By place and index.
    parts: HashMap<(i64, usize), Vec<RemovedPart<'d>>>,
    indexes: BTreeSet<usize>,
}

impl<'d> GapRows<'d> {
    fn of(decisions: &'d Decisions) -> Self {
        let mut rows = Self { parts: HashMap::new(), indexes: BTreeSet::new() };
        for row in &decisions.rows {
            if let Replacement::Thinking(gap) = &row.stored.replacement {
                let part = RemovedPart { gap, hash: row.projection.block.hash, original: row.projection.original };
                rows.parts.entry((row.projection.block.place, gap.index)).or_default().push(part);
                rows.indexes.insert(gap.index);
            }
        }
        rows
    }

    /// Returns the parts that left from the place of a message, by all thinking that their message had, each list
    /// ordered by index.
    fn at(
        &self,
        prefix: &Prefix,
        message: &Message,
        neighbour_hashes: &BTreeSet<String>,
    ) -> BTreeMap<&'d str, Vec<&RemovedPart<'d>>> {
        let mut removed: BTreeMap<&str, Vec<&RemovedPart>> = BTreeMap::new();
        for &index in &self.indexes {
            let here = self.parts.get(&(prefix.place(message, index), index)).into_iter().flatten();
            for part in here.filter(|part| neighbour_hashes.contains(&part.gap.neighbour_hash)) {
                removed.entry(&part.gap.thinking_hash).or_default().push(part);
            }
        }
        removed
    }

    /// Returns the originals of the parts that left from beside one of these blocks.
    fn beside(&self, neighbour_hashes: &BTreeSet<String>) -> impl Iterator<Item = ContentHash> {
        let beside = self.parts.values().flatten().filter(|part| neighbour_hashes.contains(&part.gap.neighbour_hash));
        beside.map(|part| part.original)
    }

    /// Returns the number of rows of an original.
    fn count(&self, original: &ContentHash) -> usize {
        self.parts.values().flatten().filter(|part| part.original == *original).count()
    }
}

/// Puts removed parts, ordered by index, into a message that shows this thinking. Returns the hash of all its thinking
/// then, and those of the parts that it did not show.
fn missing_parts<'p, 'd>(
    shown: &[(usize, ContentHash)],
    removed: &[&'p RemovedPart<'d>],
) -> (String, Vec<&'p RemovedPart<'d>>) {
    let mut thinking = shown.to_vec();
    let mut missing = Vec::new();
    for &part in removed {
        let index = part.gap.index;
        if !thinking.contains(&(index, part.hash)) {
            let at = thinking.partition_point(|(shown, _)| *shown < index);
            thinking[at..].iter_mut().for_each(|(shown, _)| *shown += 1);
            thinking.insert(at, (index, part.hash));
            missing.push(part);
        }
    }
    (hash_of_thinking(&thinking), missing)
}
