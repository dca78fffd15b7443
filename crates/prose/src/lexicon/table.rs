//! A map from words to their properties. Words of up to sixteen ASCII letters are packed into numbers.
//!
//! A word that does not fit has the key 0. No list contains such a word.

use concertina_base::hashing::FastMap;
use concertina_readers::{blocks, severity};

use super::{Word, data_lines};

/// A lower-case word as a number; 0 if it does not fit.
pub(crate) type Key = u128;

/// Returns the key of a word in any case, with straight or curved apostrophes.
#[inline]
pub(crate) fn key(word: &[u8]) -> Key {
    const NOT_ASCII: Key = Key::from_ne_bytes([0x80; 16]);
    if word.len() <= 16 {
        let (low, high) = word.split_at(word.len().min(8));
        let packed = Key::from(packed(high)) << 64 | Key::from(packed(low));
        if packed & NOT_ASCII == 0 {
            return packed;
        }
    }
    straightened(word)
}

/// Packs up to eight bytes in lower case, the first one lowest.
fn packed(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(byte.to_ascii_lowercase()))
}

/// Returns the key of a word that is longer than sixteen bytes or not ASCII: 0 unless that is because of curved
/// apostrophes.
fn straightened(word: &[u8]) -> Key {
    const CURVED: &[u8] = "\u{2019}".as_bytes();
    let mut bytes = [0; 16];
    let mut slots = bytes.iter_mut();
    let mut rest = word;
    while let Some(&first) = rest.first() {
        let (byte, len) = if rest.starts_with(CURVED) { (b'\'', CURVED.len()) } else { (first, 1) };
        let Some(slot) = slots.next().filter(|_| byte.is_ascii()) else { return 0 };
        *slot = byte.to_ascii_lowercase();
        rest = &rest[len..];
    }
    Key::from_le_bytes(bytes)
}

macro_rules! classes {
    ($($(#[$meta:meta])* $name:ident = $word:literal),+ $(,)?) => {
        /// A class of words that decides about other words.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Class { $($(#[$meta])* $name),+ }

        impl Class {
            const ALL: &'static [(Self, &'static str)] = &[$((Self::$name, $word)),+];
        }
    };
}

classes! {
    /// Negates a statement.
    Negation = "negation",
    /// Says that something is possible or due.
    Modal = "modal",
    /// An action that is hard to undo.
    Action = "action",
    /// Judges: `safe`, `fixed`.
    Verdict = "verdict",
    /// Reports a failure.
    Failure = "failure",
    /// States that there is no exception.
    Assertion = "assertion",
    /// Connects words of a sentence; never an argument of a command.
    Function = "function",
    /// A month.
    Month = "month",
    /// May follow a number.
    Unit = "unit",
    /// A program whose name is not an English word.
    Tool = "tool",
    /// A program whose name is also an English word.
    WordTool = "wordtool",
    /// Begins lines of programs.
    Code = "code",
    /// Stands before a word that is named and not used: `word`, `say`, `replace`.
    Naming = "naming",
    /// Announces words that are quoted after a colon.
    Speech = "speech",
    /// A word of English and of no other common European language.
    English = "english",
    /// An article of English.
    Article = "article",
}

/// A set of classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Classes(u16);

impl Classes {
    pub(crate) fn has(self, class: Class) -> bool {
        self.0 & 1 << class as u16 != 0
    }

    pub(crate) fn has_any(self, classes: &[Class]) -> bool {
        classes.iter().any(|&class| self.has(class))
    }

    pub(crate) fn of(class: Class) -> Self {
        Self(1 << class as u16)
    }

    pub(crate) fn add(&mut self, classes: Self) {
        self.0 |= classes.0;
    }
}

/// Returns every word that has a class, with its class. The words that report a failure are those of the readers.
pub(super) fn classes() -> impl Iterator<Item = (Key, Class)> {
    let listed = data_lines(include_str!("classes.txt")).flat_map(|line| {
        let (name, words) = line.split_once(": ").expect("a line of classes.txt names its class");
        let (class, _) = Class::ALL.iter().find(|(_, word)| *word == name).expect("classes.txt has known classes");
        words.split(' ').map(|word| (key(word.as_bytes()), *class))
    });
    let of_blocks = ["negation", "modal", "function", "tool", "wordtool"].into_iter().flat_map(|name| {
        let (class, _) = Class::ALL.iter().find(|(_, word)| *word == name).expect("a known class");
        blocks::words_of(name).map(|word| (key(word.as_bytes()), *class))
    });
    let failures = severity::words().map(|word| (key(word.as_bytes()), Class::Failure));
    // The table of failures may hold a word that is too long for a key.
    listed.chain(of_blocks).chain(failures.filter(|(key, _)| *key != 0))
}

/// The listed words.
#[derive(Debug)]
pub(super) struct Table(FastMap<Key, Word>);

impl Table {
    pub(super) fn new(classes: impl Iterator<Item = (Key, Class)>) -> Self {
        let mut table = Self(FastMap::default());
        for (word, class) in classes {
            table.entry(word).classes.add(Classes::of(class));
        }
        table
    }

    #[inline]
    pub(super) fn get(&self, word: Key) -> Word {
        self.0.get(&word).copied().unwrap_or_default()
    }

    pub(super) fn entry(&mut self, word: Key) -> &mut Word {
        assert_ne!(word, 0, "every listed word has a key");
        let id = u16::try_from(self.0.len() + 1).expect("a few thousand words");
        self.0.entry(word).or_insert_with(|| Word { id, ..Word::default() })
    }

    /// Makes `alias` count as `word`, and keeps its own classes too.
    pub(super) fn alias(&mut self, alias: Key, word: Key) {
        let mut known = *self.entry(word);
        known.classes.add(self.get(alias).classes);
        self.0.insert(alias, known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spelling_of_a_word_does_not_change_its_key() {
        assert_eq!(key("Don’t".as_bytes()), key(b"don't"));
        assert_eq!(key("SIXTEEN’LETTERS’".as_bytes()), key(b"sixteen'letters'"));
        assert_ne!(key(b"abcdefghi"), key(b"abcdefgh"));
        for word in ["", "seventeen-letters", "über", "seventeen’letters"] {
            assert_eq!(key(word.as_bytes()), 0, "{word}");
        }
    }
}
