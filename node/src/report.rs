//! The records that a store's functions take and return, as JavaScript sees them.

use concertina::assemble::{self, FetchedBlock, RedactorMode};
use concertina::plan::prices::StatedPrices;
use concertina::reference::wtf8;
use concertina::store;
use napi::bindgen_prelude::Utf16String;
use napi_derive::napi;
use serde_json::Value;

use crate::handover::Change;

/// The session that a call is about.
#[napi(object, object_to_js = false)]
pub struct Session {
    /// The id of the agent; `main` by default.
    pub agent_id: Option<String>,
    /// The id of the session.
    pub session_id: String,
}

impl From<Session> for store::Scope {
    fn from(session: Session) -> Self {
        Self { agent_id: session.agent_id.unwrap_or_else(|| "main".into()), session_id: session.session_id }
    }
}

/// Prices per token, and the lifetime of the provider's cache. What is absent comes from the charges in the transcript
/// (`usage.cost`), or from the published prices of the model.
#[napi(object, object_to_js = false)]
pub struct Prices {
    /// The price of an uncached input token. Needed if another price is stated.
    pub input: Option<f64>,
    /// The price of a token that is read from the cache.
    pub cache_read: Option<f64>,
    /// The price of a token that is written to the cache.
    pub cache_write: Option<f64>,
    /// The price of an output token.
    pub output: Option<f64>,
    /// The lifetime of a cache entry in milliseconds.
    pub cache_ttl_ms: Option<f64>,
    /// True if the prices are US dollars per million tokens, as in a price list. Charges in the transcript then
    /// precede them, and figures are in dollars. Otherwise they are in any unit and precede all others.
    pub usd_per_million: Option<bool>,
}

impl Prices {
    /// Returns the checked prices.
    pub fn stated(self) -> concertina::error::Result<StatedPrices> {
        let Self { input, cache_read, cache_write, output, cache_ttl_ms, usd_per_million } = self;
        let usd_per_million = usd_per_million == Some(true);
        StatedPrices { input, cache_read, cache_write, output, cache_ttl_ms, usd_per_million }.check()
    }
}

/// The facts about a fresh result that its message does not state.
#[napi(object, object_to_js = false)]
pub struct BirthOptions {
    /// The length, in UTF-16 units, at which the host cut the text.
    pub host_cut_at: Option<u32>,
    /// The maximum number of UTF-16 units of a text that the host sends.
    pub host_keeps: Option<u32>,
    /// True if the last message is the unmasked form of the message before it.
    pub is_masked: Option<bool>,
    /// The id of the model.
    pub model: Option<String>,
}

/// The options of assembling messages.
#[napi(object, object_to_js = false)]
pub struct AssembleOptions {
    /// The names of the tools of this run.
    pub available_tools: Option<Vec<String>>,
    /// The id of the model.
    pub model: Option<String>,
    /// True if large fresh results are also replaced.
    pub refer_oversize: bool,
    /// The prices of the model.
    pub prices: Option<Prices>,
    /// The maximum number of tokens of the history.
    pub token_budget: Option<f64>,
    /// True if this call begins a user turn whose message is not among the messages yet.
    pub turn_begins: bool,
    /// The message that begins the turn.
    pub prompt: Option<String>,
    /// The treatment of blocks that the caller's redactor has not seen: `ask` returns them as questions, `leave`
    /// leaves them as they are. Absent if there is no redactor.
    #[napi(ts_type = "\"ask\" | \"leave\"")]
    pub redactor: Option<String>,
}

/// A block that the caller's redactor must see before it is stored.
#[napi(object, object_from_js = false)]
pub struct Question {
    /// The key that the answer must repeat.
    pub key: String,
    /// The text that would be stored.
    pub text: String,
    /// Other text that the placeholder and the label may quote, such as arguments of the call.
    pub beside: String,
}

/// The redactor's answer to a question.
#[napi(object, object_to_js = false)]
pub struct Answer {
    /// The key of the question.
    pub key: String,
    /// The masked text to store. Absent if nothing was masked.
    pub masked: Option<String>,
    /// True if the block must not be stored at all.
    pub stays: bool,
}

impl From<assemble::Question> for Question {
    fn from(assemble::Question { key, text, beside }: assemble::Question) -> Self {
        Self { key, text, beside }
    }
}

impl TryFrom<AssembleOptions> for assemble::AssembleOptions {
    type Error = concertina::error::Error;

    fn try_from(given: AssembleOptions) -> Result<Self, Self::Error> {
        Ok(Self {
            available_tools: given.available_tools,
            model: given.model,
            refer_oversize: given.refer_oversize,
            prices: given.prices.map(Prices::stated).transpose()?,
            token_budget: given.token_budget.map(|tokens| tokens as u64),
            turn_begins: given.turn_begins,
            prompt: given.prompt,
            redactor: match given.redactor.as_deref() {
                None => RedactorMode::Absent,
                Some("ask") => RedactorMode::Ask,
                Some(_) => RedactorMode::Leave,
            },
        })
    }
}

/// A block that was rewritten.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct Action {
    /// The index of the message.
    pub message: u32,
    /// The index of the block among the parts that Concertina understands.
    pub block: u32,
    /// The reason: `shortened`, `shrunk` (an image) or `large` at birth; later `stale`, `superseded`, `duplicate` or
    /// the reason of the epoch; `replay` if an earlier call decided it.
    #[napi(ts_type = "FoldReason")]
    pub reason: String,
    /// The id in the placeholder.
    pub ref_id: Option<String>,
    /// Tokens of the block in the input.
    pub tokens_before: i64,
    /// Tokens of the block in the output.
    pub tokens_after: i64,
}

/// A change of content that was already sent.
#[napi(object, object_from_js = false)]
pub struct EpochReport {
    /// The reason for the change.
    #[napi(ts_type = "EpochReason")]
    pub reason: String,
    /// Tokens that were removed from the context.
    pub tokens_freed: i64,
    /// Tokens that the cache held and has to take in again; 0 if it was cold.
    pub tokens_rebilled: i64,
}

/// A failure that did not stop the turn.
#[napi(object, object_from_js = false)]
pub struct Warning {
    /// The stable code of the error.
    #[napi(ts_type = "ErrorCode")]
    pub code: String,
    /// The error message.
    pub message: String,
}

/// A message, or a part of one, that is left as it is because it cannot be read.
#[napi(object, object_from_js = false)]
pub struct LeftAlone {
    /// The index of the message.
    pub message: u32,
    /// The path of the part, such as `content[1].text`. Empty for the message itself.
    pub path: String,
    /// The reason why it cannot be read.
    pub why: String,
}

/// The report of a call that rewrites messages.
#[napi(object, object_from_js = false)]
pub struct Report {
    /// One row for each rewritten block.
    pub actions: Vec<Action>,
    /// Tokens of the examined blocks in the input.
    pub tokens_before: i64,
    /// Tokens of the same blocks in the output.
    pub tokens_after: i64,
    /// The change of content that was already sent, if there was one in this call.
    pub epoch: Option<EpochReport>,
    /// The failure of the store, if new content could not be replaced because of it.
    pub warning: Option<Warning>,
    /// Indexes of messages that the caller changed during the call. They are left as they are, and `actions` does not
    /// name them.
    pub changed_meanwhile: Option<Vec<u32>>,
    /// Parts that are left as they are because they cannot be read: instances of classes, lone surrogates, values
    /// that JSON does not have.
    pub left_alone: Option<Vec<LeftAlone>>,
}

impl From<assemble::Report> for Report {
    fn from(report: assemble::Report) -> Self {
        let actions = report.actions.into_iter().map(|action| Action {
            message: action.message as u32,
            block: action.block as u32,
            reason: action.reason.to_owned(),
            ref_id: action.ref_id,
            tokens_before: action.tokens_before as i64,
            tokens_after: action.tokens_after as i64,
        });
        Self {
            actions: actions.collect(),
            tokens_before: report.tokens_before as i64,
            tokens_after: report.tokens_after as i64,
            epoch: report.epoch.map(|epoch| EpochReport {
                reason: epoch.reason,
                tokens_freed: epoch.tokens_freed as i64,
                tokens_rebilled: epoch.tokens_rebilled as i64,
            }),
            warning: report.warning.map(|warning| Warning { code: warning.code.to_owned(), message: warning.message }),
            changed_meanwhile: None,
            left_alone: None,
        }
    }
}

/// Folded messages.
#[napi(object, object_from_js = false)]
pub struct Folded {
    /// The changes to the messages.
    pub change: Change,
    /// The report.
    pub report: Report,
    /// Questions that must be answered before anything is folded.
    pub questions: Vec<Question>,
}

impl From<assemble::Reply> for Folded {
    fn from(reply: assemble::Reply) -> Self {
        let questions = reply.questions.into_iter().map(Into::into).collect();
        Self { change: Change::from(&reply.rewrite), report: reply.report.into(), questions }
    }
}

/// Unfolded messages.
#[napi(object, object_from_js = false)]
pub struct Unfolded {
    /// The changes to the messages.
    pub change: Change,
    /// The number of blocks whose originals were put back.
    pub unfolded: u32,
    /// Ids in placeholders whose originals are not available.
    pub missing: Vec<String>,
}

impl From<assemble::Unfolded> for Unfolded {
    fn from(done: assemble::Unfolded) -> Self {
        Self {
            change: Change::from(&done.rewrite),
            unfolded: done.unfolded as u32,
            missing: done.missing.iter().map(|id| id.as_str().to_owned()).collect(),
        }
    }
}

/// A request for originals.
#[napi(object, object_to_js = false)]
pub struct FetchRequest {
    /// Ids, or whole markers as placeholders print them. A part may follow after a colon and overrides the other
    /// fields: `id:41-80` for lines, `id:c41-80` for characters, `id:/regex/` for matching lines.
    /// Absent or empty for a search with `query`.
    pub ref_ids: Option<Vec<String>>,
    /// The id of the agent whose originals are fetched; `main` by default.
    pub agent_id: Option<String>,
    /// The id of the session that asks. A search needs it.
    pub session_id: Option<String>,
    /// A range of lines, inclusive and counted from 1: `"41-420"`, `"41-"` or `"41"`. In a listing it refers to the
    /// printed line numbers, and in arguments of a call to lines of their rendering.
    pub lines: Option<String>,
    /// A range of characters, inclusive and counted from 1, for texts with few long lines.
    pub chars: Option<String>,
    /// A regular expression. Only matching lines are returned, numbered, with two lines of context on each side.
    pub pattern: Option<String>,
    /// Ids of originals whose copies the agent no longer needs. Fetched content of the session with these ids counts as
    /// stale from now on, until it is fetched again.
    pub done: Option<Vec<String>>,
    /// Words, of which those in quotation marks belong together. With ids, the lines with most of them are returned as
    /// by `pattern`. Without ids, such lines of the originals of the session that have all of them, the best first.
    pub query: Option<String>,
    /// The maximum number of characters of the whole answer. The default, 15,900, is within the limit of every host.
    pub max_chars: Option<f64>,
    /// The time of the call in milliseconds since 1970; now by default.
    pub now: Option<f64>,
}

/// A part of an answer, in the shape that hosts and providers accept.
#[napi(discriminant = "type", discriminant_case = "lowercase", object_from_js = false)]
pub enum ContentBlock {
    /// Text.
    Text {
        /// The text.
        #[napi(ts_type = "string")]
        text: Utf16String,
    },
    /// An image.
    Image {
        /// The bytes in base64.
        data: String,
        /// The MIME type.
        mime_type: String,
    },
}

impl From<FetchedBlock> for ContentBlock {
    fn from(block: FetchedBlock) -> Self {
        match block {
            FetchedBlock::Text(text) => Self::Text { text: text.into() },
            FetchedBlock::Exact(bytes) => Self::Text { text: wtf8::utf16(&bytes).unwrap_or_default().into() },
            FetchedBlock::Image(bytes, mime_type) => {
                Self::Image { data: base64_simd::STANDARD.encode_to_string(bytes), mime_type }
            }
        }
    }
}

/// The answer to a request for originals.
#[napi(object, object_from_js = false)]
pub struct Fetched {
    /// The parts of the answer, in the order of the ids.
    pub content: Vec<ContentBlock>,
    /// The number of ids whose originals were found.
    pub found: u32,
}

/// A search of originals.
#[napi(object, object_to_js = false)]
pub struct SearchQuery {
    /// The words.
    pub query: String,
    /// The session to search; all by default.
    pub session: Option<Session>,
    /// The maximum number of characters of all excerpts.
    pub max_chars: Option<f64>,
    /// The time of the call in milliseconds since 1970.
    pub now: f64,
}

/// The originals that a search found.
#[napi(object, object_from_js = false)]
pub struct SearchResult {
    /// The best ones, the best first.
    pub originals: Vec<FoundOriginal>,
    /// The number of originals that have all words, those that are not in `originals` included.
    pub matching: u32,
    /// A statement of what is missing in `originals`, and how to find it; empty if nothing is missing.
    pub note: String,
}

/// An original that a search found.
#[napi(object, object_from_js = false)]
pub struct FoundOriginal {
    /// Its id.
    pub ref_id: String,
    /// The beginning of its label, such as `exec: npm test`.
    pub label: String,
    /// The session that was granted it.
    pub session_id: String,
    /// The agent of the session.
    pub agent_id: String,
    /// The lines with most of the words, numbered, with two lines of context on each side.
    pub excerpt: String,
}

impl From<assemble::Found> for SearchResult {
    fn from(found: assemble::Found) -> Self {
        let originals = found.originals.into_iter().map(|found| FoundOriginal {
            ref_id: found.id.to_string(),
            label: found.label,
            session_id: found.scope.session_id,
            agent_id: found.scope.agent_id,
            excerpt: found.excerpt,
        });
        Self { originals: originals.collect(), matching: found.matching as u32, note: found.note }
    }
}

/// The record of one rewriting call.
#[napi(object, object_from_js = false)]
pub struct ReceiptRow {
    /// The time in milliseconds since 1970.
    pub at: i64,
    /// The kind of call: `admit`, `assemble`, `rules`, or `failed` for a tool call that failed.
    #[napi(ts_type = "\"admit\" | \"assemble\" | \"rules\" | \"failed\"")]
    pub kind: String,
    /// Tokens before.
    pub tokens_before: i64,
    /// Tokens after.
    pub tokens_after: i64,
    /// Details: reasons, stages, counts.
    #[napi(ts_type = "unknown")]
    pub detail: Value,
}

/// A change of content that was already sent.
#[napi(object, object_from_js = false)]
pub struct EpochRow {
    /// The time in milliseconds since 1970.
    pub at: i64,
    /// The reason for the change. Another version may have written other reasons.
    #[napi(ts_type = "EpochReason | (string & {})")]
    pub reason: String,
    /// Tokens that were removed from the context.
    pub tokens_freed: i64,
    /// Tokens that the cache held and has to take in again; 0 if it was cold.
    pub tokens_rebilled: i64,
    /// The number of changed blocks.
    pub blocks: u32,
}

/// A finished turn.
#[napi(object, object_to_js = false)]
pub struct FinishedTurn {
    /// The host's key of the turn. A turn whose key was recorded before is a duplicate.
    pub advancement_key: String,
    /// The host's key of the conversation.
    pub session_key: Option<String>,
    /// The prices of the model, as far as the caller knows them.
    pub prices: Option<Prices>,
    /// The size of the model's context window in tokens, for a host that compacts a history that exceeds it.
    pub context_window: Option<f64>,
    /// The definition of the fetch tool as it is sent to the model.
    pub tool: String,
    /// The tools of the results that reported a failure, one for each result.
    pub failed: Vec<String>,
    /// True if the session is left untouched, to be compared with others.
    pub held_out: bool,
}

/// The requests to add up.
#[napi(object, object_to_js = false)]
pub struct FiguresQuery {
    /// The session; all sessions by default.
    pub session: Option<Session>,
    /// The beginning of the period, in milliseconds since 1970.
    pub since: Option<f64>,
    /// The end of the period, exclusive, in milliseconds since 1970.
    pub until: Option<f64>,
}

impl From<FiguresQuery> for store::figures::FiguresQuery {
    fn from(FiguresQuery { session, since, until }: FiguresQuery) -> Self {
        Self { session: session.map(Into::into), since, until }
    }
}

/// Totals of a session or of the whole store.
#[napi(object, object_from_js = false)]
pub struct Stats {
    /// The number of sessions.
    pub sessions: u32,
    /// The number of stored originals.
    pub originals: u32,
    /// The uncompressed size of the originals in bytes.
    pub original_bytes: i64,
    /// The size of the originals as stored, in bytes.
    pub stored_bytes: i64,
    /// The number of recorded turns.
    pub turns: u32,
    /// The sum of the tokens before, over all receipts.
    pub tokens_before: i64,
    /// The sum of the tokens after, over all receipts.
    pub tokens_after: i64,
    /// The receipts, newest first, at most 100.
    pub receipts: Vec<ReceiptRow>,
    /// The epochs, newest first, at most 100.
    pub epochs: Vec<EpochRow>,
}

impl From<store::Stats> for Stats {
    fn from(stats: store::Stats) -> Self {
        let receipts = stats.receipts.into_iter().map(|(at, receipt)| ReceiptRow {
            at,
            kind: receipt.kind,
            tokens_before: receipt.tokens_before as i64,
            tokens_after: receipt.tokens_after as i64,
            detail: serde_json::from_str(&receipt.detail).unwrap_or(Value::Null),
        });
        let epochs = stats.epochs.into_iter().map(|(at, epoch)| EpochRow {
            at,
            reason: epoch.reason,
            tokens_freed: epoch.tokens_freed as i64,
            tokens_rebilled: epoch.tokens_rebilled as i64,
            blocks: epoch.blocks as u32,
        });
        Self {
            sessions: stats.sessions as u32,
            originals: stats.originals as u32,
            original_bytes: stats.original_bytes as i64,
            stored_bytes: stats.stored_bytes as i64,
            turns: stats.turns as u32,
            tokens_before: stats.tokens_before as i64,
            tokens_after: stats.tokens_after as i64,
            receipts: receipts.collect(),
            epochs: epochs.collect(),
        }
    }
}

/// The result of a sweep or a purge.
#[napi(object, object_from_js = false)]
pub struct Removed {
    /// The number of removed originals.
    pub originals: u32,
    /// The number of bytes freed in the file. For a dry run, the stored size of what would be removed.
    pub bytes: i64,
    /// The number of removed sessions.
    pub sessions: u32,
}

impl From<store::Removed> for Removed {
    fn from(removed: store::Removed) -> Self {
        Self { originals: removed.originals as u32, bytes: removed.bytes as i64, sessions: removed.sessions as u32 }
    }
}
