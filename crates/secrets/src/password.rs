//! Rules for passwords that people choose. Such passwords are words, but so are names and types.
//!
//! A plain word counts only if the context is certain. A stand-in (`password`, `string`, `<password>`) never counts.

use crate::table::word_list;
use crate::value::{digit_changes, is_mixed, is_placeholder};

/// The longest password that a person types, in bytes.
const MAX_PASSWORD_BYTES: usize = 128;

/// The first characters of variables, parameters and paths, and the signs that never occur in them.
const REFERENCES: [(char, &[char]); 3] = [('$', &['!', '#', '^']), ('@', &['!', '#', '^']), ('/', &['!', '^'])];

word_list!(STAND_INS, "stand_ins.txt");
word_list!(SENTENCE_WORDS, "sentence_words.txt");

/// Returns true if a value can be a password in a position where nothing else can stand.
pub(crate) fn is_password(value: &str) -> bool {
    (4..=MAX_PASSWORD_BYTES).contains(&value.len())
        && value.bytes().all(|byte| byte.is_ascii_graphic())
        && !is_stand_in(value)
        && !is_placeholder(value)
        && !value.contains("://")
        && !value.starts_with(['/', '~', '[', '{', '(', '*'])
}

/// Returns true if a quoted value behind a name can be a password. Code and text of web pages may stand there too.
pub(crate) fn is_quoted_password(value: &str) -> bool {
    if value.contains(' ') {
        return is_phrase(value);
    }
    let is_title =
        value.bytes().all(|byte| byte.is_ascii_alphabetic()) && value.starts_with(|c: char| c.is_ascii_uppercase());
    (is_password(value) && !is_title && !is_reference(value)) || is_signed_password(value)
}

/// Returns true if a bare word can be a password on the line of a configuration.
pub(crate) fn is_bare_password(value: &str) -> bool {
    let ends = |c: char| matches!(c, ',' | ';' | '(' | ')' | '{' | '}' | '[' | ']' | '>' | ':');
    is_quoted_password(value)
        && !is_signed_password(value)
        && !value.ends_with(ends)
        && !value.contains(['(', '[', '{', '<'])
}

/// Returns true if a value begins like a reference but is none: it consists of letters and digits, with a sign that
/// references do not have. Hashes (`$2b$…`), templates (`${x}`), members (`$x->y`), paths and addresses contain other
/// characters.
fn is_signed_password(value: &str) -> bool {
    let Some((_, signs)) = REFERENCES.iter().find(|(first, _)| value.starts_with(*first)) else { return false };
    let rest = &value[1..];
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#^*+%~_-.".contains(&byte);
    value.len() >= 8
        && is_mixed(rest)
        && rest.starts_with(|c: char| c.is_ascii_alphanumeric())
        && rest.contains(*signs)
        && rest.bytes().all(is_part)
        && is_password(rest)
}

/// Returns true if several words are a passphrase, and not a sentence about one.
pub(crate) fn is_phrase(value: &str) -> bool {
    let words: Vec<&str> = value.split(' ').collect();
    let is_word = |word: &&str| {
        word.len() >= 2
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            && !SENTENCE_WORDS.contains(word)
    };
    (2..=6).contains(&words.len())
        && words.iter().all(is_word)
        && !words.iter().any(|word| STAND_INS.contains(word))
        && value.len() >= 10
}

/// Returns true if a short value is a password that no word list contains: letters in both cases, or signs, with digits
/// among them.
pub(crate) fn is_mixed_password(value: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| value.bytes().any(|byte| kind(&byte));
    (8..=64).contains(&value.len())
        && value.is_ascii()
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
        && (has(u8::is_ascii_uppercase) || value.bytes().any(|byte| b"!@#$%^&*?+=".contains(&byte)))
        && digit_changes(value) >= 2
}

fn is_stand_in(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let word = lower.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let names_one =
        ["password", "passwd", "passphrase", "pwd", "secret", "_pass", "-pass"].iter().any(|name| lower.contains(name));
    let is_one_sign = lower.bytes().all(|byte| byte == lower.as_bytes()[0]);
    word.len() < 3
        || is_one_sign
        || STAND_INS.contains(word)
        || (names_one && !lower.bytes().any(|byte| byte.is_ascii_digit()))
        || word.trim_end_matches(|c: char| c.is_ascii_digit()) == "test"
}

/// Returns true if a value is a name in code: `request.form`, `SecretStr`, `getPassword`, `app/db`.
fn is_reference(value: &str) -> bool {
    let parts = || value.split(['.', '_', '/', ':']);
    let is_name = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_joined = value.contains(['.', '_', '/', ':']) && parts().all(is_name);
    let is_camel = is_name(value)
        && value.bytes().any(|byte| byte.is_ascii_uppercase())
        && value.bytes().any(|byte| byte.is_ascii_lowercase());
    is_joined || is_camel
}
