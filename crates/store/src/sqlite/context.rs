//! Grants of originals to sessions, and the originals to which a session's context refers.
//!
//! A session is granted an original by a put, by inheritance, or by referring to an original that another session of
//! the same agent was granted. Naming any other original grants nothing.

use std::collections::BTreeSet;

use rusqlite::{Connection, Transaction};

use super::failure::Outcome;
use super::row::{all, execute, exists, first};
use crate::records::Scope;
use crate::time::Millis;
use concertina_base::error::Error;
use concertina_base::reference::ContentHash;

/// Grants a session an original, from now on as part of its context.
pub(super) fn grant(transaction: &Transaction<'_>, session: i64, original: i64, now: Millis) -> Outcome<()> {
    let sql = "INSERT INTO grants (session, original, granted_at, left_at) VALUES (?1, ?2, ?3, NULL)
       ON CONFLICT (session, original) DO UPDATE SET granted_at = ?3, left_at = NULL";
    execute(transaction, sql, (session, original, now)).map(drop)
}

/// Returns the row of an original that was granted to a session of this agent, or to a session that works for it.
fn find_granted(connection: &Connection, scope: &Scope, hash: ContentHash) -> Outcome<Option<i64>> {
    let sql = "SELECT id FROM originals WHERE hash = ?1
       AND EXISTS (SELECT 1 FROM access WHERE original = originals.id AND ?2 IN (agent_id, parent_agent_id))";
    first(connection, sql, (hash.0, &scope.agent_id), |row| row.get(0))
}

/// Returns the row of an original to which this session refers, and grants it if another session of the agent has it.
pub(super) fn require_grant(
    transaction: &Transaction<'_>,
    session: i64,
    scope: &Scope,
    hash: ContentHash,
    now: Millis,
) -> Outcome<i64> {
    let Some(original) = find_granted(transaction, scope, hash)? else {
        let expected = "in the batch or stored for this agent";
        return Err(Error::bad_argument("original", hash.to_hex(), expected).into());
    };
    if !exists(transaction, "SELECT 1 FROM grants WHERE session = ?1 AND original = ?2", (session, original))? {
        grant(transaction, session, original, now)?;
    }
    Ok(original)
}

/// Records the originals to which a session's context refers, and that the session was seen.
///
/// Hashes that the agent may not see are ignored: naming one must not grant it. What others folded after the row
/// `since` is also in the context, although the caller did not know it.
pub(super) fn record_context(
    transaction: &Transaction<'_>,
    session: i64,
    scope: &Scope,
    in_context: &BTreeSet<ContentHash>,
    since: i64,
    now: Millis,
) -> Outcome<()> {
    let mut entering = in_context.clone();
    let before = "SELECT originals.id, originals.hash FROM grants JOIN originals ON originals.id = grants.original
       WHERE grants.session = ?1 AND grants.left_at IS NULL
         AND NOT EXISTS (SELECT 1 FROM projections WHERE session = ?1 AND original = originals.id AND id > ?2)";
    let mut left: Vec<(i64, ContentHash)> =
        all(transaction, before, (session, since), |row| Ok((row.get(0)?, ContentHash(row.get(1)?))))?;
    left.retain(|(_, hash)| !entering.remove(hash));
    for hash in entering {
        if let Some(original) = find_granted(transaction, scope, hash)? {
            grant(transaction, session, original, now)?;
        }
    }
    for (original, _) in left {
        let leave = "UPDATE grants SET left_at = ?3 WHERE session = ?1 AND original = ?2";
        execute(transaction, leave, (session, original, now))?;
    }
    execute(transaction, "UPDATE sessions SET last_seen = max(last_seen, ?2) WHERE id = ?1", (session, now)).map(drop)
}
