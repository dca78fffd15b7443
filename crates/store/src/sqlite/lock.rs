//! The lock that every use of the file takes.
//!
//! SQLite's own locks belong to a process. A host that loads two copies of the addon runs two copies of SQLite in one
//! process, and these do not see each other's locks: they would write at the same time, and one that opens the file
//! would truncate the other's shared memory. Every use of the file therefore locks another file, and that lock belongs
//! to its opener, in this process or another.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::failure::{Failure, Outcome, unavailable};
use concertina_base::private;

/// The interval between attempts.
const RETRY_INTERVAL: Duration = Duration::from_millis(1);

/// The pause between the steps of long work, in which every waiter makes an attempt.
pub(super) const STEP_PAUSE: Duration = RETRY_INTERVAL.saturating_mul(4);

/// The mode of a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LockMode {
    /// For reading; others may read, too.
    Shared,
    /// For writing, opening or checkpointing.
    Exclusive,
}

/// The lock file as one connection has it open.
#[derive(Debug)]
pub(super) struct FileLock(Arc<File>);

/// A held lock; dropping it releases it.
#[derive(Debug)]
pub(super) struct LockGuard(Arc<File>);

impl FileLock {
    /// Opens the lock file, and creates it for the owner only if it is missing.
    pub(super) fn open(path: &Path) -> Outcome<Self> {
        let mut options = OpenOptions::new();
        let options = private::file(options.write(true).create(true).truncate(false));
        options.open(path).map(|file| Self(Arc::new(file))).map_err(|error| unavailable(path, &error))
    }

    /// Takes the lock. Waits for others for about `wait_ms` at most.
    pub(super) fn lock(&self, mode: LockMode, wait_ms: u64) -> Outcome<LockGuard> {
        let mut attempts = wait_ms / RETRY_INTERVAL.as_millis() as u64;
        loop {
            let result = match mode {
                LockMode::Shared => self.0.try_lock_shared(),
                LockMode::Exclusive => self.0.try_lock(),
            };
            match result {
                Ok(()) => return Ok(LockGuard(Arc::clone(&self.0))),
                Err(TryLockError::WouldBlock) if attempts > 0 => thread::sleep(RETRY_INTERVAL),
                Err(TryLockError::WouldBlock) => return Err(Failure::Locked),
                Err(TryLockError::Error(error)) => return Err(Failure::System(error)),
            }
            attempts -= 1;
        }
    }
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        // Unlocking fails only for a closed file, whose lock is released already.
        drop(self.0.unlock());
    }
}
