//! The lock that every use of the file takes.
//!
//! SQLite's own locks belong to a process. A host that loads two copies of the addon runs two copies of SQLite in one
//! process, and those do not see each other's locks: they would write at once, and one that opens would cut the shared
//! memory of the other. So every use of the file is under the lock of a further file, which belongs to whoever opened
//! it, in this process or another.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::failure::{Failure, Outcome, unavailable};
use concertina_base::private;

/// How long it is until the next attempt.
const ATTEMPT: Duration = Duration::from_millis(1);

/// How long the file is left alone between the steps of long work: everybody who waits makes an attempt meanwhile.
pub(super) const REST: Duration = ATTEMPT.saturating_mul(4);

/// How the file is about to be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LockMode {
    /// Only read: others may read, too.
    Shared,
    /// Written, opened or checkpointed.
    Exclusive,
}

/// The lock as one connection has it.
#[derive(Debug)]
pub(super) struct FileLock(Arc<File>);

/// The lock while it is held; dropping it releases it.
#[derive(Debug)]
pub(super) struct LockGuard(Arc<File>);

impl FileLock {
    /// Opens the lock file, for the owner only, creating it where it is missing.
    pub(super) fn open(path: &Path) -> Outcome<Self> {
        let mut options = OpenOptions::new();
        let options = private::file(options.write(true).create(true).truncate(false));
        options.open(path).map(|file| Self(Arc::new(file))).map_err(|error| unavailable(path, &error))
    }

    /// Takes the lock, waiting for others at most about `wait_ms`.
    pub(super) fn take(&self, mode: LockMode, wait_ms: u64) -> Outcome<LockGuard> {
        let mut attempts = wait_ms / ATTEMPT.as_millis() as u64;
        loop {
            let tried = match mode {
                LockMode::Shared => self.0.try_lock_shared(),
                LockMode::Exclusive => self.0.try_lock(),
            };
            match tried {
                Ok(()) => return Ok(LockGuard(Arc::clone(&self.0))),
                Err(TryLockError::WouldBlock) if attempts > 0 => thread::sleep(ATTEMPT),
                Err(TryLockError::WouldBlock) => return Err(Failure::Locked),
                Err(TryLockError::Error(error)) => return Err(Failure::System(error)),
            }
            attempts -= 1;
        }
    }
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        // Fails only for a file that is closed, and then the lock is gone, too.
        drop(self.0.unlock());
    }
}
