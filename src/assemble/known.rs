//! The blocks of a history with what they are known by, and how the ledger says they are shown.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::placeholder::tokens_of;
use super::{Action, Reply};
use crate::plan::measure::Meter;
use crate::reference::ContentHash;
use crate::store::{BlockKey, Ledger, Printed, Projection};
use crate::transcript::{Block, Kind, Patch, Transcript};

/// One block with what it is known by.
pub(super) struct Known<'t, 'a> {
    /// Index of the message.
    pub(super) message: usize,
    /// Index of the block in it.
    pub(super) index: usize,
    pub(super) block: &'t Block<'a>,
    pub(super) key: BlockKey,
    /// What it costs as the host holds it.
    pub(super) tokens: u64,
}

impl Known<'_, '_> {
    pub(super) fn at(&self) -> (usize, usize) {
        (self.message, self.index)
    }
}

/// Decided blocks of this call: patches and what they refer to.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) reply: Reply,
    pub(super) in_context: BTreeSet<ContentHash>,
}

/// How a block is shown before this call decides anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// As the host holds it.
    Open,
    /// The host holds our placeholder, of this cost.
    Placeholder(u64),
    /// Replaced as an earlier call decided, at this cost.
    Replaced(u64),
}

/// Hashes and counts every block. Equal blocks without a timestamp are told apart by their order.
pub(super) fn know<'t, 'a>(transcript: &'t Transcript<'a>, meter: &Meter) -> Vec<Known<'t, 'a>> {
    let mut seen: HashMap<ContentHash, i64> = HashMap::new();
    let mut known = Vec::new();
    for (message, view) in transcript.messages.iter().enumerate() {
        for (index, block) in view.blocks.iter().enumerate() {
            let hash = hash_of(block);
            let nth = seen.entry(hash).or_insert(-1);
            *nth += 1;
            let key = BlockKey { hash, place: view.timestamp.unwrap_or(*nth) };
            known.push(Known { message, index, block, key, tokens: meter.block(block) as u64 });
        }
    }
    known
}

/// Patches what earlier calls decided; returns how each block is shown now.
pub(super) fn replay(ledger: &Ledger, known: &[Known], meter: &Meter, shown: &mut Shown) -> Vec<State> {
    let projections: HashMap<BlockKey, &Projection> = ledger.projections.iter().map(|row| (row.block, row)).collect();
    let placeholders = printed(ledger, Printed::Placeholder);
    let copies = printed(ledger, Printed::Copy);
    let state_of = |block: &Known| {
        if let Some(original) = placeholders.get(&block.key.hash) {
            shown.in_context.insert(*original);
            return State::Placeholder(block.tokens);
        }
        if let Some(row) = projections.get(&block.key)
            && let Ok(value) = serde_json::from_str(&row.replacement)
        {
            shown.in_context.insert(row.original);
            return State::Replaced(show(block, "replay", None, value, meter, shown));
        }
        // A copy in sight keeps its original alive: its placeholder will name it.
        shown.in_context.extend(copies.get(&block.key.hash));
        State::Open
    };
    known.iter().map(state_of).collect()
}

/// Adds a patch and its action; returns the tokens of what is shown.
pub(super) fn show(
    known: &Known,
    reason: &'static str,
    ref_id: Option<String>,
    value: Value,
    meter: &Meter,
    shown: &mut Shown,
) -> u64 {
    let tokens_after = tokens_of(&value, meter);
    let report = &mut shown.reply.report;
    report.tokens_after = (report.tokens_after + tokens_after).saturating_sub(known.tokens);
    report.actions.push(Action {
        message: known.message,
        block: known.index,
        reason,
        ref_id,
        tokens_before: known.tokens,
        tokens_after,
    });
    shown.reply.rewrite.patches.push(Patch { message: known.message, path: known.block.path.clone(), value });
    tokens_after
}

/// Texts of ours of one kind, with the originals they stand for.
pub(super) fn printed(ledger: &Ledger, kind: Printed) -> HashMap<ContentHash, ContentHash> {
    ledger.printed.iter().filter(|row| row.printed == kind).map(|row| (row.text, row.original)).collect()
}

/// What a block is known by: its text, its image payload, or its arguments as JSON.
pub(super) fn hash_of(block: &Block) -> ContentHash {
    match block.kind {
        Kind::Text(text) => ContentHash::of(text.as_bytes()),
        Kind::Image(image) => ContentHash::of(image.base64.unwrap_or_default().as_bytes()),
        Kind::Call(call) => ContentHash::of(call.arguments.to_json().as_bytes()),
        Kind::Thinking | Kind::Other => ContentHash::of(b""),
    }
}
