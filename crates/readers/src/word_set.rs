//! Searches for many words in one pass over a text, and defines the characters of words.

use aho_corasick::{AhoCorasick, Anchored, Input, MatchKind, StartKind};

/// A fixed set of words.
#[derive(Debug)]
pub(crate) struct WordSet(AhoCorasick);

impl WordSet {
    /// Builds a set from a constant list. No word may be empty.
    pub(crate) fn of(words: impl IntoIterator<Item = &'static str>) -> Self {
        // It does not matter which word is found, and this match kind has the fastest search.
        let kind = MatchKind::LeftmostFirst;
        let automaton = AhoCorasick::builder().match_kind(kind).start_kind(StartKind::Both).build(words);
        Self(automaton.expect("a short list of short words"))
    }

    /// Returns true if one of the words is in the text.
    pub(crate) fn are_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// Returns true if the text starts with one of the words.
    pub(crate) fn start(&self, text: &str) -> bool {
        self.0.find(Input::new(text).anchored(Anchored::Yes)).is_some()
    }
}

/// Returns true if a byte is part of a word: a letter, a digit or an underscore.
pub fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns true if a word consists of digits.
pub fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_at_the_start_and_inside() {
        let words = WordSet::of(["ab", "abc", "x "]);
        assert!(words.start("abd") && words.start("x y") && !words.start("cab") && !words.start(""));
        assert!(words.are_in("cab") && !words.are_in("x"));
    }
}
