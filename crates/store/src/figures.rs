//! Statistics of model calls, with the plugin and estimated without it, as plain data.

use serde::Serialize;

use super::records::{FoldedOriginal, Scope};
use super::time::{DAY_MS, Millis};

/// One model call.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Request {
    /// The time of the call.
    pub at: Millis,
    /// True if the provider reported the tokens; otherwise they were counted here.
    pub is_measured: bool,
    /// The tokens of the messages that our assembly returned for this call, as counted here; `None` if it was not the
    /// first call after the assembly.
    pub counted: Option<u64>,
    /// The sum of the differences between consecutive requests of the session, in tokens: as the provider counted them,
    /// and as we did. `None` if no assembly of ours is known to have made the prompt; then nothing was saved.
    pub growth: Option<(u64, u64)>,
    /// The tokens of the prompt; 0 for a call that only a host without the plugin would have made.
    pub sent: u64,
    /// The tokens that the prompt would have had without the plugin; 0 for a call that would not have been made.
    pub without: u64,
    /// The additional tokens that `without` would have if the host without the plugin had never compacted the
    /// conversation. Negative if the host with the plugin has dropped content that it would still have without it.
    pub dropped: i64,
    /// The part of `sent` that is the fetch tool.
    pub overhead: u64,
    /// The part of `sent` that was fetched.
    pub fetched: u64,
    /// The part of `sent` that was old enough to be folded and stayed because it is protected.
    pub protected: u64,
    /// The bill of the prompt, in input tokens.
    pub sent_bill: f64,
    /// The bill of the prompt without the plugin, in input tokens.
    pub without_bill: f64,
    /// The amount by which `without_bill` may be too high, in input tokens.
    pub without_under: f64,
    /// The amount by which `without_bill` may be too low, in input tokens.
    pub without_over: f64,
    /// The tokens of the answer; `None` if the provider did not report them.
    pub answered: Option<u64>,
    /// The bill of the answer in input tokens, if its tokens and their price are known.
    pub answer_bill: Option<f64>,
    /// The price of an input token in dollars; `None` if it is unknown.
    pub usd: Option<f64>,
}

/// A finished turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Turn {
    /// The host's key of the turn.
    pub advancement_key: String,
    /// The host's name of the conversation.
    pub session_key: Option<String>,
    /// Its model calls, oldest first.
    pub requests: Vec<Request>,
}

impl From<&str> for Turn {
    fn from(advancement_key: &str) -> Self {
        Self { advancement_key: advancement_key.to_owned(), ..Self::default() }
    }
}

/// The requests of a session since a moment, and its state before it. The bill of its next requests depends on them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recent {
    /// The first request of the session that directly followed an assembly of ours.
    pub first_assembled: Option<Request>,
    /// The last such request.
    pub last_assembled: Option<Request>,
    /// The last request of the session.
    pub last: Option<Request>,
    /// The last request of the session that would also have been made without the plugin.
    pub last_without: Option<Request>,
    /// The times at which results were shortened before they were first sent, and the tokens saved; oldest first.
    pub admitted: Vec<(Millis, u64)>,
    /// The times at which originals were fetched, and their tokens; oldest first.
    pub fetched: Vec<(Millis, u64)>,
}

/// An original that was asked for again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FetchedOriginal {
    /// The time of the answer.
    pub at: Millis,
    /// Its id.
    pub ref_id: String,
    /// The tokens of the answer.
    pub tokens: u64,
    /// The session that asked for it.
    pub session_id: Option<String>,
    /// The tool that it came from.
    pub tool: String,
    /// True if the tool was called again; false if the original was fetched.
    pub is_rerun: bool,
}

/// A selection of requests.
#[derive(Debug, Clone, Default)]
pub struct FiguresQuery {
    /// Selects only this session.
    pub session: Option<Scope>,
    /// Selects requests from this time on.
    pub since: Option<f64>,
    /// Selects requests before this time.
    pub until: Option<f64>,
}

impl FiguresQuery {
    /// Returns the first selected time, and the first time after the selection.
    pub fn range(&self) -> (Millis, Millis) {
        (self.since.map_or(Millis::MIN, |at| at as Millis), self.until.map_or(Millis::MAX, |at| at as Millis))
    }

    /// Returns the first and the last selected day, in days since 1970.
    pub fn days(&self) -> (i64, i64) {
        let (since, until) = self.range();
        (since.div_euclid(DAY_MS), until.saturating_sub(1).div_euclid(DAY_MS))
    }
}

/// Sums of requests, with the plugin and without it. Bills have the unit of [`Figures`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Amount {
    /// The number of requests.
    pub requests: u64,
    /// The number of requests that no assembly of ours is known to have made. They would have been the same without the
    /// plugin.
    pub bypassed: u64,
    /// The tokens sent.
    pub sent_tokens: u64,
    /// The tokens without the plugin.
    pub without_tokens: u64,
    /// The bill.
    pub sent_bill: f64,
    /// The bill without the plugin, as modelled.
    pub without_bill: f64,
    /// The lower bound of `without_bill`.
    pub without_least: f64,
    /// The upper bound of `without_bill`.
    pub without_most: f64,
}

/// Sums of all requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Total {
    /// Their sums.
    #[serde(flatten)]
    pub amount: Amount,
    /// The number of requests whose tokens the provider reported.
    pub measured: u64,
    /// The number of calls that only the host without the plugin would have made, for notes and summaries during
    /// compaction. They are included in the tokens and the bill without the plugin.
    pub compacting: u64,
    /// The number of originals fetched.
    pub fetches: u64,
    /// The tokens that fetches added to all requests.
    pub fetch_tokens: u64,
    /// The tokens of the fetch tool in all requests.
    pub overhead_tokens: u64,
    /// The tokens in all requests that stayed because they are protected.
    pub protected_tokens: u64,
    /// The number of requests for whose answer the provider reported the tokens.
    pub answered: u64,
    /// The tokens of these answers, which no other figure includes.
    pub answer_tokens: u64,
    /// The bill of these answers; `None` if there are none or a price is unknown.
    pub answer_bill: Option<f64>,
    /// The bill of those answers that would also have been given without the plugin.
    pub without_answer_bill: Option<f64>,
}

/// The requests of one day.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Day {
    /// The date in UTC, `2026-01-31`.
    pub day: String,
    /// Their sums.
    #[serde(flatten)]
    pub amount: Amount,
}

/// The requests of one session.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionAmount {
    /// The session.
    pub session_id: String,
    /// The host's name of the conversation.
    pub session_key: Option<String>,
    /// True if it is left untouched, to be compared with others.
    pub is_held_out: bool,
    /// The time of its last request.
    pub last_at: Millis,
    /// Their sums.
    #[serde(flatten)]
    pub amount: Amount,
}

/// An epoch of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionEpoch {
    /// The time of the epoch.
    pub at: Millis,
    /// The session.
    pub session_id: String,
    /// The reason for the epoch.
    pub reason: String,
    /// The number of blocks that changed.
    pub blocks: u64,
    /// The tokens that left the context.
    pub tokens_freed: u64,
    /// The tokens that were billed again.
    pub tokens_rebilled: u64,
}

/// Folded tokens of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KindTokens {
    /// The kind, as [`super::records::FoldedKind::as_str`] writes it.
    pub kind: String,
    /// The tokens before folding.
    pub before: u64,
    /// The tokens after folding.
    pub after: u64,
}

/// The size of the store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stored {
    /// The number of originals.
    pub originals: u64,
    /// The size of the originals, in bytes.
    pub original_bytes: u64,
    /// The size of the originals as stored, in bytes.
    pub stored_bytes: u64,
    /// The size limit of the file, in bytes.
    pub max_bytes: u64,
    /// The path of the file.
    pub path: String,
}

/// The requests of one session, for a comparison of sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// True if the session is left untouched.
    pub is_held_out: bool,
    /// The number of turns.
    pub turns: u64,
    /// The number of tool calls that failed.
    pub failures: u64,
    /// The sums of the requests, and the number of originals fetched.
    #[serde(flatten)]
    pub total: Total,
}

/// The prompt of one request of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Prompt {
    /// The time of the request.
    pub at: Millis,
    /// The tokens sent.
    pub sent_tokens: u64,
    /// The tokens without the plugin.
    pub without_tokens: u64,
}

/// The figures that every view shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// `usd` if every selected request has a price in dollars, else `input tokens`.
    pub unit: &'static str,
    /// All requests.
    pub total: Total,
    /// The requests by date, oldest first.
    pub days: Vec<Day>,
    /// The requests by session, at most 100, ordered by savings.
    pub sessions: Vec<SessionAmount>,
    /// The epochs, newest first, at most 200.
    pub epochs: Vec<SessionEpoch>,
    /// The folded tokens by kind, for whole days.
    pub kinds: Vec<KindTokens>,
    /// The fetched originals, newest first, at most 100.
    pub fetched: Vec<FetchedOriginal>,
    /// The size of the store, or of one session's originals if one session is selected.
    pub store: Stored,
    /// The time of the last fold.
    pub last_fold_at: Option<Millis>,
    /// The originals that are folded now in the selected session, newest first, at most 1000. Empty for all sessions.
    pub folded_now: Vec<FoldedOriginal>,
    /// The latest prompts of the selected session, oldest first, at most 1000. Empty for all sessions.
    pub prompts: Vec<Prompt>,
    /// Each session by itself, if some session was left untouched for comparison. Empty for one session.
    pub outcomes: Vec<Outcome>,
}

/// A session that the store knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownSession {
    /// The agent of the session.
    pub agent_id: String,
    /// The id of the session.
    pub session_id: String,
    /// The host's name of the conversation.
    pub session_key: Option<String>,
    /// The time at which its context was last assembled.
    pub last_seen: Millis,
    /// True if folding is switched off for the session.
    pub is_off: bool,
    /// True if it is left untouched, to be compared with others.
    pub is_held_out: bool,
    /// True if the asking host has the session.
    pub is_here: bool,
    /// The other hosts that have the session.
    pub elsewhere: Vec<String>,
}
