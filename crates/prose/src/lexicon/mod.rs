//! The word lists as data.
//!
//! An entry is a line `level | phrase | short form | guards`. Guards are joined by ` | `: `not before`, `not after`,
//! `only before` and `only after` with words; `at: start` of a sentence; `at: edge`, beside a stop or comma; `alone`,
//! between two of them; `whole`, as a sentence; `domain` with profiles; `on receipt`, expanded only where a receipt
//! names it; `lower case` only; `unit`, neither put in nor, without a receipt, written out behind a number.
//!
//! Abbreviations save characters and no tokens; all other entries save tokens. A test counts both.

mod short_forms;
mod table;

use std::collections::HashSet;
use std::sync::LazyLock;

pub(crate) use short_forms::{ShortForms, used_short_forms};
pub(crate) use table::{Class, Classes, key};

named! {
    /// How much goes.
    pub Intensity {
        /// Pleasantries and the plainest fillers.
        Lite = "lite",
        /// Articles, fillers and hedges too.
        Full = "full",
        /// Everything that is listed.
        Ultra = "ultra",
    }
}

named! {
    /// What an entry is; it decides which guards hold beside its own.
    #[expect(missing_docs, reason = "the variants are their own names")]
    pub Category {
        Article = "articles",
        Filler = "fillers",
        Hedge = "hedges",
        Pleasantry = "pleasantries",
        Phrase = "phrases",
        LowInformation = "low_information",
        RuleFiller = "rule_fillers",
        Abbreviation = "abbreviations",
    }
}

const FILES: [(Category, &str); 8] = [
    (Category::Article, include_str!("articles.txt")),
    (Category::Filler, include_str!("fillers.txt")),
    (Category::Hedge, include_str!("hedges.txt")),
    (Category::Pleasantry, include_str!("pleasantries.txt")),
    (Category::Phrase, include_str!("phrases.txt")),
    (Category::LowInformation, include_str!("low_information.txt")),
    (Category::RuleFiller, include_str!("rule_fillers.txt")),
    (Category::Abbreviation, include_str!("abbreviations.txt")),
];

named! {
    /// The kind of text that phrases are chosen for.
    pub Profile {
        /// Manuals, tickets, commit messages.
        Technical = "technical",
        /// Papers and reports.
        Academic = "academic",
        /// Talk.
        Conversational = "conversational",
    }
}

/// Which entries of the lexicon apply.
#[derive(Debug, Clone)]
pub struct Selection {
    /// Entries of this level and the levels below.
    pub intensity: Intensity,
    /// Of these categories.
    pub categories: &'static [Category],
    /// Only those that save real tokens.
    pub only_saving: bool,
    /// Only those for this kind of text.
    pub profile: Option<Profile>,
    /// Sentences that tell of a failure stay as they are.
    pub spares_failures: bool,
}

impl Selection {
    /// Every entry.
    pub(crate) const ALL: Self = Self {
        intensity: Intensity::Ultra,
        categories: &Category::ALL,
        only_saving: false,
        profile: None,
        spares_failures: false,
    };

    fn includes(&self, entry: &Entry) -> bool {
        entry.level <= self.intensity
            && (!self.only_saving || entry.category != Category::Abbreviation)
            && self.categories.contains(&entry.category)
            && self.profile.is_none_or(|profile| entry.profiles.is_empty() || entry.profiles.contains(&profile))
    }
}

/// Where in its sentence a phrase must stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Anywhere,
    Start,
    Edge,
    Alone,
    Whole,
}

/// What stays of a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Short {
    Nothing,
    /// These of its words, by position.
    Words(Vec<usize>),
    /// One word instead.
    Word(&'static str),
}

/// Whether a word is an article.
pub(crate) fn is_article(word: Word) -> bool {
    static ARTICLES: LazyLock<[WordId; 3]> =
        LazyLock::new(|| [&b"a"[..], b"an", b"the"].map(|article| lexicon().word(key(article)).id));
    ARTICLES.contains(&word.id)
}

/// The number of a word that some list holds; 0 for all others.
pub(crate) type WordId = u16;

/// Words by which an entry is let through or held back; empty lists say nothing.
#[derive(Debug, Default)]
pub(crate) struct Neighbours {
    pub(crate) not: Vec<WordId>,
    pub(crate) only: Vec<WordId>,
}

impl Neighbours {
    /// Whether an entry may stand beside a word.
    pub(crate) fn admit(&self, word: WordId) -> bool {
        !self.not.contains(&word) && (self.only.is_empty() || self.only.contains(&word))
    }
}

/// One line of the lexicon.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) category: Category,
    pub(crate) level: Intensity,
    pub(crate) long: &'static str,
    pub(crate) phrase: Vec<WordId>,
    pub(crate) written: &'static str,
    pub(crate) short: Short,
    pub(crate) before: Neighbours,
    pub(crate) after: Neighbours,
    pub(crate) place: Place,
    /// The kinds of text that it is for; empty for all.
    pub(crate) profiles: Vec<Profile>,
    /// Expanded only where a receipt names it.
    pub(crate) needs_receipt: bool,
    /// Neither abbreviated nor expanded with a capital: `Max` may be a man.
    pub(crate) is_lower_only: bool,
    /// Its short form may be a unit: `10 max`, `50 req`.
    pub(crate) is_unit: bool,
}

impl Entry {
    /// The key of the word that its phrase begins with.
    pub(crate) fn first_word(&self) -> table::Key {
        key(self.long.split(' ').next().unwrap_or_default().as_bytes())
    }
}

/// All entries, and by what they begin with.
pub(crate) struct Lexicon {
    pub(crate) entries: Vec<Entry>,
    /// For each first word the entries, longest first, then from the highest level.
    groups: Vec<Vec<Opening>>,
    words: table::Table,
}

/// An entry as it is looked for: by far most are passed over for the second word.
struct Opening {
    index: u16,
    /// The second word of its phrase; 0 for none.
    second: WordId,
}

/// What is known about a word.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Word {
    /// Which one it is.
    pub(crate) id: WordId,
    /// Its classes.
    pub(crate) classes: Classes,
    /// The entries that begin with it, as a group of the lexicon; 0 for none.
    group: u16,
    /// One more than the index of the abbreviation whose short form it is; 0 for none.
    expands: u16,
}

impl Word {
    /// Whether any entry begins with it.
    pub(crate) fn begins_entries(self) -> bool {
        self.group != 0
    }
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::read);

/// The lexicon.
pub(crate) fn lexicon() -> &'static Lexicon {
    &LEXICON
}

impl Lexicon {
    /// What is known about a word.
    #[inline]
    pub(crate) fn word(&self, word: table::Key) -> Word {
        self.words.get(word)
    }

    /// The entries of a selection that begin with a word, or with it and the next; longest first.
    pub(crate) fn beginning_with<'a>(
        &'a self,
        word: Word,
        next: WordId,
        selection: &'a Selection,
    ) -> impl Iterator<Item = (u16, &'a Entry)> {
        self.groups[word.group as usize]
            .iter()
            .filter(move |opening| opening.second == 0 || opening.second == next)
            .map(|opening| (opening.index, &self.entries[opening.index as usize]))
            .filter(|(_, entry)| selection.includes(entry))
    }

    /// The abbreviation whose short form a word is.
    pub(crate) fn expansion(&self, short: Word) -> Option<&Entry> {
        short.expands.checked_sub(1).map(|index| &self.entries[index as usize])
    }

    fn read() -> Self {
        let mut words = table::Table::new(table::classes());
        let lines = FILES.into_iter().flat_map(|(category, text)| data_lines(text).map(move |line| (category, line)));
        let entries: Vec<Entry> = lines.map(|(category, line)| read_entry(category, line, &mut words)).collect();
        let mut groups: Vec<Vec<Opening>> = vec![Vec::new()];
        for (index, entry) in entries.iter().enumerate() {
            let word = words.entry(entry.first_word());
            if word.group == 0 {
                word.group = u16::try_from(groups.len()).expect("a few hundred entries");
                groups.push(Vec::new());
            }
            let index = u16::try_from(index).expect("a few hundred entries");
            let second = entry.phrase.get(1).copied().unwrap_or_default();
            groups[word.group as usize].push(Opening { index, second });
            if entry.category == Category::Abbreviation {
                let short = words.entry(key(entry.written.as_bytes()));
                // The first entry of a short form is the one that expands it.
                if short.expands == 0 {
                    short.expands = index + 1;
                }
            }
        }
        for group in &mut groups {
            group.sort_by_key(|opening| {
                let entry = &entries[opening.index as usize];
                (std::cmp::Reverse(entry.phrase.len()), std::cmp::Reverse(entry.level))
            });
        }
        Self { entries, groups, words }
    }
}

/// Whether some words are to be heeded: `must not`, `only`.
pub fn is_emphatic(words: &str) -> bool {
    has_any(words, &[Class::Assertion, Class::Negation, Class::Modal])
}

fn has_any(text: &str, classes: &[Class]) -> bool {
    let mut words =
        text.split(|c: char| !c.is_alphabetic() && !matches!(c, '\'' | '’')).filter(|word| !word.is_empty());
    words.any(|word| lexicon().word(key(word.as_bytes())).classes.has_any(classes))
}

/// The words of a list; a line that begins with `#` holds none.
pub(crate) fn word_list(list: &'static str) -> HashSet<&'static str> {
    data_lines(list).flat_map(str::split_whitespace).collect()
}

/// The lines of a data file: one that begins with `#` is a comment.
pub(crate) fn data_lines(file: &str) -> impl Iterator<Item = &str> {
    file.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn read_entry(category: Category, line: &'static str, words: &mut table::Table) -> Entry {
    let mut fields = line.split('|').map(str::trim);
    let level = fields.next().and_then(Intensity::parse).expect("a line of the lexicon begins with its level");
    let long = fields.next().expect("a line of the lexicon has a phrase");
    let written = fields.next().unwrap_or_default();
    let mut ids = |list: &str| list.split(' ').map(|word| words.entry(key(word.as_bytes())).id).collect();
    let mut entry = Entry {
        category,
        level,
        long,
        phrase: ids(long),
        written,
        short: read_short(long, written),
        before: Neighbours::default(),
        after: Neighbours::default(),
        place: Place::Anywhere,
        profiles: Vec::new(),
        needs_receipt: false,
        is_lower_only: false,
        is_unit: false,
    };
    for guard in fields {
        let (name, value) = guard.split_once(": ").unwrap_or((guard, ""));
        match name {
            // `not before: than` holds a phrase back whose next word is `than`.
            "not before" => entry.before.not = ids(value),
            "only before" => entry.before.only = ids(value),
            "not after" => entry.after.not = ids(value),
            "only after" => entry.after.only = ids(value),
            "at" if value == "start" => entry.place = Place::Start,
            "at" if value == "edge" => entry.place = Place::Edge,
            "alone" => entry.place = Place::Alone,
            "whole" => entry.place = Place::Whole,
            "domain" => entry.profiles = value.split(' ').filter_map(Profile::parse).collect(),
            "on receipt" => entry.needs_receipt = true,
            "lower case" => entry.is_lower_only = true,
            "unit" => entry.is_unit = true,
            _ => unreachable!("{guard} is a guard of the lexicon: {line}"),
        }
    }
    entry
}

fn read_short(long: &str, written: &'static str) -> Short {
    let words: Vec<&str> = long.split(' ').collect();
    if written.is_empty() {
        return Short::Nothing;
    }
    let mut kept = Vec::new();
    for short in written.split(' ') {
        let from = kept.last().map_or(0, |last| last + 1);
        match words[from..].iter().position(|word| *word == short) {
            Some(at) => kept.push(from + at),
            None => return Short::Word(written),
        }
    }
    Short::Words(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use concertina_base::tokens::{self, Encoding};

    #[test]
    fn all_entries_but_abbreviations_save_tokens() {
        for entry in &lexicon().entries {
            let saved = [Encoding::O200kBase, Encoding::Cl100kBase].map(|encoding| {
                let count = |words: &str| tokens::count(&format!("so{words} it"), encoding) as i64;
                let short = if entry.written.is_empty() { String::new() } else { format!(" {}", entry.written) };
                count(&format!(" {}", entry.long)) - count(&short)
            });
            let saves = saved[0] > 0 && saved[1] >= 0;
            assert_eq!(saves, entry.category != Category::Abbreviation, "{}: {saved:?}", entry.long);
        }
    }

    #[test]
    fn every_entry_can_be_looked_up_and_is_in_reach() {
        let lexicon = lexicon();
        for entry in &lexicon.entries {
            let second = entry.phrase.get(1).copied().unwrap_or_default();
            let first = lexicon.word(entry.first_word());
            let mut found = lexicon.beginning_with(first, second, &Selection::ALL);
            assert!(found.any(|(_, found)| std::ptr::eq(found, entry)), "{}", entry.long);
            assert!(entry.phrase.len() <= 8, "{}: longer than shortening looks back", entry.long);
            let is_one_word = !matches!(entry.short, Short::Word(word) if word.contains(' '));
            assert!(is_one_word, "{}: the short form is one word or words of the phrase", entry.long);
        }
    }
}
