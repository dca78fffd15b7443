//! Requests as rows, and what they come to.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::failure::Outcome;
use super::read::{is_theirs, row_of, stored};
use super::row::{Count, count};
use super::session::find_session;
use crate::store::figures::{
    Amount, Day, FetchedOriginal, Figures, FiguresQuery, FoldedKind, KindTokens, KnownSession, Recent, Request,
    SessionAmount, SessionEpoch, Stored, Total,
};
use crate::store::sums::{DAY_MS, Sums, date};
use crate::store::{Millis, Scope};

/// The sums of requests, in this order; `swept_requests` has them as columns.
const SUMS: &str = "count(*), sum(is_measured), sum(sent), sum(without), sum(overhead), sum(fetched), \
    total(sent_bill), total(without_bill), total(sent_bill * usd), total(without_bill * usd), count(*) - count(usd)";

pub(super) fn insert_request(transaction: &Transaction<'_>, session: i64, request: &Request) -> Outcome<()> {
    transaction
        .prepare_cached(
            "INSERT INTO requests (session, at, is_measured, sent, without, overhead, fetched, sent_bill, without_bill, usd)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute(params![
            session,
            request.at,
            request.is_measured,
            Count(request.sent),
            Count(request.without),
            Count(request.overhead),
            Count(request.fetched),
            request.sent_bill,
            request.without_bill,
            request.usd
        ])?;
    Ok(())
}

pub(super) fn insert_fetch(
    transaction: &Transaction<'_>,
    session: i64,
    (ref_id, tokens): (&str, u64),
    now: Millis,
) -> Outcome<()> {
    transaction
        .prepare_cached("INSERT INTO fetches (session, at, ref_id, tokens) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![session, now, ref_id, Count(tokens)])?;
    Ok(())
}

pub(super) fn add_folded(
    transaction: &Transaction<'_>,
    session: i64,
    (kind, before, after): (FoldedKind, u64, u64),
    now: Millis,
) -> Outcome<()> {
    transaction
        .prepare_cached(
            "INSERT INTO folded (session, day, kind, tokens_before, tokens_after) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (session, day, kind) DO UPDATE SET
               tokens_before = tokens_before + excluded.tokens_before, tokens_after = tokens_after + excluded.tokens_after",
        )?
        .execute(params![session, now.div_euclid(DAY_MS), kind.as_str(), Count(before), Count(after)])?;
    Ok(())
}

/// What a session did since a moment, and how it stood before.
pub(super) fn recent(connection: &Connection, scope: &Scope, since: Millis) -> Outcome<Recent> {
    let Some(session) = find_session(connection, scope)? else { return Ok(Recent::default()) };
    let last = |condition: &str| -> Outcome<Option<Request>> {
        Ok(connection
            .prepare_cached(&format!(
                "SELECT at, is_measured, sent, without, overhead, fetched, sent_bill, without_bill, usd FROM requests
                 WHERE session = ?1 {condition} ORDER BY id DESC LIMIT 1"
            ))?
            .query_row((session,), |row| {
                Ok(Request {
                    at: row.get(0)?,
                    is_measured: row.get(1)?,
                    sent: count(row, 2)?,
                    without: count(row, 3)?,
                    overhead: count(row, 4)?,
                    fetched: count(row, 5)?,
                    sent_bill: row.get(6)?,
                    without_bill: row.get(7)?,
                    usd: row.get(8)?,
                })
            })
            .optional()?)
    };
    let timed = |sql: &str| -> Outcome<Vec<(Millis, u64)>> {
        let mut query = connection.prepare_cached(sql)?;
        let rows = query.query_map((session, since), |row| Ok((row.get(0)?, count(row, 1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    };
    Ok(Recent {
        last: last("")?,
        last_without: last("AND without > 0")?,
        admitted: timed(
            "SELECT at, max(tokens_before - tokens_after, 0) FROM receipts
             WHERE session = ?1 AND kind = 'admit' AND at >= ?2 ORDER BY id",
        )?,
        fetched: timed("SELECT at, tokens FROM fetches WHERE session = ?1 AND at >= ?2 ORDER BY id")?,
    })
}

/// Adds the requests of a session that is about to be forgotten to the totals.
pub(super) fn keep_sums(transaction: &Transaction<'_>, session: i64) -> Outcome<()> {
    transaction
        .prepare_cached(&format!(
            "INSERT INTO swept_requests SELECT at / {DAY_MS} AS day, {SUMS},
               (SELECT count(*) FROM fetches WHERE fetches.session = ?1 AND fetches.at / {DAY_MS} = requests.at / {DAY_MS})
             FROM requests WHERE session = ?1 GROUP BY 1
             ON CONFLICT (day) DO UPDATE SET
               requests = requests + excluded.requests, measured = measured + excluded.measured,
               sent = sent + excluded.sent, without = without + excluded.without,
               overhead = overhead + excluded.overhead, fetched = fetched + excluded.fetched,
               sent_bill = sent_bill + excluded.sent_bill, without_bill = without_bill + excluded.without_bill,
               sent_usd = sent_usd + excluded.sent_usd, without_usd = without_usd + excluded.without_usd,
               unpriced = unpriced + excluded.unpriced, fetches = fetches + excluded.fetches"
        ))?
        .execute((session,))?;
    Ok(())
}

/// Reads [`SUMS`], from a column on.
fn read_sums(row: &Row<'_>, from: usize) -> rusqlite::Result<Sums> {
    let amount = Amount {
        requests: count(row, from)?,
        sent_tokens: count(row, from + 2)?,
        without_tokens: count(row, from + 3)?,
        sent_bill: row.get(from + 6)?,
        without_bill: row.get(from + 7)?,
    };
    Ok(Sums {
        amount,
        measured: count(row, from + 1)?,
        overhead: count(row, from + 4)?,
        fetched: count(row, from + 5)?,
        usd: (row.get(from + 8)?, row.get(from + 9)?),
        unpriced: count(row, from + 10)?,
    })
}

/// The figures; `max_bytes` and `path` are the store's.
pub(super) fn figures(
    connection: &Connection,
    query: &FiguresQuery,
    (max_bytes, path): (u64, String),
) -> Outcome<Figures> {
    // Rows of the session ?1, where one is asked for, from ?2 on and before ?3.
    let session = row_of(connection, query.session.as_ref())?;
    let since = query.since.map_or(Millis::MIN, |at| at as Millis);
    let until = query.until.map_or(Millis::MAX, |at| at as Millis);
    let range = params![session, since, until];
    let days_range = params![session, since.div_euclid(DAY_MS), until.saturating_sub(1).div_euclid(DAY_MS)];
    let is_theirs = is_theirs(session);
    let of_session = format!("{is_theirs} AND at >= ?2 AND at < ?3");

    let mut by_day: BTreeMap<i64, Sums> = connection
        .prepare_cached(&format!(
            "SELECT at / {DAY_MS}, {SUMS} FROM requests JOIN sessions ON sessions.id = session WHERE {of_session} GROUP BY 1"
        ))?
        .query_map(range, |row| Ok((row.get(0)?, read_sums(row, 1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut fetches: u64 = connection
        .prepare_cached(&format!(
            "SELECT count(*) FROM fetches JOIN sessions ON sessions.id = session WHERE {of_session}"
        ))?
        .query_row(range, |row| count(row, 0))?;
    let swept: Vec<(i64, Sums, u64)> = connection
        .prepare_cached(
            "SELECT day, requests, measured, sent, without, overhead, fetched, sent_bill, without_bill, sent_usd,
               without_usd, unpriced, fetches FROM swept_requests WHERE ?1 IS NULL AND day >= ?2 AND day <= ?3",
        )?
        .query_map(days_range, |row| Ok((row.get(0)?, read_sums(row, 1)?, count(row, 12)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (day, sums, fetched) in swept {
        let of_day = by_day.entry(day).or_default();
        *of_day = of_day.plus(sums);
        fetches += fetched;
    }
    let all = by_day.values().fold(Sums::default(), |all, sums| all.plus(*sums));
    let in_usd = all.amount.requests > 0 && all.unpriced == 0;

    let sessions = connection
        .prepare_cached(&format!(
            "SELECT session_id, session_key, max(at), {SUMS} FROM requests JOIN sessions ON sessions.id = session
             WHERE {of_session} GROUP BY session
             ORDER BY total((without_bill - sent_bill) * iif(?4, usd, 1)) DESC, max(at) DESC LIMIT 100"
        ))?
        .query_map(params![session, since, until, in_usd], |row| {
            Ok(SessionAmount {
                session_id: row.get(0)?,
                session_key: row.get(1)?,
                last_at: row.get(2)?,
                amount: read_sums(row, 3)?.amount(in_usd),
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let epochs = connection
        .prepare_cached(&format!(
            "SELECT at, session_id, reason, blocks, tokens_freed, tokens_rebilled FROM epochs
             JOIN sessions ON sessions.id = session WHERE {of_session} ORDER BY epochs.id DESC LIMIT 200"
        ))?
        .query_map(range, |row| {
            Ok(SessionEpoch {
                at: row.get(0)?,
                session_id: row.get(1)?,
                reason: row.get(2)?,
                blocks: count(row, 3)?,
                tokens_freed: count(row, 4)?,
                tokens_rebilled: count(row, 5)?,
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let kinds = connection
        .prepare_cached(&format!(
            "SELECT kind, sum(tokens_before), sum(tokens_after) FROM folded JOIN sessions ON sessions.id = session
             WHERE {is_theirs} AND day >= ?2 AND day <= ?3 GROUP BY kind ORDER BY 2 DESC"
        ))?
        .query_map(days_range, |row| {
            Ok(KindTokens { kind: row.get(0)?, before: count(row, 1)?, after: count(row, 2)? })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let fetched = connection
        .prepare_cached(&format!(
            "SELECT at, ref_id, tokens, session_id FROM fetches JOIN sessions ON sessions.id = session
             WHERE {of_session} ORDER BY fetches.id DESC LIMIT 100"
        ))?
        .query_map(range, |row| {
            Ok(FetchedOriginal {
                at: row.get(0)?,
                ref_id: row.get(1)?,
                tokens: count(row, 2)?,
                session_id: row.get(3)?,
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let [originals, original_bytes, stored_bytes] = stored(connection, session)?;
    let last_fold_at = connection
        .prepare_cached(&format!(
            "SELECT max(at) FROM (
               SELECT at FROM receipts JOIN sessions ON sessions.id = session WHERE kind IN ('admit', 'assemble') AND {of_session})"
        ))?
        .query_row(range, |row| row.get(0))?;
    Ok(Figures {
        unit: if in_usd { "usd" } else { "input tokens" },
        total: Total {
            amount: all.amount(in_usd),
            measured: all.measured,
            fetches,
            fetch_tokens: all.fetched,
            overhead_tokens: all.overhead,
        },
        days: by_day.into_iter().map(|(day, sums)| Day { day: date(day), amount: sums.amount(in_usd) }).collect(),
        sessions,
        epochs,
        kinds,
        fetched,
        store: Stored { originals, original_bytes, stored_bytes, max_bytes, path },
        last_fold_at,
    })
}

/// How long warnings are kept.
const WARNINGS_MS: Millis = 7 * DAY_MS;

pub(super) fn insert_warning(transaction: &Transaction<'_>, text: &str, now: Millis) -> Outcome<()> {
    transaction.prepare_cached("DELETE FROM warnings WHERE at < ?1")?.execute((now - WARNINGS_MS,))?;
    transaction.prepare_cached("INSERT INTO warnings (at, text) VALUES (?1, ?2)")?.execute((now, text))?;
    Ok(())
}

/// What the operator was warned of, newest first.
pub(super) fn warnings(connection: &Connection, since: Millis) -> Outcome<Vec<(Millis, String)>> {
    Ok(connection
        .prepare_cached("SELECT at, text FROM warnings WHERE at >= ?1 ORDER BY id DESC LIMIT 100")?
        .query_map((since,), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?)
}

/// All sessions, the last seen first, with whether the host has them and which others do.
pub(super) fn sessions(connection: &Connection, host: &str) -> Outcome<Vec<KnownSession>> {
    let mut others =
        connection.prepare_cached("SELECT host FROM homes WHERE session = ?1 AND host <> ?2 ORDER BY host")?;
    let mut known = connection.prepare_cached(
        "SELECT id, agent_id, session_id, session_key, last_seen, is_off,
           EXISTS (SELECT 1 FROM homes WHERE homes.session = sessions.id AND host = ?1)
         FROM sessions ORDER BY last_seen DESC, id DESC",
    )?;
    let rows = known.query_map((host,), |row| {
        let id: i64 = row.get(0)?;
        Ok(KnownSession {
            agent_id: row.get(1)?,
            session_id: row.get(2)?,
            session_key: row.get(3)?,
            last_seen: row.get(4)?,
            is_off: row.get(5)?,
            is_here: row.get(6)?,
            elsewhere: others.query_map((id, host), |row| row.get(0))?.collect::<rusqlite::Result<_>>()?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
