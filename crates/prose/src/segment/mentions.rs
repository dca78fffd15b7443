//! Finds words that a sentence names instead of using them: `the words really, actually or please`, `in order to` after
//! `replace`, the words of a reply.
//!
//! A named word must stay as it is. There are three frames: a word such as `word`, `say` or `replace` before it (also
//! before a parenthesis), a list of words of the lexicon, and a colon. The frame is protected too, because without it
//! the words would be used.

use super::{Atom, Kind};
use crate::lexicon::{Class, lexicon};

/// Changes the kind of named words from prose to [`Kind::Named`].
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

/// Words between a frame and the words that it names: `words such as really`.
const LEADING: [&str; 7] = ["like", "such", "as", "is", "are", "be", "for"];

/// The maximum number of words between a frame and the words that it names.
const MOST_LEADING: usize = 4;

/// Words between named words; the first [`LISTING`] of them in any list.
const JOINING: [&str; 14] =
    ["or", "and", "nor", "not", "by", "with", "but", "over", "for", "into", "instead", "rather", "than", "of"];
const LISTING: usize = 3;

impl Frames<'_> {
    /// Returns the frame that begins at an atom, with the words that it names; empty if there is none. `speaks` is the
    /// last word of the sentence that announces speech.
    fn frame(&mut self, at: usize, speaks: &mut Option<usize>) -> std::ops::Range<usize> {
        let none = at..at;
        let classes = if self.is_word(at) { self.atoms[at].word.classes } else { return none };
        if classes.has(Class::Speech) {
            *speaks = Some(at);
        }
        if self.has_colon(at + 1) {
            if let Some(speaker) = *speaks {
                // If this word were removed, the words after the colon would be used.
                self.atoms[speaker].kind = Kind::Named;
                return at..self.line_end(at + 1);
            }
            if let Some(end) = self.entry(at + 1) {
                return at..self.list(end, false).0;
            }
        }
        if classes.has(Class::Naming) {
            let mut first = at + 1;
            // `filler words` names what follows both.
            let names = |at: usize| self.is_word(at) && self.atoms[at].word.classes.has(Class::Naming);
            while first <= at + MOST_LEADING && self.is_near(first) && (self.is_one_of(first, &LEADING) || names(first))
            {
                first += 1;
            }
            if (self.is_near(first) || self.has_colon(first) || self.opens_parenthesis(first))
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

    /// Returns the end of a list whose first item ends at `end`, the number of its items, and true if a word joins
    /// them. If `is_listed`, all items must be in the lexicon.
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

    /// Returns the end of the longest phrase of the lexicon that begins at an atom. An article before a word is used
    /// and not named.
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

    /// Returns the end of a single word that is not an article.
    fn any(&self, at: usize) -> Option<usize> {
        (self.is_word(at) && !self.atoms[at].word.classes.has(Class::Article)).then_some(at + 1)
    }

    fn is_word(&self, at: usize) -> bool {
        self.atoms.get(at).is_some_and(|atom| atom.kind == Kind::Prose)
    }

    fn is_one_of(&self, at: usize, words: &[&str]) -> bool {
        self.is_word(at) && words.iter().any(|word| self.text[self.atoms[at].range.clone()].eq_ignore_ascii_case(word))
    }

    /// Returns the text before an atom; empty after the last one. Marks of emphasis are left out, because they may be
    /// removed.
    fn separator(&self, at: usize) -> &str {
        match (at.checked_sub(1).and_then(|before| self.atoms.get(before)), self.atoms.get(at)) {
            (Some(before), Some(atom)) => self.text[before.range.end..atom.range.start].trim_matches('*'),
            _ => "",
        }
    }

    /// Returns true if only blanks, or one line end, stand before an atom.
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

    fn opens_parenthesis(&self, at: usize) -> bool {
        self.separator(at).trim_start_matches([' ', '*']) == "("
    }

    fn ends_sentence(&self, at: usize) -> bool {
        self.separator(at).contains(['.', '!', '?', '\n'])
    }

    /// Returns the first atom after `from` that begins a line.
    fn line_end(&self, from: usize) -> usize {
        (from + 1..self.atoms.len()).find(|&at| self.separator(at).contains('\n')).unwrap_or(self.atoms.len())
    }
}
