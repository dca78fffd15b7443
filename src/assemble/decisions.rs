//! The decisions of earlier calls, read from the ledger.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::content_cache::ContentCache;
use super::replacement::{ReplacementCache, StoredReplacement};
use crate::error::Result;
use crate::reference::ContentHash;
use crate::store::{BlockKey, Ledger, MarkKind, PrintedKind, Projection, RESTORED};

/// A row of the ledger with its parsed replacement.
#[derive(Debug)]
pub(super) struct Decision<'l> {
    pub(super) projection: &'l Projection,
    pub(super) stored: Arc<StoredReplacement>,
}

/// The decisions of earlier calls.
#[derive(Default)]
pub(super) struct Decisions<'l> {
    pub(super) rows: Vec<Decision<'l>>,
    /// Indexes of the rows by their blocks.
    by_block: HashMap<BlockKey, usize>,
    /// Indexes of the rows by the hash of the shown content.
    shown: HashMap<ContentHash, Vec<usize>>,
    /// Our placeholders by text hash, with the hashes of their originals.
    pub(super) placeholders: HashMap<ContentHash, ContentHash>,
    /// Our copies by text hash, with the hashes of their originals.
    pub(super) copies: HashMap<ContentHash, ContentHash>,
    /// The copies that were answers of the fetch tool. Copies made at birth are excluded: they have a nonzero `saved`.
    pub(super) fetched: HashMap<ContentHash, ContentHash>,
    /// The marks of the results that repeat a folded one.
    pub(super) reruns: HashSet<ContentHash>,
}

impl<'l> Decisions<'l> {
    /// Reads the ledger of a store at `location`.
    ///
    /// # Errors
    /// [`crate::error::Error::StoreDamaged`] for a row that cannot be read.
    pub(super) fn of(
        ledger: &'l Ledger,
        location: impl Fn() -> String,
        replacements: &ReplacementCache,
        contents: &ContentCache,
    ) -> Result<Self> {
        let read = |projection: &'l Projection| {
            Ok(Decision { projection, stored: replacements.read(&projection.replacement, &location, contents)? })
        };
        let rows: Vec<Decision> = ledger.projections.iter().map(read).collect::<Result<_>>()?;
        let mut shown: HashMap<ContentHash, Vec<usize>> = HashMap::new();
        for (at, row) in rows.iter().enumerate() {
            if let Some(hash) = row.stored.shown {
                shown.entry(hash).or_default().push(at);
            }
        }
        // An original in the place of its placeholder is no placeholder.
        let folded = rows.iter().filter(|row| row.projection.reason != RESTORED);
        let ours = folded.filter_map(|row| Some((row.stored.shown?, row.projection.original)));
        let placeholders = ours.chain(printed(ledger, PrintedKind::Placeholder)).collect();
        let fetched = ledger.printed.iter().filter(|row| row.kind == PrintedKind::Copy && row.saved == 0);
        let fetched = fetched.map(|row| (row.text, row.original)).collect();
        let by_block = rows.iter().enumerate().map(|(at, row)| (row.projection.block, at)).collect();
        let copies = printed(ledger, PrintedKind::Copy).collect();
        let reruns = ledger.marked(MarkKind::Rerun).collect();
        Ok(Self { rows, by_block, shown, placeholders, copies, fetched, reruns })
    }

    /// Returns the row of a block.
    pub(super) fn of_block(&self, block: &BlockKey) -> Option<&Decision<'l>> {
        self.by_block.get(block).map(|at| &self.rows[*at])
    }

    /// Returns the rows whose shown content has this hash, in the order in which they were written.
    pub(super) fn shown_as(&self, hash: &ContentHash) -> impl Iterator<Item = &Decision<'l>> {
        self.shown.get(hash).into_iter().flatten().map(|at| &self.rows[*at])
    }
}

/// Returns the printed texts of one kind, with the hashes of their originals.
fn printed(ledger: &Ledger, kind: PrintedKind) -> impl Iterator<Item = (ContentHash, ContentHash)> {
    ledger.printed.iter().filter(move |row| row.kind == kind).map(|row| (row.text, row.original))
}
