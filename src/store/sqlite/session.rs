//! The row of a session: its beginning, its turns, and its end.
//!
//! Whether a session is held is its own property, so that every opener of the file keeps what one of them holds.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, Transaction};

use super::failure::Outcome;
use super::figures::insert_request;
use crate::store::figures::Turn;
use crate::store::{Millis, Retention, Scope, TurnStatus};

/// How long a session may be unknown to its host before that counts as its end.
const UNLISTED_MS: Millis = 600_000;

/// The row of a session.
pub(super) fn find_session(connection: &Connection, scope: &Scope) -> Outcome<Option<i64>> {
    Ok(connection
        .prepare_cached("SELECT id FROM sessions WHERE session_id = ?1 AND agent_id = ?2")?
        .query_row((&scope.session_id, &scope.agent_id), |row| row.get(0))
        .optional()?)
}

/// The row of a session, created when it is new.
pub(super) fn ensure_session(transaction: &Transaction<'_>, scope: &Scope, now: Millis) -> Outcome<i64> {
    if let Some(session) = find_session(transaction, scope)? {
        return Ok(session);
    }
    transaction
        .prepare_cached("INSERT INTO sessions (session_id, agent_id, last_seen) VALUES (?1, ?2, ?3)")?
        .execute((&scope.session_id, &scope.agent_id, now))?;
    Ok(transaction.last_insert_rowid())
}

/// Marks a session that is at work: it has not ended, and is held where that is asked for.
pub(super) fn keep(transaction: &Transaction<'_>, session: i64, retention: Retention) -> Outcome<()> {
    if !is_kept(transaction, session, retention)? {
        transaction
            .prepare_cached("UPDATE sessions SET ended_at = NULL, held = max(held, ?2) WHERE id = ?1")?
            .execute((session, retention == Retention::Held))?;
    }
    Ok(())
}

/// Whether [`keep`] would change nothing.
pub(super) fn is_kept(connection: &Connection, session: i64, retention: Retention) -> Outcome<bool> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM sessions WHERE id = ?1 AND ended_at IS NULL AND held >= ?2")?
        .exists((session, retention == Retention::Held))?)
}

/// Ends all sessions of this name that have not ended.
pub(super) fn end(transaction: &Transaction<'_>, session_id: &str, now: Millis) -> Outcome<()> {
    transaction
        .prepare_cached("UPDATE sessions SET ended_at = ?2 WHERE session_id = ?1 AND ended_at IS NULL")?
        .execute((session_id, now))?;
    Ok(())
}

/// The held sessions whose end is not what the host's list says, with the end that they should have.
pub(super) fn unsettled(
    connection: &Connection,
    alive: &BTreeSet<String>,
    now: Millis,
) -> Outcome<Vec<(i64, Option<Millis>)>> {
    let mut held = connection.prepare_cached("SELECT id, session_id, last_seen, ended_at FROM sessions WHERE held")?;
    let mut rows = held.query(())?;
    let mut unsettled = Vec::new();
    while let Some(row) = rows.next()? {
        let (session_id, last_seen, ended_at): (String, Millis, Option<Millis>) =
            (row.get(1)?, row.get(2)?, row.get(3)?);
        match (alive.contains(&session_id), ended_at) {
            (true, Some(_)) => unsettled.push((row.get(0)?, None)),
            (false, None) if now.saturating_sub(last_seen) > UNLISTED_MS => unsettled.push((row.get(0)?, Some(now))),
            _ => {}
        }
    }
    Ok(unsettled)
}

/// Sets the ends that the host's list says. Returns how many sessions it ended.
pub(super) fn settle(transaction: &Transaction<'_>, alive: &BTreeSet<String>, now: Millis) -> Outcome<u64> {
    let mut ended = 0;
    for (session, ended_at) in unsettled(transaction, alive, now)? {
        transaction.prepare_cached("UPDATE sessions SET ended_at = ?2 WHERE id = ?1")?.execute((session, ended_at))?;
        ended += u64::from(ended_at.is_some());
    }
    Ok(ended)
}

/// Records a turn with its requests.
pub(super) fn write_turn(
    transaction: &Transaction<'_>,
    scope: &Scope,
    turn: &Turn,
    retention: Retention,
    now: Millis,
) -> Outcome<TurnStatus> {
    let session = ensure_session(transaction, scope, now)?;
    keep(transaction, session, retention)?;
    let added = transaction
        .prepare_cached(
            "INSERT INTO turns (session, advancement_key, at) VALUES (?1, ?2, ?3)
             ON CONFLICT (session, advancement_key) DO NOTHING",
        )?
        .execute((session, &turn.advancement_key, now))?;
    if added == 0 {
        return Ok(TurnStatus::Duplicate);
    }
    if let Some(key) = &turn.session_key {
        transaction.prepare_cached("UPDATE sessions SET session_key = ?2 WHERE id = ?1")?.execute((session, key))?;
    }
    for request in &turn.requests {
        insert_request(transaction, session, request)?;
    }
    Ok(TurnStatus::Committed)
}

/// Stops folding in a session, or takes that back.
pub(super) fn switch(
    transaction: &Transaction<'_>,
    scope: &Scope,
    is_off: bool,
    retention: Retention,
    now: Millis,
) -> Outcome<()> {
    let session = ensure_session(transaction, scope, now)?;
    keep(transaction, session, retention)?;
    transaction.prepare_cached("UPDATE sessions SET is_off = ?2 WHERE id = ?1")?.execute((session, is_off))?;
    Ok(())
}

/// Whether nothing more is folded in a session.
pub(super) fn is_off(connection: &Connection, scope: &Scope) -> Outcome<bool> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM sessions WHERE session_id = ?1 AND agent_id = ?2 AND is_off")?
        .exists((&scope.session_id, &scope.agent_id))?)
}
