//! Credentials in HTTP headers: `Authorization: <scheme> <credential>`, `Cookie: <name>=<value>; …`.
//!
//! Most cookies are settings. One counts when it looks random, or when its name says that it is a session.

use std::ops::Range;

use super::chosen::is_password;
use super::{is_placeholder, is_random, is_word};

/// Longest header that is read.
const LONGEST: usize = 8192;

/// What names of cookies hold that are sessions.
const SESSIONS: [&str; 10] = ["sess", "sid", "auth", "token", "jwt", "login", "remember", "csrf", "xsrf", "secret"];

/// The cookies' values among `name=value; name=value`.
pub(super) fn find_cookies(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let mut at = range.start;
    for pair in text[range].split(';') {
        let start = at;
        at += pair.len() + 1;
        let Some((name, value)) = pair.split_once('=') else { continue };
        let value = value.trim_end_matches(['"', '\'', '\\', ' ']);
        let name_lower = name.trim().to_ascii_lowercase();
        let is_session = SESSIONS.iter().any(|word| name_lower.contains(word)) && !name_lower.contains("samesite");
        let is_key = value.bytes().all(|byte| byte.is_ascii_graphic()) && !is_placeholder(value);
        let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
        if is_key && (is_random(value) || (is_session && value.len() >= 8 && has_digit)) {
            let start = start + name.len() + 1;
            found.push(start..start + value.len());
        }
    }
}

/// Adds the cookies behind `Cookie`, which ends at `name`; returns where the header ends.
pub(super) fn find_cookie_header(text: &str, name: usize, found: &mut Vec<Range<usize>>) -> usize {
    let Some(start) = value_start(text.as_bytes(), name) else { return name };
    let end = line_end(text.as_bytes(), start);
    find_cookies(text, start..end, found);
    end
}

/// Adds the credential behind `Authorization`, which ends at `name`: after a scheme, or alone; returns where the header ends.
pub(super) fn find_authorization(text: &str, name: usize, found: &mut Vec<Range<usize>>) -> usize {
    let bytes = text.as_bytes();
    let Some(start) = value_start(bytes, name) else { return name };
    let end = line_end(bytes, start);
    let value = &text[start..end];
    let (scheme, rest) = value.split_once(' ').unwrap_or(("", value));
    if !scheme.bytes().all(|byte| is_word(byte) || byte == b'-') {
        return end;
    }
    let credential = end - rest.len();
    if scheme.eq_ignore_ascii_case("basic") {
        let pair = rest.split(' ').next().unwrap_or_default();
        found.extend(is_user_and_password(pair).then(|| credential..credential + pair.len()));
        return end;
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
    end
}

/// Whether a part of a header is one: random, or long and with digits where a credential stands.
fn is_credential(key: &str, shown: &str) -> bool {
    const KEYS: [&str; 4] = ["signature", "response", "token", "key"];
    let names_it = key.is_empty() || KEYS.contains(&key.to_ascii_lowercase().as_str());
    let has_digit = shown.bytes().any(|byte| byte.is_ascii_digit());
    let is_long = names_it && shown.len() >= 12 && has_digit && is_password(shown) && !shown.contains('(');
    (is_long || (is_random(shown) && !is_placeholder(shown))) && !is_filled(shown)
}

/// Whether base64 decodes to `user:password`, as in `Basic` and in `"auth"` of a Docker configuration.
pub(super) fn is_user_and_password(base64: &str) -> bool {
    let Ok(bytes) = base64_simd::STANDARD.decode_to_vec(base64) else { return false };
    let Ok(pair) = String::from_utf8(bytes) else { return false };
    let is_text = pair.chars().all(|c| !c.is_control());
    is_text && pair.split_once(':').is_some_and(|(_, password)| is_password(password) || is_random(password))
}

/// Whether a key is filled up with one character, as examples are.
fn is_filled(value: &str) -> bool {
    let first = value.as_bytes().first();
    value.bytes().filter(|byte| Some(byte) == first).count() * 4 > value.len() * 3
}

/// Behind `:` or `=`, blanks and quotes; `None` where no value follows.
fn value_start(bytes: &[u8], name: usize) -> Option<usize> {
    let skip = |at: usize, what: &[u8]| {
        at + bytes[at.min(bytes.len())..].iter().take(8).take_while(|byte| what.contains(byte)).count()
    };
    let sign = skip(name, b"\\\"'` \t");
    if !matches!(bytes.get(sign), Some(b':' | b'=')) || matches!(bytes.get(sign + 1), Some(b':' | b'=')) {
        return None;
    }
    let start = skip(sign + 1, b"\\\"'` \t[");
    (start < bytes.len()).then_some(start)
}

/// Where a header ends: with its line, or with the string that it stands in.
fn line_end(bytes: &[u8], start: usize) -> usize {
    let ends = |byte: &&u8| !matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\' | 128..);
    start + bytes[start..].iter().take(LONGEST).take_while(ends).count()
}

#[cfg(test)]
mod tests {
    use super::super::secrets_in;

    #[test]
    fn credentials_and_sessions_in_headers_are_found() {
        for (text, expected) in [
            ("Authorization: Basic YWRtaW46c3VtbWVyOTk=", "YWRtaW46c3VtbWVyOTk="),
            ("-H 'Authorization: ApiKey q8w7e6r5t4y3'", "q8w7e6r5t4y3"),
            ("\"authorization\": \"token q8w7e6r5t4y3u2i1\"", "q8w7e6r5t4y3u2i1"),
            ("curl -H 'Authorization: token q8w7e6r5t4y3u2i1' https://h/", "q8w7e6r5t4y3u2i1"),
            ("curl -H 'Cookie: sessionid=q8w7e6r5t4' https://h/", "q8w7e6r5t4"),
            ("Cookie: theme=dark; sid=s3cr3tv4lue; lang=en", "s3cr3tv4lue"),
            ("Set-Cookie: connect.sid=q8w7e6r5t4; Path=/; HttpOnly", "q8w7e6r5t4"),
            ("curl -b 'session=q8w7e6r5t4' https://h/", "q8w7e6r5t4"),
            ("{\"auths\":{\"r.io\":{\"auth\":\"bWU6c3VtbWVyOTk=\"}}}", "bWU6c3VtbWVyOTk="),
        ] {
            let found = secrets_in(text);
            assert_eq!(found, [expected], "{text}");
        }
    }

    #[test]
    fn examples_and_settings_in_headers_are_not() {
        for text in [
            "\"authorization\": \"token 0000000000000000000000000000000000000001\"",
            "Authorization: Bearer $TOKEN",
            "headers[\"Authorization\"] = \"Bearer fake_token_12345\"",
            "Cookie: theme=dark; lang=en-US; width=1280",
            "Set-Cookie: theme=dark; Path=/; Max-Age=3600; SameSite=Lax",
            "cookie = request.cookies.get('session')",
            "- [ ] Authorization: only user's campaigns",
        ] {
            let found = secrets_in(text);
            assert!(found.is_empty(), "{text}: {found:?}");
        }
    }
}
