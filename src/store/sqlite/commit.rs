//! A batch -> rows, all or none.
//!
//! The ids in a batch were read before its text was composed; another process may have written since. So everything that
//! makes a marker true is checked again inside the transaction.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::failure::{Failure, Outcome};
use super::id;
use super::payload::Payload;
use super::row::Count;
use super::sweep::{evict, used_bytes};
use crate::error::{Error, Result};
use crate::reference::{ContentHash, Media, Original, RefId};
use crate::store::{Batch, Millis, Printed, Scope, StoreOptions, TurnStatus};

/// A new original, packed before the write lock is taken.
pub(super) struct Packed<'a> {
    id: &'a RefId,
    original: &'a Original,
    /// `None` when it was already stored at the time of packing.
    payload: Option<Payload>,
}

/// Which of a batch's originals are stored already.
pub(super) fn find_stored(connection: &Connection, batch: &Batch) -> Outcome<Vec<bool>> {
    batch.originals.iter().map(|(_, original)| Ok(find_original(connection, original.hash)?.is_some())).collect()
}

/// Checks a batch's originals and packs those that are not stored.
pub(super) fn pack<'a>(batch: &'a Batch, stored: &[bool]) -> Result<Vec<Packed<'a>>> {
    let check = |((id, original), is_stored): (&'a (RefId, Original), &bool)| {
        let found = ContentHash::of(&original.bytes);
        if found != original.hash || !id.matches(found) {
            let expected = format!("the bytes that it names; these hash to {}", found.to_hex());
            return Err(Error::bad_argument(format!("original {id}"), original.hash.to_hex(), expected));
        }
        Ok(Packed { id, original, payload: (!is_stored).then(|| Payload::pack(&original.bytes)) })
    };
    batch.originals.iter().zip(stored).map(check).collect()
}

/// Writes a batch.
pub(super) fn write(
    transaction: &Transaction<'_>,
    options: &StoreOptions,
    scope: &Scope,
    batch: &Batch,
    packed: Vec<Packed<'_>>,
    now: Millis,
) -> Outcome<()> {
    let session = ensure_session(transaction, scope, now)?;
    make_room(transaction, options, &packed, now)?;
    for Packed { id, original, payload } in packed {
        let row = match find_original(transaction, original.hash)? {
            Some((row, issued)) if id.as_str().starts_with(&issued) => row,
            None if !id::is_ambiguous(transaction, id, original.hash)? => {
                // Removed by another process since it was packed, if there is no payload.
                let payload = payload.unwrap_or_else(|| Payload::pack(&original.bytes));
                insert_original(transaction, id, original, &payload)?
            }
            _ => return Err(Error::bad_argument("id", id, "longer, because another original has it").into()),
        };
        grant(transaction, session, row, now)?;
    }
    for projection in &batch.projections {
        let original = require_grant(transaction, session, scope, projection.original, now)?;
        transaction
            .prepare_cached(
                "INSERT INTO projections (session, block, place, replacement, original) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (session, block, place) DO UPDATE SET replacement = ?4, original = ?5",
            )?
            .execute(params![
                session,
                projection.block.hash,
                projection.block.place,
                projection.replacement,
                original
            ])?;
    }
    for printed in &batch.printed {
        let original = require_grant(transaction, session, scope, printed.original, now)?;
        let is_answer = printed.printed == Printed::Copy;
        transaction
            .prepare_cached(
                "INSERT INTO printed (session, text, is_answer, original) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (session, text) DO UPDATE SET is_answer = ?3, original = ?4",
            )?
            .execute(params![session, printed.text, is_answer, original])?;
    }
    for receipt in &batch.receipts {
        transaction
            .prepare_cached(
                "INSERT INTO receipts (session, at, kind, tokens_before, tokens_after, detail)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                session,
                now,
                receipt.kind,
                Count(receipt.tokens_before),
                Count(receipt.tokens_after),
                receipt.detail
            ])?;
    }
    if let Some(epoch) = &batch.epoch {
        transaction
            .prepare_cached(
                "INSERT INTO epochs (session, at, reason, tokens_freed, tokens_rebilled, blocks)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                session,
                now,
                epoch.reason,
                Count(epoch.tokens_freed),
                Count(epoch.tokens_rebilled),
                Count(epoch.blocks)
            ])?;
    }
    if let Some(in_context) = &batch.in_context {
        let change = ContextChange::find(transaction, session, scope, in_context)?;
        for original in change.entered {
            grant(transaction, session, original, now)?;
        }
        for original in change.left {
            transaction
                .prepare_cached("UPDATE grants SET left_at = ?3 WHERE session = ?1 AND original = ?2")?
                .execute((session, original, now))?;
        }
        transaction.prepare_cached("UPDATE sessions SET last_seen = ?2 WHERE id = ?1")?.execute((session, now))?;
    }
    if let Some(tools) = batch.tools {
        transaction.prepare_cached("UPDATE sessions SET tools = ?2 WHERE id = ?1")?.execute((session, tools))?;
    }
    Ok(())
}

/// Whether writing this batch would change nothing but the time of a session that was seen a moment ago.
pub(super) fn may_be_skipped(
    connection: &Connection,
    options: &StoreOptions,
    scope: &Scope,
    batch: &Batch,
    now: Millis,
) -> Outcome<bool> {
    let Batch { originals, projections, printed, receipts, epoch, in_context, tools } = batch;
    let has_rows = !(originals.is_empty() && projections.is_empty() && printed.is_empty() && receipts.is_empty())
        || epoch.is_some();
    let Some(in_context) = in_context.as_ref().filter(|_| !has_rows) else { return Ok(!has_rows) };
    let seen = connection
        .prepare_cached("SELECT id, last_seen, tools FROM sessions WHERE session_id = ?1 AND agent_id = ?2")?
        .query_row((&scope.session_id, &scope.agent_id), |row| {
            Ok((row.get(0)?, row.get::<_, Millis>(1)?, row.get::<_, Option<ContentHash>>(2)?))
        })
        .optional()?;
    let Some((session, last_seen, known_tools)) = seen else { return Ok(false) };
    if tools.is_some() && *tools != known_tools {
        return Ok(false);
    }
    let is_recent = now.abs_diff(last_seen) < options.touch_interval_ms().unsigned_abs();
    Ok(is_recent && ContextChange::find(connection, session, scope, in_context)?.is_empty())
}

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

/// Keeps the file below its limit: removes what no session shows, or refuses.
fn make_room(transaction: &Transaction<'_>, options: &StoreOptions, packed: &[Packed<'_>], now: Millis) -> Outcome<()> {
    let needed: u64 = packed.iter().filter_map(|new| new.payload.as_ref()).map(|new| new.bytes.len() as u64).sum();
    let fits = |used: u64| needed == 0 || used.saturating_add(needed) <= options.max_bytes;
    if fits(used_bytes(transaction)?) {
        return Ok(());
    }
    // A little more than needed, so that not every commit at the limit has to look for what may go.
    let target = options.max_bytes.saturating_sub(needed).saturating_sub(options.max_bytes / 20);
    evict(transaction, options, target, now, usize::MAX)?;
    if fits(used_bytes(transaction)?) {
        return Ok(());
    }
    Err(Failure::Full(format!("its limit is {} bytes and sessions still show what it holds", options.max_bytes)))
}

fn find_original(connection: &Connection, hash: ContentHash) -> Outcome<Option<(i64, String)>> {
    Ok(connection
        .prepare_cached("SELECT id, ref_id FROM originals WHERE hash = ?1")?
        .query_row((hash,), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?)
}

fn insert_original(transaction: &Transaction<'_>, id: &RefId, original: &Original, payload: &Payload) -> Outcome<i64> {
    let mime = match &original.media {
        Media::Text => None,
        Media::Image(mime) => Some(mime),
    };
    transaction
        .prepare_cached(
            "INSERT INTO originals (hash, ref_id, mime, label, size, is_zstd, payload)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            original.hash,
            id.as_str(),
            mime,
            original.label,
            Count(original.bytes.len() as u64),
            payload.is_zstd,
            payload.bytes
        ])?;
    Ok(transaction.last_insert_rowid())
}

/// Lets a session see an original, from now on as part of its context.
fn grant(transaction: &Transaction<'_>, session: i64, original: i64, now: Millis) -> Outcome<()> {
    transaction
        .prepare_cached(
            "INSERT INTO grants (session, original, granted_at, left_at) VALUES (?1, ?2, ?3, NULL)
             ON CONFLICT (session, original) DO UPDATE SET granted_at = ?3, left_at = NULL",
        )?
        .execute((session, original, now))?;
    Ok(())
}

/// An original that any session of this agent was granted.
fn find_granted(connection: &Connection, scope: &Scope, hash: ContentHash) -> Outcome<Option<i64>> {
    Ok(connection
        .prepare_cached(
            "SELECT id FROM originals WHERE hash = ?1
             AND EXISTS (SELECT 1 FROM access WHERE original = originals.id AND agent_id = ?2)",
        )?
        .query_row((hash, &scope.agent_id), |row| row.get(0))
        .optional()?)
}

/// The row of an original that this session refers to, shared with it when another session of the agent has it.
fn require_grant(
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

/// How the set of originals that a context refers to differs from what the store holds.
struct ContextChange {
    entered: Vec<i64>,
    left: Vec<i64>,
}

impl ContextChange {
    /// Hashes that the agent may not see do not count: naming one must not open it.
    fn find(connection: &Connection, session: i64, scope: &Scope, in_context: &BTreeSet<ContentHash>) -> Outcome<Self> {
        let mut entering = in_context.clone();
        let mut left = Vec::new();
        let mut shown = connection.prepare_cached(
            "SELECT originals.id, originals.hash FROM grants JOIN originals ON originals.id = grants.original
             WHERE grants.session = ?1 AND grants.left_at IS NULL",
        )?;
        let mut rows = shown.query((session,))?;
        while let Some(row) = rows.next()? {
            if !entering.remove(&row.get(1)?) {
                left.push(row.get(0)?);
            }
        }
        let mut entered = Vec::new();
        for hash in entering {
            entered.extend(find_granted(connection, scope, hash)?);
        }
        Ok(Self { entered, left })
    }

    fn is_empty(&self) -> bool {
        self.entered.is_empty() && self.left.is_empty()
    }
}

/// Records a turn.
pub(super) fn write_turn(
    transaction: &Transaction<'_>,
    scope: &Scope,
    advancement_key: &str,
    now: Millis,
) -> Outcome<TurnStatus> {
    let session = ensure_session(transaction, scope, now)?;
    let added = transaction
        .prepare_cached(
            "INSERT INTO turns (session, advancement_key, at) VALUES (?1, ?2, ?3)
             ON CONFLICT (session, advancement_key) DO NOTHING",
        )?
        .execute((session, advancement_key, now))?;
    Ok(if added == 1 { TurnStatus::Committed } else { TurnStatus::Duplicate })
}

/// Copies what a session may see, unless it is expired, and how it is shown. What the child already has stays as it is.
pub(super) fn inherit(
    transaction: &Transaction<'_>,
    parent: &Scope,
    child: &Scope,
    expired_before: Millis,
    now: Millis,
) -> Outcome<()> {
    let child = ensure_session(transaction, child, now)?;
    let Some(parent) = find_session(transaction, parent)? else { return Ok(()) };
    transaction
        .prepare_cached(
            "INSERT INTO grants (session, original, granted_at, left_at)
             SELECT ?2, original, ?4, NULL FROM access WHERE session = ?1 AND referred_at >= ?3
             ON CONFLICT (session, original) DO UPDATE SET granted_at = ?4, left_at = NULL",
        )?
        .execute((parent, child, expired_before, now))?;
    transaction
        .prepare_cached(
            "INSERT INTO projections (session, block, place, replacement, original)
             SELECT ?2, block, place, replacement, original FROM projections AS theirs WHERE session = ?1
               AND EXISTS (SELECT 1 FROM grants WHERE session = ?2 AND original = theirs.original)
             ORDER BY id ON CONFLICT (session, block, place) DO NOTHING",
        )?
        .execute((parent, child))?;
    transaction
        .prepare_cached(
            "INSERT INTO printed (session, text, is_answer, original)
             SELECT ?2, text, is_answer, original FROM printed AS theirs WHERE session = ?1
               AND EXISTS (SELECT 1 FROM grants WHERE session = ?2 AND original = theirs.original)
             ON CONFLICT (session, text) DO NOTHING",
        )?
        .execute((parent, child))?;
    Ok(())
}
