//! The token usage that a provider reports for a request.

use serde_json::Value;

/// The token usage of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Input tokens at the plain price.
    pub input: u64,
    /// Tokens read from the cache.
    pub read: u64,
    /// Tokens written to the cache.
    pub written: u64,
    /// Tokens of the answer, if reported.
    pub output: Option<u64>,
}

/// The maximum number of tokens of one kind in a report. A larger one is a mistake and counts as not reported.
const MOST_TOKENS: f64 = 1e12;

/// OpenAI's fields for the input tokens and for their parts.
const INPUT_AND_DETAILS: [(&str, &str); 2] =
    [("prompt_tokens", "prompt_tokens_details"), ("input_tokens", "input_tokens_details")];

impl Usage {
    /// Reads the usage fields of OpenClaw, Anthropic and OpenAI; `None` if they report no input.
    pub(super) fn read(reported: &Value) -> Option<Self> {
        let usage = Self::read_any(reported);
        (usage.total() > 0).then_some(usage)
    }

    fn read_any(reported: &Value) -> Self {
        let tokens = |value: &Value| {
            let tokens = value.as_f64().filter(|tokens| *tokens <= MOST_TOKENS)?;
            Some(tokens.max(0.0) as u64)
        };
        let first = |keys: [&str; 2]| keys.into_iter().find_map(|key| tokens(&reported[key]));
        let output = first(["output", "output_tokens"]).or_else(|| tokens(&reported["completion_tokens"]));
        // OpenAI's input count includes cached tokens; the others' does not.
        let of_input = INPUT_AND_DETAILS.into_iter().find_map(|(key, details)| {
            let cached = tokens(&reported[details]["cached_tokens"]);
            let is_openai = key == "prompt_tokens" || cached.is_some();
            is_openai.then(|| Some((tokens(&reported[key])?, cached.unwrap_or(0))))?
        });
        if let Some((input, cached)) = of_input {
            return Self { input: input.saturating_sub(cached), read: cached, written: 0, output };
        }
        Self {
            input: first(["input", "input_tokens"]).unwrap_or(0),
            read: first(["cacheRead", "cache_read_input_tokens"]).unwrap_or(0),
            written: first(["cacheWrite", "cache_creation_input_tokens"]).unwrap_or(0),
            output,
        }
    }

    /// Returns true if the last writes live for an hour, false if they live for minutes; `None` if there were none, or
    /// the provider does not tell.
    pub(super) fn writes_live_for_an_hour(reported: &Value) -> Option<bool> {
        let creation = &reported["cache_creation"];
        let hour = creation["ephemeral_1h_input_tokens"].as_u64().or(reported["cacheWrite1h"].as_u64())?;
        let written = Self::read_any(reported).written;
        (written > 0).then_some(hour * 2 > written)
    }

    /// Returns all tokens of the prompt.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.read).saturating_add(self.written)
    }
}

/// The charge for a request that a host recorded beside its usage, in dollars per token. `None` where nothing was used,
/// or no price is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Charge {
    /// All tokens of the prompt.
    pub tokens: u64,
    /// Input at the plain price.
    pub input: Option<f64>,
    /// Reading from the cache.
    pub read: Option<f64>,
    /// Writing to the cache.
    pub write: Option<f64>,
    /// The answer.
    pub output: Option<f64>,
}

impl Charge {
    /// Reads the `cost` of OpenClaw's usage; `None` if it states no price.
    pub(super) fn read(reported: &Value) -> Option<Self> {
        let usage = Usage::read(reported)?;
        let price = |name: &str, tokens: u64| {
            let cost = reported["cost"][name].as_f64().filter(|cost| cost.is_finite() && *cost > 0.0)?;
            (tokens > 0).then_some(cost / tokens as f64)
        };
        let charge = Self {
            tokens: usage.total(),
            input: price("input", usage.input),
            read: price("cacheRead", usage.read),
            write: price("cacheWrite", usage.written),
            output: price("output", usage.output.unwrap_or(0)),
        };
        [charge.input, charge.read, charge.write, charge.output].iter().any(Option::is_some).then_some(charge)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn usage_reads_as_each_provider_spells_it() {
        let usage = Usage { input: 100, read: 900, written: 50, output: Some(7) };
        for (reported, expected) in [
            (json!({ "input": 100, "cacheRead": 900, "cacheWrite": 50, "output": 7 }), usage),
            (
                json!({ "input_tokens": 100, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 50, "output_tokens": 7 }),
                usage,
            ),
            (
                json!({ "input_tokens": 100, "cache_read_input_tokens": null }),
                Usage { read: 0, written: 0, output: None, ..usage },
            ),
            (
                json!({ "prompt_tokens": 1000, "completion_tokens": 7, "prompt_tokens_details": { "cached_tokens": 900 } }),
                Usage { written: 0, ..usage },
            ),
            (
                json!({ "prompt_tokens": 100, "prompt_tokens_details": null }),
                Usage { read: 0, written: 0, output: None, ..usage },
            ),
            (
                json!({ "input_tokens": 1000, "input_tokens_details": { "cached_tokens": 900 } }),
                Usage { written: 0, output: None, ..usage },
            ),
        ] {
            assert_eq!(Usage::read(&reported), Some(expected), "{reported}");
        }
        assert_eq!(Usage::read(&json!({ "output_tokens": 7 })), None);
    }
}
