//! Keys of JSON members and XML attributes -> those that name something, and those that give a state.

use crate::content::severity::{Severity, severity_of_state};

/// Keys of members that name their object, the most telling first.
pub(super) const NAMING: &[&str] =
    &["name", "id", "key", "path", "file", "title", "uuid", "number", "test", "package", "url"];

/// The last words of keys whose value is a state: `status`, `checksStatus`, `build_result`.
const STATES: &[&str] = &["status", "state", "result", "conclusion", "outcome", "phase", "reason", "health", "verdict"];

pub(super) fn is_one_of(key: &str, words: &[&str]) -> bool {
    words.iter().any(|word| key.eq_ignore_ascii_case(word))
}

/// Returns the last word of a key. A word begins at a capital and after punctuation.
pub(super) fn last_word(key: &str) -> &str {
    let bytes = key.as_bytes();
    let is_start = |at: &usize| {
        let (before, first, next) = (bytes[at - 1], bytes[*at], bytes.get(at + 1));
        before.is_ascii_punctuation()
            || first.is_ascii_uppercase() && (!before.is_ascii_uppercase() || next.is_some_and(u8::is_ascii_lowercase))
    };
    &key[(1..bytes.len()).rev().find(is_start).unwrap_or(0)..]
}

/// Returns true if the last word of a key names a state.
pub(super) fn is_verdict(key: &str) -> bool {
    is_one_of(last_word(key), STATES)
}

/// Returns true for a key of a level. In a longer name, such as `log_level`, a level is mostly a threshold.
pub(super) fn is_level(key: &str) -> bool {
    is_one_of(key, &["level", "severity"])
}

/// Returns true if a whole value states a failure.
pub(super) fn is_failed_state(value: &str) -> bool {
    severity_of_state(value) >= Severity::Error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_a_key_decides_in_every_spelling() {
        for (key, last) in [
            ("HTTPStatus", "Status"),
            ("checksStatus", "Status"),
            ("last_build_result", "result"),
            ("LAST-STATE", "STATE"),
            ("a.Phase", "Phase"),
            ("stateCode", "Code"),
            ("é_ö", "ö"),
            ("ends_", "ends_"),
            ("X", "X"),
            ("", ""),
        ] {
            assert_eq!((last_word(key), is_verdict(key)), (last, is_one_of(last, STATES)), "{key}");
        }
        assert!(!is_level("log_level") && is_level("Level"));
    }
}
