//! The names and words in the conversation around a text.

use concertina_base::hashing::FastSet;

use super::rule::shape_weight;
use super::words::{for_each_term, words};

/// The names and words of a conversation. A placeholder need not keep a name that the reader still sees.
#[derive(Debug, Clone, Default)]
pub struct Around {
    pub(super) in_sight: FastSet<String>,
    pub(super) written: FastSet<String>,
    pub(super) recent: FastSet<String>,
    is_fresh: bool,
}

impl Around {
    /// Creates the surroundings of a result that was just returned, whose names the next calls need most.
    pub fn of_fresh_result() -> Self {
        Self { is_fresh: true, ..Self::default() }
    }

    /// Adds the names of a text that the reader still sees.
    pub fn add(&mut self, text: &str) {
        add_names(text, &mut self.in_sight);
    }

    /// Adds the names that the model wrote in a call, which may have been folded since.
    pub fn add_written(&mut self, text: &str) {
        add_names(text, &mut self.written);
    }

    /// Adds the words of one of the last messages.
    pub fn add_recent(&mut self, text: &str) {
        for_each_part(text, |part| {
            if !self.recent.contains(part) {
                self.recent.insert(part.to_owned());
            }
        });
    }

    /// Returns true for the surroundings of a result that was just returned.
    pub fn is_fresh(&self) -> bool {
        self.is_fresh
    }
}

fn add_names(text: &str, names: &mut FastSet<String>) {
    let mut insert = |name: &str| {
        if shape_weight(name) > 0 && !names.contains(name) {
            names.insert(name.to_owned());
        }
    };
    for range in words(text) {
        let word = &text[range];
        for_each_term(word, |term| insert(&word[term]));
        insert(word);
    }
}

/// `parseHTTPRow_count` -> `parse`, `httprow`, `count`. Calls `each` with the parts of a name or text that have at
/// least four letters, in lower case.
pub(super) fn for_each_part(text: &str, mut each: impl FnMut(&str)) {
    const SHORTEST: usize = 4;
    let mut part = String::new();
    let mut was_small = false;
    for byte in text.bytes().chain([b' ']) {
        let is_new = !byte.is_ascii_alphabetic() || (was_small && byte.is_ascii_uppercase());
        if is_new {
            if part.len() >= SHORTEST {
                each(&part);
            }
            part.clear();
        }
        if byte.is_ascii_alphabetic() {
            part.push(char::from(byte.to_ascii_lowercase()));
        }
        was_small = byte.is_ascii_lowercase();
    }
}
