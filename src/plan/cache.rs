//! Estimates the present content of the provider's prompt cache from the history.
//!
//! A host that calls once per user turn brings no telemetry: what remains are timestamps, or the times of earlier
//! actions, and the usage that the last answer reported. In doubt the cache is assumed to be warm, because a needless
//! epoch costs more than a late one.
//!
//! Each model and each list of tools has a cache of its own. Models that alternate within the life of a cache find it
//! warm, so the cost of a change includes all live caches.

use super::prices::Prices;
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

/// The estimated state of the caches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cache {
    /// The reason why no cache holds anything, if so.
    pub cold: Option<ColdCause>,
    /// Indexes of the calls that left an entry in this model's cache; each entry holds the messages before its index.
    pub calls_with_entry: Vec<usize>,
    /// The index of the last call of each other live cache.
    pub last_calls_of_other_caches: Vec<usize>,
    /// The index of the first message that was in no request yet.
    pub first_unsent_message: usize,
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
        let calls = || transcript.messages.iter().enumerate().filter(|(_, message)| message.is_call());
        let Some((at, last)) = calls().next_back() else {
            return Self { cold: Some(ColdCause::Fresh), ..Self::default() };
        };
        let cache_life_ms =
            prices.cache_ttl_ms.saturating_add(prices.cache_ttl_ms.saturating_mul(CACHE_LIFE_MARGIN_PERCENT) / 100);
        let is_cache_alive =
            |call: &Message| call.timestamp.or(last_call).is_none_or(|time| now.saturating_sub(time) <= cache_life_ms);
        let usage = last.usage().unwrap_or_default();
        let writes_are_reported = || calls().any(|(_, call)| call.usage().is_some_and(|usage| usage.written > 0));
        let cold = if !is_cache_alive(last) {
            Some(ColdCause::Lapsed)
        } else if was_compacted_after(transcript, last) {
            Some(ColdCause::Compacted)
        } else if usage.total() > 0 && usage.read == 0 && usage.written == 0 && writes_are_reported() {
            Some(ColdCause::Unused)
        } else {
            None
        };
        let mut cache = Self { cold, first_unsent_message: at, last_request: usage.total(), ..Self::default() };
        let name = |call: &Message| call.raw["model"].as_str().map(str::to_owned);
        let model = model.map(str::to_owned).or_else(|| name(last));
        let is_own = |name: &Option<String>| {
            name.as_ref().zip(model.as_ref()).is_none_or(|(one, other)| is_same_model(one, other))
        };
        let mut last_calls_of_other_caches: Vec<(Option<String>, usize)> = Vec::new();
        for (at, call) in calls().filter(|(_, call)| is_cache_alive(call)) {
            let name = name(call);
            if is_own(&name) {
                cache.calls_with_entry.push(at);
            } else {
                last_calls_of_other_caches.retain(|(other, _)| *other != name);
                last_calls_of_other_caches.push((name, at));
            }
        }
        cache.last_calls_of_other_caches = last_calls_of_other_caches.into_iter().map(|(_, at)| at).collect();
        // The answer does not state the tools of its request, and in some shapes not the model.
        if is_switched && cold.is_none() && cache.calls_with_entry.last() == Some(&at) {
            cache.last_calls_of_other_caches.push(at);
        }
        cache
    }
}

/// Returns true if two names may mean one model: providers add a prefix and a date.
fn is_same_model(a: &str, b: &str) -> bool {
    let base_name = |name: &str| name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let (a, b) = (base_name(a), base_name(b));
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let is_date = |rest: &str| {
        let digits = rest.strip_prefix(['-', '@']).unwrap_or_default();
        digits.bytes().filter(u8::is_ascii_digit).count() >= 6
            && digits.bytes().all(|b| b.is_ascii_digit() || b == b'-')
    };
    long.strip_prefix(&*short).is_some_and(|rest| rest.is_empty() || rest == "-latest" || is_date(rest))
}

fn was_compacted_after(transcript: &Transcript, last: &Message) -> bool {
    transcript.messages.iter().any(|message| {
        let is_summary = matches!(message.raw["role"].as_str(), Some("compactionSummary" | "compaction"));
        is_summary && message.timestamp.zip(last.timestamp).is_some_and(|(then, last)| then > last)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use concertina_cases::{check, json_lines};

    const PRICES: Prices = Prices { read: 0.1, write: 1.25, cache_ttl_ms: 300_000 };

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
            format!(
                "{state}; entries of this model after {:?}, of others after {:?}",
                cache.calls_with_entry, cache.last_calls_of_other_caches
            )
        });
    }

    #[test]
    fn one_model_may_have_a_prefix_and_a_date_and_no_other_name() {
        for (a, b) in [
            ("claude-opus-4-6", "anthropic/claude-opus-4-6"),
            ("claude-sonnet-4-20250514", "claude-sonnet-4"),
            ("gpt-4o-2024-08-06", "GPT-4o"),
            ("claude-sonnet-4@20250514", "claude-sonnet-4"),
            ("claude-3-7-sonnet-latest", "claude-3-7-sonnet"),
        ] {
            assert!(is_same_model(a, b) && is_same_model(b, a), "{a} {b}");
        }
        for (a, b) in [("gpt-5.4", "gpt-5.4-mini"), ("claude-sonnet-4", "claude-sonnet-4-6"), ("grok-4", "grok-4-fast")]
        {
            assert!(!is_same_model(a, b) && !is_same_model(b, a), "{a} {b}");
        }
    }
}
