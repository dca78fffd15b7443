//! A batch -> rows, all or none, in three to five round trips however large it is.
//!
//! The ids in a batch were read before its text was composed; another machine may have written since. So everything that makes a
//! marker true is checked again inside the transaction, which has the session's row to itself.

use std::collections::{HashMap, HashSet};

use concertina::error::Error;
use concertina::reference::ContentHash;
use concertina::store::payload::{self, Packer};
use concertina::store::{Batch, Projection, Scope, StoreOptions};
use tokio_postgres::Row;

use crate::batch::{INSERT, ISSUED, PROJECT, Packed, Parameters, WITHDRAW, columns, hashes};
use crate::context::GRANTED;
use crate::failure::{Failure, NO_ROOM, Outcome};
use crate::link::call;
use crate::pool::{Gate, Pool, Writing};
use crate::read::projection;
use crate::row::{at, first, hash};
use crate::sweep::{self, USAGE};

const STORED: &str = "SELECT hash FROM originals WHERE hash = ANY($1::bytea[])";

/// Makes a batch durable; returns what is in force that its maker did not know of.
pub(crate) fn commit(
    pool: &Pool,
    options: &StoreOptions,
    scope: &Scope,
    batch: &Batch,
    now: i64,
) -> concertina::error::Result<Vec<Projection>> {
    if batch.is_idle(now, options.touch_interval_ms()) {
        return Ok(Vec::new());
    }
    for (id, original) in &batch.originals {
        payload::check(id, original)?;
    }
    let stored = stored(pool, batch)?;
    let mut packer = Packer::default();
    let mut packed: Vec<Packed<'_>> = (batch.originals.iter())
        .map(|(id, original)| {
            let payload = (!stored.contains(&original.hash)).then(|| packer.pack(&original.bytes));
            Packed { id, original, payload }
        })
        .collect();
    let needed = packed.iter().filter_map(|new| new.payload.as_ref()).map(|payload| payload.bytes.len() as u64).sum();
    let (parameters, told) = (Parameters::new(pool.host.as_deref(), scope, batch, now), pool.told(now));
    let opening = parameters.opening(&told);
    let mut run = || {
        pool.write_after(Gate::Shared, now, &opening, |writing, opened| {
            write(writing, options, (batch, &parameters), &mut packed, &opened)
        })
    };
    match run() {
        Err(Error::StoreFull { reason, .. }) if reason == NO_ROOM => {}
        done => return done,
    }
    // A little more than needed, so that not every commit at the limit has to look for what may go.
    let target = options.max_bytes.saturating_sub(needed).saturating_sub(options.max_bytes / 20);
    sweep::evict(pool, options, now, target)?;
    run()
}

/// Which of a batch's originals need not be sent. A few bytes are sent at once rather than asked about.
fn stored(pool: &Pool, batch: &Batch) -> concertina::error::Result<HashSet<ContentHash>> {
    const ASKED_ABOVE: usize = 64 << 10;
    if batch.originals.iter().map(|(_, original)| original.bytes.len()).sum::<usize>() <= ASKED_ABOVE {
        return Ok(HashSet::new());
    }
    let hashes = hashes(batch.originals.iter().map(|(_, original)| &original.hash));
    pool.with(|link| link.run(&[call!(STORED, hashes)])?[0].iter().map(|row| hash(row, 0)).collect())
}

fn write(
    writing: &mut Writing<'_>,
    options: &StoreOptions,
    (batch, parameters): (&Batch, &Parameters<'_>),
    packed: &mut [Packed<'_>],
    opened: &[Vec<Row>],
) -> Outcome<Vec<Projection>> {
    if batch.generation != 0 && batch.generation != writing.generation {
        return Err(Failure::Replaced);
    }
    let session: i64 = first(&opened[0])?.ok_or_else(|| Failure::Damaged("a session has no row".to_owned()))?;
    if let Some(row) = opened.get(1).and_then(|ambiguous| ambiguous.first()) {
        return Err(taken(at(row, 0)?));
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
    let mut is_larger = false;
    for (sql, rows) in &decided {
        match *sql {
            INSERT => is_larger |= !rows.is_empty(),
            USAGE if is_larger && sweep::used(rows)? > options.max_bytes => return Err(Failure::NoRoom),
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
