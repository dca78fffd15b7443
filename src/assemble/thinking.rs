//! Thinking that left its message, and where it has to come back.
//!
//! Nothing stands in its place, so the ledger keeps where it stood: its message by the place that [`BlockKey`] knows and by the
//! block beside it, and its index there.
//!
//! [`BlockKey`]: crate::store::BlockKey

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::identity::Past;
use super::memo::hash_of;
use super::replacement::Kept;
use super::replay::Decided;
use crate::reference::ContentHash;
use crate::transcript::{Block, Kind, Message, Role, Transcript};

/// Where a part was missing from its message.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Gap {
    /// The index that it had.
    index: usize,
    /// What the first block that cannot leave is known by.
    beside: String,
}

impl Gap {
    /// The gap that a block of this message leaves; `None` where it is no element, or the only one.
    pub(super) fn of(view: &Message, block: &Block) -> Option<Self> {
        let beside = hash_of(lasting(view)?).to_hex();
        Some(Self { index: block.path.last_index()?, beside })
    }
}

fn lasting<'v, 'a>(view: &'v Message<'a>) -> Option<&'v Block<'a>> {
    view.blocks.iter().find(|block| !matches!(block.kind, Kind::Thinking(_)))
}

/// A part to be put back into a message.
pub(super) struct Return {
    pub(super) message: usize,
    /// The index that it had when nothing was missing.
    pub(super) index: usize,
    pub(super) original: ContentHash,
}

/// What left the messages of a session, and where: in order. Beside it, what has no place: what could stand in more
/// than one of them, and what left a message that looks like one of these, where the history before it is another one
/// now.
pub(super) fn returns(decided: &Decided, transcript: &Transcript) -> (Vec<Return>, BTreeSet<ContentHash>) {
    let gaps = decided.rows.iter().filter_map(|row| match &row.replacement.kept {
        Kept::Thinking(gap) => Some(((row.projection.block.place, gap), row.projection.original)),
        _ => None,
    });
    let gaps: HashMap<(i64, &Gap), ContentHash> = gaps.collect();
    let indexes: BTreeSet<usize> = gaps.keys().map(|(_, gap)| gap.index).collect();
    let mut found: Vec<Return> = Vec::new();
    // Messages without thinking in which nothing of ours is missing by their place, by what they begin with.
    let mut others: BTreeSet<String> = BTreeSet::new();
    let mut past = Past::default();
    let messages = transcript.messages.iter().enumerate().filter(|_| !gaps.is_empty());
    for (message, view) in messages {
        let hashes: Vec<ContentHash> = view.blocks.iter().map(hash_of).collect();
        let placed = past.pass(view, &hashes, decided);
        let is_lasting = |block: &Block| !matches!(block.kind, Kind::Thinking(_));
        let Some(first) = view.blocks.iter().position(is_lasting).filter(|_| view.role == Role::Assistant) else {
            continue;
        };
        let beside = placed[first].row.map_or(hashes[first], |row| row.projection.block.hash).to_hex();
        let gap = |index| (past.place(view, index), Gap { index, beside: beside.clone() });
        let missing = |index: &usize| {
            let (place, gap) = gap(*index);
            Some(Return { message, index: *index, original: *gaps.get(&(place, &gap))? })
        };
        let before = found.len();
        found.extend(indexes.iter().filter_map(missing));
        if found.len() == before && view.blocks.iter().all(is_lasting) {
            others.insert(beside);
        }
    }
    let mut uses: HashMap<ContentHash, u64> = HashMap::new();
    found.iter().for_each(|back| *uses.entry(back.original).or_default() += 1);
    let rows = |original: &ContentHash| gaps.values().filter(|other| *other == original).count() as u64;
    let mut unclear: BTreeSet<ContentHash> =
        uses.iter().filter(|(original, uses)| **uses > rows(original)).map(|(original, _)| *original).collect();
    found.retain(|back| !unclear.contains(&back.original));
    let placeless =
        gaps.iter().filter(|((_, gap), original)| others.contains(&gap.beside) && !uses.contains_key(original));
    unclear.extend(placeless.map(|(_, original)| *original));
    (found, unclear)
}
