//! Whether a value in the place of a password is one: passwords that people choose are words, and so are names and types.
//!
//! The place has to be sure before a plain word counts. A stand-in (`password`, `string`, `<password>`) never does.

use super::{digit_turns, is_mixed, is_placeholder};

/// Longest password that a person types.
const LONGEST: usize = 128;

/// What variables, parameters and paths begin with, and the signs that stand in none of them.
const REFERENCES: [(char, &[char]); 3] = [('$', &['!', '#', '^']), ('@', &['!', '#', '^']), ('/', &['!', '^'])];

/// What stands where a password would: types, states, and the words of manuals; in order.
const STAND_INS: [&str; 106] = [
    "admin",
    "any",
    "argument",
    "auth",
    "auto",
    "bool",
    "boolean",
    "bytes",
    "change_me",
    "char",
    "cleartext",
    "config",
    "credential",
    "credentials",
    "default",
    "denied",
    "disabled",
    "empty",
    "enabled",
    "encrypted",
    "env",
    "error",
    "expired",
    "fail",
    "failed",
    "failure",
    "false",
    "field",
    "file",
    "form",
    "generated",
    "guest",
    "hash",
    "hashed",
    "hidden",
    "incorrect",
    "input",
    "int",
    "integer",
    "interactive",
    "invalid",
    "keychain",
    "keyring",
    "label",
    "line",
    "login",
    "manual",
    "masked",
    "missing",
    "mysecretpassword",
    "name",
    "never",
    "new",
    "nil",
    "none",
    "null",
    "number",
    "object",
    "old",
    "optional",
    "options",
    "other",
    "param",
    "params",
    "pass",
    "passed",
    "passphrase",
    "passwd",
    "password",
    "payload",
    "plain",
    "plaintext",
    "postgres",
    "private",
    "prompt",
    "props",
    "public",
    "pwd",
    "random",
    "required",
    "reset",
    "result",
    "root",
    "secret",
    "self",
    "set",
    "skip",
    "state",
    "stdin",
    "str",
    "string",
    "success",
    "test",
    "text",
    "this",
    "token",
    "true",
    "type",
    "undefined",
    "unknown",
    "unset",
    "user",
    "username",
    "value",
    "varchar",
    "wrong",
];

/// Words of sentences, in order.
const SENTENCE: [&str; 66] = [
    "a",
    "after",
    "again",
    "all",
    "already",
    "an",
    "and",
    "are",
    "as",
    "at",
    "authentication",
    "be",
    "been",
    "by",
    "can",
    "cannot",
    "characters",
    "check",
    "could",
    "does",
    "empty",
    "enter",
    "expired",
    "failed",
    "for",
    "from",
    "has",
    "have",
    "if",
    "in",
    "incorrect",
    "invalid",
    "is",
    "it",
    "least",
    "length",
    "may",
    "minimum",
    "must",
    "no",
    "not",
    "of",
    "on",
    "only",
    "optional",
    "or",
    "please",
    "required",
    "set",
    "should",
    "string",
    "that",
    "the",
    "this",
    "to",
    "too",
    "type",
    "use",
    "used",
    "user",
    "was",
    "when",
    "will",
    "with",
    "you",
    "your",
];

/// Whether a value can be a password where nothing else can stand.
pub(super) fn is_password(value: &str) -> bool {
    (4..=LONGEST).contains(&value.len())
        && value.bytes().all(|byte| byte.is_ascii_graphic())
        && !is_stand_in(value)
        && !is_placeholder(value)
        && !value.contains("://")
        && !value.starts_with(['/', '~', '[', '{', '(', '*'])
}

/// Whether a value can be a password where code and words of a page may stand too: in quotes behind a name.
pub(super) fn is_quoted_password(value: &str) -> bool {
    if value.contains(' ') {
        return is_phrase(value);
    }
    let is_title =
        value.bytes().all(|byte| byte.is_ascii_alphabetic()) && value.starts_with(|c: char| c.is_ascii_uppercase());
    (is_password(value) && !is_title && !is_reference(value)) || is_signed_password(value)
}

/// Whether a bare word can be a password on the line of a configuration.
pub(super) fn is_bare_password(value: &str) -> bool {
    let ends = |c: char| matches!(c, ',' | ';' | '(' | ')' | '{' | '}' | '[' | ']' | '>' | ':');
    is_quoted_password(value)
        && !is_signed_password(value)
        && !value.ends_with(ends)
        && !value.contains(['(', '[', '{', '<'])
}

/// Whether a value begins as a reference does, but is none: letters and digits with a sign among them that no reference has. Hashes
/// (`$2b$…`), templates (`${x}`), members (`$x->y`), paths and addresses hold what this does not let pass.
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

/// Whether several words are a passphrase, and not a sentence about one.
pub(super) fn is_phrase(value: &str) -> bool {
    let words: Vec<&str> = value.split(' ').collect();
    let is_word = |word: &&str| {
        word.len() >= 2
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            && SENTENCE.binary_search(word).is_err()
    };
    (2..=6).contains(&words.len())
        && words.iter().all(is_word)
        && words.iter().filter(|word| STAND_INS.binary_search(word).is_ok()).count() == 0
        && value.len() >= 10
}

/// Whether a short value is a password that no word list has: letters in both cases or signs, with digits among them.
pub(super) fn is_mixed_password(value: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| value.bytes().any(|byte| kind(&byte));
    (8..=64).contains(&value.len())
        && value.is_ascii()
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
        && (has(u8::is_ascii_uppercase) || value.bytes().any(|byte| b"!@#$%^&*?+=".contains(&byte)))
        && digit_turns(value) >= 2
}

fn is_stand_in(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let word = lower.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let names_one =
        ["password", "passwd", "passphrase", "pwd", "secret", "_pass", "-pass"].iter().any(|name| lower.contains(name));
    let is_one_sign = lower.bytes().all(|byte| byte == lower.as_bytes()[0]);
    word.len() < 3
        || is_one_sign
        || STAND_INS.binary_search(&word).is_ok()
        || (names_one && !lower.bytes().any(|byte| byte.is_ascii_digit()))
        || word.trim_end_matches(|c: char| c.is_ascii_digit()) == "test"
}

/// Whether a value is a name of code: `request.form`, `SecretStr`, `getPassword`, `app/db`.
fn is_reference(value: &str) -> bool {
    let parts = || value.split(['.', '_', '/', ':']);
    let is_name = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_joined = value.contains(['.', '_', '/', ':']) && parts().all(is_name);
    let is_camel = is_name(value)
        && value.bytes().any(|byte| byte.is_ascii_uppercase())
        && value.bytes().any(|byte| byte.is_ascii_lowercase());
    is_joined || is_camel
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_in_order() {
        assert!(STAND_INS.is_sorted());
        assert!(SENTENCE.is_sorted());
    }

    #[test]
    fn words_and_phrases_are_passwords_and_names_and_sentences_are_not() {
        for password in ["summer", "hunter2", "letmein!", "correct horse", "correct horse battery staple", "Sommer2024"]
        {
            assert!(is_quoted_password(password), "{password}");
        }
        for password in ["$ecret9!x", "$Tr0ub#4dor", "@dmin123!", "@b1^tt3r", "/Sommer2024!"] {
            assert!(is_quoted_password(password), "{password}");
            assert!(!is_bare_password(password), "a shell reads {password} otherwise");
        }
        for other in [
            "password",
            "string",
            "Passwort",
            "Enter your password",
            "must be set",
            "request.form",
            "SecretStr",
            "userPassword",
            "${PW}",
            "${PW1}!x",
            "$(pass1 show!)",
            "$DB_PASSWORD1",
            "$user1!$pass2",
            "$user1@host!",
            "$this->pass1!",
            "$pw1[0]!",
            "$x1!=$y2",
            "$argv#x!",
            "$2b$12$K9x!",
            "$#argv1!",
            "@Password1",
            "@string/password1!",
            "@scope/pkg1@^2.0",
            "@{pw1}!",
            "@common:pw1!",
            "/run/secrets/db1!",
            "/reset2?token=a1!",
            "/help2#section",
            "/^[a-z0-9]{8,}$/",
            "<password>",
            "********",
            "xxx",
            "too short",
            "at least eight characters",
            "not a word",
        ] {
            assert!(!is_quoted_password(other), "{other}");
        }
    }
}
