//! What a provider charges for tokens it has seen before, relative to fresh input.
//!
//! The operator's own prices come first; the table by model family is for hosts that state none, and follows the providers'
//! published price lists as of late 2026. Prices change; a wrong ratio costs money, never content.

use crate::error::{Error, Result};

/// Prices relative to one fresh input token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// A token that the cache holds.
    pub read: f64,
    /// A token that it has to take in.
    pub write: f64,
    /// How long the cache lives after a request, in milliseconds.
    pub cache_ttl_ms: i64,
}

/// Prices as an operator states them: any currency, any unit, all alike.
#[derive(Debug, Clone, Copy, PartialEq, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatedPrices {
    /// One unit of fresh input.
    pub input: f64,
    /// One unit read from the cache.
    pub cache_read: f64,
    /// One unit written to the cache.
    pub cache_write: f64,
    /// How long the cache lives, in milliseconds.
    pub cache_ttl_ms: f64,
}

impl TryFrom<StatedPrices> for Prices {
    type Error = Error;

    fn try_from(stated: StatedPrices) -> Result<Self> {
        let StatedPrices { input, cache_read, cache_write, cache_ttl_ms } = stated;
        for (name, value, is_good) in [
            ("prices.input", input, input.is_finite() && input > 0.0),
            ("prices.cacheRead", cache_read, cache_read.is_finite() && cache_read >= 0.0),
            ("prices.cacheWrite", cache_write, cache_write.is_finite() && cache_write >= 0.0),
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

/// What is known of a family of models.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Family {
    /// Its prices, where the operator states none.
    pub prices: Prices,
    /// Above this many tokens of input the whole request costs more.
    pub cliff: Option<u64>,
    /// Whether retained thinking is valid only behind the exact prefix that it was made with.
    pub binds_thinking: bool,
}

const MINUTE_MS: i64 = 60_000;

const fn family(read: f64, write: f64, ttl_minutes: i64, cliff: Option<u64>) -> Family {
    Family { prices: Prices { read, write, cache_ttl_ms: ttl_minutes * MINUTE_MS }, cliff, binds_thinking: false }
}

/// Name parts in lower case, the first that occurs decides; longer names come before what they start with.
const FAMILIES: [(&str, Family); 14] = [
    ("opus-5-5", Family { binds_thinking: true, ..family(0.05, 1.25, 5, None) }),
    ("sonnet-5-5", Family { binds_thinking: true, ..family(0.05, 1.25, 5, None) }),
    ("fable-5-1", Family { binds_thinking: true, ..family(0.025, 1.25, 5, None) }),
    ("haiku-5-5", family(0.05, 1.25, 5, Some(100_000))),
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

/// Where nothing is known: the commonest ratio, and a cache that dies early.
const UNKNOWN: Family = family(0.1, 1.25, 5, None);

impl Family {
    /// The family of a model, by its name with or without a provider before it.
    pub fn of(model: Option<&str>) -> Self {
        let name = model.unwrap_or_default().to_ascii_lowercase().replace("5.5", "5-5").replace("5.1", "5-1");
        let is_gemini_flash = name.contains("gemini") && name.contains("flash");
        let name = if is_gemini_flash { "gemini-flash".to_owned() } else { name };
        FAMILIES.iter().find(|(part, _)| name.contains(part)).map_or(UNKNOWN, |(_, family)| *family)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_found_by_any_spelling() {
        for (model, read, write, cliff, binds) in [
            ("anthropic/claude-opus-5-5-20260901", 0.05, 1.25, None, true),
            ("claude-sonnet-5.5", 0.05, 1.25, None, true),
            ("claude-sonnet-4-5", 0.1, 1.25, None, false),
            ("Claude-Haiku-5-5", 0.05, 1.25, Some(100_000), false),
            ("gpt-5.4-mini", 0.1, 1.0, Some(272_000), false),
            ("openai/gpt-4o-mini", 0.5, 1.0, None, false),
            ("gemini-3-pro", 0.1, 1.0, Some(200_000), false),
            ("gemini-2.5-flash", 0.1, 1.0, None, false),
            ("mock-model", 0.1, 1.25, None, false),
        ] {
            let found = Family::of(Some(model));
            let prices = (found.prices.read, found.prices.write, found.cliff, found.binds_thinking);
            assert_eq!(prices, (read, write, cliff, binds), "{model}");
        }
        assert_eq!(Family::of(None), UNKNOWN);
    }

    #[test]
    fn stated_prices_become_ratios_and_bad_ones_are_named() {
        let stated = StatedPrices { input: 3.0, cache_read: 0.3, cache_write: 3.75, cache_ttl_ms: 300_000.0 };
        let prices = Prices::try_from(stated).unwrap();
        assert!((prices.read - 0.1).abs() < 1e-9 && (prices.write - 1.25).abs() < 1e-9);
        assert_eq!(prices.cache_ttl_ms, 300_000);
        let error = Prices::try_from(StatedPrices { input: 0.0, ..stated }).unwrap_err();
        assert_eq!(error.to_string(), "prices.input is 0; it must be a number above 0");
        let error = Prices::try_from(StatedPrices { cache_read: f64::NAN, ..stated }).unwrap_err();
        assert_eq!(error.to_string(), "prices.cacheRead is NaN; it must be a number of at least 0");
    }
}
