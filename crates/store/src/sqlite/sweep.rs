//! Removes what nobody refers to any more, and returns the space to the system.
//!
//! Removable rows are found by a read, at most [`MAX_CANDIDATES`] rows at once. Then they are removed by key in steps
//! of [`STEP_ROWS`] rows. Each step is a transaction of its own and checks only its own rows again. Between steps,
//! other processes may use the file, so a sweep never blocks a writer for long. Dependent rows (projections, printed
//! texts) are removed by foreign key.

use std::sync::LazyLock;

use rusqlite::{Connection, Transaction};

use super::failure::Outcome;
use super::pages::used_bytes;
use super::row::{all, execute};
use super::session::find_session;
use crate::options::StoreOptions;
use crate::records::{Removed, Scope};
use crate::sums::{FORGETTABLE, sql_to_keep_sums, sql_to_keep_totals};
use crate::time::Millis;

/// The number of rows removed in one transaction.
pub(super) const STEP_ROWS: usize = 256;

/// The number of rows found at once.
pub(super) const MAX_CANDIDATES: i64 = 256 * STEP_ROWS as i64;

/// The result of a step: the number of rows removed, and true if there may be more.
pub(super) type Step = (u64, bool);

/// Selects expired grants, in their order in the file.
pub(super) const EXPIRED: &str =
    "SELECT session, original FROM access WHERE referred_at < ?1 ORDER BY session, original LIMIT ?2";

/// Selects what may be removed above the limit. Skips grants of held sessions that have not ended, because these keep
/// everything. This keeps the query fast if everything stored is still shown: then each commit at the limit runs it and
/// finds nothing.
pub(super) const EVICTABLE: &str = "SELECT original FROM access WHERE original IN (
    SELECT original FROM sessions CROSS JOIN access ON access.session = sessions.id
    WHERE (NOT held OR ended_at IS NOT NULL) AND NOT (live AND referred_at >= ?1))
  GROUP BY original HAVING max(live AND referred_at >= ?1) = 0 ORDER BY min(ended) DESC, max(referred_at), original
    LIMIT ?2";

/// The statements that add a session to the totals.
static KEEP_SUMS: LazyLock<[String; 2]> =
    LazyLock::new(|| [sql_to_keep_totals, sql_to_keep_sums].map(|sql| sql("session = ?1")));

/// Returns expired grants, at most [`MAX_CANDIDATES`].
pub(super) fn find_expired(connection: &Connection, options: &StoreOptions, now: Millis) -> Outcome<Vec<(i64, i64)>> {
    all(connection, EXPIRED, (options.expired_before(now), MAX_CANDIDATES), |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Removes those of some grants that are still expired, and the originals that no other session may see. Returns the
/// number of originals.
pub(super) fn expire(
    transaction: &Transaction<'_>,
    options: &StoreOptions,
    now: Millis,
    grants: &[(i64, i64)],
) -> Outcome<Step> {
    let mut delete = transaction.prepare_cached(
        "DELETE FROM grants WHERE session = ?1 AND original = ?2
           AND EXISTS (SELECT 1 FROM access WHERE session = ?1 AND original = ?2 AND referred_at < ?3)",
    )?;
    let mut expired = Vec::with_capacity(grants.len());
    for (session, original) in grants {
        if delete.execute((session, original, options.expired_before(now)))? > 0 {
            expired.push(*original);
        }
    }
    Ok((remove_ungranted(transaction, &expired)?, true))
}

/// Returns at most `limit` originals that no live session shows: first those of ended sessions, then the least recently
/// referred to. Returns none if the file's content is at most `target` bytes.
pub(super) fn find_evictable(
    connection: &Connection,
    options: &StoreOptions,
    target: u64,
    now: Millis,
    limit: i64,
) -> Outcome<Vec<i64>> {
    if used_bytes(connection)? <= target {
        return Ok(Vec::new());
    }
    all(connection, EVICTABLE, (options.expired_before(now), limit), |row| row.get(0))
}

/// Removes those of some originals that still no live session shows, in order, until the file's content is at most
/// `target` bytes.
pub(super) fn evict(
    transaction: &Transaction<'_>,
    options: &StoreOptions,
    target: u64,
    now: Millis,
    originals: &[i64],
) -> Outcome<Step> {
    let mut delete = transaction.prepare_cached(
        "DELETE FROM originals WHERE id = ?1
           AND NOT EXISTS (SELECT 1 FROM access WHERE original = ?1 AND live AND referred_at >= ?2)",
    )?;
    let mut removed = 0;
    for original in originals {
        if used_bytes(transaction)? <= target {
            return Ok((removed, false));
        }
        removed += delete.execute((original, options.expired_before(now)))? as u64;
    }
    Ok((removed, true))
}

/// Returns sessions for which nothing is kept and that were not seen since they expired, at most [`MAX_CANDIDATES`].
/// Sessions in which folding is switched off are kept.
pub(super) fn find_forgettable(connection: &Connection, options: &StoreOptions, now: Millis) -> Outcome<Vec<i64>> {
    let forgettable = format!("SELECT id FROM sessions WHERE {FORGETTABLE} LIMIT ?2");
    all(connection, &forgettable, (options.expired_before(now), MAX_CANDIDATES), |row| row.get(0))
}

/// Forgets those of some sessions that are still silent. Their sums stay in the totals.
pub(super) fn forget(
    transaction: &Transaction<'_>,
    options: &StoreOptions,
    now: Millis,
    sessions: &[i64],
) -> Outcome<Step> {
    let since = options.expired_before(now);
    let mut is_forgettable =
        transaction.prepare_cached(&format!("SELECT 1 FROM sessions WHERE id = ?2 AND {FORGETTABLE}"))?;
    let mut forgotten = 0;
    for session in sessions {
        if !is_forgettable.exists((since, session))? {
            continue;
        }
        for statement in &*KEEP_SUMS {
            execute(transaction, statement, (session,))?;
        }
        forgotten += execute(transaction, "DELETE FROM sessions WHERE id = ?1", (session,))? as u64;
    }
    Ok((forgotten, true))
}

/// Forgets a session and everything it has.
pub(super) fn purge(transaction: &Transaction<'_>, scope: &Scope) -> Outcome<Removed> {
    let Some(session) = find_session(transaction, scope)? else { return Ok(Removed::default()) };
    let granted: Vec<i64> =
        all(transaction, "DELETE FROM grants WHERE session = ?1 RETURNING original", (session,), |row| row.get(0))?;
    let originals = remove_ungranted(transaction, &granted)?;
    let sessions = execute(transaction, "DELETE FROM sessions WHERE id = ?1", (session,))?;
    Ok(Removed { originals, sessions: sessions as u64, bytes: 0 })
}

/// Removes those of some originals that no session may see. Returns their number.
fn remove_ungranted(transaction: &Transaction<'_>, originals: &[i64]) -> Outcome<u64> {
    let mut delete = transaction.prepare_cached(
        "DELETE FROM originals WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM grants WHERE original = ?1)",
    )?;
    let mut removed = 0;
    for original in originals {
        removed += delete.execute((original,))? as u64;
    }
    Ok(removed)
}
