//! Lines of credential files that are neither `name = value` nor keys: `.netrc` and `.pgpass`.

use std::ops::Range;

use crate::cursor::{Cursor, MAX_VALUE_BYTES};
use crate::password::is_password;
use crate::value::{is_random, is_word};

/// The longest host, database or user, in bytes.
const MAX_FIELD_BYTES: usize = 128;

/// Returns the password of `machine h login u password p` or `default login u password p`, on one line or several.
/// `word` is the position of the first word.
pub(crate) fn find_netrc(word: Cursor, _: Cursor) -> Option<Range<usize>> {
    if !word.is_start() {
        return None;
    }
    let mut cursor = match word.skip_word("machine") {
        Some(host) => next_word(host)?.1,
        None => word.skip_word("default")?,
    };
    for _ in 0..3 {
        let (key, key_end) = next_word(cursor)?;
        let (value, end) = next_word(key_end)?;
        match key.shown(key_end) {
            "login" | "account" | "user" => cursor = end,
            "password" => {
                let shown = value.shown(end);
                return (is_password(shown) || is_random(shown)).then_some(value.at..end.at);
            }
            _ => return None,
        }
    }
    None
}

/// Returns the start and the end of the next word, after blanks and line ends.
fn next_word(cursor: Cursor) -> Option<(Cursor, Cursor)> {
    let start = cursor.skip_lines();
    let end = start.skip(MAX_VALUE_BYTES, |byte| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'"'));
    (start.at > cursor.at && end.at > start.at).then_some((start, end))
}

/// Returns the password of `host:port:database:user:password`. `port` is the position of the port with its colons.
pub(crate) fn find_pgpass(port: Cursor, end: Cursor) -> Option<Range<usize>> {
    let host = port.back(MAX_FIELD_BYTES, |byte| is_word(byte) || b".-*".contains(&byte)).shown(port);
    let is_any = host == "*" || host == "localhost" || host.contains('.');
    if host.is_empty() || (port.shown(end) == ":*:" && !is_any) {
        return None;
    }
    let field = |start: Cursor| -> Option<usize> {
        let end = start.skip(MAX_FIELD_BYTES, |byte| is_word(byte) || b"-*.$".contains(&byte));
        Some(end.skip_word(":").filter(|_| end.at > start.at)?.at)
    };
    let start = Cursor::new(port.text(), field(Cursor::new(port.text(), field(end)?))?);
    let end = start.skip(MAX_VALUE_BYTES, |byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'));
    let is_last = end.peek().is_none_or(|byte| b"\n\r\"\\ ".contains(&byte));
    (is_last && is_password(start.shown(end))).then_some(start.at..end.at)
}
