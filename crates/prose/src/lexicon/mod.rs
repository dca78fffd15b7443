//! The word lists of [`shorten`](crate::shorten), read from data files.
//!
//! An entry is a line `level | phrase | short form | guards`. Guards are separated by ` | `. `not before`, `not after`,
//! `only before` and `only after` list words. `at: start` requires the start of a sentence, and `at: edge` a stop or a
//! comma next to the phrase. `alone` requires both sides to be edges, and `whole` that the phrase is a sentence.
//! `domain` lists profiles. Every entry saves tokens, which a test counts.

mod table;

use std::collections::HashSet;
use std::sync::LazyLock;

pub(crate) use table::{Class, Classes, key};

named! {
    /// The amount of shortening.
    pub Intensity {
        /// Removes pleasantries and the plainest fillers.
        Lite = "lite",
        /// Also removes articles, fillers and hedges.
        Full = "full",
        /// Applies everything that is listed.
        Ultra = "ultra",
    }
}

named! {
    /// The kind of an entry. It decides which guards apply besides the entry's own.
    #[expect(missing_docs, reason = "the variants are their own names")]
    pub Category {
        Article = "articles",
        Filler = "fillers",
        Hedge = "hedges",
        Pleasantry = "pleasantries",
        Phrase = "phrases",
        RuleFiller = "rule_fillers",
    }
}

const FILES: [(Category, &str); 6] = [
    (Category::Article, include_str!("articles.txt")),
    (Category::Filler, include_str!("fillers.txt")),
    (Category::Hedge, include_str!("hedges.txt")),
    (Category::Pleasantry, include_str!("pleasantries.txt")),
    (Category::Phrase, include_str!("phrases.txt")),
    (Category::RuleFiller, include_str!("rule_fillers.txt")),
];

named! {
    /// The kind of text that phrases are chosen for.
    pub Profile {
        /// Manuals, tickets, commit messages.
        Technical = "technical",
        /// Papers and reports.
        Academic = "academic",
        /// Conversations.
        Conversational = "conversational",
    }
}

/// Selects the entries of the lexicon that apply.
#[derive(Debug, Clone)]
pub struct Selection {
    /// The highest level of the entries.
    pub intensity: Intensity,
    /// Their categories.
    pub categories: &'static [Category],
    /// The kind of text that they must be valid for; `None` for all entries.
    pub profile: Option<Profile>,
    /// If true, sentences that report a failure are left unchanged.
    pub spares_failures: bool,
}

impl Selection {
    /// Every entry.
    pub(crate) const ALL: Self =
        Self { intensity: Intensity::Ultra, categories: &Category::ALL, profile: None, spares_failures: false };

    pub(crate) fn includes(&self, entry: &Entry) -> bool {
        entry.level <= self.intensity
            && self.categories.contains(&entry.category)
            && self.profile.is_none_or(|profile| entry.profiles.is_empty() || entry.profiles.contains(&profile))
    }
}

/// The place that a phrase must have in its sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Anywhere,
    Start,
    Edge,
    Alone,
    Whole,
}

/// The number of a word that is in a list; 0 for all other words.
pub(crate) type WordId = u16;

/// The words next to which an entry applies. Empty lists allow every word.
#[derive(Debug, Default)]
pub(crate) struct Neighbours {
    not: Vec<WordId>,
    only: Vec<WordId>,
}

impl Neighbours {
    /// Returns true if an entry may stand next to a word.
    pub(crate) fn admit(&self, word: WordId) -> bool {
        !self.not.contains(&word) && (self.only.is_empty() || self.only.contains(&word))
    }
}

/// One line of the lexicon.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) category: Category,
    pub(crate) level: Intensity,
    pub(crate) phrase: Vec<WordId>,
    /// The short form in lower case; empty if the phrase is only removed.
    pub(crate) short: &'static str,
    pub(crate) before: Neighbours,
    pub(crate) after: Neighbours,
    pub(crate) place: Place,
    /// The kinds of text that it is valid for; empty for all.
    profiles: Vec<Profile>,
}

/// All entries, and the properties of words.
pub(crate) struct Lexicon {
    /// The entries by their first word, the longest first, then by the highest level. The first group is empty.
    groups: Vec<Vec<Entry>>,
    words: table::Table,
}

/// The properties of a word.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Word {
    pub(crate) id: WordId,
    pub(crate) classes: Classes,
    /// The group of the entries that begin with it; 0 for none.
    group: u16,
}

impl Word {
    /// Returns true if an entry begins with it.
    pub(crate) fn begins_entries(self) -> bool {
        self.group != 0
    }
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::read);

/// Returns the lexicon.
pub(crate) fn lexicon() -> &'static Lexicon {
    &LEXICON
}

impl Lexicon {
    /// Returns the properties of a word.
    #[inline]
    pub(crate) fn word(&self, word: table::Key) -> Word {
        self.words.get(word)
    }

    /// Returns the classes of a word as it is written.
    pub(crate) fn classes(&self, word: &str) -> Classes {
        self.word(key(word.as_bytes())).classes
    }

    /// Returns the entries that begin with a word, or with it and the next one; the longest first.
    pub(crate) fn beginning_with(&self, word: Word, next: WordId) -> impl Iterator<Item = &Entry> {
        let group = self.groups[word.group as usize].iter();
        group.filter(move |entry| entry.phrase.get(1).is_none_or(|second| *second == next))
    }

    fn read() -> Self {
        let mut words = table::Table::new(table::classes());
        let mut groups: Vec<Vec<Entry>> = vec![Vec::new()];
        let lines = FILES.into_iter().flat_map(|(category, text)| data_lines(text).map(move |line| (category, line)));
        for (category, line) in lines {
            let (first, entry) = read_entry(category, line, &mut words);
            let word = words.entry(first);
            if word.group == 0 {
                word.group = u16::try_from(groups.len()).expect("a few hundred entries");
                groups.push(Vec::new());
            }
            groups[word.group as usize].push(entry);
        }
        for group in &mut groups {
            group.sort_by_key(|entry| std::cmp::Reverse((entry.phrase.len(), entry.level)));
        }
        // A short form counts as its long form, so that a shortened text is read like the text before.
        for (long, short) in crate::dictionary::prose_pairs() {
            words.alias(key(short.as_bytes()), key(long.as_bytes()));
        }
        Self { groups, words }
    }
}

/// Returns true if some words must be heeded: `must not`, `only`.
pub fn is_emphatic(words: &str) -> bool {
    let mut words = words.split(|c: char| !c.is_alphabetic() && !matches!(c, '\'' | '’'));
    words.any(|word| lexicon().classes(word).has_any(&[Class::Assertion, Class::Negation, Class::Modal]))
}

/// Returns the words of a data file.
pub(crate) fn word_list(list: &'static str) -> HashSet<&'static str> {
    data_lines(list).flat_map(str::split_whitespace).collect()
}

/// Returns the lines of a data file without its comments, which begin with `#`.
pub(crate) fn data_lines(file: &str) -> impl Iterator<Item = &str> {
    file.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Returns the first word and the entry of a line.
fn read_entry(category: Category, line: &'static str, words: &mut table::Table) -> (table::Key, Entry) {
    let mut fields = line.split('|').map(str::trim);
    let level = fields.next().and_then(Intensity::parse).expect("a line of the lexicon begins with its level");
    let long = fields.next().expect("a line of the lexicon has a phrase");
    let mut ids = |list: &str| list.split(' ').map(|word| words.entry(key(word.as_bytes())).id).collect();
    let mut entry = Entry {
        category,
        level,
        phrase: ids(long),
        short: fields.next().unwrap_or_default(),
        before: Neighbours::default(),
        after: Neighbours::default(),
        place: Place::Anywhere,
        profiles: Vec::new(),
    };
    for guard in fields {
        match guard.split_once(": ").unwrap_or((guard, "")) {
            // `not before: than` holds a phrase back whose next word is `than`.
            ("not before", words) => entry.before.not = ids(words),
            ("only before", words) => entry.before.only = ids(words),
            ("not after", words) => entry.after.not = ids(words),
            ("only after", words) => entry.after.only = ids(words),
            ("at", "start") => entry.place = Place::Start,
            ("at", "edge") => entry.place = Place::Edge,
            ("alone", _) => entry.place = Place::Alone,
            ("whole", _) => entry.place = Place::Whole,
            ("domain", profiles) => entry.profiles = profiles.split(' ').filter_map(Profile::parse).collect(),
            _ => unreachable!("{guard} is a guard of the lexicon: {line}"),
        }
    }
    (key(long.split(' ').next().unwrap_or_default().as_bytes()), entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use concertina_base::tokens::{self, Encoding};

    #[test]
    fn all_entries_save_tokens() {
        for line in FILES.iter().flat_map(|(_, text)| data_lines(text)) {
            let mut fields = line.split('|').map(str::trim).skip(1);
            let (long, short) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
            let saved = [Encoding::O200kBase, Encoding::Cl100kBase].map(|encoding| {
                let count = |words: &str| tokens::count(&format!("so {words} it").replace("  ", " "), encoding) as i64;
                count(long) - count(short)
            });
            assert!(saved[0] > 0 && saved[1] >= 0, "{long}: {saved:?}");
        }
    }
}
