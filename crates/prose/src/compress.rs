//! Prose -> shorter prose, and the receipt.

use super::expand::Substitution;
use super::lexicon::{Category, Intensity, Selection, lexicon};
use super::shorten::shorten;
use crate::count;

named! {
    /// What is to become less.
    pub Objective {
        /// Real tokens: only entries of the lexicon that save some, and never more than the input has.
        Tokens = "tokens",
        /// Characters: every entry, for budgets that count those.
        Chars = "chars",
    }
}

/// What shortening a text came to. Never part of the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Receipt {
    /// o200k tokens of the input.
    pub tokens_before: usize,
    /// o200k tokens of the output.
    pub tokens_after: usize,
    /// The difference; negative when saving characters cost tokens.
    pub saved_tokens: i64,
    /// The difference as a part of the input, 0 to 1.
    pub saved_ratio: f64,
    /// How much was to go.
    pub compression_intensity: Intensity,
    /// The abbreviations that were put in, sorted, each with how often: just what
    /// [`expand_listed`](super::expand_listed) undoes.
    pub substitutions: Vec<Substitution>,
}

const CATEGORIES: &[Category] = &[
    Category::Article,
    Category::Filler,
    Category::Hedge,
    Category::Pleasantry,
    Category::Phrase,
    Category::Abbreviation,
];

/// Shortens prose; technical tokens come out byte for byte. The same input gives the same output, and shortening it
/// again changes nothing.
pub fn compress_prose(text: &str, intensity: Intensity, objective: Objective) -> (String, Receipt) {
    let only_saving = objective == Objective::Tokens;
    let shortened = shorten(text, &selection(intensity, objective));
    let before = count(text);
    let mut receipt = Receipt {
        tokens_before: before,
        tokens_after: before,
        saved_tokens: 0,
        saved_ratio: 0.0,
        compression_intensity: intensity,
        substitutions: Vec::new(),
    };
    if shortened.changes.is_empty() {
        return (text.to_owned(), receipt);
    }
    let shorter = shortened.apply(text);
    let after = count(&shorter);
    if only_saving && after >= before {
        return (text.to_owned(), receipt);
    }
    receipt.tokens_after = after;
    receipt.saved_tokens = before as i64 - after as i64;
    receipt.saved_ratio = receipt.saved_tokens as f64 / before.max(1) as f64;
    receipt.substitutions = substitutions(&shortened.used);
    (shorter, receipt)
}

/// [`compress_prose`] without the receipt, and without the counting that it takes.
pub fn shortened(text: &str, intensity: Intensity, objective: Objective) -> String {
    shorten(text, &selection(intensity, objective)).apply(text)
}

fn selection(intensity: Intensity, objective: Objective) -> Selection {
    let only_saving = objective == Objective::Tokens;
    Selection { intensity, categories: CATEGORIES, only_saving, ..Selection::ALL }
}

fn substitutions(used: &[u16]) -> Vec<Substitution> {
    let mut used: Vec<u16> = used.to_vec();
    used.sort_unstable();
    let mut found: Vec<Substitution> = used
        .chunk_by(|a, b| a == b)
        .map(|same| (&lexicon().entries[same[0] as usize], same.len()))
        .filter(|(entry, _)| entry.category == Category::Abbreviation)
        .map(|(entry, count)| Substitution { long: entry.long.to_owned(), short: entry.written.to_owned(), count })
        .collect();
    found.sort_by(|a, b| (&a.long, &a.short).cmp(&(&b.long, &b.short)));
    found
}
