//! What earlier calls decided, shown again byte for byte.
//!
//! A decision is taken back only where it would hide a text: what went because something later holds it comes back, in an epoch of
//! its own, when the host has dropped what held it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::identity::Known;
use super::memo::Memo;
use super::replacement::{Change, Replacement};
use super::schedule::{LARGE, THINKING};
use super::{Action, Reply};
use crate::error::Result;
use crate::history::{Fate, Reason};
use crate::reference::ContentHash;
use crate::store::{BlockKey, Ledger, Printed, Projection};
use crate::transcript::Patch;

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
#[derive(Debug)]
pub(super) struct Row<'l> {
    pub(super) projection: &'l Projection,
    pub(super) replacement: Arc<Replacement>,
}

/// What earlier calls decided.
#[derive(Default)]
pub(super) struct Decided<'l> {
    pub(super) rows: Vec<Row<'l>>,
    /// The rows, by what they show.
    shown: HashMap<ContentHash, Vec<usize>>,
    /// Placeholders of ours by their text, with the originals they stand for.
    placeholders: HashMap<ContentHash, ContentHash>,
    /// Copies of ours by their text, with the originals they are of.
    pub(super) copies: HashMap<ContentHash, ContentHash>,
    /// Those of them that were answers of the fetch tool: what birth shortened is counted as saved.
    pub(super) fetched: HashMap<ContentHash, ContentHash>,
}

impl<'l> Decided<'l> {
    /// Reads the ledger of a store at `place`.
    ///
    /// # Errors
    /// [`crate::error::Error::StoreDamaged`] for a row that cannot be read.
    pub(super) fn of(ledger: &'l Ledger, place: impl Fn() -> String, memo: &Memo) -> Result<Self> {
        let read = |projection: &'l Projection| {
            Ok(Row { projection, replacement: memo.of_replacement(&projection.replacement, &place)? })
        };
        let rows: Vec<Row> = ledger.projections.iter().map(read).collect::<Result<_>>()?;
        let mut shown: HashMap<ContentHash, Vec<usize>> = HashMap::new();
        for (at, row) in rows.iter().enumerate() {
            if let Some(hash) = row.replacement.shown {
                shown.entry(hash).or_default().push(at);
            }
        }
        let ours = rows.iter().filter_map(|row| Some((row.replacement.shown?, row.projection.original)));
        let placeholders = ours.chain(printed(ledger, Printed::Placeholder)).collect();
        let fetched = ledger.printed.iter().filter(|row| row.printed == Printed::Copy && row.saved == 0);
        let fetched = fetched.map(|row| (row.text, row.original)).collect();
        Ok(Self { rows, shown, placeholders, copies: printed(ledger, Printed::Copy).collect(), fetched })
    }

    /// The rows that show what is known by a hash, in the order in which they were written.
    pub(super) fn shown_as(&self, hash: &ContentHash) -> impl Iterator<Item = &Row<'l>> {
        self.shown.get(hash).into_iter().flatten().map(|at| &self.rows[*at])
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
            let Some(change) = replacement.kept.change(block) else { return State::Replaced(block.tokens) };
            if still_holds(projection, block) {
                shown.in_context.insert(projection.original);
                show(block, "replay", None, change, replacement.tokens, shown);
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

/// Adds a change, after which the block costs `tokens_after`, and its action.
pub(super) fn show(
    known: &Known,
    reason: &'static str,
    ref_id: Option<String>,
    change: Change,
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
    match change {
        Change::Remove => shown.reply.rewrite.removed.push((message, path)),
        Change::Set(value) => shown.reply.rewrite.patches.push(Patch { message, path, value }),
    }
}

/// Texts of ours of one kind, with the originals they stand for.
fn printed(ledger: &Ledger, kind: Printed) -> impl Iterator<Item = (ContentHash, ContentHash)> {
    ledger.printed.iter().filter(move |row| row.printed == kind).map(|row| (row.text, row.original))
}
