//! Prices and rules of models, and the model of a prompt cache, for replays and the plugin's findings.

use concertina::plan::model_name::ModelName;
use concertina::plan::prices::Tariff;
use concertina::plan::prompt_cache::{self, CachedRequest};
use concertina::plan::provider::{CacheEntries, CacheRules, FinishedThinking, Provider};
use concertina::transcript::Transcript;
use napi_derive::napi;

use crate::guard::guard;

/// The prices of a model if its transcript and its host state none.
#[napi(object, object_from_js = false)]
pub struct ModelPrices {
    /// The price of a cached token, relative to input.
    pub read: f64,
    /// The price of writing a token to the cache, relative to input.
    pub write: f64,
    /// The lifetime of a cache entry in milliseconds.
    pub cache_ttl_ms: i64,
    /// The price of an output token, relative to input. Null if it is unknown.
    pub answer: Option<f64>,
    /// The price of an input token in dollars. Null if it is unknown.
    pub usd: Option<f64>,
    /// The number of input tokens above which a request costs more. Null if there is no such step.
    pub step_above: Option<i64>,
    /// The price of input above the step, relative to that below.
    pub step_input: f64,
    /// The price of answers above the step, relative to that below.
    pub step_output: f64,
}

/// Returns the prices of a model.
#[napi]
pub fn model_prices(model: String) -> napi::Result<ModelPrices> {
    guard(|| {
        let Tariff { prices, answer, usd } = Tariff::of(Some(&model), None, &Transcript::read(&[]));
        let step = prices.step;
        Ok(ModelPrices {
            read: prices.read,
            write: prices.write,
            cache_ttl_ms: prices.cache_ttl_ms,
            answer,
            usd,
            step_above: step.map(|step| step.above as i64),
            step_input: step.map_or(1.0, |step| step.input),
            step_output: step.map_or(1.0, |step| step.output),
        })
    })
}

/// Returns true if a model's provider accepts its reasoning only after the exact prefix that it was made with.
#[napi]
pub fn binds_reasoning(model: String) -> napi::Result<bool> {
    guard(|| Ok(Provider::of(&ModelName::of(Some(&model))).thinking == FinishedThinking::Bound))
}

/// The prompt cache of one model and list of tools, as the planner models it.
#[napi]
pub struct PromptCache {
    cache: prompt_cache::PromptCache,
    rules: CacheRules,
}

#[napi]
impl PromptCache {
    /// Creates an empty cache of a model's provider. Without a model, any prefix is found. `life_ms` replaces the
    /// lifetime of an entry.
    #[napi(constructor)]
    pub fn new(model: Option<String>, life_ms: Option<f64>) -> napi::Result<Self> {
        guard(|| {
            let rules = Provider::of(&ModelName::of(model.as_deref())).cache;
            let rules = CacheRules { life_ms: life_ms.map_or(rules.life_ms, |life_ms| life_ms as i64), ..rules };
            Ok(Self { cache: prompt_cache::PromptCache::new(rules), rules })
        })
    }

    /// Records a request with this many blocks and tokens, of which the first `unchanged` blocks equal those of the
    /// request before. Returns the number of blocks that are read from the cache.
    #[napi]
    pub fn send(&mut self, blocks: u32, tokens: f64, unchanged: u32, at: Option<f64>) -> napi::Result<u32> {
        let cache = &mut self.cache;
        guard(|| {
            let (blocks, unchanged, at) = (blocks as usize, unchanged as usize, at.map(|at| at as i64));
            Ok(cache.send(CachedRequest { blocks, tokens: tokens as u64, unchanged, at }) as u32)
        })
    }

    /// The number of tokens in whose multiples the cache is read.
    #[napi(getter)]
    pub fn unit(&self) -> napi::Result<i64> {
        guard(|| {
            Ok(match self.rules.entries {
                CacheEntries::Prefixes { unit } => unit as i64,
                CacheEntries::Breakpoints { .. } => 1,
            })
        })
    }
}
