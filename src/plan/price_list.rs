//! The published prices of models: `price_list.tsv`, which `npm run generate` writes.

use std::sync::LazyLock;

use super::model_name::{ModelName, is_number};
use super::prices::PriceStep;

/// The parts of a name that two models of one line must have in common, such as `claude-opus`.
const LINE_PARTS: usize = 2;

/// Prices in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ListPrices {
    /// Fresh input.
    pub input: f64,
    /// Answers.
    pub output: f64,
    /// Input that is read from the cache.
    pub read: f64,
    /// Input that is written to the cache.
    pub write: f64,
}

/// The prices of one model.
#[derive(Debug, PartialEq)]
pub struct ListedModel {
    name: ModelName,
    /// The prices of a request.
    pub prices: ListPrices,
    /// The step above which a request costs more.
    pub step: Option<PriceStep>,
}

/// The entry of the list that applies to a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Listing {
    /// The entry.
    pub entry: &'static ListedModel,
    /// True if it is that of the model itself. Another model of its line has the same ratios, but not the same prices.
    pub is_own: bool,
}

static LIST: LazyLock<Vec<ListedModel>> = LazyLock::new(|| {
    let rows = include_str!("price_list.tsv").lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| read(row).expect("the generated list is well-formed, as a test checks")).collect()
});

fn read(row: &str) -> Option<ListedModel> {
    let (name, numbers) = row.split_once('\t')?;
    let numbers: Vec<f64> = numbers.split('\t').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    let prices = |of: &[f64]| match *of {
        [input, output, read, write] => Some(ListPrices { input, output, read, write }),
        _ => None,
    };
    let (below, step) = numbers.split_at_checked(4)?;
    let below = prices(below)?;
    let ratios = |above: &f64, of: ListPrices| PriceStep {
        above: *above as u64,
        input: of.input / below.input,
        output: of.output / below.output,
    };
    let step = match step {
        [] => None,
        [above, of @ ..] => Some(ratios(above, prices(of)?)),
    };
    Some(ListedModel { name: ModelName::of(Some(name)), prices: below, step })
}

/// Finds the entry of a model: its own; or that of the model that its name extends, such as `gpt-5` for `gpt-5-codex`;
/// or that of the newest model with the longest common beginning, such as `claude-opus-5-5` for `claude-opus-6`.
pub fn find(model: &ModelName) -> Option<Listing> {
    let parts = model.parts();
    let ends = |start: usize| LIST.iter().map(move |entry| (start, entry));
    let shared = |(start, entry): &(usize, &ListedModel)| {
        parts[*start..].iter().zip(entry.name.parts()).take_while(|(one, other)| one == other).count()
    };
    // A reseller's prefix may stand before the name.
    let candidates = || (0..parts.len()).flat_map(ends);
    let is_extended = |(start, entry): &(usize, &ListedModel)| {
        let own = entry.name.parts().len();
        shared(&(*start, entry)) == own && parts.get(start + own).is_none_or(|next| !is_number(next))
    };
    let extended = candidates().filter(is_extended).max_by_key(|(_, entry)| entry.name.parts().len());
    let of_line = || candidates().filter(|one| shared(one) >= LINE_PARTS).max_by_key(shared);
    let (start, entry) = extended.or_else(of_line)?;
    Some(Listing { entry, is_own: parts[start..] == *entry.name.parts() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_and_its_prices_are_in_order() {
        for ListedModel { name, prices, step } in LIST.iter() {
            let ListPrices { input, output, read, write } = *prices;
            assert!(read > 0.0 && read < input && input <= output * 2.0, "{name:?}");
            assert!(read < write && write < input * 2.0, "{name:?}");
            assert!(step.is_none_or(|step| step.input > 1.0 && step.output >= 1.0), "{name:?}");
            assert_eq!(find(name).map(|found| found.is_own), Some(true), "{name:?}");
        }
    }

    #[test]
    fn a_model_has_its_own_price_or_that_of_its_line() {
        let found = |model: &str| {
            let found = find(&ModelName::of(Some(model)))?;
            Some((found.entry.name.parts().join("-"), found.is_own))
        };
        for (model, entry, is_own) in [
            ("anthropic/claude-opus-5-5-20260901", "claude-opus-5-5", true),
            ("claude-sonnet-5.5", "claude-sonnet-5-5", true),
            ("us.anthropic.claude-opus-4-6-20260210-v1:0", "claude-opus-4-6", true),
            ("gpt-4o-2024-08-06", "gpt-4o", true),
            ("gpt-5-codex", "gpt-5", false),
            ("gpt-5.1-codex", "gpt-5-1", false),
            ("claude-opus-4-1", "claude-opus-4-8", false),
            ("claude-opus-6", "claude-opus-5-5", false),
            ("gpt-6.3-sol", "gpt-6-2-sol", false),
            ("gemini-4-xenon", "gemini-4-neon", false),
        ] {
            assert_eq!(found(model), Some((entry.to_owned(), is_own)), "{model}");
        }
        for model in ["mock-1", "claude", "gpt-9", ""] {
            assert_eq!(found(model), None, "{model}");
        }
    }
}
