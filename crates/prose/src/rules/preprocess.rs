//! A rule file -> the same rules in fewer characters and never more tokens.
//!
//! Each transform proposes edits, and each proposal is measured on its own lines. One that costs tokens is made only
//! where the text would not fit, and paid with tokens that the others saved.

use super::dictionary::Dictionary;
use super::draft::{Draft, Proposal};
use super::{Objective, markdown, table, words};
use crate::count;
use concertina_base::tokens::utf16::len as chars;

named! {
    /// How much of a rule file's wording goes; each level includes the ones before it. Written as a number or as a word.
    pub RulesLevel {
        /// Nothing.
        Off = "off",
        /// Markdown formatting.
        Light = "light",
        /// Also filler words and abbreviations.
        Standard = "standard",
        /// Also vowels inside long words.
        Aggressive = "aggressive",
    }
}

/// One way to make a rule file shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transform {
    /// `## Title` -> `[Title]`
    Headings,
    /// Tables -> `Header: cell` for each row.
    Tables,
    /// Tables without padding.
    Padding,
    /// Mermaid fences -> `[diagram removed]`
    Diagrams,
    /// Bold and italic off.
    Emphasis,
    /// Horizontal rules out.
    HorizontalRules,
    /// Blanks at line ends and repeated blank lines out.
    Blanks,
    /// Filler words out.
    Fillers,
    /// Short forms of long words.
    Abbreviations,
    /// Long words without their inner vowels.
    Vowels,
}

impl Transform {
    /// All, in the order in which they run.
    pub const ALL: [Self; 10] = [
        Self::Diagrams,
        Self::Tables,
        Self::Padding,
        Self::HorizontalRules,
        Self::Headings,
        Self::Emphasis,
        Self::Blanks,
        Self::Fillers,
        Self::Abbreviations,
        Self::Vowels,
    ];

    /// The lowest level that uses it.
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
            Self::Padding => table::padding(text),
            Self::HorizontalRules => markdown::horizontal_rules(text),
            Self::Headings => markdown::headings(text),
            Self::Emphasis => markdown::emphasis(text),
            Self::Blanks => markdown::blanks(text),
            Self::Fillers => words::fillers(text, !admits(0)),
            Self::Abbreviations => words::abbreviations(text, dictionary, admits),
            Self::Vowels => words::vowels(text, admits),
        }
    }
}

/// A text with one transform applied wherever it can be, whatever it costs: for measuring what it is worth.
pub fn apply_alone(text: &str, transform: Transform) -> String {
    let mut draft = Draft::new(text);
    draft.revise(transform.proposals(text, &Dictionary::default(), &|_| true), |_, _| true);
    draft.text
}

/// How a rule file is shortened.
#[derive(Debug, Clone)]
pub struct RulesOptions {
    /// Which transforms apply.
    pub level: RulesLevel,
    /// What is to become less.
    pub objective: Objective,
    /// Most characters, in UTF-16 units; a longer text is shortened further where tokens allow, and may stay longer.
    pub max_chars: Option<usize>,
    /// The short forms.
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

/// Rounds after which a text is taken as it is; two are enough for nearly every text, as the first round leaves nothing
/// to do.
const ROUNDS: usize = 4;

/// Shortens one text. Protected spans come out byte for byte, and the result never has more o200k tokens than the text.
pub fn preprocess(text: &str, options: &RulesOptions) -> String {
    let before = count(text);
    for level in RulesLevel::ALL.into_iter().rev().filter(|&level| level <= options.level && level > RulesLevel::Off) {
        let short = shortened(text, level, options);
        if count(&short) <= before {
            return short;
        }
    }
    text.to_owned()
}

fn shortened(text: &str, level: RulesLevel, options: &RulesOptions) -> String {
    let mut draft = Draft::new(text);
    let transforms = || Transform::ALL.into_iter().filter(move |transform| transform.level() <= level);
    let saves = |tokens: i64| match options.objective {
        Objective::Tokens => tokens < 0,
        Objective::Chars => tokens <= 0,
    };
    for _ in 0..ROUNDS {
        let mut is_changed = false;
        // Of the text as it is now: shortened again it would be asked the same.
        let dictionary = options.dictionary.without_used(&draft.text);
        for transform in transforms() {
            let proposals = transform.proposals(&draft.text, &dictionary, &saves);
            is_changed |=
                draft.revise(proposals, |before, after| saves(cost(before, after)) && chars(after) <= chars(before));
        }
        if !is_changed {
            break;
        }
    }
    if options.objective == Objective::Chars
        && let Some(max) = options.max_chars
    {
        squeeze(&mut draft, count(text), max, transforms(), &options.dictionary.without_used(text));
    }
    draft.text
}

/// Spends saved tokens on characters until the text fits.
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
        // Lines are counted one by one; the whole has the last word.
        if count(&draft.text) > before {
            *draft = fitting;
            excess = chars(&draft.text).saturating_sub(max);
        }
    }
}

fn cost(before: &str, after: &str) -> i64 {
    count(after) as i64 - count(before) as i64
}
