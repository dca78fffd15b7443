//! The word lists as data, and what each entry is worth in real tokens.
//!
//! `worth.txt` is generated (`cargo run --example lexicon_worth`) and a test derives it again: no entry is believed to
//! save tokens because it saves characters.
//!
//! An entry is a line `level | phrase | short form | guards`. Guards are joined by ` | `: `not before`, `not after`,
//! `only before` and `only after` with words; `at: start` of a sentence; `at: edge`, beside a stop or comma; `alone`,
//! between two of them; `whole`, as a sentence; `domain` with profiles; `on receipt`, expanded only where a receipt
//! names it; `lower case` only; `unit`, neither put in nor, without a receipt, written out behind a number.

mod permissions;
mod short_forms;
mod table;

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::LazyLock;

pub(crate) use permissions::Permissions;
pub(crate) use short_forms::{ShortForms, used_short_forms};
pub(crate) use table::{Class, Classes, key};

use concertina_base::tokens::{self, Encoding};

/// How much goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Intensity {
    /// Pleasantries and the plainest fillers.
    Lite,
    /// Articles, fillers and hedges too.
    Full,
    /// Everything that is listed.
    Ultra,
}

impl Intensity {
    /// All of them, from the least.
    pub const ALL: [Self; 3] = [Self::Lite, Self::Full, Self::Ultra];

    /// The name as JavaScript sees it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lite => "lite",
            Self::Full => "full",
            Self::Ultra => "ultra",
        }
    }

    /// Reads the name back.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|intensity| intensity.as_str() == word)
    }
}

/// What an entry is; it decides which guards hold beside its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the variants are their own names")]
pub enum Category {
    Article,
    Filler,
    Hedge,
    Pleasantry,
    Phrase,
    LowInformation,
    RuleFiller,
    Abbreviation,
}

const FILES: [(Category, &str, &str); 8] = [
    (Category::Article, "articles", include_str!("articles.txt")),
    (Category::Filler, "fillers", include_str!("fillers.txt")),
    (Category::Hedge, "hedges", include_str!("hedges.txt")),
    (Category::Pleasantry, "pleasantries", include_str!("pleasantries.txt")),
    (Category::Phrase, "phrases", include_str!("phrases.txt")),
    (Category::LowInformation, "low_information", include_str!("low_information.txt")),
    (Category::RuleFiller, "rule_fillers", include_str!("rule_fillers.txt")),
    (Category::Abbreviation, "abbreviations", include_str!("abbreviations.txt")),
];

const WORTH: &str = include_str!("worth.txt");

/// The kind of text that phrases are chosen for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Profile {
    /// Manuals, tickets, commit messages.
    Technical,
    /// Papers and reports.
    Academic,
    /// Talk.
    Conversational,
}

impl Profile {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Technical, Self::Academic, Self::Conversational];

    /// The name as JavaScript sees it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Technical => "technical",
            Self::Academic => "academic",
            Self::Conversational => "conversational",
        }
    }

    /// Reads the name back.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.as_str() == word)
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
    pub(crate) profiles: Vec<Profile>,
    /// Expanded only where a receipt names it.
    pub(crate) needs_receipt: bool,
    /// Neither abbreviated nor expanded with a capital: `Max` may be a man.
    pub(crate) is_lower_only: bool,
    /// Its short form may be a unit: `10 max`, `50 req`.
    pub(crate) is_unit: bool,
    /// Tokens saved in the middle of a sentence, in o200k and cl100k.
    worth: [i32; 2],
}

impl Entry {
    /// Whether it saves tokens in o200k, and costs none in cl100k.
    pub(crate) fn saves_tokens(&self) -> bool {
        self.worth[0] > 0 && self.worth[1] >= 0
    }

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

/// An entry as it is looked for: by far most are passed over for what stands here.
struct Opening {
    index: u16,
    required: Permissions,
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

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::read(&worths()));

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

    /// The entries that begin with a word, or with it and the next, and whose requirements are permitted; longest
    /// first.
    pub(crate) fn beginning_with(
        &self,
        word: Word,
        next: WordId,
        permitted: Permissions,
    ) -> impl Iterator<Item = (u16, &Entry)> {
        self.groups[word.group as usize]
            .iter()
            .filter(move |opening| {
                (opening.second == 0 || opening.second == next) && permitted.include(opening.required)
            })
            .map(|opening| (opening.index, &self.entries[opening.index as usize]))
    }

    /// The abbreviation whose short form a word is.
    pub(crate) fn expansion(&self, short: Word) -> Option<&Entry> {
        short.expands.checked_sub(1).map(|index| &self.entries[index as usize])
    }

    fn read(worths: &HashMap<(&'static str, &'static str), [i32; 2]>) -> Self {
        let mut words = table::Table::new(table::classes());
        let entries: Vec<Entry> = lines()
            .map(|(category, line)| {
                let mut entry = read_entry(category, line, &mut words);
                entry.worth = *worths.get(&(entry.long, entry.written)).unwrap_or(&[0, 0]);
                entry
            })
            .collect();
        let mut groups: Vec<Vec<Opening>> = vec![Vec::new()];
        for (index, entry) in entries.iter().enumerate() {
            let word = words.entry(entry.first_word());
            if word.group == 0 {
                word.group = u16::try_from(groups.len()).expect("a few hundred entries");
                groups.push(Vec::new());
            }
            let index = u16::try_from(index).expect("a few hundred entries");
            let second = entry.phrase.get(1).copied().unwrap_or_default();
            groups[word.group as usize].push(Opening { index, required: Permissions::required_by(entry), second });
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
    list.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect()
}

fn lines() -> impl Iterator<Item = (Category, &'static str)> {
    FILES.into_iter().flat_map(|(category, _, text)| {
        text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(move |line| (category, line))
    })
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
        profiles: Profile::ALL.to_vec(),
        needs_receipt: false,
        is_lower_only: false,
        is_unit: false,
        worth: [0, 0],
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

fn worths() -> HashMap<(&'static str, &'static str), [i32; 2]> {
    let mut worths = HashMap::new();
    for line in WORTH.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        if let [_, long, short, o200k, cl100k] = fields[..] {
            worths.insert((long, short), [o200k.parse().unwrap_or(0), cl100k.parse().unwrap_or(0)]);
        }
    }
    worths
}

/// The contents of `worth.txt`, counted afresh: for each entry the tokens it saves between two words of a sentence.
pub fn worth_table() -> String {
    let mut table = String::from(
        "# file\tphrase\tshort form\to200k tokens saved\tcl100k tokens saved; written by `cargo run --example lexicon_worth`\n",
    );
    for (file, text) in FILES.iter().map(|(_, name, text)| (name, text)) {
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let mut fields = line.split('|').map(str::trim).skip(1);
            let (long, short) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
            let saved = |encoding| {
                let short = if short.is_empty() { String::new() } else { format!(" {short}") };
                let before = tokens::count(&format!("so {long} it"), encoding) as i64;
                before - tokens::count(&format!("so{short} it"), encoding) as i64
            };
            let (o200k, cl100k) = (saved(Encoding::O200kBase), saved(Encoding::Cl100kBase));
            writeln!(table, "{file}\t{long}\t{short}\t{o200k}\t{cl100k}").expect("writing to a string does not fail");
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_worth_is_what_the_vocabularies_say() {
        assert!(WORTH == worth_table(), "run `cargo run --example lexicon_worth`");
    }

    #[test]
    fn no_published_abbreviation_saves_a_token() {
        let lexicon = lexicon();
        let saving: Vec<&str> = lexicon
            .entries
            .iter()
            .filter(|entry| entry.category == Category::Abbreviation && entry.saves_tokens())
            .map(|entry| entry.long)
            .collect();
        assert_eq!(saving, Vec::<&str>::new());
    }

    #[test]
    fn every_entry_can_be_looked_up_and_is_in_reach() {
        let lexicon = lexicon();
        for entry in &lexicon.entries {
            let second = entry.phrase.get(1).copied().unwrap_or_default();
            let mut found =
                lexicon.beginning_with(lexicon.word(entry.first_word()), second, Permissions::required_by(entry));
            assert!(found.any(|(_, found)| std::ptr::eq(found, entry)), "{}", entry.long);
            assert!(entry.phrase.len() <= 8, "{}: longer than shortening looks back", entry.long);
            assert!(!entry.profiles.is_empty(), "{}", entry.long);
            let is_one_word = !matches!(entry.short, Short::Word(word) if word.contains(' '));
            assert!(is_one_word, "{}: the short form is one word or words of the phrase", entry.long);
        }
    }
}
