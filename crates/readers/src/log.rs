//! The levels of log lines.

use std::ops::Range;

use super::lines::head;
use super::time_stamp::skip;
use super::word_set::is_word_byte;

/// The words that say how grave a line is.
#[rustfmt::skip]
const LEVELS: &[&str] = &[
    "TRACE", "DEBUG", "INFO", "INFORMATION", "NOTICE", "WARN", "WARNING", "ERROR", "ERR", "SEVERE", "FATAL",
    "CRITICAL", "CRIT", "ALERT", "EMERG", "PANIC",
];

/// Finds the bytes of the level word of a log line: in capitals, or in any case between brackets or behind `level=`.
///
/// Looks at the first 200 bytes.
pub fn level(line: &str) -> Option<Range<usize>> {
    let line = head(line, 200);
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        at = skip(bytes, at, |byte| !byte.is_ascii_alphabetic());
        let end = skip(bytes, at, is_word_byte);
        let word = &line[at..end];
        if let Some(name) = level_named(word) {
            let bracketed = at > 0 && matches!(bytes[at - 1], b'[' | b'<' | b'(');
            let keyed = line[..at].trim_end_matches('"').to_ascii_lowercase().ends_with("level=");
            if word == name || bracketed || keyed {
                return Some(at..end);
            }
        }
        at = end;
    }
    None
}

/// The level that a word names in any case, in capitals.
fn level_named(word: &str) -> Option<&'static str> {
    let is_likely = (3..=11).contains(&word.len());
    LEVELS.iter().find(|name| is_likely && word.eq_ignore_ascii_case(name)).copied()
}

/// Whether the line begins with a level: `ERROR: ...`, `[warn] ...`, `INFO  ...`.
pub(crate) fn leads_with_level(line: &str) -> bool {
    let bare = line.trim_start_matches([' ', '[', '<', '(']);
    let first = &bare[..skip(bare.as_bytes(), 0, is_word_byte)];
    // Most lines do not, and a look at their start tells.
    let searched = head(line, 200);
    let has_key = || memchr::memchr_iter(b'=', searched.as_bytes()).any(|at| searched[..at].ends_with("level"));
    if level_named(first).is_none() && !has_key() {
        return false;
    }
    let Some(range) = level(line) else { return false };
    let before = &line[..range.start];
    let after = line[range.end..].chars().next();
    before.trim_matches([' ', '[', '<', '(']).is_empty()
        && (after.is_none_or(|c| matches!(c, ':' | ']' | '>' | ')' | '\t')) || line[range.end..].starts_with("  "))
        || before.trim_end_matches('"').ends_with("level=")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_found_in_capitals_brackets_and_keys() {
        let word = |line: &'static str| level(line).map(|range| &line[range]);
        assert_eq!(word("2024 ERROR x"), Some("ERROR"));
        assert_eq!(word("[Sun] [warn] x"), Some("warn"));
        assert_eq!(word("time=1 level=info msg=x"), Some("info"));
        assert_eq!(word("an error happened"), None);
        assert!(
            leads_with_level("WARN  disk is full")
                && leads_with_level("ERROR: no")
                && !leads_with_level("ERROR handling is described below")
        );
    }
}
