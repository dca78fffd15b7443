//! Reads originals and ledgers.

use std::collections::BTreeMap;
use std::sync::Arc;

use concertina_base::reference::{ContentHash, Media, Original, RefId, SHORT_ID_DIGITS};
use concertina_store::cache::{CachedProjections, ReadCache};
use concertina_store::id::{self, hash_range};
use concertina_store::payload::Payload;
use concertina_store::queries::{LedgerRows, projection};
use concertina_store::row::BadColumn;
use concertina_store::{Ledger, Millis, Scope, StoreOptions};
use tokio_postgres::Row;

use crate::connection::{Connection, call};
use crate::failure::{Failure, Outcome};
use crate::pool::{IDENTITY_QUERY, Pool};
use crate::queries::{Prepared, QUERIES};
use crate::row::{at, count, first, hash, hashes, store_rows, text, text_or_null};
use crate::scope::session;
use crate::text::key;

/// Selects the stored hashes within some ranges, with their ids.
pub(crate) const HASHES_IN_RANGES: &str =
    "SELECT DISTINCT near.hash, near.ref_id FROM unnest($1::bytea[], $2::bytea[]) AS given
  (first, last)
     CROSS JOIN LATERAL (
       SELECT hash, ref_id FROM originals WHERE hash BETWEEN given.first AND given.last ORDER BY hash OFFSET 0) AS
         near";

/// Selects the original that some digits resolve to, the time at which the agent last referred to it, and the current
/// time. The payload is NULL if the original is the one that the caller holds.
pub(crate) const GET: &str = "SELECT hash, ref_id, mime, label, size, is_zstd,
       CASE WHEN hash IS DISTINCT FROM $6::bytea THEN payload END, referred.at, moment($5::bigint)
     FROM originals CROSS JOIN LATERAL (
       SELECT max(referred_at) AS at FROM access WHERE original = originals.id AND $4 IN (agent, parent_agent)) AS
         referred
     WHERE hash BETWEEN $1 AND $2 AND starts_with($3::text, ref_id) AND referred.at IS NOT NULL";

/// Returns the ids of contents: see [`id::assign_ids`].
pub(crate) fn ref_ids(connection: &mut Connection, of: &[ContentHash]) -> Outcome<Vec<RefId>> {
    let ranges: Vec<_> = of.iter().map(|hash| hash_range(hash.to_ref_id(SHORT_ID_DIGITS).as_str())).collect();
    let (from, to) = (hashes(ranges.iter().map(|(from, _)| from)), hashes(ranges.iter().map(|(_, to)| to)));
    let rows = connection.run(&[call!(HASHES_IN_RANGES, from, to)])?.remove(0);
    let near = rows.iter().map(|row| Ok((hash(row, 0)?, at(row, 1)?))).collect::<Outcome<BTreeMap<_, String>>>()?;
    id::assign_ids(of, |from, to| Ok(near.range(from..=to).map(|(hash, id)| (*hash, id.clone())).collect()))
}

/// The first 8 bytes of an original's hash, which every id of it begins with.
pub(crate) type HashPrefix = [u8; 8];

/// A requested id.
struct RequestedId<'a> {
    digits: &'a str,
    /// The first and the last hash that begin with these digits.
    range: [Vec<u8>; 2],
    cached: Option<Arc<Original>>,
    /// The hash of `cached`.
    cached_hash: Option<Vec<u8>>,
}

impl<'a> RequestedId<'a> {
    fn new(id: &'a RefId, cache: &ReadCache<HashPrefix>) -> Self {
        let (from, to) = hash_range(id.as_str());
        let cached = cache.originals.get(&digits(&from));
        let cached_hash = cached.as_ref().map(|original| original.hash.0.to_vec());
        Self { digits: id.as_str(), range: [from, to].map(|hash| hash.0.to_vec()), cached, cached_hash }
    }
}

fn digits(hash: &ContentHash) -> HashPrefix {
    *hash.0.first_chunk().expect("a hash has 32 bytes")
}

/// Returns the verified originals of some ids, in one round trip. Originals in memory were verified before, and their
/// bytes are not sent again.
pub(crate) fn get(
    pool: &Pool,
    connection: &mut Connection,
    cache: &ReadCache<HashPrefix>,
    options: &StoreOptions,
    (ids, agent_id): (&[RefId], &str),
    now: Millis,
) -> Outcome<Vec<Option<(RefId, Original)>>> {
    let (agent, caller_time) = (key(agent_id), pool.caller_time(now));
    let requested: Vec<RequestedId<'_>> = ids.iter().map(|id| RequestedId::new(id, cache)).collect();
    let calls = requested
        .iter()
        .map(|one| call!(GET, one.range[0], one.range[1], one.digits, agent, caller_time, one.cached_hash));
    let answers = connection.run(&calls.collect::<Vec<_>>())?;
    requested.iter().zip(&answers).map(|(requested, rows)| found(requested, rows, cache, options)).collect()
}

/// Returns the first unexpired original among the rows of [`GET`].
fn found(
    requested: &RequestedId<'_>,
    rows: &[Row],
    cache: &ReadCache<HashPrefix>,
    options: &StoreOptions,
) -> Outcome<Option<(RefId, Original)>> {
    for row in rows {
        if at::<Millis>(row, 7)? < options.expired_before(at(row, 8)?) {
            continue;
        }
        let (hash, issued): (_, String) = (hash(row, 0)?, at(row, 1)?);
        let id = RefId::parse(&issued)
            .map_err(|_| Failure::Damaged(format!("the id of the original {} is {issued:?}", hash.to_hex())))?;
        let (media, label) = (text_or_null(row, 2)?.map_or(Media::Text, Media::Image), text(row, 3)?);
        if let Some(cached) = requested.cached.as_ref().filter(|cached| cached.hash == hash) {
            return Ok(Some((id, Original { hash, bytes: cached.bytes.clone(), media, label })));
        }
        let payload = Payload { is_zstd: at(row, 5)?, bytes: at(row, 6)? };
        let original = Original { hash, bytes: payload.unpack(count(row, 4)?, hash, &id)?, media, label };
        cache.originals.insert(digits(&hash), Arc::new(original.clone()));
        return Ok(Some((id, original)));
    }
    Ok(None)
}

/// Reads the ledger of a session.
pub(crate) fn ledger(
    pool: &Pool,
    connection: &mut Connection,
    cache: &ReadCache<HashPrefix>,
    scope: &Scope,
) -> Outcome<Ledger> {
    const PROJECTIONS: &str = concat!(
        "SELECT projections.id, block, place, replacement, hash, reason
         FROM projections JOIN originals ON originals.id = projections.original WHERE session = ",
        session!(),
        " AND projections.id > $3 ORDER BY projections.id"
    );
    const CACHED: &str = concat!("SELECT count(*) FROM projections WHERE session = ", session!(), " AND id <= $3");
    let (session, agent) = (key(&scope.session_id), key(&scope.agent_id));
    let caller_time: Option<Millis> = None;
    let mut cached = cache.remove(scope);
    QUERIES.ledger(scope, pool.host.as_deref(), |queries| {
        let prepared = Prepared::new(queries);
        loop {
            let mut calls = vec![
                call!(IDENTITY_QUERY, caller_time),
                call!(PROJECTIONS, session, agent, cached.version),
                call!(CACHED, session, agent, cached.version),
            ];
            calls.extend(prepared.calls());
            let mut answers = connection.read(calls)?;
            let (generation, now) = pool.read_identity(connection, &answers[0])?;
            if !cached.is_complete(generation, first::<i64>(&answers[2])?.map_or(0, i64::unsigned_abs)) {
                // An empty cache is complete, so this happens at most once.
                cached = CachedProjections::default();
                continue;
            }
            let newer = store_rows(&answers[1])?.iter().map(projection).collect::<Result<_, BadColumn>>()?;
            let projections = std::mem::take(&mut cached).with(generation, newer);
            if projections.version > 0 {
                cache.insert(scope, projections.clone());
            }
            let answers = answers.split_off(3).iter().map(|rows| store_rows(rows)).collect::<Outcome<_>>()?;
            let read_at = pool.has_own_clock().then_some(now);
            return Ok(LedgerRows { projections, generation, read_at, answers });
        }
    })
}
