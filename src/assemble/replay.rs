//! What earlier calls decided, shown again byte for byte.
//!
//! A decision is taken back only where it would hide a text: what went because something later holds it comes back, in an epoch of
//! its own, when the host has dropped what held it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::{Value, json};

use super::identity::Known;
use super::memo::Memo;
use super::schedule::{LARGE, THINKING};
use super::thinking::Gap;
use super::{Action, Reply};
use crate::history::{Fate, Reason};
use crate::reference::ContentHash;
use crate::store::{BlockKey, Ledger, Printed, Projection};
use crate::transcript::{Arguments, Block, Kind, Patch};

/// Decided blocks of this call: patches and what they refer to.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) reply: Reply,
    pub(super) in_context: BTreeSet<ContentHash>,
    /// Decisions of earlier calls that no longer hold.
    pub(super) withdrawn: Vec<BlockKey>,
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

/// A row of the ledger with what it shows.
pub(super) struct Row<'l> {
    pub(super) projection: &'l Projection,
    pub(super) replacement: Arc<Replacement>,
}

/// What stands in a block's place.
pub(super) struct Replacement {
    pub(super) value: Value,
    /// Where a part left its message, so that nothing is shown.
    pub(super) gap: Option<Gap>,
    /// What the image's block said beside the image.
    pub(super) frame: Option<Value>,
    /// What the value is known by; `None` where nothing is shown.
    pub(super) shown: Option<ContentHash>,
    /// What it costs.
    pub(super) tokens: u64,
}

impl Replacement {
    pub(super) fn of(value: Value, memo: &Memo) -> Self {
        let tokens = cost(&value, memo);
        let Framed { shown: value, frame } = Framed::read(value);
        let gap = Gap::read(&value);
        let shown = gap.is_none().then(|| memo.of_shown(&value).0);
        Self { value, gap, frame, shown, tokens }
    }
}

/// What is shown in the place of an image, and what its block said beside the image.
pub(super) struct Framed {
    pub(super) shown: Value,
    pub(super) frame: Option<Value>,
}

impl Framed {
    /// What the ledger keeps.
    pub(super) fn into_json(self) -> Value {
        match self.frame {
            Some(frame) => json!({ "shown": self.shown, "frame": frame }),
            None => self.shown,
        }
    }

    /// Reads what the ledger keeps, of any block.
    fn read(mut kept: Value) -> Self {
        if Self::shown_in(&kept).is_none() {
            return Self { shown: kept, frame: None };
        }
        Self { shown: kept["shown"].take(), frame: Some(kept["frame"].take()) }
    }

    fn shown_in(kept: &Value) -> Option<&Value> {
        let fields = kept.as_object().filter(|fields| fields.len() == 2 && fields.contains_key("frame"))?;
        fields.get("shown").filter(|shown| shown["type"].is_string())
    }
}

/// What a value of the ledger costs where it is shown.
pub(super) fn cost(value: &Value, memo: &Memo) -> u64 {
    if Gap::read(value).is_some() { 0 } else { memo.of_shown(Framed::shown_in(value).unwrap_or(value)).1 }
}

/// What earlier calls decided.
#[derive(Default)]
pub(super) struct Decided<'l> {
    pub(super) rows: Vec<Row<'l>>,
    /// Placeholders of ours by their text, with the originals they stand for.
    placeholders: HashMap<ContentHash, ContentHash>,
    /// Copies of ours by their text, with the originals they are of.
    pub(super) copies: HashMap<ContentHash, ContentHash>,
    /// Those of them that were answers of the fetch tool: what birth shortened is counted as saved.
    pub(super) fetched: HashMap<ContentHash, ContentHash>,
}

impl<'l> Decided<'l> {
    pub(super) fn of(ledger: &'l Ledger, memo: &Memo) -> Self {
        let row = |projection: &'l Projection| {
            Some(Row { projection, replacement: memo.of_replacement(&projection.replacement).ok()? })
        };
        let rows: Vec<Row> = ledger.projections.iter().filter_map(row).collect();
        let ours = rows.iter().filter_map(|row| Some((row.replacement.shown?, row.projection.original)));
        let placeholders = ours.chain(printed(ledger, Printed::Placeholder)).collect();
        let fetched = ledger.printed.iter().filter(|row| row.printed == Printed::Copy && row.saved == 0);
        let fetched = fetched.map(|row| (row.text, row.original)).collect();
        Self { rows, placeholders, copies: printed(ledger, Printed::Copy).collect(), fetched }
    }

    /// The blocks that rows were decided on, by what is shown of them.
    pub(super) fn stands_for(&self) -> HashMap<ContentHash, ContentHash> {
        self.rows.iter().filter_map(|row| Some((row.replacement.shown?, row.projection.block.hash))).collect()
    }
}

/// Patches what earlier calls decided; returns how each block is shown now.
pub(super) fn replay(decided: &Decided, known: &[Known], shown: &mut Shown) -> Vec<State> {
    let rows: HashMap<BlockKey, &Row> = decided.rows.iter().map(|row| (row.projection.block, row)).collect();
    let state_of = |block: &Known| {
        if let Some(original) = decided.placeholders.get(&block.key.hash) {
            shown.in_context.insert(*original);
            return State::Placeholder(block.tokens);
        }
        if let Some(Row { projection, replacement }) = rows.get(&block.key) {
            if !suits(block.block, &replacement.value) {
                return State::Replaced(block.tokens);
            }
            if still_holds(projection, block) {
                shown.in_context.insert(projection.original);
                show(block, "replay", None, replacement.value.clone(), replacement.tokens, shown);
                return State::Replaced(replacement.tokens);
            }
            shown.withdrawn.push(projection.block);
        }
        // A copy in sight keeps its original alive: its placeholder will name it.
        shown.in_context.extend(decided.copies.get(&block.key.hash));
        State::Open
    };
    known.iter().map(state_of).collect()
}

/// Whether a value may stand in a block's place. A text that reads as the arguments of a call do, at one time with it, has one key with
/// it: only the one that was decided on is replaced, and the other one stays.
pub(super) fn suits(block: &Block, value: &Value) -> bool {
    match block.kind {
        Kind::Text(_) => value.is_string(),
        Kind::Call(call) => matches!(call.arguments, Arguments::Json(_)) == value.is_string(),
        Kind::Image(_) | Kind::Thinking(_) => value.is_object(),
        Kind::Other(_) => false,
    }
}

/// Whether a decision may stand. What went for the sake of something later needs that, and what went for its age or for lack of
/// room comes back when it is new again: the host took back what came after it, or it is a copy that the agent has just asked for.
fn still_holds(row: &Projection, block: &Known) -> bool {
    let is_young = matches!(block.fate, Fate::Young { .. });
    match row.reason.as_str() {
        _ if block.fate.may_go().is_some() => true,
        LARGE => true,
        THINKING => block.fate == Fate::Finished,
        reason if Reason::needs_successor(reason) => false,
        "stale" => is_young && block.view.turn_age > 1,
        _ => is_young,
    }
}

/// Adds a patch, whose value costs `tokens_after`, and its action.
pub(super) fn show(
    known: &Known,
    reason: &'static str,
    ref_id: Option<String>,
    value: Value,
    tokens_after: u64,
    shown: &mut Shown,
) {
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
    let (message, path) = (known.message, known.block.path.clone());
    match Gap::read(&value) {
        Some(_) => shown.reply.rewrite.removed.push((message, path)),
        None => shown.reply.rewrite.patches.push(Patch { message, path, value }),
    }
}

/// Texts of ours of one kind, with the originals they stand for.
fn printed(ledger: &Ledger, kind: Printed) -> impl Iterator<Item = (ContentHash, ContentHash)> {
    ledger.printed.iter().filter(move |row| row.printed == kind).map(|row| (row.text, row.original))
}
