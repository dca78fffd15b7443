//! The embedded store: one SQLite file, `concertina.sqlite`, for its owner only.
//!
//! Access is a row: a session is granted an original by putting or inheriting it, and all that the session's ledger says about
//! that original falls with the grant. Two connections, so that reading never waits for another thread's commit.

mod commit;
mod failure;
mod id;
mod payload;
mod read;
mod row;
mod schema;
mod sweep;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use self::failure::Outcome;
use super::{Batch, Ledger, Millis, Removed, Scope, Stats, Store, StoreOptions, TurnStatus};
use crate::error::{Error, Result};
use crate::reference::{ContentHash, Original, RefId};

/// Name of the database file in its directory.
const FILE_NAME: &str = "concertina.sqlite";

/// Bytes of originals held in memory.
const MEMORY_BYTES: u64 = 64 << 20;

/// The default [`Store`].
pub struct SqliteStore {
    path: PathBuf,
    options: StoreOptions,
    writer: Mutex<Option<Connection>>,
    reader: Mutex<Option<Connection>>,
    in_memory: Cache<ContentHash, Arc<Original>, Weight>,
    /// The latest time that a caller told.
    now: AtomicI64,
}

impl SqliteStore {
    /// Opens the store in a directory, creating both where they are missing.
    ///
    /// # Errors
    /// [`Error::StoreUnavailable`] when the directory or file cannot be created or opened, [`Error::StoreDamaged`] when the
    /// file is not a store or comes from a newer version (it is left as it is), [`Error::StoreLocked`] when another process
    /// keeps it locked.
    pub fn open(dir: &Path, options: StoreOptions) -> Result<Self> {
        let path = dir.join(FILE_NAME);
        let connect = || schema::connect(&path, options.busy_timeout_ms);
        let opened = schema::create_file(dir, &path).and_then(|()| Ok((connect()?, connect()?)));
        let (writer, reader) = opened.map_err(|failure| failure.at(&path, options.busy_timeout_ms))?;
        let in_memory = memory(options.max_entries);
        Ok(Self {
            path,
            options,
            writer: Mutex::new(Some(writer)),
            reader: Mutex::new(Some(reader)),
            in_memory,
            now: AtomicI64::new(Millis::MIN),
        })
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Closes the store; every later call is [`Error::Closed`]. Waits for calls that are under way. Closing twice is fine.
    pub fn close(&self) {
        for connection in [&self.reader, &self.writer] {
            drop(connection.lock().unwrap_or_else(PoisonError::into_inner).take());
        }
        self.in_memory.clear();
    }

    /// Works on a connection. A panic in earlier work only lost that work: its transaction was rolled back.
    fn with<T>(
        &self,
        connection: &Mutex<Option<Connection>>,
        work: impl FnOnce(&mut Connection) -> Outcome<T>,
    ) -> Result<T> {
        let mut guard = connection.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = guard.as_mut().ok_or(Error::Closed)?;
        let done = work(connection);
        if !connection.is_autocommit() {
            // The rollback after a failure failed too, for example on a disk error; the next BEGIN would find it open.
            drop(connection.execute_batch("ROLLBACK"));
        }
        done.map_err(|failure| failure.at(&self.path, self.options.busy_timeout_ms))
    }

    /// Reads a consistent state.
    fn read<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Outcome<T>) -> Result<T> {
        self.with(&self.reader, |connection| work(&connection.transaction()?))
    }

    /// Writes in one transaction: what `work` did is on disk when this returns `Ok`, and undone otherwise.
    fn write<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Outcome<T>) -> Result<T> {
        self.with(&self.writer, |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        })
    }

    fn tell(&self, now: Millis) {
        self.now.store(now, Ordering::Relaxed);
    }
}

impl Store for SqliteStore {
    fn ref_ids(&self, hashes: &[ContentHash]) -> Result<Vec<RefId>> {
        self.read(|transaction| id::ref_ids(transaction, hashes))
    }

    fn commit(&self, scope: &Scope, batch: &Batch, now: Millis) -> Result<()> {
        self.tell(now);
        let stored = self.read(|transaction| {
            let is_needless = commit::may_be_skipped(transaction, &self.options, scope, batch, now)?;
            if is_needless { Ok(None) } else { commit::find_stored(transaction, batch).map(Some) }
        })?;
        let Some(stored) = stored else { return Ok(()) };
        // Outside of any lock: large originals take a while.
        let packed = commit::pack(batch, &stored)?;
        self.write(|transaction| commit::write(transaction, &self.options, scope, batch, packed, now))
    }

    fn get(&self, id: &RefId, agent_id: &str) -> Result<Option<(RefId, Original)>> {
        let expired_before = self.options.expired_before(self.now.load(Ordering::Relaxed));
        let found = self.read(|transaction| {
            let Some(resolved) = read::resolve(transaction, id, agent_id, expired_before)? else { return Ok(None) };
            if let Some(held) = self.in_memory.get(&resolved.hash) {
                return Ok(Some((resolved.id, held)));
            }
            let original = Arc::new(read::read_original(transaction, &resolved)?);
            self.in_memory.insert(resolved.hash, Arc::clone(&original));
            Ok(Some((resolved.id, original)))
        })?;
        Ok(found.map(|(id, original)| (id, Original::clone(&original))))
    }

    fn ledger(&self, scope: &Scope) -> Result<Ledger> {
        self.read(|transaction| read::ledger(transaction, scope))
    }

    fn commit_turn(&self, scope: &Scope, advancement_key: &str, now: Millis) -> Result<TurnStatus> {
        self.tell(now);
        self.write(|transaction| commit::write_turn(transaction, scope, advancement_key, now))
    }

    fn inherit(&self, parent: &Scope, child: &Scope, now: Millis) -> Result<()> {
        self.tell(now);
        let expired_before = self.options.expired_before(now);
        self.write(|transaction| commit::inherit(transaction, parent, child, expired_before, now))
    }

    fn stats(&self, session_id: Option<&str>) -> Result<Stats> {
        self.read(|transaction| read::stats(transaction, session_id))
    }

    fn sweep(&self, now: Millis) -> Result<Removed> {
        self.tell(now);
        let options = &self.options;
        let before = self.read(|transaction| sweep::file_bytes(transaction))?;
        let mut removed = Removed::default();
        loop {
            let (originals, has_more) = self.write(|transaction| sweep::expire(transaction, options, now))?;
            removed.originals += originals;
            if !has_more {
                break;
            }
        }
        loop {
            let step =
                |transaction: &Transaction<'_>| sweep::evict(transaction, options, options.max_bytes, now, sweep::STEP);
            let originals = self.write(step)?;
            removed.originals += originals as u64;
            if originals < sweep::STEP {
                break;
            }
        }
        removed.sessions = self.write(|transaction| sweep::forget_silent_sessions(transaction, options, now))?;
        self.shrink_from(before, removed)
    }

    fn purge(&self, session_id: &str) -> Result<Removed> {
        let before = self.read(|transaction| sweep::file_bytes(transaction))?;
        // A purge promises that the bytes are gone, so free pages are wiped too; a sweep need not write that much.
        let wipe = |mode: &str| {
            self.with(&self.writer, |connection| Ok(connection.pragma_update(None, "secure_delete", mode)?))
        };
        wipe("ON")?;
        let purged = self.write(|transaction| sweep::purge(transaction, session_id));
        wipe("FAST")?;
        let removed = purged?;
        self.shrink_from(before, removed)
    }
}

impl SqliteStore {
    /// Gives the space of what was removed back and says how much that was.
    fn shrink_from(&self, bytes_before: u64, removed: Removed) -> Result<Removed> {
        self.in_memory.clear();
        let bytes_after = self.with(&self.writer, |connection| {
            sweep::shrink(connection)?;
            sweep::file_bytes(connection)
        })?;
        Ok(Removed { bytes: bytes_before.saturating_sub(bytes_after), ..removed })
    }
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.path).field("options", &self.options).finish_non_exhaustive()
    }
}

/// Weighs an original by its bytes, and at least so much that never more than the allowed number fit in.
#[derive(Debug, Clone)]
struct Weight {
    least: u64,
}

impl Weighter<ContentHash, Arc<Original>> for Weight {
    fn weight(&self, _: &ContentHash, original: &Arc<Original>) -> u64 {
        (original.bytes.len() as u64).max(self.least)
    }
}

fn memory(max_entries: u64) -> Cache<ContentHash, Arc<Original>, Weight> {
    let max_entries = max_entries.max(1);
    let options = OptionsBuilder::new()
        // One shard, because an original larger than its shard is never held.
        .shards(1)
        .estimated_items_capacity(usize::try_from(max_entries).unwrap_or(usize::MAX).min(1 << 16))
        .weight_capacity(MEMORY_BYTES)
        .build()
        .expect("both capacities are set");
    let weight = Weight { least: MEMORY_BYTES.div_ceil(max_entries) };
    Cache::with_options(options, weight, DefaultHashBuilder::default(), DefaultLifecycle::default())
}
