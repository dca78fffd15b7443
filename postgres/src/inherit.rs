//! Grants a sub-agent's session the originals of its parent: all of them, or those that are named.

use concertina_base::reference::RefId;
use concertina_store::id::hash_range;
use concertina_store::{MarkKind, Millis, Scope};

use crate::connection::call;
use crate::failure::Outcome;
use crate::pool::WriteTransaction;
use crate::row::{at, first, hashes};
use crate::session::{FIND_SESSION, ensure};
use crate::text::{escaped, key};

const PARENT: &str =
    "INSERT INTO sessions (session, agent, session_id, agent_id, last_seen) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (session, agent) DO NOTHING";
const ALL: &str = "SELECT original FROM access WHERE session = $1 AND referred_at >= $2";
const NAMED: &str =
    "SELECT DISTINCT near.id FROM unnest($3::bytea[], $4::bytea[], $5::text[]) AS given (first, last, digits)
     CROSS JOIN LATERAL (
       SELECT id FROM originals WHERE hash BETWEEN given.first AND given.last AND starts_with(given.digits, ref_id)
         ORDER BY hash OFFSET 0) AS near
     WHERE EXISTS (SELECT 1 FROM access WHERE session = $1 AND original = near.id AND referred_at >= $2)";
const CHILD: &str = "UPDATE sessions SET parent = $2 WHERE id = $1";
const GRANT_ALL: &str = "INSERT INTO grants (session, original, granted_at, left_at)
     SELECT $1, original, $3, NULL FROM unnest($2::bigint[]) AS given (original)
     ON CONFLICT (session, original) DO UPDATE SET granted_at = excluded.granted_at, left_at = NULL";
const PROJECTIONS: &str = "INSERT INTO projections (session, block, place, replacement, original, reason)
     SELECT $2, block, place, replacement, original, reason FROM projections
     WHERE session = $1 AND original = ANY($3::bigint[]) ORDER BY original, id
     ON CONFLICT (session, block, place) DO NOTHING";
const PRINTED: &str = "INSERT INTO printed (session, text, is_answer, original, saved)
     SELECT $2, text, is_answer, original, saved FROM printed WHERE session = $1 AND original = ANY($3::bigint[])
     ON CONFLICT (session, text) DO NOTHING";

const MARKS: &str = "INSERT INTO marks (session, kind, content, at)
     SELECT $2, kind, content, at FROM marks WHERE session = $1 AND kind = $3 ORDER BY content
     ON CONFLICT (session, kind, content) DO NOTHING";

/// Copies the unexpired grants, the projections, the printed texts and the pins of a session to its child, and records
/// the parent. A projection that the child already has stays. An original that it already had is granted again, because
/// its task may name it now.
pub(crate) fn inherit(
    transaction: &mut WriteTransaction<'_>,
    parent: &Scope,
    child: &Scope,
    named: Option<&[RefId]>,
    expired_before: Millis,
) -> Outcome<()> {
    let now = transaction.now;
    let (session, agent) = (key(&parent.session_id), key(&parent.agent_id));
    let (session_id, agent_id) = (escaped(&parent.session_id), escaped(&parent.agent_id));
    let found = transaction
        .run(&[call!(PARENT, session, agent, session_id, agent_id, now), call!(FIND_SESSION, session, agent)])?;
    let parent: Option<i64> = first(&found[1])?;
    let child = ensure(transaction, child)?;
    let rows = match named {
        None => transaction.run(&[call!(ALL, parent, expired_before)])?,
        Some(named) => {
            let ranges: Vec<_> = named.iter().map(|id| hash_range(id.as_str())).collect();
            let (from, to) = (hashes(ranges.iter().map(|(from, _)| from)), hashes(ranges.iter().map(|(_, to)| to)));
            let digits: Vec<&str> = named.iter().map(RefId::as_str).collect();
            transaction.run(&[call!(NAMED, parent, expired_before, from, to, digits)])?
        }
    };
    let pinned = MarkKind::Pinned.as_str();
    let originals = rows[0].iter().map(|row| at(row, 0)).collect::<Outcome<Vec<i64>>>()?;
    transaction
        .run(&[
            call!(CHILD, child, parent),
            call!(GRANT_ALL, child, originals, now),
            call!(PROJECTIONS, parent, child, originals),
            call!(PRINTED, parent, child, originals),
            call!(MARKS, parent, child, pinned),
        ])
        .map(drop)
}
