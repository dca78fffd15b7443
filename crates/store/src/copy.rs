//! Copies one store into another, with any backends, and verifies the copy.
//!
//! During the copy, nobody else may write to the source. The target must be empty, and is empty again after a copy that
//! failed. If a completed copy reads back differently, the error names the table and the target is left as it is.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::Xxh3;

use super::payload::Payload;
use super::row::Cell;
use super::store::Store;
use super::tables::{ORIGINALS, Table};
use concertina_base::error::{Error, Result};
use concertina_base::reference::{ContentHash, RefId};

/// The result of a copy.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Copied {
    /// The number of rows, by table.
    pub rows: BTreeMap<&'static str, u64>,
    /// The ids of originals that were already damaged in the source. They are equally damaged in the target.
    pub damaged: Vec<String>,
}

/// The checksums of the rows that were copied: the number of rows of each table, and a hash of all of them.
#[derive(Default)]
struct TableChecksums(BTreeMap<&'static str, (u64, Xxh3)>);

/// Copies everything into an empty store, reads it back, and compares. `progress` receives the number of originals
/// copied so far.
///
/// # Errors
/// [`Error::BadArgument`] if the target is not empty; [`Error::StoreDamaged`] if the data read back differs from the
/// data written.
pub fn copy(from: &dyn Store, to: &dyn Store, mut progress: impl FnMut(u64)) -> Result<Copied> {
    let mut source_checksums = TableChecksums::default();
    let mut damaged = Vec::new();
    to.import(&mut |put| {
        // A backend may start again.
        (source_checksums, damaged) = (TableChecksums::default(), Vec::new());
        from.export(&mut |table, row| {
            source_checksums.add_row(table, &row);
            if table.name == ORIGINALS.name {
                damaged.extend(damaged_id(&row));
                progress(source_checksums.count(table));
            }
            put(table, row)
        })
    })?;
    let mut target_checksums = TableChecksums::default();
    to.export(&mut |table, row| {
        target_checksums.add_row(table, &row);
        Ok(())
    })?;
    let (written, read) = (source_checksums.digests(), target_checksums.digests());
    if let Some(name) = written.keys().chain(read.keys()).find(|name| written.get(*name) != read.get(*name)) {
        let reason = format!("the copy of the table {name} differs from the source; keep using the source store");
        return Err(Error::StoreDamaged { path: to.location(), reason });
    }
    Ok(Copied { rows: written.into_iter().map(|(name, (rows, _))| (name, rows)).collect(), damaged })
}

/// Returns the error of a backend whose target is not empty.
pub fn not_empty(table: &Table) -> Error {
    Error::bad_argument(
        "to",
        format!("a store with {}", table.name),
        "an empty store; existing data is never overwritten",
    )
}

impl TableChecksums {
    fn add_row(&mut self, table: &Table, row: &[Cell]) {
        let (rows, hash) = self.0.entry(table.name).or_default();
        *rows += 1;
        for cell in row {
            let (kind, bytes): (u8, &[u8]) = match cell {
                Cell::Null => (0, &[]),
                Cell::Integer(number) => (1, &number.to_le_bytes()),
                Cell::Real(number) => (2, &number.to_bits().to_le_bytes()),
                Cell::Text(text) => (3, text.as_bytes()),
                Cell::Bytes(bytes) => (4, bytes),
                Cell::Flag(flag) => (5, &[u8::from(*flag)]),
            };
            hash.update(&[kind]);
            hash.update(&(bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
    }

    fn count(&self, table: &Table) -> u64 {
        self.0.get(table.name).map_or(0, |(rows, _)| *rows)
    }

    fn digests(&self) -> BTreeMap<&'static str, (u64, u128)> {
        self.0.iter().map(|(name, (rows, hash))| (*name, (*rows, hash.digest128()))).collect()
    }
}

/// Returns the id of an original whose bytes do not have the hash of its row.
fn damaged_id(row: &[Cell]) -> Option<String> {
    // The order is that of the columns of [`ORIGINALS`].
    let [
        _id,
        Cell::Bytes(hash),
        Cell::Text(id),
        _mime,
        _label,
        Cell::Integer(size),
        Cell::Flag(is_zstd),
        Cell::Bytes(payload),
    ] = row
    else {
        return Some(format!("{row:?}").chars().take(80).collect());
    };
    let is_undamaged = || -> Option<()> {
        let hash = ContentHash(hash.as_slice().try_into().ok()?);
        let payload = Payload { is_zstd: *is_zstd, bytes: payload.clone() };
        payload.unpack(u64::try_from(*size).ok()?, hash, &RefId::parse(id).ok()?).ok().map(drop)
    };
    is_undamaged().is_none().then(|| id.clone())
}
