//! Prose -> shorter prose, and the receipt.

use super::expand::Substitution;
use super::lexicon::{Category, Intensity, lexicon};
use super::shorten::{Selection, shorten};
use concertina_base::tokens::{self, Encoding};

/// What is to become less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Objective {
    /// Real tokens: only entries of the lexicon that save some, and never more than the input has.
    Tokens,
    /// Characters: every entry, for budgets that count those.
    Chars,
}

impl Objective {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Tokens, Self::Chars];

    /// The name as JavaScript sees it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Chars => "chars",
        }
    }

    /// Reads the name back.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|objective| objective.as_str() == word)
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
    let count = |text: &str| tokens::count(text, Encoding::O200kBase);
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

/// [`compress_prose`] without the receipt, and without the counting that it takes: an entry is believed to save what
/// its line of the table of worth says.
pub fn shortened(text: &str, intensity: Intensity, objective: Objective) -> String {
    shorten(text, &selection(intensity, objective)).apply(text)
}

fn selection(intensity: Intensity, objective: Objective) -> Selection {
    let only_saving = objective == Objective::Tokens;
    Selection { intensity, categories: CATEGORIES, only_saving, profile: None, spares_failures: false }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expand_listed;

    fn full(text: &str) -> String {
        compress_prose(text, Intensity::Full, Objective::Tokens).0
    }

    #[test]
    fn what_a_word_decides_stays() {
        for text in [
            "I am not really sure.",
            "a few files, a little time and a lot of it",
            "Is it just slow?",
            "rather than that",
            "It takes variable a and plan a to b.",
            "twice a day",
            "Thanks to him it runs",
            "an error `the a` occurred in \"the name\"",
            "Please",
        ] {
            assert!(full(text).len() + 4 >= text.len(), "{text} -> {}", full(text));
        }
        assert_eq!(full("I am not really sure."), "I am not really sure.");
        assert_eq!(full("It takes variable a and plan a to b."), "It takes variable a and plan a to b.");
    }

    #[test]
    fn how_sure_and_how_much_something_is_stays() {
        for text in [
            "Skip it if and only if that is just documentation.",
            "It is basically done and pretty much stable, for all intents and purposes.",
            "They literally copy it, whether or not that works.",
            "We should probably use it with a very low limit.",
            "Pass a number of bytes to it.",
            "The majority of them are old.",
            "Where it fails, no problem, and where it runs, sure.",
        ] {
            let kept = full(text);
            let words = |text: &str| text.to_lowercase().replace(" a ", " ").replace("the ", "");
            assert_eq!(words(&kept), words(text));
        }
    }

    #[test]
    fn of_two_hedges_one_stays_at_every_level() {
        for first in ["may", "might", "could"] {
            for second in ["possibly", "potentially", "perhaps"] {
                for rest in ["be slow when it starts", "fail when it starts", "delete it when it starts"] {
                    let text = format!("The job {first} {second} {rest}.");
                    for (intensity, objective) in
                        Intensity::ALL.into_iter().flat_map(|level| Objective::ALL.map(|objective| (level, objective)))
                    {
                        let (shorter, receipt) = compress_prose(&text, intensity, objective);
                        let read = expand_listed(&shorter, &receipt.substitutions);
                        let both = format!("job {first} {second} {rest}.");
                        let one = format!("job might {rest}.");
                        assert!(read.ends_with(&both) || read.ends_with(&one), "{text} -> {shorter}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_receipt_adds_up_and_is_not_in_the_text() {
        let text = "In order to read the configuration, we really need the database.";
        let (shorter, receipt) = compress_prose(text, Intensity::Full, Objective::Chars);
        assert_eq!(shorter, "To read config, we need db.");
        assert_eq!(receipt.saved_tokens, receipt.tokens_before as i64 - receipt.tokens_after as i64);
        assert!(receipt.saved_ratio > 0.3 && receipt.saved_ratio < 0.7);
        let pairs: Vec<(&str, &str)> =
            receipt.substitutions.iter().map(|one| (one.long.as_str(), one.short.as_str())).collect();
        assert_eq!(pairs, [("configuration", "config"), ("database", "db")]);
    }
}
