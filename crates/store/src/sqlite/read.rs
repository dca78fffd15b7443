//! Rows -> what callers ask for.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::failure::{Failure, Outcome};
use super::row::{count, counts};
use super::session::{find_session, is_kept};
use crate::id::{self, hash_range};
use crate::memory::{Held, Memory};
use crate::payload::Payload;
use crate::{BlockKey, Epoch, Ledger, Millis, Printed, PrintedText, Projection, Receipt, Scope, Standing, Stats};
use concertina_base::reference::{ContentHash, Media, Original, RefId};

/// The ids of contents: [`id::propose`].
pub(super) fn ref_ids(connection: &Connection, hashes: &[ContentHash]) -> Outcome<Vec<RefId>> {
    let mut stored = connection.prepare_cached("SELECT hash, ref_id FROM originals WHERE hash BETWEEN ?1 AND ?2")?;
    id::propose(hashes, |first, last| {
        let near = stored.query_map((first.0, last.0), |row| Ok((ContentHash(row.get(0)?), row.get(1)?)))?;
        Ok(near.collect::<rusqlite::Result<_>>()?)
    })
}

/// Whether a new original could be confused with a stored one if it got this id.
pub(super) fn is_ambiguous(connection: &Connection, id: &RefId, hash: ContentHash) -> Outcome<bool> {
    let (first, last) = hash_range(id.as_str());
    let found = connection
        .prepare_cached(
            "SELECT 1 FROM originals WHERE hash BETWEEN ?1 AND ?2 AND substr(?3, 1, length(ref_id)) = ref_id AND hash <> ?4",
        )?
        .query_row(params![first.0, last.0, hash.to_hex(), hash.0], |_| Ok(()))
        .optional()?;
    Ok(found.is_some())
}

/// An original that some digits resolve to.
pub(super) struct Resolved {
    row: i64,
    /// Its hash.
    pub(super) hash: ContentHash,
    /// The id that its markers print.
    pub(super) id: RefId,
}

/// Resolves an id for an agent; grants that expired before `expired_before` do not count.
pub(super) fn resolve(
    connection: &Connection,
    id: &RefId,
    agent_id: &str,
    expired_before: Millis,
) -> Outcome<Option<Resolved>> {
    let (first, last) = hash_range(id.as_str());
    let found = connection
        .prepare_cached(
            "SELECT id, hash, ref_id FROM originals
             WHERE hash BETWEEN ?1 AND ?2 AND substr(?3, 1, length(ref_id)) = ref_id
               AND EXISTS (SELECT 1 FROM access WHERE original = originals.id AND ?4 IN (agent_id, parent_agent_id)
                             AND referred_at >= ?5)",
        )?
        .query_row((first.0, last.0, id.as_str(), agent_id, expired_before), |row| {
            Ok((row.get(0)?, ContentHash(row.get(1)?), row.get::<_, String>(2)?))
        })
        .optional()?;
    let Some((row, hash, ref_id)) = found else { return Ok(None) };
    let id = RefId::parse(&ref_id)
        .map_err(|_| Failure::Damaged(format!("the id of the original {} is {ref_id:?}", hash.to_hex())))?;
    Ok(Some(Resolved { row, hash, id }))
}

/// Reads and checks the bytes of an original.
pub(super) fn read_original(connection: &Connection, resolved: &Resolved) -> Outcome<Original> {
    let (mime, label, size, payload) = connection
        .prepare_cached("SELECT mime, label, size, is_zstd, payload FROM originals WHERE id = ?1")?
        .query_row((resolved.row,), |row| {
            let payload = Payload { is_zstd: row.get(3)?, bytes: row.get(4)? };
            Ok((row.get::<_, Option<String>>(0)?, row.get(1)?, count(row, 2)?, payload))
        })?;
    let bytes = payload.unpack(size, resolved.hash, &resolved.id)?;
    Ok(Original { hash: resolved.hash, bytes, media: mime.map_or(Media::Text, Media::Image), label })
}

/// The rows of a session's projection after a row id, in the order in which they were written.
pub(super) fn projections(connection: &Connection, session: i64, since: i64) -> Outcome<Vec<(i64, Projection)>> {
    Ok(connection
        .prepare_cached(
            "SELECT projections.id, block, place, replacement, hash, reason FROM projections
             JOIN originals ON originals.id = projections.original WHERE session = ?1 AND projections.id > ?2
             ORDER BY projections.id",
        )?
        .query_map((session, since), projection)?
        .collect::<rusqlite::Result<_>>()?)
}

/// How a session shows one block.
pub(super) fn projection_of(
    connection: &Connection,
    session: i64,
    block: BlockKey,
) -> Outcome<Option<(i64, Projection)>> {
    Ok(connection
        .prepare_cached(
            "SELECT projections.id, block, place, replacement, hash, reason FROM projections
             JOIN originals ON originals.id = projections.original WHERE session = ?1 AND block = ?2 AND place = ?3",
        )?
        .query_row((session, block.hash.0, block.place), projection)
        .optional()?)
}

fn projection(row: &Row<'_>) -> rusqlite::Result<(i64, Projection)> {
    let projection = Projection {
        block: BlockKey { hash: ContentHash(row.get(1)?), place: row.get(2)? },
        replacement: row.get(3)?,
        original: ContentHash(row.get(4)?),
        reason: row.get(5)?,
    };
    Ok((row.get(0)?, projection))
}

/// The rows of a session's projection, of which those are read that are not in memory.
fn held(
    connection: &Connection,
    (scope, session): (&Scope, i64),
    memory: &Memory<ContentHash>,
    generation: u64,
) -> Outcome<Held> {
    let held = memory.take(scope);
    let known = connection
        .prepare_cached("SELECT count(*) FROM projections WHERE session = ?1 AND id <= ?2")?
        .query_row((session, held.version), |row| count(row, 0))?;
    let held = if held.is_complete(generation, known) { held } else { Held::default() };
    let newer = projections(connection, session, held.version)?;
    let held = held.with(generation, newer);
    memory.keep(scope, held.clone());
    Ok(held)
}

/// What a session knows, in the order in which it was first written.
pub(super) fn ledger(
    connection: &Connection,
    scope: &Scope,
    holder: Option<&str>,
    memory: &Memory<ContentHash>,
    generation: u64,
) -> Outcome<Ledger> {
    let Some(session) = find_session(connection, scope)? else { return Ok(Ledger { generation, ..Ledger::default() }) };
    let Held { version, projections, .. } = held(connection, (scope, session), memory, generation)?;
    let printed = connection
        .prepare_cached(
            "SELECT text, is_answer, hash, saved FROM printed
             JOIN originals ON originals.id = printed.original WHERE session = ?1 ORDER BY text",
        )?
        .query_map((session,), |row| {
            let printed = if row.get(1)? { Printed::Copy } else { Printed::Placeholder };
            Ok(PrintedText {
                text: ContentHash(row.get(0)?),
                printed,
                original: ContentHash(row.get(2)?),
                saved: count(row, 3)?,
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let admitted = connection
        .prepare_cached(
            "SELECT at, max(tokens_before - tokens_after, 0) FROM receipts WHERE session = ?1 AND kind = 'admit' ORDER BY id",
        )?
        .query_map((session,), |row| Ok((row.get(0)?, count(row, 1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let epochs = connection
        .prepare_cached(
            "SELECT at, reason, tokens_freed, tokens_rebilled, blocks FROM epochs WHERE session = ?1 ORDER BY id",
        )?
        .query_map((session,), logged_epoch)?
        .collect::<rusqlite::Result<_>>()?;
    let (tools, is_off, last_seen) = connection
        .prepare_cached("SELECT tools, is_off, last_seen FROM sessions WHERE id = ?1")?
        .query_row((session,), |row| Ok((row.get::<_, Option<_>>(0)?.map(ContentHash), row.get(1)?, row.get(2)?)))?;
    let last_request = connection
        .prepare_cached("SELECT at FROM requests WHERE session = ?1 ORDER BY id DESC LIMIT 1")?
        .query_row((session,), |row| row.get(0))
        .optional()?;
    let in_context = connection
        .prepare_cached(
            "SELECT hash FROM grants JOIN originals ON originals.id = grants.original WHERE session = ?1 AND left_at IS NULL",
        )?
        .query_map((session,), |row| row.get(0).map(ContentHash))?
        .collect::<rusqlite::Result<_>>()?;
    let standing = Standing { in_context, last_seen, read_at: None };
    let standing = is_kept(connection, session, holder)?.then_some(standing);
    Ok(Ledger { projections, printed, admitted, epochs, tools, is_off, last_request, version, generation, standing })
}

/// The row of the session that is asked for, if one is; one that the store does not know has the row 0, which there
/// never is.
pub(super) fn row_of(connection: &Connection, session: Option<&Scope>) -> Outcome<Option<i64>> {
    session.map(|scope| Ok(find_session(connection, scope)?.unwrap_or(0))).transpose()
}

/// The condition that a row of `sessions` is `?1`, where one is asked for. One that holds for NULL, too, would let no
/// index be used.
pub(super) fn is_theirs(session: Option<i64>) -> &'static str {
    session.map_or("?1 IS NULL", |_| "sessions.id = ?1")
}

/// How many originals a session was granted, or the whole store has; their bytes as they were, and as they are stored.
pub(super) fn stored(connection: &Connection, session: Option<i64>) -> Outcome<[u64; 3]> {
    let granted = session.map_or("?1 IS NULL", |_| "id IN (SELECT original FROM grants WHERE session = ?1)");
    Ok(connection
        .prepare_cached(&format!(
            "SELECT count(*), coalesce(sum(size), 0), coalesce(sum(length(payload)), 0) FROM originals WHERE {granted}"
        ))?
        .query_row((session,), counts)?)
}

/// Totals of a session, or of the whole store.
pub(super) fn stats(connection: &Connection, session: Option<&Scope>) -> Outcome<Stats> {
    let session = row_of(connection, session)?;
    let sum = |sql: &str| -> Outcome<[u64; 3]> {
        let mut query = connection.prepare_cached(sql)?;
        Ok(query.query_row((session,), counts)?)
    };
    let is_theirs = is_theirs(session);
    let [sessions, turns, _] = sum(&format!(
        "SELECT count(*), (SELECT count(*) FROM turns JOIN sessions ON sessions.id = turns.session WHERE {is_theirs}), 0
         FROM sessions WHERE {is_theirs}"
    ))?;
    let [originals, original_bytes, stored_bytes] = stored(connection, session)?;
    let [tokens_before, tokens_after, _] = sum(&format!(
        "SELECT coalesce(sum(tokens_before), 0), coalesce(sum(tokens_after), 0), 0
         FROM receipts JOIN sessions ON sessions.id = receipts.session WHERE {is_theirs}"
    ))?;
    let [swept_turns, swept_before, swept_after] =
        sum("SELECT coalesce(sum(turns), 0), coalesce(sum(tokens_before), 0), coalesce(sum(tokens_after), 0)
         FROM swept WHERE ?1 IS NULL")?;
    let receipts = connection
        .prepare_cached(&format!(
            "SELECT at, kind, tokens_before, tokens_after, detail FROM receipts
             JOIN sessions ON sessions.id = receipts.session WHERE {is_theirs} ORDER BY receipts.id DESC LIMIT 100"
        ))?
        .query_map((session,), |row| {
            let receipt = Receipt {
                kind: row.get(1)?,
                tokens_before: count(row, 2)?,
                tokens_after: count(row, 3)?,
                detail: row.get(4)?,
            };
            Ok((row.get(0)?, receipt))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let epochs = connection
        .prepare_cached(&format!(
            "SELECT at, reason, tokens_freed, tokens_rebilled, blocks FROM epochs
             JOIN sessions ON sessions.id = epochs.session WHERE {is_theirs} ORDER BY epochs.id DESC LIMIT 100"
        ))?
        .query_map((session,), logged_epoch)?
        .collect::<rusqlite::Result<_>>()?;
    Ok(Stats {
        sessions,
        originals,
        original_bytes,
        stored_bytes,
        turns: turns + swept_turns,
        receipts,
        tokens_before: tokens_before + swept_before,
        tokens_after: tokens_after + swept_after,
        epochs,
    })
}

/// Columns: `at`, then those of an [`Epoch`].
fn logged_epoch(row: &Row<'_>) -> rusqlite::Result<(Millis, Epoch)> {
    let epoch = Epoch {
        reason: row.get(1)?,
        tokens_freed: count(row, 2)?,
        tokens_rebilled: count(row, 3)?,
        blocks: count(row, 4)?,
    };
    Ok((row.get(0)?, epoch))
}
