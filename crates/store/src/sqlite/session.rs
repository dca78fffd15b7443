//! The row of a session: its beginning, its turns, and its end.
//!
//! Being held, and by which hosts, is a property of the session, so every opener of the file keeps what one of them
//! holds.

use std::collections::BTreeSet;

use rusqlite::{Connection, Transaction};

use super::failure::Outcome;
use super::row::{QUERIES, execute, exists, first, rows, run};
use crate::figures::Turn;
use crate::hosts::{GONE_MS, HELD_SESSIONS, HostChanges, REPORTED_MS};
use crate::records::{Scope, TurnStatus};
use crate::time::Millis;

/// Returns the row id of a session.
pub(super) fn find_session(connection: &Connection, scope: &Scope) -> Outcome<Option<i64>> {
    let sql = "SELECT id FROM sessions WHERE session_id = ?1 AND agent_id = ?2";
    first(connection, sql, (&scope.session_id, &scope.agent_id), |row| row.get(0))
}

/// Returns the row id of a session, which is created if it is new.
pub(super) fn ensure_session(transaction: &Transaction<'_>, scope: &Scope, now: Millis) -> Outcome<i64> {
    if let Some(session) = find_session(transaction, scope)? {
        return Ok(session);
    }
    let sql = "INSERT INTO sessions (session_id, agent_id, last_seen) VALUES (?1, ?2, ?3)";
    execute(transaction, sql, (&scope.session_id, &scope.agent_id, now))?;
    Ok(transaction.last_insert_rowid())
}

/// Marks a session as active: it has not ended, and is held by the host that asks for it.
pub(super) fn mark_active(transaction: &Transaction<'_>, session: i64, holder: Option<&str>) -> Outcome<()> {
    let is_active = "SELECT 1 FROM sessions WHERE id = ?1 AND ended_at IS NULL
       AND (?2 IS NULL OR EXISTS (SELECT 1 FROM session_hosts WHERE session = ?1 AND host = ?2))";
    if exists(transaction, is_active, (session, holder))? {
        return Ok(());
    }
    let activate = "UPDATE sessions SET ended_at = NULL, held = max(held, ?2) WHERE id = ?1";
    execute(transaction, activate, (session, holder.is_some()))?;
    holder.map_or(Ok(()), |host| add_host(transaction, session, host))
}

/// Records that a host has a session.
fn add_host(transaction: &Transaction<'_>, session: i64, host: &str) -> Outcome<()> {
    execute(transaction, "INSERT OR IGNORE INTO session_hosts VALUES (?1, ?2)", (session, host)).map(drop)
}

/// Ends a session that has not ended, unless another host has it.
pub(super) fn end(transaction: &Transaction<'_>, scope: &Scope, holder: Option<&str>, now: Millis) -> Outcome<()> {
    let Some(session) = find_session(transaction, scope)? else { return Ok(()) };
    transaction.execute("DELETE FROM session_hosts WHERE session = ?1 AND host = ?2", (session, holder))?;
    let end = "UPDATE sessions SET ended_at = ?2 WHERE id = ?1 AND ended_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM session_hosts WHERE session_hosts.session = sessions.id)";
    execute(transaction, end, (session, now)).map(drop)
}

/// Returns the changes that a host's list makes.
fn host_changes(connection: &Connection, host: &str, listed: &BTreeSet<String>, now: Millis) -> Outcome<HostChanges> {
    let held = rows(connection, &format!("SELECT {HELD_SESSIONS}"), vec![host.into()])?;
    Ok(HostChanges::read(&held, listed, now)?)
}

/// Returns true if a host's list changes nothing and was recorded recently.
pub(super) fn is_settled(connection: &Connection, host: &str, alive: &BTreeSet<String>, now: Millis) -> Outcome<bool> {
    let reported = "SELECT 1 FROM hosts WHERE host = ?1 AND seen_at > ?2";
    let has_reported = exists(connection, reported, (host, now.saturating_sub(REPORTED_MS)))?;
    Ok(has_reported && host_changes(connection, host, alive, now)?.is_empty())
}

/// Applies a host's list. Returns the number of sessions that it ended.
pub(super) fn settle(transaction: &Transaction<'_>, host: &str, alive: &BTreeSet<String>, now: Millis) -> Outcome<u64> {
    let HostChanges { added, removed, ended } = host_changes(transaction, host, alive, now)?;
    let mut set_end = transaction.prepare_cached("UPDATE sessions SET ended_at = ?2 WHERE id = ?1")?;
    let mut remove_host = transaction.prepare_cached("DELETE FROM session_hosts WHERE session = ?1 AND host = ?2")?;
    for session in added {
        add_host(transaction, session, host)?;
        set_end.execute((session, None::<Millis>))?;
    }
    for session in removed {
        remove_host.execute((session, host))?;
    }
    for session in &ended {
        set_end.execute((session, now))?;
    }
    record_report(transaction, host, now)?;
    Ok(ended.len() as u64)
}

/// Records that a host has reported its sessions, and forgets hosts that are gone.
fn record_report(transaction: &Transaction<'_>, host: &str, now: Millis) -> Outcome<()> {
    transaction.execute("INSERT OR REPLACE INTO hosts VALUES (?1, ?2)", (host, now))?;
    // The time of a host that never reported starts now.
    transaction.execute("INSERT OR IGNORE INTO hosts SELECT DISTINCT host, ?1 FROM session_hosts", (now,))?;
    let gone = now.saturating_sub(GONE_MS);
    transaction
        .execute("DELETE FROM session_hosts WHERE host IN (SELECT host FROM hosts WHERE seen_at < ?1)", (gone,))?;
    transaction.execute("DELETE FROM hosts WHERE seen_at < ?1", (gone,))?;
    Ok(())
}

/// Records a turn with its requests.
pub(super) fn write_turn(
    transaction: &Transaction<'_>,
    scope: &Scope,
    turn: &Turn,
    holder: Option<&str>,
    now: Millis,
) -> Outcome<TurnStatus> {
    let session = ensure_session(transaction, scope, now)?;
    mark_active(transaction, session, holder)?;
    let add = "INSERT INTO turns (session, advancement_key, at) VALUES (?1, ?2, ?3)
       ON CONFLICT (session, advancement_key) DO NOTHING";
    if execute(transaction, add, (session, &turn.advancement_key, now))? == 0 {
        return Ok(TurnStatus::Duplicate);
    }
    if let Some(key) = &turn.session_key {
        execute(transaction, "UPDATE sessions SET session_key = ?2 WHERE id = ?1", (session, key))?;
    }
    run(transaction, turn.requests.iter().map(|request| QUERIES.insert_request(session, request)).collect())?;
    Ok(TurnStatus::Committed)
}

/// Switches folding in a session off or on.
pub(super) fn switch(
    transaction: &Transaction<'_>,
    scope: &Scope,
    is_off: bool,
    holder: Option<&str>,
    now: Millis,
) -> Outcome<()> {
    let session = ensure_session(transaction, scope, now)?;
    mark_active(transaction, session, holder)?;
    execute(transaction, "UPDATE sessions SET is_off = ?2 WHERE id = ?1", (session, is_off)).map(drop)
}

/// Returns true if folding is switched off in a session.
pub(super) fn is_off(connection: &Connection, scope: &Scope) -> Outcome<bool> {
    let sql = "SELECT 1 FROM sessions WHERE session_id = ?1 AND agent_id = ?2 AND is_off";
    exists(connection, sql, (&scope.session_id, &scope.agent_id))
}
