//! Scores a name by a hand-written rule: its shape, its number of occurrences, whether it is defined here, its
//! position, and its length.
//!
//! In recorded sessions, a name that occurs twice is written again three times as often as one that occurs once, and a
//! defined name twice as often as a used one. Numbers of up to four digits are hardly ever written again.

use super::Sighting;
use super::words::{DEFINING, LONGEST, has_file_extension};

/// The least length of a name in bytes.
pub(super) const SHORTEST: usize = 3;

pub(super) fn score(word: &str, sighting: &Sighting, text: &str) -> u64 {
    let shape = shape_weight(word);
    let shape = if sighting.has_terms { shape / 3 } else { shape };
    let weight = if shape == 0 && sighting.defined && is_defined_name(word, text, sighting.first) { 25 } else { shape };
    let often = match sighting.count {
        1 => 10,
        2..=4 => 23,
        _ => 30,
    };
    let defined = if sighting.defined { 2 } else { 1 };
    let early = if sighting.first <= text.len() / 5 { 13 } else { 10 };
    let length = word.len() as u64 + 12;
    weight * often * defined * early * 1000 / length
}

/// Returns true if a plain word looks like a name where it is defined, as in `class Foo` and `fn run(` but not in "the
/// function returns".
fn is_defined_name(word: &str, text: &str, at: usize) -> bool {
    let next = text.as_bytes().get(at + word.len());
    (SHORTEST..=LONGEST).contains(&word.len())
        && (word.starts_with(|c: char| c.is_ascii_uppercase()) || next.is_some_and(|byte| b"({:<=[;".contains(byte)))
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && !DEFINING.contains(&word)
}

/// Returns the likelihood that a word of this shape is written again, in thousandths; 0 for plain words and small
/// numbers.
pub(super) fn shape_weight(word: &str) -> u64 {
    if !(4..=LONGEST).contains(&word.len()) {
        return 0;
    }
    let signs = Signs::of(word.as_bytes());
    let length = word.len();
    if signs.letters == 0 {
        return if signs.digits >= 5 && signs.dots + signs.hyphens + signs.slashes == 0 { 20 } else { 0 };
    }
    if signs.slashes + signs.backslashes > 0 {
        let is_path = word.starts_with('/') || signs.dots > 0 || signs.slashes > 1 || signs.backslashes > 0;
        return if is_path {
            40
        } else if length > 6 {
            10
        } else {
            0
        };
    }
    if length >= 7 && signs.digits > 0 && signs.hexadecimal == length {
        return 40;
    }
    if word.as_bytes()[0].is_ascii_digit() {
        return if signs.hyphens + signs.underscores > 0 { 20 } else { 5 };
    }
    if signs.dots > 0 && !has_file_extension(word) {
        // A member of a library, such as `fmt.Errorf` or `t.Fatal`, is seldom worth keeping.
        return if word.as_bytes()[..4].contains(&b'.') { 5 } else { 20 };
    }
    if signs.dots + signs.colons > 0 {
        return 40;
    }
    if signs.underscores > 0 || signs.has_inner_capital {
        return 45;
    }
    if signs.hyphens > 0 {
        return if signs.digits > 0 { 30 } else { 18 };
    }
    if signs.digits > 0 { 30 } else { 0 }
}

/// The number of bytes of each kind in a word.
#[derive(Debug, Default)]
struct Signs {
    digits: usize,
    letters: usize,
    hexadecimal: usize,
    dots: usize,
    hyphens: usize,
    underscores: usize,
    slashes: usize,
    backslashes: usize,
    colons: usize,
    /// True if a lower-case letter is followed by an upper-case one.
    has_inner_capital: bool,
}

impl Signs {
    fn of(bytes: &[u8]) -> Self {
        let mut signs = Self::default();
        let mut was_small = false;
        for &byte in bytes {
            let is_small = byte.is_ascii_lowercase();
            match byte {
                b'0'..=b'9' => signs.digits += 1,
                b'a'..=b'z' => signs.letters += 1,
                b'A'..=b'Z' => {
                    signs.letters += 1;
                    signs.has_inner_capital |= was_small;
                }
                b'.' => signs.dots += 1,
                b'-' => signs.hyphens += 1,
                b'_' => signs.underscores += 1,
                b'/' => signs.slashes += 1,
                b'\\' => signs.backslashes += 1,
                b':' => signs.colons += 1,
                _ => {}
            }
            signs.hexadecimal += usize::from(byte.is_ascii_hexdigit());
            was_small = is_small;
        }
        signs
    }
}
