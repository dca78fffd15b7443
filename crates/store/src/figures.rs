//! What model calls sent and were billed, with us and without, as plain data.

use serde::Serialize;

use super::records::Scope;
use super::time::{DAY_MS, Millis};

/// One model call.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Request {
    /// When it was made.
    pub at: Millis,
    /// True if the provider reported the tokens; else they were counted here.
    pub is_measured: bool,
    /// Tokens of the messages that an assembly of ours handed over just for it, as counted here; `None` where it was
    /// not the first one behind.
    pub counted: Option<u64>,
    /// By how many tokens the session's requests differed so far from one to the next, as the provider counted them and
    /// as we did. `None` where no assembly of ours is known to have made the prompt: then it saved nothing.
    pub weighed: Option<(u64, u64)>,
    /// Tokens of the prompt; 0 for a call that only a host without us would have made.
    pub sent: u64,
    /// Tokens that it would have had without us; 0 for a call that would not have been made.
    pub without: u64,
    /// How many more these would be if the host without us had never compacted the conversation. Negative where it has,
    /// with us, dropped what it would not have dropped yet without.
    pub dropped: i64,
    /// Of those sent: the fetch tool.
    pub overhead: u64,
    /// Of those sent: what fetching put there.
    pub fetched: u64,
    /// Its bill, in input tokens.
    pub sent_bill: f64,
    /// Its bill without us, in input tokens.
    pub without_bill: f64,
    /// How much less that may have been, in input tokens.
    pub without_under: f64,
    /// How much more.
    pub without_over: f64,
    /// Tokens of the answer; `None` where the provider did not report them.
    pub answered: Option<u64>,
    /// The bill of the answer in input tokens, where its tokens and their price are known.
    pub answer_bill: Option<f64>,
    /// What an input token costs in dollars; `None` where nobody said.
    pub usd: Option<f64>,
}

/// A finished turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Turn {
    /// What the host knows it by.
    pub advancement_key: String,
    /// What the host calls the conversation.
    pub session_key: Option<String>,
    /// Its model calls, oldest first.
    pub requests: Vec<Request>,
}

impl From<&str> for Turn {
    fn from(advancement_key: &str) -> Self {
        Self { advancement_key: advancement_key.to_owned(), ..Self::default() }
    }
}

/// What a session did since a moment, and how it stood before: what the bill of its next requests depends on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recent {
    /// The session's first request that came right behind an assembly of ours.
    pub first: Option<Request>,
    /// Its last such request.
    pub begun: Option<Request>,
    /// Its last request.
    pub last: Option<Request>,
    /// Its last request that would have been made without us, too.
    pub last_without: Option<Request>,
    /// When results were made smaller before they were first sent, and by how many tokens; oldest first.
    pub admitted: Vec<(Millis, u64)>,
    /// When originals were fetched, and how many tokens they have; oldest first.
    pub fetched: Vec<(Millis, u64)>,
}

/// An original that was fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FetchedOriginal {
    /// When.
    pub at: Millis,
    /// Its id.
    pub ref_id: String,
    /// Tokens of the answer.
    pub tokens: u64,
    /// Whose session it was.
    pub session_id: Option<String>,
}

/// Which requests to count.
#[derive(Debug, Clone, Default)]
pub struct FiguresQuery {
    /// Only this session's.
    pub session: Option<Scope>,
    /// From this moment on.
    pub since: Option<f64>,
    /// Before this moment.
    pub until: Option<f64>,
}

impl FiguresQuery {
    /// Returns the first moment and the first one that no longer counts.
    pub fn range(&self) -> (Millis, Millis) {
        (self.since.map_or(Millis::MIN, |at| at as Millis), self.until.map_or(Millis::MAX, |at| at as Millis))
    }

    /// Returns the first and the last day since 1970.
    pub fn days(&self) -> (i64, i64) {
        let (since, until) = self.range();
        (since.div_euclid(DAY_MS), until.saturating_sub(1).div_euclid(DAY_MS))
    }
}

/// Requests with us, and as they would have been without. Bills are in the unit of [`Figures`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Amount {
    /// How many.
    pub requests: u64,
    /// How many of them no assembly of ours is known to have made; without us they would have been the same.
    pub bypassed: u64,
    /// Tokens sent.
    pub sent_tokens: u64,
    /// Tokens without us.
    pub without_tokens: u64,
    /// The bill.
    pub sent_bill: f64,
    /// The bill without us, as modelled.
    pub without_bill: f64,
    /// The least that it can have been.
    pub without_least: f64,
    /// The most.
    pub without_most: f64,
}

/// All requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Total {
    /// Their sums.
    #[serde(flatten)]
    pub amount: Amount,
    /// How many the provider reported the tokens of.
    pub measured: u64,
    /// Calls that only the host without us would have made, for notes and summaries when it compacts the conversation.
    /// They are in the tokens and the bill without us.
    pub compacting: u64,
    /// Originals fetched.
    pub fetches: u64,
    /// What fetching put into all of them together.
    pub fetch_tokens: u64,
    /// The fetch tool in all of them together.
    pub overhead_tokens: u64,
    /// How many requests the provider reported the answer's tokens of.
    pub answered: u64,
    /// Tokens of these answers, which no other figure holds.
    pub answer_tokens: u64,
    /// The bill of these answers; `None` where there are none or a price is not known.
    pub answer_bill: Option<f64>,
    /// The bill of those that would have been given without us, too.
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
    /// What the host calls its conversation.
    pub session_key: Option<String>,
    /// When its last request was made.
    pub last_at: Millis,
    /// Their sums.
    #[serde(flatten)]
    pub amount: Amount,
}

/// An epoch of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionEpoch {
    /// When.
    pub at: Millis,
    /// Whose.
    pub session_id: String,
    /// Why.
    pub reason: String,
    /// How many blocks changed.
    pub blocks: u64,
    /// Tokens that left the context.
    pub tokens_freed: u64,
    /// Tokens that were billed anew.
    pub tokens_rebilled: u64,
}

/// Folded tokens of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KindTokens {
    /// [`super::records::FoldedKind::as_str`].
    pub kind: String,
    /// Tokens before.
    pub before: u64,
    /// Tokens after.
    pub after: u64,
}

/// What is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stored {
    /// Originals.
    pub originals: u64,
    /// Their size as they were, in bytes.
    pub original_bytes: u64,
    /// Their size as stored, in bytes.
    pub stored_bytes: u64,
    /// The limit of the file, in bytes.
    pub max_bytes: u64,
    /// The file.
    pub path: String,
}

/// The one set of figures that everything shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// `usd` where every request counted has a price in dollars, else `input tokens`.
    pub unit: &'static str,
    /// All requests.
    pub total: Total,
    /// By date, oldest first.
    pub days: Vec<Day>,
    /// By session, the most saved first, at most 100.
    pub sessions: Vec<SessionAmount>,
    /// Newest first, at most 200.
    pub epochs: Vec<SessionEpoch>,
    /// Where the folded tokens were; of whole days.
    pub kinds: Vec<KindTokens>,
    /// Newest first, at most 100.
    pub fetched: Vec<FetchedOriginal>,
    /// Of one session's originals, where one is asked for.
    pub store: Stored,
    /// When a block was last folded.
    pub last_fold_at: Option<Millis>,
}

/// A session that the store knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownSession {
    /// Whose.
    pub agent_id: String,
    /// Its id.
    pub session_id: String,
    /// What the host calls its conversation.
    pub session_key: Option<String>,
    /// When its context was last assembled.
    pub last_seen: Millis,
    /// True if nothing more is folded in it.
    pub is_off: bool,
    /// True if the host that asks has it.
    pub is_here: bool,
    /// Which other hosts have it.
    pub elsewhere: Vec<String>,
}
