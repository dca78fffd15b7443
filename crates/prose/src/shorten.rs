//! Prose -> the changes that make it shorter: which words go, and what stands instead.
//!
//! Works on one paragraph at a time, as a list of words from which phrases are taken out. After each change it goes
//! back a few words, and to the start of the sentence when a reason for keeping something is gone, so that the result
//! has nothing more to take: shortening twice is shortening once. `an`, `a`, `in` and `also` are words of other
//! languages, too: a paragraph that does not show that it is English stays as it is.

mod class_counts;
mod paragraph;
mod separator;

use std::ops::Range;

use paragraph::Paragraph;
pub(super) use paragraph::capitalized;
pub(super) use separator::{Break, Separator};

use super::change::{Change, applied, by_line};
use super::lexicon::{Class, Selection};
use super::segment::{Atom, Kind, atoms};

/// What to change.
#[derive(Debug, Default)]
pub struct Shortened {
    /// In order, apart.
    pub changes: Vec<Change>,
    /// The entry of each change, in the order in which they were found.
    pub used: Vec<u16>,
}

impl Shortened {
    /// How many bytes go.
    pub fn removed_bytes(&self) -> usize {
        self.changes.iter().map(|change| change.range.len().saturating_sub(change.text.len())).sum()
    }

    /// The changes of one line as one, from its first to its last.
    pub fn by_line(self, text: &str) -> Vec<Change> {
        let joined = |line: Vec<Change>| {
            let part = line[0].range.start..line[line.len() - 1].range.end;
            Change::new(part.clone(), applied(text, part, &line))
        };
        by_line(text, self.changes).into_iter().map(joined).collect()
    }

    /// The text with its changes.
    pub fn apply(&self, text: &str) -> String {
        applied(text, 0..text.len(), &self.changes)
    }
}

/// Finds what to change. Linear.
pub fn shorten(text: &str, selection: &Selection) -> Shortened {
    let mut shortened = Shortened::default();
    let mut paragraph = Paragraph::new(text, selection);
    for_each_paragraph(text, |atoms, around| {
        if is_english(text, atoms) {
            paragraph.read(atoms, around);
            paragraph.shorten(&mut shortened);
        }
    });
    shortened
}

/// Of so many words of English prose one at least is of no other language; other languages quote fewer.
const WORDS_TO_ONE_ENGLISH: usize = 16;

/// A paragraph of more words has two of English at least: other languages quote one.
const WORDS_TO_ANOTHER_ENGLISH: usize = 8;

fn is_english(text: &str, atoms: &[Atom]) -> bool {
    let words = || atoms.iter().filter(|atom| matches!(atom.kind, Kind::Prose | Kind::Named));
    let english = words().filter(|word| word.word.classes.has(Class::English)).count();
    let count = words().count();
    let is_foreign = |word: &&Atom| {
        let word = &text[word.range.clone()];
        !word.is_ascii() && word.chars().any(|c| !c.is_ascii() && c.is_alphabetic())
    };
    english > usize::from(count > WORDS_TO_ANOTHER_ENGLISH)
        && count <= english * WORDS_TO_ONE_ENGLISH
        && words().filter(is_foreign).nth(1).is_none()
}

/// Calls `work` with the words and spans of each paragraph, and the range from the end of the line before to the end of
/// its own last line.
pub(super) fn for_each_paragraph(text: &str, mut work: impl FnMut(&[Atom], Range<usize>)) {
    let atoms = atoms(text);
    let mut start = 0;
    let mut from = 0;
    let mut next_is_whole_lines = atoms.first().is_some_and(|atom| is_whole_lines(text, atom));
    for (index, atom) in atoms.iter().enumerate() {
        let next = atoms.get(index + 1);
        let was_whole_lines = next_is_whole_lines;
        next_is_whole_lines = next.is_some_and(|next| is_whole_lines(text, next));
        if was_whole_lines {
            from = atom.range.end;
            start = index + 1;
            continue;
        }
        let separator = &text.as_bytes()[atom.range.end..next.map_or(text.len(), |next| next.range.start)];
        if next.is_none() || next_is_whole_lines || has_blank_line(separator) {
            let end = atom.range.end + memchr::memchr(b'\n', separator).unwrap_or(separator.len());
            work(&atoms[start..=index], from..end);
            from = end;
            start = index + 1;
        }
    }
}

fn has_blank_line(separator: &[u8]) -> bool {
    separator.len() > 1 && memchr::memchr_iter(b'\n', separator).nth(1).is_some()
}

fn is_whole_lines(text: &str, atom: &Atom) -> bool {
    let bytes = text.as_bytes();
    (atom.kind.is_block() || matches!(atom.kind, Kind::Command | Kind::Html))
        && (atom.range.start == 0 || bytes[atom.range.start - 1] == b'\n')
        && (atom.range.end == bytes.len() || bytes[atom.range.end - 1] == b'\n')
}
