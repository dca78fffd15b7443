//! Failures below the store, and the [`Error`] that each becomes.
//!
//! A full disk, a lock held elsewhere, an unwritable location and a damaged file require different actions from people,
//! so they are kept apart. Any other system error becomes "cannot use the store", never damage.

use std::path::Path;

use rusqlite::{ErrorCode, ffi};

use crate::row::BadColumn;
use concertina_base::error::Error;

/// The result of an operation on a connection, without the path of the file.
pub(super) type Outcome<T> = Result<T, Failure>;

/// The failure of an operation on a connection.
#[derive(Debug)]
pub(super) enum Failure {
    /// An error of SQLite.
    Sql(rusqlite::Error),
    /// The file is damaged; describes the damage.
    Damaged(String),
    /// The file belongs to another program; describes what was found.
    Foreign(String),
    /// The file has a version that this program does not know; describes the version.
    Newer(String),
    /// Another process did not release the lock in time.
    Locked,
    /// An error of the operating system.
    System(std::io::Error),
    /// The file is not the one that was opened.
    Replaced,
    /// The size limit is reached and nothing may be removed.
    Full(String),
    /// An error that needs no path.
    Other(Error),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl From<BadColumn> for Failure {
    fn from(BadColumn(found): BadColumn) -> Self {
        Self::Damaged(found)
    }
}

impl Failure {
    /// Returns true if another process or connection holds a lock.
    pub(super) fn is_locked(&self) -> bool {
        matches!(self, Self::Sql(error) if matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
        ))
    }

    /// Returns the reason why a file of ours is unusable; `None` if it is not ours, or if the failure is another one.
    pub(super) fn damage(&self) -> Option<String> {
        match self {
            Self::Damaged(reason) => Some(reason.clone()),
            Self::Sql(error) if is_damage(error) => Some(error.to_string()),
            _ => None,
        }
    }

    /// Returns the error for the store at `path`, which waits `waited_ms` for locks.
    pub(super) fn at(self, path: &Path, waited_ms: u64) -> Error {
        let path = path.display().to_string();
        let error = match self {
            Self::Sql(error) => error,
            Self::Damaged(reason) | Self::Foreign(reason) => return Error::StoreDamaged { path, reason },
            Self::Newer(reason) => return Error::StoreNewer { path, reason },
            Self::Full(reason) => return Error::StoreFull { path, reason },
            Self::Locked => return Error::StoreLocked { path, waited_ms },
            Self::System(error) => return Error::StoreUnavailable { path, reason: error.to_string() },
            Self::Replaced => return Error::StoreReplaced { path },
            Self::Other(error) => return error,
        };
        let reason = error.to_string();
        match error.sqlite_error_code() {
            _ if is_cut(&error) => Error::StoreDamaged { path, reason: format!("{reason}: the file ends too early") },
            _ if is_damage(&error) => Error::StoreDamaged { path, reason },
            Some(ErrorCode::DiskFull) => Error::StoreFull { path, reason },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::StoreLocked { path, waited_ms },
            _ => Error::StoreUnavailable { path, reason },
        }
    }
}

fn is_cut(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == ffi::SQLITE_IOERR_SHORT_READ)
}

fn is_damage(error: &rusqlite::Error) -> bool {
    is_cut(error)
        || matches!(
            error.sqlite_error_code(),
            // Our statements are constant. If one does not compile or reads a value of another type, the tables are not
            // ours.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown) | None
        )
}

/// Returns the error for a directory or file to which the system denies access.
pub(super) fn unavailable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Other(Error::StoreUnavailable { path: path.display().to_string(), reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sqlite_code_has_its_error() {
        for (code, expected) in [
            (ffi::SQLITE_FULL, "CONCERTINA_STORE_FULL"),
            (ffi::SQLITE_BUSY, "CONCERTINA_STORE_LOCKED"),
            (ffi::SQLITE_BUSY_SNAPSHOT, "CONCERTINA_STORE_LOCKED"),
            (ffi::SQLITE_LOCKED, "CONCERTINA_STORE_LOCKED"),
            (ffi::SQLITE_READONLY, "CONCERTINA_STORE_UNAVAILABLE"),
            (ffi::SQLITE_CANTOPEN, "CONCERTINA_STORE_UNAVAILABLE"),
            (ffi::SQLITE_IOERR_FSYNC, "CONCERTINA_STORE_UNAVAILABLE"),
            (ffi::SQLITE_TOOBIG, "CONCERTINA_STORE_UNAVAILABLE"),
            (ffi::SQLITE_CORRUPT, "CONCERTINA_STORE_DAMAGED"),
            (ffi::SQLITE_IOERR_SHORT_READ, "CONCERTINA_STORE_DAMAGED"),
            (ffi::SQLITE_ERROR, "CONCERTINA_STORE_DAMAGED"),
            (ffi::SQLITE_NOTADB, "CONCERTINA_STORE_DAMAGED"),
        ] {
            let failure = Failure::from(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
            assert_eq!(failure.at(Path::new("x"), 0).code(), expected, "{code}");
        }
    }
}
