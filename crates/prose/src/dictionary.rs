//! `the configuration of the database` -> `the cfg of the db`, and back.
//!
//! There are two lists: one for prose, and one for rule files, to which the caller can add entries. A shorter word does
//! not always have fewer tokens, so each entry knows its cost.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use aho_corasick::AhoCorasick;
use serde_json::Value;

use crate::draft::Change;
use crate::lexicon::data_lines;
use crate::shorten::separator::{closes, opens};
use crate::{Atom, Intensity, Kind, atoms, count};
use concertina_base::error::{Error, Result};

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    long: String,
    short: String,
    /// The tokens of the short form minus those of the long form, in the middle of a sentence.
    cost: i64,
    guards: &'static str,
}

/// Long words with their short forms.
#[derive(Debug, Clone)]
pub struct Dictionary {
    /// The entries by their first word, the longest first.
    entries: HashMap<String, Vec<Entry>>,
    /// The length of the shortest first word in bytes. Most words of a text are shorter.
    shortest_len: usize,
    short_forms: Arc<ShortForms>,
}

/// The abbreviations of prose: level, long form, short form, guards.
fn prose_lines() -> impl Iterator<Item = (Intensity, &'static str, &'static str, &'static str)> {
    data_lines(include_str!("lexicon/abbreviations.txt")).map(|line| {
        let mut fields = line.splitn(4, " | ");
        let level = fields.next().and_then(Intensity::parse).expect("a line begins with its level");
        let [long, short, guards] = std::array::from_fn(|_| fields.next().unwrap_or_default());
        (level, long, short, guards)
    })
}

/// Returns the long and short forms of the abbreviations of prose.
pub(crate) fn prose_pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    prose_lines().map(|(_, long, short, _)| (long, short))
}

static RULES: LazyLock<Dictionary> = LazyLock::new(|| {
    let lines = data_lines(include_str!("lexicon/dictionary.txt"));
    let pairs = lines.map(|line| line.split_once(" | ").expect("a line has a long and a short form"));
    Dictionary::of(pairs.map(|(long, short)| (long.to_owned(), (short.to_owned(), ""))))
});

impl Default for Dictionary {
    fn default() -> Self {
        RULES.clone()
    }
}

impl Dictionary {
    /// Returns the abbreviations of prose up to a level.
    pub(crate) fn of_prose(intensity: Intensity) -> &'static Self {
        static LEVELS: LazyLock<[Dictionary; Intensity::ALL.len()]> = LazyLock::new(|| {
            Intensity::ALL.map(|max| {
                let lines = prose_lines().filter(|(level, ..)| *level <= max);
                Dictionary::of(lines.map(|(_, long, short, guards)| (long.to_owned(), (short.to_owned(), guards))))
            })
        });
        &LEVELS[intensity as usize]
    }

    /// Returns the built-in entries of rule files with those of `{ "entries": { long: short } }`, which take
    /// precedence.
    ///
    /// # Errors
    /// [`Error::BadArgument`] with the name of an entry that is not a long form in words with a shorter form without
    /// blanks, or whose short form is a long form.
    pub fn merged(json: &Value) -> Result<Self> {
        let bad = |name: &str, found: String, expected: &str| Err(Error::bad_argument(name, found, expected));
        let Some(given) = json.get("entries").and_then(Value::as_object) else {
            return bad("abbreviations", brief(json), "an object { \"entries\": { long form: short form } }");
        };
        let mut pairs: HashMap<String, (String, &str)> =
            RULES.entries.values().flatten().map(|entry| (entry.long.clone(), (entry.short.clone(), ""))).collect();
        let mut names = BTreeMap::new();
        for (long, short) in given {
            let name = format!("abbreviations.entries[{long:?}]");
            let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic());
            if !long.split(' ').all(is_word) {
                let expected = "words of the letters a to z with single blanks between them";
                return bad(&name, "no long form".to_owned(), expected);
            }
            let is_mark = |c: char| c.is_whitespace() || c.is_control();
            let fits = |short: &&str| !short.is_empty() && short.len() < long.len() && !short.contains(is_mark);
            let Some(written) = short.as_str().filter(fits) else {
                return bad(&name, brief(short), "a string without blanks that is shorter than the long form");
            };
            pairs.insert(long.to_ascii_lowercase(), (written.to_owned(), ""));
            names.insert(long.to_ascii_lowercase(), name);
        }
        for (long, name) in &names {
            let short = &pairs[long].0;
            if pairs.contains_key(&short.to_ascii_lowercase()) {
                return bad(name, brief(&Value::from(short.as_str())), "a short form that is not abbreviated itself");
            }
        }
        // A built-in entry is removed if its short form is now a long one.
        let longs: HashSet<String> = pairs.keys().cloned().collect();
        pairs.retain(|long, (short, _)| names.contains_key(long) || !longs.contains(short));
        Ok(Self::of(pairs))
    }

    /// Later pairs replace earlier ones with the same long form.
    fn of(pairs: impl IntoIterator<Item = (String, (String, &'static str))>) -> Self {
        let count = |word: &str| count(&format!("so {word} it")) as i64;
        let mut entries: HashMap<String, Vec<Entry>> = HashMap::new();
        for (long, (short, guards)) in pairs.into_iter().collect::<BTreeMap<_, _>>() {
            let first = long.split(' ').next().expect("a phrase has a first word").to_owned();
            let cost = count(&short) - count(&long);
            entries.entry(first).or_default().push(Entry { long, short, cost, guards });
        }
        entries.values_mut().for_each(|entries| entries.sort_by_key(|entry| std::cmp::Reverse(entry.long.len())));
        let shortest_len = entries.keys().map(String::len).min().unwrap_or(usize::MAX);
        let short_forms = ShortForms::new(entries.values().flatten().map(|entry| entry.short.as_str()));
        Self { entries, shortest_len, short_forms: Arc::new(short_forms) }
    }

    /// Returns the entries whose short forms a text does not use as words: `pwd` may be a command in it.
    pub(crate) fn without_used(&self, text: &str) -> Self {
        let used = self.short_forms.used_in(text);
        let mut left = self.clone();
        left.entries.values_mut().for_each(|entries| entries.retain(|entry| !used.contains(entry.short.as_str())));
        left
    }

    /// Returns the entries that begin with a word, the longest first.
    fn beginning_with(&self, word: &str) -> &[Entry] {
        let found = if word.len() < self.shortest_len { None } else { self.entries.get(&*word.to_ascii_lowercase()) };
        found.map_or(&[], Vec::as_slice)
    }

    /// Returns the changes that abbreviate the words of prose among some atoms of a text. `admits` decides by the cost
    /// of an entry.
    pub(crate) fn abbreviations(&self, text: &str, atoms: &[Atom], admits: impl Fn(i64) -> bool) -> Vec<Change> {
        let words: Vec<&Atom> = atoms.iter().filter(|atom| atom.kind == Kind::Prose).collect();
        let (mut at, mut changes) = (0, Vec::new());
        while let Some(first) = words.get(at) {
            let mut entries = self.beginning_with(&text[first.range.clone()]).iter();
            let found = entries.find(|entry| admits(entry.cost) && entry.is_at(text, &words[at..]));
            at += found.map_or(1, |entry| entry.long.split(' ').count());
            let Some(entry) = found else { continue };
            let range = first.range.start..words[at - 1].range.end;
            let next = words.get(at).map(|next| &text[next.range.clone()]);
            changes.extend(entry.short_form(text, &range, next).map(|short| Change::new(range.clone(), short)));
        }
        changes
    }
}

impl Entry {
    fn has(&self, guard: &str) -> bool {
        self.guards.split(" | ").any(|found| found == guard)
    }

    /// Returns true if the words after the first one are those of the entry, with single blanks between them.
    fn is_at(&self, text: &str, words: &[&Atom]) -> bool {
        self.long.split(' ').enumerate().skip(1).all(|(index, long)| {
            words.get(index).is_some_and(|word| {
                text[word.range.clone()] == *long && text[words[index - 1].range.end..word.range.start] == *" "
            })
        })
    }

    /// Returns the short form as it is written at a place, or `None` if the word there may be part of a name or if a
    /// guard of the entry applies. `next` is the next word of prose.
    fn short_form(&self, text: &str, range: &Range<usize>, next: Option<&str>) -> Option<String> {
        let (before, word, behind) = (&text[..range.start], &text[range.clone()], &text[range.end..]);
        let is_next = next.is_some_and(|next| behind.strip_prefix(' ').is_some_and(|behind| behind.starts_with(next)));
        let bars = next.is_some_and(|next| is_next && self.has(&format!("not before: {next}")));
        if !opens(before)
            || !closes(behind)
            || word[1..].bytes().any(|byte| byte.is_ascii_uppercase())
            || bars
            || self.has("unit") && counts(before)
        {
            return None;
        }
        if !is_capital(word) {
            return Some(self.short.clone());
        }
        let is_name = is_next && next.is_some_and(is_capital);
        (begins_sentence(before) && !is_name && !self.has("lower case")).then(|| capitalized(&self.short))
    }
}

fn is_capital(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase())
}

pub(crate) fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

/// Returns true if a number stands before a word.
fn counts(before: &str) -> bool {
    before.trim_end_matches([' ', '\t']).ends_with(|c: char| c.is_ascii_digit())
}

fn begins_sentence(before: &str) -> bool {
    let lead = before.trim_end_matches([' ', '\t', '-', '*', '(']);
    lead.is_empty() || lead.ends_with(['.', '!', '?', '\n', ':'])
}

/// An abbreviation that was put into a text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Substitution {
    /// The replaced form.
    pub long: String,
    /// The short form.
    pub short: String,
    /// The number of replacements.
    pub count: usize,
}

/// Expands the abbreviations of prose. Only words of prose are expanded, so `.env`, `config.json` and `5 min` stay.
pub fn expand(text: &str) -> String {
    expanded(text, &[Kind::Prose], |entry, before| !(entry.has("on receipt") || entry.has("unit") && counts(before)))
}

/// Expands only the abbreviations of a receipt. A text that uses a short form itself is never given that form, so all
/// occurrences were put in, even where one is now read as a name.
pub fn expand_listed(text: &str, substitutions: &[Substitution]) -> String {
    expanded(text, &[Kind::Prose, Kind::Named], |entry, _| {
        substitutions.iter().any(|one| one.long == entry.long && one.short == entry.short)
    })
}

/// Expands words of some kinds. `applies` is called with the text before the short form.
fn expanded(text: &str, kinds: &[Kind], applies: impl Fn(&Entry, &str) -> bool) -> String {
    static BY_SHORT_FORM: LazyLock<HashMap<&str, Entry>> = LazyLock::new(|| {
        let mut entries = HashMap::new();
        for (_, long, short, guards) in prose_lines() {
            let entry = Entry { long: long.to_owned(), short: short.to_owned(), cost: 0, guards };
            entries.entry(short).or_insert(entry);
        }
        entries
    });
    let mut long = String::with_capacity(text.len() + text.len() / 8);
    let mut at = 0;
    for atom in atoms(text).iter().filter(|atom| kinds.contains(&atom.kind)) {
        let (before, word) = (&text[..atom.range.start], &text[atom.range.clone()]);
        let Some(entry) = BY_SHORT_FORM.get(&*word.to_ascii_lowercase()).filter(|entry| applies(entry, before)) else {
            continue;
        };
        let is_free = opens(before) && closes(&text[atom.range.end..]);
        if !is_free || is_capital(word) && (entry.has("lower case") || !begins_sentence(before)) {
            continue;
        }
        long.push_str(&text[at..atom.range.start]);
        long.push_str(&if is_capital(word) { capitalized(&entry.long) } else { entry.long.clone() });
        at = atom.range.end;
    }
    long + &text[at..]
}

/// Finds the short forms that a text uses as words, wherever they stand.
#[derive(Debug)]
struct ShortForms {
    forms: Vec<String>,
    finder: AhoCorasick,
}

impl ShortForms {
    /// Builds the search for some short forms, in any case.
    ///
    /// # Panics
    /// If the automaton of the short forms does not fit into memory.
    fn new<'a>(forms: impl Iterator<Item = &'a str>) -> Self {
        let forms: Vec<String> = forms.map(str::to_owned).collect::<BTreeSet<_>>().into_iter().collect();
        let finder = AhoCorasick::builder().ascii_case_insensitive(true).build(&forms);
        Self { forms, finder: finder.expect("short words are no large automaton") }
    }

    /// Returns the short forms that a text uses as words, in any case. Linear.
    fn used_in(&self, text: &str) -> HashSet<&str> {
        let found = self.finder.find_overlapping_iter(text);
        let words = found.filter(|found| is_word(text, found.start(), found.end()));
        words.map(|word| self.forms[word.pattern().as_usize()].as_str()).collect()
    }
}

/// Returns true if a part of a text is a word of its own, and not part of a longer one, a path or a file name.
fn is_word(text: &str, start: usize, end: usize) -> bool {
    let is_joint = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '\\');
    let mut behind = text[end..].chars();
    let is_free_behind = match behind.next() {
        Some('.' | ':') => behind.next().is_none_or(|c| !c.is_alphanumeric()),
        next => next.is_none_or(|c| !is_joint(c)),
    };
    is_free_behind && text[..start].chars().next_back().is_none_or(|c| !is_joint(c) && c != '.')
}

/// Returns a value as a short text for messages.
fn brief(value: &Value) -> String {
    let json = value.to_string();
    json.char_indices().nth(80).map_or_else(|| json.clone(), |(end, _)| format!("{}…", &json[..end]))
}
