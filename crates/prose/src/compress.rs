//! Prose -> shorter prose, and the receipt.

use crate::dictionary::{Dictionary, Substitution, expand_listed};
use crate::draft::{Change, Proposal, applied, by_line};
use crate::lexicon::{Category, Intensity, Selection};
use crate::shorten::{for_each_english_paragraph, shorten};
use crate::{atoms, count};

named! {
    /// The unit that shortening reduces.
    pub Objective {
        /// Real tokens. The result never has more of them than the input.
        Tokens = "tokens",
        /// Characters. Abbreviations are used too, although they save no tokens.
        Chars = "chars",
    }
}

/// The report of shortening a text. It is never part of the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Receipt {
    /// o200k tokens of the input.
    pub tokens_before: usize,
    /// o200k tokens of the output.
    pub tokens_after: usize,
    /// The difference. Negative if saving characters costs tokens.
    pub saved_tokens: i64,
    /// The difference as a share of the input, 0 to 1.
    pub saved_ratio: f64,
    /// The requested amount of shortening.
    pub compression_intensity: Intensity,
    /// The abbreviations that were put in, sorted. [`expand_listed`] undoes exactly these.
    pub substitutions: Vec<Substitution>,
}

/// The most rounds of abbreviating. The second one nearly always finds nothing.
const ROUNDS_MAX: usize = 4;

const CATEGORIES: &[Category] =
    &[Category::Article, Category::Filler, Category::Hedge, Category::Pleasantry, Category::Phrase];

/// Shortens prose. Technical tokens stay byte for byte, the same input gives the same output, and shortening the output
/// again changes nothing.
pub fn compress_prose(text: &str, intensity: Intensity, objective: Objective) -> (String, Receipt) {
    let before = count(text);
    let (mut shorter, mut substitutions) = reduced(text, intensity, objective);
    let mut after = if shorter == text { before } else { count(&shorter) };
    if objective == Objective::Tokens && after >= before {
        (shorter, substitutions, after) = (text.to_owned(), Vec::new(), before);
    }
    let saved_tokens = before as i64 - after as i64;
    let receipt = Receipt {
        tokens_before: before,
        tokens_after: after,
        saved_tokens,
        saved_ratio: saved_tokens as f64 / before.max(1) as f64,
        compression_intensity: intensity,
        substitutions,
    };
    (shorter, receipt)
}

/// Returns the text of [`compress_prose`] without counting tokens, so it may have more of them.
pub fn shortened(text: &str, intensity: Intensity, objective: Objective) -> String {
    reduced(text, intensity, objective).0
}

fn reduced(text: &str, intensity: Intensity, objective: Objective) -> (String, Vec<Substitution>) {
    let selection = Selection { intensity, categories: CATEGORIES, ..Selection::ALL };
    let mut shorter = shorten(text, &selection);
    let mut substitutions: Vec<Substitution> = Vec::new();
    if objective == Objective::Tokens {
        return (shorter, substitutions);
    }
    for _ in 0..ROUNDS_MAX {
        let changes = abbreviations(&shorter, Dictionary::of_prose(intensity)).concat();
        if changes.is_empty() {
            substitutions.sort();
            return (shorter, substitutions);
        }
        for change in &changes {
            let [long, short] = [&shorter[change.range.clone()], &change.text].map(str::to_ascii_lowercase);
            match substitutions.iter_mut().find(|one| one.long == long && one.short == short) {
                Some(one) => one.count += 1,
                None => substitutions.push(Substitution { long, short, count: 1 }),
            }
        }
        shorter = shorten(&applied(&shorter, 0..shorter.len(), &changes), &selection);
    }
    (text.to_owned(), Vec::new())
}

/// Returns the abbreviations of a text by line, without the lines from which the long forms could not be restored.
fn abbreviations(text: &str, dictionary: &Dictionary) -> Vec<Proposal> {
    let dictionary = dictionary.without_used(text);
    let mut changes: Vec<Change> = Vec::new();
    for_each_english_paragraph(text, &atoms(text), |atoms, _| {
        changes.extend(dictionary.abbreviations(text, atoms, |_| true))
    });
    let mut lines = by_line(text, changes);
    let short = applied(text, 0..text.len(), &lines.concat());
    let listed = |change: &Change| Substitution {
        long: text[change.range.clone()].to_ascii_lowercase(),
        short: change.text.to_ascii_lowercase(),
        count: 1,
    };
    let mut listed: Vec<Substitution> = lines.iter().flatten().map(listed).collect();
    listed.sort();
    listed.dedup();
    let long = expand_listed(&short, &listed);
    let (mut at, mut restored) = (0, text.split_inclusive('\n').zip(long.split_inclusive('\n')));
    lines.retain(|line| {
        let same = restored.by_ref().find_map(|(old, new)| {
            at += old.len();
            (at >= line[0].range.end).then_some(old == new)
        });
        same == Some(true)
    });
    lines
}
