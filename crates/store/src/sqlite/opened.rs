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
struct Side {
    connection: Connection,
    lock: FileLock,
    identity: Identity,
    /// The modification time of the file at the last use.
    written: Option<SystemTime>,
}

enum State {
    Open(Box<Side>),
    /// The connection must be opened again.
    Lost,
    Closed,
}

/// The two connections. Reading never shares a connection with a commit.
pub(super) struct Opened {
    directory: Directory,
    wait_ms: u64,
    writer: Mutex<State>,
    reader: Mutex<State>,
    generation: AtomicU64,
    notices: Mutex<Vec<String>>,
}

/// A connection in use.
pub(super) struct InUse<'a> {
    state: MutexGuard<'a, State>,
    mode: LockMode,
    /// The generation of the file. It changes each time that the file is opened again.
    pub(super) generation: u64,
    // It is released before the connection is free for another thread, which takes the lock itself.
    guard: Option<LockGuard>,
}

impl Opened {
    /// Opens a file. If `set_aside` is given, a damaged file is renamed with this date in its name. Returns the line
    /// that says so.
    pub(super) fn open(directory: Directory, wait_ms: u64, set_aside: Option<&str>) -> Outcome<(Self, Option<String>)> {
        let mut notices = Vec::new();
        let mut aside = None;
        let damaged = |failure: Failure| match (set_aside, failure.damage()) {
            (Some(today), Some(reason)) => {
                aside = Some(directory.set_aside(today, &reason)?);
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
        Ok((opened, aside))
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
    fn state(&self, mode: LockMode) -> MutexGuard<'_, State> {
        let side = match mode {
            LockMode::Shared => &self.reader,
            LockMode::Exclusive => &self.writer,
        };
        // A panic in earlier work lost only that work: its transaction was rolled back.
        side.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock and returns the connection to the file that is now under the name.
    pub(super) fn take(&self, mode: LockMode) -> Outcome<InUse<'_>> {
        for _ in 0..ATTEMPTS {
            let mut state = self.state(mode);
            match &mut *state {
                State::Closed => return Err(Failure::Other(concertina_base::error::Error::Closed)),
                State::Open(side) => {
                    let guard = side.lock.take(mode, self.wait_ms)?;
                    let (identity, written) = self.directory.look();
                    if side.identity == identity {
                        side.forget_pages(written)?;
                        return Ok(InUse { state, mode, generation: self.generation(), guard: Some(guard) });
                    }
                }
                State::Lost => {}
            }
            drop(state);
            self.open_anew()?;
        }
        Err(Failure::Replaced)
    }

    /// Opens the file that is now under the name. Both connections are opened at once: two connections to different
    /// files would share locks.
    fn open_anew(&self) -> Outcome<()> {
        let (mut writer, mut reader) = (self.state(LockMode::Exclusive), self.state(LockMode::Shared));
        let before = match (&*writer, &*reader) {
            (State::Closed, _) | (_, State::Closed) => return Ok(()),
            (State::Open(side), _) | (_, State::Open(side)) => Some(side.identity),
            (State::Lost, State::Lost) => None,
        };
        let found = self.directory.identity();
        if before == Some(found) {
            return Ok(());
        }
        if let State::Open(side) = &*writer
            && side.identity.file != found.file
        {
            // The old file may only have been renamed. Its log is written back into it while it is still open, because
            // the content exists nowhere else.
            let _alone = side.lock.take(LockMode::Exclusive, self.wait_ms)?;
            drop(checkpoint(&side.connection));
        }
        (*writer, *reader) = (State::Lost, State::Lost);
        let file = self.directory.file.display();
        let mut notices = vec![match found.file {
            None => format!("the store at {file} was deleted while it was in use; a new one is in use"),
            Some(_) => format!("the store at {file} was replaced while it was in use; what lies there now is in use"),
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
        let is_same = |side: &Side| side.identity == self.directory.identity() && self.generation() == generation;
        if !matches!(&*writer, State::Open(side) if is_same(side)) {
            return Ok(false);
        }
        (*writer, *reader) = (State::Lost, State::Lost);
        let lock = FileLock::open(&self.directory.lock)?;
        let alone = lock.take(LockMode::Exclusive, self.wait_ms)?;
        let mut notices = vec![self.directory.set_aside(today, reason)?];
        drop(alone);
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
            State::Open(side) => side.lock.take(LockMode::Exclusive, self.wait_ms).ok(),
            State::Lost | State::Closed => None,
        };
        *reader = State::Closed;
        if let (State::Open(side), Some(_)) = (&*writer, &guard)
            && side.identity == self.directory.identity()
        {
            drop(checkpoint(&side.connection));
        }
        *writer = State::Closed;
    }

    #[cfg(test)]
    pub(super) fn is_poisoned(&self) -> bool {
        self.writer.is_poisoned()
    }
}

impl Side {
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
    fn forget_pages(&mut self, written: Option<SystemTime>) -> Outcome<()> {
        if self.written != written {
            self.connection.execute_batch("PRAGMA shrink_memory")?;
            self.written = written;
        }
        Ok(())
    }
}

impl InUse<'_> {
    /// Runs `work` on the connection and releases the lock.
    pub(super) fn work<T>(
        mut self,
        directory: &Directory,
        work: impl FnOnce(&mut Connection) -> Outcome<T>,
    ) -> Outcome<T> {
        let State::Open(side) = &mut *self.state else { return Err(Failure::Replaced) };
        let done = side.run(self.mode, work);
        if !side.connection.is_autocommit() {
            // The rollback after a failure also failed, for example because of a disk error. The next BEGIN would find
            // the transaction open.
            drop(side.connection.execute_batch("ROLLBACK"));
        }
        let is_lost = self.mode == LockMode::Exclusive && side.identity != directory.identity();
        self.guard = None;
        let done = done?;
        if is_lost { Err(Failure::Replaced) } else { Ok(done) }
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
) -> Outcome<(State, State)> {
    notices.extend(directory.prepare()?);
    let locks = (FileLock::open(&directory.lock)?, FileLock::open(&directory.lock)?);
    let _alone = locks.0.take(LockMode::Exclusive, wait_ms)?;
    if let Some(before) = before {
        directory.remove_stale_log(before)?;
    }
    let both = || {
        directory.create_file()?;
        let found = directory.identity().file;
        let one = || schema::connect(&directory.file, wait_ms);
        let connected = one().and_then(|writer| Ok((writer, one()?)));
        let is_same = found.is_some() && directory.identity().file == found;
        if is_same { connected } else { Err(Failure::Replaced) }
    };
    let (writer, reader) = both().or_else(|failure| {
        damaged(failure)?;
        both()
    })?;
    // An existing log may contain data that a failed sync left readable until the power goes. Writing it back makes it
    // durable. This waits for nobody.
    writer.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()))?;
    let (identity, written) = directory.look();
    let side = |connection, lock| State::Open(Box::new(Side { connection, lock, identity, written }));
    Ok((side(writer, locks.0), side(reader, locks.1)))
}
