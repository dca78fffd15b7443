//! The records of a store's calls, as JavaScript sees them.

use concertina::assemble::{self, FetchedBlock, RedactorMode};
use concertina::plan::prices::StatedPrices;
use concertina::reference::wtf8;
use concertina::store;
use napi::bindgen_prelude::Utf16String;
use napi_derive::napi;
use serde_json::Value;

use crate::handover::Change;

/// Whose content a call is about.
#[napi(object, object_to_js = false)]
pub struct Session {
    /// The agent; `main` when absent.
    pub agent_id: Option<String>,
    /// The session.
    pub session_id: String,
}

impl From<Session> for store::Scope {
    fn from(session: Session) -> Self {
        Self { agent_id: session.agent_id.unwrap_or_else(|| "main".into()), session_id: session.session_id }
    }
}

/// Prices per token, in any one currency, and how long the provider's cache lives.
#[napi(object, object_to_js = false)]
pub struct Prices {
    /// A token of fresh input.
    pub input: f64,
    /// A token read from the cache.
    pub cache_read: f64,
    /// A token written to the cache.
    pub cache_write: f64,
    /// A token of an answer.
    pub output: Option<f64>,
    /// How long the cache lives, in milliseconds.
    pub cache_ttl_ms: f64,
    /// Whether these are US dollars per million tokens: figures are then in dollars.
    pub usd_per_million: Option<bool>,
}

impl From<Prices> for StatedPrices {
    fn from(Prices { input, cache_read, cache_write, output, cache_ttl_ms, usd_per_million }: Prices) -> Self {
        Self { input, cache_read, cache_write, output, cache_ttl_ms, usd_per_million: usd_per_million == Some(true) }
    }
}

/// What is known of a result at its birth, beside the message.
#[napi(object, object_to_js = false)]
pub struct BirthOptions {
    /// The length, in UTF-16 units, at which the host has cut a text.
    pub host_cut_at: Option<u32>,
    /// How many UTF-16 units of a text the host sends.
    pub host_keeps: Option<u32>,
    /// Whether the last message is the one before it as it was before a redactor masked some of it.
    pub is_masked: Option<bool>,
    /// The model.
    pub model: Option<String>,
}

/// What assembling is told beside the messages.
#[napi(object, object_to_js = false)]
pub struct AssembleOptions {
    /// The tools of this run.
    pub available_tools: Option<Vec<String>>,
    /// The model.
    pub model: Option<String>,
    /// Whether fresh oversize results are replaced, too.
    pub refer_oversize: bool,
    /// What the model's tokens cost.
    pub prices: Option<Prices>,
    /// How many tokens the host leaves for the history.
    pub token_budget: Option<f64>,
    /// Whether a user turn begins whose message is not among the messages yet.
    pub turn_begins: bool,
    /// What becomes of what a redactor of the caller's has not seen: it is asked about, or it stays. Absent where there is none.
    #[napi(ts_type = "\"ask\" | \"leave\"")]
    pub redactor: Option<String>,
}

/// What a redactor of the caller's is to be asked.
#[napi(object, object_from_js = false)]
pub struct Question {
    /// What the answer is remembered by.
    pub key: String,
    /// What would be stored.
    pub text: String,
    /// What a placeholder of it may name.
    pub beside: String,
}

/// What the redactor made of it.
#[napi(object, object_to_js = false)]
pub struct Answer {
    /// That of the question.
    pub key: String,
    /// What may be stored instead; absent where nothing is masked.
    pub masked: Option<String>,
    /// Whether it must not be stored at all.
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
            prices: given.prices.map(|prices| StatedPrices::from(prices).try_into()).transpose()?,
            token_budget: given.token_budget.map(|tokens| tokens as u64),
            turn_begins: given.turn_begins,
            redactor: match given.redactor.as_deref() {
                None => RedactorMode::Absent,
                Some("ask") => RedactorMode::Ask,
                Some("leave") => RedactorMode::Leave,
                Some(other) => {
                    return Err(Self::Error::bad_argument("redactor", format!("{other:?}"), "\"ask\" or \"leave\""));
                }
            },
        })
    }
}

/// One block that was rewritten.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct Action {
    /// Index of the message.
    pub message: u32,
    /// Index of the block among the parts that Concertina understands.
    pub block: u32,
    /// `shortened` or `large` at birth; `stale` or `superseded` later; `replay` for what an earlier call decided.
    pub reason: String,
    /// The id that the placeholder prints.
    pub ref_id: Option<String>,
    /// Tokens of the block as the host holds it.
    pub tokens_before: i64,
    /// Tokens of what is shown.
    pub tokens_after: i64,
}

/// Already-sent content changed.
#[napi(object, object_from_js = false)]
pub struct EpochReport {
    /// Why.
    pub reason: String,
    /// Tokens that left the context.
    pub tokens_freed: i64,
    /// Tokens behind the first changed block, which a prompt cache bills anew.
    pub tokens_rebilled: i64,
}

/// A failure that did not stop the turn.
#[napi(object, object_from_js = false)]
pub struct Warning {
    /// The stable code of the error.
    pub code: String,
    /// What happened.
    pub message: String,
}

/// A message, or a part of one, that cannot be read and so stays as it is.
#[napi(object, object_from_js = false)]
pub struct LeftAlone {
    /// Index of the message.
    pub message: u32,
    /// The part, as `content[1].text`; empty for the message itself.
    pub path: String,
    /// Why it cannot be read.
    pub why: String,
}

/// What a job did.
#[napi(object, object_from_js = false)]
pub struct Report {
    /// One for each rewritten block.
    pub actions: Vec<Action>,
    /// Tokens of the blocks that were looked at, as they came.
    pub tokens_before: i64,
    /// Tokens of the same blocks as returned.
    pub tokens_after: i64,
    /// Set when already-sent content changed in this call.
    pub epoch: Option<EpochReport>,
    /// Set when the store failed and new content went out unreplaced.
    pub warning: Option<Warning>,
    /// Indexes of messages that the caller changed while they were being worked on: they are left as they are, and no action names them.
    pub changed_meanwhile: Option<Vec<u32>>,
    /// What stays as it is because it cannot be read: instances of classes, lone surrogates, values that JSON does not have.
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
    /// What becomes of the messages.
    pub change: Change,
    /// What was done.
    pub report: Report,
    /// What has to be asked before anything is folded.
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
    /// What becomes of the messages.
    pub change: Change,
    /// How many blocks show their originals again.
    pub unfolded: u32,
    /// Ids that blocks name and that lead to nothing.
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

/// What is to be fetched.
#[napi(object, object_to_js = false)]
pub struct FetchRequest {
    /// Bare ids, or whole markers as placeholders print them; what of it is wanted may follow after a colon, and goes before the other
    /// fields: `id:41-80`, `id:c41-80` for characters, `id:/regex/`.
    pub ref_ids: Vec<String>,
    /// Whose originals; `main` when absent.
    pub agent_id: Option<String>,
    /// The session that asks.
    pub session_id: Option<String>,
    /// 1-based inclusive line range: `"41-420"`, `"41-"`, `"41"`; of a listing by the numbers that it prints, of arguments in a rendering of them.
    pub lines: Option<String>,
    /// 1-based inclusive character range, for texts of few long lines.
    pub chars: Option<String>,
    /// Regular expression: only matching lines come back, numbered, with two lines around each.
    pub pattern: Option<String>,
    /// Most characters of the whole answer; 15,900 by default, which every host accepts.
    pub max_chars: Option<f64>,
    /// When, in milliseconds since 1970; now by default.
    pub now: Option<f64>,
}

/// A part of an answer, as hosts and providers take it.
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
        /// Its bytes in base64.
        data: String,
        /// Its type.
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

/// An answer.
#[napi(object, object_from_js = false)]
pub struct Fetched {
    /// In the order of the ids.
    pub content: Vec<ContentBlock>,
    /// How many ids led to an original.
    pub found: u32,
}

/// What a piece of work came to.
#[napi(object, object_from_js = false)]
pub struct ReceiptRow {
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// `admit`, `assemble` or `rules`.
    pub kind: String,
    /// Tokens before.
    pub tokens_before: i64,
    /// Tokens after.
    pub tokens_after: i64,
    /// Reasons, stages, counts.
    #[napi(ts_type = "unknown")]
    pub detail: Value,
}

/// A change of content that was already sent.
#[napi(object, object_from_js = false)]
pub struct EpochRow {
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// Why.
    pub reason: String,
    /// Tokens that left the context.
    pub tokens_freed: i64,
    /// Tokens behind the first changed byte, billed anew.
    pub tokens_rebilled: i64,
    /// How many blocks changed.
    pub blocks: u32,
}

/// A turn that is over.
#[napi(object, object_to_js = false)]
pub struct FinishedTurn {
    /// What the host knows it by: the same key again is a duplicate.
    pub advancement_key: String,
    /// What the host calls the conversation.
    pub session_key: Option<String>,
    /// What tokens cost; by the model's family where nobody says.
    pub prices: Option<Prices>,
    /// The model's window in tokens, of a host that compacts what outgrows it.
    pub context_window: Option<f64>,
    /// The definition of the fetch tool, as the model is sent it.
    pub tool: String,
}

/// Which requests are counted.
#[napi(object, object_to_js = false)]
pub struct FiguresQuery {
    /// Only this session's.
    pub session: Option<Session>,
    /// From this moment on, in milliseconds since 1970.
    pub since: Option<f64>,
    /// Before this moment.
    pub until: Option<f64>,
}

impl From<FiguresQuery> for store::figures::FiguresQuery {
    fn from(FiguresQuery { session, since, until }: FiguresQuery) -> Self {
        Self { session: session.map(Into::into), since, until }
    }
}

/// What the operator was warned with.
#[napi(object, object_from_js = false)]
pub struct WarningRow {
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// The line.
    pub text: String,
}

/// Totals of a session or of the whole store.
#[napi(object, object_from_js = false)]
pub struct Stats {
    /// Sessions known.
    pub sessions: u32,
    /// Originals on disk.
    pub originals: u32,
    /// Their size as they were.
    pub original_bytes: i64,
    /// Their size as stored.
    pub stored_bytes: i64,
    /// Turns committed.
    pub turns: u32,
    /// Tokens before, over all receipts.
    pub tokens_before: i64,
    /// Tokens after, over all receipts.
    pub tokens_after: i64,
    /// Newest first, at most 100.
    pub receipts: Vec<ReceiptRow>,
    /// Newest first, at most 100.
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

/// What a sweep or purge removed.
#[napi(object, object_from_js = false)]
pub struct Removed {
    /// Originals.
    pub originals: u32,
    /// Bytes freed in the file; of what would be removed, the size as stored.
    pub bytes: i64,
    /// Sessions forgotten.
    pub sessions: u32,
}

impl From<store::Removed> for Removed {
    fn from(removed: store::Removed) -> Self {
        Self { originals: removed.originals as u32, bytes: removed.bytes as i64, sessions: removed.sessions as u32 }
    }
}
