//! Requests as rows, and what they come to.

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::failure::Outcome;
use super::read::{is_theirs, row_of, stored};
use super::row::{Count, count};
use super::session::find_session;
use crate::figures::{
    FetchedOriginal, Figures, FiguresQuery, FoldedKind, KindTokens, KnownSession, Recent, Request, SessionEpoch, Stored,
};
use crate::sums::{DAY_MS, Days, Rest, SUMS, SessionSums, Sums, SumsSql, WIDTH};
use crate::{Millis, Scope};

/// A request as a row has it.
const REQUEST: &str =
    "at, is_measured, counted, weighed_told, weighed_counted, sent, without, dropped, overhead, fetched,
    sent_bill, without_bill, without_under, without_over, answered, answer_bill, usd";

pub(super) fn insert_request(transaction: &Transaction<'_>, session: i64, request: &Request) -> Outcome<()> {
    transaction
        .prepare_cached(&format!(
            "INSERT INTO requests (session, {REQUEST})
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)"
        ))?
        .execute(params![
            session,
            request.at,
            request.is_measured,
            request.counted.map(Count),
            request.weighed.map(|(told, _)| Count(told)),
            request.weighed.map(|(_, counted)| Count(counted)),
            Count(request.sent),
            Count(request.without),
            request.dropped,
            Count(request.overhead),
            Count(request.fetched),
            request.sent_bill,
            request.without_bill,
            request.without_under,
            request.without_over,
            request.answered.map(Count),
            request.answer_bill,
            request.usd
        ])?;
    Ok(())
}

/// Tokens as a column has them.
fn unsigned(tokens: i64) -> u64 {
    tokens.max(0) as u64
}

fn read_request(row: &Row<'_>) -> rusqlite::Result<Request> {
    let tokens = |column: usize| row.get::<_, Option<i64>>(column).map(|tokens| tokens.map(unsigned));
    Ok(Request {
        at: row.get(0)?,
        is_measured: row.get(1)?,
        counted: tokens(2)?,
        weighed: tokens(3)?.zip(tokens(4)?),
        sent: count(row, 5)?,
        without: count(row, 6)?,
        dropped: row.get(7)?,
        overhead: count(row, 8)?,
        fetched: count(row, 9)?,
        sent_bill: row.get(10)?,
        without_bill: row.get(11)?,
        without_under: row.get(12)?,
        without_over: row.get(13)?,
        answered: tokens(14)?,
        answer_bill: row.get(15)?,
        usd: row.get(16)?,
    })
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
    let one = |which: &str| -> Outcome<Option<Request>> {
        Ok(connection
            .prepare_cached(&format!("SELECT {REQUEST} FROM requests WHERE session = ?1 {which} LIMIT 1"))?
            .query_row((session,), read_request)
            .optional()?)
    };
    let timed = |sql: &str| -> Outcome<Vec<(Millis, u64)>> {
        let mut query = connection.prepare_cached(sql)?;
        let rows = query.query_map((session, since), |row| Ok((row.get(0)?, count(row, 1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    };
    Ok(Recent {
        first: one("AND counted IS NOT NULL ORDER BY id")?,
        begun: one("AND counted IS NOT NULL ORDER BY id DESC")?,
        last: one("AND sent > 0 ORDER BY id DESC")?,
        last_without: one("AND without > 0 ORDER BY id DESC")?,
        admitted: timed(
            "SELECT at, max(tokens_before - tokens_after, 0) FROM receipts
             WHERE session = ?1 AND kind = 'admit' AND at >= ?2 ORDER BY id",
        )?,
        fetched: timed("SELECT at, tokens FROM fetches WHERE session = ?1 AND at >= ?2 ORDER BY id")?,
    })
}

/// Adds the requests of a session that is about to be forgotten to the totals.
pub(super) fn keep_sums(transaction: &Transaction<'_>, session: i64) -> Outcome<()> {
    let SumsSql { selected, columns, added } = &*SUMS;
    transaction
        .prepare_cached(&format!(
            "INSERT INTO swept_requests (day, {columns}, fetches) SELECT at / {DAY_MS} AS day, {selected},
               (SELECT count(*) FROM fetches WHERE fetches.session = ?1 AND fetches.at / {DAY_MS} = requests.at / {DAY_MS})
             FROM requests WHERE session = ?1 GROUP BY 1
             ON CONFLICT (day) DO UPDATE SET {added}, fetches = swept_requests.fetches + excluded.fetches"
        ))?
        .execute((session,))?;
    Ok(())
}

/// Reads [`SUMS`], from a column on.
fn read_sums(row: &Row<'_>, from: usize) -> rusqlite::Result<Sums> {
    Sums::read(|column| count(row, from + column), |column| row.get(from + column))
}

/// The figures; `max_bytes` and `path` are the store's.
pub(super) fn figures(
    connection: &Connection,
    query: &FiguresQuery,
    (max_bytes, path): (u64, String),
) -> Outcome<Figures> {
    // Rows of the session ?1, where one is asked for, from ?2 on and before ?3.
    let session = row_of(connection, query.session.as_ref())?;
    let ((since, until), (first_day, last_day)) = (query.range(), query.days());
    let (range, days_range) = (params![session, since, until], params![session, first_day, last_day]);
    let is_theirs = is_theirs(session);
    let of_session = format!("{is_theirs} AND at >= ?2 AND at < ?3");

    let SumsSql { selected, columns, .. } = &*SUMS;

    let mut days = Days::default();
    let mut by_day = connection.prepare_cached(&format!(
        "SELECT at / {DAY_MS}, {selected} FROM requests JOIN sessions ON sessions.id = session WHERE {of_session} GROUP BY 1"
    ))?;
    for row in by_day.query_map(range, |row| Ok((row.get(0)?, read_sums(row, 1)?)))? {
        let (day, sums) = row?;
        days.add(day, sums);
    }
    days.fetches = connection
        .prepare_cached(&format!(
            "SELECT count(*) FROM fetches JOIN sessions ON sessions.id = session WHERE {of_session}"
        ))?
        .query_row(range, |row| count(row, 0))?;
    let mut swept = connection.prepare_cached(&format!(
        "SELECT day, {columns}, fetches FROM swept_requests WHERE ?1 IS NULL AND day >= ?2 AND day <= ?3"
    ))?;
    for row in swept.query_map(days_range, |row| Ok((row.get(0)?, read_sums(row, 1)?, count(row, 1 + WIDTH)?)))? {
        let (day, sums, fetches) = row?;
        days.add(day, sums);
        days.fetches += fetches;
    }

    let sessions = connection
        .prepare_cached(&format!(
            "SELECT session_id, session_key, max(at), {selected} FROM requests JOIN sessions ON sessions.id = session
             WHERE {of_session} GROUP BY session
             ORDER BY total((without_bill - sent_bill) * iif(?4, usd, 1)) DESC, max(at) DESC LIMIT 100"
        ))?
        .query_map(params![session, since, until, days.is_in_usd()], |row| {
            Ok(SessionSums {
                session_id: row.get(0)?,
                session_key: row.get(1)?,
                last_at: row.get(2)?,
                sums: read_sums(row, 3)?,
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
    let store = Stored { originals, original_bytes, stored_bytes, max_bytes, path };
    Ok(days.figures(sessions, Rest { epochs, kinds, fetched, store, last_fold_at }))
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
