//! The whole jobs, and the only place where effects happen: plan -> propose -> put -> patch.
//!
//! The order is the invariant. Nothing is shown that is not durable: proposals become patches only after the store's commit
//! returned. When the store fails, the new proposals are dropped, the text goes out as it came, and the reply carries a
//! warning; the agent's turn never fails.

mod asked;
mod birth;
mod fetch;
mod heard;
mod history;
mod identity;
mod lines;
mod memo;
mod options;
mod placeholder;
mod replacement;
mod replay;
mod requests;
mod schedule;
mod thinking;
mod unfold;
mod views;

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use self::memo::Memo;
use crate::config::{Config, Secrets};
use crate::error::{Error, Result};
use crate::pipeline::FusionEngine;
use crate::reference::{ContentHash, Original, RefId};
use crate::secrets;
use crate::store::{Batch, Epoch, Millis, Receipt, Scope, Stats, Store};
use crate::transcript::Rewrite;

pub use crate::reference::FETCH_TOOL;
pub use birth::{Fresh, HostCuts};
pub use fetch::{Fetch, Fetched, FetchedBlock};
pub use heard::{Heard, Question, Unheard};
pub use history::AssembleOptions;
pub use options::over_defaults;
pub use requests::FinishedTurn;
pub use unfold::Unfolded;

/// The jobs, over one store and one set of options. A clone shares all that it remembers.
#[derive(Clone)]
pub struct Engine {
    store: Arc<dyn Store>,
    config: Arc<Config>,
    fusion: Arc<FusionEngine>,
    memo: Arc<Memo>,
    views: Arc<views::Views>,
}

/// One block that was rewritten, for reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Action {
    /// Index of the message.
    pub message: usize,
    /// Index of the block in it.
    pub block: usize,
    /// Why: `shortened`, `shrunk` (an image) or `large` at birth; `stale`, `superseded`, `duplicate` or the epoch's reason later; `replay` for what an earlier call decided.
    pub reason: &'static str,
    /// The id that the placeholder prints.
    pub ref_id: Option<String>,
    /// Tokens of the block as the host holds it.
    pub tokens_before: u64,
    /// Tokens of what is shown.
    pub tokens_after: u64,
}

/// What a job did.
#[derive(Debug, Default)]
pub struct Report {
    /// One for each rewritten block.
    pub actions: Vec<Action>,
    /// Tokens of the blocks that were looked at, as they came.
    pub tokens_before: u64,
    /// Tokens of the same blocks as returned.
    pub tokens_after: u64,
    /// Set when already-sent content changed in this call.
    pub epoch: Option<Epoch>,
    /// Set when the store failed and new content went out unreplaced.
    pub warning: Option<Warning>,
}

/// A failure that did not stop the turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Stable code of the error.
    pub code: &'static str,
    /// What happened.
    pub message: String,
}

impl From<&Error> for Warning {
    fn from(error: &Error) -> Self {
        Self { code: error.code(), message: error.to_string() }
    }
}

/// What a job returns: the change to the messages and its report.
#[derive(Debug, Default)]
pub struct Reply {
    /// What to change; empty when everything stays.
    pub rewrite: Rewrite,
    /// What was done.
    pub report: Report,
    /// What the caller's redactor is to be asked before anything is folded ([`Unheard::Ask`]).
    pub questions: Vec<Question>,
}

impl Reply {
    fn unchanged(report: Report) -> Self {
        Self { report, ..Self::default() }
    }
}

impl Engine {
    /// An engine over a store.
    ///
    /// # Errors
    /// [`Error::BadArgument`] when `fusion.stages` names a stage that does not exist, or sets it to something else than it takes.
    pub fn new(store: Arc<dyn Store>, config: Config) -> Result<Self> {
        let fusion = Arc::new(FusionEngine::new(options::pipeline(&config.fusion_stages)?));
        let memo = Arc::new(Memo::new(config.encoding));
        Ok(Self { store, memo, views: Arc::default(), config: Arc::new(config), fusion })
    }

    /// The same engine with the options of a model.
    #[must_use]
    pub fn of_model(&self, model: Option<&str>) -> Self {
        let config = match self.config.of_model(model) {
            Cow::Borrowed(_) => self.config.clone(),
            Cow::Owned(config) => Arc::new(config),
        };
        Self { config, ..self.clone() }
    }

    /// The options in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Gives a sub-agent's session what its parent's session may see, or of that only the originals with the named ids.
    pub fn inherit(&self, parent: &Scope, child: &Scope, named: Option<&[RefId]>, now: Millis) -> Result<()> {
        self.store.inherit(parent, child, named, now)
    }

    /// Keeps what a piece of work outside the transcript came to.
    pub fn record(&self, scope: &Scope, receipt: Receipt, now: Millis) -> Result<()> {
        self.put(scope, Batch { receipts: vec![receipt], ..Batch::default() }, now)
    }

    /// Totals of one session or of the whole store.
    pub fn stats(&self, session: Option<&Scope>) -> Result<Stats> {
        self.store.stats(session)
    }

    /// The store, for upkeep.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// The text to store, by the `secrets` option: `None` keeps the block inline, and so out of the store.
    fn storable<'t>(&self, text: &'t str) -> Option<Cow<'t, str>> {
        if self.config.secrets == Secrets::Store {
            return Some(Cow::Borrowed(text));
        }
        match secrets::find_secrets(text) {
            found if found.is_empty() => Some(Cow::Borrowed(text)),
            found => (self.config.secrets == Secrets::Redact).then(|| Cow::Owned(secrets::redact(text, &found))),
        }
    }

    /// The original of a text as it may be stored; `hash` is what the text itself is known by.
    fn original_of(&self, text: &str, hash: ContentHash, label: String) -> Option<Original> {
        Some(match self.storable(text)? {
            Cow::Borrowed(text) => Original::hashed(hash, text, label),
            Cow::Owned(masked) => Original::text(&masked, label),
        })
    }

    /// The words for an original in lists: without secrets unless texts are stored with theirs, and cut to 120 characters
    /// only after that.
    fn label(&self, words: &str) -> String {
        let words = match self.config.secrets {
            Secrets::Store => Cow::Borrowed(words),
            Secrets::KeepInline | Secrets::Redact => secrets::scrub(words),
        };
        placeholder::uncut_label(words.chars().take(120).collect())
    }

    /// Shrunk arguments as they may be stored and shown: where texts are redacted, so are the short strings that stay.
    /// `None` when what is left is no JSON.
    fn showable(&self, value: Value) -> Option<Value> {
        if self.config.secrets != Secrets::Redact {
            return Some(value);
        }
        let json = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match secrets::scrub(&json) {
            Cow::Borrowed(_) => Some(value),
            Cow::Owned(json) => {
                let parsed = serde_json::from_str(&json).ok()?;
                Some(if value.is_string() { Value::String(json) } else { parsed })
            }
        }
    }

    /// Puts a batch that decides on no block, unless there is nothing to put; the caller shows its proposals only on `Ok`.
    fn put(&self, scope: &Scope, batch: Batch, now: Millis) -> Result<()> {
        if batch != Batch::default() {
            self.store.commit(scope, &Batch { since: i64::MAX, ..batch }, now)?;
        }
        Ok(())
    }

    /// Ids for originals, in order.
    fn ids(&self, originals: &[&Original]) -> Result<Vec<RefId>> {
        let hashes: Vec<ContentHash> = originals.iter().map(|original| original.hash).collect();
        self.store.ref_ids(&hashes)
    }
}
