//! The open file: two connections, and the check that they still refer to the file under its name.
//!
//! A file can be deleted, replaced or restored from a backup while it is open. The system keeps the old file for
//! whoever has it open, and what is written there is lost. Every use therefore checks the identity of the file first,
//! and a write checks it again before it is reported as done. A file that is overwritten in place cannot be
//! distinguished from one that another process wrote; do not restore a backup that way.
//!
//! A newer program may migrate the file while it is open here. The file is still read, so that what was sent is still
//! shown and can be fetched, but no longer written, because this program might omit data on which the newer one relies.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use rusqlite::Connection;

use super::directory::{Directory, Identity};
use super::failure::{Failure, Outcome};
use super::lock::{FileLock, LockGuard, LockMode};
use super::pages::checkpoint;
use super::schema;

/// The maximum number of times that a file may be replaced during one call.
const ATTEMPTS: usize = 3;

/// One connection, with the identity of its file.
struct OpenConnection {
    connection: Connection,
    lock: FileLock,
    identity: Identity,
    /// The modification time of the file at the last use.
    modified_at: Option<SystemTime>,
}

enum ConnectionState {
    Open(Box<OpenConnection>),
    /// The connection must be opened again.
    Lost,
    Closed,
}

/// The two connections. Reading never shares a connection with a commit.
pub(super) struct OpenFile {
    directory: Directory,
    wait_ms: u64,
    writer: Mutex<ConnectionState>,
    reader: Mutex<ConnectionState>,
    generation: AtomicU64,
    notices: Mutex<Vec<String>>,
}

/// A connection in use.
pub(super) struct LockedConnection<'a> {
    state: MutexGuard<'a, ConnectionState>,
    mode: LockMode,
    /// The generation of the file. It changes each time that the file is opened again.
    pub(super) generation: u64,
    // It is released before the connection is free for another thread, which takes the lock itself.
    guard: Option<LockGuard>,
}

impl OpenFile {
    /// Opens a file. If `set_aside` is given, a damaged file is renamed with this date in its name. Returns the line
    /// that says so.
    pub(super) fn open(directory: Directory, wait_ms: u64, set_aside: Option<&str>) -> Outcome<(Self, Option<String>)> {
        let mut notices = Vec::new();
        let mut set_aside_notice = None;
        let damaged = |failure: Failure| match (set_aside, failure.damage()) {
            (Some(today), Some(reason)) => {
                set_aside_notice = Some(directory.set_aside(today, &reason)?);
                Ok(())
            }
            _ => Err(failure),
        };
        let (writer, reader) = connect(&directory, wait_ms, None, &mut notices, damaged)?;
        let opened = Self {
            directory,
            wait_ms,
            writer: Mutex::new(writer),
            reader: Mutex::new(reader),
            generation: AtomicU64::new(1),
            notices: Mutex::new(notices),
        };
        Ok((opened, set_aside_notice))
    }

    pub(super) fn directory(&self) -> &Directory {
        &self.directory
    }

    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Relaxed)
    }

    pub(super) fn notices(&self) -> Vec<String> {
        std::mem::take(&mut self.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the connection for this lock mode.
    fn state(&self, mode: LockMode) -> MutexGuard<'_, ConnectionState> {
        let current = match mode {
            LockMode::Shared => &self.reader,
            LockMode::Exclusive => &self.writer,
        };
        // A panic in earlier work lost only that work: its transaction was rolled back.
        current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock and returns the connection to the file that is now under the name.
    pub(super) fn lock(&self, mode: LockMode) -> Outcome<LockedConnection<'_>> {
        for _ in 0..ATTEMPTS {
            let mut state = self.state(mode);
            match &mut *state {
                ConnectionState::Closed => return Err(Failure::Other(concertina_base::error::Error::Closed)),
                ConnectionState::Open(current) => {
                    let guard = current.lock.lock(mode, self.wait_ms)?;
                    let (identity, modified_at) = self.directory.identity_and_mtime();
                    if current.identity == identity {
                        current.clear_stale_pages(modified_at)?;
                        return Ok(LockedConnection { state, mode, generation: self.generation(), guard: Some(guard) });
                    }
                }
                ConnectionState::Lost => {}
            }
            drop(state);
            self.reopen()?;
        }
        Err(Failure::Replaced)
    }

    /// Opens the file that is now under the name. Both connections are opened at once: two connections to different
    /// files would share locks.
    fn reopen(&self) -> Outcome<()> {
        let (mut writer, mut reader) = (self.state(LockMode::Exclusive), self.state(LockMode::Shared));
        let before = match (&*writer, &*reader) {
            (ConnectionState::Closed, _) | (_, ConnectionState::Closed) => return Ok(()),
            (ConnectionState::Open(current), _) | (_, ConnectionState::Open(current)) => Some(current.identity),
            (ConnectionState::Lost, ConnectionState::Lost) => None,
        };
        let found = self.directory.identity();
        if before == Some(found) {
            return Ok(());
        }
        if let ConnectionState::Open(current) = &*writer
            && current.identity.file != found.file
        {
            // The old file may only have been renamed. Its log is written back into it while it is still open, because
            // the content exists nowhere else.
            let _exclusive = current.lock.lock(LockMode::Exclusive, self.wait_ms)?;
            drop(checkpoint(&current.connection));
        }
        (*writer, *reader) = (ConnectionState::Lost, ConnectionState::Lost);
        let file = self.directory.file.display();
        let mut notices = vec![match found.file {
            None => format!("the store at {file} was deleted while it was in use; a new store is in use"),
            Some(_) => format!("the store at {file} was replaced while it was in use; the new file is in use"),
        }];
        (*writer, *reader) = connect(&self.directory, self.wait_ms, before.as_ref(), &mut notices, Err)?;
        self.generation.fetch_add(1, Ordering::Relaxed);
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).append(&mut notices);
        Ok(())
    }

    /// Renames the file if it was found damaged in the given generation, and opens a new one. Returns false if another
    /// file is under the name by now.
    pub(super) fn set_aside(&self, today: &str, reason: &str, generation: u64) -> Outcome<bool> {
        let (mut writer, mut reader) = (self.state(LockMode::Exclusive), self.state(LockMode::Shared));
        let is_same =
            |current: &OpenConnection| current.identity == self.directory.identity() && self.generation() == generation;
        if !matches!(&*writer, ConnectionState::Open(current) if is_same(current)) {
            return Ok(false);
        }
        (*writer, *reader) = (ConnectionState::Lost, ConnectionState::Lost);
        let lock = FileLock::open(&self.directory.lock)?;
        let exclusive = lock.lock(LockMode::Exclusive, self.wait_ms)?;
        let mut notices = vec![self.directory.set_aside(today, reason)?];
        drop(exclusive);
        let opened = connect(&self.directory, self.wait_ms, None, &mut notices, Err);
        self.generation.fetch_add(1, Ordering::Relaxed);
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).append(&mut notices);
        (*writer, *reader) = opened?;
        Ok(true)
    }

    /// Closes both connections. First writes the log back if nobody else is at work; the log is as durable as the file.
    pub(super) fn close(&self) {
        let (mut writer, mut reader) = (self.state(LockMode::Exclusive), self.state(LockMode::Shared));
        let guard = match &*writer {
            ConnectionState::Open(current) => current.lock.lock(LockMode::Exclusive, self.wait_ms).ok(),
            ConnectionState::Lost | ConnectionState::Closed => None,
        };
        *reader = ConnectionState::Closed;
        if let (ConnectionState::Open(current), Some(_)) = (&*writer, &guard)
            && current.identity == self.directory.identity()
        {
            drop(checkpoint(&current.connection));
        }
        *writer = ConnectionState::Closed;
    }

    #[cfg(test)]
    pub(super) fn is_poisoned(&self) -> bool {
        self.writer.is_poisoned()
    }
}

impl OpenConnection {
    /// Runs `work` on the connection. Nobody can migrate the file while the lock is held exclusively.
    fn run<T>(&mut self, mode: LockMode, work: impl FnOnce(&mut Connection) -> Outcome<T>) -> Outcome<T> {
        if mode == LockMode::Exclusive {
            schema::check_version(&self.connection)?;
        }
        work(&mut self.connection).map_err(|failure| {
            // Checking a locked file would wait for the lock once more.
            if failure.is_locked() {
                return failure;
            }
            match schema::check_version(&self.connection) {
                // The statement met the schema of a newer program; nothing is damaged.
                Err(newer @ Failure::Newer(_)) => newer,
                _ => failure,
            }
        })
    }

    /// Clears SQLite's page cache if the file was written since. SQLite detects that by the header of the log. But if
    /// another copy of SQLite emptied the log and started it again, its header equals the one that it had before.
    fn clear_stale_pages(&mut self, modified_at: Option<SystemTime>) -> Outcome<()> {
        if self.modified_at != modified_at {
            self.connection.execute_batch("PRAGMA shrink_memory")?;
            self.modified_at = modified_at;
        }
        Ok(())
    }
}

impl LockedConnection<'_> {
    /// Runs `work` on the connection and releases the lock.
    pub(super) fn work<T>(
        mut self,
        directory: &Directory,
        work: impl FnOnce(&mut Connection) -> Outcome<T>,
    ) -> Outcome<T> {
        let ConnectionState::Open(current) = &mut *self.state else { return Err(Failure::Replaced) };
        let result = current.run(self.mode, work);
        if !current.connection.is_autocommit() {
            // The rollback after a failure also failed, for example because of a disk error. The next BEGIN would find
            // the transaction open.
            drop(current.connection.execute_batch("ROLLBACK"));
        }
        let is_replaced = self.mode == LockMode::Exclusive && current.identity != directory.identity();
        self.guard = None;
        let result = result?;
        if is_replaced { Err(Failure::Replaced) } else { Ok(result) }
    }
}

/// Connects to the file under the name, and creates it if it is missing. `damaged` decides after a failure whether to
/// try once more.
fn connect(
    directory: &Directory,
    wait_ms: u64,
    before: Option<&Identity>,
    notices: &mut Vec<String>,
    mut damaged: impl FnMut(Failure) -> Outcome<()>,
) -> Outcome<(ConnectionState, ConnectionState)> {
    notices.extend(directory.prepare()?);
    let locks = (FileLock::open(&directory.lock)?, FileLock::open(&directory.lock)?);
    let _exclusive = locks.0.lock(LockMode::Exclusive, wait_ms)?;
    if let Some(before) = before {
        directory.remove_stale_log(before)?;
    }
    let connect_both = || {
        directory.create_file()?;
        let found = directory.identity().file;
        let one = || schema::connect(&directory.file, wait_ms);
        let connected = one().and_then(|writer| Ok((writer, one()?)));
        let is_same = found.is_some() && directory.identity().file == found;
        if is_same { connected } else { Err(Failure::Replaced) }
    };
    let (writer, reader) = connect_both().or_else(|failure| {
        damaged(failure)?;
        connect_both()
    })?;
    // An existing log may contain data that a failed sync left readable until the power goes. Writing it back makes it
    // durable. This waits for nobody.
    writer.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()))?;
    let (identity, modified_at) = directory.identity_and_mtime();
    let current =
        |connection, lock| ConnectionState::Open(Box::new(OpenConnection { connection, lock, identity, modified_at }));
    Ok((current(writer, locks.0), current(reader, locks.1)))
}
