//! Estimates the present content of the provider's prompt cache from the history.
//!
//! A host that calls once per user turn brings no telemetry: what remains are timestamps, or the times of earlier
//! actions, and the usage that the last answer reported. In doubt the cache is assumed to be warm, because a needless
//! epoch costs more than a late one.
//!
//! Each model and each list of tools has a cache of its own. Models that alternate within the life of a cache find it
//! warm, so the cost of a change includes all live caches.

use super::model_name::ModelName;
use super::prices::Prices;
use super::prompt_cache::{CachedRequest, PromptCache};
use super::provider::{CacheRules, Provider};
use crate::transcript::{Message, Transcript};

/// The reason why nothing of the history is cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColdCause {
    /// No model call was made yet.
    Fresh,
    /// The last call is longer ago than the cache lives.
    Lapsed,
    /// The history was compacted since the last call.
    Compacted,
    /// Every block has a different prefix than before: the host dropped or changed the beginning.
    Rewritten,
    /// The provider reports cache usage, and none for the last call.
    Unused,
}

impl ColdCause {
    /// Returns the reason for the epoch log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "cold: first call",
            Self::Lapsed => "cold: idle",
            Self::Compacted => "cold: compacted",
            Self::Rewritten => "cold: history rewritten",
            Self::Unused => "cold: cache not used",
        }
    }

    /// Returns true if the next call will find a cache again, so that later changes cost something.
    pub fn is_cache_refilled_by_next_call(self) -> bool {
        self != Self::Unused
    }

    /// Returns true if an epoch with this reason found the cache cold.
    pub fn is_cold_reason(reason: &str) -> bool {
        reason.starts_with("cold: ")
    }
}

/// The estimated state of the caches. Positions are numbers of blocks from the beginning of the history.
#[derive(Debug, Clone, PartialEq)]
pub struct Cache {
    /// The reason why no cache holds anything, if so.
    pub cold: Option<ColdCause>,
    /// The cache of the called model.
    pub own: PromptCache,
    /// The end of the longest entry of each other live cache.
    pub others: Vec<usize>,
    /// The number of blocks that were in the last request.
    pub sent_blocks: usize,
    /// Tokens of the last request as reported by the provider, with system prompt and tools; 0 if not reported.
    pub last_request: u64,
}

/// The margin added to a cache's promised life, in percent: a needless epoch costs more than a late one. Chosen by
/// judgement.
const CACHE_LIFE_MARGIN_PERCENT: i64 = 5;

impl Cache {
    /// Estimates the state from a history. `is_switched` tells from the ledger that the last assembly was for another
    /// model or list of tools. `last_call` is the latest possible time of the last call, used if its answer has no
    /// timestamp.
    pub fn of(
        transcript: &Transcript,
        prices: &Prices,
        model: Option<&str>,
        is_switched: bool,
        last_call: Option<i64>,
        now: i64,
    ) -> Self {
        let name_of = |call: &Message| call.raw["model"].as_str().map(|name| ModelName::of(Some(name)));
        let last = transcript.messages.iter().rfind(|message| message.is_call);
        let model = model.or_else(|| transcript.last_model()).map(|model| ModelName::of(Some(model)));
        let cache_of = |model: Option<&ModelName>, life_ms: Option<i64>| {
            let rules = Provider::of(model.unwrap_or(&ModelName::of(None))).cache;
            let life_ms = life_ms.unwrap_or(rules.life_ms);
            let margin = life_ms.saturating_mul(CACHE_LIFE_MARGIN_PERCENT) / 100;
            PromptCache::new(CacheRules { life_ms: life_ms.saturating_add(margin), ..rules })
        };
        let mut own = cache_of(model.as_ref(), Some(prices.cache_ttl_ms));
        let Some(last) = last else {
            return Self { cold: Some(ColdCause::Fresh), own, others: Vec::new(), sent_blocks: 0, last_request: 0 };
        };
        let mut others: Vec<(Option<ModelName>, PromptCache)> = Vec::new();
        let (mut blocks, mut sent_blocks, mut is_last_own) = (0, 0, true);
        for message in &transcript.messages {
            if message.is_call {
                let name = name_of(message);
                // In some shapes an answer does not state its model.
                is_last_own = name.as_ref().zip(model.as_ref()).is_none_or(|(one, other)| one == other);
                let cache = if is_last_own {
                    &mut own
                } else {
                    let known = others.iter().position(|(other, _)| *other == name).unwrap_or_else(|| {
                        others.push((name.clone(), cache_of(name.as_ref(), None)));
                        others.len() - 1
                    });
                    &mut others[known].1
                };
                let at = message.timestamp.or(last_call);
                cache.send(CachedRequest { blocks, tokens: u64::MAX, unchanged: blocks, at });
                sent_blocks = blocks;
            }
            blocks += message.blocks.len();
        }
        let mut others: Vec<usize> = others.iter().filter_map(|(_, cache)| cache.longest(now)).collect();
        let usage = last.usage.unwrap_or_default();
        let is_later_summary = |message: &Message| {
            message.is_summary() && message.timestamp.zip(last.timestamp).is_some_and(|(then, last)| then > last)
        };
        let writes_are_reported =
            || transcript.messages.iter().any(|message| message.usage.is_some_and(|usage| usage.written > 0));
        let cold = if own.longest(now).is_none() && others.is_empty() {
            Some(ColdCause::Lapsed)
        } else if transcript.messages.iter().any(is_later_summary) {
            Some(ColdCause::Compacted)
        } else if usage.total() > 0 && usage.read == 0 && usage.written == 0 && writes_are_reported() {
            Some(ColdCause::Unused)
        } else {
            None
        };
        // The answer does not state the tools of its request, and in some shapes not the model.
        if is_switched && cold.is_none() && is_last_own {
            others.push(sent_blocks);
        }
        Self { cold, own, others, sent_blocks, last_request: usage.total() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use concertina_cases::{check, json_lines};

    const PRICES: Prices = Prices { read: 0.1, write: 1.25, cache_ttl_ms: 300_000, step: None };

    #[test]
    fn what_the_caches_hold() {
        check!("caches", |input, call| {
            let messages = json_lines(input);
            let call: serde_json::Value = serde_json::from_str(call).expect("a call as JSON");
            let (model, is_switched, last_call) = (call["model"].as_str(), call["switched"] == true, &call["lastCall"]);
            let now = call["now"].as_i64().expect("the time of the call");
            let transcript = Transcript::read(&messages);
            let cache = Cache::of(&transcript, &PRICES, model, is_switched, last_call.as_i64(), now);
            let state = cache.cold.map_or("warm", ColdCause::as_str);
            let own: Vec<usize> =
                (0..=messages.len()).filter(|end| cache.own.found(&[*end], Some(now)).any(|one| one == *end)).collect();
            format!("{state}; entries of this model after {own:?}, of others after {:?}", cache.others)
        });
    }
}
