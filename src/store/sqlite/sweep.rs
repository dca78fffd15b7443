//! Removes what nobody refers to any more, and gives the space back to the system.
//!
//! Works in steps of [`STEP`] rows, each its own transaction, so that a long sweep never keeps another process from writing.
//! Rows below a removed one (projections, printed texts) go with it by foreign key.

use rusqlite::{Connection, Transaction};

use super::failure::{Failure, Outcome};
use super::figures::keep_sums;
use super::row::Count;
use crate::store::{Millis, Removed, StoreOptions};

/// Rows removed in one transaction.
pub(super) const STEP: usize = 256;

/// Pages given back to the system in one transaction: 8 MB.
const PAGES: u32 = 2048;

/// What may go above the limit. Looks at no grant of a held session that has not ended, which keeps all: where all that is stored is still
/// shown, no commit at the limit finds anything, and each looks.
pub(super) const IDLE: &str = "SELECT original FROM access WHERE original IN (
    SELECT original FROM sessions CROSS JOIN access ON access.session = sessions.id
    WHERE (NOT held OR ended_at IS NOT NULL) AND NOT (live AND referred_at >= ?1))
  GROUP BY original HAVING max(live AND referred_at >= ?1) = 0 ORDER BY min(ended) DESC, max(referred_at), original";

/// Removes one step of grants that expired, and the originals that nobody else may see.
///
/// Returns how many originals went, and whether there may be more.
pub(super) fn expire(transaction: &Transaction<'_>, options: &StoreOptions, now: Millis) -> Outcome<(u64, bool)> {
    let expired = transaction
        .prepare_cached(
            "DELETE FROM grants WHERE (session, original) IN
               (SELECT session, original FROM access WHERE referred_at < ?1 LIMIT ?2)
             RETURNING original",
        )?
        .query_map((options.expired_before(now), STEP as i64), |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<i64>>>()?;
    Ok((remove_ungranted(transaction, &expired)?, expired.len() == STEP))
}

/// Removes originals that no live session shows, those of ended sessions first and then the least recently referred to first, until
/// the file's content is no larger than `target` bytes or `limit` of them are gone. Returns how many went.
pub(super) fn evict(
    transaction: &Transaction<'_>,
    options: &StoreOptions,
    target: u64,
    now: Millis,
    limit: usize,
) -> Outcome<usize> {
    if used_bytes(transaction)? <= target {
        return Ok(0);
    }
    let idle = transaction
        .prepare_cached(IDLE)?
        .query_map((options.expired_before(now),), |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<i64>>>()?;
    let mut delete = transaction.prepare_cached("DELETE FROM originals WHERE id = ?1")?;
    let mut removed = 0;
    for original in idle.into_iter().take(limit) {
        removed += delete.execute((original,))?;
        if used_bytes(transaction)? <= target {
            break;
        }
    }
    Ok(removed)
}

/// Forgets sessions that nothing is kept for and that have not been heard of since they expired. What they added up to stays
/// in the totals.
pub(super) fn forget_silent_sessions(
    transaction: &Transaction<'_>,
    options: &StoreOptions,
    now: Millis,
) -> Outcome<u64> {
    let since = options.expired_before(now);
    let silent = transaction
        .prepare_cached(
            "SELECT id FROM sessions WHERE last_seen < ?1 AND (NOT held OR ended_at < ?1)
               AND NOT EXISTS (SELECT 1 FROM grants WHERE session = sessions.id)
               AND NOT EXISTS (SELECT 1 FROM turns WHERE session = sessions.id AND at >= ?1)
               AND NOT EXISTS (SELECT 1 FROM receipts WHERE session = sessions.id AND at >= ?1)",
        )?
        .query_map((since,), |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<i64>>>()?;
    for session in &silent {
        transaction
            .prepare_cached(
                "UPDATE swept SET
                   turns = turns + (SELECT count(*) FROM turns WHERE session = ?1),
                   tokens_before = tokens_before
                     + (SELECT coalesce(sum(receipts.tokens_before), 0) FROM receipts WHERE session = ?1),
                   tokens_after = tokens_after
                     + (SELECT coalesce(sum(receipts.tokens_after), 0) FROM receipts WHERE session = ?1)",
            )?
            .execute((session,))?;
        keep_sums(transaction, *session)?;
        transaction.prepare_cached("DELETE FROM sessions WHERE id = ?1")?.execute((session,))?;
    }
    Ok(silent.len() as u64)
}

/// Forgets all sessions of this name with everything they have.
pub(super) fn purge(transaction: &Transaction<'_>, session_id: &str) -> Outcome<Removed> {
    let theirs = transaction
        .prepare_cached(
            "DELETE FROM grants WHERE session IN (SELECT id FROM sessions WHERE session_id = ?1) RETURNING original",
        )?
        .query_map((session_id,), |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<i64>>>()?;
    let originals = remove_ungranted(transaction, &theirs)?;
    let sessions = transaction.prepare_cached("DELETE FROM sessions WHERE session_id = ?1")?.execute((session_id,))?;
    Ok(Removed { originals, sessions: sessions as u64, bytes: 0 })
}

/// What [`purge`] would remove.
pub(super) fn purgeable(connection: &Connection, session_id: &str) -> Outcome<Removed> {
    let row = connection
        .prepare_cached(
            "SELECT count(*), coalesce(sum(length(payload)), 0),
               (SELECT count(*) FROM sessions WHERE session_id = ?1)
             FROM originals WHERE
               EXISTS (SELECT 1 FROM grants JOIN sessions ON sessions.id = session
                       WHERE original = originals.id AND session_id = ?1)
               AND NOT EXISTS (SELECT 1 FROM grants JOIN sessions ON sessions.id = session
                               WHERE original = originals.id AND session_id <> ?1)",
        )?
        .query_row((session_id,), |row| {
            Ok((row.get::<_, Count>(0)?.0, row.get::<_, Count>(1)?.0, row.get::<_, Count>(2)?.0))
        });
    let (originals, bytes, sessions) = row?;
    Ok(Removed { originals, bytes, sessions })
}

/// Removes those of some originals that no session may see. Returns how many that were.
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

/// Pages that hold nothing.
pub(super) fn free_pages(connection: &Connection) -> Outcome<u64> {
    pages(connection, "freelist_count")
}

/// Gives some free pages back to the system; returns how many are left. Only the checkpoint makes the file shorter.
pub(super) fn vacuum(connection: &Connection) -> Outcome<u64> {
    let mut vacuum = connection.prepare(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
    let mut rows = vacuum.query(())?;
    // Each step frees one page.
    while rows.next()?.is_some() {}
    free_pages(connection)
}

/// Writes the log back, which makes the file shorter; returns its length in bytes.
pub(super) fn checkpoint(connection: &Connection) -> Outcome<u64> {
    // Says in its row, not as an error, when another program is reading; then the next one does it.
    let is_busy: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| row.get(0))?;
    let expected = file_bytes(connection)?;
    let found = connection.path().and_then(|path| std::fs::metadata(path).ok()).map(|file| file.len());
    match found {
        // What was cut off may still be in the memory of this connection.
        Some(found) if !is_busy && found < expected => {
            Err(Failure::Damaged(format!("the file ends too early: it has {found} of {expected} bytes")))
        }
        _ => Ok(expected),
    }
}

/// Bytes of the file that hold something.
pub(super) fn used_bytes(connection: &Connection) -> Outcome<u64> {
    let used = pages(connection, "page_count")?.saturating_sub(pages(connection, "freelist_count")?);
    Ok(used * pages(connection, "page_size")?)
}

/// Length of the file in bytes, once the log is written back.
pub(super) fn file_bytes(connection: &Connection) -> Outcome<u64> {
    Ok(pages(connection, "page_count")? * pages(connection, "page_size")?)
}

fn pages(connection: &Connection, pragma: &str) -> Outcome<u64> {
    Ok(connection.pragma_query_value(None, pragma, |row| row.get::<_, Count>(0))?.0)
}
