//! The rules of a model's provider that no price list states: how its prompt cache works, and when its thinking may
//! leave.

use FinishedThinking::{Bound, MayLeave, Stays};

use super::model_name::ModelName;

/// The rules for one model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Provider {
    /// The rule for thinking in finished turns.
    pub thinking: FinishedThinking,
    /// The rules of the prompt cache.
    pub cache: CacheRules,
}

/// A provider's rule for sending a model's thinking back once the turn is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishedThinking {
    /// It stays: it is required, or ignored by the provider, or nothing is known.
    Stays,
    /// The provider reads it, bills it, and documents that it may be left out.
    MayLeave,
    /// The provider accepts it only after the exact prefix that it was made with, and without gaps. After the first
    /// change all of it leaves, or nothing changes.
    Bound,
}

/// The rules of a prompt cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CacheRules {
    /// The places at which a prefix can be read back.
    pub entries: CacheEntries,
    /// The minimum number of tokens of a cached prefix.
    pub min_tokens: u64,
    /// The time after its last use for which an entry lives, in milliseconds.
    pub life_ms: i64,
    /// The price of a write that lives for an hour, relative to input, if the provider sells such.
    pub hour_write: Option<f64>,
}

/// The places at which a cache can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheEntries {
    /// At the breakpoints of earlier requests. Hosts set one at the end of each request; OpenAI does so by itself.
    Breakpoints {
        /// The number of blocks before a breakpoint in which an entry is found; `None` if there is no limit.
        lookback: Option<usize>,
        /// The number of latest entries that can be found.
        latest: usize,
    },
    /// After every unit of this many tokens.
    Prefixes {
        /// Tokens.
        unit: u64,
    },
}

const MINUTE_MS: i64 = 60_000;

/// <https://platform.claude.com/docs/en/build-with-claude/prompt-caching>: at most four breakpoints, each finds an
/// entry at most 20 blocks back; five minutes, or an hour at twice the input price.
const ANTHROPIC: CacheRules = CacheRules {
    entries: CacheEntries::Breakpoints { lookback: Some(20), latest: 4 * 20 },
    min_tokens: 1024,
    life_ms: 5 * MINUTE_MS,
    hour_write: Some(2.0),
};

/// Up to GPT-5.5 (<https://platform.openai.com/docs/guides/prompt-caching>). The life is stated as minutes to an hour.
const OPENAI: CacheRules = CacheRules {
    entries: CacheEntries::Prefixes { unit: 128 },
    min_tokens: 1024,
    life_ms: 30 * MINUTE_MS,
    hour_write: None,
};

/// From GPT-5.6 on (same page): an implicit breakpoint, the latest 80 are considered; at least 30 minutes.
const OPENAI_BREAKPOINTS: CacheRules =
    CacheRules { entries: CacheEntries::Breakpoints { lookback: None, latest: 80 }, ..OPENAI };

/// Any prefix, for an hour: Gemini (<https://ai.google.dev/gemini-api/docs/caching>), and the implicit caches whose life
/// is not stated, since a needless epoch costs more than a late one.
const IMPLICIT: CacheRules = CacheRules {
    entries: CacheEntries::Prefixes { unit: 1 },
    min_tokens: 1024,
    life_ms: 60 * MINUTE_MS,
    hour_write: None,
};

/// <https://api-docs.deepseek.com/guides/kv_cache>: units of 64 tokens, "a few hours to a few days".
const DEEPSEEK: CacheRules = CacheRules {
    entries: CacheEntries::Prefixes { unit: 64 },
    min_tokens: 64,
    life_ms: 3 * 60 * MINUTE_MS,
    hour_write: None,
};

/// A model whose provider is unknown: any prefix, for the shortest life.
const UNKNOWN: CacheRules = CacheRules { min_tokens: 0, life_ms: ANTHROPIC.life_ms, ..IMPLICIT };

impl Provider {
    /// Returns the rules for a model.
    pub fn of(model: &ModelName) -> Self {
        let from = |words: &[&str], version: (u64, u64)| model.version_of(words).is_some_and(|own| own >= version);
        if model.has("claude") {
            return Self { thinking: claude_thinking(from), cache: ANTHROPIC };
        }
        if ["gpt", "chatgpt", "codex", "o1", "o3", "o4"].iter().any(|word| model.has(word)) {
            // OpenAI drops reasoning of earlier turns up to GPT-5.5. From 6.2 on, it drops what follows a change
            // (<https://developers.openai.com/api/docs/guides/keep-prefix-unchanged>).
            let thinking = if from(&["gpt"], (6, 2)) { Bound } else { Stays };
            return Self { thinking, cache: if from(&["gpt"], (5, 6)) { OPENAI_BREAKPOINTS } else { OPENAI } };
        }
        // DeepSeek wants thinking back with every call that used a tool
        // (<https://api-docs.deepseek.com/guides/thinking_mode>), GLM and others reason better with it
        // (<https://docs.z.ai/guides/capabilities/thinking-mode>).
        let cache = match () {
            () if model.has("deepseek") => DEEPSEEK,
            () if ["gemini", "grok", "kimi", "glm"].iter().any(|word| model.has(word)) => IMPLICIT,
            () => UNKNOWN,
        };
        Self { thinking: Stays, cache }
    }
}

/// Claude Opus from 4.5, Sonnet from 4.6 and Fable from 5 on keep the thinking of all turns in the context, and it may
/// be omitted from finished ones; earlier ones and Haiku 4.5 ignore it there
/// (<https://platform.claude.com/docs/en/build-with-claude/extended-thinking>). From Fable 5.1 and from Opus, Sonnet and
/// Haiku 5.5 on it is bound to what stands before it
/// (<https://platform.claude.com/docs/en/build-with-claude/preserved-thinking>).
fn claude_thinking(from: impl Fn(&[&str], (u64, u64)) -> bool) -> FinishedThinking {
    if from(&["fable"], (5, 1)) || from(&["mythos"], (5, 0)) || from(&["opus", "sonnet", "haiku"], (5, 5)) {
        Bound
    } else if from(&["opus"], (4, 5)) || from(&["sonnet"], (4, 6)) || from(&["fable"], (5, 0)) {
        MayLeave
    } else {
        Stays
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_is_bound_from_the_documented_versions_on() {
        for (model, thinking) in [
            ("anthropic/claude-opus-5-5-20260901", Bound),
            ("claude-sonnet-5.5", Bound),
            ("Claude-Haiku-5-5", Bound),
            ("claude-opus-6", Bound),
            ("claude-fable-5-1", Bound),
            ("claude-fable-5-2", Bound),
            ("claude-fable-5", MayLeave),
            ("claude-fable-5-20260701", MayLeave),
            ("claude-opus-5", MayLeave),
            ("claude-opus-4.6", MayLeave),
            ("claude-opus-4-5-20251101", MayLeave),
            ("claude-sonnet-4-6", MayLeave),
            ("claude-opus-4-1", Stays),
            ("claude-sonnet-4-5", Stays),
            ("claude-haiku-4-5", Stays),
            ("claude-3-7-sonnet-latest", Stays),
            ("openai/gpt-6.2-sol", Bound),
            ("gpt-6.2-codex", Bound),
            ("gpt-6.10", Bound),
            ("gpt-7", Bound),
            ("gpt-6.1-sol", Stays),
            ("gpt-6-sol", Stays),
            ("gpt-5.6-sol", Stays),
            ("gpt-4o-2024-11-20", Stays),
            ("deepseek-v4-pro", Stays),
            ("mock", Stays),
        ] {
            assert_eq!(Provider::of(&ModelName::of(Some(model))).thinking, thinking, "{model}");
        }
    }

    #[test]
    fn each_provider_has_its_cache() {
        for (model, cache) in [
            ("claude-opus-4-6", ANTHROPIC),
            ("gpt-5.5", OPENAI),
            ("gpt-5.1-codex", OPENAI),
            ("o3", OPENAI),
            ("gpt-5.6-sol", OPENAI_BREAKPOINTS),
            ("gpt-6.2-sol", OPENAI_BREAKPOINTS),
            ("gemini-4-neon", IMPLICIT),
            ("moonshotai/kimi-k3.1-pro", IMPLICIT),
            ("deepseek-v4-pro", DEEPSEEK),
            ("mock", UNKNOWN),
        ] {
            assert_eq!(Provider::of(&ModelName::of(Some(model))).cache, cache, "{model}");
        }
    }
}
