//! A batch as statements with their parameters: those that open its transaction, those that decide, and those that conclude.

use std::borrow::Cow;
use std::collections::HashSet;

use concertina::reference::{ContentHash, Media, Original, RefId};
use concertina::store::id::hash_range;
use concertina::store::payload::Payload;
use concertina::store::sums::DAY_MS;
use concertina::store::{Batch, Millis, Printed, Scope};

use crate::context::{self, ENTER, GRANT, LEAVE, SEEN, SHARE};
use crate::figures::{FETCHED, FOLDED, folded_rows};
use crate::link::{Call, call};
use crate::read::{IN_FORCE_OF, IN_FORCE_SINCE};
use crate::row::signed;
use crate::session::ENSURE;
use crate::sweep::USAGE;
use crate::text::{escaped, key};

/// Bytes of payloads that are sent in one statement; a server takes no message above 1 GB.
const CHUNK_BYTES: usize = 16 << 20;

pub(crate) const INSERT: &str = "WITH added AS (
      INSERT INTO originals (hash, ref_id, mime, label, size, is_zstd, payload)
      SELECT * FROM unnest($1::bytea[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::boolean[], $7::bytea[])
        AS given (hash, ref_id, mime, label, size, is_zstd, payload)
      ORDER BY hash -- two that add the same wait for each other in one order
      ON CONFLICT (hash) DO NOTHING RETURNING octet_length(payload) AS bytes)
    INSERT INTO usage (originals, bytes) SELECT count(*), sum(bytes) FROM added HAVING count(*) > 0 RETURNING 1";
// Looked up one by one: planned as a join, a range between two columns seems to hold a ninth of all originals, and reads them all.
const AMBIGUOUS: &str =
    "SELECT given.id FROM unnest($1::text[], $2::bytea[], $3::bytea[], $4::bytea[], $5::text[]) AS given (id, first, last, hash, hex)
     CROSS JOIN LATERAL (
       SELECT 1 FROM originals WHERE originals.hash BETWEEN given.first AND given.last AND originals.hash <> given.hash
         AND starts_with(given.hex, originals.ref_id) ORDER BY originals.hash LIMIT 1) AS near
     WHERE NOT EXISTS (SELECT 1 FROM originals AS same WHERE same.hash = given.hash)";
pub(crate) const ISSUED: &str = "SELECT hash, ref_id FROM originals WHERE hash = ANY($1::bytea[])";
pub(crate) const WITHDRAW: &str = "DELETE FROM projections USING unnest($2::bytea[], $3::bigint[]) AS given (block, place)
     WHERE projections.session = $1 AND projections.block = given.block AND projections.place = given.place RETURNING 1";
pub(crate) const PROJECT: &str = "INSERT INTO projections (session, block, place, replacement, original, reason)
     SELECT $1, given.block, given.place, given.replacement, originals.id, given.reason
     FROM unnest($2::bytea[], $3::bigint[], $4::text[], $5::bytea[], $6::text[]) WITH ORDINALITY
       AS given (block, place, replacement, original, reason, position)
     JOIN originals ON originals.hash = given.original
     JOIN grants ON grants.session = $1 AND grants.original = originals.id
     ORDER BY given.position ON CONFLICT (session, block, place) DO NOTHING RETURNING 1";
const PRINT: &str = "INSERT INTO printed (session, text, is_answer, original, saved)
     SELECT $1, given.text, given.is_answer, originals.id, given.saved
     FROM unnest($2::bytea[], $3::boolean[], $4::bytea[], $5::bigint[]) WITH ORDINALITY
       AS given (text, is_answer, original, saved, position)
     JOIN originals ON originals.hash = given.original
     JOIN grants ON grants.session = $1 AND grants.original = originals.id
     ORDER BY given.position ON CONFLICT (session, text) DO NOTHING";
const RECEIVE: &str = "INSERT INTO receipts (session, at, kind, tokens_before, tokens_after, detail)
     SELECT $1, $2, kind, tokens_before, tokens_after, detail FROM unnest($3::text[], $4::bigint[], $5::bigint[], $6::text[])
       WITH ORDINALITY AS given (kind, tokens_before, tokens_after, detail, position) ORDER BY position";
const EPOCH: &str =
    "INSERT INTO epochs (session, at, reason, tokens_freed, tokens_rebilled, blocks) VALUES ($1, $2, $3, $4, $5, $6)";

/// A new original, packed before the transaction begins.
pub(crate) struct Packed<'a> {
    pub(crate) id: &'a RefId,
    pub(crate) original: &'a Original,
    /// `None` when it was already stored at the time of packing.
    pub(crate) payload: Option<Payload>,
}

/// Parameters.
type Texts<'a> = Vec<Cow<'a, str>>;
type Hashes<'a> = Vec<&'a [u8]>;
type Numbers = Vec<i64>;
/// The first and the last hash that begin with some digits.
type Ends = Vec<Vec<u8>>;

/// All that a batch says, as parameters.
pub(crate) struct Parameters<'a> {
    batch: &'a Batch,
    session: Vec<u8>,
    agent: Vec<u8>,
    session_id: Cow<'a, str>,
    agent_id: Cow<'a, str>,
    host: Option<&'a str>,
    /// When it was made, by its maker's clock: that is the time of what happened in the session.
    made_at: Millis,
    /// The originals: ids, between which hashes there are others with the same digits, hashes and all of their digits.
    originals: (Vec<&'a str>, Ends, Ends, Hashes<'a>, Vec<String>),
    /// The hashes that must be those of originals which the agent may see.
    required: Hashes<'a>,
    /// Blocks and places.
    withdrawn: (Hashes<'a>, Numbers),
    /// Blocks, places, replacements, originals and reasons.
    projections: (Hashes<'a>, Numbers, Texts<'a>, Hashes<'a>, Texts<'a>),
    /// Texts, whether they are answers, originals and tokens saved.
    printed: (Hashes<'a>, Vec<bool>, Hashes<'a>, Numbers),
    /// Kinds, tokens before and after, and details.
    receipts: (Texts<'a>, Numbers, Numbers, Texts<'a>),
    epoch: Option<(Cow<'a, str>, [i64; 3])>,
    /// The day of it.
    made_on: i64,
    /// Kinds, tokens before and after.
    folded: (Vec<&'static str>, Numbers, Numbers),
    /// Ids and tokens.
    fetched: (Texts<'a>, Numbers),
    in_context: Option<Hashes<'a>>,
    tools: Option<Vec<u8>>,
}

/// Where and when a batch is written.
pub(crate) struct Moment {
    session: i64,
    now: Millis,
    /// When the session was seen, where the batch says what it showed.
    seen: Option<Millis>,
}

impl<'a> Parameters<'a> {
    pub(crate) fn new(host: Option<&'a str>, scope: &'a Scope, batch: &'a Batch, made_at: Millis) -> Self {
        let (originals, rows) = (&batch.originals, &batch.projections);
        let ranges: Vec<_> = originals.iter().map(|(id, _)| hash_range(id.as_str())).collect();
        let numbers =
            |epoch: &concertina::store::Epoch| [epoch.tokens_freed, epoch.tokens_rebilled, epoch.blocks].map(signed);
        Self {
            batch,
            session: key(&scope.session_id),
            agent: key(&scope.agent_id),
            session_id: escaped(&scope.session_id),
            agent_id: escaped(&scope.agent_id),
            host,
            made_at,
            originals: (
                originals.iter().map(|(id, _)| id.as_str()).collect(),
                ranges.iter().map(|(first, _)| first.0.to_vec()).collect(),
                ranges.iter().map(|(_, last)| last.0.to_vec()).collect(),
                hashes(originals.iter().map(|(_, original)| &original.hash)),
                originals.iter().map(|(_, original)| original.hash.to_hex()).collect(),
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
                batch.printed.iter().map(|row| row.printed == Printed::Copy).collect(),
                hashes(batch.printed.iter().map(|row| &row.original)),
                batch.printed.iter().map(|row| signed(row.saved)).collect(),
            ),
            receipts: (
                batch.receipts.iter().map(|receipt| escaped(&receipt.kind)).collect(),
                batch.receipts.iter().map(|receipt| signed(receipt.tokens_before)).collect(),
                batch.receipts.iter().map(|receipt| signed(receipt.tokens_after)).collect(),
                batch.receipts.iter().map(|receipt| escaped(&receipt.detail)).collect(),
            ),
            epoch: batch.epoch.as_ref().map(|epoch| (escaped(&epoch.reason), numbers(epoch))),
            made_on: made_at.div_euclid(DAY_MS),
            folded: folded_rows(&batch.folded),
            fetched: batch.fetched.iter().map(|(id, tokens)| (escaped(id), signed(*tokens))).unzip(),
            in_context: batch.in_context.as_ref().map(hashes),
            tools: batch.tools.map(|tools| tools.0.to_vec()),
        }
    }

    /// The session's row; and of new originals which ids are another's by now.
    pub(crate) fn opening<'b>(&'b self, told: &'b Option<Millis>) -> Vec<Call<'b>> {
        let (ids, first, last, hashes, hex) = &self.originals;
        let mut calls = vec![call!(ENSURE, self.session, self.agent, self.session_id, self.agent_id, *told, self.host)];
        if !ids.is_empty() {
            calls.push(call!(AMBIGUOUS, *ids, *first, *last, *hashes, *hex));
        }
        calls
    }

    pub(crate) fn moment(&self, session: i64, now: Millis) -> Moment {
        Moment { session, now, seen: self.in_context.is_some().then_some(now) }
    }

    /// Stores originals, grants them, and decides how blocks are shown.
    pub(crate) fn deciding<'b>(&'b self, columns: &'b [Columns<'_>], moment: &'b Moment) -> Vec<Call<'b>> {
        let Moment { session, now, .. } = moment;
        let mut calls: Vec<Call<'b>> = Vec::new();
        for Columns { hashes, ids, mimes, labels, sizes, zstd, payloads } in columns {
            calls.push(call!(INSERT, *hashes, *ids, *mimes, *labels, *sizes, *zstd, *payloads));
        }
        let (.., hashes, _) = &self.originals;
        if !hashes.is_empty() {
            calls.push(call!(USAGE));
            calls.push(call!(ISSUED, *hashes));
            calls.push(call!(GRANT, *session, *hashes, *now));
        }
        if !self.required.is_empty() {
            calls.push(call!(context::GRANTED, self.required, self.agent));
            calls.push(call!(SHARE, *session, self.required, self.agent, *now));
        }
        if !self.batch.withdrawn.is_empty() {
            calls.push(call!(WITHDRAW, *session, self.withdrawn.0, self.withdrawn.1));
        }
        let (blocks, places, replacements, originals, reasons) = &self.projections;
        if !blocks.is_empty() {
            calls.push(call!(PROJECT, *session, *blocks, *places, *replacements, *originals, *reasons));
        }
        let (texts, answers, originals, saved) = &self.printed;
        if !texts.is_empty() {
            calls.push(call!(PRINT, *session, *texts, *answers, *originals, *saved));
        }
        calls
    }

    /// Whether what is [`Parameters::deciding`] may find that all was decided before.
    pub(crate) fn decides(&self) -> bool {
        !self.batch.withdrawn.is_empty() || !self.batch.projections.is_empty()
    }

    /// Records what was done, and asks what is in force: the last two answers.
    pub(crate) fn concluding<'b>(&'b self, is_decided: bool, moment: &'b Moment) -> Vec<Call<'b>> {
        let Moment { session, now, seen } = moment;
        let mut calls: Vec<Call<'b>> = Vec::new();
        let (kinds, before, after, details) = &self.receipts;
        if is_decided && !kinds.is_empty() {
            calls.push(call!(RECEIVE, *session, self.made_at, *kinds, *before, *after, *details));
        }
        if let Some((reason, [freed, rebilled, blocks])) = self.epoch.as_ref().filter(|_| is_decided) {
            calls.push(call!(EPOCH, *session, self.made_at, *reason, *freed, *rebilled, *blocks));
        }
        let (kinds, before, after) = &self.folded;
        if is_decided && !kinds.is_empty() {
            calls.push(call!(FOLDED, *session, self.made_on, *kinds, *before, *after));
        }
        if !self.fetched.0.is_empty() {
            calls.push(call!(FETCHED, *session, self.made_at, self.fetched.0, self.fetched.1));
        }
        if let Some(in_context) = &self.in_context {
            calls.push(call!(LEAVE, *session, *in_context, self.batch.since, *now));
            calls.push(call!(ENTER, *session, *in_context, self.batch.since, *now, self.agent));
        }
        if self.in_context.is_some() || self.tools.is_some() {
            calls.push(call!(SEEN, *session, *seen, self.tools));
        }
        calls.push(call!(IN_FORCE_SINCE, *session, self.batch.since));
        calls.push(call!(IN_FORCE_OF, *session, self.projections.0, self.projections.1));
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

/// The new ones among some originals, in statements that are not too large.
pub(crate) fn columns<'a>(packed: &'a [Packed<'_>]) -> Vec<Columns<'a>> {
    let mut chunks: Vec<Columns<'a>> = Vec::new();
    let mut room = 0;
    let mut known = HashSet::new();
    for new in packed {
        let Some(payload) = &new.payload else { continue };
        if !known.insert(new.original.hash) {
            continue;
        }
        if chunks.is_empty() || room < payload.bytes.len() {
            chunks.push(Columns::default());
            room = CHUNK_BYTES;
        }
        room = room.saturating_sub(payload.bytes.len());
        let Some(columns) = chunks.last_mut() else { continue };
        columns.hashes.push(&new.original.hash.0);
        columns.ids.push(new.id.as_str());
        columns.mimes.push(match &new.original.media {
            Media::Text => None,
            Media::Image(mime) => Some(escaped(mime)),
        });
        columns.labels.push(escaped(&new.original.label));
        columns.sizes.push(signed(new.original.bytes.len() as u64));
        columns.zstd.push(payload.is_zstd);
        columns.payloads.push(&payload.bytes);
    }
    chunks
}

/// Hashes as a parameter.
pub(crate) fn hashes<'a>(hashes: impl IntoIterator<Item = &'a ContentHash>) -> Vec<&'a [u8]> {
    hashes.into_iter().map(|hash| hash.0.as_slice()).collect()
}
