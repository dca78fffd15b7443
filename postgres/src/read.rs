//! Rows -> what callers ask for.

use std::collections::BTreeMap;
use std::sync::Arc;

use concertina::reference::{ContentHash, Media, Original, RefId, SHORT_ID_DIGITS};
use concertina::store::id::{self, hash_range};
use concertina::store::memory::Memory;
use concertina::store::payload::Payload;
use concertina::store::{
    BlockKey, Epoch, Ledger, Millis, Printed, PrintedText, Projection, Receipt, Scope, Standing, Stats, StoreOptions,
};
use tokio_postgres::Row;

use crate::batch::hashes;
use crate::failure::{Failure, Outcome};
use crate::link::{Link, call};
use crate::pool::{Pool, WHICH};
use crate::row::{at, count, first, hash, text, text_or_null};
use crate::session::{row_of, session};
use crate::text::key;

/// Ids, with what is stored near them.
pub(crate) const NEAR: &str = "SELECT DISTINCT near.hash, near.ref_id FROM unnest($1::bytea[], $2::bytea[]) AS given (first, last)
     CROSS JOIN LATERAL (
       SELECT hash, ref_id FROM originals WHERE hash BETWEEN given.first AND given.last ORDER BY hash OFFSET 0) AS near";

/// An original that some digits resolve to, when it was last referred to by the agent, and the time.
/// The payload is NULL where it is that of the hash which the caller holds.
pub(crate) const GET: &str = "SELECT hash, ref_id, mime, label, size, is_zstd,
       CASE WHEN hash IS DISTINCT FROM $6::bytea THEN payload END, referred.at, moment($5::bigint)
     FROM originals CROSS JOIN LATERAL (
       SELECT max(referred_at) AS at FROM access WHERE original = originals.id AND $4 IN (agent, parent_agent)) AS referred
     WHERE hash BETWEEN $1 AND $2 AND starts_with($3::text, ref_id) AND referred.at IS NOT NULL";

/// The rows of a session's projection after the row `$3`, and those of some blocks, in the order in which they were written.
pub(crate) const IN_FORCE: &str = concat!(
    "SELECT projections.id, block, place, replacement, hash, reason FROM projections
     JOIN originals ON originals.id = projections.original
     WHERE session = ",
    session!(),
    " AND projections.id > $3 OR projections.id = ANY(ARRAY(
       SELECT projections.id FROM unnest($4::bytea[], $5::bigint[]) AS given (block, place)
       JOIN projections ON session = ",
    session!(),
    " AND projections.block = given.block AND projections.place = given.place)) ORDER BY projections.id"
);

/// A row of [`IN_FORCE`], and of the projections of a ledger.
pub(crate) fn projection(row: &Row) -> Outcome<(i64, Projection)> {
    let projection = Projection {
        block: BlockKey { hash: hash(row, 1)?, place: at(row, 2)? },
        replacement: text(row, 3)?,
        original: hash(row, 4)?,
        reason: text(row, 5)?,
    };
    Ok((at(row, 0)?, projection))
}

/// The ids of contents: [`id::propose`].
pub(crate) fn ref_ids(link: &mut Link, of: &[ContentHash]) -> Outcome<Vec<RefId>> {
    let ranges: Vec<_> = of.iter().map(|hash| hash_range(hash.to_ref_id(SHORT_ID_DIGITS).as_str())).collect();
    let (from, to) = (hashes(ranges.iter().map(|(from, _)| from)), hashes(ranges.iter().map(|(_, to)| to)));
    let rows = link.run(&[call!(NEAR, from, to)])?.remove(0);
    let near = rows.iter().map(|row| Ok((hash(row, 0)?, at(row, 1)?))).collect::<Outcome<BTreeMap<_, String>>>()?;
    id::propose(of, |from, to| Ok(near.range(from..=to).map(|(hash, id)| (*hash, id.clone())).collect()))
}

/// The digits that every id of an original begins with.
pub(crate) type Digits = [u8; 8];

/// An id that is asked for.
struct Asked<'a> {
    digits: &'a str,
    /// The first and the last hash that begin with it.
    range: [Vec<u8>; 2],
    in_memory: Option<Arc<Original>>,
    /// The hash of that.
    held: Option<Vec<u8>>,
}

impl<'a> Asked<'a> {
    fn new(id: &'a RefId, memory: &Memory<Digits>) -> Self {
        let (from, to) = hash_range(id.as_str());
        let in_memory = memory.originals.get(&digits(&from));
        let held = in_memory.as_ref().map(|original| original.hash.0.to_vec());
        Self { digits: id.as_str(), range: [from, to].map(|hash| hash.0.to_vec()), in_memory, held }
    }
}

fn digits(hash: &ContentHash) -> Digits {
    *hash.0.first_chunk().expect("a hash has 32 bytes")
}

/// The originals behind ids, checked, in one round trip. What is in memory was checked before, and its bytes do not cross again.
pub(crate) fn get(
    pool: &Pool,
    link: &mut Link,
    memory: &Memory<Digits>,
    options: &StoreOptions,
    (ids, agent_id): (&[RefId], &str),
    now: Millis,
) -> Outcome<Vec<Option<(RefId, Original)>>> {
    let (agent, told) = (key(agent_id), pool.told(now));
    let asked: Vec<Asked<'_>> = ids.iter().map(|id| Asked::new(id, memory)).collect();
    let calls = asked.iter().map(|one| call!(GET, one.range[0], one.range[1], one.digits, agent, told, one.held));
    let answers = link.run(&calls.collect::<Vec<_>>())?;
    asked.iter().zip(&answers).map(|(asked, rows)| found(asked, rows, memory, options)).collect()
}

/// The original of the rows of [`GET`].
fn found(
    asked: &Asked<'_>,
    rows: &[Row],
    memory: &Memory<Digits>,
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
        if let Some(held) = asked.in_memory.as_ref().filter(|held| held.hash == hash) {
            return Ok(Some((id, Original { hash, bytes: held.bytes.clone(), media, label })));
        }
        let payload = Payload { is_zstd: at(row, 5)?, bytes: at(row, 6)? };
        let original = Original { hash, bytes: payload.unpack(count(row, 4)?, hash, &id)?, media, label };
        memory.originals.insert(digits(&hash), Arc::new(original.clone()));
        return Ok(Some((id, original)));
    }
    Ok(None)
}

/// What a session knows, in the order in which it was first written.
pub(crate) fn ledger(pool: &Pool, link: &mut Link, memory: &Memory<Digits>, scope: &Scope) -> Outcome<Ledger> {
    macro_rules! of_session {
        ($columns:literal, $from:literal, $rest:literal) => {
            concat!("SELECT ", $columns, " FROM ", $from, " WHERE session = ", session!(), " ", $rest)
        };
    }
    const PROJECTIONS: &str = of_session!(
        "projections.id, block, place, replacement, hash, reason",
        "projections JOIN originals ON originals.id = projections.original",
        "AND projections.id > $3 ORDER BY projections.id"
    );
    const HELD: &str = of_session!("count(*)", "projections", "AND id <= $3");
    const PRINTED: &str = of_session!(
        "text, is_answer, hash, saved",
        "printed JOIN originals ON originals.id = printed.original",
        "ORDER BY text"
    );
    const ADMITTED: &str =
        of_session!("at, greatest(tokens_before - tokens_after, 0)", "receipts", "AND kind = 'admit' ORDER BY id");
    const EPOCHS: &str = of_session!("at, reason, tokens_freed, tokens_rebilled, blocks", "epochs", "ORDER BY id");
    const LAST: &str = of_session!("at", "requests", "ORDER BY id DESC LIMIT 1");
    const IN_CONTEXT: &str =
        of_session!("hash", "grants JOIN originals ON originals.id = grants.original", "AND left_at IS NULL");
    const SESSION: &str = "SELECT tools, is_off, last_seen, ended_at IS NULL
           AND ($3::text IS NULL OR EXISTS (SELECT 1 FROM homes WHERE homes.session = sessions.id AND host = $3))
         FROM sessions WHERE session = $1 AND agent = $2";
    let (session, agent, host) = (key(&scope.session_id), key(&scope.agent_id), pool.host.as_deref());
    let told: Option<Millis> = None;
    let held = memory.take(scope);
    let answers = link.read(vec![
        call!(WHICH, told),
        call!(PROJECTIONS, session, agent, held.version),
        call!(PRINTED, session, agent),
        call!(ADMITTED, session, agent),
        call!(EPOCHS, session, agent),
        call!(LAST, session, agent),
        call!(IN_CONTEXT, session, agent),
        call!(SESSION, session, agent, host),
        call!(HELD, session, agent, held.version),
    ])?;
    let (generation, now) = pool.which(link, &answers[0])?;
    if !held.is_complete(generation, count(&answers[8][0], 0)?) {
        // Nothing is in memory now, and nothing is complete of itself.
        return ledger(pool, link, memory, scope);
    }
    let Some(known) = answers[7].first() else { return Ok(Ledger { generation, ..Ledger::default() }) };
    let standing = Standing {
        in_context: answers[6].iter().map(|row| hash(row, 0)).collect::<Outcome<_>>()?,
        last_seen: at(known, 2)?,
        read_at: pool.has_own_clock().then_some(now),
    };
    let held = held.with(generation, answers[1].iter().map(projection).collect::<Outcome<_>>()?);
    memory.keep(scope, held.clone());
    Ok(Ledger {
        version: held.version,
        projections: held.projections,
        printed: answers[2].iter().map(printed).collect::<Outcome<_>>()?,
        admitted: timed(&answers[3])?,
        epochs: answers[4].iter().map(logged_epoch).collect::<Outcome<_>>()?,
        tools: at::<Option<&[u8]>>(known, 0)?.map(|_| hash(known, 0)).transpose()?,
        is_off: at(known, 1)?,
        last_request: first(&answers[5])?,
        generation,
        standing: at::<bool>(known, 3)?.then_some(standing),
    })
}

fn printed(row: &Row) -> Outcome<PrintedText> {
    let printed = if at(row, 1)? { Printed::Copy } else { Printed::Placeholder };
    Ok(PrintedText { text: hash(row, 0)?, printed, original: hash(row, 2)?, saved: count(row, 3)? })
}

/// Rows of a time and a count.
pub(crate) fn timed(rows: &[Row]) -> Outcome<Vec<(Millis, u64)>> {
    rows.iter().map(|row| Ok((at(row, 0)?, count(row, 1)?))).collect()
}

/// Totals of a session, or of the whole store.
pub(crate) fn stats(link: &mut Link, session: Option<&Scope>) -> Outcome<Stats> {
    const SESSIONS: &str = "SELECT count(*), (SELECT count(*) FROM turns JOIN sessions ON sessions.id = turns.session
             WHERE $1::bigint IS NULL OR sessions.id = $1)
         FROM sessions WHERE $1::bigint IS NULL OR id = $1";
    const RECEIVED: &str = "SELECT coalesce(sum(tokens_before), 0)::bigint, coalesce(sum(tokens_after), 0)::bigint
         FROM receipts JOIN sessions ON sessions.id = receipts.session WHERE $1::bigint IS NULL OR sessions.id = $1";
    const SWEPT: &str = "SELECT turns, tokens_before, tokens_after FROM swept WHERE $1::bigint IS NULL";
    const RECEIPTS: &str = "SELECT at, kind, tokens_before, tokens_after, detail FROM receipts
         JOIN sessions ON sessions.id = receipts.session
         WHERE $1::bigint IS NULL OR sessions.id = $1 ORDER BY receipts.id DESC LIMIT 100";
    const EPOCHS: &str = "SELECT at, reason, tokens_freed, tokens_rebilled, blocks FROM epochs
         JOIN sessions ON sessions.id = epochs.session
         WHERE $1::bigint IS NULL OR sessions.id = $1 ORDER BY epochs.id DESC LIMIT 100";
    let session = row_of(link, session)?;
    let answers = link.survey(vec![
        call!(SESSIONS, session),
        call!(STORED_OF, session),
        call!(RECEIVED, session),
        call!(SWEPT, session),
        call!(RECEIPTS, session),
        call!(EPOCHS, session),
    ])?;
    let number = |answer: usize, column: usize| match answers[answer].first() {
        Some(row) => count(row, column),
        None => Ok(0),
    };
    Ok(Stats {
        sessions: number(0, 0)?,
        originals: number(1, 0)?,
        original_bytes: number(1, 1)?,
        stored_bytes: number(1, 2)?,
        turns: number(0, 1)? + number(3, 0)?,
        receipts: answers[4].iter().map(receipt).collect::<Outcome<_>>()?,
        tokens_before: number(2, 0)? + number(3, 1)?,
        tokens_after: number(2, 1)? + number(3, 2)?,
        epochs: answers[5].iter().map(logged_epoch).collect::<Outcome<_>>()?,
    })
}

/// Originals, their size as they were, and as they are stored. An array, because `IN` beside `OR` reads every original.
pub(crate) const STORED_OF: &str =
    "SELECT count(*), coalesce(sum(size), 0)::bigint, coalesce(sum(octet_length(payload)), 0)::bigint FROM originals
     WHERE $1::bigint IS NULL OR id = ANY(ARRAY(SELECT original FROM grants WHERE session = $1))";

fn receipt(row: &Row) -> Outcome<(Millis, Receipt)> {
    let receipt = Receipt {
        kind: text(row, 1)?,
        tokens_before: count(row, 2)?,
        tokens_after: count(row, 3)?,
        detail: text(row, 4)?,
    };
    Ok((at(row, 0)?, receipt))
}

/// Columns: `at`, then those of an [`Epoch`].
fn logged_epoch(row: &Row) -> Outcome<(Millis, Epoch)> {
    let epoch = Epoch {
        reason: text(row, 1)?,
        tokens_freed: count(row, 2)?,
        tokens_rebilled: count(row, 3)?,
        blocks: count(row, 4)?,
    };
    Ok((at(row, 0)?, epoch))
}
