//! Token prices, relative to fresh input, and in dollars where they are known.
//!
//! Each price comes from the surest source that states it: relative prices of the caller, which are an order; the
//! charges that the transcript records; prices of the caller in dollars, which are a price list; the price list of
//! the core. A wrong ratio costs money, never content.

use super::model_name::ModelName;
use super::price_list::{self, ListPrices};
use super::provider::Provider;
use crate::error::{Error, Result};
use crate::transcript::{Message, Transcript};

/// Prices relative to one fresh input token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// The price of a token read from the cache.
    pub read: f64,
    /// The price of a token written to the cache.
    pub write: f64,
    /// The life of the cache after a request, in milliseconds.
    pub cache_ttl_ms: i64,
    /// The step above which a request costs more.
    pub step: Option<PriceStep>,
}

/// A size of requests above which all their tokens cost more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PriceStep {
    /// Input tokens.
    pub above: u64,
    /// The price of input above the step, relative to that below.
    pub input: f64,
    /// The same for answers.
    pub output: f64,
}

impl Prices {
    /// Returns the step that a request with this many input tokens is above.
    pub fn step_of(&self, tokens: u64) -> Option<PriceStep> {
        self.step.filter(|step| tokens > step.above)
    }

    /// Returns the price of input in a request with this many input tokens, relative to that below the step.
    pub fn of_step(&self, tokens: u64) -> f64 {
        self.step_of(tokens).map_or(1.0, |step| step.input)
    }
}

/// The prices of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tariff {
    /// Prices of input.
    pub prices: Prices,
    /// The price of an output token in input tokens, if known.
    pub answer: Option<f64>,
    /// The price of an input token in dollars, if known.
    pub usd: Option<f64>,
}

/// Prices as a caller states them. Whatever it leaves out comes from the next source.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StatedPrices {
    /// One unit of fresh input. Without it, no other price is stated.
    pub input: Option<f64>,
    /// One unit read from the cache.
    pub cache_read: Option<f64>,
    /// One unit written to the cache.
    pub cache_write: Option<f64>,
    /// One unit of an answer.
    pub output: Option<f64>,
    /// The life of the cache, in milliseconds.
    pub cache_ttl_ms: Option<f64>,
    /// True if these are US dollars per million tokens, as in a price list; otherwise they are in any unit.
    pub usd_per_million: bool,
}

impl StatedPrices {
    /// Prices of the cache relative to input, as an order.
    pub fn relative(read: f64, write: f64, cache_ttl_ms: i64) -> Self {
        Self {
            input: Some(1.0),
            cache_read: Some(read),
            cache_write: Some(write),
            cache_ttl_ms: Some(cache_ttl_ms as f64),
            ..Self::default()
        }
    }

    /// Checks the values.
    ///
    /// # Errors
    /// [`Error::BadArgument`] with the name of the first bad one.
    pub fn check(self) -> Result<Self> {
        let Self { input, cache_read, cache_write, output, cache_ttl_ms, .. } = self;
        let at_least_0 = |value: f64| value.is_finite() && value >= 0.0;
        let prices = [("cacheRead", cache_read), ("cacheWrite", cache_write), ("output", output)];
        for (name, value) in [("input", input)].into_iter().chain(prices).chain([("cacheTtlMs", cache_ttl_ms)]) {
            let is_input = name == "input";
            if let Some(value) = value.filter(|value| !at_least_0(*value) || is_input && *value <= 0.0) {
                let expected = if is_input { "a number above 0" } else { "a number of at least 0" };
                return Err(Error::bad_argument(format!("prices.{name}"), value, expected));
            }
        }
        match prices.into_iter().find(|(_, value)| value.is_some()) {
            Some((name, _)) if input.is_none() => {
                Err(Error::bad_argument("prices.input", "missing", format!("a number above 0 beside prices.{name}")))
            }
            _ => Ok(self),
        }
    }

    /// Returns true if the caller wants these prices, whatever others are known.
    fn is_order(&self) -> bool {
        self.input.is_some() && !self.usd_per_million
    }

    fn quote(&self) -> Quote {
        let Some(input) = self.input else { return Quote::default() };
        let relative = |price: Option<f64>| price.map(|price| price / input);
        Quote {
            read: relative(self.cache_read),
            write: relative(self.cache_write),
            answer: relative(self.output.filter(|output| *output > 0.0)),
            usd: self.usd_per_million.then_some(input / 1e6),
        }
    }
}

/// Prices of one source: relative to input, and the price of an input token in dollars.
#[derive(Debug, Clone, Copy, Default)]
struct Quote {
    read: Option<f64>,
    write: Option<f64>,
    answer: Option<f64>,
    usd: Option<f64>,
}

/// The most common ratios, for a model of which nothing is known.
const DEFAULT: Quote = Quote { read: Some(0.1), write: Some(1.25), answer: None, usd: None };

const HOUR_MS: f64 = 3_600_000.0;

impl Tariff {
    /// Returns the prices of a model. `stated` are those of the caller; `transcript` contains earlier answers.
    pub fn of(model: Option<&str>, stated: Option<&StatedPrices>, transcript: &Transcript) -> Self {
        let name = ModelName::of(model);
        let rules = Provider::of(&name).cache;
        let listing = price_list::find(&name);
        let step = listing.and_then(|listing| listing.entry.step);
        let stated = stated.copied().unwrap_or_default();
        let own = listing.map_or(Quote::default(), |listing| listed(&listing.entry.prices, listing.is_own));
        let quotes = if stated.is_order() {
            [stated.quote(), Quote { usd: None, ..own }, DEFAULT, DEFAULT]
        } else {
            [charged(transcript, &name, step), stated.quote(), own, DEFAULT]
        };
        let first = |price: fn(&Quote) -> Option<f64>| quotes.iter().find_map(price);
        let lives_for_an_hour =
            || stated.cache_ttl_ms.map_or_else(|| is_cached_for_an_hour(transcript), |life_ms| life_ms >= HOUR_MS);
        let hour_write = rules.hour_write.filter(|_| lives_for_an_hour());
        // A list states the price of a write that lives for minutes.
        let write = quotes[0].write.or(hour_write).or_else(|| first(|quote| quote.write));
        let life_ms = stated.cache_ttl_ms.or(hour_write.map(|_| HOUR_MS)).map(|life_ms| life_ms as i64);
        Self {
            prices: Prices {
                read: first(|quote| quote.read).unwrap_or(1.0),
                write: write.unwrap_or(1.0),
                cache_ttl_ms: life_ms.unwrap_or(rules.life_ms),
                step,
            },
            answer: first(|quote| quote.answer),
            usd: first(|quote| quote.usd),
        }
    }
}

fn listed(prices: &ListPrices, is_own: bool) -> Quote {
    let ListPrices { input, output, read, write } = *prices;
    Quote {
        read: Some(read / input),
        write: Some(write / input),
        answer: Some(output / input),
        usd: is_own.then_some(input / 1e6),
    }
}

/// Returns the latest answers of a model, the last first.
fn answers<'t, 'a>(transcript: &'t Transcript<'a>, model: &'t ModelName) -> impl Iterator<Item = &'t Message<'a>> {
    let is_own = |message: &&Message| {
        message.is_call && message.raw["model"].as_str().is_none_or(|name| ModelName::of(Some(name)) == *model)
    };
    transcript.messages.iter().rev().filter(is_own)
}

/// Returns what the last answers of a model were charged for, as their host recorded it, below the step.
fn charged(transcript: &Transcript, model: &ModelName, step: Option<PriceStep>) -> Quote {
    let [mut input, mut read, mut write, mut output] = [None; 4];
    for charge in answers(transcript, model).filter_map(Message::charge) {
        let step = step.filter(|step| charge.tokens > step.above);
        let factor = step.map_or(1.0, |step| step.input);
        let price = |of: Option<f64>, factor: f64| of.map(|price| price / factor);
        input = input.or(price(charge.input, factor));
        read = read.or(price(charge.read, factor));
        write = write.or(price(charge.write, factor));
        output = output.or(price(charge.output, step.map_or(1.0, |step| step.output)));
        if [input, read, write, output].iter().all(Option::is_some) {
            break;
        }
    }
    let relative = |price: Option<f64>| price.zip(input).map(|(price, input)| price / input);
    Quote { read: relative(read), write: relative(write), answer: relative(output), usd: input }
}

fn is_cached_for_an_hour(transcript: &Transcript) -> bool {
    transcript.messages.iter().rev().find_map(Message::is_cached_for_an_hour) == Some(true)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn tariff(model: &str, stated: Option<StatedPrices>, messages: &[Value]) -> Tariff {
        Tariff::of(Some(model), stated.as_ref(), &Transcript::read(messages))
    }

    /// Returns read, write, minutes, and dollars per million tokens of input and answers.
    fn rounded(tariff: Tariff) -> (f64, f64, i64, Option<(f64, f64)>) {
        let round = |price: f64| (price * 1e6).round() / 1e6;
        let Tariff { prices: Prices { read, write, cache_ttl_ms, .. }, answer, usd } = tariff;
        let usd = usd.map(|usd| (round(usd * 1e6), round(usd * 1e6 * answer.unwrap_or(0.0))));
        (round(read), round(write), cache_ttl_ms / 60_000, usd)
    }

    #[test]
    fn without_a_statement_the_list_applies_and_then_the_default() {
        for (model, expected) in [
            ("anthropic/claude-opus-5-5-20260901", (0.05, 1.25, 5, Some((4.0, 20.0)))),
            ("claude-fable-5", (0.1, 1.25, 5, Some((10.0, 50.0)))),
            ("claude-fable-5-1", (0.025, 1.25, 5, Some((10.0, 50.0)))),
            ("gpt-5.4-mini", (0.1, 1.0, 30, Some((0.75, 4.5)))),
            ("gpt-5.6-sol", (0.1, 1.25, 30, Some((4.0, 20.0)))),
            ("openai/gpt-6.2-sol", (0.05, 1.25, 30, Some((2.0, 10.0)))),
            ("gpt-6.3-sol", (0.05, 1.25, 30, None)),
            ("openai/gpt-4o-mini", (0.5, 1.0, 30, Some((0.15, 0.6)))),
            ("gemini-4-neon", (0.05, 1.0, 60, Some((3.0, 15.0)))),
            ("deepseek-flash", (0.02, 1.0, 180, Some((0.3, 1.2)))),
            ("mock-model", (0.1, 1.25, 5, None)),
        ] {
            assert_eq!(rounded(tariff(model, None, &[])), expected, "{model}");
        }
    }

    #[test]
    fn a_price_step_comes_from_the_list() {
        let step = |model| tariff(model, None, &[]).prices.step.map(|step| (step.above, step.input, step.output));
        assert_eq!(step("gpt-6.2-sol"), Some((272_000, 2.0, 1.5)));
        assert_eq!(step("claude-haiku-5-5").map(|(above, ..)| above), Some(100_000));
        assert_eq!(step("claude-opus-4-6"), None);
        let prices = tariff("gpt-6.2-sol", None, &[]).prices;
        assert_eq!([272_000, 272_001].map(|tokens| prices.of_step(tokens)), [1.0, 2.0]);
    }

    fn answer(model: &str, usage: [u64; 4], cost: [f64; 4]) -> Value {
        let [input, cache_read, cache_write, output] = usage;
        let [input_cost, read_cost, write_cost, output_cost] = cost;
        json!({ "role": "assistant", "model": model, "content": "hm", "usage": {
            "input": input, "cacheRead": cache_read, "cacheWrite": cache_write, "output": output,
            "cost": { "input": input_cost, "cacheRead": read_cost, "cacheWrite": write_cost, "output": output_cost } } })
    }

    #[test]
    fn what_the_transcript_was_charged_precedes_a_price_list_and_an_order_precedes_all() {
        // Input 3, cached 0.6, written 6, answers 12 dollars.
        let charged = answer("mock-1", [1000, 50_000, 2000, 100], [0.003, 0.03, 0.012, 0.0012]);
        let of_another = answer("mock-2", [1000, 50_000, 2000, 100], [1.0, 1.0, 1.0, 1.0]);
        let nothing = answer("mock-1", [0, 90_000, 0, 7], [0.0; 4]);
        let messages = [charged, of_another, nothing];
        let list = StatedPrices {
            input: Some(5.0),
            cache_read: Some(0.5),
            cache_write: Some(6.25),
            output: Some(25.0),
            cache_ttl_ms: None,
            usd_per_million: true,
        };
        assert_eq!(rounded(tariff("mock-1", Some(list), &messages)), (0.2, 2.0, 5, Some((3.0, 12.0))));
        assert_eq!(rounded(tariff("mock-3", Some(list), &messages)), (0.1, 1.25, 5, Some((5.0, 25.0))));
        let partly = StatedPrices { cache_read: None, output: None, ..list };
        assert_eq!(rounded(tariff("gpt-6.2-sol", Some(partly), &[])), (0.05, 1.25, 30, Some((5.0, 25.0))));
        let order = StatedPrices::relative(0.3, 1.5, 60_000);
        assert_eq!(rounded(tariff("mock-1", Some(order), &messages)), (0.3, 1.5, 1, None));
        let life = StatedPrices { cache_ttl_ms: Some(60_000.0), ..StatedPrices::default() };
        assert_eq!(rounded(tariff("mock-1", Some(life), &messages)), (0.2, 2.0, 1, Some((3.0, 12.0))));
    }

    #[test]
    fn a_charge_above_the_step_tells_the_price_below_it() {
        let charged = answer("gpt-6.2-sol", [100_000, 200_000, 0, 1000], [0.8, 0.08, 0.0, 0.03]);
        assert_eq!(rounded(tariff("gpt-6.2-sol", None, &[charged])), (0.05, 1.25, 30, Some((4.0, 20.0))));
    }

    #[test]
    fn a_cache_that_lives_for_an_hour_is_written_at_twice_the_price() {
        let answer = |usage: Value| json!({ "role": "assistant", "content": "hm", "usage": usage });
        let hour = answer(json!({ "input_tokens": 3, "cache_creation_input_tokens": 900,
            "cache_creation": { "ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 900 } }));
        let read = answer(json!({ "input_tokens": 3, "cache_read_input_tokens": 900 }));
        let minutes = answer(json!({ "input_tokens": 3, "cache_creation_input_tokens": 9,
            "cache_creation": { "ephemeral_5m_input_tokens": 9, "ephemeral_1h_input_tokens": 0 } }));
        let of = |messages: &[Value]| {
            let (_, write, minutes, _) = rounded(tariff("claude-opus-4-6", None, messages));
            (write, minutes)
        };
        assert_eq!(of(&[minutes.clone(), hour.clone(), read]), (2.0, 60));
        assert_eq!(of(&[hour, minutes]), (1.25, 5));
        let asks = |mark: Value| json!({ "role": "user", "content": [{ "type": "text", "text": "q", "cache_control": mark }] });
        assert_eq!(
            of(&[asks(json!({ "type": "ephemeral" })), asks(json!({ "type": "ephemeral", "ttl": "1h" }))]),
            (2.0, 60)
        );
        assert_eq!(
            of(&[asks(json!({ "type": "ephemeral", "ttl": "1h" })), asks(json!({ "type": "ephemeral" }))]),
            (1.25, 5)
        );
        let stated = StatedPrices { cache_ttl_ms: Some(HOUR_MS), ..StatedPrices::default() };
        assert_eq!(rounded(tariff("claude-opus-4-6", Some(stated), &[])).1, 2.0);
        assert_eq!(rounded(tariff("gpt-6.2-sol", Some(stated), &[])).1, 1.25);
    }

    #[test]
    fn bad_prices_are_named() {
        let good = StatedPrices::relative(0.1, 1.25, 300_000);
        assert_eq!(good.check().unwrap(), good);
        for (bad, message) in [
            (StatedPrices { input: Some(0.0), ..good }, "prices.input is 0; it must be a number above 0"),
            (
                StatedPrices { cache_read: Some(f64::NAN), ..good },
                "prices.cacheRead is NaN; it must be a number of at least 0",
            ),
            (
                StatedPrices { input: None, ..good },
                "prices.input is missing; it must be a number above 0 beside prices.cacheRead",
            ),
        ] {
            assert_eq!(bad.check().unwrap_err().to_string(), message);
        }
    }
}
