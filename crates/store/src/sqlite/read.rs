//! Reads originals, ids and ledgers from the file.

use rusqlite::{Connection, params};

use super::failure::{Failure, Outcome};
use super::row::{QUERIES, all, count, exists, first, rows, run};
use super::session::find_session;
use crate::cache::{CachedProjections, ReadCache};
use crate::id::{self, hash_range};
use crate::payload::Payload;
use crate::queries::{LedgerRows, PROJECTION, projection};
use crate::records::{BlockKey, Ledger, Projection, Scope};
use crate::row::{BadColumn, Cell};
use crate::time::Millis;
use concertina_base::reference::{ContentHash, Media, Original, RefId};

/// Returns the ids of contents, by the rule of [`id::assign_ids`].
pub(super) fn ref_ids(connection: &Connection, hashes: &[ContentHash]) -> Outcome<Vec<RefId>> {
    let near = "SELECT hash, ref_id FROM originals WHERE hash BETWEEN ?1 AND ?2";
    id::assign_ids(hashes, |first, last| {
        all(connection, near, (first.0, last.0), |row| Ok((ContentHash(row.get(0)?), row.get(1)?)))
    })
}

/// Returns true if a new original with this id could be confused with a stored one.
pub(super) fn is_ambiguous(connection: &Connection, id: &RefId, hash: ContentHash) -> Outcome<bool> {
    let (first, last) = hash_range(id.as_str());
    let sql = "SELECT 1 FROM originals
       WHERE hash BETWEEN ?1 AND ?2 AND substr(?3, 1, length(ref_id)) = ref_id AND hash <> ?4";
    exists(connection, sql, params![first.0, last.0, hash.to_hex(), hash.0])
}

/// An original to which an id resolved.
pub(super) struct Resolved {
    row: i64,
    /// Its hash.
    pub(super) hash: ContentHash,
    /// The id that its markers print.
    pub(super) id: RefId,
}

/// Resolves an id for an agent. Grants that expired before `expired_before` are ignored.
pub(super) fn resolve(
    connection: &Connection,
    id: &RefId,
    agent_id: &str,
    expired_before: Millis,
) -> Outcome<Option<Resolved>> {
    let (from, to) = hash_range(id.as_str());
    let sql = "SELECT id, hash, ref_id FROM originals
       WHERE hash BETWEEN ?1 AND ?2 AND substr(?3, 1, length(ref_id)) = ref_id
         AND EXISTS (SELECT 1 FROM access
                     WHERE original = originals.id AND ?4 IN (agent_id, parent_agent_id) AND referred_at >= ?5)";
    let found = first(connection, sql, (from.0, to.0, id.as_str(), agent_id, expired_before), |row| {
        Ok((row.get(0)?, ContentHash(row.get(1)?), row.get::<_, String>(2)?))
    })?;
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

/// Returns the rows of a session's projection after a row id, in the order in which they were written.
pub(super) fn projections(connection: &Connection, session: i64, since: i64) -> Outcome<Vec<(i64, Projection)>> {
    let after = "projections.id > ?2 ORDER BY projections.id";
    read_projections(connection, after, vec![session.into(), since.into()])
}

/// Returns the projection of one block in a session.
pub(super) fn projection_of(
    connection: &Connection,
    session: i64,
    block: BlockKey,
) -> Outcome<Option<(i64, Projection)>> {
    let params = vec![session.into(), Cell::Bytes(block.hash.0.to_vec()), block.place.into()];
    Ok(read_projections(connection, "block = ?2 AND place = ?3", params)?.pop())
}

fn read_projections(connection: &Connection, which: &str, params: Vec<Cell>) -> Outcome<Vec<(i64, Projection)>> {
    let sql = format!(
        "SELECT {PROJECTION} FROM projections JOIN originals ON originals.id = projections.original
         WHERE session = ?1 AND {which}"
    );
    Ok(rows(connection, &sql, params)?.iter().map(projection).collect::<Result<_, BadColumn>>()?)
}

/// Returns the projections of a session. Only those that are not cached are read.
fn cached_projections(
    connection: &Connection,
    (scope, session): (&Scope, i64),
    cache: &ReadCache<ContentHash>,
    generation: u64,
) -> Outcome<CachedProjections> {
    let cached = cache.remove(scope);
    let known = connection
        .prepare_cached("SELECT count(*) FROM projections WHERE session = ?1 AND id <= ?2")?
        .query_row((session, cached.version), |row| count(row, 0))?;
    let cached = if cached.is_complete(generation, known) { cached } else { CachedProjections::default() };
    let newer = projections(connection, session, cached.version)?;
    let cached = cached.with(generation, newer);
    cache.insert(scope, cached.clone());
    Ok(cached)
}

/// Returns the ledger of a session.
pub(super) fn ledger(
    connection: &Connection,
    scope: &Scope,
    holder: Option<&str>,
    cache: &ReadCache<ContentHash>,
    generation: u64,
) -> Outcome<Ledger> {
    QUERIES.ledger(scope, holder, |queries| {
        let projections = match find_session(connection, scope)? {
            Some(session) => cached_projections(connection, (scope, session), cache, generation)?,
            None => CachedProjections::default(),
        };
        Ok(LedgerRows { projections, generation, read_at: None, answers: run(connection, queries)? })
    })
}
