//! The engine that the jobs share: a store, the options, and what is remembered between calls.

use std::borrow::Cow;
use std::sync::Arc;

use super::assembly_log::AssemblyLog;
use super::content_cache::ContentCache;
use super::host_options::pipeline;
use super::redaction::{RedactorAnswer, RedactorAnswers};
use super::replacement::ReplacementCache;
use super::secret_policy::SecretPolicy;
use crate::config::Config;
use crate::error::Result;
use crate::pipeline::FusionEngine;
use crate::reference::{ContentHash, Original, RefId};
use crate::store::{Batch, Millis, Receipt, Scope, Stats, Store};

/// The jobs, over one store and one set of options. A clone shares all that it remembers.
#[derive(Clone)]
pub struct Engine {
    pub(super) store: Arc<dyn Store>,
    pub(super) config: Arc<Config>,
    pub(super) fusion: Arc<FusionEngine>,
    pub(super) contents: Arc<ContentCache>,
    pub(super) replacements: Arc<ReplacementCache>,
    pub(super) redactor_answers: Arc<RedactorAnswers>,
    pub(super) assemblies: Arc<AssemblyLog>,
}

impl Engine {
    /// An engine over a store.
    ///
    /// # Errors
    /// [`crate::error::Error::BadArgument`] when `fusion.stages` names a stage that does not exist, or sets it to
    /// something else than it takes.
    pub fn new(store: Arc<dyn Store>, config: Config) -> Result<Self> {
        let fusion = Arc::new(FusionEngine::new(pipeline(&config.fusion_stages)?));
        Ok(Self {
            store,
            fusion,
            contents: Arc::new(ContentCache::new(config.encoding)),
            replacements: Arc::default(),
            redactor_answers: Arc::default(),
            assemblies: Arc::default(),
            config: Arc::new(config),
        })
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

    /// Puts a batch that decides on no block, unless there is nothing to put; the caller shows its proposals only on
    /// `Ok`.
    pub(super) fn put(&self, scope: &Scope, batch: Batch, now: Millis) -> Result<()> {
        if batch != Batch::default() {
            self.store.commit(scope, &Batch { since: i64::MAX, ..batch }, now)?;
        }
        Ok(())
    }

    /// Ids for originals, in order.
    pub(super) fn ids(&self, originals: &[&Original]) -> Result<Vec<RefId>> {
        let hashes: Vec<ContentHash> = originals.iter().map(|original| original.hash).collect();
        self.store.ref_ids(&hashes)
    }

    /// Remembers what the caller's redactor answered to a question.
    pub fn remember_redaction(&self, key: String, answer: RedactorAnswer) {
        self.redactor_answers.remember(key, answer);
    }

    /// What may be stored and shown under the options in force.
    pub(super) fn secrets(&self) -> SecretPolicy {
        SecretPolicy(self.config.secrets)
    }
}
