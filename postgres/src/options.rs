//! Options of a store in PostgreSQL.

use std::path::PathBuf;
use std::time::Duration;

use concertina_store::{Millis, StoreOptions};

/// The clock that decides ages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Clock {
    /// The clock of the database. The clocks of several machines differ, and one that is fast must not make the others'
    /// originals expire.
    #[default]
    Database,
    /// The time that the caller passes with each call.
    Caller,
}

impl Clock {
    /// Returns the argument of SQL's `moment`. This is the only place where the caller's time is replaced.
    pub(crate) fn caller_time(self, now: Millis) -> Option<Millis> {
        match self {
            Self::Database => None,
            Self::Caller => Some(now),
        }
    }
}

/// Options of a store in PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresOptions {
    /// Retention and limits. `max_bytes` limits the packed originals of the namespace; concurrent commits may together
    /// exceed it by their size. `busy_timeout_ms` is how long a statement waits for a lock. For originals in memory
    /// (`max_entries`) the server is still asked if they are granted and unexpired.
    pub store: StoreOptions,
    /// The maximum number of open connections.
    pub pool_size: u32,
    /// The time to wait for a connection from the pool or to the server.
    pub connect_timeout: Duration,
    /// The time limit of a statement. A server that is silent for one second longer counts as unreachable.
    pub statement_timeout: Duration,
    /// A file with certificates (PEM) that are trusted in addition to the system's. Certificates are checked whenever
    /// TLS is used.
    pub root_certificates: Option<PathBuf>,
    /// The clock that decides ages.
    pub clock: Clock,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            store: StoreOptions::default(),
            pool_size: 8,
            connect_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(30),
            root_certificates: None,
            clock: Clock::default(),
        }
    }
}
