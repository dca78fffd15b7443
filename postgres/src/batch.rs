//! Converts a batch into the statements of one transaction, which are sent together.
//!
//! The ids in a batch were read before its text was composed, and another machine may have written since. So everything
//! that makes a placeholder true is checked again inside the transaction, which holds the lock on the session's row. A
//! statement that finds a check failed selects `refuse`, which ends the transaction ([`crate::refusal`]).

use std::borrow::Cow;
use std::collections::HashSet;

use concertina_base::reference::Media;
use concertina_store::payload::Packed;
use concertina_store::row::to_signed;
use concertina_store::time::DAY_MS;
use concertina_store::{Batch, FoldedKind, Mark, Millis, PrintedKind, Scope};

use crate::connection::{Call, call};
use crate::context::{GRANT_ORIGINALS, GRANT_SHARED, MARK_ENTERED, MARK_LEFT, MARK_SEEN, REFUSE_UNGRANTED};
use crate::pool::Pool;
use crate::row::hashes;
use crate::scope::session;
use crate::session::ENSURE_SESSION;
use crate::text::{escaped, key};

/// The maximum number of payload bytes in one statement. A server accepts no message above 1 GB.
const CHUNK_BYTES: usize = 16 << 20;

/// Stores originals under ids that no other original has, unless more than `$8` bytes would be stored in all.
const ADD_ORIGINALS: &str = "WITH added AS (
      INSERT INTO originals (hash, ref_id, mime, label, size, is_zstd, payload)
      SELECT * FROM unnest($1::bytea[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::boolean[], $7::bytea[])
        AS given (hash, ref_id, mime, label, size, is_zstd, payload)
      WHERE CASE WHEN EXISTS (
          SELECT 1 FROM originals AS near
          WHERE near.hash BETWEEN decode(rpad(given.ref_id, 64, '0'), 'hex') AND decode(rpad(given.ref_id, 64, 'f'),
            'hex')
            AND near.hash <> given.hash AND starts_with(encode(given.hash, 'hex'), near.ref_id))
          AND NOT EXISTS (SELECT 1 FROM originals AS same WHERE same.hash = given.hash)
        THEN refuse('taken', given.ref_id) ELSE true END
      ORDER BY hash -- two that add the same wait for each other in one order
      ON CONFLICT (hash) DO NOTHING RETURNING octet_length(payload) AS bytes)
    INSERT INTO usage (originals, bytes) SELECT count(*), sum(bytes) FROM added
    HAVING CASE WHEN count(*) = 0 THEN false
      WHEN sum(bytes) + (SELECT coalesce(sum(bytes), 0) FROM usage) > $8::bigint THEN refuse('no room', '') ELSE true
        END";
/// Decides if receipts, the epoch and sums of this transaction are recorded. A transaction that decides something
/// (`$3`) records them only if [`REMOVE_PROJECTIONS`] or [`ADD_PROJECTIONS`] changes a row. One that decides nothing
/// records them, unless it is a retry (`$4`) whose receipt is already stored.
const SET_IS_RECORDED: &str = concat!(
    "SELECT set_config('concertina.counts', (NOT $3 AND NOT ($4 AND EXISTS (
       SELECT 1 FROM receipts WHERE session = ",
    session!(),
    " AND at = $5)))::text, true)"
);
macro_rules! if_recorded {
    () => {
        " WHERE current_setting('concertina.counts')::boolean "
    };
}
macro_rules! then_record {
    ($changed:literal) => {
        concat!(" SELECT set_config('concertina.counts', 'true', true) FROM ", $changed, " LIMIT 1")
    };
}
const REMOVE_PROJECTIONS: &str = concat!(
    "WITH gone AS (
       DELETE FROM projections USING unnest($3::bytea[], $4::bigint[]) AS given (block, place)
       WHERE projections.session = ",
    session!(),
    " AND projections.block = given.block AND projections.place = given.place AND projections.id <= $5
       RETURNING 1)",
    then_record!("gone")
);
const ADD_PROJECTIONS: &str = concat!(
    "WITH added AS (
       INSERT INTO projections (session, block, place, replacement, original, reason)
       SELECT grants.session, given.block, given.place, given.replacement, originals.id, given.reason
       FROM unnest($3::bytea[], $4::bigint[], $5::text[], $6::bytea[], $7::text[]) WITH ORDINALITY
         AS given (block, place, replacement, original, reason, position)
       JOIN originals ON originals.hash = given.original
       JOIN grants ON grants.session = ",
    session!(),
    " AND grants.original = originals.id
       ORDER BY given.position ON CONFLICT (session, block, place) DO NOTHING RETURNING 1)",
    then_record!("added")
);
const ADD_PRINTED: &str = concat!(
    "INSERT INTO printed (session, text, is_answer, original, saved)
     SELECT grants.session, given.text, given.is_answer, originals.id, given.saved
     FROM unnest($3::bytea[], $4::boolean[], $5::bytea[], $6::bigint[]) WITH ORDINALITY
       AS given (text, is_answer, original, saved, position)
     JOIN originals ON originals.hash = given.original
     JOIN grants ON grants.session = ",
    session!(),
    " AND grants.original = originals.id
     ORDER BY given.position ON CONFLICT (session, text) DO NOTHING"
);
const REMOVE_MARKS: &str = concat!(
    "DELETE FROM marks USING unnest($3::text[], $4::bytea[]) AS given (kind, content)
     WHERE marks.session = ",
    session!(),
    " AND marks.kind = given.kind AND marks.content = given.content"
);
const ADD_MARKS: &str = concat!(
    "INSERT INTO marks (session, kind, content, at)
     SELECT DISTINCT ",
    session!(),
    ", kind, content, $3::bigint FROM unnest($4::text[], $5::bytea[]) AS given (kind, content)
     ON CONFLICT (session, kind, content) DO UPDATE SET at = excluded.at"
);
const ADD_RECEIPTS: &str = concat!(
    "INSERT INTO receipts (session, at, kind, tokens_before, tokens_after, detail)
     SELECT ",
    session!(),
    ", $3, kind, tokens_before, tokens_after, detail FROM unnest($4::text[], $5::bigint[], $6::bigint[], $7::text[])
       WITH ORDINALITY AS given (kind, tokens_before, tokens_after, detail, position)",
    if_recorded!(),
    "ORDER BY position"
);
const ADD_EPOCH: &str = concat!(
    "INSERT INTO epochs (session, at, reason, tokens_freed, tokens_rebilled, blocks)
     SELECT ",
    session!(),
    ", $3::bigint, $4::text, $5::bigint, $6::bigint, $7::bigint",
    if_recorded!()
);

/// Records the originals that a session's model asked for again. If `$8` is true, the batch is a retry and the rows may
/// already be stored.
const ADD_FETCHES: &str = concat!(
    "INSERT INTO fetches (session, at, ref_id, tokens, tool, is_rerun)
     SELECT ",
    session!(),
    ", $3, ref_id, tokens, tool, is_rerun FROM unnest($4::text[], $5::bigint[], $6::text[], $7::boolean[])
       WITH ORDINALITY AS given (ref_id, tokens, tool, is_rerun, position)
     WHERE NOT ($8 AND EXISTS (SELECT 1 FROM fetches WHERE session = ",
    session!(),
    " AND at = $3)) ORDER BY position"
);

/// Adds the tokens that were folded to the totals of the day.
const ADD_FOLDED: &str = concat!(
    "INSERT INTO folded (session, day, kind, tokens_before, tokens_after)
     SELECT ",
    session!(),
    ", $3, kind, sum(tokens_before), sum(tokens_after)
     FROM unnest($4::text[], $5::bigint[], $6::bigint[]) AS given (kind, tokens_before, tokens_after)",
    if_recorded!(),
    "GROUP BY kind
     ON CONFLICT (session, day, kind) DO UPDATE SET tokens_before = folded.tokens_before + excluded.tokens_before,
       tokens_after = folded.tokens_after + excluded.tokens_after"
);

/// Selects the projections of a session that were written after the row `$3`, and those of some blocks, in the order in
/// which they were written.
const PROJECTIONS_IN_FORCE: &str = concat!(
    "SELECT projections.id, block, place, replacement, hash, reason FROM projections
     JOIN originals ON originals.id = projections.original
     WHERE session = ",
    session!(),
    " AND projections.id > $3 OR projections.id = ANY(ARRAY(
       SELECT projections.id FROM unnest($4::bytea[], $5::bigint[]) AS given (block, place)
       JOIN projections ON session = ",
    session!(),
    " AND projections.block = given.block AND projections.place = given.place)) ORDER BY projections.id"
);

/// Types of array parameters.
type Texts<'a> = Vec<Cow<'a, str>>;
type Hashes<'a> = Vec<&'a [u8]>;
type Numbers = Vec<i64>;

/// The contents of a batch as parameters of statements.
pub(crate) struct Parameters<'a> {
    batch: &'a Batch,
    session: Vec<u8>,
    agent: Vec<u8>,
    session_id: Cow<'a, str>,
    agent_id: Cow<'a, str>,
    host: Option<&'a str>,
    /// The time that is passed to the database; `None` if it uses its own clock.
    caller_time: Option<Millis>,
    /// The time at which the batch was made, by the caller's clock. Events of the session are recorded with this time.
    made_at: Millis,
    /// The ids and hashes of the originals.
    originals: (Vec<&'a str>, Hashes<'a>),
    /// The hashes of originals that the agent must have been granted.
    required: Hashes<'a>,
    /// Blocks and places of withdrawn projections.
    withdrawn: (Hashes<'a>, Numbers),
    /// Blocks, places, replacements, originals and reasons.
    projections: (Hashes<'a>, Numbers, Texts<'a>, Hashes<'a>, Texts<'a>),
    /// Hashes of printed texts, true for each text that is an answer, originals, and tokens saved.
    printed: (Hashes<'a>, Vec<bool>, Hashes<'a>, Numbers),
    /// Kinds and contents of the marks that are taken back, and of the new ones.
    unmarked: (Vec<&'static str>, Hashes<'a>),
    marked: (Vec<&'static str>, Hashes<'a>),
    /// Kinds, tokens before and after, and details.
    receipts: (Texts<'a>, Numbers, Numbers, Texts<'a>),
    epoch: Option<(Cow<'a, str>, [i64; 3])>,
    /// The day of `made_at`, in days since 1970.
    made_on: i64,
    /// Kinds, tokens before and after.
    folded: (Vec<&'static str>, Numbers, Numbers),
    /// Ids, tokens, tools, and true for each rerun.
    asked_again: (Texts<'a>, Numbers, Texts<'a>, Vec<bool>),
    in_context: Option<Hashes<'a>>,
    has_context: bool,
    tools: Option<Vec<u8>>,
    /// True if the batch changes how blocks are shown. It may then turn out that another writer has made the same
    /// decision.
    has_decisions: bool,
    /// True if the batch was sent before and the outcome is unknown.
    pub(crate) is_retry: bool,
}

impl<'a> Parameters<'a> {
    pub(crate) fn new(pool: &'a Pool, scope: &'a Scope, batch: &'a Batch, made_at: Millis) -> Self {
        let (originals, rows) = (&batch.originals, &batch.projections);
        let numbers =
            |epoch: &concertina_store::Epoch| [epoch.tokens_freed, epoch.tokens_rebilled, epoch.blocks].map(to_signed);
        Self {
            batch,
            session: key(&scope.session_id),
            agent: key(&scope.agent_id),
            session_id: escaped(&scope.session_id),
            agent_id: escaped(&scope.agent_id),
            host: pool.host.as_deref(),
            caller_time: pool.caller_time(made_at),
            made_at,
            originals: (
                originals.iter().map(|(id, _)| id.as_str()).collect(),
                hashes(originals.iter().map(|(_, original)| &original.hash)),
            ),
            required: hashes(
                (rows.iter().map(|row| &row.original)).chain(batch.printed.iter().map(|row| &row.original)),
            ),
            withdrawn: batch.withdrawn.iter().map(|block| (block.hash.0.as_slice(), block.place)).unzip(),
            projections: (
                hashes(rows.iter().map(|row| &row.block.hash)),
                rows.iter().map(|row| row.block.place).collect(),
                rows.iter().map(|row| escaped(&row.replacement)).collect(),
                hashes(rows.iter().map(|row| &row.original)),
                rows.iter().map(|row| escaped(&row.reason)).collect(),
            ),
            printed: (
                hashes(batch.printed.iter().map(|row| &row.text)),
                batch.printed.iter().map(|row| row.kind == PrintedKind::Copy).collect(),
                hashes(batch.printed.iter().map(|row| &row.original)),
                batch.printed.iter().map(|row| to_signed(row.saved)).collect(),
            ),
            unmarked: marks(&batch.unmarked),
            marked: marks(&batch.marked),
            receipts: (
                batch.receipts.iter().map(|receipt| escaped(&receipt.kind)).collect(),
                batch.receipts.iter().map(|receipt| to_signed(receipt.tokens_before)).collect(),
                batch.receipts.iter().map(|receipt| to_signed(receipt.tokens_after)).collect(),
                batch.receipts.iter().map(|receipt| escaped(&receipt.detail)).collect(),
            ),
            epoch: batch.epoch.as_ref().map(|epoch| (escaped(&epoch.reason), numbers(epoch))),
            made_on: made_at.div_euclid(DAY_MS),
            folded: folded_rows(&batch.folded),
            asked_again: (
                batch.asked_again.iter().map(|asked| escaped(&asked.ref_id)).collect(),
                batch.asked_again.iter().map(|asked| to_signed(asked.tokens)).collect(),
                batch.asked_again.iter().map(|asked| escaped(&asked.tool)).collect(),
                batch.asked_again.iter().map(|asked| asked.is_rerun).collect(),
            ),
            in_context: batch.in_context.as_ref().map(hashes),
            has_context: batch.in_context.is_some(),
            tools: batch.tools.map(|tools| tools.0.to_vec()),
            has_decisions: !batch.withdrawn.is_empty() || !batch.projections.is_empty(),
            is_retry: false,
        }
    }

    /// Returns the statements of the batch. The last one returns the projections in force that the batch's maker did
    /// not know. `max_bytes` is the size limit of the store.
    pub(crate) fn calls<'b>(&'b self, columns: &'b [Columns<'_>], max_bytes: &'b i64) -> Vec<Call<'b>> {
        let Self { batch, session, agent, caller_time, made_at, .. } = self;
        let mut calls =
            vec![call!(ENSURE_SESSION, *session, *agent, self.session_id, self.agent_id, *caller_time, self.host)];
        for Columns { hashes, ids, mimes, labels, sizes, zstd, payloads } in columns {
            calls.push(call!(ADD_ORIGINALS, *hashes, *ids, *mimes, *labels, *sizes, *zstd, *payloads, *max_bytes));
        }
        let (ids, hashes) = &self.originals;
        if !ids.is_empty() {
            calls.push(call!(GRANT_ORIGINALS, *session, *agent, *hashes, *ids, *caller_time));
        }
        if !self.required.is_empty() {
            calls.push(call!(REFUSE_UNGRANTED, *agent, self.required));
            calls.push(call!(GRANT_SHARED, *session, *agent, self.required, *caller_time));
        }
        let (kinds, before, after, details) = &self.receipts;
        let (folded_kinds, folded_before, folded_after) = &self.folded;
        if !kinds.is_empty() || self.epoch.is_some() || !folded_kinds.is_empty() {
            calls.push(call!(SET_IS_RECORDED, *session, *agent, self.has_decisions, self.is_retry, *made_at));
        }
        if !batch.withdrawn.is_empty() {
            calls.push(call!(REMOVE_PROJECTIONS, *session, *agent, self.withdrawn.0, self.withdrawn.1, batch.since));
        }
        let (blocks, places, replacements, originals, reasons) = &self.projections;
        if !blocks.is_empty() {
            calls.push(call!(ADD_PROJECTIONS, *session, *agent, *blocks, *places, *replacements, *originals, *reasons));
        }
        let (texts, answers, originals, saved) = &self.printed;
        if !texts.is_empty() {
            calls.push(call!(ADD_PRINTED, *session, *agent, *texts, *answers, *originals, *saved));
        }
        let (mark_kinds, contents) = &self.unmarked;
        if !mark_kinds.is_empty() {
            calls.push(call!(REMOVE_MARKS, *session, *agent, *mark_kinds, *contents));
        }
        let (mark_kinds, contents) = &self.marked;
        if !mark_kinds.is_empty() {
            calls.push(call!(ADD_MARKS, *session, *agent, *made_at, *mark_kinds, *contents));
        }
        if !kinds.is_empty() {
            calls.push(call!(ADD_RECEIPTS, *session, *agent, *made_at, *kinds, *before, *after, *details));
        }
        if let Some((reason, [freed, rebilled, blocks])) = &self.epoch {
            calls.push(call!(ADD_EPOCH, *session, *agent, *made_at, *reason, *freed, *rebilled, *blocks));
        }
        if !folded_kinds.is_empty() {
            calls.push(call!(ADD_FOLDED, *session, *agent, self.made_on, *folded_kinds, *folded_before, *folded_after));
        }
        let (ids, tokens, tools, reruns) = &self.asked_again;
        if !ids.is_empty() {
            calls.push(call!(ADD_FETCHES, *session, *agent, *made_at, *ids, *tokens, *tools, *reruns, self.is_retry));
        }
        if let Some(in_context) = &self.in_context {
            calls.push(call!(MARK_LEFT, *session, *agent, *in_context, batch.since, *caller_time));
            calls.push(call!(MARK_ENTERED, *session, *agent, *in_context, batch.since, *caller_time));
        }
        if self.in_context.is_some() || self.tools.is_some() {
            calls.push(call!(MARK_SEEN, *session, *agent, self.has_context, *caller_time, self.tools));
        }
        calls.push(call!(PROJECTIONS_IN_FORCE, *session, *agent, batch.since, *blocks, *places));
        calls
    }
}

/// Originals as columns.
#[derive(Default)]
pub(crate) struct Columns<'a> {
    hashes: Vec<&'a [u8]>,
    ids: Vec<&'a str>,
    mimes: Vec<Option<Cow<'a, str>>>,
    labels: Vec<Cow<'a, str>>,
    sizes: Vec<i64>,
    zstd: Vec<bool>,
    payloads: Vec<&'a [u8]>,
}

/// Returns the new originals among `packed`, without duplicates, in chunks of about [`CHUNK_BYTES`].
pub(crate) fn columns<'a>(packed: &'a [Packed<'_>]) -> Vec<Columns<'a>> {
    let mut chunks: Vec<Columns<'a>> = Vec::new();
    let mut bytes_left = 0;
    let mut known = HashSet::new();
    for new in packed {
        let Some(payload) = &new.payload else { continue };
        if !known.insert(new.original.hash) {
            continue;
        }
        if chunks.is_empty() || bytes_left < payload.bytes.len() {
            chunks.push(Columns::default());
            bytes_left = CHUNK_BYTES;
        }
        bytes_left = bytes_left.saturating_sub(payload.bytes.len());
        let Some(columns) = chunks.last_mut() else { continue };
        columns.hashes.push(&new.original.hash.0);
        columns.ids.push(new.id.as_str());
        columns.mimes.push(match &new.original.media {
            Media::Text => None,
            Media::Image(mime) => Some(escaped(mime)),
        });
        columns.labels.push(escaped(&new.original.label));
        columns.sizes.push(to_signed(new.original.bytes.len() as u64));
        columns.zstd.push(payload.is_zstd);
        columns.payloads.push(&payload.bytes);
    }
    chunks
}

/// Returns the kinds and contents of marks.
fn marks(marks: &[Mark]) -> (Vec<&'static str>, Hashes<'_>) {
    marks.iter().map(|mark| (mark.kind.as_str(), mark.content.0.as_slice())).unzip()
}

/// Converts folded tokens into the columns of [`ADD_FOLDED`].
fn folded_rows(folded: &[(FoldedKind, u64, u64)]) -> (Vec<&'static str>, Vec<i64>, Vec<i64>) {
    let kinds = folded.iter().map(|(kind, ..)| kind.as_str()).collect();
    let before = folded.iter().map(|(_, before, _)| to_signed(*before)).collect();
    (kinds, before, folded.iter().map(|(.., after)| to_signed(*after)).collect())
}
