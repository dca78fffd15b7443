//! A text -> the short forms that it uses as words, wherever they stand: where `pwd` is a command, it is no password.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::{Category, lexicon};

/// What finds short forms in a text.
#[derive(Debug)]
pub(crate) struct ShortForms {
    forms: Vec<String>,
    finder: AhoCorasick,
}

impl ShortForms {
    /// Reads each of them upper case or lower.
    ///
    /// # Panics
    /// When they are longer than memory can hold.
    pub(crate) fn new<'a>(forms: impl Iterator<Item = &'a str>) -> Self {
        let forms: Vec<String> = forms.map(str::to_owned).collect::<BTreeSet<_>>().into_iter().collect();
        let finder = AhoCorasick::builder().ascii_case_insensitive(true).build(&forms);
        Self { forms, finder: finder.expect("short words are no large automaton") }
    }

    /// Those that a text uses as words. Linear.
    pub(crate) fn used_in(&self, text: &str) -> HashSet<&str> {
        let found = self.finder.find_overlapping_iter(text);
        let words = found.filter(|found| is_word(text, found.start(), found.end()));
        words.map(|word| self.forms[word.pattern().as_usize()].as_str()).collect()
    }
}

static ABBREVIATIONS: LazyLock<ShortForms> = LazyLock::new(|| {
    let abbreviations = lexicon().entries.iter().filter(|entry| entry.category == Category::Abbreviation);
    ShortForms::new(abbreviations.map(|entry| entry.written))
});

/// The short forms of the lexicon that a text uses as words.
pub(crate) fn used_short_forms(text: &str) -> HashSet<&'static str> {
    ABBREVIATIONS.used_in(text)
}

/// Whether a place in a text is a word of its own: not a part of a longer one, of a path or of a file name.
fn is_word(text: &str, start: usize, end: usize) -> bool {
    let is_joint = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '\\');
    let mut behind = text[end..].chars();
    let is_free_behind = match behind.next() {
        Some('.' | ':') => behind.next().is_none_or(|c| !c.is_alphanumeric()),
        next => next.is_none_or(|c| !is_joint(c)),
    };
    is_free_behind && text[..start].chars().next_back().is_none_or(|c| !is_joint(c) && c != '.')
}
