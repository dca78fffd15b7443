//! The store: each method of the trait, and the transaction that implements it.

use std::collections::BTreeSet;

use concertina_base::error::Result;
use concertina_base::reference::{ContentHash, Original, RefId};
use concertina_store::cache::ReadCache;
use concertina_store::figures::{Figures, FiguresQuery, KnownSession, Recent, Turn};
use concertina_store::hosts::{HostChanges, REPORTED_MS};
use concertina_store::tables::RowSink;
use concertina_store::{
    Batch, Ledger, Millis, Probes, Projection, Removed, Scope, Searched, Signature, Stats, Store, StoreOptions,
    TurnStatus,
};

use crate::commit::Sent;
use crate::connection::call;
use crate::failure::Failure;
use crate::options::PostgresOptions;
use crate::pool::{IDENTITY_QUERY, Pool, WriterLock};
use crate::queries::{QUERIES, read, read_with_scans};
use crate::read::HashPrefix;
use crate::row::{first, store_rows};
use crate::server::Server;
use crate::session::{self, HAS_REPORTED, HELD_SESSIONS_QUERY, IS_OFF};
use crate::text::key;
use crate::{commit, export, inherit, read as reading, search, sweep};

/// A [`Store`] in a PostgreSQL database. Any number of them can be open on one namespace, on any machine, each with its
/// own options.
///
/// Its methods block, and panic on a thread that drives an asynchronous runtime, as blocking calls of a runtime do.
pub struct PostgresStore {
    options: StoreOptions,
    pool: Pool,
    cache: ReadCache<HashPrefix>,
    sent: Sent,
}

impl PostgresStore {
    /// Opens the namespace of a database, and creates missing tables.
    ///
    /// `url` is `postgresql://user:password@host:port/database`, or `host=... dbname=...`. Certificates and host names
    /// are checked when TLS is used; `sslmode=require` insists on it, `verify-ca` and `verify-full` are the same, and
    /// `sslmode=disable` does without. `sslrootcert=FILE` trusts the certificates of that file (PEM) instead of the
    /// system's. Of several hosts (`one:5432,two:5432`) the first writable one is used.
    ///
    /// # Errors
    /// [`concertina_base::error::Error::BadArgument`] if the address or the namespace is invalid;
    /// [`concertina_base::error::Error::StoreUnavailable`] if the server is unreachable or refuses, or certificates
    /// cannot be read; [`concertina_base::error::Error::StoreDamaged`] if the schema belongs to another program, and
    /// [`concertina_base::error::Error::StoreNewer`] if it comes from a newer version (it is not changed).
    pub fn open(url: &str, namespace: &str, options: PostgresOptions) -> Result<Self> {
        let server = Server::new(url, namespace, &options)?;
        let pool = Pool::open(server, &options)?;
        let cache = ReadCache::new(options.store.max_entries);
        Ok(Self { options: options.store, pool, cache, sent: commit::sent() })
    }

    /// Returns the name of the server and the database as it appears in errors: `host:port/database`.
    pub fn server(&self) -> &str {
        &self.pool.server.name
    }

    /// Clears the cache if anything was removed.
    fn forget(&self, removed: Removed) -> Removed {
        if removed != Removed::default() {
            self.cache.clear();
        }
        removed
    }
}

impl Store for PostgresStore {
    fn ref_ids(&self, hashes: &[ContentHash]) -> Result<Vec<RefId>> {
        self.pool.with(|connection| reading::ref_ids(connection, hashes))
    }

    fn commit(&self, scope: &Scope, batch: &Batch, now: Millis) -> Result<Vec<Projection>> {
        commit::commit(&self.pool, &self.options, &self.sent, (scope, batch), now)
    }

    fn get(&self, id: &RefId, agent_id: &str, now: Millis) -> Result<Option<(RefId, Original)>> {
        Ok(self.get_all(std::slice::from_ref(id), agent_id, now)?.pop().flatten())
    }

    fn get_all(&self, ids: &[RefId], agent_id: &str, now: Millis) -> Result<Vec<Option<(RefId, Original)>>> {
        // An empty request needs no server.
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.cache.keep_only(self.pool.generation());
        self.pool
            .with(|connection| reading::get(&self.pool, connection, &self.cache, &self.options, (ids, agent_id), now))
    }

    fn search(&self, scope: &Scope, probes: &Probes, now: Millis) -> Result<Searched> {
        self.pool.with(|connection| search::search(&self.pool, connection, &self.options, (scope, probes), now))
    }

    fn sign(&self, scope: &Scope, signatures: &[(ContentHash, Signature)]) -> Result<()> {
        self.pool.write(WriterLock::Shared, 0, |transaction| search::sign(transaction, scope, signatures))
    }

    fn ledger(&self, scope: &Scope) -> Result<Ledger> {
        self.pool.with(|connection| reading::ledger(&self.pool, connection, &self.cache, scope))
    }

    fn commit_turn(&self, scope: &Scope, turn: &Turn, now: Millis) -> Result<TurnStatus> {
        self.pool.write(WriterLock::Shared, now, |transaction| session::write_turn(transaction, scope, turn))
    }

    fn recent(&self, scope: &Scope, since: Millis) -> Result<Recent> {
        self.pool.with(|connection| QUERIES.recent(scope, since, |queries| read(connection, queries)))
    }

    fn figures(&self, query: &FiguresQuery) -> Result<Figures> {
        let of_store = || (self.options.max_bytes, self.location());
        self.pool.with(|connection| QUERIES.figures(query, of_store(), |queries| read_with_scans(connection, queries)))
    }

    fn sessions(&self) -> Result<Vec<KnownSession>> {
        let host = self.pool.host.as_deref().unwrap_or_default();
        self.pool.with(|connection| QUERIES.sessions(host, |queries| read_with_scans(connection, queries)))
    }

    fn switch(&self, scope: &Scope, is_off: bool, now: Millis) -> Result<()> {
        self.pool.write(WriterLock::Shared, now, |transaction| session::switch(transaction, scope, is_off))
    }

    fn is_off(&self, scope: &Scope) -> Result<bool> {
        let (session, agent) = (key(&scope.session_id), key(&scope.agent_id));
        self.pool.with(|connection| Ok(!connection.run(&[call!(IS_OFF, session, agent)])?[0].is_empty()))
    }

    fn inherit(&self, parent: &Scope, child: &Scope, named: Option<&[RefId]>, now: Millis) -> Result<()> {
        if parent == child {
            return Ok(());
        }
        self.pool.write(WriterLock::Shared, now, |transaction| {
            let expired_before = self.options.expired_before(transaction.now);
            inherit::inherit(transaction, parent, child, named, expired_before)
        })
    }

    fn end_session(&self, scope: &Scope, now: Millis) -> Result<()> {
        self.pool.write(WriterLock::Shared, now, |transaction| session::end(transaction, scope))
    }

    fn settle(&self, alive: &BTreeSet<String>, now: Millis) -> Result<u64> {
        let has_changes = self.pool.with(|connection| {
            let (caller_time, host) = (self.pool.caller_time(now), self.pool.host.as_deref().unwrap_or_default());
            let answers = connection.read(vec![
                call!(IDENTITY_QUERY, caller_time),
                call!(HELD_SESSIONS_QUERY.as_str(), host),
                call!(HAS_REPORTED, host, caller_time, REPORTED_MS),
            ])?;
            let (_, now) = self.pool.read_identity(connection, &answers[0])?;
            let has_reported = first(&answers[2])?.unwrap_or(false);
            Ok(!has_reported || !HostChanges::read(&store_rows(&answers[1])?, alive, now)?.is_empty())
        })?;
        if !has_changes {
            return Ok(0);
        }
        self.pool.write(WriterLock::Shared, now, |transaction| session::settle(transaction, alive))
    }

    fn stats(&self, session: Option<&Scope>) -> Result<Stats> {
        self.pool.with(|connection| QUERIES.stats(session, |queries| read_with_scans(connection, queries)))
    }

    fn sweep(&self, now: Millis) -> Result<Removed> {
        Ok(self.forget(sweep::sweep(&self.pool, &self.options, now)?))
    }

    fn purge(&self, scope: &Scope) -> Result<Removed> {
        Ok(self.forget(self.pool.write(WriterLock::Exclusive, 0, |transaction| sweep::purge(transaction, scope))?))
    }

    fn purgeable(&self, scope: &Scope) -> Result<Removed> {
        self.pool.with(|connection| QUERIES.purgeable(scope, |queries| read_with_scans(connection, queries)))
    }

    fn export(&self, take: &mut RowSink<'_>) -> Result<()> {
        let mut has_begun = false;
        self.pool.write(WriterLock::Exclusive, 0, |transaction| {
            // The export cannot be retried: the sink has received rows already.
            if std::mem::replace(&mut has_begun, true) {
                return Err(Failure::Unreachable("the connection was lost while everything was read".to_owned()));
            }
            export::export(transaction, take)
        })
    }

    fn import(&self, fill: &mut dyn FnMut(&mut RowSink<'_>) -> Result<()>) -> Result<()> {
        let to_error = |failure| self.pool.to_error(failure);
        self.pool.write(WriterLock::Exclusive, 0, |transaction| export::import(transaction, &to_error, fill))
    }

    fn location(&self) -> String {
        format!("{}/{}", self.server(), self.pool.server.namespace)
    }

    fn notices(&self) -> Vec<String> {
        let is_replaced = self.pool.take_replaced_count() > 0;
        let words = "was replaced, restored or moved to another server while it was in use";
        let replaced = || format!("the database at {} {words}", self.server());
        is_replaced.then(replaced).into_iter().collect()
    }
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStore")
            .field("server", &self.server())
            .field("namespace", &self.pool.server.namespace)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
