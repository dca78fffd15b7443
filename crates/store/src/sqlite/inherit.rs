//! Inheritance of a parent's session by a sub-agent's session: of everything, or of named originals.

use rusqlite::Transaction;

use super::context::grant;
use super::failure::Outcome;
use super::row::{all, execute};
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
    execute(transaction, "UPDATE sessions SET parent = ?2 WHERE id = ?1", (child, parent))?;
    let pin = "INSERT INTO marks (session, kind, content, at) SELECT ?2, kind, content, at FROM marks
       WHERE session = ?1 AND kind = ?3 ON CONFLICT (session, kind, content) DO NOTHING";
    execute(transaction, pin, (parent, child, MarkKind::Pinned.as_str()))?;
    // There are few rows of each, and the order of a ledger's rows has no meaning.
    let project = "INSERT INTO projections (session, block, place, replacement, original, reason)
       SELECT ?2, block, place, replacement, original, reason FROM projections
       WHERE session = ?1 AND original = ?3 ORDER BY id ON CONFLICT (session, block, place) DO NOTHING";
    let print = "INSERT INTO printed (session, text, is_answer, original, saved)
       SELECT ?2, text, is_answer, original, saved FROM printed WHERE session = ?1 AND original = ?3
       ON CONFLICT (session, text) DO NOTHING";
    for original in inherited_originals(transaction, parent, named, options.expired_before(now))? {
        grant(transaction, child, original, now)?;
        execute(transaction, project, (parent, child, original))?;
        execute(transaction, print, (parent, child, original))?;
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
        let all_of = "SELECT original FROM access WHERE session = ?1 AND referred_at >= ?2 ORDER BY original";
        return all(transaction, all_of, (parent, expired_before), |row| row.get(0));
    };
    let by_id = "SELECT id FROM originals WHERE hash BETWEEN ?3 AND ?4 AND substr(?5, 1, length(ref_id)) = ref_id
       AND EXISTS (SELECT 1 FROM access WHERE session = ?1 AND original = originals.id AND referred_at >= ?2)";
    let mut inherited_originals = Vec::new();
    for id in named {
        let (first, last) = hash_range(id.as_str());
        let params = (parent, expired_before, first.0, last.0, id.as_str());
        inherited_originals.extend(all(transaction, by_id, params, |row| row.get::<_, i64>(0))?);
    }
    Ok(inherited_originals)
}
