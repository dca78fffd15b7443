//! The row of a session: its beginning, its turns, and its end.
//!
//! Whether a session is held is its own property, so that every opener of the database keeps what one of them holds.

use std::collections::BTreeSet;

use concertina::store::figures::Turn;
use concertina::store::{Millis, Retention, Scope, StoreOptions, TurnStatus};
use tokio_postgres::Row;

use crate::failure::{Failure, Outcome};
use crate::figures::REQUESTED;
use crate::link::{Call, call};
use crate::pool::Writing;
use crate::row::{at, first, signed, text};
use crate::text::{escaped, key};

/// How long a session may be unknown to its host before that counts as its end.
const UNLISTED_MS: Millis = 600_000;

/// The row of a session, created when it is new: it has not ended, and is held where that is asked for. Whoever runs this has the
/// session to himself until his transaction ends.
pub(crate) const ENSURE: &str = "INSERT INTO sessions (session, agent, session_id, agent_id, last_seen, held)
     VALUES ($1, $2, $3, $4, moment($5), $6) ON CONFLICT (session, agent)
     DO UPDATE SET ended_at = NULL, held = sessions.held OR excluded.held RETURNING id";

/// The held sessions.
pub(crate) const HELD: &str = "SELECT id, session_id, last_seen, ended_at FROM sessions WHERE held";

/// Whether nothing more is folded in a session.
pub(crate) const IS_OFF: &str = "SELECT 1 FROM sessions WHERE session = $1 AND agent = $2 AND is_off";

/// Whether sessions of this store are held.
pub(crate) fn is_held(options: &StoreOptions) -> bool {
    options.retention == Retention::Held
}

/// The row of a session that is at work.
pub(crate) fn ensure(writing: &mut Writing<'_>, scope: &Scope, held: bool) -> Outcome<i64> {
    let (session, agent) = (key(&scope.session_id), key(&scope.agent_id));
    let (session_id, agent_id) = (escaped(&scope.session_id), escaped(&scope.agent_id));
    let now = writing.now;
    let rows = writing.run(&[call!(ENSURE, session, agent, session_id, agent_id, now, held)])?;
    first(&rows[0])?.ok_or_else(|| Failure::Damaged("a session has no row".to_owned()))
}

/// Ends all sessions of this name that have not ended.
pub(crate) fn end(writing: &mut Writing<'_>, session_id: &str) -> Outcome<()> {
    const END: &str = "UPDATE sessions SET ended_at = $2 WHERE session = $1 AND ended_at IS NULL";
    let (session, now) = (key(session_id), writing.now);
    writing.run(&[call!(END, session, now)]).map(drop)
}

/// The sessions among [`HELD`] whose end is not what the host's list says, with the end that they should have.
pub(crate) fn unsettled(
    held: &[Row],
    alive: &BTreeSet<String>,
    now: Millis,
) -> Outcome<(Vec<i64>, Vec<Option<Millis>>)> {
    let mut unsettled = (Vec::new(), Vec::new());
    for row in held {
        let (last_seen, ended_at): (Millis, Option<Millis>) = (at(row, 2)?, at(row, 3)?);
        let end = match (alive.contains(&text(row, 1)?), ended_at) {
            (true, Some(_)) => None,
            (false, None) if now.saturating_sub(last_seen) > UNLISTED_MS => Some(now),
            _ => continue,
        };
        unsettled.0.push(at(row, 0)?);
        unsettled.1.push(end);
    }
    Ok(unsettled)
}

/// Sets the ends that the host's list says. Returns how many sessions it ended.
pub(crate) fn settle(writing: &mut Writing<'_>, alive: &BTreeSet<String>) -> Outcome<u64> {
    const SETTLE: &str = "UPDATE sessions SET ended_at = given.ended_at
         FROM unnest($1::bigint[], $2::bigint[]) AS given (id, ended_at) WHERE sessions.id = given.id";
    let held = writing.run(&[call!(HELD)])?.remove(0);
    let (ids, ends) = unsettled(&held, alive, writing.now)?;
    writing.run(&[call!(SETTLE, ids, ends)])?;
    Ok(ends.iter().flatten().count() as u64)
}

/// Records a turn with its requests.
pub(crate) fn write_turn(writing: &mut Writing<'_>, scope: &Scope, turn: &Turn, held: bool) -> Outcome<TurnStatus> {
    const TURN: &str = "INSERT INTO turns (session, advancement, at) VALUES ($1, $2, $3)
         ON CONFLICT (session, advancement) DO NOTHING RETURNING 1";
    const NAMED: &str = "UPDATE sessions SET session_key = $2 WHERE id = $1";
    let session = ensure(writing, scope, held)?;
    let (advancement, now) = (key(&turn.advancement_key), writing.now);
    if writing.run(&[call!(TURN, session, advancement, now)])?[0].is_empty() {
        return Ok(TurnStatus::Duplicate);
    }
    let name = turn.session_key.as_deref().map(escaped);
    let all = &turn.requests;
    let at: Vec<i64> = all.iter().map(|request| request.at).collect();
    let measured: Vec<bool> = all.iter().map(|request| request.is_measured).collect();
    let sent: Vec<i64> = all.iter().map(|request| signed(request.sent)).collect();
    let without: Vec<i64> = all.iter().map(|request| signed(request.without)).collect();
    let overhead: Vec<i64> = all.iter().map(|request| signed(request.overhead)).collect();
    let fetched: Vec<i64> = all.iter().map(|request| signed(request.fetched)).collect();
    let sent_bill: Vec<f64> = all.iter().map(|request| request.sent_bill).collect();
    let without_bill: Vec<f64> = all.iter().map(|request| request.without_bill).collect();
    let usd: Vec<Option<f64>> = all.iter().map(|request| request.usd).collect();
    let mut flight: Vec<Call<'_>> = Vec::new();
    if name.is_some() {
        flight.push(call!(NAMED, session, name));
    }
    if !all.is_empty() {
        flight.push(call!(
            REQUESTED,
            session,
            at,
            measured,
            sent,
            without,
            overhead,
            fetched,
            sent_bill,
            without_bill,
            usd
        ));
    }
    writing.run(&flight)?;
    Ok(TurnStatus::Committed)
}

/// Stops folding in a session, or takes that back.
pub(crate) fn switch(writing: &mut Writing<'_>, scope: &Scope, is_off: bool, held: bool) -> Outcome<()> {
    const SWITCH: &str = "UPDATE sessions SET is_off = $2 WHERE id = $1";
    let session = ensure(writing, scope, held)?;
    writing.run(&[call!(SWITCH, session, is_off)]).map(drop)
}
