//! Writes a batch in one transaction.
//!
//! The ids in a batch were read before its text was composed, and another process may have written since. Everything
//! that makes a marker valid is therefore checked again inside the transaction.

use rusqlite::{Connection, Transaction, params};

use super::context::{grant, record_context, require_grant};
use super::failure::{Failure, Outcome};
use super::pages::used_bytes;
use super::read;
use super::row::{execute, first};
use super::session::{self, ensure_session};
use super::sweep::{evict, find_evictable};
use crate::options::StoreOptions;
use crate::payload::{Packed, Packer, Payload};
use crate::records::{AskedAgain, Batch, Epoch, Mark, PrintedKind, Projection, Receipt, Scope};
use crate::row::to_signed;
use crate::time::{DAY_MS, Millis};
use concertina_base::error::Error;
use concertina_base::reference::{ContentHash, Media, Original, RefId};

/// Returns for each original of a batch whether it is already stored.
pub(super) fn are_stored(connection: &Connection, batch: &Batch) -> Outcome<Vec<bool>> {
    batch.originals.iter().map(|(_, original)| Ok(find_original(connection, original.hash)?.is_some())).collect()
}

/// Writes a batch. Returns the projections in force that the caller did not know.
pub(super) fn write(
    transaction: &Transaction<'_>,
    options: &StoreOptions,
    scope: &Scope,
    batch: &Batch,
    packed: Vec<Packed<'_>>,
    now: Millis,
) -> Outcome<Vec<Projection>> {
    let session = ensure_session(transaction, scope, now)?;
    session::mark_active(transaction, session, options.holder())?;
    free_space(transaction, options, &packed, now)?;
    for Packed { id, original, payload } in packed {
        let row = match find_original(transaction, original.hash)? {
            Some((row, issued)) if id.as_str().starts_with(&issued) => row,
            None if !read::is_ambiguous(transaction, id, original.hash)? => {
                // Without a payload, another process removed the original after the batch was prepared.
                let payload = payload.unwrap_or_else(|| Packer::default().pack(&original.bytes));
                insert_original(transaction, id, original, &payload)?
            }
            _ => return Err(Error::bad_argument("id", id, "longer, because another original has it").into()),
        };
        grant(transaction, session, row, now)?;
    }
    let has_decided = decide(transaction, session, scope, batch, now)?;
    for printed in &batch.printed {
        let original = require_grant(transaction, session, scope, printed.original, now)?;
        let is_answer = printed.kind == PrintedKind::Copy;
        let print = "INSERT INTO printed (session, text, is_answer, original, saved) VALUES (?1, ?2, ?3, ?4, ?5)
           ON CONFLICT (session, text) DO NOTHING";
        execute(transaction, print, (session, printed.text.0, is_answer, original, to_signed(printed.saved)))?;
    }
    for Mark { kind, content } in &batch.unmarked {
        let unmark = "DELETE FROM marks WHERE session = ?1 AND kind = ?2 AND content = ?3";
        execute(transaction, unmark, (session, kind.as_str(), content.0))?;
    }
    for Mark { kind, content } in &batch.marked {
        let mark = "INSERT INTO marks (session, kind, content, at) VALUES (?1, ?2, ?3, ?4)
           ON CONFLICT (session, kind, content) DO UPDATE SET at = excluded.at";
        execute(transaction, mark, (session, kind.as_str(), content.0, now))?;
    }
    if has_decided {
        write_log(transaction, session, batch, now)?;
    }
    for AskedAgain { ref_id, tool, tokens, is_rerun } in &batch.asked_again {
        let fetch = "INSERT INTO fetches (session, at, ref_id, tokens, tool, is_rerun) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        execute(transaction, fetch, (session, now, ref_id, to_signed(*tokens), tool, is_rerun))?;
    }
    if let Some(in_context) = &batch.in_context {
        record_context(transaction, session, scope, in_context, batch.since, now)?;
    }
    if let Some(tools) = batch.tools {
        execute(transaction, "UPDATE sessions SET tools = ?2 WHERE id = ?1", (session, tools.0))?;
    }
    projections_in_force(transaction, session, batch)
}

/// Withdraws and adds projections. Returns false if the batch had projections to decide and all of them had been
/// decided before.
fn decide(transaction: &Transaction<'_>, session: i64, scope: &Scope, batch: &Batch, now: Millis) -> Outcome<bool> {
    let mut changed = 0;
    for block in &batch.withdrawn {
        let withdraw = "DELETE FROM projections WHERE session = ?1 AND block = ?2 AND place = ?3 AND id <= ?4";
        changed += execute(transaction, withdraw, (session, block.hash.0, block.place, batch.since))?;
    }
    for Projection { block, replacement, original, reason } in &batch.projections {
        let original = require_grant(transaction, session, scope, *original, now)?;
        let project = "INSERT INTO projections (session, block, place, replacement, original, reason)
           VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (session, block, place) DO NOTHING";
        changed += execute(transaction, project, (session, block.hash.0, block.place, replacement, original, reason))?;
    }
    Ok(changed > 0 || batch.withdrawn.is_empty() && batch.projections.is_empty())
}

/// Returns the projections that the caller did not know, in the order in which they were written.
fn projections_in_force(connection: &Connection, session: i64, batch: &Batch) -> Outcome<Vec<Projection>> {
    let mut rows = read::projections(connection, session, batch.since)?;
    for projection in &batch.projections {
        // The ledger contained this projection, and the batch decided it again nevertheless.
        let earlier = read::projection_of(connection, session, projection.block)?;
        rows.extend(earlier.filter(|(row, _)| *row <= batch.since));
    }
    rows.sort_by_key(|(row, _)| *row);
    rows.dedup_by_key(|(row, _)| *row);
    Ok(rows.into_iter().map(|(_, projection)| projection).collect())
}

/// Writes the receipts, the epoch and the folded tokens of a batch.
fn write_log(transaction: &Transaction<'_>, session: i64, batch: &Batch, now: Millis) -> Outcome<()> {
    for Receipt { kind, tokens_before, tokens_after, detail } in &batch.receipts {
        let add = "INSERT INTO receipts (session, at, kind, tokens_before, tokens_after, detail)
           VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let (before, after) = (to_signed(*tokens_before), to_signed(*tokens_after));
        execute(transaction, add, (session, now, kind, before, after, detail))?;
    }
    if let Some(Epoch { reason, tokens_freed, tokens_rebilled, blocks }) = &batch.epoch {
        let add = "INSERT INTO epochs (session, at, reason, tokens_freed, tokens_rebilled, blocks)
           VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let [freed, rebilled, blocks] = [*tokens_freed, *tokens_rebilled, *blocks].map(to_signed);
        execute(transaction, add, (session, now, reason, freed, rebilled, blocks))?;
    }
    for (kind, before, after) in &batch.folded {
        let add = "INSERT INTO folded (session, day, kind, tokens_before, tokens_after) VALUES (?1, ?2, ?3, ?4, ?5)
           ON CONFLICT (session, day, kind) DO UPDATE SET tokens_before = tokens_before + excluded.tokens_before,
             tokens_after = tokens_after + excluded.tokens_after";
        let day = now.div_euclid(DAY_MS);
        execute(transaction, add, (session, day, kind.as_str(), to_signed(*before), to_signed(*after)))?;
    }
    Ok(())
}

/// Keeps the file below its limit: removes what no session shows, or fails.
fn free_space(
    transaction: &Transaction<'_>,
    options: &StoreOptions,
    packed: &[Packed<'_>],
    now: Millis,
) -> Outcome<()> {
    let needed: u64 = packed.iter().filter_map(|new| new.payload.as_ref()).map(|new| new.bytes.len() as u64).sum();
    let can_fit = |used: u64| needed == 0 || used.saturating_add(needed) <= options.max_bytes;
    if can_fit(used_bytes(transaction)?) {
        return Ok(());
    }
    let target = options.eviction_target(needed);
    let evictable = find_evictable(transaction, options, target, now, i64::MAX)?;
    evict(transaction, options, target, now, &evictable)?;
    if can_fit(used_bytes(transaction)?) {
        return Ok(());
    }
    Err(Failure::Full(format!(
        "storeMaxBytes ({}) is reached and everything stored is still in use; raise it or end sessions",
        options.max_bytes
    )))
}

fn find_original(connection: &Connection, hash: ContentHash) -> Outcome<Option<(i64, String)>> {
    let sql = "SELECT id, ref_id FROM originals WHERE hash = ?1";
    first(connection, sql, (hash.0,), |row| Ok((row.get(0)?, row.get(1)?)))
}

fn insert_original(transaction: &Transaction<'_>, id: &RefId, original: &Original, payload: &Payload) -> Outcome<i64> {
    let mime = match &original.media {
        Media::Text => None,
        Media::Image(mime) => Some(mime),
    };
    let Original { hash, label, bytes, .. } = original;
    let Payload { is_zstd, bytes: packed } = payload;
    let size = to_signed(bytes.len() as u64);
    let sql = "INSERT INTO originals (hash, ref_id, mime, label, size, is_zstd, payload)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    execute(transaction, sql, params![hash.0, id.as_str(), mime, label, size, is_zstd, packed])?;
    Ok(transaction.last_insert_rowid())
}
