//! The engine behind all jobs: a store, the options, and the caches that live between calls.

use std::borrow::Cow;
use std::sync::Arc;

use quick_cache::sync::Cache;

use super::assembly_log::AssemblyLog;
use super::content_cache::ContentCache;
use super::host_options::pipeline;
use super::redaction::{RedactorAnswer, no_answers};
use super::replacement::ReplacementCache;
use super::secret_policy::SecretPolicy;
use crate::config::Config;
use crate::error::Result;
use crate::pipeline::FusionEngine;
use crate::reference::{ContentHash, Original, RefId};
use crate::store::{Batch, Millis, Receipt, Scope, Store};

/// The entry point of all jobs, over one store and one set of options. A clone shares all caches.
#[derive(Clone)]
pub struct Engine {
    pub(super) store: Arc<dyn Store>,
    pub(super) config: Arc<Config>,
    pub(super) fusion: Arc<FusionEngine>,
    pub(super) contents: Arc<ContentCache>,
    pub(super) replacements: Arc<ReplacementCache>,
    pub(super) redactor_answers: Arc<Cache<String, RedactorAnswer>>,
    pub(super) assemblies: Arc<AssemblyLog>,
}

impl Engine {
    /// Creates an engine over a store.
    ///
    /// # Errors
    /// [`crate::error::Error::BadArgument`] if `fusion.stages` names an unknown stage or gives one a value of the wrong
    /// type.
    pub fn new(store: Arc<dyn Store>, config: Config) -> Result<Self> {
        let fusion = Arc::new(FusionEngine::new(pipeline(&config.fusion_stages)?));
        Ok(Self {
            store,
            fusion,
            contents: Arc::new(ContentCache::new(config.encoding)),
            replacements: Arc::default(),
            redactor_answers: Arc::new(no_answers()),
            assemblies: Arc::default(),
            config: Arc::new(config),
        })
    }

    /// Returns an engine with the options of a model, sharing all caches.
    #[must_use]
    pub fn of_model(&self, model: Option<&str>) -> Self {
        let config = match self.config.of_model(model) {
            Cow::Borrowed(_) => self.config.clone(),
            Cow::Owned(config) => Arc::new(config),
        };
        Self { config, ..self.clone() }
    }

    /// Returns the options in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Records a receipt for work outside the transcript.
    pub fn record(&self, scope: &Scope, receipt: Receipt, now: Millis) -> Result<()> {
        self.put(scope, Batch { receipts: vec![receipt], ..Batch::default() }, now)
    }

    /// Returns the store, for what needs no engine.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Commits a batch that decides on no block, unless it is empty. The caller shows its proposals only on `Ok`.
    pub(super) fn put(&self, scope: &Scope, batch: Batch, now: Millis) -> Result<()> {
        if batch != Batch::default() {
            self.store.commit(scope, &Batch { since: i64::MAX, ..batch }, now)?;
        }
        Ok(())
    }

    /// Returns the ids of originals, in order.
    pub(super) fn ids(&self, originals: &[&Original]) -> Result<Vec<RefId>> {
        let hashes: Vec<ContentHash> = originals.iter().map(|original| original.hash).collect();
        self.store.ref_ids(&hashes)
    }

    /// Returns the policy for secrets under the options in force.
    pub(super) fn secrets(&self) -> SecretPolicy {
        SecretPolicy(self.config.secrets)
    }
}
