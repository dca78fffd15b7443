//! Files of credentials that are neither `name = value` nor keys: `.netrc` and `.pgpass`.

use std::ops::Range;

use super::chosen::is_password;
use super::{is_random, is_start, is_word};

/// What a line of a `.pgpass` has behind its host.
pub(super) const PORTS: [&str; 5] = [":5432:", ":5433:", ":5434:", ":6432:", ":*:"];

/// The password of `machine h login u password p`, on one line or several; `name` is where `machine` stands.
pub(super) fn find_netrc(text: &str, name: Range<usize>) -> Option<Range<usize>> {
    if !is_start(text.as_bytes(), name.start) {
        return None;
    }
    let mut at = name.end;
    if text[name].eq_ignore_ascii_case("machine") {
        at = word(text, at)?.end;
    }
    for _ in 0..3 {
        let key = word(text, at)?;
        let value = word(text, key.end)?;
        match &text[key] {
            "login" | "account" | "user" => at = value.end,
            "password" => {
                let shown = &text[value.clone()];
                return (is_password(shown) || is_random(shown)).then_some(value);
            }
            _ => return None,
        }
    }
    None
}

/// The next word: behind blanks and line ends, real or escaped.
fn word(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut start = at;
    while start < at + 64 {
        match bytes.get(start)? {
            b' ' | b'\t' | b'\n' | b'\r' => start += 1,
            b'\\' if matches!(bytes.get(start + 1), Some(b'n' | b't' | b'r')) => start += 2,
            _ => break,
        }
    }
    let is_part = |byte: &&u8| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'"');
    let end = start + bytes[start..].iter().take(256).take_while(is_part).count();
    (start > at && end > start).then_some(start..end)
}

/// The password of `host:port:database:user:password`; the port stands at `port`, with its colons.
pub(super) fn find_pgpass(text: &str, port: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_host = |byte: &&u8| is_word(**byte) || matches!(byte, b'.' | b'-' | b'*');
    let host = port.start - bytes[..port.start].iter().rev().take(128).take_while(is_host).count();
    let shown = &text[host..port.start];
    let is_any = shown == "*" || shown == "localhost" || shown.contains('.');
    if shown.is_empty() || (&text[port.clone()] == ":*:" && !is_any) {
        return None;
    }
    let field = |start: usize| {
        let is_part = |byte: &&u8| is_word(**byte) || matches!(byte, b'-' | b'*' | b'.' | b'$');
        let end = start + bytes[start..].iter().take(128).take_while(is_part).count();
        (end > start && bytes.get(end) == Some(&b':')).then_some(end + 1)
    };
    let start = field(field(port.end)?)?;
    let is_part = |byte: &&u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
    let end = start + bytes[start..].iter().take(256).take_while(is_part).count();
    let is_last = bytes.get(end).is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b'"' | b'\\' | b' '));
    (is_last && is_password(&text[start..end])).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::super::{find_secrets, secrets_in};

    #[test]
    fn passwords_of_netrc_and_pgpass_are_found() {
        for (text, expected) in [
            ("machine api.h.io login ci password summer", "summer"),
            ("machine h\n  login ci\n  password summer\n", "summer"),
            ("\"machine h\\n  login ci\\n  password summer\\n\"", "summer"),
            ("machine h password summer", "summer"),
            ("default login ci password summer", "summer"),
            ("db.h.io:5432:shop:app:summer\n", "summer"),
            ("# comment\n*:*:*:app:summer", "summer"),
            ("cat ~/.pgpass: \"localhost:5432:*:postgres:summer\"", "summer"),
        ] {
            let found = secrets_in(text);
            assert_eq!(found, [expected], "{text}");
        }
    }

    #[test]
    fn words_about_machines_and_lists_with_colons_are_not() {
        for text in [
            "a machine learning login page with password fields",
            "On this machine login and password are needed",
            "arn:aws:s3:*:bucket:thing:more",
            "0.0.0.0:5432->5432/tcp",
            "tcp 0.0.0.0:5432: bind: address already in use",
        ] {
            assert!(find_secrets(text).is_empty(), "{text}");
        }
    }
}
