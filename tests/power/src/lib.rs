//! A simulated disk under SQLite that loses power and fails when a test requires it.
//!
//! What SQLite writes below the directory of a [`Disk`] goes to the real files, so that the process that wrote it can
//! read it. In addition the disk records which of it is durable, and makes a [`Cut`] from that record only. The real
//! files never show a loss.
//!
//! The disk ignores files that other code writes there, shared memory and locks, so a cut contains none of them. It
//! assumes that the name of a database file which other code created is durable.
#![cfg(unix)]

mod deadly;
mod dice;
mod journal;
mod vfs;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fs, io};

pub use deadly::Deadly;
pub use dice::Dice;
pub use journal::Cut;
use journal::Journal;

/// The syncs that the disk performs. The others it only acknowledges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// All syncs.
    Honest,
    /// All except those of files whose name ends with this; `""` means no sync at all.
    Lying(&'static str),
}

/// A request of SQLite to the disk that a power cut could undo or that can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Call {
    /// Opens or creates a file.
    Open,
    /// Reads bytes from a place.
    Read,
    /// Returns the length.
    Length,
    /// Takes a lock of the file.
    Lock,
    /// Maps a part of the shared memory.
    Map,
    /// Takes a lock in that memory.
    MapLock,
    /// Writes bytes at a place.
    Write,
    /// Sets the length.
    Truncate,
    /// Makes what was written durable.
    Sync,
    /// Removes a name.
    Delete,
}

/// A failure of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// `EIO`. After a failed sync, the written data never becomes durable, as on Linux.
    Io,
    /// `ENOSPC`. A failed write has written its first half, as with `EIO`.
    Full,
    /// `EMFILE`.
    TooManyFiles,
    /// `EROFS`. SQLite then opens the file read-only.
    ReadOnly,
    /// `EAGAIN`: the lock is held by another connection.
    Busy,
    /// A sync fails although everything that was written is durable.
    Late,
}

impl Call {
    /// Returns the faults of this call that SQLite distinguishes.
    pub fn faults(self) -> &'static [Fault] {
        match self {
            Self::Open => &[Fault::TooManyFiles, Fault::ReadOnly],
            Self::Write | Self::Map => &[Fault::Io, Fault::Full],
            Self::Lock | Self::MapLock => &[Fault::Io, Fault::Busy],
            Self::Sync => &[Fault::Io, Fault::Late],
            Self::Read | Self::Length | Self::Truncate | Self::Delete => &[Fault::Io],
        }
    }

    /// Returns true if the call changes what a power cut leaves.
    pub fn is_change(self) -> bool {
        matches!(self, Self::Open | Self::Write | Self::Truncate | Self::Sync | Self::Delete)
    }
}

/// A directory whose database files are on a simulated disk that can lose power. After the disk is dropped, the
/// directory is an ordinary one.
#[derive(Debug)]
pub struct Disk {
    dir: PathBuf,
    journal: Arc<Mutex<Journal>>,
}

/// The disks of this process. Tests run in parallel.
static DISKS: Mutex<Vec<(PathBuf, Arc<Mutex<Journal>>)>> = Mutex::new(Vec::new());

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Disk {
    /// Puts a disk on an existing directory, whose files are durable as they are. Every database that is opened there
    /// from now on, by any connection of this process with the default VFS, is on this disk.
    ///
    /// # Errors
    /// If the directory or a file in it cannot be read.
    pub fn at(dir: &Path, mode: Mode) -> io::Result<Self> {
        vfs::register();
        let dir = dir.canonicalize()?;
        let mut journal = Journal::new(mode);
        for entry in fs::read_dir(&dir)? {
            let path = entry?.path();
            journal.add_durable(&path, fs::read(&path)?);
        }
        let journal = Arc::new(Mutex::new(journal));
        locked(&DISKS).push((dir.clone(), Arc::clone(&journal)));
        Ok(Self { dir, journal })
    }

    /// Plans a power cut before the [change](Call::is_change) that follows the next `calls` changes. [`Disk::cut`]
    /// returns the result.
    pub fn cut_after(&self, calls: usize) {
        locked(&self.journal).cut_after(calls);
    }

    /// Returns the result of [`Disk::cut_after`] once, after it has happened.
    pub fn cut(&self) -> Option<Cut> {
        locked(&self.journal).take_cut()
    }

    /// Returns what would be left if the power failed now.
    pub fn cut_now(&self) -> Cut {
        locked(&self.journal).cut_now()
    }

    /// Makes the `number`th call since the beginning, counted from 0, fail. No other call fails.
    pub fn fail_at(&self, number: usize, fault: Fault) {
        locked(&self.journal).fail_at(number, fault);
    }

    /// Returns all calls since the beginning.
    pub fn calls(&self) -> Vec<Call> {
        locked(&self.journal).calls().to_vec()
    }

    fn of(file: &Path) -> Option<Arc<Mutex<Journal>>> {
        let dir = file.parent()?;
        locked(&DISKS).iter().find(|(known, _)| known == dir).map(|(_, journal)| Arc::clone(journal))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        locked(&DISKS).retain(|(dir, _)| *dir != self.dir);
    }
}
