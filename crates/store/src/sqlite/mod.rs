//! The embedded store: one SQLite file, `concertina.sqlite`, accessible to its owner only.
//!
//! A grant is a row: a session is granted an original by a put or by inheritance. When the grant is removed, so is
//! everything that the session's ledger says about that original.

mod commit;
mod context;
mod directory;
mod export;
mod failure;
mod inherit;
mod lock;
mod open_file;
mod pages;
mod read;
mod row;
mod schema;
mod search;
mod session;
mod sweep;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use self::directory::Directory;
use self::failure::{Failure, Outcome};
use self::lock::{LockMode, STEP_PAUSE};
use self::open_file::OpenFile;
use self::row::{QUERIES, run};
use super::cache::ReadCache;
use super::figures::{Figures, FiguresQuery, KnownSession, Recent, Turn};
use super::options::StoreOptions;
use super::payload::pack_new;
use super::records::{Batch, Ledger, Projection, Removed, Scope, Searched, Stats, TurnStatus};
use super::signature::{Probes, Signature};
use super::store::Store;
use super::tables::RowSink;
use super::time::Millis;
use concertina_base::error::{Error, Result};
use concertina_base::foreign::Journal;
use concertina_base::reference::{ContentHash, Original, RefId};

/// The default [`Store`].
///
/// Any number of them may be open on one directory, in this process or in others, each with its own options.
pub struct SqliteStore {
    options: StoreOptions,
    open_file: OpenFile,
    journal: Arc<Journal>,
    cache: ReadCache<ContentHash>,
}

impl SqliteStore {
    /// Opens the store in a directory, and creates both if they are missing.
    ///
    /// # Errors
    /// [`Error::StoreUnavailable`] if the directory or file cannot be created or opened, if the directory belongs to
    /// another user, or if others may write it and it holds other files; [`Error::StoreDamaged`] if the file is not a
    /// store; [`Error::StoreNewer`] if a newer version wrote it (it is left unchanged); [`Error::StoreLocked`] if
    /// another process keeps it locked.
    pub fn open(dir: &Path, options: StoreOptions) -> Result<Self> {
        Ok(Self::open_with(dir, options, None)?.0)
    }

    /// Does the same as [`SqliteStore::open`], but renames a damaged file to `concertina.sqlite.damaged-<today>` and
    /// creates a new one. The returned line says so, and how to restore it. A file of another program or of a newer
    /// version stays and is an error.
    ///
    /// # Errors
    /// Those of [`SqliteStore::open`]; [`Error::BadArgument`] for a `today` that has characters other than letters,
    /// digits and hyphens.
    pub fn open_or_set_aside(dir: &Path, options: StoreOptions, today: &str) -> Result<(Self, Option<String>)> {
        Self::open_with(dir, options, Some(date(today)?))
    }

    fn open_with(dir: &Path, options: StoreOptions, set_aside: Option<&str>) -> Result<(Self, Option<String>)> {
        let wait_ms = options.busy_timeout_ms;
        let directory = Directory::new(dir);
        let file = directory.file.clone();
        let (open_file, set_aside_notice) =
            OpenFile::open(directory, wait_ms, set_aside).map_err(|failure| failure.at(&file, wait_ms))?;
        let journal = Journal::open(dir);
        let cache = ReadCache::new(options.max_entries);
        Ok((Self { options, open_file, journal, cache }, set_aside_notice))
    }

    /// Returns the database file.
    pub fn path(&self) -> &Path {
        &self.open_file.directory().file
    }

    /// Closes the store. Every later call returns [`Error::Closed`]. Waits for running calls. Closing twice is allowed.
    pub fn close(&self) {
        self.open_file.close();
        self.cache.clear();
    }

    /// Runs `work` on a connection, and passes it the generation of the file.
    fn with<T>(&self, mode: LockMode, work: impl FnOnce(&mut Connection, u64) -> Outcome<T>) -> Result<T> {
        self.attempt(mode, work).map_err(|failure| self.named(failure))
    }

    fn attempt<T>(&self, mode: LockMode, work: impl FnOnce(&mut Connection, u64) -> Outcome<T>) -> Outcome<T> {
        self.open_file.lock(mode).and_then(|locked| {
            let generation = locked.generation;
            self.cache.keep_only(generation);
            locked.work(self.open_file.directory(), |connection| work(connection, generation))
        })
    }

    fn named(&self, failure: Failure) -> Error {
        failure.at(self.path(), self.options.busy_timeout_ms)
    }

    /// Reads a consistent state.
    fn read<T>(&self, work: impl FnOnce(&Transaction<'_>, u64) -> Outcome<T>) -> Result<T> {
        self.with(LockMode::Shared, |connection, generation| work(&connection.transaction()?, generation))
    }

    /// Writes in one transaction. The changes of `work` are on disk if this returns `Ok`, and rolled back otherwise.
    fn write<T>(&self, work: impl FnOnce(&Transaction<'_>, u64) -> Outcome<T>) -> Result<T> {
        self.with(LockMode::Exclusive, |connection, generation| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction, generation)?;
            transaction.commit()?;
            Ok(done)
        })
    }

    /// Finds removable rows and removes them step by step. Other processes may use the file between steps.
    fn remove<T>(
        &self,
        look: impl Fn(&Transaction<'_>) -> Outcome<Vec<T>>,
        step: impl Fn(&Transaction<'_>, &[T]) -> Outcome<sweep::Step>,
    ) -> Result<u64> {
        let mut removed = 0;
        loop {
            let found = self.read(|transaction, _| look(transaction))?;
            for rows in found.chunks(sweep::STEP_ROWS) {
                let (more, has_more) = self.write(|transaction, _| step(transaction, rows))?;
                removed += more;
                if !has_more {
                    return Ok(removed);
                }
                thread::sleep(STEP_PAUSE);
            }
            if (found.len() as i64) < sweep::MAX_CANDIDATES {
                return Ok(removed);
            }
        }
    }

    /// Returns the space of removed rows to the system, and the number of bytes freed.
    fn shrink_from(&self, bytes_before: u64, removed: Removed) -> Result<Removed> {
        self.cache.clear();
        let alone =
            |work: fn(&Connection) -> Outcome<u64>| self.with(LockMode::Exclusive, |connection, _| work(connection));
        let mut free = alone(pages::free_pages)?;
        while free > 0 {
            thread::sleep(STEP_PAUSE);
            let rest = alone(pages::vacuum)?;
            if rest >= free {
                break;
            }
            free = rest;
        }
        let bytes_after = alone(pages::checkpoint)?;
        Ok(Removed { bytes: bytes_before.saturating_sub(bytes_after), ..removed })
    }
}

impl Store for SqliteStore {
    fn ref_ids(&self, hashes: &[ContentHash]) -> Result<Vec<RefId>> {
        self.read(|transaction, _| read::ref_ids(transaction, hashes))
    }

    fn commit(&self, scope: &Scope, batch: &Batch, now: Millis) -> Result<Vec<Projection>> {
        if batch.is_idle(now, self.options.touch_interval_ms()) {
            return Ok(Vec::new());
        }
        let is_other = |generation| batch.generation != 0 && batch.generation != generation;
        let stored = self.read(|transaction, _| commit::are_stored(transaction, batch))?;
        // No lock is held, because compressing large originals takes time.
        let packed = pack_new(&batch.originals, &stored)?;
        self.write(|transaction, generation| {
            if is_other(generation) {
                return Err(Failure::Replaced);
            }
            commit::write(transaction, &self.options, scope, batch, packed, now)
        })
    }

    fn get(&self, id: &RefId, agent_id: &str, now: Millis) -> Result<Option<(RefId, Original)>> {
        let expired_before = self.options.expired_before(now);
        let found = self.read(|transaction, _| {
            let Some(resolved) = read::resolve(transaction, id, agent_id, expired_before)? else { return Ok(None) };
            if let Some(held) = self.cache.originals.get(&resolved.hash) {
                return Ok(Some((resolved.id, held)));
            }
            let original = Arc::new(read::read_original(transaction, &resolved)?);
            self.cache.originals.insert(resolved.hash, Arc::clone(&original));
            Ok(Some((resolved.id, original)))
        })?;
        Ok(found.map(|(id, original)| (id, Original::clone(&original))))
    }

    fn search(&self, scope: &Scope, probes: &Probes, now: Millis) -> Result<Searched> {
        let expired_before = self.options.expired_before(now);
        self.read(|transaction, _| search::search(transaction, scope, probes, expired_before))
    }

    fn sign(&self, scope: &Scope, signatures: &[(ContentHash, Signature)]) -> Result<()> {
        self.write(|transaction, _| search::sign(transaction, scope, signatures))
    }

    fn ledger(&self, scope: &Scope) -> Result<Ledger> {
        self.read(|transaction, generation| {
            read::ledger(transaction, scope, self.options.holder(), &self.cache, generation)
        })
    }

    fn commit_turn(&self, scope: &Scope, turn: &Turn, now: Millis) -> Result<TurnStatus> {
        self.write(|transaction, _| session::write_turn(transaction, scope, turn, self.options.holder(), now))
    }

    fn recent(&self, scope: &Scope, since: Millis) -> Result<Recent> {
        self.read(|transaction, _| QUERIES.recent(scope, since, |queries| run(transaction, queries)))
    }

    fn figures(&self, query: &FiguresQuery) -> Result<Figures> {
        let of_store = || (self.options.max_bytes, self.location());
        self.read(|transaction, _| QUERIES.figures(query, of_store(), |queries| run(transaction, queries)))
    }

    fn sessions(&self) -> Result<Vec<KnownSession>> {
        self.read(|transaction, _| QUERIES.sessions(&self.options.host, |queries| run(transaction, queries)))
    }

    fn switch(&self, scope: &Scope, is_off: bool, now: Millis) -> Result<()> {
        self.write(|transaction, _| session::switch(transaction, scope, is_off, self.options.holder(), now))
    }

    fn is_off(&self, scope: &Scope) -> Result<bool> {
        self.read(|transaction, _| session::is_off(transaction, scope))
    }

    fn inherit(&self, parent: &Scope, child: &Scope, named: Option<&[RefId]>, now: Millis) -> Result<()> {
        self.write(|transaction, _| inherit::inherit(transaction, &self.options, parent, child, named, now))
    }

    fn end_session(&self, scope: &Scope, now: Millis) -> Result<()> {
        self.write(|transaction, _| session::end(transaction, scope, self.options.holder(), now))
    }

    fn settle(&self, alive: &BTreeSet<String>, now: Millis) -> Result<u64> {
        let host = &self.options.host;
        if self.read(|transaction, _| session::is_settled(transaction, host, alive, now))? {
            return Ok(0);
        }
        self.write(|transaction, _| session::settle(transaction, host, alive, now))
    }

    fn stats(&self, session: Option<&Scope>) -> Result<Stats> {
        self.read(|transaction, _| QUERIES.stats(session, |queries| run(transaction, queries)))
    }

    fn sweep(&self, now: Millis) -> Result<Removed> {
        let options = &self.options;
        let target = options.max_bytes;
        let before = self.read(|transaction, _| pages::file_bytes(transaction))?;
        let expired = self.remove(
            |transaction| sweep::find_expired(transaction, options, now),
            |transaction, grants| sweep::expire(transaction, options, now, grants),
        )?;
        let evicted = self.remove(
            |transaction| sweep::find_evictable(transaction, options, target, now, sweep::MAX_CANDIDATES),
            |transaction, originals| sweep::evict(transaction, options, target, now, originals),
        )?;
        let sessions = self.remove(
            |transaction| sweep::find_forgettable(transaction, options, now),
            |transaction, sessions| sweep::forget(transaction, options, now, sessions),
        )?;
        self.shrink_from(before, Removed { originals: expired + evicted, sessions, bytes: 0 })
    }

    fn purge(&self, scope: &Scope) -> Result<Removed> {
        let before = self.read(|transaction, _| pages::file_bytes(transaction))?;
        let removed = self.with(LockMode::Exclusive, |connection, _| {
            // A purge promises that the bytes are gone, so free pages are overwritten. A sweep does not.
            connection.pragma_update(None, "secure_delete", "ON")?;
            let purged = (|| {
                let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
                let removed = sweep::purge(&transaction, scope)?;
                transaction.commit()?;
                Ok(removed)
            })();
            connection.pragma_update(None, "secure_delete", "FAST")?;
            purged
        })?;
        self.shrink_from(before, removed)
    }

    fn purgeable(&self, scope: &Scope) -> Result<Removed> {
        self.read(|transaction, _| QUERIES.purgeable(scope, |queries| run(transaction, queries)))
    }

    fn export(&self, take: &mut RowSink<'_>) -> Result<()> {
        // It writes nothing, but takes the write lock to keep other writers out.
        self.write(|transaction, _| export::export(transaction, take))
    }

    fn import(&self, fill: &mut dyn FnMut(&mut RowSink<'_>) -> Result<()>) -> Result<()> {
        self.write(|transaction, _| export::import(transaction, &|failure| self.named(failure), fill))
    }

    fn check(&self, today: Option<&str>) -> Result<bool> {
        let today = today.map(date).transpose()?;
        let mut looked_at = None;
        let found = self.attempt(LockMode::Shared, |connection, generation| {
            looked_at = Some(generation);
            schema::check(connection)
        });
        let Err(failure) = found else { return Ok(false) };
        match (today, looked_at, failure.damage()) {
            (Some(today), Some(generation), Some(reason)) => {
                self.open_file.set_aside(today, &reason, generation).map_err(|failure| self.named(failure))
            }
            _ => Err(self.named(failure)),
        }
    }

    fn location(&self) -> String {
        self.path().display().to_string()
    }

    fn notices(&self) -> Vec<String> {
        let mut notices = self.open_file.notices();
        notices.extend(self.journal.notices());
        notices
    }
}

/// Returns the date if it is allowed in the name of a file.
fn date(today: &str) -> Result<&str> {
    let is_date = !today.is_empty() && today.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let wrong = || Error::bad_argument("today", format!("{today:?}"), "a date such as 2026-01-31");
    is_date.then_some(today).ok_or_else(wrong)
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.close();
    }
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.path())
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
