//! `the configuration of the database` -> `cfg of db`; `understanding` -> `undrstndng` where nothing else makes it fit.
//!
//! Fillers are found by what shortens prose, so that they stay wherever the meaning could turn. No two words of a text
//! ever get the same skeleton, and none gets one that is a word of the text.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use super::dictionary::{Dictionary, Entry};
use super::draft::Proposal;
use super::markdown::is_title;
use crate::change::{Change, by_line};
use crate::lexicon::word_list;
use crate::shorten::{Separator, capitalized};
use crate::{Atom, Category, Class, Intensity, Kind, Selection, atoms, count, key, lexicon, shorten};

const FILLERS: &[Category] = &[
    Category::Article,
    Category::Filler,
    Category::Pleasantry,
    Category::Phrase,
    Category::LowInformation,
    Category::RuleFiller,
];

/// Words shorter than this keep their vowels.
const VOWELS_FROM_LETTERS: usize = 7;

static WHOLE_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| word_list(include_str!("lexicon/whole_words.txt")));

/// The text between titles, with where it starts.
fn sections(text: &str) -> Vec<(usize, &str)> {
    let mut sections = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        if is_title(line) {
            sections.push((start, &text[start..at]));
            start = at + line.len();
        }
        at += line.len();
    }
    sections.push((start, &text[start..]));
    sections.retain(|(_, section)| !section.is_empty());
    sections
}

pub(super) fn fillers(text: &str, only_saving: bool) -> Vec<Proposal> {
    let selection = Selection { intensity: Intensity::Full, categories: FILLERS, only_saving, ..Selection::ALL };
    let mut proposals = Vec::new();
    for (start, section) in sections(text) {
        let changes = shorten(section, &selection).changes.into_iter().map(|change| change.moved(start));
        proposals.extend(by_line(text, changes.collect()));
    }
    proposals
}

/// Which words and which entries may be used, by what they cost in tokens.
pub(super) type Admits<'a> = &'a dyn Fn(i64) -> bool;

/// Short forms for long words.
pub(super) fn abbreviations(text: &str, dictionary: &Dictionary, admits: Admits) -> Vec<Proposal> {
    let mut edits = Vec::new();
    for (start, section) in sections(text) {
        let words: Vec<Atom> = atoms(section).into_iter().filter(|atom| atom.kind == Kind::Prose).collect();
        let mut at = 0;
        while at < words.len() {
            let Some((entry, count)) = matching(section, &words[at..], dictionary, admits) else {
                at += 1;
                continue;
            };
            let range = words[at].range.start..words[at + count - 1].range.end;
            if let Some(short) = short_form(section, &words, at, count, entry) {
                edits.push(Change::new(start + range.start..start + range.end, short));
            }
            at += count;
        }
    }
    by_line(text, edits)
}

fn matching<'a>(text: &str, words: &[Atom], dictionary: &'a Dictionary, admits: Admits) -> Option<(&'a Entry, usize)> {
    let written = |index: usize| words.get(index).map(|word| &text[word.range.clone()]);
    dictionary.beginning_with(written(0)?).iter().filter(|entry| admits(entry.cost)).find_map(|entry| {
        let count = entry.long.split(' ').count();
        let is_here = entry.long.split(' ').enumerate().skip(1).all(|(index, long)| {
            written(index) == Some(long) && text[words[index - 1].range.end..words[index].range.start] == *" "
        });
        is_here.then_some((entry, count))
    })
}

/// The short form as it is to stand there; none where the word may be a part of a name.
fn short_form(text: &str, words: &[Atom], at: usize, count: usize, entry: &Entry) -> Option<String> {
    let range = words[at].range.start..words[at + count - 1].range.end;
    let (before, word, behind) = (&text[..range.start], &text[range.clone()], &text[range.end..]);
    let is_free = Separator::new(before, None).opens() && Separator::new(behind, None).closes();
    let is_capital = |word: &str| word.starts_with(|c: char| c.is_ascii_uppercase());
    if !is_free || word[1..].bytes().any(|byte| byte.is_ascii_uppercase()) {
        return None;
    }
    if !is_capital(word) {
        return Some(entry.short.clone());
    }
    let lead = before.trim_end_matches([' ', '\t', '-', '*', '(']);
    let starts = lead.is_empty() || lead.ends_with(['.', '!', '?', '\n', ':']);
    let is_name = words
        .get(at + count)
        .is_some_and(|next| is_capital(&text[next.range.clone()]) && text[range.end..next.range.start] == *" ");
    (starts && !is_name).then(|| capitalized(&entry.short))
}

/// Long words without their inner vowels.
pub(super) fn vowels(text: &str, admits: Admits) -> Vec<Proposal> {
    let mut words: Vec<(usize, Atom)> = Vec::new();
    let mut every: HashSet<String> = HashSet::new();
    for (start, section) in sections(text) {
        for atom in atoms(section).into_iter().filter(|atom| atom.kind == Kind::Prose) {
            every.insert(section[atom.range.clone()].to_ascii_lowercase());
            words.push((start, atom));
        }
    }
    let mut skeletons: BTreeMap<String, usize> = BTreeMap::new();
    for word in &every {
        *skeletons.entry(skeleton(word)).or_default() += 1;
    }
    let count = |word: &str| count(&format!(" {word}")) as i64;
    let mut decided: HashMap<&str, Option<String>> = HashMap::new();
    let mut edits = Vec::new();
    for (start, atom) in &words {
        let range = start + atom.range.start..start + atom.range.end;
        let word = &text[range.clone()];
        let short = decided.entry(word).or_insert_with(|| {
            let short = has_skeleton(word).then(|| skeleton(word))?;
            let is_its_own = skeletons[&short] == 1 && !every.contains(&short) && short.len() < word.len();
            (is_its_own && admits(count(&short) - count(word))).then_some(short)
        });
        edits.extend(short.as_ref().map(|short| Change::new(range, short.as_str())));
    }
    by_line(text, edits)
}

fn has_skeleton(word: &str) -> bool {
    word.len() >= VOWELS_FROM_LETTERS
        && word.bytes().all(|byte| byte.is_ascii_lowercase())
        && !WHOLE_WORDS.contains(word)
        && !lexicon().word(key(word.as_bytes())).classes.has_any(&[
            Class::Modal,
            Class::Negation,
            Class::Assertion,
            Class::Action,
        ])
}

/// A word without the vowels that stand between consonants.
fn skeleton(word: &str) -> String {
    let is_vowel = |byte: u8| matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u');
    let bytes = word.as_bytes();
    let first = bytes.iter().position(|&byte| !is_vowel(byte)).unwrap_or(bytes.len());
    let last = bytes.iter().rposition(|&byte| !is_vowel(byte)).unwrap_or(0);
    let inner = |at: usize| (first..last).contains(&at);
    word.char_indices().filter(|&(at, c)| !(inner(at) && c.is_ascii() && is_vowel(c as u8))).map(|(_, c)| c).collect()
}
