//! Credentials in HTTP headers: `Authorization: <scheme> <credential>`, `Cookie: <name>=<value>; …`.
//!
//! Most cookies are settings. A cookie counts if it looks random, or if its name says that it is a session.

use std::ops::Range;

use crate::cursor::Cursor;
use crate::password::is_password;
use crate::table::word_list;
use crate::value::{is_placeholder, is_random, is_word};

word_list!(SESSION_COOKIES, "session_cookies.txt");

/// The longest header that is read, in bytes.
const MAX_HEADER_BYTES: usize = 8192;

/// Adds the values of the cookies among `name=value; name=value`.
pub(crate) fn find_cookie_values(text: &str, cookies: Range<usize>, found: &mut Vec<Range<usize>>) {
    let mut at = cookies.start;
    for pair in text[cookies].split(';') {
        let start = at;
        at += pair.len() + 1;
        let Some((name, value)) = pair.split_once('=') else { continue };
        let value = value.trim_end_matches(['"', '\'', '\\', ' ']);
        let name_lower = name.trim().to_ascii_lowercase();
        let is_session = SESSION_COOKIES.occur_in(&name_lower) && !name_lower.contains("samesite");
        let is_key = value.bytes().all(|byte| byte.is_ascii_graphic()) && !is_placeholder(value);
        let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
        if is_key && (is_random(value) || (is_session && value.len() >= 8 && has_digit)) {
            let start = start + name.len() + 1;
            found.push(start..start + value.len());
        }
    }
}

/// Adds the cookies that follow the end of the name `Cookie`. Returns the end of the header.
pub(crate) fn find_cookies(name_end: Cursor, found: &mut Vec<Range<usize>>) -> usize {
    let Some((start, end)) = value(name_end) else { return name_end.at };
    find_cookie_values(start.text(), start.at..end.at, found);
    end.at
}

/// Adds the credential that follows the end of the name `Authorization`, with or without a scheme. Returns the end of
/// the header.
pub(crate) fn find_authorization(name_end: Cursor, found: &mut Vec<Range<usize>>) -> usize {
    let Some((start, end)) = value(name_end) else { return name_end.at };
    let value = start.shown(end);
    let (scheme, rest) = value.split_once(' ').unwrap_or(("", value));
    if !scheme.bytes().all(|byte| is_word(byte) || byte == b'-') {
        return end.at;
    }
    let credential = end.at - rest.len();
    if scheme.eq_ignore_ascii_case("basic") {
        let pair = rest.split(' ').next().unwrap_or_default();
        found.extend(is_user_and_password(pair).then(|| credential..credential + pair.len()));
        return end.at;
    }
    // `Digest username="…", response="…"`, `AWS4-HMAC-SHA256 Credential=…, Signature=…`
    let mut at = credential;
    for part in rest.split_inclusive([',', ' ']) {
        let length = part.len();
        let part = part.trim_end_matches([',', ' ']);
        let (key, shown) = part.split_once('=').filter(|(_, shown)| shown.len() > 1).unwrap_or(("", part));
        if key.is_empty() && !part.is_empty() && at > credential {
            break;
        }
        if is_credential(key, shown) {
            let start = at + part.len() - shown.len();
            found.push(start..start + shown.len());
        }
        at += length;
    }
    end.at
}

/// Returns true if a part of a header is a credential: it is random, or it is long and has digits in the position of a
/// credential.
fn is_credential(key: &str, shown: &str) -> bool {
    const KEYS: [&str; 4] = ["signature", "response", "token", "key"];
    let names_it = key.is_empty() || KEYS.contains(&key.to_ascii_lowercase().as_str());
    let has_digit = shown.bytes().any(|byte| byte.is_ascii_digit());
    let is_long = names_it && shown.len() >= 12 && has_digit && is_password(shown) && !shown.contains('(');
    (is_long || (is_random(shown) && !is_placeholder(shown))) && !is_filled(shown)
}

/// Returns true if a base64 text decodes to `user:password`, as in `Basic` and in `"auth"` of a Docker configuration.
pub(crate) fn is_user_and_password(base64: &str) -> bool {
    let Ok(bytes) = base64_simd::STANDARD.decode_to_vec(base64) else { return false };
    let Ok(pair) = String::from_utf8(bytes) else { return false };
    let is_text = pair.chars().all(|c| !c.is_control());
    is_text && pair.split_once(':').is_some_and(|(_, password)| is_password(password) || is_random(password))
}

/// Returns true if a key is padded with one repeated character, as examples are.
fn is_filled(value: &str) -> bool {
    let first = value.as_bytes().first();
    value.bytes().filter(|byte| Some(byte) == first).count() * 4 > value.len() * 3
}

/// Returns the value behind a name and `:` or `=`, without blanks and quotes. It ends with its line or with the string
/// that contains it.
fn value(name_end: Cursor) -> Option<(Cursor, Cursor)> {
    let is_between = |byte: u8| b"\\\"'` \t".contains(&byte);
    let sign = name_end.skip(8, is_between);
    if !matches!(sign.peek(), Some(b':' | b'=')) || matches!(sign.plus(1).peek(), Some(b':' | b'=')) {
        return None;
    }
    let start = sign.plus(1).skip(8, |byte| is_between(byte) || byte == b'[');
    let end = start.skip(MAX_HEADER_BYTES, |byte| byte.is_ascii() && !b"\n\r\"'`\\".contains(&byte));
    (!start.rest().is_empty()).then_some((start, end))
}
