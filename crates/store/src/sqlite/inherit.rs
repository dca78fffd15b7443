//! Inheritance of a parent's session by a sub-agent's session: of everything, or of named originals.

use rusqlite::Transaction;

use super::context::grant;
use super::failure::Outcome;
use super::session::{ensure_session, mark_active};
use crate::id::hash_range;
use crate::options::StoreOptions;
use crate::records::{MarkKind, Scope};
use crate::time::Millis;
use concertina_base::reference::RefId;

/// Copies the unexpired grants of a session, its projections and its pins, and records the parent of the child.
/// Existing projections of the child stay. Existing grants are renewed, because the child's task may name them now.
pub(super) fn inherit(
    transaction: &Transaction<'_>,
    options: &StoreOptions,
    parent: &Scope,
    child: &Scope,
    named: Option<&[RefId]>,
    now: Millis,
) -> Outcome<()> {
    if parent == child {
        return Ok(());
    }
    let parent = ensure_session(transaction, parent, now)?;
    let child = ensure_session(transaction, child, now)?;
    mark_active(transaction, child, options.holder())?;
    transaction.prepare_cached("UPDATE sessions SET parent = ?2 WHERE id = ?1")?.execute((child, parent))?;
    transaction
        .prepare_cached(
            "INSERT INTO marks (session, kind, content, at) SELECT ?2, kind, content, at FROM marks
             WHERE session = ?1 AND kind = ?3 ON CONFLICT (session, kind, content) DO NOTHING",
        )?
        .execute((parent, child, MarkKind::Pinned.as_str()))?;
    for original in inherited_originals(transaction, parent, named, options.expired_before(now))? {
        grant(transaction, child, original, now)?;
        // There are few rows of each, and the order of a ledger's rows has no meaning.
        transaction
            .prepare_cached(
                "INSERT INTO projections (session, block, place, replacement, original, reason)
                 SELECT ?2, block, place, replacement, original, reason FROM projections
                 WHERE session = ?1 AND original = ?3 ORDER BY id
                 ON CONFLICT (session, block, place) DO NOTHING",
            )?
            .execute((parent, child, original))?;
        transaction
            .prepare_cached(
                "INSERT INTO printed (session, text, is_answer, original, saved)
                 SELECT ?2, text, is_answer, original, saved FROM printed WHERE session = ?1 AND original = ?3
                 ON CONFLICT (session, text) DO NOTHING",
            )?
            .execute((parent, child, original))?;
    }
    Ok(())
}

/// Returns the originals to be inherited: those that the parent's session may see and, if ids are named, whose issued
/// id is one of them.
fn inherited_originals(
    transaction: &Transaction<'_>,
    parent: i64,
    named: Option<&[RefId]>,
    expired_before: Millis,
) -> Outcome<Vec<i64>> {
    let Some(named) = named else {
        return Ok(transaction
            .prepare_cached("SELECT original FROM access WHERE session = ?1 AND referred_at >= ?2 ORDER BY original")?
            .query_map((parent, expired_before), |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?);
    };
    let mut by_id = transaction.prepare_cached(
        "SELECT id FROM originals WHERE hash BETWEEN ?3 AND ?4 AND substr(?5, 1, length(ref_id)) = ref_id
           AND EXISTS (SELECT 1 FROM access WHERE session = ?1 AND original = originals.id AND referred_at >= ?2)",
    )?;
    let mut inherited_originals = Vec::new();
    for id in named {
        let (first, last) = hash_range(id.as_str());
        let found = by_id.query_map((parent, expired_before, first.0, last.0, id.as_str()), |row| row.get(0))?;
        inherited_originals.extend(found.collect::<rusqlite::Result<Vec<i64>>>()?);
    }
    Ok(inherited_originals)
}
