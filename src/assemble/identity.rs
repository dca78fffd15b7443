//! What each block of a history is known by, so that what was decided on it once is found again.
//!
//! A block is its content and its place ([`BlockKey`]). Where messages have times, the place is the message's, whatever the ids of
//! calls: hosts rewrite and repeat them. Elsewhere it is all that stands before the block, ids included: a copy whose past is another
//! one is another block, so nothing that a host drops, edits or sends again can make an old decision fall on a new copy.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use super::memo::Memo;
use super::replay::Decided;
use super::unfold::{is_fetched, may_be_fetched};
use crate::history::{Fate, MayGo, Meter};
use crate::reference::ContentHash;
use crate::store::BlockKey;
use crate::transcript::{Block, Kind, Message, Role, Transcript};

/// One block with what it is known by and what is decided on it.
pub(super) struct Known<'t, 'a> {
    /// Index of the message.
    pub(super) message: usize,
    /// Index of the block in it.
    pub(super) index: usize,
    /// The message.
    pub(super) view: &'t Message<'a>,
    pub(super) block: &'t Block<'a>,
    pub(super) key: BlockKey,
    /// What it costs as the host holds it.
    pub(super) tokens: u64,
    pub(super) fate: Fate,
    /// Whether the agent fetched it: the tool's name says so, or the ledger, which knows what was answered whatever the tool is called.
    pub(super) is_fetched: bool,
}

/// Hashes and counts every block, each content once in the life of the memo.
///
/// Blocks that cannot be told apart (equal results of parallel calls at one time) share one fate: that of the one that has to stay
/// longest.
pub(super) fn know<'t, 'a>(
    transcript: &'t Transcript<'a>,
    fates: &[Vec<Fate>],
    decided: &Decided,
    memo: &Memo,
    meter: &Meter,
) -> Vec<Known<'t, 'a>> {
    // A caller may keep the folded history as its own: a placeholder then stands where its block stood.
    let stands_for = decided.stands_for();
    let mut past = Past::default();
    let mut known: Vec<Known> = Vec::new();
    for (message, view) in transcript.messages.iter().enumerate() {
        let first = known.len();
        let mut lasting = 0..;
        for (index, block) in view.blocks.iter().enumerate() {
            let (hash, tokens) = memo.of_block(block, meter);
            past.add(view, block, stands_for.get(&hash).unwrap_or(&hash));
            // Where thinking has left, the blocks after it still are what they were.
            let index_in_place =
                if matches!(block.kind, Kind::Thinking(_)) { index } else { lasting.next().unwrap_or(index) };
            let key = BlockKey { hash, place: index_in_place as i64 };
            let answered = decided.fetched.get(&hash).zip(block.result.as_ref());
            let is_fetched =
                is_fetched(block) || answered.is_some_and(|(original, result)| may_be_fetched(result, *original));
            known.push(Known { message, index, view, block, key, tokens, fate: fates[message][index], is_fetched });
        }
        for known in &mut known[first..] {
            known.key.place = past.place(view, known.key.place as usize);
        }
    }
    share_fates(&mut known);
    known
}

/// All that stands up to the end of a message. What hosts change from call to call has no part in it: system prompts, thinking,
/// unknown fields.
#[derive(Default)]
pub(super) struct Past(u64);

impl Past {
    /// Adds the message's next block, known by `hash`.
    pub(super) fn add(&mut self, view: &Message, block: &Block, hash: &ContentHash) {
        if matches!(view.role, Role::System | Role::Other) || matches!(block.kind, Kind::Thinking(_) | Kind::Other(_)) {
            return;
        }
        let (id, name) = match (&block.kind, &block.result) {
            (Kind::Call(call), _) => (call.id, call.name),
            (_, Some(result)) => (result.call_id, if result.is_error { "failed" } else { "" }),
            _ => ("", ""),
        };
        self.0 = xxh3_64(&[&self.0.to_le_bytes()[..], &hash.0, id.as_bytes(), b"\0", name.as_bytes()].concat());
    }

    /// The place of the block of that index in the message, all of whose blocks were added.
    pub(super) fn place(&self, view: &Message, index: usize) -> i64 {
        let place = || xxh3_64(&[self.0, index as u64].map(u64::to_le_bytes).concat()) as i64;
        view.timestamp.unwrap_or_else(place)
    }
}

fn share_fates(known: &mut [Known]) {
    let mut fates: HashMap<BlockKey, Fate> = HashMap::new();
    for block in known.iter() {
        let shared = fates.entry(block.key);
        shared.and_modify(|fate| *fate = stays_longer(*fate, block.fate)).or_insert(block.fate);
    }
    for block in known {
        block.fate = fates[&block.key];
    }
}

/// The fate of two blocks that cannot be told apart. Of two that may go the later one says why: the other one is no copy that holds it.
fn stays_longer(earlier: Fate, later: Fate) -> Fate {
    match (earlier, later) {
        (Fate::MayGo(first), Fate::MayGo(second)) => Fate::MayGo(MayGo {
            is_old: first.is_old && second.is_old,
            calls: first.calls.min(second.calls),
            turns: first.turns.min(second.turns),
            ..second
        }),
        (Fate::MayGo(_), other) | (other, Fate::MayGo(_)) => other,
        (Fate::Young { is_nearly_stale: first }, Fate::Young { is_nearly_stale: second }) => {
            Fate::Young { is_nearly_stale: first && second }
        }
        _ => Fate::Stays,
    }
}
