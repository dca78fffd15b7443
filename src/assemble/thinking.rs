//! Thinking that left its message, and where it has to come back.
//!
//! Nothing stands in its place, so the ledger keeps where it stood: its message by the place that [`BlockKey`] knows and by the
//! block beside it, and its index there.
//!
//! [`BlockKey`]: crate::store::BlockKey

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};

use super::identity::Past;
use super::memo::hash_of;
use super::replay::Decided;
use crate::reference::ContentHash;
use crate::transcript::{Block, Kind, Message, Role, Transcript};

/// Where a part was missing from its message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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

    /// What the ledger keeps.
    pub(super) fn to_json(&self) -> Value {
        json!({ "removedAt": self.index, "beside": self.beside })
    }

    /// The gap that the ledger keeps; `None` where it keeps something to show.
    pub(super) fn read(kept: &Value) -> Option<Self> {
        let fields = kept.as_object().filter(|fields| fields.len() == 2)?;
        let index = usize::try_from(fields.get("removedAt")?.as_u64()?).ok()?;
        Some(Self { index, beside: fields.get("beside")?.as_str()?.to_owned() })
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

/// What left the messages of a session, and where: in order. What could stand in more than one of them has no place.
pub(super) fn returns(decided: &Decided, transcript: &Transcript) -> (Vec<Return>, Vec<ContentHash>) {
    let gaps = decided.rows.iter().filter_map(|row| {
        let place = row.projection.block.place;
        Some(((place, row.replacement.gap.clone()?), row.projection.original))
    });
    let gaps: HashMap<(i64, Gap), ContentHash> = gaps.collect();
    let stands_for = decided.stands_for();
    let indexes: BTreeSet<usize> = gaps.keys().map(|(_, gap)| gap.index).collect();
    let mut found: Vec<Return> = Vec::new();
    let mut past = Past::default();
    let messages = transcript.messages.iter().enumerate().filter(|_| !gaps.is_empty());
    for (message, view) in messages {
        let known_by = |block: &Block| {
            let shown = hash_of(block);
            stands_for.get(&shown).copied().unwrap_or(shown)
        };
        view.blocks.iter().for_each(|block| past.add(view, block, &known_by(block)));
        let Some(beside) = lasting(view).filter(|_| view.role == Role::Assistant).map(known_by) else { continue };
        let gap = |index| (past.place(view, index), Gap { index, beside: beside.to_hex() });
        let missing = |index: &usize| Some(Return { message, index: *index, original: *gaps.get(&gap(*index))? });
        found.extend(indexes.iter().filter_map(missing));
    }
    let mut uses: HashMap<ContentHash, u64> = HashMap::new();
    found.iter().for_each(|back| *uses.entry(back.original).or_default() += 1);
    let rows = |original: &ContentHash| gaps.values().filter(|other| *other == original).count() as u64;
    let unclear: BTreeSet<ContentHash> =
        uses.into_iter().filter(|(original, uses)| *uses > rows(original)).map(|(original, _)| original).collect();
    found.retain(|back| !unclear.contains(&back.original));
    (found, unclear.into_iter().collect())
}
