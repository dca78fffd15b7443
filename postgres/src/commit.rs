//! A batch -> rows, all or none, in four or five round trips however large it is.
//!
//! The ids in a batch were read before its text was composed; another machine may have written since. So everything that makes a
//! marker true is checked again inside the transaction, which has the session's row to itself.

use std::collections::{HashMap, HashSet};

use concertina::error::Error;
use concertina::reference::ContentHash;
use concertina::store::payload::{self, Packer};
use concertina::store::{Batch, Projection, Scope, StoreOptions};
use tokio_postgres::Row;

use crate::batch::{ISSUED, PROJECT, Packed, Parameters, WITHDRAW, columns, hashes};
use crate::context::{GRANTED, IS_SAME};
use crate::failure::{Failure, NO_ROOM, Outcome};
use crate::link::{Link, call};
use crate::pool::{Gate, Pool, WHICH, Writing};
use crate::read::projection;
use crate::row::{at, first, hash};
use crate::sweep;
use crate::text::key;

const STORED: &str = "SELECT hash FROM originals WHERE hash = ANY($1::bytea[])";

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
        let stored: HashSet<&[u8]> = rows.iter().filter_map(|row| row.try_get(0).ok()).collect();
        let mut packer = Packer::default();
        packed.extend(batch.originals.iter().map(|(id, original)| {
            let is_stored = stored.contains(original.hash.0.as_slice());
            Packed { id, original, payload: (!is_stored).then(|| packer.pack(&original.bytes)) }
        }));
    }
    let (parameters, told) = (Parameters::new(pool.host.as_deref(), scope, batch, now), pool.told(now));
    let opening = parameters.opening(&told);
    let mut run = |gate| {
        pool.write_after(gate, now, &opening, |writing, opened| {
            write(writing, options, (batch, &parameters), (&mut packed, gate), &opened)
        })
    };
    run(Gate::Shared).or_else(|error| {
        // Only who is alone may remove something.
        match &error {
            Error::StoreFull { reason, .. } if reason == NO_ROOM => run(Gate::Alone),
            _ => Err(error),
        }
    })
}

fn write(
    writing: &mut Writing<'_>,
    options: &StoreOptions,
    (batch, parameters): (&Batch, &Parameters<'_>),
    (packed, gate): (&mut [Packed<'_>], Gate),
    opened: &[Vec<Row>],
) -> Outcome<Vec<Projection>> {
    if batch.generation != 0 && batch.generation != writing.generation {
        return Err(Failure::Replaced);
    }
    let session: i64 = first(&opened[0])?.ok_or_else(|| Failure::Damaged("a session has no row".to_owned()))?;
    if let [_, used, ambiguous] = opened {
        if let Some(row) = ambiguous.first() {
            return Err(taken(at(row, 0)?));
        }
        let new = packed.iter().filter_map(|new| new.payload.as_ref());
        let needed: u64 = new.map(|payload| payload.bytes.len() as u64).sum();
        sweep::make_room(writing, options, first(used)?.unwrap_or(0), needed, gate)?;
    }
    let moment = parameters.moment(session, writing.now);
    let (decided, concluded) = {
        let columns = columns(packed);
        let mut flight = parameters.deciding(&columns, &moment);
        let decisions = flight.len();
        if !parameters.decides() {
            flight.extend(parameters.concluding(true, &moment));
        }
        let mut answers = writing.run(&flight)?;
        let concluded = answers.split_off(decisions);
        (flight.iter().map(|call| call.sql).zip(answers).collect::<Vec<_>>(), concluded)
    };
    for (sql, rows) in &decided {
        match *sql {
            ISSUED => check_issued(packed, rows)?,
            GRANTED => require(batch, rows)?,
            _ => {}
        }
    }
    if !parameters.decides() {
        return in_force(concluded, batch.since);
    }
    // Rows that were withdrawn or added.
    let is_decided = decided.iter().any(|(sql, rows)| [WITHDRAW, PROJECT].contains(sql) && !rows.is_empty());
    in_force(writing.run(&parameters.concluding(is_decided, &moment))?, batch.since)
}

fn taken(id: &str) -> Failure {
    Error::bad_argument("id", id, "longer, because another original has it").into()
}

/// Checks that the originals are stored under the ids that their markers print.
fn check_issued(packed: &mut [Packed<'_>], issued: &[Row]) -> Outcome<()> {
    let issued = issued.iter().map(|row| Ok((hash(row, 0)?, at(row, 1)?)));
    let issued = issued.collect::<Outcome<HashMap<ContentHash, &str>>>()?;
    let mut is_outdated = false;
    for new in packed {
        match issued.get(&new.original.hash) {
            Some(id) if new.id.as_str().starts_with(id) => {}
            Some(_) => return Err(taken(new.id.as_str())),
            // Removed by another machine since it was packed.
            None => {
                new.payload = Some(Packer::default().pack(&new.original.bytes));
                is_outdated = true;
            }
        }
    }
    if is_outdated { Err(Failure::Outdated) } else { Ok(()) }
}

/// Refuses what names an original that the agent may not see.
fn require(batch: &Batch, granted: &[Row]) -> Outcome<()> {
    let granted = granted.iter().map(|row| hash(row, 0)).collect::<Outcome<HashSet<_>>>()?;
    let mut required =
        (batch.projections.iter().map(|row| row.original)).chain(batch.printed.iter().map(|row| row.original));
    match required.find(|hash| !granted.contains(hash)) {
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
    let (generation, now) = pool.which(link, &answers[0])?;
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
