//! How a store uses its server.

use std::path::PathBuf;
use std::time::Duration;

use concertina_store::{Millis, StoreOptions};

/// Whose time decides ages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Clock {
    /// The database's: the clocks of several machines differ, and one that is ahead must not let the others' originals
    /// expire.
    #[default]
    Database,
    /// The caller's, as it is given with each call.
    Caller,
}

impl Clock {
    /// What SQL's `moment` is told of the time: the one place where the caller's is replaced.
    pub(crate) fn told(self, now: Millis) -> Option<Millis> {
        match self {
            Self::Database => None,
            Self::Caller => Some(now),
        }
    }
}

/// How a store uses its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresOptions {
    /// How long and how much it keeps. `max_bytes` limits the packed originals of the namespace; commits under way at
    /// one moment may together exceed it by what they hold. `busy_timeout_ms` is how long a statement waits for a lock.
    /// Of what is in memory (`max_entries`) the server is still asked who may see it, and whether it expired.
    pub store: StoreOptions,
    /// How many connections are open at most.
    pub pool_size: u32,
    /// How long to wait for a connection, in the pool or to the server.
    pub connect_timeout: Duration,
    /// How long a statement may take. A server that says nothing for a second longer counts as away.
    pub statement_timeout: Duration,
    /// A file with further certificates to trust (PEM), beside the system's. Certificates are checked whenever TLS is
    /// used.
    pub root_certificates: Option<PathBuf>,
    /// Whose time decides ages.
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
