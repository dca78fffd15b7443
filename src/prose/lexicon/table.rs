//! Words of up to sixteen ASCII letters packed into numbers, and a hash table from them to what is known.
//!
//! A word that does not fit has the key 0 and is known by nothing: no list holds one.

use super::Word;

/// A lower-case word as a number; 0 for none.
pub(crate) type Key = u128;

/// The key of a word, upper case or lower, with a straight apostrophe or a curved one.
pub(crate) fn key(word: &[u8]) -> Key {
    const CURVED: &[u8] = "\u{2019}".as_bytes();
    let mut bytes = [0; 16];
    let (mut at, mut len) = (0, 0);
    while at < word.len() {
        let byte = match word[at] {
            byte if byte.is_ascii() => byte.to_ascii_lowercase(),
            _ if word[at..].starts_with(CURVED) => {
                at += CURVED.len() - 1;
                b'\''
            }
            _ => return 0,
        };
        let Some(slot) = bytes.get_mut(len) else { return 0 };
        *slot = byte;
        (at, len) = (at + 1, len + 1);
    }
    u128::from_le_bytes(bytes)
}

macro_rules! classes {
    ($($(#[$meta:meta])* $name:ident = $word:literal),+ $(,)?) => {
        /// A class of words that decides about others.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Class { $($(#[$meta])* $name),+ }

        impl Class {
            const ALL: &'static [(Self, &'static str)] = &[$((Self::$name, $word)),+];
        }
    };
}

classes! {
    /// Turns what is said into its opposite.
    Negation = "negation",
    /// Says that something is possible or due.
    Modal = "modal",
    /// Does what is hard to undo.
    Action = "action",
    /// Judges: `safe`, `fixed`.
    Verdict = "verdict",
    /// Tells of a failure.
    Failure = "failure",
    /// Says that there is no exception.
    Assertion = "assertion",
    /// Holds sentences together; never an argument of a command.
    Function = "function",
    /// A month.
    Month = "month",
    /// What may stand behind a number.
    Unit = "unit",
    /// A program that is no English word.
    Tool = "tool",
    /// A program that is an English word too.
    WordTool = "wordtool",
    /// Begins lines of programs.
    Code = "code",
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

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn of(class: Class) -> Self {
        Self(1 << class as u16)
    }

    fn add(&mut self, class: Class) {
        self.0 |= 1 << class as u16;
    }
}

/// Every word that has a class, with its classes.
pub(super) fn classes() -> impl Iterator<Item = (Key, Class)> {
    include_str!("classes.txt").lines().filter(|line| !line.starts_with('#')).flat_map(|line| {
        let (name, words) = line.split_once(": ").expect("a line of classes.txt names its class");
        let (class, _) = Class::ALL.iter().find(|(_, word)| *word == name).expect("classes.txt has known classes");
        words.split(' ').map(|word| (key(word.as_bytes()), *class))
    })
}

/// Open addressing with room to spare: a look-up is one multiplication and mostly one comparison.
#[derive(Debug)]
pub(super) struct Table {
    slots: Vec<(Key, Word)>,
}

const SLOT_BITS: u32 = 12;

impl Table {
    pub(super) fn new(classes: impl Iterator<Item = (Key, Class)>) -> Self {
        let mut table = Self { slots: vec![(0, Word::default()); 1 << SLOT_BITS] };
        for (word, class) in classes {
            table.entry(word).classes.add(class);
        }
        table
    }

    pub(super) fn get(&self, word: Key) -> Word {
        let (found, value) = self.slots[self.slot(word)];
        if found == word && word != 0 { value } else { Word::default() }
    }

    pub(super) fn entry(&mut self, word: Key) -> &mut Word {
        assert_ne!(word, 0, "every listed word has a key");
        let slot = self.slot(word);
        self.slots[slot].0 = word;
        &mut self.slots[slot].1
    }

    /// Where a word is, or would be. Some slots are always free.
    fn slot(&self, word: Key) -> usize {
        let folded = (word as u64) ^ ((word >> 64) as u64).rotate_left(29);
        let mut slot = (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOT_BITS)) as usize;
        while self.slots[slot].0 != 0 && self.slots[slot].0 != word {
            slot = (slot + 1) % self.slots.len();
        }
        slot
    }
}
