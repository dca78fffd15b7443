//! A rule file -> the same rules in fewer characters and never more tokens.
//!
//! Each transform proposes changes, and each proposal is measured on its own lines. A proposal that costs tokens is
//! made only if the text would not fit, and only for tokens that others saved.

use super::protected::protected_spans;
use super::{Objective, markdown, table, words};
use crate::count;
use crate::dictionary::Dictionary;
use crate::draft::{Draft, Proposal};
use concertina_base::tokens::utf16::len as chars;

named! {
    /// The amount of shortening of a rule file. Each level includes the ones before it. It is written as a number or as
    /// a word.
    pub RulesLevel {
        /// Changes nothing.
        Off = "off",
        /// Removes Markdown formatting.
        Light = "light",
        /// Also removes filler words, and abbreviates.
        Standard = "standard",
        /// Also removes vowels inside long words.
        Aggressive = "aggressive",
    }
}

/// One way to make a rule file shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transform {
    /// `## Title` -> `[Title]`
    Headings,
    /// Tables become `Header: cell` for each row.
    Tables,
    /// Mermaid fences -> `[diagram removed]`
    Diagrams,
    /// Removes bold and italic.
    Emphasis,
    /// Removes horizontal rules.
    HorizontalRules,
    /// Removes filler words.
    Fillers,
    /// Replaces long words by short forms.
    Abbreviations,
    /// Removes the inner vowels of long words.
    Vowels,
}

impl Transform {
    /// All transforms, in the order in which they run.
    pub const ALL: [Self; 8] = [
        Self::Diagrams,
        Self::Tables,
        Self::HorizontalRules,
        Self::Headings,
        Self::Emphasis,
        Self::Fillers,
        Self::Abbreviations,
        Self::Vowels,
    ];

    /// Returns the lowest level that uses the transform.
    pub fn level(self) -> RulesLevel {
        match self {
            Self::Fillers | Self::Abbreviations => RulesLevel::Standard,
            Self::Vowels => RulesLevel::Aggressive,
            _ => RulesLevel::Light,
        }
    }

    fn proposals(self, text: &str, dictionary: &Dictionary, admits: words::Admits) -> Vec<Proposal> {
        match self {
            Self::Diagrams => markdown::diagrams(text),
            Self::Tables => table::tables(text),
            Self::HorizontalRules => markdown::horizontal_rules(text),
            Self::Headings => markdown::headings(text),
            Self::Emphasis => markdown::emphasis(text),
            Self::Fillers => words::fillers(text),
            Self::Abbreviations => words::abbreviations(text, dictionary, admits),
            Self::Vowels => words::vowels(text, admits),
        }
    }
}

/// Applies one transform wherever possible, whatever it costs. This is for measuring what the transform saves.
pub fn apply_alone(text: &str, transform: Transform) -> String {
    let mut draft = draft(text);
    draft.revise(transform.proposals(text, &Dictionary::default(), &|_| true), |_, _| true);
    draft.text
}

/// The options for shortening a rule file.
#[derive(Debug, Clone)]
pub struct RulesOptions {
    /// The highest level of the transforms.
    pub level: RulesLevel,
    /// The unit to reduce.
    pub objective: Objective,
    /// The maximum length in UTF-16 units. A longer text is shortened further as far as tokens allow, and may stay
    /// longer.
    pub max_chars: Option<usize>,
    /// The abbreviations.
    pub dictionary: Dictionary,
}

impl Default for RulesOptions {
    fn default() -> Self {
        Self {
            level: RulesLevel::Standard,
            objective: Objective::Chars,
            max_chars: None,
            dictionary: Dictionary::default(),
        }
    }
}

/// The maximum number of rounds. Real texts need two to four.
const ROUNDS_MAX: usize = 12;

fn draft(text: &str) -> Draft {
    Draft::new(text, protected_spans(text).into_iter().map(|span| span.range))
}

/// Shortens one text. Protected spans stay byte for byte, and the result never has more o200k tokens than the text.
pub fn preprocess(text: &str, options: &RulesOptions) -> String {
    let before = count(text);
    for level in RulesLevel::ALL.into_iter().rev().filter(|&level| level <= options.level && level > RulesLevel::Off) {
        if let Some(short) = shortened(text, level, options).filter(|short| count(short) <= before) {
            return short;
        }
    }
    text.to_owned()
}

/// Returns the shorter text, or `None` if its rounds do not come to an end.
fn shortened(text: &str, level: RulesLevel, options: &RulesOptions) -> Option<String> {
    let mut draft = draft(text);
    let transforms = || Transform::ALL.into_iter().filter(move |transform| transform.level() <= level);
    let saves = |tokens: i64| match options.objective {
        Objective::Tokens => tokens < 0,
        Objective::Chars => tokens <= 0,
    };
    let mut rounds = 0..ROUNDS_MAX;
    loop {
        rounds.next()?;
        // The dictionary depends on the current text, so that shortening the result again uses the same one.
        let dictionary = options.dictionary.without_used(&draft.text);
        let mut changes = 0;
        for transform in transforms() {
            let proposals = transform.proposals(&draft.text, &dictionary, &saves);
            changes +=
                draft.revise(proposals, |before, after| saves(cost(before, after)) && chars(after) <= chars(before));
        }
        if changes == 0 {
            break;
        }
    }
    if options.objective == Objective::Chars
        && let Some(max) = options.max_chars
    {
        squeeze(&mut draft, count(text), max, transforms(), &options.dictionary.without_used(text));
    }
    Some(draft.text)
}

/// Uses saved tokens to save characters until the text fits.
fn squeeze(
    draft: &mut Draft,
    before: usize,
    max: usize,
    transforms: impl Iterator<Item = Transform>,
    dictionary: &Dictionary,
) {
    let mut excess = chars(&draft.text).saturating_sub(max);
    for transform in transforms {
        if excess == 0 {
            return;
        }
        let spare = before as i64 - count(&draft.text) as i64;
        let mut left = spare;
        let fitting = draft.clone();
        let proposals = transform.proposals(&draft.text, dictionary, &|_| true);
        draft.revise(proposals, |old, new| {
            let (cost, gain) = (cost(old, new), chars(old).saturating_sub(chars(new)));
            let is_made = excess > 0 && gain > 0 && cost <= left;
            if is_made {
                left -= cost;
                excess = excess.saturating_sub(gain);
            }
            is_made
        });
        // The tokens of a text can exceed the sum over its lines.
        if count(&draft.text) > before {
            *draft = fitting;
            excess = chars(&draft.text).saturating_sub(max);
        }
    }
}

fn cost(before: &str, after: &str) -> i64 {
    count(after) as i64 - count(before) as i64
}
