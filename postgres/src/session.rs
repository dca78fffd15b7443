//! The row of a session: creation, turns, end.
//!
//! A session itself records that it is held, so every process that opens the database keeps what one of them holds.
//! Each host reports its own sessions only, so a session of other hosts does not end because this host does not list
//! it.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use concertina_store::figures::Turn;
use concertina_store::hosts::{GONE_MS, HELD_SESSIONS, HostChanges};
use concertina_store::{Scope, TurnStatus};

use crate::connection::{Call, call};
use crate::failure::{Failure, Outcome};
use crate::pool::WriteTransaction;
use crate::queries::{Prepared, QUERIES};
use crate::row::{first, store_rows};
use crate::scope::session;
use crate::text::{escaped, key};

/// Ensures the row of a session, as one that has not ended and is held by its host if there is one. The caller's
/// transaction holds the lock on the row until it ends.
pub(crate) const ENSURE_SESSION: &str = "WITH ensured AS (
       INSERT INTO sessions (session, agent, session_id, agent_id, last_seen, held) VALUES ($1, $2, $3, $4,
         moment($5), $6::text IS NOT NULL)
       ON CONFLICT (session, agent) DO UPDATE SET ended_at = NULL, held = sessions.held OR excluded.held RETURNING id),
     home AS (INSERT INTO session_hosts SELECT id, $6 FROM ensured WHERE $6 IS NOT NULL ON CONFLICT DO NOTHING)
     SELECT id FROM ensured";

/// Selects the held sessions, and for each if the host `$1` and if other hosts have it.
pub(crate) static HELD_SESSIONS_QUERY: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {}", HELD_SESSIONS.replace('?', "$")));

/// Selects true if the host `$1` has reported its sessions within the last `$3` milliseconds.
pub(crate) const HAS_REPORTED: &str =
    "SELECT EXISTS (SELECT 1 FROM hosts WHERE host = $1 AND seen_at > moment($2::bigint) - $3::bigint)";

/// Selects a row if folding is switched off in the session.
pub(crate) const IS_OFF: &str = "SELECT 1 FROM sessions WHERE session = $1 AND agent = $2 AND is_off";

/// Returns the id of a session's row, which is created or reopened by [`ENSURE_SESSION`].
pub(crate) fn ensure(transaction: &mut WriteTransaction<'_>, scope: &Scope) -> Outcome<i64> {
    let (session, agent) = (key(&scope.session_id), key(&scope.agent_id));
    let (session_id, agent_id) = (escaped(&scope.session_id), escaped(&scope.agent_id));
    let (now, host) = (Some(transaction.now), transaction.host);
    let rows = transaction.run(&[call!(ENSURE_SESSION, session, agent, session_id, agent_id, now, host)])?;
    first(&rows[0])?.ok_or_else(|| Failure::Damaged("a session has no row".to_owned()))
}

/// Removes the host from the session, and ends the session unless another host has it.
pub(crate) fn end(transaction: &mut WriteTransaction<'_>, scope: &Scope) -> Outcome<()> {
    const LEFT: &str = concat!("DELETE FROM session_hosts WHERE host = $3 AND session = ", session!());
    const END: &str = "UPDATE sessions SET ended_at = $3 WHERE session = $1 AND agent = $2 AND ended_at IS NULL
         AND NOT EXISTS (SELECT 1 FROM session_hosts WHERE session_hosts.session = sessions.id)";
    let (session, agent, now, host) = (key(&scope.session_id), key(&scope.agent_id), transaction.now, transaction.host);
    transaction.run(&[call!(LEFT, session, agent, host), call!(END, session, agent, now)]).map(drop)
}

/// Selects the id of a session.
pub(crate) const FIND_SESSION: &str = "SELECT id FROM sessions WHERE session = $1 AND agent = $2";

/// Records the host's list of sessions. Returns the number of sessions that it ended.
pub(crate) fn settle(transaction: &mut WriteTransaction<'_>, alive: &BTreeSet<String>) -> Outcome<u64> {
    const FOUND: &str =
        "INSERT INTO session_hosts SELECT id, $2 FROM unnest($1::bigint[]) AS given (id) ON CONFLICT DO NOTHING";
    const REOPEN: &str = "UPDATE sessions SET ended_at = NULL WHERE id = ANY($1::bigint[])";
    const LEFT: &str = "DELETE FROM session_hosts WHERE session = ANY($1::bigint[]) AND host = $2";
    const END: &str = "UPDATE sessions SET ended_at = $2 WHERE id = ANY($1::bigint[])";
    const REPORT: &str =
        "INSERT INTO hosts VALUES ($1, $2) ON CONFLICT (host) DO UPDATE SET seen_at = excluded.seen_at";
    // A host that has never reported counts as seen now.
    const OTHERS: &str = "INSERT INTO hosts SELECT DISTINCT host, $1::bigint FROM session_hosts ON CONFLICT DO NOTHING";
    const GONE: &str = "WITH gone AS (DELETE FROM hosts WHERE seen_at < $1 RETURNING host) DELETE FROM session_hosts
      USING gone WHERE session_hosts.host = gone.host";
    let (now, host) = (transaction.now, transaction.host.unwrap_or_default());
    let held = transaction.run(&[call!(HELD_SESSIONS_QUERY.as_str(), host)])?.remove(0);
    let HostChanges { added, removed, ended } = HostChanges::read(&store_rows(&held)?, alive, now)?;
    let gone_before = now.saturating_sub(GONE_MS);
    transaction.run(&[
        call!(FOUND, added, host),
        call!(REOPEN, added),
        call!(LEFT, removed, host),
        call!(END, ended, now),
        call!(REPORT, host, now),
        call!(OTHERS, now),
        call!(GONE, gone_before),
    ])?;
    Ok(ended.len() as u64)
}

/// Records a turn with its requests.
pub(crate) fn write_turn(transaction: &mut WriteTransaction<'_>, scope: &Scope, turn: &Turn) -> Outcome<TurnStatus> {
    const TURN: &str = "INSERT INTO turns (session, advancement, advancement_key, at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (session, advancement) DO NOTHING RETURNING 1";
    const NAMED: &str = "UPDATE sessions SET session_key = $2 WHERE id = $1";
    let session = ensure(transaction, scope)?;
    let (advancement, advancement_key) = (key(&turn.advancement_key), escaped(&turn.advancement_key));
    let now = transaction.now;
    if transaction.run(&[call!(TURN, session, advancement, advancement_key, now)])?[0].is_empty() {
        return Ok(TurnStatus::Duplicate);
    }
    let name = turn.session_key.as_deref().map(escaped);
    let requests = Prepared::new(turn.requests.iter().map(|request| QUERIES.insert_request(session, request)));
    let mut pipeline: Vec<Call<'_>> = Vec::new();
    if name.is_some() {
        pipeline.push(call!(NAMED, session, name));
    }
    pipeline.extend(requests.calls());
    transaction.run(&pipeline)?;
    Ok(TurnStatus::Committed)
}

/// Switches folding off or on in a session.
pub(crate) fn switch(transaction: &mut WriteTransaction<'_>, scope: &Scope, is_off: bool) -> Outcome<()> {
    const SWITCH: &str = "UPDATE sessions SET is_off = $2 WHERE id = $1";
    let session = ensure(transaction, scope)?;
    transaction.run(&[call!(SWITCH, session, is_off)]).map(drop)
}
