//! What the provider's prompt cache holds at this moment, as far as the history tells.
//!
//! A host that calls once per user turn brings no telemetry: what remains are the timestamps, or the times of what was done before,
//! and the usage that the last answer reported. Where they say nothing the cache is taken to be warm, because a needless epoch costs more than a late one.

use super::prices::Prices;
use crate::transcript::{Message, Transcript};

/// Why nothing of the history is cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cold {
    /// No model call was made yet.
    Fresh,
    /// The last call is longer ago than the cache lives.
    Lapsed,
    /// The last call went to another model.
    OtherModel,
    /// The list of tools, which stands before the history, is another one than at the last assembly.
    OtherTools,
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
            Self::OtherModel => "cold: model changed",
            Self::OtherTools => "cold: tools changed",
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

/// What the cache holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cache {
    /// Why it holds nothing, if so.
    pub cold: Option<Cold>,
    /// Index of the first message that no request has held yet.
    pub sent: usize,
    /// Tokens of the last request as the provider counted them, with system prompt and tools; 0 where it did not.
    pub last_request: u64,
}

/// A lapsed cache is believed in this much later than the provider promises, in percent of its life.
const MARGIN_PERCENT: i64 = 5;

impl Cache {
    /// Reads the state off a history. `tools_changed` is what the ledger says, and so is `last_call`, the latest moment at which the last
    /// call can have been made, where its answer has no time.
    pub fn of(
        transcript: &Transcript,
        prices: &Prices,
        model: Option<&str>,
        tools_changed: bool,
        last_call: Option<i64>,
        now: i64,
    ) -> Self {
        let is_call = |message: &&Message| message.is_call();
        let Some(at) = transcript.messages.iter().rposition(|message| is_call(&message)) else {
            return Self { cold: Some(Cold::Fresh), sent: 0, last_request: 0 };
        };
        let last = &transcript.messages[at];
        let usage = last.usage().unwrap_or_default();
        let has_lapsed = last.timestamp.or(last_call).is_some_and(|time| {
            let life = prices.cache_ttl_ms.saturating_add(prices.cache_ttl_ms.saturating_mul(MARGIN_PERCENT) / 100);
            now.saturating_sub(time) > life
        });
        let writes_are_reported = || {
            let mut calls = transcript.messages.iter().filter(is_call);
            calls.any(|call| call.usage().is_some_and(|usage| usage.written > 0))
        };
        let cold = if has_lapsed {
            Some(Cold::Lapsed)
        } else if model.zip(last.raw["model"].as_str()).is_some_and(|(now, then)| !is_same_model(now, then)) {
            Some(Cold::OtherModel)
        } else if tools_changed {
            Some(Cold::OtherTools)
        } else if was_compacted_after(transcript, last) {
            Some(Cold::Compacted)
        } else if usage.total() > 0 && usage.read == 0 && usage.written == 0 && writes_are_reported() {
            Some(Cold::Unused)
        } else {
            None
        };
        // The last answer itself was in no request.
        Self { cold, sent: at, last_request: usage.total() }
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

    #[test]
    fn another_model_is_cold_and_another_spelling_is_not() {
        let history = [answer(1000, &json!({ "model": "claude-sonnet-4-5-20250929" }))];
        assert_eq!(cold(&history, Some("anthropic/claude-sonnet-4-5"), 1001), None);
        assert_eq!(cold(&history, Some("claude-opus-4-1"), 1001), Some(Cold::OtherModel));
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
