//! The row of a session: its beginning, its turns, and its end.
//!
//! Whether a session is held is its own property, so that every opener of the database keeps what one of them holds. Each host tells its
//! own sessions only: a session that others have does not end because this one does not list it.

use std::collections::BTreeSet;

use concertina::store::figures::Turn;
use concertina::store::homes::{GONE_MS, HeldSession, Unsettled};
use concertina::store::{Millis, Scope, TurnStatus};
use tokio_postgres::Row;

use crate::failure::{Failure, Outcome};
use crate::figures::{REQUESTED, request_columns};
use crate::link::{Call, Link, call};
use crate::pool::Writing;
use crate::row::{at, first, text};
use crate::text::{escaped, key};

/// The row of the session `$1` of the agent `$2`.
macro_rules! session {
    () => {
        "(SELECT id FROM sessions WHERE session = $1 AND agent = $2)"
    };
}
pub(crate) use session;

/// The row of a session, created when it is new: it has not ended, and is held by its host where there is one. Whoever runs this has
/// the session to himself until his transaction ends.
pub(crate) const ENSURE: &str = "WITH ensured AS (
       INSERT INTO sessions (session, agent, session_id, agent_id, last_seen, held) VALUES ($1, $2, $3, $4, moment($5), $6::text IS NOT NULL)
       ON CONFLICT (session, agent) DO UPDATE SET ended_at = NULL, held = sessions.held OR excluded.held RETURNING id),
     home AS (INSERT INTO homes SELECT id, $6 FROM ensured WHERE $6 IS NOT NULL ON CONFLICT DO NOTHING)
     SELECT id FROM ensured";

/// The held sessions, and whether the host `$1` and whether others have them.
pub(crate) const HELD: &str = "SELECT id, session_id, last_seen, ended_at,
       EXISTS (SELECT 1 FROM homes WHERE homes.session = sessions.id AND host = $1),
       EXISTS (SELECT 1 FROM homes WHERE homes.session = sessions.id AND host <> $1)
     FROM sessions WHERE held";

/// Whether a host has told its sessions since a moment.
pub(crate) const HAS_TOLD: &str =
    "SELECT EXISTS (SELECT 1 FROM hosts WHERE host = $1 AND seen_at > moment($2::bigint) - $3::bigint)";

/// Whether nothing more is folded in a session.
pub(crate) const IS_OFF: &str = "SELECT 1 FROM sessions WHERE session = $1 AND agent = $2 AND is_off";

/// The row of a session that is at work.
pub(crate) fn ensure(writing: &mut Writing<'_>, scope: &Scope) -> Outcome<i64> {
    let (session, agent) = (key(&scope.session_id), key(&scope.agent_id));
    let (session_id, agent_id) = (escaped(&scope.session_id), escaped(&scope.agent_id));
    let (now, host) = (Some(writing.now), writing.host);
    let rows = writing.run(&[call!(ENSURE, session, agent, session_id, agent_id, now, host)])?;
    first(&rows[0])?.ok_or_else(|| Failure::Damaged("a session has no row".to_owned()))
}

/// Ends a session that has not ended, unless another host has it, too.
pub(crate) fn end(writing: &mut Writing<'_>, scope: &Scope) -> Outcome<()> {
    const LEFT: &str = concat!("DELETE FROM homes WHERE host = $3 AND session = ", session!());
    const END: &str = "UPDATE sessions SET ended_at = $3 WHERE session = $1 AND agent = $2 AND ended_at IS NULL
         AND NOT EXISTS (SELECT 1 FROM homes WHERE homes.session = sessions.id)";
    let (session, agent, now, host) = (key(&scope.session_id), key(&scope.agent_id), writing.now, writing.host);
    writing.run(&[call!(LEFT, session, agent, host), call!(END, session, agent, now)]).map(drop)
}

/// The row of the session that is asked for, if one is; one that the store does not know has the row 0, which there
/// never is.
pub(crate) fn row_of(link: &mut Link, session: Option<&Scope>) -> Outcome<Option<i64>> {
    let Some(scope) = session else { return Ok(None) };
    let (session, agent) = (key(&scope.session_id), key(&scope.agent_id));
    Ok(Some(first(&link.run(&[call!(FIND, session, agent)])?[0])?.unwrap_or(0)))
}

/// The row of a session.
pub(crate) const FIND: &str = "SELECT id FROM sessions WHERE session = $1 AND agent = $2";

/// What a host's list changes, by what [`HELD`] found.
pub(crate) fn unsettled(held: &[Row], alive: &BTreeSet<String>, now: Millis) -> Outcome<Unsettled> {
    let mut unsettled = Unsettled::default();
    for row in held {
        let held = HeldSession {
            id: at(row, 0)?,
            session_id: text(row, 1)?,
            last_seen: at(row, 2)?,
            ended_at: at(row, 3)?,
            is_here: at(row, 4)?,
            is_elsewhere: at(row, 5)?,
        };
        unsettled.take(&held, alive, now);
    }
    Ok(unsettled)
}

/// Sets what the host's list says. Returns how many sessions it ended.
pub(crate) fn settle(writing: &mut Writing<'_>, alive: &BTreeSet<String>) -> Outcome<u64> {
    const FOUND: &str =
        "INSERT INTO homes SELECT id, $2 FROM unnest($1::bigint[]) AS given (id) ON CONFLICT DO NOTHING";
    const REVIVE: &str = "UPDATE sessions SET ended_at = NULL WHERE id = ANY($1::bigint[])";
    const LEFT: &str = "DELETE FROM homes WHERE session = ANY($1::bigint[]) AND host = $2";
    const END: &str = "UPDATE sessions SET ended_at = $2 WHERE id = ANY($1::bigint[])";
    const TELL: &str = "INSERT INTO hosts VALUES ($1, $2) ON CONFLICT (host) DO UPDATE SET seen_at = excluded.seen_at";
    // One that never told anything is given its time from now on.
    const OTHERS: &str = "INSERT INTO hosts SELECT DISTINCT host, $1::bigint FROM homes ON CONFLICT DO NOTHING";
    const GONE: &str = "WITH gone AS (DELETE FROM hosts WHERE seen_at < $1 RETURNING host) DELETE FROM homes USING gone WHERE homes.host = gone.host";
    let (now, host) = (writing.now, writing.host.unwrap_or_default());
    let held = writing.run(&[call!(HELD, host)])?.remove(0);
    let Unsettled { found, left, ended } = unsettled(&held, alive, now)?;
    let gone_before = now.saturating_sub(GONE_MS);
    writing.run(&[
        call!(FOUND, found, host),
        call!(REVIVE, found),
        call!(LEFT, left, host),
        call!(END, ended, now),
        call!(TELL, host, now),
        call!(OTHERS, now),
        call!(GONE, gone_before),
    ])?;
    Ok(ended.len() as u64)
}

/// Records a turn with its requests.
pub(crate) fn write_turn(writing: &mut Writing<'_>, scope: &Scope, turn: &Turn) -> Outcome<TurnStatus> {
    const TURN: &str = "INSERT INTO turns (session, advancement, advancement_key, at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (session, advancement) DO NOTHING RETURNING 1";
    const NAMED: &str = "UPDATE sessions SET session_key = $2 WHERE id = $1";
    let session = ensure(writing, scope)?;
    let (advancement, advancement_key) = (key(&turn.advancement_key), escaped(&turn.advancement_key));
    let now = writing.now;
    if writing.run(&[call!(TURN, session, advancement, advancement_key, now)])?[0].is_empty() {
        return Ok(TurnStatus::Duplicate);
    }
    let name = turn.session_key.as_deref().map(escaped);
    let columns = request_columns(&turn.requests);
    let mut flight: Vec<Call<'_>> = Vec::new();
    if name.is_some() {
        flight.push(call!(NAMED, session, name));
    }
    if !turn.requests.is_empty() {
        let mut requested = call!(REQUESTED, session);
        requested.params.extend(columns.iter().map(|column| &**column));
        flight.push(requested);
    }
    writing.run(&flight)?;
    Ok(TurnStatus::Committed)
}

/// Stops folding in a session, or takes that back.
pub(crate) fn switch(writing: &mut Writing<'_>, scope: &Scope, is_off: bool) -> Outcome<()> {
    const SWITCH: &str = "UPDATE sessions SET is_off = $2 WHERE id = $1";
    let session = ensure(writing, scope)?;
    writing.run(&[call!(SWITCH, session, is_off)]).map(drop)
}
