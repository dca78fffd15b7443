//! `the configuration of the database` -> `cfg of db`; `understanding` -> `undrstndng` if the text does not fit
//! otherwise.
//!
//! No two words of a text get the same skeleton, and no skeleton is a word of the text.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use super::markdown::is_title;
use crate::dictionary::Dictionary;
use crate::draft::{Change, Proposal, by_line};
use crate::lexicon::word_list;
use crate::shorten::phrases;
use crate::{Category, Class, Intensity, Kind, Selection, atoms, count, lexicon};

const FILLERS: Selection = Selection {
    intensity: Intensity::Full,
    categories: &[Category::Article, Category::Filler, Category::Pleasantry, Category::Phrase, Category::RuleFiller],
    ..Selection::ALL
};

/// The minimum length of a word whose vowels are removed, in letters.
const VOWELS_FROM_LETTERS: usize = 7;

static WHOLE_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| word_list(include_str!("../lexicon/whole_words.txt")));

/// Returns the parts of a text between titles, with their starts.
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

/// Groups the changes of all sections by line.
fn by_section(text: &str, changes: impl Fn(&str) -> Vec<Change>) -> Vec<Proposal> {
    let moved = |(start, section)| changes(section).into_iter().map(move |change| change.moved(start));
    by_line(text, sections(text).into_iter().flat_map(moved).collect())
}

/// Removes fillers and articles.
pub(super) fn fillers(text: &str) -> Vec<Proposal> {
    by_section(text, |section| phrases(section, &atoms(section), &FILLERS))
}

/// Decides by its cost in tokens whether a shorter word may be used.
pub(super) type Admits<'a> = &'a dyn Fn(i64) -> bool;

/// Replaces long words by their short forms.
pub(super) fn abbreviations(text: &str, dictionary: &Dictionary, admits: Admits) -> Vec<Proposal> {
    by_section(text, |section| dictionary.abbreviations(section, &atoms(section), admits))
}

/// Removes the inner vowels of long words.
pub(super) fn vowels(text: &str, admits: Admits) -> Vec<Proposal> {
    let of_section = |(start, section)| {
        let words = atoms(section).into_iter().filter(|atom| atom.kind == Kind::Prose);
        words.map(move |atom| start + atom.range.start..start + atom.range.end)
    };
    let words: Vec<Range<usize>> = sections(text).into_iter().flat_map(of_section).collect();
    let every: HashSet<String> = words.iter().map(|word| text[word.clone()].to_ascii_lowercase()).collect();
    let mut skeletons: BTreeMap<String, usize> = BTreeMap::new();
    for word in &every {
        *skeletons.entry(skeleton(word)).or_default() += 1;
    }
    let count = |word: &str| count(&format!(" {word}")) as i64;
    let mut decided: HashMap<&str, Option<String>> = HashMap::new();
    let mut edits = Vec::new();
    for range in words {
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
        && !lexicon().classes(word).has_any(&[Class::Modal, Class::Negation, Class::Assertion, Class::Action])
}

/// Returns a word without the vowels between its first and last consonants.
fn skeleton(word: &str) -> String {
    let is_vowel = |byte: u8| matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u');
    let bytes = word.as_bytes();
    let first = bytes.iter().position(|&byte| !is_vowel(byte)).unwrap_or(bytes.len());
    let last = bytes.iter().rposition(|&byte| !is_vowel(byte)).unwrap_or(0);
    let inner = |at: usize| (first..last).contains(&at);
    word.char_indices().filter(|&(at, c)| !(inner(at) && c.is_ascii() && is_vowel(c as u8))).map(|(_, c)| c).collect()
}
