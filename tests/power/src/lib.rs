//! A disk under SQLite that loses power and fails when a test says so.
//!
//! What SQLite writes below the directory of a [`Disk`] goes to the real files, so that the process that wrote it reads
//! it; beside them the disk keeps what of it is durable, and a [`Cut`] is made from that alone. The files themselves
//! never show a loss.
//!
//! Files that other code writes there, the shared memory and the locks are not the disk's: a cut has none of them. That
//! a database file which other code created keeps its name is taken for granted.
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

/// Which syncs the disk carries out; the others it only acknowledges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// All.
    Honest,
    /// None of the files whose name ends in this; `""` for none at all.
    Lying(&'static str),
}

/// What SQLite asks a disk to do that a power cut could undo or that can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Call {
    /// Opens a file, creating it or not.
    Open,
    /// Reads bytes from a place.
    Read,
    /// Asks for the length.
    Length,
    /// Takes a lock of the file.
    Lock,
    /// Maps a part of the memory that connections share.
    Map,
    /// Takes a lock in that memory.
    MapLock,
    /// Writes bytes at a place.
    Write,
    /// Sets the length.
    Truncate,
    /// Makes what was written durable.
    Sync,
    /// Takes a name away.
    Delete,
}

/// A failure of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// `EIO`. A failed sync leaves what was written undurable for good, as Linux does.
    Io,
    /// `ENOSPC`. As `EIO`, a failed write has written the first half.
    Full,
    /// `EMFILE`.
    TooManyFiles,
    /// `EROFS`: the file is opened for reading only, as SQLite then does.
    ReadOnly,
    /// `EAGAIN`: somebody else has the lock.
    Busy,
    /// A sync that fails though all that was written is durable.
    Late,
}

impl Call {
    /// The faults that SQLite tells apart for this call.
    pub fn faults(self) -> &'static [Fault] {
        match self {
            Self::Open => &[Fault::TooManyFiles, Fault::ReadOnly],
            Self::Write | Self::Map => &[Fault::Io, Fault::Full],
            Self::Lock | Self::MapLock => &[Fault::Io, Fault::Busy],
            Self::Sync => &[Fault::Io, Fault::Late],
            Self::Read | Self::Length | Self::Truncate | Self::Delete => &[Fault::Io],
        }
    }

    /// Whether it changes what a power cut leaves.
    pub fn is_change(self) -> bool {
        matches!(self, Self::Open | Self::Write | Self::Truncate | Self::Sync | Self::Delete)
    }
}

/// A directory whose database files lie on a disk that may lose power. When it is dropped, the directory is as any
/// other again.
#[derive(Debug)]
pub struct Disk {
    dir: PathBuf,
    journal: Arc<Mutex<Journal>>,
}

/// The disks of this process; tests run side by side.
static DISKS: Mutex<Vec<(PathBuf, Arc<Mutex<Journal>>)>> = Mutex::new(Vec::new());

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Disk {
    /// Takes an existing directory; the files in it are durable as they are. Every database that is opened there from
    /// now on, by any connection of this process with the default VFS, is on this disk.
    ///
    /// # Errors
    /// Where the directory or a file in it cannot be read.
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

    /// The power fails before the [change](Call::is_change) after the next `calls` ones; [`Disk::cut`] tells what is
    /// left then.
    pub fn cut_after(&self, calls: usize) {
        locked(&self.journal).cut_after(calls);
    }

    /// What [`Disk::cut_after`] asked for, once, when it has happened.
    pub fn cut(&self) -> Option<Cut> {
        locked(&self.journal).take_cut()
    }

    /// What is left if the power fails now.
    pub fn cut_now(&self) -> Cut {
        locked(&self.journal).cut_now()
    }

    /// The `number`th call from the beginning, counted from 0, fails; none after it does.
    pub fn fail_at(&self, number: usize, fault: Fault) {
        locked(&self.journal).fail_at(number, fault);
    }

    /// All calls since the beginning.
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
