//! Removes what is no longer referred to. The server reuses the space.
//!
//! Candidates are searched while others write, however long that takes. They are then removed in steps of [`STEP_ROWS`]
//! rows. Each step is an exclusive transaction that checks its own rows again, so a sweep never blocks another machine
//! for long. Dependent rows (projections, printed texts) are removed by foreign key.

use std::sync::LazyLock;

use concertina_base::error::Result;
use concertina_store::row::to_signed;
use concertina_store::sums::{FORGETTABLE, sql_to_keep_sums, sql_to_keep_totals};
use concertina_store::{Millis, Removed, Scope, StoreOptions};
use tokio_postgres::Row;

use crate::connection::{Connection, call};
use crate::failure::Outcome;
use crate::pool::{Pool, WriteTransaction, WriterLock};
use crate::row::{at, count, first};
use crate::scope::session;
use crate::text::key;

/// The maximum number of rows removed in one transaction.
const STEP_ROWS: usize = 256;

/// The maximum number of candidates in one search.
const MAX_CANDIDATES: usize = 256 * STEP_ROWS;

/// Selects the number of bytes of all payloads.
pub(crate) const USAGE: &str = "SELECT coalesce(sum(bytes), 0)::bigint FROM usage";

/// Add sessions that are about to be forgotten to the totals.
static KEEP_TOTALS: LazyLock<String> = LazyLock::new(|| sql_to_keep_totals("session = ANY($1::bigint[])"));
static KEEP_SUMS: LazyLock<String> = LazyLock::new(|| sql_to_keep_sums("session = ANY($1::bigint[])"));

/// Selects the sessions to be forgotten, of all or of some.
static FORGETTABLE_SESSIONS: LazyLock<String> = LazyLock::new(|| {
    let forgettable = FORGETTABLE.replace('?', "$");
    format!("SELECT id FROM sessions WHERE ($2::bigint[] IS NULL OR id = ANY($2)) AND {forgettable} LIMIT $3")
});

const REMOVE_UNGRANTED: &str = "WITH gone AS (
      DELETE FROM originals WHERE id = ANY($1::bigint[])
        AND NOT EXISTS (SELECT 1 FROM grants WHERE original = originals.id) RETURNING octet_length(payload) AS bytes)
    INSERT INTO usage (originals, bytes) SELECT -count(*), -coalesce(sum(bytes), 0) FROM gone RETURNING -originals,
      -bytes";

/// Removes expired grants and originals without a grant, originals above the size limit that no session shows, and
/// sessions for which nothing is kept.
pub(crate) fn sweep(pool: &Pool, options: &StoreOptions, now: Millis) -> Result<Removed> {
    let expired = expire(pool, options, now)?;
    let evicted = evict(pool, options, now, options.max_bytes)?;
    let sessions = forget_sessions(pool, options, now)?;
    Ok(Removed { originals: expired.originals + evicted.originals, bytes: expired.bytes + evicted.bytes, sessions })
}

/// Searches candidates while others write, then removes them in exclusive steps. `find` receives the store's time and
/// returns at most [`MAX_CANDIDATES`] rows.
fn remove<T>(
    pool: &Pool,
    now: Millis,
    find: impl Fn(&mut Connection, Millis) -> Outcome<Vec<T>>,
    step: impl Fn(&mut WriteTransaction<'_>, &[T]) -> Outcome<Removed>,
) -> Result<Removed> {
    let caller_time = pool.caller_time(now);
    let mut removed = Removed::default();
    loop {
        let found = pool.with(|connection| {
            let (_, now) = pool.query_identity(connection, caller_time)?;
            find(connection, now)
        })?;
        for rows in found.chunks(STEP_ROWS) {
            let Removed { originals, bytes, sessions } =
                pool.write(WriterLock::Exclusive, now, |transaction| step(transaction, rows))?;
            removed.originals += originals;
            removed.bytes += bytes;
            removed.sessions += sessions;
        }
        if found.len() < MAX_CANDIDATES {
            return Ok(removed);
        }
    }
}

/// Removes expired grants, and the originals that have no grant left.
fn expire(pool: &Pool, options: &StoreOptions, now: Millis) -> Result<Removed> {
    const EXPIRED: &str = "SELECT session, original FROM access WHERE referred_at < $1 LIMIT $2";
    const EXPIRE: &str = "DELETE FROM grants USING unnest($1::bigint[], $2::bigint[]) AS given (session, original)
           JOIN access USING (session, original)
         WHERE grants.session = given.session AND grants.original = given.original AND referred_at < $3
         RETURNING grants.original";
    let find = |connection: &mut Connection, now| {
        let (before, limit) = (options.expired_before(now), MAX_CANDIDATES as i64);
        let rows = connection.read_with_scans(vec![call!(EXPIRED, before, limit)])?.remove(0);
        rows.iter().map(|row| Ok((at(row, 0)?, at(row, 1)?))).collect()
    };
    remove(pool, now, find, |transaction, grants: &[(i64, i64)]| {
        let before = options.expired_before(transaction.now);
        let (sessions, originals): (Vec<i64>, Vec<i64>) = grants.iter().copied().unzip();
        let expired = ids(&transaction.run(&[call!(EXPIRE, sessions, originals, before)])?[0])?;
        remove_ungranted(transaction, &expired)
    })
}

/// Removes originals that no live session shows until at most `target` bytes are stored: first those of ended sessions,
/// then those that were least recently referred to. Skips the grants of held sessions that have not ended, because
/// those keep everything.
pub(crate) fn evict(pool: &Pool, options: &StoreOptions, now: Millis, target: u64) -> Result<Removed> {
    const EVICTABLE: &str = "WITH idle AS (
          SELECT original, bool_and(ended) AS ended, max(referred_at) AS referred_at FROM access
          WHERE original IN (SELECT original FROM sessions JOIN access ON access.session = sessions.id
            WHERE (NOT held OR ended_at IS NOT NULL) AND NOT (live AND referred_at >= $1))
          GROUP BY original HAVING NOT bool_or(live AND referred_at >= $1)),
        sized AS (
          SELECT original, sum(octet_length(payload)) OVER earlier AS bytes_before, row_number() OVER earlier AS
            position
          FROM idle JOIN originals ON originals.id = idle.original
          WINDOW earlier AS (ORDER BY ended DESC, referred_at, original ROWS BETWEEN UNBOUNDED PRECEDING AND 1
            PRECEDING))
        SELECT original FROM sized WHERE coalesce(bytes_before, 0) < $2 ORDER BY position LIMIT $3";
    const EVICT: &str = "WITH gone AS (
          DELETE FROM originals WHERE id = ANY($1::bigint[])
            AND NOT EXISTS (SELECT 1 FROM access WHERE original = originals.id AND live AND referred_at >= $2)
          RETURNING octet_length(payload) AS bytes)
        INSERT INTO usage (originals, bytes) SELECT -count(*), -coalesce(sum(bytes), 0) FROM gone RETURNING
          -originals, -bytes";
    let find = |connection: &mut Connection, now| {
        let excess = to_signed(used_bytes(&connection.run(&[call!(USAGE)])?[0])?.saturating_sub(target));
        if excess == 0 {
            return Ok(Vec::new());
        }
        let (before, limit) = (options.expired_before(now), MAX_CANDIDATES as i64);
        ids(&connection.read_with_scans(vec![call!(EVICTABLE, before, excess, limit)])?[0])
    };
    remove(pool, now, find, |transaction, originals: &[i64]| {
        // Another machine may have removed enough in the meantime.
        if used_bytes(&transaction.run(&[call!(USAGE)])?[0])? <= target {
            return Ok(Removed::default());
        }
        let before = options.expired_before(transaction.now);
        removed(&transaction.run(&[call!(EVICT, originals, before)])?[0])
    })
}

/// Removes sessions for which nothing is kept and that were last seen before the retention period. Their totals are
/// kept. Sessions in which folding is switched off are kept. Also sums up the list of size changes.
fn forget_sessions(pool: &Pool, options: &StoreOptions, now: Millis) -> Result<u64> {
    const FORGET: &str = "DELETE FROM sessions WHERE id = ANY($1::bigint[])";
    const COMPACT_USAGE: &str = "WITH gone AS (DELETE FROM usage RETURNING originals, bytes)
         INSERT INTO usage (originals, bytes) SELECT sum(originals), sum(bytes) FROM gone HAVING count(*) > 0";
    let find = |connection: &mut Connection, now| {
        let (since, all, limit) = (options.expired_before(now), None::<Vec<i64>>, MAX_CANDIDATES as i64);
        ids(&connection.read_with_scans(vec![call!(FORGETTABLE_SESSIONS.as_str(), since, all, limit)])?[0])
    };
    let forgotten = remove(pool, now, find, |transaction, sessions: &[i64]| {
        let (since, limit) = (options.expired_before(transaction.now), STEP_ROWS as i64);
        let forgettable = ids(&transaction.run(&[call!(FORGETTABLE_SESSIONS.as_str(), since, sessions, limit)])?[0])?;
        transaction.run(&[
            call!(KEEP_TOTALS.as_str(), forgettable),
            call!(KEEP_SUMS.as_str(), forgettable),
            call!(FORGET, forgettable),
        ])?;
        Ok(Removed { sessions: forgettable.len() as u64, ..Removed::default() })
    })?;
    pool.write(WriterLock::Shared, now, |transaction| transaction.run(&[call!(COMPACT_USAGE)]).map(drop))?;
    Ok(forgotten.sessions)
}

/// Removes a session with everything that belongs to it.
pub(crate) fn purge(transaction: &mut WriteTransaction<'_>, scope: &Scope) -> Outcome<Removed> {
    const GRANTS: &str = concat!("DELETE FROM grants WHERE session = ", session!(), " RETURNING original");
    const SESSION: &str = "DELETE FROM sessions WHERE session = $1 AND agent = $2 RETURNING 1";
    let (session, agent) = (key(&scope.session_id), key(&scope.agent_id));
    let granted = ids(&transaction.run(&[call!(GRANTS, session, agent)])?[0])?;
    let removed = remove_ungranted(transaction, &granted)?;
    let sessions = transaction.run(&[call!(SESSION, session, agent)])?[0].len() as u64;
    Ok(Removed { sessions, ..removed })
}

/// Removes those of `originals` that no session may see.
fn remove_ungranted(transaction: &mut WriteTransaction<'_>, originals: &[i64]) -> Outcome<Removed> {
    if originals.is_empty() {
        return Ok(Removed::default());
    }
    removed(&transaction.run(&[call!(REMOVE_UNGRANTED, originals)])?[0])
}

fn removed(rows: &[Row]) -> Outcome<Removed> {
    let Some(row) = rows.first() else { return Ok(Removed::default()) };
    Ok(Removed { originals: count(row, 0)?, bytes: count(row, 1)?, sessions: 0 })
}

/// Reads the row of [`USAGE`].
pub(crate) fn used_bytes(rows: &[Row]) -> Outcome<u64> {
    let used_bytes: Option<i64> = first(rows)?;
    Ok(u64::try_from(used_bytes.unwrap_or(0)).unwrap_or(0))
}

/// Reads the ids of some rows.
fn ids(rows: &[Row]) -> Outcome<Vec<i64>> {
    rows.iter().map(|row| at(row, 0)).collect()
}
