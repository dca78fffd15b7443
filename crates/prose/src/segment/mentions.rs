//! Words that a sentence names instead of using them: `the words really, actually or please`, `in order to` behind
//! `replace`, what a reply is.
//!
//! Who names a word means just that word. Three frames tell it: a word such as `word`, `say` or `replace` before it, a
//! list of words of the lexicon, and a colon. The frame is named with its words, because without it they would be used.

use super::{Atom, Kind};
use crate::lexicon::{Class, lexicon};

/// Makes [`Kind::Named`] of the words of prose that are named.
pub(super) fn mark(text: &str, atoms: &mut [Atom]) {
    let mut frames = Frames { text, atoms };
    let (mut at, mut speaks) = (0, None);
    while at < frames.atoms.len() {
        if at > 0 && frames.ends_sentence(at) {
            speaks = None;
        }
        let found = frames.frame(at, &mut speaks);
        at = found.end.max(at + 1);
        let words = frames.atoms[found].iter_mut().filter(|atom| atom.kind == Kind::Prose);
        words.for_each(|atom| atom.kind = Kind::Named);
    }
}

struct Frames<'a> {
    text: &'a str,
    atoms: &'a mut [Atom],
}

/// Words that stand between a word for words and those that it means: `words such as really`.
const LEADING: [&str; 6] = ["like", "such", "as", "is", "are", "be"];

/// Words that stand between the words that are named; the first [`LISTING`] of them in any list.
const JOINING: [&str; 14] =
    ["or", "and", "nor", "not", "by", "with", "but", "over", "for", "into", "instead", "rather", "than", "of"];
const LISTING: usize = 3;

impl Frames<'_> {
    /// The frame that begins at an atom with all that it names; empty where none does. `speaks` is the last word of the
    /// sentence that stands for words said.
    fn frame(&mut self, at: usize, speaks: &mut Option<usize>) -> std::ops::Range<usize> {
        let none = at..at;
        let classes = if self.is_word(at) { self.atoms[at].word.classes } else { return none };
        if classes.has(Class::Speech) {
            *speaks = Some(at);
        }
        if self.has_colon(at + 1) {
            if let Some(speaker) = *speaks {
                // Gone, what is behind the colon would be used.
                self.atoms[speaker].kind = Kind::Named;
                return at..self.line_end(at + 1);
            }
            if let Some(end) = self.entry(at + 1) {
                return at..self.list(end, false).0;
            }
        }
        if classes.has(Class::Naming) {
            let mut first = at + 1;
            while self.is_near(first) && self.is_one_of(first, &LEADING) {
                first += 1;
            }
            if (self.is_near(first) || self.has_colon(first))
                && let Some(end) = self.entry(first).or_else(|| self.any(first))
            {
                return at..self.list(end, false).0;
            }
        }
        let goes_on = self.comma(at + 1) || self.is_near(at + 1);
        match goes_on.then(|| self.entry(at)).flatten().map(|end| self.list(end, true)) {
            Some((end, count, is_joined)) if count > 2 || count > 1 && is_joined => at..end,
            _ => none,
        }
    }

    /// Where a list ends whose first words end at `end`, how many it names, and whether a word joins them. `is_listed`
    /// of words of the lexicon alone.
    fn list(&self, end: usize, is_listed: bool) -> (usize, usize, bool) {
        let (mut end, mut count, mut is_joined) = (end, 1, false);
        loop {
            let mut next = end;
            let has_comma = self.comma(next);
            let joining = if is_listed { &JOINING[..LISTING] } else { &JOINING[..] };
            while (self.is_near(next) || next == end && has_comma) && self.is_one_of(next, joining) {
                next += 1;
            }
            let joins = next > end;
            if !(joins && self.is_near(next) || next == end && has_comma) {
                return (end, count, is_joined);
            }
            let item = self.entry(next).or_else(|| self.any(next).filter(|_| !is_listed));
            let Some(item) = item else { return (end, count, is_joined) };
            (end, count, is_joined) = (item, count + 1, is_joined || joins);
        }
    }

    /// Where the longest phrase of the lexicon ends that begins at an atom. An article is used where a word of its own
    /// follows.
    fn entry(&self, at: usize) -> Option<usize> {
        let first = self.atoms.get(at).filter(|_| self.is_word(at))?;
        if first.word.classes.has(Class::Article) && self.is_near(at + 1) && !self.is_one_of(at + 1, &JOINING) {
            return None;
        }
        if !first.word.begins_entries() {
            return None;
        }
        let second = self.atoms.get(at + 1).map_or(0, |atom| atom.word.id);
        let is_here = |phrase: &[u16]| {
            phrase.iter().enumerate().all(|(index, word)| {
                let here = at + index;
                self.atoms.get(here).is_some_and(|atom| atom.word.id == *word && atom.kind == Kind::Prose)
                    && (index == 0 || self.is_near(here))
            })
        };
        let mut entries = lexicon().beginning_with(first.word, second);
        entries.find(|entry| is_here(&entry.phrase)).map(|entry| at + entry.phrase.len())
    }

    /// A single word, whichever it is, but no article of another one.
    fn any(&self, at: usize) -> Option<usize> {
        (self.is_word(at) && !self.atoms[at].word.classes.has(Class::Article)).then_some(at + 1)
    }

    fn is_word(&self, at: usize) -> bool {
        self.atoms.get(at).is_some_and(|atom| atom.kind == Kind::Prose)
    }

    fn is_one_of(&self, at: usize, words: &[&str]) -> bool {
        self.is_word(at) && words.iter().any(|word| self.text[self.atoms[at].range.clone()].eq_ignore_ascii_case(word))
    }

    /// What stands before an atom; nothing beyond the last one. Without marks of emphasis: those may go, and what is
    /// named must not depend on them.
    fn separator(&self, at: usize) -> &str {
        match (at.checked_sub(1).and_then(|before| self.atoms.get(before)), self.atoms.get(at)) {
            (Some(before), Some(atom)) => self.text[before.range.end..atom.range.start].trim_matches('*'),
            _ => "",
        }
    }

    /// Whether only blanks, or one line end, stand before an atom.
    fn is_near(&self, at: usize) -> bool {
        let separator = self.separator(at);
        !separator.is_empty()
            && separator.bytes().all(|byte| byte.is_ascii_whitespace())
            && separator.matches('\n').count() < 2
    }

    fn comma(&self, at: usize) -> bool {
        matches!(self.separator(at).trim_end_matches([' ', '\t', '*']), "," | ";" | "/")
    }

    fn has_colon(&self, at: usize) -> bool {
        self.separator(at).trim_end_matches([' ', '*']) == ":" && self.separator(at).contains(' ')
    }

    fn ends_sentence(&self, at: usize) -> bool {
        self.separator(at).contains(['.', '!', '?', '\n'])
    }

    /// The first atom from one on that begins a line.
    fn line_end(&self, from: usize) -> usize {
        (from + 1..self.atoms.len()).find(|&at| self.separator(at).contains('\n')).unwrap_or(self.atoms.len())
    }
}
