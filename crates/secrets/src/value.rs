//! Properties of values: as random as a key, or a placeholder for another value.

use crate::table::word_list;

word_list!(PLACEHOLDERS, "placeholders.txt");

/// The minimum length of a random key, in characters. This and the thresholds below are chosen by judgement.
const MIN_RANDOM_CHARS: usize = 16;

/// The minimum entropy of a random key with digits, in bits per byte.
const MIN_RANDOM_ENTROPY: f64 = 3.2;

/// The number of changes between letters and digits that are enough by themselves.
const MIN_DIGIT_CHANGES: usize = 3;

/// The minimum length of a random key of letters only, in characters.
const MIN_LETTERS_CHARS: usize = 24;

/// The minimum entropy of a random key of letters only, in bits per byte.
const MIN_LETTERS_ENTROPY: f64 = 3.8;

/// The minimum number of pairs of adjacent capitals in a random key of letters only.
const MIN_CAPITAL_PAIRS: usize = 3;

/// Returns true if a string is as mixed as a random key: long, with few repeats, and with digits among letters, where
/// letters and digits, or upper and lower case, alternate much more often than in words. Identifiers with a number,
/// paths, dates and version numbers are not.
pub(crate) fn is_random(value: &str) -> bool {
    let length = value.len();
    length >= MIN_RANDOM_CHARS
        && (digit_changes(value) >= MIN_DIGIT_CHANGES
            || (digit_changes(value) >= 1 && kind_changes(value) * 2 > length))
        && entropy(value) >= MIN_RANDOM_ENTROPY
        && !is_uuid(value)
}

/// Returns true if letters alternate between upper and lower case as often as in a random key, with adjacent capitals
/// as joined words do not have them.
pub(crate) fn is_random_letters(value: &str) -> bool {
    let pairs = value.as_bytes().windows(2).filter(|pair| pair.iter().all(u8::is_ascii_uppercase)).count();
    value.len() >= MIN_LETTERS_CHARS
        && value.bytes().all(|byte| byte.is_ascii_alphabetic())
        && pairs >= MIN_CAPITAL_PAIRS
        && changes(value, |byte| byte.is_ascii_uppercase()) * 3 > value.len()
        && entropy(value) >= MIN_LETTERS_ENTROPY
}

/// Returns true if a value has digits among its letters, which words of sentences do not have.
pub(crate) fn is_mixed(value: &str) -> bool {
    value.len() >= 6
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Returns the number of changes between letters and digits, ignoring other characters.
pub(crate) fn digit_changes(value: &str) -> usize {
    changes(value, |byte| byte.is_ascii_digit())
}

/// Returns the number of changes between digits, upper case and lower case, ignoring other characters.
pub(crate) fn kind_changes(value: &str) -> usize {
    changes(value, |byte| (byte.is_ascii_digit(), byte.is_ascii_uppercase()))
}

/// Returns the number of changes between kinds of letters and digits, ignoring other characters.
fn changes<Kind: PartialEq>(value: &str, kind: impl Fn(u8) -> Kind) -> usize {
    let mut kinds = value.bytes().filter(u8::is_ascii_alphanumeric).map(kind);
    let Some(mut last) = kinds.next() else { return 0 };
    kinds.filter_map(|kind| (std::mem::replace(&mut last, kind) != last).then_some(())).count()
}

/// Returns the Shannon entropy in bits per byte.
fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = value.len() as f64;
    counts.iter().filter(|&&count| count > 0).map(|&count| f64::from(count) / length).map(|p| -p * p.log2()).sum()
}

/// Returns true if a value says that it is a placeholder.
pub(crate) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    lower.starts_with(['$', '%', '@']) || PLACEHOLDERS.occur_in(&lower)
}

/// Returns true if a value has the form of a UUID.
pub(crate) fn is_uuid(value: &str) -> bool {
    let groups: Vec<&str> = value.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns true if a byte can be part of a word.
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns true if a byte is a character of base64.
pub(crate) fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}
