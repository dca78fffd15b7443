//! Keys that nothing announces: the forty characters of an AWS secret access key, alone.
//!
//! Hashes are hexadecimal and paths are words, so a run of exactly this length that changes between large, small and digits
//! all the time is neither. One byte in forty is looked at until one can be part of such a run.

use std::ops::Range;

use super::{digit_turns, is_base64, is_escape, is_placeholder, turns};

const LENGTH: usize = 40;

/// Ranges of what looks like a secret access key.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = LENGTH - 1;
    while at < bytes.len() {
        if !is_base64(bytes[at]) {
            at += LENGTH;
            continue;
        }
        let mut start = at - bytes[..at].iter().rev().take(LENGTH).take_while(|&&byte| is_base64(byte)).count();
        let end = at + bytes[at..].iter().take_while(|&&byte| is_base64(byte)).count();
        start += usize::from(end - start == LENGTH + 1 && is_escape(bytes, start));
        if end - start == LENGTH && is_alone(bytes, start, end) && is_key(&text[start..end]) {
            found.push(start..end);
        }
        at = end + LENGTH - 1;
    }
    found
}

/// Whether nothing beside a run makes it a part of something longer.
fn is_alone(bytes: &[u8], start: usize, end: usize) -> bool {
    let joins = |byte: &u8| matches!(byte, b'_' | b'-' | b'.' | b'%' | b':' | b'@' | b'~' | b'#' | b'?' | b'&');
    let before = start.checked_sub(1).is_none_or(|before| bytes[before] == b':' || !joins(&bytes[before]));
    let is_hash = bytes[..start].ends_with(b"sha1:") || bytes[..start].ends_with(b"h1:");
    before && !is_hash && bytes.get(end).is_none_or(|after| *after == b'.' || !joins(after))
}

fn is_key(run: &str) -> bool {
    let kinds = || turns(run, |byte| (byte.is_ascii_digit(), byte.is_ascii_uppercase()));
    let has = |kind: fn(&u8) -> bool| run.bytes().any(|byte| kind(&byte));
    let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    // Few random keys have fewer, and no path or identifier as many.
    is_mixed
        && (digit_turns(run) >= 3 && kinds() >= 15 || digit_turns(run) >= 1 && kinds() >= 18)
        && run.bytes().filter(|byte| *byte == b'/').count() <= 4
        && !run.starts_with(['/', '='])
        && !is_placeholder(run)
}

#[cfg(test)]
mod tests {
    use super::super::noise::{MIXED, noise};
    use super::*;

    #[test]
    fn forty_random_characters_are_found_wherever_they_stand() {
        let key = noise(MIXED, LENGTH);
        for before in 0..90 {
            let text = format!("{} {key}\n", ".".repeat(before));
            assert_eq!(find(&text), std::slice::from_ref(&(before + 1..before + 1 + LENGTH)), "{text}");
        }
    }

    #[test]
    fn behind_an_escaped_blank_forty_random_characters_are_found() {
        let key = noise(MIXED, LENGTH);
        for before in ["a\\t", "a\\n", "a\\\\n"] {
            let text = format!("{{\"content\":\"{before}{key}\\n\"}}");
            let found: Vec<&str> = find(&text).into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, [key.as_str()], "{text}");
        }
    }

    #[test]
    fn hashes_paths_and_longer_runs_are_not_keys() {
        let key = noise(MIXED, LENGTH);
        for text in [
            "9fceb02d0ae598e95dc970b74767f19372d61af8".to_owned(),
            "src/main/java/com/acme/UserServiceTest12".to_owned(),
            format!("{key}A"),
            format!("sha1:{key}"),
            format!("{key}_x"),
        ] {
            assert!(find(&text).is_empty(), "{text}");
        }
    }
}
