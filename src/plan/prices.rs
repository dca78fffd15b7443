//! Token prices of providers, relative to fresh input.
//!
//! The operator's own prices take precedence. The table by model family is for hosts that state none, and follows the
//! providers' published price lists as of late 2026. Prices change; a wrong ratio costs money, never content.

use FinishedThinking::{Bound, MayLeave};

use crate::error::{Error, Result};

/// Prices relative to one fresh input token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// The price of a token read from the cache.
    pub read: f64,
    /// The price of a token written to the cache.
    pub write: f64,
    /// The life of the cache after a request, in milliseconds.
    pub cache_ttl_ms: i64,
}

/// Prices as an operator states them, in any currency and unit, the same for all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StatedPrices {
    /// One unit of fresh input.
    pub input: f64,
    /// One unit read from the cache.
    pub cache_read: f64,
    /// One unit written to the cache.
    pub cache_write: f64,
    /// One unit of an answer, if stated.
    pub output: Option<f64>,
    /// The life of the cache, in milliseconds.
    pub cache_ttl_ms: f64,
    /// True if these are US dollars per million tokens: figures are then in dollars.
    pub usd_per_million: bool,
}

impl StatedPrices {
    /// Returns the price of an input token in dollars, if the prices are in dollars.
    pub fn usd(&self) -> Option<f64> {
        self.usd_per_million.then_some(self.input / 1e6)
    }

    /// Returns the price of an output token in input tokens, if stated.
    pub fn answer(&self) -> Option<f64> {
        self.output.filter(|output| *output > 0.0).map(|output| output / self.input)
    }
}

impl TryFrom<StatedPrices> for Prices {
    type Error = Error;

    fn try_from(stated: StatedPrices) -> Result<Self> {
        let StatedPrices { input, cache_read, cache_write, output, cache_ttl_ms, .. } = stated;
        let output = output.unwrap_or(0.0);
        for (name, value, is_good) in [
            ("prices.input", input, input.is_finite() && input > 0.0),
            ("prices.cacheRead", cache_read, cache_read.is_finite() && cache_read >= 0.0),
            ("prices.cacheWrite", cache_write, cache_write.is_finite() && cache_write >= 0.0),
            ("prices.output", output, output.is_finite() && output >= 0.0),
            ("prices.cacheTtlMs", cache_ttl_ms, cache_ttl_ms.is_finite() && cache_ttl_ms >= 0.0),
        ] {
            if !is_good {
                let expected = if name == "prices.input" { "a number above 0" } else { "a number of at least 0" };
                return Err(Error::bad_argument(name, value, expected));
            }
        }
        Ok(Self { read: cache_read / input, write: cache_write / input, cache_ttl_ms: cache_ttl_ms as i64 })
    }
}

/// The known properties of a family of models.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Family {
    /// Its default prices.
    pub prices: Prices,
    /// The number of input tokens above which the whole request costs more.
    pub cliff: Option<u64>,
    /// The provider's rule for thinking in finished turns.
    pub thinking: FinishedThinking,
    /// The number of blocks before the end of a request in which its cache looks for the end of an earlier one; `None`
    /// if it finds the longest cached prefix.
    pub lookback: Option<usize>,
}

/// Anthropic keeps entries at breakpoints only, which hosts set at the end of each request, and looks this many blocks
/// back from one (<https://platform.claude.com/docs/en/build-with-claude/prompt-caching>).
const ANTHROPIC_LOOKBACK: usize = 20;

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

const MINUTE_MS: i64 = 60_000;

const fn family(read: f64, write: f64, ttl_minutes: i64, cliff: Option<u64>) -> Family {
    Family {
        prices: Prices { read, write, cache_ttl_ms: ttl_minutes * MINUTE_MS },
        cliff,
        thinking: FinishedThinking::Stays,
        lookback: None,
    }
}

const fn with(thinking: FinishedThinking, family: Family) -> Family {
    Family { thinking, ..family }
}

/// Name parts in lower case, the first that occurs decides; longer names come before what they start with.
///
/// Thinking: Claude Opus from 4.5 and Sonnet from 4.6 on keep that of all turns in the context, and it may be
/// omitted from finished ones; earlier ones and Haiku 4.5 ignore it there (extended thinking,
/// <https://platform.claude.com/docs/en/build-with-claude/extended-thinking>). From Fable 5.1 on it is bound to what
/// stands before it (<https://platform.claude.com/docs/en/build-with-claude/preserved-thinking>). OpenAI's API drops
/// reasoning of earlier turns (<https://platform.openai.com/docs/guides/reasoning>), DeepSeek wants it back with every
/// call that used a tool (<https://api-docs.deepseek.com/guides/thinking_mode>), GLM and others reason better with it
/// (<https://docs.z.ai/guides/capabilities/thinking-mode>).
const FAMILIES: [(&str, Family); 22] = [
    ("opus-5-5", with(Bound, family(0.05, 1.25, 5, None))),
    ("sonnet-5-5", with(Bound, family(0.05, 1.25, 5, None))),
    ("fable-5", with(Bound, family(0.025, 1.25, 5, None))),
    ("mythos-5", with(Bound, family(0.025, 1.25, 5, None))),
    ("haiku-5-5", with(Bound, family(0.05, 1.25, 5, Some(100_000)))),
    ("opus-4-5", with(MayLeave, family(0.1, 1.25, 5, None))),
    ("opus-4-6", with(MayLeave, family(0.1, 1.25, 5, None))),
    ("opus-4-7", with(MayLeave, family(0.1, 1.25, 5, None))),
    ("opus-4-8", with(MayLeave, family(0.1, 1.25, 5, None))),
    ("opus-5", with(MayLeave, family(0.1, 1.25, 5, None))),
    ("sonnet-4-6", with(MayLeave, family(0.1, 1.25, 5, None))),
    ("sonnet-5", with(MayLeave, family(0.1, 1.25, 5, None))),
    ("claude", family(0.1, 1.25, 5, None)),
    ("gpt-4o", family(0.5, 1.0, 30, None)),
    ("gpt-4.1", family(0.25, 1.0, 30, None)),
    ("gpt", family(0.1, 1.0, 30, Some(272_000))),
    ("o3", family(0.25, 1.0, 30, None)),
    ("o4-", family(0.25, 1.0, 30, None)),
    ("deepseek", family(0.02, 1.0, 60, None)),
    ("gemini-flash", family(0.1, 1.0, 60, None)),
    ("gemini", family(0.1, 1.0, 60, Some(200_000))),
    ("grok", family(0.25, 1.0, 60, Some(200_000))),
];

/// The fallback for unknown models: the most common ratio, and a short cache life.
const UNKNOWN: Family = family(0.1, 1.25, 5, None);

impl Family {
    /// Returns the family of a model, by its name with or without a provider prefix.
    pub fn of(model: Option<&str>) -> Self {
        let name = model.unwrap_or_default().to_ascii_lowercase();
        let name = if name.contains("claude") { name.replace('.', "-") } else { name };
        let is_gemini_flash = name.contains("gemini") && name.contains("flash");
        let name = if is_gemini_flash { "gemini-flash".to_owned() } else { name };
        let family = FAMILIES.iter().find(|(part, _)| name.contains(part)).map_or(UNKNOWN, |(_, family)| *family);
        Self { lookback: name.contains("claude").then_some(ANTHROPIC_LOOKBACK), ..family }
    }
}

#[cfg(test)]
mod tests {
    use super::FinishedThinking::Stays;
    use super::*;

    #[test]
    fn families_are_found_by_any_spelling() {
        for (model, read, write, cliff, thinking) in [
            ("anthropic/claude-opus-5-5-20260901", 0.05, 1.25, None, Bound),
            ("claude-sonnet-5.5", 0.05, 1.25, None, Bound),
            ("claude-opus-4.6", 0.1, 1.25, None, MayLeave),
            ("claude-opus-4-5-20251101", 0.1, 1.25, None, MayLeave),
            ("claude-opus-4-1", 0.1, 1.25, None, Stays),
            ("claude-sonnet-4-5", 0.1, 1.25, None, Stays),
            ("Claude-Haiku-5-5", 0.05, 1.25, Some(100_000), Bound),
            ("gpt-5.4-mini", 0.1, 1.0, Some(272_000), Stays),
            ("openai/gpt-4o-mini", 0.5, 1.0, None, Stays),
            ("gpt-4.1", 0.25, 1.0, None, Stays),
            ("gemini-3-pro", 0.1, 1.0, Some(200_000), Stays),
            ("gemini-2.5-flash", 0.1, 1.0, None, Stays),
            ("mock-model", 0.1, 1.25, None, Stays),
        ] {
            let found = Family::of(Some(model));
            let found = (found.prices.read, found.prices.write, found.cliff, found.thinking);
            assert_eq!(found, (read, write, cliff, thinking), "{model}");
        }
        assert_eq!(Family::of(None), UNKNOWN);
    }

    #[test]
    fn stated_prices_become_ratios_and_bad_ones_are_named() {
        let stated = StatedPrices {
            input: 3.0,
            cache_read: 0.3,
            cache_write: 3.75,
            output: Some(15.0),
            cache_ttl_ms: 300_000.0,
            usd_per_million: false,
        };
        let prices = Prices::try_from(stated).unwrap();
        assert!((prices.read - 0.1).abs() < 1e-9 && (prices.write - 1.25).abs() < 1e-9);
        assert_eq!(prices.cache_ttl_ms, 300_000);
        assert_eq!(stated.answer(), Some(5.0));
        assert_eq!(StatedPrices { output: Some(0.0), ..stated }.answer(), None, "a price of nothing is not stated");
        let error = Prices::try_from(StatedPrices { input: 0.0, ..stated }).unwrap_err();
        assert_eq!(error.to_string(), "prices.input is 0; it must be a number above 0");
        let error = Prices::try_from(StatedPrices { cache_read: f64::NAN, ..stated }).unwrap_err();
        assert_eq!(error.to_string(), "prices.cacheRead is NaN; it must be a number of at least 0");
    }
}
