//! What earlier calls decided, read from the ledger.

use std::collections::HashMap;
use std::sync::Arc;

use super::content_cache::ContentCache;
use super::replacement::{ReplacementCache, StoredReplacement};
use crate::error::Result;
use crate::reference::ContentHash;
use crate::store::{Ledger, Printed, Projection};

/// A row of the ledger with what it shows.
#[derive(Debug)]
pub(super) struct Decision<'l> {
    pub(super) projection: &'l Projection,
    pub(super) stored: Arc<StoredReplacement>,
}

/// What earlier calls decided.
#[derive(Default)]
pub(super) struct Decisions<'l> {
    pub(super) rows: Vec<Decision<'l>>,
    /// The rows, by what they show.
    shown: HashMap<ContentHash, Vec<usize>>,
    /// Placeholders of ours by their text, with the originals they stand for.
    pub(super) placeholders: HashMap<ContentHash, ContentHash>,
    /// Copies of ours by their text, with the originals they are of.
    pub(super) copies: HashMap<ContentHash, ContentHash>,
    /// Those of them that were answers of the fetch tool: what birth shortened is counted as saved.
    pub(super) fetched: HashMap<ContentHash, ContentHash>,
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
        let ours = rows.iter().filter_map(|row| Some((row.stored.shown?, row.projection.original)));
        let placeholders = ours.chain(printed(ledger, Printed::Placeholder)).collect();
        let fetched = ledger.printed.iter().filter(|row| row.printed == Printed::Copy && row.saved == 0);
        let fetched = fetched.map(|row| (row.text, row.original)).collect();
        Ok(Self { rows, shown, placeholders, copies: printed(ledger, Printed::Copy).collect(), fetched })
    }

    /// The rows that show what is known by a hash, in the order in which they were written.
    pub(super) fn shown_as(&self, hash: &ContentHash) -> impl Iterator<Item = &Decision<'l>> {
        self.shown.get(hash).into_iter().flatten().map(|at| &self.rows[*at])
    }
}

/// Texts of ours of one kind, with the originals they stand for.
fn printed(ledger: &Ledger, kind: Printed) -> impl Iterator<Item = (ContentHash, ContentHash)> {
    ledger.printed.iter().filter(move |row| row.printed == kind).map(|row| (row.text, row.original))
}
