//! What each block of a history is known by, so that what was decided on it once is found again.
//!
//! A block is its content and its place ([`BlockKey`]). Where messages have times, the place is the message's, whatever the ids of
//! calls: hosts rewrite and repeat them. Elsewhere it is all that stands before the block, ids included: a copy whose past is another
//! one is another block, so nothing that a host drops, edits or sends again can make an old decision fall on a new copy.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use super::memo::Memo;
use super::replay::{Decided, Row};
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
    let mut past = Past::default();
    let mut known: Vec<Known> = Vec::new();
    for (message, view) in transcript.messages.iter().enumerate() {
        let of_blocks: Vec<(ContentHash, u64)> = view.blocks.iter().map(|block| memo.of_block(block, meter)).collect();
        let hashes: Vec<ContentHash> = of_blocks.iter().map(|(hash, _)| *hash).collect();
        let places = past.pass(view, &hashes, decided).into_iter().map(|placed| placed.place);
        for (index, ((block, (hash, tokens)), place)) in view.blocks.iter().zip(of_blocks).zip(places).enumerate() {
            let key = BlockKey { hash, place };
            let answered = decided.fetched.get(&hash).zip(block.result.as_ref());
            let is_fetched =
                is_fetched(block) || answered.is_some_and(|(original, result)| may_be_fetched(result, *original));
            known.push(Known { message, index, view, block, key, tokens, fate: fates[message][index], is_fetched });
        }
    }
    share_fates(&mut known);
    known
}

/// Where a block stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed<'d, 'l> {
    pub(super) place: i64,
    /// The row whose replacement the block is: a caller may keep the folded history as its own. Then it stands where
    /// the block of that row stood; the same text elsewhere is somebody's own.
    pub(super) row: Option<&'d Row<'l>>,
}

/// All that stands up to the end of a message. What hosts change from call to call has no part in it: system prompts, thinking,
/// unknown fields.
#[derive(Default, Clone, Copy)]
pub(super) struct Past(u64);

/// So many ways to read the replacements in one message are tried; beyond that each is taken for somebody's own text.
const WAYS: usize = 4096;

impl Past {
    /// Goes past a message, whose blocks are known by `hashes`, and says where each of them stands.
    ///
    /// Several blocks may have had one replacement, an output and a part of it that was fetched for instance. Which of
    /// them a replacement stands for is told by the place, and that depends on all that the message holds, so the ways
    /// to read it are tried.
    pub(super) fn pass<'d, 'l>(
        &mut self,
        view: &Message,
        hashes: &[ContentHash],
        decided: &'d Decided<'l>,
    ) -> Vec<Placed<'d, 'l>> {
        // Where thinking has left, the blocks after it still are what they were.
        let mut lasting = 0..;
        let indexes: Vec<usize> = (view.blocks.iter().enumerate())
            .map(|(index, block)| match block.kind {
                Kind::Thinking(_) => index,
                _ => lasting.next().unwrap_or(index),
            })
            .collect();
        let rows: Vec<Vec<&Row>> = hashes.iter().map(|hash| decided.shown_as(hash).collect()).collect();
        let ways = rows.iter().try_fold(1_usize, |ways, rows| ways.checked_mul(rows.len() + 1)).unwrap_or(usize::MAX);
        // The last way takes nothing for a replacement, and always holds.
        for way in (0..ways.min(WAYS)).map(Some).chain([None]) {
            let mut rest = way;
            let mut choose = |rows: &Vec<&'d Row<'l>>| {
                let (more, at) = (rest? / (rows.len() + 1), rest? % (rows.len() + 1));
                rest = Some(more);
                rows.get(at).copied()
            };
            let chosen: Vec<Option<&Row>> = rows.iter().map(&mut choose).collect();
            let mut past = *self;
            for ((block, hash), row) in view.blocks.iter().zip(hashes).zip(&chosen) {
                past.add(view, block, &row.map_or(*hash, |row| row.projection.block.hash));
            }
            let placed = indexes.iter().zip(chosen).map(|(index, row)| Placed { place: past.place(view, *index), row });
            let placed: Vec<Placed> = placed.collect();
            if placed.iter().all(|one| one.row.is_none_or(|row| row.projection.block.place == one.place)) {
                *self = past;
                return placed;
            }
        }
        unreachable!("the last way holds")
    }

    fn add(&mut self, view: &Message, block: &Block, hash: &ContentHash) {
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

    /// The place of what has this index in the message that was passed last.
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
