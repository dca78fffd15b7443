//! Whose turn it is to use the file.
//!
//! SQLite's own locks belong to a process. A host that loads two copies of the addon runs two copies of SQLite in one process, and
//! those do not see each other's locks: they would write at once, and one that opens would cut the shared memory of the other.
//! So every use of the file is under the lock of a further file, which belongs to whoever opened it, in this process or another.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::failure::{Failure, Outcome, unavailable};
use concertina_base::private;

/// How long it is until the next attempt.
const ATTEMPT: Duration = Duration::from_millis(1);

/// How long the file is left alone by who takes turn after turn: each of those who wait makes an attempt meanwhile.
pub(super) const REST: Duration = ATTEMPT.saturating_mul(4);

/// How the file is about to be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// Only read: others may read, too.
    Shared,
    /// Written, opened or checkpointed.
    Alone,
}

/// The lock as one connection has it.
#[derive(Debug)]
pub(super) struct TurnLock(Arc<File>);

/// A turn; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Taken(Arc<File>);

impl TurnLock {
    /// Opens the lock file, for the owner only, creating it where it is missing.
    pub(super) fn open(path: &Path) -> Outcome<Self> {
        let mut options = OpenOptions::new();
        let options = private::file(options.write(true).create(true).truncate(false));
        options.open(path).map(|file| Self(Arc::new(file))).map_err(|error| unavailable(path, &error))
    }

    /// Takes a turn, waiting for others at most about `wait_ms`.
    pub(super) fn take(&self, turn: Turn, wait_ms: u64) -> Outcome<Taken> {
        let mut attempts = wait_ms / ATTEMPT.as_millis() as u64;
        loop {
            let tried = match turn {
                Turn::Shared => self.0.try_lock_shared(),
                Turn::Alone => self.0.try_lock(),
            };
            match tried {
                Ok(()) => return Ok(Taken(Arc::clone(&self.0))),
                Err(TryLockError::WouldBlock) if attempts > 0 => thread::sleep(ATTEMPT),
                Err(TryLockError::WouldBlock) => return Err(Failure::Locked),
                Err(TryLockError::Error(error)) => return Err(Failure::System(error)),
            }
            attempts -= 1;
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        // Fails only for a file that is closed, and then the lock is gone, too.
        drop(self.0.unlock());
    }
}
