//! Finds keys by their form: a fixed beginning and so many characters of one alphabet; and a few forms of their own.
//!
//! A beginning inside a longer word does not count. That also keeps the search linear: a run of key characters has one start.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::kinds::Alphabet::{self, Url};
use super::kinds::{KINDS, Kind};
use super::private_key::{ENCODED, PEM, PUTTY, find_encoded, find_pem, find_putty};
use super::{is_placeholder, is_random, is_start, is_word};

const WEB_TOKEN: &str = "eyJ";
const URL: &str = "://";
const TELEGRAM: &str = ":AA";

static BEGINNINGS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(AhoCorasickKind::DFA))
        .build(KINDS.iter().map(|kind| kind.beginning).chain([WEB_TOKEN, PEM, ENCODED, PUTTY, URL, TELEGRAM]))
        .expect("the beginnings fit into an automaton")
});

/// Ranges of keys of a known form; they may overlap.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut done = 0;
    for hit in BEGINNINGS.find_iter(text) {
        if hit.start() < done {
            continue;
        }
        let range = match KINDS.get(hit.pattern().as_usize()) {
            Some(kind) => find_body(text, hit.range(), kind),
            None => match &text[hit.range()] {
                WEB_TOKEN => find_web_token(text, hit.start()),
                // Read on within it: the user may be a key of a known form.
                URL => {
                    found.extend(find_password(text, hit.end()));
                    continue;
                }
                TELEGRAM => find_bot_token(bytes, hit.start()),
                ENCODED => find_encoded(text, hit.start()),
                PUTTY => find_putty(text, hit.end()),
                _ => find_pem(text, hit.end()),
            },
        };
        if let Some(range) = range {
            done = range.end;
            found.push(range);
        }
    }
    found
}

/// Length of the run of an alphabet at the beginning of `bytes`, at most `limit`.
fn run(bytes: &[u8], alphabet: Alphabet, limit: usize) -> usize {
    bytes.iter().take(limit).take_while(|&&byte| alphabet.has(byte)).count()
}

fn find_body(text: &str, beginning: Range<usize>, kind: &Kind) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if !is_start(bytes, beginning.start) {
        return None;
    }
    let length = run(&bytes[beginning.end..], kind.body, kind.length.end);
    let body = &text[beginning.end..beginning.end + length];
    let body = body.trim_end_matches('.');
    let is_cut = bytes.get(beginning.end + body.len()).is_some_and(|&next| is_word(next));
    let is_key = kind.length.contains(&body.len())
        && !is_cut
        && !is_placeholder(&without_escapes(body))
        && (!kind.is_common || is_random(body));
    // What follows `=` or a blank is the key itself; a fixed beginning belongs to it.
    let start = if kind.beginning.ends_with(['=', ' ']) { beginning.end } else { beginning.start };
    is_key.then(|| start..beginning.end + body.len())
}

/// A JSON web token: two base64url parts that each begin an object, and a signature.
fn find_web_token(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if !is_start(bytes, start) {
        return None;
    }
    let part = |from: usize| from + run(&bytes[from..], Url, bytes.len());
    let header = part(start);
    let body = bytes[header..].starts_with(b".eyJ").then(|| part(header + 1))?;
    let end = if bytes.get(body) == Some(&b'.') { part(body + 1) } else { return None };
    (header - start >= 16 && body - header >= 16 && end - body >= 20).then_some(start..end)
}

/// The password of `scheme://user:password@host`, or all before the host where the user is the key; `start` is where the user begins.
fn find_password(text: &str, start: usize) -> Option<Range<usize>> {
    const LIMIT: usize = 256;
    const WORDS: [&str; 15] = [
        "pass",
        "passwd",
        "password",
        "pwd",
        "secret",
        "user",
        "username",
        "test",
        "root",
        "admin",
        "guest",
        "token",
        "postgres",
        "mysecretpassword",
        "x-oauth-basic",
    ];
    let bytes = text.as_bytes();
    let is_part =
        |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'/' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'@');
    let end = start + bytes[start..].iter().take(LIMIT).take_while(|byte| is_part(byte)).count();
    if bytes.get(end) != Some(&b'@') {
        return None;
    }
    let colon = memchr::memchr(b':', &bytes[start..end]).map(|at| start + at);
    let user = &text[start..colon.unwrap_or(end)];
    if is_user_key(user, &bytes[end + 1..]) {
        return Some(start..end);
    }
    let colon = colon?;
    let password = &text[colon + 1..end];
    let is_word = WORDS.contains(&password.to_ascii_lowercase().as_str()) || password == user;
    let written = without_escapes(password);
    let is_template = written.contains(['{', '(', '[', '*', '$', '%', '\\']) || is_placeholder(&written);
    (password.len() >= 4 && !is_word && !is_template).then_some(colon + 1..end)
}

/// Whether the user of a URL is a key, as GitHub takes its tokens. Those before the hosts of Sentry are public.
fn is_user_key(user: &str, host: &[u8]) -> bool {
    let host = &host[..host.iter().take(64).take_while(|byte| !matches!(byte, b'/' | b' ' | b'\n')).count()];
    user.len() >= 24
        && user.bytes().all(|byte| Url.has(byte))
        && is_random(user)
        && !is_placeholder(user)
        && memchr::memmem::find(host, b"sentry").is_none()
}

/// A part of a URL without the characters in it that are written as `%40`.
fn without_escapes(part: &str) -> String {
    let mut pieces = part.split('%');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |shown, piece| {
        let is_escape = piece.len() >= 2 && piece.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
        if is_escape { shown + &piece[2..] } else { shown + "%" + piece }
    })
}

/// A Telegram bot token; `colon` stands between the bot's number and the key.
fn find_bot_token(bytes: &[u8], colon: usize) -> Option<Range<usize>> {
    let digits = bytes[..colon].iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
    let key = run(&bytes[colon + 1..], Url, 36);
    let start = colon - digits;
    // In URLs the token follows the word.
    let is_whole = is_start(bytes, start) || bytes[..start].ends_with(b"bot");
    ((8..=10).contains(&digits) && is_whole && key == 35).then_some(start..colon + 1 + key)
}

#[cfg(test)]
mod tests {
    use super::super::noise::{LETTERS, MIXED, noise};
    use super::*;

    /// Noise in which letters and digits take turns, as `is_random` wants it of short keys.
    fn mixed(length: usize) -> String {
        noise("ABCDEFGHJKLMNPQRSTUVWXYZ", length)
            .chars()
            .zip(noise("0123456789", length).chars())
            .flat_map(|(a, b)| [a, b])
            .take(length)
            .collect()
    }

    #[test]
    fn each_format_is_found_at_its_shortest_and_not_a_character_shorter() {
        for kind in KINDS {
            let length = kind.length.start;
            let body = match kind.body {
                Alphabet::Hex => noise("0123456789abcdef", length),
                _ if kind.is_common => mixed(length),
                _ => noise(MIXED, length),
            };
            let key = format!("{}{body}", kind.beginning);
            for text in [key.clone(), format!("key: {key}\n"), format!("\"{key}\"")] {
                let found = find(&text);
                assert_eq!(found.len(), 1, "{text}");
                assert!(key.ends_with(&text[found[0].clone()]), "{text}");
            }
            assert!(find(&key[..key.len() - 1]).is_empty(), "{key}");
            assert!(find(&format!("x{key}")).is_empty(), "{key}");
        }
    }

    #[test]
    fn web_tokens_bots_and_urls_are_found() {
        let part = noise(MIXED, 40);
        let letters = noise(LETTERS, 34);
        let bot = format!("123456789:AA{}", noise(MIXED, 33));
        for (text, expected) in [
            (format!("jwt eyJ{part}.eyJ{part}.{part}!"), format!("eyJ{part}.eyJ{part}.{part}")),
            (format!("/bot{bot}/getMe"), bot.clone()),
            (format!("token {bot}"), bot),
            ("postgres://app:s3cr3tPw@db:5432/x".into(), "s3cr3tPw".into()),
            ("redis://:longpassword@cache".into(), "longpassword".into()),
            ("postgres://app:p%40ss9word%21Qz@db/x".into(), "p%40ss9word%21Qz".into()),
            ("postgres://app:%23summer@db/x".into(), "%23summer".into()),
            (format!("https://{part}@github.com/a/b"), part.clone()),
            (format!("https://{part}:x-oauth-basic@github.com/a/b"), format!("{part}:x-oauth-basic")),
            (format!("https://hf_{letters}:x-oauth-basic@h.co/a"), format!("hf_{letters}")),
            (format!("?sv=2023-11-03&sig=%2B{part}%2Fx%3D"), format!("%2B{part}%2Fx%3D")),
        ] {
            let found: Vec<&str> = find(&text).into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, [expected.as_str()], "{text}");
        }
        let sentry = format!("https://{part}@o1.ingest.sentry.io/2");
        for template in ["postgres://%s:%s@db/x", "http://u:%(password)s@h/", "http://u:a%%41@h/", &sentry] {
            assert!(find(template).is_empty(), "{template}");
        }
    }
}
