//! Prose -> shorter prose.
//!
//! Each round removes phrases from every paragraph. Rounds are repeated until nothing changes, so that shortening a
//! text twice is the same as shortening it once. `an`, `a`, `in` and `also` are words of other languages, too, so a
//! paragraph that does not look English is left unchanged.

mod paragraph;
pub(crate) mod separator;

use std::ops::Range;

use paragraph::Paragraph;

use crate::draft::{Change, Draft, by_line};
use crate::lexicon::{Class, Selection};
use crate::segment::{Atom, Kind, atoms};

/// The maximum number of rounds. Real texts need two to four.
const ROUNDS_MAX: usize = 16;

/// Shortens a text. The text is returned unchanged if its rounds do not come to an end, or if a later round would
/// change a part that is protected in the original text. Linear.
pub fn shorten(text: &str, selection: &Selection) -> String {
    let found = atoms(text);
    let mut proposals = by_line(text, phrases(text, &found, selection));
    if proposals.is_empty() {
        return text.to_owned();
    }
    let protected = found.into_iter().filter(|atom| atom.kind != Kind::Prose);
    let mut draft = Draft::new(text, protected.map(|atom| atom.range));
    for _ in 0..ROUNDS_MAX {
        let proposed = proposals.len();
        if draft.revise(proposals, |_, _| true) < proposed {
            break;
        }
        proposals = by_line(&draft.text, phrases(&draft.text, &atoms(&draft.text), selection));
        if proposals.is_empty() {
            return draft.text;
        }
    }
    text.to_owned()
}

/// Returns the changes of [`shorten`], one for each line.
pub fn shortened_lines(text: &str, selection: &Selection) -> Vec<Change> {
    let shorter = shorten(text, selection);
    let (mut at, mut changes) = (0, Vec::new());
    for (old, new) in text.split_inclusive('\n').zip(shorter.split_inclusive('\n')) {
        let same = |(old, new): &(char, char)| old == new;
        let len = |(c, _): (char, char)| c.len_utf8();
        let start: usize = old.chars().zip(new.chars()).take_while(same).map(len).sum();
        let (old_rest, new_rest) = (&old[start..], &new[start..]);
        let end: usize = old_rest.chars().rev().zip(new_rest.chars().rev()).take_while(same).map(len).sum();
        if old != new {
            let range = at + start..at + old.len() - end;
            changes.push(Change::new(range, &new_rest[..new_rest.len() - end]));
        }
        at += old.len();
    }
    changes
}

/// Returns the changes of one round, in order and apart.
pub(crate) fn phrases(text: &str, atoms: &[Atom], selection: &Selection) -> Vec<Change> {
    let mut changes = Vec::new();
    for_each_english_paragraph(text, atoms, |atoms, around| {
        changes.extend(Paragraph::new(text, atoms, around).changes(selection));
    });
    changes
}

/// The maximum number of words for each word that only English has. Texts in other languages quote fewer.
const WORDS_TO_ONE_ENGLISH: usize = 16;

/// The maximum number of words of a paragraph with only one such word. Texts in other languages quote one.
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

/// Calls `work` with the atoms of each English paragraph, and the range from the end of the line before it to the end
/// of its last line.
pub(crate) fn for_each_english_paragraph(text: &str, atoms: &[Atom], mut work: impl FnMut(&[Atom], Range<usize>)) {
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
            if is_english(text, &atoms[start..=index]) {
                work(&atoms[start..=index], from..end);
            }
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
