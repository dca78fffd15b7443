//! Removes what nobody refers to any more. The server gives the space to what comes next.
//!
//! Works in steps of [`STEP`] rows, each its own transaction and alone, so that a long sweep never keeps another machine from writing.
//! Rows below a removed one (projections, printed texts) go with it by foreign key.

use concertina::store::{Removed, StoreOptions};
use tokio_postgres::Row;

use crate::failure::{Failure, Outcome};
use crate::figures::KEEP_SUMS;
use crate::link::call;
use crate::pool::{Gate, Writing};
use crate::row::{at, count, first, signed};
use crate::text::key;

/// Rows removed in one transaction.
pub(crate) const STEP: usize = 256;

/// Bytes of all payloads.
pub(crate) const USAGE: &str = "SELECT coalesce(sum(bytes), 0)::bigint FROM usage";

const REMOVE_UNGRANTED: &str = "WITH gone AS (
      DELETE FROM originals WHERE id = ANY($1::bigint[])
        AND NOT EXISTS (SELECT 1 FROM grants WHERE original = originals.id) RETURNING octet_length(payload) AS bytes)
    INSERT INTO usage (originals, bytes) SELECT -count(*), -coalesce(sum(bytes), 0) FROM gone RETURNING -originals, -bytes";

/// Removes one step of grants that expired, and the originals that nobody else may see.
///
/// Returns what went, and whether there may be more.
pub(crate) fn expire(writing: &mut Writing<'_>, options: &StoreOptions) -> Outcome<(Removed, bool)> {
    const EXPIRE: &str =
        "DELETE FROM grants USING (SELECT session, original FROM access WHERE referred_at < $1 LIMIT $2) AS expired
         WHERE grants.session = expired.session AND grants.original = expired.original RETURNING grants.original";
    let (before, limit) = (options.expired_before(writing.now), STEP as i64);
    let expired = ids(&writing.run(&[call!(EXPIRE, before, limit)])?[0])?;
    Ok((remove_ungranted(writing, &expired)?, expired.len() == STEP))
}

/// Removes originals that no live session shows, those of ended sessions first and then the least recently referred to first, until
/// `excess` bytes or `limit` of them are gone.
pub(crate) fn evict(writing: &mut Writing<'_>, options: &StoreOptions, excess: u64, limit: usize) -> Outcome<Removed> {
    const EVICT: &str = "WITH idle AS (
          SELECT original, bool_and(ended) AS ended, max(referred_at) AS referred_at FROM access GROUP BY original
          HAVING NOT bool_or(live AND referred_at >= $1)),
        sized AS (
          SELECT original, sum(octet_length(payload)) OVER earlier AS bytes_before, row_number() OVER earlier AS position
          FROM idle JOIN originals ON originals.id = idle.original
          WINDOW earlier AS (ORDER BY ended DESC, referred_at, original ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)),
        gone AS (
          DELETE FROM originals USING sized WHERE originals.id = sized.original AND coalesce(bytes_before, 0) < $2
            AND position <= $3 RETURNING octet_length(payload) AS bytes)
        INSERT INTO usage (originals, bytes) SELECT -count(*), -coalesce(sum(bytes), 0) FROM gone RETURNING -originals, -bytes";
    if excess == 0 {
        return Ok(Removed::default());
    }
    let (before, excess, limit) = (options.expired_before(writing.now), signed(excess), signed(limit as u64));
    removed(&writing.run(&[call!(EVICT, before, excess, limit)])?[0])
}

/// Evicts what is above the limit, at most one step.
pub(crate) fn shrink(writing: &mut Writing<'_>, options: &StoreOptions) -> Outcome<Removed> {
    let used = used(writing)?;
    evict(writing, options, used.saturating_sub(options.max_bytes), STEP)
}

/// Keeps the store below its limit: removes what no session shows, or refuses.
pub(crate) fn make_room(
    writing: &mut Writing<'_>,
    options: &StoreOptions,
    used: i64,
    needed: u64,
    gate: Gate,
) -> Outcome<()> {
    let fits = |used: u64| needed == 0 || used.saturating_add(needed) <= options.max_bytes;
    let before = u64::try_from(used).unwrap_or(0);
    if fits(before) {
        return Ok(());
    }
    if gate == Gate::Shared {
        return Err(Failure::NoRoom);
    }
    // A little more than needed, so that not every commit at the limit has to look for what may go.
    let target = options.max_bytes.saturating_sub(needed).saturating_sub(options.max_bytes / 20);
    evict(writing, options, before.saturating_sub(target), usize::MAX)?;
    if fits(self::used(writing)?) {
        return Ok(());
    }
    Err(Failure::Full(format!("its limit is {} bytes and sessions still show what it holds", options.max_bytes)))
}

fn used(writing: &mut Writing<'_>) -> Outcome<u64> {
    let used: Option<i64> = first(&writing.run(&[call!(USAGE)])?[0])?;
    Ok(u64::try_from(used.unwrap_or(0)).unwrap_or(0))
}

/// Forgets sessions that nothing is kept for and that have not been heard of since they expired. What they added up to stays
/// in the totals. Adds the changes of what is stored up, too.
pub(crate) fn forget_silent_sessions(writing: &mut Writing<'_>, options: &StoreOptions) -> Outcome<u64> {
    const SILENT: &str = "SELECT id FROM sessions WHERE last_seen < $1 AND (NOT held OR ended_at < $1)
         AND NOT EXISTS (SELECT 1 FROM grants WHERE session = sessions.id)
         AND NOT EXISTS (SELECT 1 FROM turns WHERE session = sessions.id AND at >= $1)
         AND NOT EXISTS (SELECT 1 FROM receipts WHERE session = sessions.id AND at >= $1)";
    const KEEP_TOTALS: &str = "UPDATE swept SET turns = turns + (SELECT count(*) FROM turns WHERE session = ANY($1::bigint[])),
           tokens_before = swept.tokens_before + added.tokens_before, tokens_after = swept.tokens_after + added.tokens_after
         FROM (SELECT coalesce(sum(tokens_before), 0)::bigint AS tokens_before, coalesce(sum(tokens_after), 0)::bigint AS tokens_after
               FROM receipts WHERE session = ANY($1::bigint[])) AS added";
    const FORGET: &str = "DELETE FROM sessions WHERE id = ANY($1::bigint[])";
    const ADD_UP: &str = "WITH gone AS (DELETE FROM usage RETURNING originals, bytes)
         INSERT INTO usage (originals, bytes) SELECT sum(originals), sum(bytes) FROM gone HAVING count(*) > 0";
    let since = options.expired_before(writing.now);
    let silent = ids(&writing.run(&[call!(SILENT, since), call!(ADD_UP)])?[0])?;
    if !silent.is_empty() {
        writing.run(&[call!(KEEP_TOTALS, silent), call!(KEEP_SUMS, silent), call!(FORGET, silent)])?;
    }
    Ok(silent.len() as u64)
}

/// Forgets all sessions of this name with everything they have.
pub(crate) fn purge(writing: &mut Writing<'_>, session_id: &str) -> Outcome<Removed> {
    const GRANTS: &str =
        "DELETE FROM grants WHERE session IN (SELECT id FROM sessions WHERE session = $1) RETURNING original";
    const SESSIONS: &str = "DELETE FROM sessions WHERE session = $1 RETURNING 1";
    let session = key(session_id);
    let theirs = ids(&writing.run(&[call!(GRANTS, session)])?[0])?;
    let removed = remove_ungranted(writing, &theirs)?;
    let sessions = writing.run(&[call!(SESSIONS, session)])?[0].len() as u64;
    Ok(Removed { sessions, ..removed })
}

/// What [`purge`] would remove.
pub(crate) const PURGEABLE: &str = "SELECT count(*), coalesce(sum(octet_length(payload)), 0),
       (SELECT count(*) FROM sessions WHERE session = $1)
     FROM originals WHERE id IN (
         SELECT original FROM grants WHERE session IN (SELECT id FROM sessions WHERE session = $1))
       AND NOT EXISTS (SELECT 1 FROM grants JOIN sessions ON sessions.id = grants.session
                       WHERE original = originals.id AND sessions.session <> $1)";

/// A row of [`PURGEABLE`].
pub(crate) fn purgeable(rows: &[Row]) -> Outcome<Removed> {
    let Some(row) = rows.first() else { return Ok(Removed::default()) };
    Ok(Removed { originals: count(row, 0)?, bytes: count(row, 1)?, sessions: count(row, 2)? })
}

/// Removes those of some originals that no session may see.
fn remove_ungranted(writing: &mut Writing<'_>, originals: &[i64]) -> Outcome<Removed> {
    if originals.is_empty() {
        return Ok(Removed::default());
    }
    removed(&writing.run(&[call!(REMOVE_UNGRANTED, originals)])?[0])
}

fn removed(rows: &[Row]) -> Outcome<Removed> {
    let Some(row) = rows.first() else { return Ok(Removed::default()) };
    Ok(Removed { originals: count(row, 0)?, bytes: count(row, 1)?, sessions: 0 })
}

/// The ids of rows.
fn ids(rows: &[Row]) -> Outcome<Vec<i64>> {
    rows.iter().map(|row| at(row, 0)).collect()
}
