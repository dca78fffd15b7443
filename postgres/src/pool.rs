//! The connection pool: runs work on a connection, makes transactions, and replaces lost connections.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use concertina_base::error::{Error, Result};
use concertina_base::reference::ContentHash;
use concertina_store::Millis;
use tokio_postgres::Row;

use crate::connection::{ALLOW_TABLE_SCANS, Backend, Call, Connection, call};
use crate::failure::{Failure, Outcome};
use crate::options::{Clock, PostgresOptions};
use crate::row::{at, first};
use crate::schema;
use crate::server::Server;
use crate::slots::{IdleConnection, Slot, Slots};
use crate::text::escaped;
use crate::version::NEWEST;

/// The maximum number of retries of a transaction that conflicted with another one.
const MAX_CONFLICTS: u32 = 10;

/// The pause between attempts to connect to a server that had no free connection.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// The pause before a retry of a conflicting transaction, for each conflict so far. Chosen by judgement.
const CONFLICT_PAUSE: Duration = Duration::from_millis(3);

/// The number of times that the status of an unanswered COMMIT is queried, and the pause between two queries. Chosen by
/// judgement.
const COMMIT_STATUS_QUERIES: u32 = 50;
const COMMIT_STATUS_PAUSE: Duration = Duration::from_millis(20);

/// The mode of the advisory lock that a writing transaction takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriterLock {
    /// Other writers may add rows at the same time.
    Shared,
    /// No other writer may work at the same time, because it could refer to a row that is about to be removed.
    Exclusive,
}

/// A pool of connections to one server.
pub(crate) struct Pool {
    pub(crate) server: Server,
    slots: Slots,
    clock: Clock,
    /// The host that holds the sessions that are written to, if there is one.
    pub(crate) host: Option<String>,
    busy_timeout_ms: u64,
    /// The last seen generation and the identity of its database ([`IDENTITY_QUERY`]). The generation is 0 before the
    /// first connection.
    last_identity: Mutex<(u64, String)>,
    replaced: AtomicU64,
    /// The number of connections that did not answer in time. The same cause may have cut off the idle connections too.
    silent: AtomicU64,
    /// The server processes of abandoned connections. They may still be running and hold locks.
    abandoned: Mutex<Vec<Backend>>,
}

/// A transaction that writes.
pub(crate) struct WriteTransaction<'a> {
    pub(crate) connection: &'a mut Connection,
    pub(crate) now: Millis,
    pub(crate) host: Option<&'a str>,
}

impl WriteTransaction<'_> {
    pub(crate) fn run(&mut self, calls: &[Call<'_>]) -> Outcome<Vec<Vec<Row>>> {
        self.connection.run(calls)
    }
}

const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
macro_rules! shared {
    ($namespace:literal) => {
        concat!("pg_advisory_xact_lock_shared(1129202516, ", $namespace, "::text::regnamespace::oid::bigint::integer)")
    };
}
const LOCK_SHARED: &str = concat!("SELECT ", shared!("$1"));
const LOCK_EXCLUSIVE: &str = "SELECT pg_advisory_xact_lock(1129202516, $1::text::regnamespace::oid::bigint::integer)";
macro_rules! identity {
    () => {
        "(identity::text || ' ' || CASE WHEN pg_is_in_recovery() THEN '' ELSE
          substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END
          || ' ' || current_schema()::text::regnamespace::oid)"
    };
}
/// Selects the identity of the database (the store, its timeline and its schema), the time, and the oldest version that
/// may work on the store.
///
/// A promoted replica counts as another database, like a restored one: nothing that an ordinary role may read tells if
/// the new timeline began before or after what a caller has seen. So a batch from before is refused once and made again
/// from a new ledger. With a synchronous standby that ledger is the same. Nothing that a turn shows then depends on
/// lost rows.
pub(crate) const IDENTITY_QUERY: &str = concat!("SELECT ", identity!(), ", moment($1::bigint), oldest FROM store");
/// Same as [`IDENTITY_QUERY`], for a transaction that other writers may join. Refuses a database whose identity is not
/// `$2` (unless that is NULL), and a program whose newest version `$3` is too old for the schema.
const OPENING_CHECKS: &str = concat!(
    "SELECT ",
    identity!(),
    ", moment($1::bigint), oldest, CASE WHEN oldest > $3::integer THEN refuse('too old', oldest::text) WHEN $2 <> ",
    identity!(),
    " THEN refuse('replaced', '') END, ",
    shared!("$4"),
    " FROM store"
);
const TRANSACTION: &str = "SELECT pg_current_xact_id()::text";
const STATUS: &str = "SELECT pg_xact_status($1::text::xid8)";
/// Returns when everything that was committed before is as durable as this commit, on standbys too.
const FLUSH: &str = "SELECT pg_logical_emit_message(true, 'concertina', '')";
const TERMINATE_BACKEND: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid = $1::text::integer AND extract(epoch FROM backend_start) = $2::text::numeric";

impl Pool {
    pub(crate) fn open(server: Server, options: &PostgresOptions) -> Result<Self> {
        let PostgresOptions { store, pool_size: size, clock, .. } = options;
        let host = store.holder().map(|host| escaped(host).into_owned());
        let slots = Slots::new((*size).max(1) as usize);
        let busy_timeout_ms = store.busy_timeout_ms;
        let [replaced, silent] = [0; 2].map(AtomicU64::new);
        let (last_identity, abandoned) = (Mutex::default(), Mutex::default());
        let pool =
            Self { server, slots, clock: *clock, host, busy_timeout_ms, last_identity, replaced, silent, abandoned };
        pool.with(|_| Ok(()))?;
        Ok(pool)
    }

    /// Returns the generation of the database that was last seen. It changes when the database is replaced.
    pub(crate) fn generation(&self) -> u64 {
        self.last_identity.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    /// Returns how often the database was found replaced since the last call.
    pub(crate) fn take_replaced_count(&self) -> u64 {
        self.replaced.swap(0, Ordering::Relaxed)
    }

    fn connect(&self) -> Outcome<Connection> {
        let mut connection = Connection::open(&self.server)?;
        schema::prepare(&mut connection, &self.server.namespace)?;
        let abandoned = std::mem::take(&mut *self.abandoned.lock().unwrap_or_else(PoisonError::into_inner));
        for Backend { process: [process, began], .. } in &abandoned {
            connection.run(&[call!(TERMINATE_BACKEND, process, began)])?;
        }
        Ok(connection)
    }

    /// Connects. If the server has no free connection, waits for one, or for a connection of another slot.
    fn connect_with_retry(&self, slot: &Slot<'_>) -> Outcome<Connection> {
        let (began, time_limit) = (Instant::now(), self.server.connect_timeout);
        loop {
            let failure = match self.connect() {
                Err(failure) if failure.is_transient() => failure,
                connected => return connected,
            };
            let left = time_limit.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Err(Failure::Unreachable(format!("{failure}; waited {} ms", time_limit.as_millis())));
            }
            let borrowed = slot.borrow(left.min(RETRY_INTERVAL));
            if let Some((_, connection)) = borrowed.filter(|known| self.is_reusable(known)) {
                return Ok(connection);
            }
        }
    }

    /// Returns true if an idle connection can be used again.
    fn is_reusable(&self, (before, connection): &IdleConnection) -> bool {
        *before == self.silent.load(Ordering::Relaxed) && connection.is_usable()
    }

    /// Records an abandoned connection, whose server process is terminated at the next connect.
    fn abandon(&self, connection: &Connection) {
        if connection.is_silent() {
            self.silent.fetch_add(1, Ordering::Relaxed);
        }
        self.abandoned.lock().unwrap_or_else(PoisonError::into_inner).push(connection.backend.clone());
    }

    /// Reads a row of [`IDENTITY_QUERY`]. Returns the generation of the database and the time.
    pub(crate) fn read_identity(&self, connection: &Connection, rows: &[Row]) -> Outcome<(u64, Millis)> {
        let row = rows.first().ok_or_else(|| Failure::Damaged("the table store is empty".to_owned()))?;
        let identity: String = at(row, 0)?;
        let generation = generation_of(connection, &identity);
        let last_identity = &mut *self.last_identity.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, _) = std::mem::replace(last_identity, (generation, identity));
        if before != 0 && before != generation {
            self.replaced.fetch_add(1, Ordering::Relaxed);
        }
        schema::check_oldest(at(row, 2)?)?;
        Ok((generation, at(row, 1)?))
    }

    /// Queries the generation of the database and the time.
    pub(crate) fn query_identity(
        &self,
        connection: &mut Connection,
        caller_time: Option<Millis>,
    ) -> Outcome<(u64, Millis)> {
        let rows = connection.run(&[call!(IDENTITY_QUERY, caller_time)])?.remove(0);
        self.read_identity(connection, &rows)
    }

    /// Returns the argument of SQL's `moment`: see [`Clock`].
    pub(crate) fn caller_time(&self, now: Millis) -> Option<Millis> {
        self.clock.caller_time(now)
    }

    /// Returns true if the database's clock decides.
    pub(crate) fn has_own_clock(&self) -> bool {
        self.clock == Clock::Database
    }

    /// Converts a failure into an error that names the server.
    pub(crate) fn to_error(&self, failure: Failure) -> Error {
        failure.at(&self.server.name, self.busy_timeout_ms)
    }

    /// Runs `work` on a connection. `work` must leave no transaction open unless it fails. It is called again from the
    /// start if its connection was lost (once, on a new connection) and if it conflicted with others.
    pub(crate) fn with<T>(&self, mut work: impl FnMut(&mut Connection) -> Outcome<T>) -> Result<T> {
        let to_error = |failure| self.to_error(failure);
        let busy = || Failure::Unreachable(format!("all {} connections of the pool are in use", self.slots.size));
        let mut slot = self.slots.take(self.server.connect_timeout).ok_or_else(busy).map_err(to_error)?;
        let (mut conflicts, mut is_reconnected) = (0, false);
        loop {
            let silent = self.silent.load(Ordering::Relaxed);
            // The connection is taken out of the slot, so that a panic closes it and rolls back what it began.
            let mut connection = match slot.connection.take().filter(|known| self.is_reusable(known)) {
                Some((_, connection)) => connection,
                None => self.connect_with_retry(&slot).map_err(to_error)?,
            };
            let failure = match work(&mut connection) {
                Ok(done) => {
                    slot.connection = Some((silent, connection));
                    return Ok(done);
                }
                Err(failure) => failure,
            };
            if failure.is_lost() || !connection.is_usable() {
                self.abandon(&connection);
            }
            if failure.is_stale() && !is_reconnected {
                is_reconnected = true;
                continue;
            }
            if connection.is_usable() && !failure.is_stale() && connection.batch("ROLLBACK").is_ok() {
                slot.connection = Some((silent, connection));
            }
            if !failure.is_conflict() || conflicts == MAX_CONFLICTS {
                return Err(to_error(failure));
            }
            conflicts += 1;
            thread::sleep(CONFLICT_PAUSE * conflicts);
        }
    }

    /// Runs `work` in one transaction, which is durable when this returns `Ok` and rolled back otherwise. Exception: if
    /// the connection is lost during COMMIT and no other can be opened, the outcome is unknown and the caller must
    /// repeat the call. That is safe: originals are identified by their hash; of projections, printed texts and turns
    /// the first row stays, which then is the caller's own; and a batch that decides nothing writes no receipts.
    pub(crate) fn write<T>(
        &self,
        lock_mode: WriterLock,
        now: Millis,
        mut work: impl FnMut(&mut WriteTransaction<'_>) -> Outcome<T>,
    ) -> Result<T> {
        let caller_time = self.caller_time(now);
        let lock = if lock_mode == WriterLock::Shared { LOCK_SHARED } else { LOCK_EXCLUSIVE };
        let mut unknown: Option<(String, Backend, T)> = None;
        self.with(|connection| {
            if let Some((transaction, backend, done)) = unknown.take()
                && backend.start == connection.backend.start
                && is_committed(connection, &transaction)?
            {
                return Ok(done);
            }
            let mut pipeline = vec![
                call!(BEGIN),
                call!(lock, self.server.namespace),
                call!(IDENTITY_QUERY, caller_time),
                call!(TRANSACTION),
            ];
            if lock_mode == WriterLock::Exclusive {
                pipeline.push(call!(ALLOW_TABLE_SCANS));
            }
            let answers = connection.run(&pipeline)?;
            let (_, now) = self.read_identity(connection, &answers[2])?;
            let transaction: Option<String> = first(&answers[3])?;
            let done = work(&mut WriteTransaction { connection, now, host: self.host.as_deref() })?;
            match connection.commit(Vec::new()) {
                Err(failure) if failure.is_lost() => {
                    unknown = transaction.map(|transaction| (transaction, connection.backend.clone(), done));
                    Err(failure)
                }
                committed => committed.map(|_| done),
            }
        })
    }

    /// Runs a transaction in one round trip, on the database of `generation`, or on any database if that is 0. A
    /// statement whose check fails refuses the whole transaction ([`crate::refusal`]). If its outcome is unknown
    /// ([`Failure::CommitUnknown`]), the caller must send again what can be sent again.
    pub(crate) fn write_at_once(
        &self,
        connection: &mut Connection,
        now: Millis,
        generation: u64,
        calls: Vec<Call<'_>>,
    ) -> Outcome<Vec<Vec<Row>>> {
        let (caller_time, same) = (self.caller_time(now), self.identity(connection, generation)?);
        let mut pipeline = vec![call!(BEGIN), call!(OPENING_CHECKS, caller_time, same, NEWEST, self.server.namespace)];
        pipeline.extend(calls);
        match connection.commit(pipeline) {
            Ok(mut answers) => {
                self.read_identity(connection, &answers[1])?;
                Ok(answers.split_off(2))
            }
            Err(Failure::Replaced) => self.query_identity(connection, caller_time).and(Err(Failure::Replaced)),
            Err(failure) => Err(failure),
        }
    }

    /// Returns the identity of the database of a generation, or `None` if that is 0.
    fn identity(&self, connection: &mut Connection, generation: u64) -> Outcome<Option<String>> {
        if generation == 0 {
            return Ok(None);
        }
        let last_identity = || self.last_identity.lock().unwrap_or_else(PoisonError::into_inner).1.clone();
        if generation_of(connection, &last_identity()) != generation
            && self.query_identity(connection, None)?.0 != generation
        {
            return Err(Failure::Replaced);
        }
        Ok(Some(last_identity()))
    }
}

/// Returns the generation of a database: a hash of 53 bits, so that it fits a JavaScript number, and never 0.
fn generation_of(connection: &Connection, identity: &str) -> u64 {
    let hash = ContentHash::of(format!("{} {identity}", connection.backend.database).as_bytes());
    (u64::from_be_bytes(*hash.0.first_chunk().expect("a hash has 32 bytes")) >> 11) | 1
}

/// Returns true if a transaction whose COMMIT was not answered is committed and durable. The connection must be to the
/// same start of the server.
fn is_committed(connection: &mut Connection, transaction: &str) -> Outcome<bool> {
    for _ in 0..COMMIT_STATUS_QUERIES {
        let status: Option<Option<String>> = first(&connection.run(&[call!(STATUS, transaction)])?[0])?;
        match status.flatten().as_deref() {
            // A server that shuts down while it waits for a standby has committed data that the standby does not have
            // yet.
            Some("committed") => return connection.run(&[call!(FLUSH)]).map(|_| true),
            Some("in progress") => thread::sleep(COMMIT_STATUS_PAUSE),
            _ => return Ok(false),
        }
    }
    Err(Failure::Unreachable("a transaction whose COMMIT was not answered is still in progress".to_owned()))
}
