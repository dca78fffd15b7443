//! What the provider's prompt cache holds at this moment, as far as the history tells.
//!
//! A host that calls once per user turn brings no telemetry: what remains are the timestamps, or the times of what was done before,
//! and the usage that the last answer reported. Where they say nothing the cache is taken to be warm, because a needless epoch costs more than a late one.
//!
//! Each model and each list of tools has a cache of its own. Those that take turns within the life of a cache find it warm, so that what
//! changes for the sake of one is paid by all that live.

use super::prices::Prices;
use crate::transcript::{Message, Transcript};

/// Why nothing of the history is cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cold {
    /// No model call was made yet.
    Fresh,
    /// The last call is longer ago than the cache lives.
    Lapsed,
    /// The history was compacted since the last call.
    Compacted,
    /// The past of every block is another one than before: the host dropped or changed what stood first.
    Rewritten,
    /// The provider reports usage of its cache, and none for the last call.
    Unused,
}

impl Cold {
    /// The word for the epoch log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "cold: first call",
            Self::Lapsed => "cold: idle",
            Self::Compacted => "cold: compacted",
            Self::Rewritten => "cold: history rewritten",
            Self::Unused => "cold: cache not used",
        }
    }

    /// Whether the next call will find a cache again, so that what changes then costs something.
    pub fn is_over_soon(self) -> bool {
        self != Self::Unused
    }

    /// Whether an epoch with this reason found the cache cold.
    pub fn is_reason(reason: &str) -> bool {
        reason.starts_with("cold: ")
    }
}

/// What the caches hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cache {
    /// Why none of them holds anything, if so.
    pub cold: Option<Cold>,
    /// Indexes of the calls that left an entry in this model's cache: each held what stands before it.
    pub own: Vec<usize>,
    /// Of each other cache that lives, the last call.
    pub others: Vec<usize>,
    /// Index of the first message that no request has held yet.
    pub sent: usize,
    /// Tokens of the last request as the provider counted them, with system prompt and tools; 0 where it did not.
    pub last_request: u64,
}

/// A lapsed cache is believed in this much later than the provider promises, in percent of its life.
const MARGIN_PERCENT: i64 = 5;

impl Cache {
    /// Reads the state off a history. `is_switched` is what the ledger says: whether the last assembly was for another model or list of
    /// tools. So is `last_call`, the latest moment at which the last call can have been made, where its answer has no time.
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
            return Self { cold: Some(Cold::Fresh), ..Self::default() };
        };
        let life = prices.cache_ttl_ms.saturating_add(prices.cache_ttl_ms.saturating_mul(MARGIN_PERCENT) / 100);
        let lives = |call: &Message| call.timestamp.or(last_call).is_none_or(|time| now.saturating_sub(time) <= life);
        let usage = last.usage().unwrap_or_default();
        let writes_are_reported = || calls().any(|(_, call)| call.usage().is_some_and(|usage| usage.written > 0));
        let cold = if !lives(last) {
            Some(Cold::Lapsed)
        } else if was_compacted_after(transcript, last) {
            Some(Cold::Compacted)
        } else if usage.total() > 0 && usage.read == 0 && usage.written == 0 && writes_are_reported() {
            Some(Cold::Unused)
        } else {
            None
        };
        let mut cache = Self { cold, sent: at, last_request: usage.total(), ..Self::default() };
        let name = |call: &Message| call.raw["model"].as_str().map(str::to_owned);
        let model = model.map(str::to_owned).or_else(|| name(last));
        let is_own = |name: &Option<String>| {
            name.as_ref().zip(model.as_ref()).is_none_or(|(one, other)| is_same_model(one, other))
        };
        let mut others: Vec<(Option<String>, usize)> = Vec::new();
        for (at, call) in calls().filter(|(_, call)| lives(call)) {
            let name = name(call);
            if is_own(&name) {
                cache.own.push(at);
            } else {
                others.retain(|(other, _)| *other != name);
                others.push((name, at));
            }
        }
        cache.others = others.into_iter().map(|(_, at)| at).collect();
        // The answer does not say which list of tools its request had, and in some shapes not which model.
        if is_switched && cold.is_none() && cache.own.last() == Some(&at) {
            cache.others.push(at);
        }
        cache
    }
}

/// Whether two names may mean one model: providers add a prefix and a date.
fn is_same_model(a: &str, b: &str) -> bool {
    let bare = |name: &str| name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let (a, b) = (bare(a), bare(b));
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
    use serde_json::{Value, json};

    use super::*;

    const PRICES: Prices = Prices { read: 0.1, write: 1.25, cache_ttl_ms: 300_000 };

    fn cold(messages: &[Value], model: Option<&str>, now: i64) -> Option<Cold> {
        Cache::of(&Transcript::read(messages), &PRICES, model, false, None, now).cold
    }

    fn answer(at: i64, more: &Value) -> Value {
        let mut answer = json!({ "role": "assistant", "content": "hm", "timestamp": at, "model": "mock-1" });
        answer.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        answer
    }

    #[test]
    fn a_cache_lapses_by_time_and_only_where_the_time_is_known() {
        let history = [json!({ "role": "user", "content": "go" }), answer(1000, &json!({}))];
        assert_eq!(cold(&history, None, 301_000), None);
        assert_eq!(cold(&history, None, 316_001), Some(Cold::Lapsed));
        let timeless = [json!({ "role": "assistant", "content": "hm" })];
        assert_eq!(cold(&timeless, None, 999_999_999), None);
        let told = |now| Cache::of(&Transcript::read(&timeless), &PRICES, None, false, Some(1000), now).cold;
        assert_eq!((told(301_000), told(316_001)), (None, Some(Cold::Lapsed)));
        let iso = [json!({ "role": "assistant", "content": "hm", "timestamp": "1970-01-01T00:00:01Z" })];
        assert_eq!((cold(&iso, None, 301_000), cold(&iso, None, 316_001)), (None, Some(Cold::Lapsed)));
        assert_eq!(cold(&[], None, 0), Some(Cold::Fresh));
    }

    /// Neighbours: two and three models that take turns, at intervals within the life of each one's cache, of the last one's only, and of
    /// none; with and without times of their own.
    #[test]
    fn each_model_has_a_cache_of_its_own() {
        for models in 2..=3 {
            for (interval, own_lives, any_lives) in
                [(60_000, true, true), (300_000 / models + 20_000, false, true), (400_000, false, false)]
            {
                let name = |nth: i64| format!("model-{}", ["a", "b", "c"][(nth % models) as usize]);
                let history: Vec<Value> =
                    (0..9).map(|nth| answer(nth * interval, &json!({ "model": name(nth) }))).collect();
                let transcript = Transcript::read(&history);
                let cache = Cache::of(&transcript, &PRICES, Some(&name(9)), false, None, 9 * interval);
                assert_eq!(cache.cold, (!any_lives).then_some(Cold::Lapsed), "{models} models, {interval}");
                assert_eq!(
                    cache.own.last(),
                    own_lives.then_some(&(9 - models as usize)),
                    "{models} models, {interval}"
                );
                assert_eq!(cache.others.is_empty(), !any_lives);
                assert!(!own_lives || cache.others.len() + 1 == models as usize);
            }
        }
        let history = [answer(1000, &json!({ "model": "claude-sonnet-4-5-20250929" }))];
        let of = |model| Cache::of(&Transcript::read(&history), &PRICES, Some(model), false, None, 1001);
        assert_eq!(
            (of("anthropic/claude-sonnet-4-5").own, of("anthropic/claude-sonnet-4-5").others),
            (vec![0], vec![])
        );
        assert_eq!((of("claude-opus-4-1").own, of("claude-opus-4-1").others), (vec![], vec![0]));
    }

    #[test]
    fn a_list_of_tools_that_the_last_call_did_not_have_may_have_a_cache_as_well() {
        let history = [json!({ "role": "assistant", "content": "hm" })];
        let of = |is_switched, now| {
            let cache = Cache::of(&Transcript::read(&history), &PRICES, None, is_switched, Some(1000), now);
            (cache.cold, cache.others.len())
        };
        assert_eq!((of(false, 1001), of(true, 1001)), ((None, 0), (None, 1)));
        assert_eq!(of(true, 400_000), (Some(Cold::Lapsed), 0));
    }

    #[test]
    fn a_compaction_after_the_last_call_is_cold() {
        let summary = |at: i64| json!({ "role": "compactionSummary", "summary": "so far", "timestamp": at });
        assert_eq!(cold(&[summary(5000), answer(1000, &json!({}))], None, 5001), Some(Cold::Compacted));
        assert_eq!(cold(&[summary(500), answer(1000, &json!({}))], None, 5001), None);
    }

    #[test]
    fn a_provider_that_reports_writes_and_then_none_holds_nothing() {
        let used =
            |read: u64, written: u64| json!({ "usage": { "input": 9, "cacheRead": read, "cacheWrite": written } });
        assert_eq!(cold(&[answer(1, &used(0, 90)), answer(2, &used(0, 0))], None, 3), Some(Cold::Unused));
        assert_eq!(cold(&[answer(1, &used(0, 90)), answer(2, &used(90, 0))], None, 3), None);
        assert_eq!(
            cold(&[answer(1, &used(90, 0)), answer(2, &used(0, 0))], None, 3),
            None,
            "writes are never reported"
        );
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
