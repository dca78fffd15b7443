//! What a session may see, and which of it its context refers to.
//!
//! Seeing is granted by a put, by inheriting, and by referring to what another session of the same agent was granted; a
//! mention of anything else opens nothing.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, Transaction};

use super::failure::Outcome;
use crate::records::Scope;
use crate::time::Millis;
use concertina_base::error::Error;
use concertina_base::reference::ContentHash;

/// Lets a session see an original, from now on as part of its context.
pub(super) fn grant(transaction: &Transaction<'_>, session: i64, original: i64, now: Millis) -> Outcome<()> {
    transaction
        .prepare_cached(
            "INSERT INTO grants (session, original, granted_at, left_at) VALUES (?1, ?2, ?3, NULL)
             ON CONFLICT (session, original) DO UPDATE SET granted_at = ?3, left_at = NULL",
        )?
        .execute((session, original, now))?;
    Ok(())
}

/// Returns an original that any session of this agent was granted, or one that works for it.
fn find_granted(connection: &Connection, scope: &Scope, hash: ContentHash) -> Outcome<Option<i64>> {
    Ok(connection
        .prepare_cached(
            "SELECT id FROM originals WHERE hash = ?1
             AND EXISTS (SELECT 1 FROM access WHERE original = originals.id AND ?2 IN (agent_id, parent_agent_id))",
        )?
        .query_row((hash.0, &scope.agent_id), |row| row.get(0))
        .optional()?)
}

/// Returns the row of an original that this session refers to, shared with it when another session of the agent has it.
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
    let is_ours = transaction
        .prepare_cached("SELECT 1 FROM grants WHERE session = ?1 AND original = ?2")?
        .exists((session, original))?;
    if !is_ours {
        grant(transaction, session, original, now)?;
    }
    Ok(original)
}

/// Records what a session's context refers to, and that it was seen.
///
/// Hashes that the agent may not see do not count: naming one must not open it. What others have folded since the row
/// `since` is in the context, too, though its maker did not know.
pub(super) fn show(
    transaction: &Transaction<'_>,
    session: i64,
    scope: &Scope,
    in_context: &BTreeSet<ContentHash>,
    since: i64,
    now: Millis,
) -> Outcome<()> {
    let mut entering = in_context.clone();
    let mut left: Vec<i64> = Vec::new();
    let mut shown = transaction.prepare_cached(
        "SELECT originals.id, originals.hash FROM grants JOIN originals ON originals.id = grants.original
         WHERE grants.session = ?1 AND grants.left_at IS NULL
           AND NOT EXISTS (SELECT 1 FROM projections WHERE session = ?1 AND original = originals.id AND id > ?2)",
    )?;
    let mut rows = shown.query((session, since))?;
    while let Some(row) = rows.next()? {
        if !entering.remove(&ContentHash(row.get(1)?)) {
            left.push(row.get(0)?);
        }
    }
    for hash in entering {
        if let Some(original) = find_granted(transaction, scope, hash)? {
            grant(transaction, session, original, now)?;
        }
    }
    for original in left {
        transaction
            .prepare_cached("UPDATE grants SET left_at = ?3 WHERE session = ?1 AND original = ?2")?
            .execute((session, original, now))?;
    }
    transaction
        .prepare_cached("UPDATE sessions SET last_seen = max(last_seen, ?2) WHERE id = ?1")?
        .execute((session, now))?;
    Ok(())
}
