//! A batch -> rows, all or none, in some eight round trips however large it is.
//!
//! The ids in a batch were read before its text was composed; another machine may have written since. So everything that makes a
//! marker true is checked again inside the transaction, which has the session's row to itself.

use concertina::error::Error;
use concertina::reference::{ContentHash, Media, Original, RefId};
use concertina::store::id::hash_range;
use concertina::store::payload::{self, Payload};
use concertina::store::{Batch, Printed, Projection, Scope, StoreOptions};
use tokio_postgres::Row;

use crate::context::{self, ENTER, GRANT, IS_SAME, LEAVE, SEEN, SHARE};
use crate::failure::{Failure, NO_ROOM, Outcome};
use crate::figures::{FETCHED, FOLDED, folded_rows};
use crate::link::{Call, Link, call};
use crate::pool::{Gate, Pool, WHICH, Writing};
use crate::read::{IN_FORCE_OF, IN_FORCE_SINCE, projection};
use crate::row::{at, first, hash, signed};
use crate::session::ENSURE;
use crate::sweep::{self, USAGE};
use crate::text::{escaped, key};

/// Bytes of payloads that are sent in one statement; a server takes no message above 1 GB.
const CHUNK_BYTES: usize = 16 << 20;

const STORED: &str = "SELECT hash FROM originals WHERE hash = ANY($1::bytea[])";
const INSERT: &str = "WITH added AS (
      INSERT INTO originals (hash, ref_id, mime, label, size, is_zstd, payload)
      SELECT * FROM unnest($1::bytea[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::boolean[], $7::bytea[])
        AS given (hash, ref_id, mime, label, size, is_zstd, payload)
      ORDER BY hash -- two that add the same wait for each other in one order
      ON CONFLICT (hash) DO NOTHING RETURNING octet_length(payload) AS bytes)
    INSERT INTO usage (originals, bytes) SELECT count(*), sum(bytes) FROM added HAVING count(*) > 0";
// Looked up one by one: planned as a join, a range between two columns seems to hold a ninth of all originals, and reads them all.
const AMBIGUOUS: &str =
    "SELECT given.id FROM unnest($1::text[], $2::bytea[], $3::bytea[], $4::bytea[], $5::text[]) AS given (id, first, last, hash, hex)
     CROSS JOIN LATERAL (
       SELECT 1 FROM originals WHERE originals.hash BETWEEN given.first AND given.last AND originals.hash <> given.hash
         AND starts_with(given.hex, originals.ref_id) ORDER BY originals.hash LIMIT 1) AS near
     WHERE NOT EXISTS (SELECT 1 FROM originals AS same WHERE same.hash = given.hash)";
const ISSUED: &str = "SELECT hash, ref_id FROM originals WHERE hash = ANY($1::bytea[])";
const WITHDRAW: &str = "DELETE FROM projections USING unnest($2::bytea[], $3::bigint[]) AS given (block, place)
     WHERE projections.session = $1 AND projections.block = given.block AND projections.place = given.place RETURNING 1";
const PROJECT: &str = "INSERT INTO projections (session, block, place, replacement, original, reason)
     SELECT $1, given.block, given.place, given.replacement, originals.id, given.reason
     FROM unnest($2::bytea[], $3::bigint[], $4::text[], $5::bytea[], $6::text[]) WITH ORDINALITY
       AS given (block, place, replacement, original, reason, position)
     JOIN originals ON originals.hash = given.original
     JOIN grants ON grants.session = $1 AND grants.original = originals.id
     ORDER BY given.position ON CONFLICT (session, block, place) DO NOTHING RETURNING 1";
const PRINT: &str = "INSERT INTO printed (session, text, is_answer, original, saved)
     SELECT $1, given.text, given.is_answer, originals.id, given.saved
     FROM unnest($2::bytea[], $3::boolean[], $4::bytea[], $5::bigint[]) WITH ORDINALITY
       AS given (text, is_answer, original, saved, position)
     JOIN originals ON originals.hash = given.original
     JOIN grants ON grants.session = $1 AND grants.original = originals.id
     ORDER BY given.position ON CONFLICT (session, text) DO NOTHING";
const RECEIVE: &str = "INSERT INTO receipts (session, at, kind, tokens_before, tokens_after, detail)
     SELECT $1, $2, kind, tokens_before, tokens_after, detail FROM unnest($3::text[], $4::bigint[], $5::bigint[], $6::text[])
       WITH ORDINALITY AS given (kind, tokens_before, tokens_after, detail, position) ORDER BY position";
const EPOCH: &str =
    "INSERT INTO epochs (session, at, reason, tokens_freed, tokens_rebilled, blocks) VALUES ($1, $2, $3, $4, $5, $6)";

/// A new original, packed before the transaction begins.
struct Packed<'a> {
    id: &'a RefId,
    original: &'a Original,
    /// `None` when it was already stored at the time of packing.
    payload: Option<Payload>,
}

/// Makes a batch durable; returns what is in force that its maker did not know of.
pub(crate) fn commit(
    pool: &Pool,
    options: &StoreOptions,
    scope: &Scope,
    batch: &Batch,
    now: i64,
) -> concertina::error::Result<Vec<Projection>> {
    if is_idle(batch)
        && let Some(in_force) = pool.with(|link| skip(pool, link, options, scope, batch, now))?
    {
        return Ok(in_force);
    }
    for (id, original) in &batch.originals {
        payload::check(id, original)?;
    }
    let mut packed = Vec::new();
    if !batch.originals.is_empty() {
        let hashes = hashes(batch.originals.iter().map(|(_, original)| &original.hash));
        let rows = pool.with(|link| Ok(link.run(&[call!(STORED, hashes)])?.remove(0)))?;
        let stored: std::collections::HashSet<&[u8]> = rows.iter().filter_map(|row| row.try_get(0).ok()).collect();
        packed.extend(batch.originals.iter().map(|(id, original)| {
            let is_stored = stored.contains(original.hash.0.as_slice());
            Packed { id, original, payload: (!is_stored).then(|| Payload::pack(&original.bytes)) }
        }));
    }
    let mut gate = Gate::Shared;
    pool.write(gate, now, |writing| write(writing, options, scope, batch, &mut packed, gate)).or_else(|error| {
        // Only who is alone may remove something.
        if !matches!(&error, Error::StoreFull { reason, .. } if reason == NO_ROOM) {
            return Err(error);
        }
        gate = Gate::Alone;
        pool.write(gate, now, |writing| write(writing, options, scope, batch, &mut packed, gate))
    })
}

fn write(
    writing: &mut Writing<'_>,
    options: &StoreOptions,
    scope: &Scope,
    batch: &Batch,
    packed: &mut [Packed<'_>],
    gate: Gate,
) -> Outcome<Vec<Projection>> {
    if batch.generation != 0 && batch.generation != writing.generation {
        return Err(Failure::Replaced);
    }
    let now = writing.now;
    let (agent, host) = (key(&scope.agent_id), writing.host);
    let (session_id, agent_id) = (escaped(&scope.session_id), escaped(&scope.agent_id));
    let ensured =
        writing.run(&[call!(ENSURE, key(&scope.session_id), agent, session_id, agent_id, now, host)])?.remove(0);
    let session: i64 = first(&ensured)?.ok_or_else(|| Failure::Damaged("a session has no row".to_owned()))?;
    put(writing, options, session, packed, gate)?;

    let required: Vec<ContentHash> = (batch.projections.iter().map(|row| row.original))
        .chain(batch.printed.iter().map(|row| row.original))
        .collect();
    let required_hashes = hashes(&required);
    let withdrawn: (Vec<&[u8]>, Vec<i64>) =
        batch.withdrawn.iter().map(|block| (block.hash.0.as_slice(), block.place)).unzip();
    let rows = &batch.projections;
    let blocks: Vec<&[u8]> = rows.iter().map(|row| row.block.hash.0.as_slice()).collect();
    let places: Vec<i64> = rows.iter().map(|row| row.block.place).collect();
    let replacements: Vec<_> = rows.iter().map(|row| escaped(&row.replacement)).collect();
    let originals = hashes(rows.iter().map(|row| &row.original));
    let reasons: Vec<_> = rows.iter().map(|row| escaped(&row.reason)).collect();
    let texts = hashes(batch.printed.iter().map(|row| &row.text));
    let answers: Vec<bool> = batch.printed.iter().map(|row| row.printed == Printed::Copy).collect();
    let texts_of = hashes(batch.printed.iter().map(|row| &row.original));
    let saved: Vec<i64> = batch.printed.iter().map(|row| signed(row.saved)).collect();
    let mut flight = Vec::new();
    if !required.is_empty() {
        flight.push(call!(context::GRANTED, required_hashes, agent));
        flight.push(call!(SHARE, session, required_hashes, agent, now));
    }
    if !batch.withdrawn.is_empty() {
        flight.push(call!(WITHDRAW, session, withdrawn.0, withdrawn.1));
    }
    if !rows.is_empty() {
        flight.push(call!(PROJECT, session, blocks, places, replacements, originals, reasons));
    }
    if !texts.is_empty() {
        flight.push(call!(PRINT, session, texts, answers, texts_of, saved));
    }
    let decided = if flight.is_empty() { Vec::new() } else { writing.run(&flight)? };
    if !required.is_empty() {
        require(&required, &decided[0])?;
    }
    // The rows that were withdrawn or added.
    let changes: usize = flight
        .iter()
        .zip(&decided)
        .filter(|(call, _)| [WITHDRAW, PROJECT].contains(&call.sql))
        .map(|(_, rows)| rows.len())
        .sum();
    let is_decided = changes > 0 || batch.withdrawn.is_empty() && rows.is_empty();
    drop(flight);

    let kinds: Vec<_> = batch.receipts.iter().map(|receipt| escaped(&receipt.kind)).collect();
    let before: Vec<i64> = batch.receipts.iter().map(|receipt| signed(receipt.tokens_before)).collect();
    let after: Vec<i64> = batch.receipts.iter().map(|receipt| signed(receipt.tokens_after)).collect();
    let details: Vec<_> = batch.receipts.iter().map(|receipt| escaped(&receipt.detail)).collect();
    let epoch = batch
        .epoch
        .as_ref()
        .map(|epoch| (escaped(&epoch.reason), [epoch.tokens_freed, epoch.tokens_rebilled, epoch.blocks].map(signed)));
    let (day, folded) = (now.div_euclid(concertina::store::sums::DAY_MS), folded_rows(&batch.folded));
    let fetched: (Vec<_>, Vec<i64>) = batch.fetched.iter().map(|(id, tokens)| (escaped(id), signed(*tokens))).unzip();
    let in_context = batch.in_context.as_ref().map(hashes);
    let tools = batch.tools.map(|tools| tools.0.to_vec());
    let mut flight: Vec<Call<'_>> = Vec::new();
    if is_decided && !batch.receipts.is_empty() {
        flight.push(call!(RECEIVE, session, now, kinds, before, after, details));
    }
    if let Some((reason, [freed, rebilled, blocks])) = epoch.as_ref().filter(|_| is_decided) {
        flight.push(call!(EPOCH, session, now, *reason, *freed, *rebilled, *blocks));
    }
    if is_decided && !batch.folded.is_empty() {
        flight.push(call!(FOLDED, session, day, folded.0, folded.1, folded.2));
    }
    if !batch.fetched.is_empty() {
        flight.push(call!(FETCHED, session, now, fetched.0, fetched.1));
    }
    if let Some(in_context) = &in_context {
        flight.push(call!(LEAVE, session, *in_context, batch.since, now));
        flight.push(call!(ENTER, session, *in_context, batch.since, now, agent));
    }
    if in_context.is_some() || tools.is_some() {
        let seen = in_context.is_some().then_some(now);
        flight.push(call!(SEEN, session, seen, tools));
        flight.push(call!(IN_FORCE_SINCE, session, batch.since));
        flight.push(call!(IN_FORCE_OF, session, blocks, places));
        return in_force(writing.run(&flight)?, batch.since);
    }
    flight.push(call!(IN_FORCE_SINCE, session, batch.since));
    flight.push(call!(IN_FORCE_OF, session, blocks, places));
    in_force(writing.run(&flight)?, batch.since)
}

/// Stores originals and grants them to a session.
fn put(
    writing: &mut Writing<'_>,
    options: &StoreOptions,
    session: i64,
    packed: &mut [Packed<'_>],
    gate: Gate,
) -> Outcome<()> {
    if packed.is_empty() {
        return Ok(());
    }
    let now = writing.now;
    let taken =
        |id: &str| -> Failure { Error::bad_argument("id", id, "longer, because another original has it").into() };
    let all = hashes(packed.iter().map(|new| &new.original.hash));
    loop {
        let new: Vec<&Packed<'_>> = packed.iter().filter(|new| new.payload.is_some()).collect();
        let needed: u64 = new.iter().filter_map(|new| new.payload.as_ref()).map(|new| new.bytes.len() as u64).sum();
        let ids: Vec<&str> = new.iter().map(|new| new.id.as_str()).collect();
        let ranges: Vec<_> = new.iter().map(|new| hash_range(new.id.as_str())).collect();
        let (from, to) = (hashes(ranges.iter().map(|(from, _)| from)), hashes(ranges.iter().map(|(_, to)| to)));
        let new_hashes = hashes(new.iter().map(|new| &new.original.hash));
        let hex: Vec<String> = new.iter().map(|new| new.original.hash.to_hex()).collect();
        if !new.is_empty() {
            let looked = writing.run(&[call!(USAGE), call!(AMBIGUOUS, ids, from, to, new_hashes, hex)])?;
            if let Some(row) = looked[1].first() {
                return Err(taken(at(row, 0)?));
            }
            sweep::make_room(writing, options, first(&looked[0])?.unwrap_or(0), needed, gate)?;
        }
        let chunks = chunks(&new);
        let mut flight = Vec::new();
        for chunk in &chunks {
            let Columns { hashes, ids, mimes, labels, sizes, zstd, payloads } = chunk;
            flight.push(call!(INSERT, *hashes, *ids, *mimes, *labels, *sizes, *zstd, *payloads));
        }
        flight.push(call!(ISSUED, all));
        flight.push(call!(GRANT, session, all, now));
        let mut answers = writing.run(&flight)?;
        let issued = answers.remove(chunks.len());
        let mut is_missing = false;
        for new in &mut *packed {
            let found = issued.iter().find(|row| hash(row, 0).ok() == Some(new.original.hash));
            match found {
                Some(row) if new.id.as_str().starts_with(at::<&str>(row, 1)?) => {}
                Some(_) => return Err(taken(new.id.as_str())),
                // Removed by another machine since it was packed.
                None => {
                    new.payload = Some(Payload::pack(&new.original.bytes));
                    is_missing = true;
                }
            }
        }
        if !is_missing {
            return Ok(());
        }
    }
}

/// Originals as columns.
#[derive(Default)]
struct Columns<'a> {
    hashes: Vec<&'a [u8]>,
    ids: Vec<&'a str>,
    mimes: Vec<Option<std::borrow::Cow<'a, str>>>,
    labels: Vec<std::borrow::Cow<'a, str>>,
    sizes: Vec<i64>,
    zstd: Vec<bool>,
    payloads: Vec<&'a [u8]>,
}

fn chunks<'a>(new: &[&'a Packed<'a>]) -> Vec<Columns<'a>> {
    let mut chunks: Vec<Columns<'a>> = Vec::new();
    let mut room = 0;
    let mut known = std::collections::HashSet::new();
    for new in new {
        let Some(payload) = &new.payload else { continue };
        if !known.insert(new.original.hash) {
            continue;
        }
        if chunks.is_empty() || room < payload.bytes.len() {
            chunks.push(Columns::default());
            room = CHUNK_BYTES;
        }
        room = room.saturating_sub(payload.bytes.len());
        let Some(columns) = chunks.last_mut() else { continue };
        columns.hashes.push(&new.original.hash.0);
        columns.ids.push(new.id.as_str());
        columns.mimes.push(match &new.original.media {
            Media::Text => None,
            Media::Image(mime) => Some(escaped(mime)),
        });
        columns.labels.push(escaped(&new.original.label));
        columns.sizes.push(signed(new.original.bytes.len() as u64));
        columns.zstd.push(payload.is_zstd);
        columns.payloads.push(&payload.bytes);
    }
    chunks
}

/// Refuses what names an original that the agent may not see.
fn require(required: &[ContentHash], granted: &[Row]) -> Outcome<()> {
    let granted = granted.iter().map(|row| hash(row, 0)).collect::<Outcome<std::collections::HashSet<_>>>()?;
    match required.iter().find(|hash| !granted.contains(hash)) {
        Some(hash) => {
            Err(Error::bad_argument("original", hash.to_hex(), "in the batch or stored for this agent").into())
        }
        None => Ok(()),
    }
}

/// What the maker of a batch did not know of, in the order in which it was written: the last two answers of a flight.
fn in_force(mut answers: Vec<Vec<Row>>, since: i64) -> Outcome<Vec<Projection>> {
    let decided = answers.pop().unwrap_or_default();
    let newer = answers.pop().unwrap_or_default();
    let mut rows = newer.iter().map(projection).collect::<Outcome<Vec<_>>>()?;
    for row in &decided {
        // Known to the ledger that the batch was made from, and decided again all the same.
        rows.extend(Some(projection(row)?).filter(|(id, _)| *id <= since));
    }
    rows.sort_by_key(|(id, _)| *id);
    rows.dedup_by_key(|(id, _)| *id);
    Ok(rows.into_iter().map(|(_, projection)| projection).collect())
}

fn is_idle(batch: &Batch) -> bool {
    batch.originals.is_empty()
        && batch.withdrawn.is_empty()
        && batch.projections.is_empty()
        && batch.printed.is_empty()
        && batch.fetched.is_empty()
        && batch.receipts.is_empty()
        && batch.epoch.is_none()
}

/// What [`write`] would return, where it would change nothing but the time of a session that was seen a moment ago; `None`
/// where it has to be called.
fn skip(
    pool: &Pool,
    link: &mut Link,
    options: &StoreOptions,
    scope: &Scope,
    batch: &Batch,
    now: i64,
) -> Outcome<Option<Vec<Projection>>> {
    const STANDING: &str = "SELECT id, last_seen, tools, ended_at IS NULL
           AND ($3::text IS NULL OR EXISTS (SELECT 1 FROM homes WHERE homes.session = sessions.id AND host = $3)) FROM sessions
         WHERE session = $1 AND agent = $2";
    const NEWER: &str = "SELECT projections.id, block, place, replacement, hash, reason FROM projections
         JOIN originals ON originals.id = projections.original
         WHERE projections.session = (SELECT id FROM sessions WHERE session = $1 AND agent = $2) AND projections.id > $3
         ORDER BY projections.id";
    let (session, agent, host) = (key(&scope.session_id), key(&scope.agent_id), pool.host.as_deref());
    let in_context: Option<Vec<&[u8]>> = batch.in_context.as_ref().map(hashes);
    let shown = in_context.clone().unwrap_or_default();
    let told = pool.told(now);
    let answers = link.read(vec![
        call!(WHICH, told),
        call!(STANDING, session, agent, host),
        call!(IS_SAME, session, agent, shown, batch.since),
        call!(NEWER, session, agent, batch.since),
    ])?;
    let (generation, now) = pool.which(&answers[0])?;
    if batch.generation != 0 && batch.generation != generation {
        return Err(Failure::Replaced);
    }
    let Some(row) = answers[1].first() else { return Ok(in_context.is_none().then(Vec::new)) };
    let (last_seen, known, is_kept): (i64, Option<&[u8]>, bool) = (at(row, 1)?, at(row, 2)?, at(row, 3)?);
    let is_same = in_context.is_none()
        || now.abs_diff(last_seen) < options.touch_interval_ms().unsigned_abs()
            && batch.tools.is_none_or(|tools| known == Some(tools.0.as_slice()))
            && first(&answers[2])?.unwrap_or(false);
    if !is_same || !is_kept {
        return Ok(None);
    }
    let rows = answers[3].iter().map(projection).collect::<Outcome<Vec<_>>>()?;
    Ok(Some(rows.into_iter().map(|(_, projection)| projection).collect()))
}

/// Hashes as a parameter.
pub(crate) fn hashes<'a>(hashes: impl IntoIterator<Item = &'a ContentHash>) -> Vec<&'a [u8]> {
    hashes.into_iter().map(|hash| hash.0.as_slice()).collect()
}
