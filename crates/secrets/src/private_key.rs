//! Private keys in their armour: PEM, OpenSSH, PGP, PuTTY. Line ends may be escaped, the key may be cut, and a tool may
//! have printed a prefix before each line.
//!
//! A key that is cut is still a secret: its first half is there.

use std::ops::Range;

use memchr::memmem;

use crate::cursor::Cursor;
use crate::value::is_base64;

/// The beginning of armour.
pub(crate) const PEM: &str = "-----BEGIN ";

/// The beginning of the key in a PuTTY file.
pub(crate) const PUTTY: &str = "Private-Lines: ";

/// The beginning of armour that is itself encoded in base64, as in kubeconfig.
pub(crate) const ENCODED: &str = "LS0tLS1CRUdJTi";

/// The beginning of the last line of armour.
const END: &[u8] = b"-----END ";

/// The minimum number of characters of a key. A shorter one is an example from a manual.
const MIN_KEY_CHARS: usize = 40;

/// The longest line of wrapped base64. A longer line contains the whole key.
const MAX_WRAP_WIDTH: usize = 128;

/// The longest line of a key, and the longest prefix that its lines share, in bytes.
const MAX_LINE_BYTES: usize = 512;

/// The longest suffix that the lines of a key share, in bytes: a quote and a plus, or a colour.
const MAX_SUFFIX_BYTES: usize = 16;

/// Returns the range of a PEM private key that begins at `armour`. `name` is the position after `-----BEGIN `.
pub(crate) fn find_pem(armour: Cursor, name: Cursor) -> Option<Range<usize>> {
    let name_end = name.skip(40, |byte| byte.is_ascii_uppercase() || byte == b' ');
    let body = name_end.skip_word("-----").filter(|_| name.shown(name_end).contains("PRIVATE KEY"))?;
    let lines = |line_end| read_lines(armour, body, line_end);
    let readings = [read_body(body), lines(b"\n"), lines(b"\\n")];
    let (count, mut end) = readings.into_iter().max_by_key(|(count, end)| (*count, end.at))?;
    if count < MIN_KEY_CHARS {
        return None;
    }
    if end.rest().starts_with(END) {
        end = end.plus(END.len()).skip(45, |byte| byte.is_ascii_uppercase() || b" -".contains(&byte));
    }
    Some(armour.at..armour.at + armour.shown(end).trim_end().len())
}

/// Returns the range of a private key whose armour is in base64, on one line or wrapped.
pub(crate) fn find_encoded(start: Cursor) -> Option<Range<usize>> {
    if !start.is_start() {
        return None;
    }
    let head = start.skip(64, is_base64);
    let head = &start.rest()[..(head.at - start.at) / 4 * 4];
    let head = base64_simd::STANDARD.decode_to_vec(head).ok()?;
    let name = memmem::find(&head, b"PRIVATE KEY")? + "PRIVATE KEY".len();
    let mut end = start.skip(usize::MAX, is_base64);
    let width = end.at - start.at;
    let (mut count, mut length, mut next) = (width, width, next_line(end).filter(|_| width <= MAX_WRAP_WIDTH));
    // All lines but the last have the same width.
    while let (true, Some(line)) = (length == width, next) {
        end = line.skip(width, is_base64);
        length = end.at - line.at;
        count += length;
        next = next_line(end);
    }
    (count >= name * 4 / 3 + MIN_KEY_CHARS).then_some(start.at..end.at)
}

/// Returns the position after a line end, real or escaped, and the indentation of the next line; `None` if there is no
/// line end.
fn next_line(cursor: Cursor) -> Option<Cursor> {
    let line = ["\n", "\r\n", "\\n", "\\r\\n"].iter().find_map(|end| cursor.skip_word(end))?;
    Some(line.skip(MAX_LINE_BYTES, |byte| matches!(byte, b' ' | b'\t')))
}

/// Returns true if a byte may occur in a key in addition to base64: in line ends, real or escaped, and in the header
/// lines of older files.
fn is_part(byte: u8) -> bool {
    is_base64(byte) || byte.is_ascii_whitespace() || b"\\:,-".contains(&byte)
}

/// Returns the number of base64 characters of a key that begins at `body`, and its end.
fn read_body(body: Cursor) -> (usize, Cursor) {
    let mut end = body;
    while end.peek().is_some_and(is_part) && ![END, PEM.as_bytes()].iter().any(|armour| end.rest().starts_with(armour))
    {
        end = end.plus(1);
    }
    (count_base64(body.shown(end).as_bytes()), end)
}

/// Does the same as [`read_body`] for a key whose lines share the prefix and the suffix of its first line, which has
/// `-----BEGIN ` at `armour`.
fn read_lines<'t>(armour: Cursor, body: Cursor<'t>, line_end: &[u8]) -> (usize, Cursor<'t>) {
    let find = |cursor: Cursor, reach: usize| memmem::find(&cursor.rest()[..cursor.rest().len().min(reach)], line_end);
    let Some(length) = find(body, MAX_SUFFIX_BYTES) else { return (0, body) };
    let suffix = &body.rest()[..length];
    let before = &armour.before()[armour.at.saturating_sub(MAX_LINE_BYTES)..];
    let prefix = memmem::rfind(before, line_end).map_or(before, |at| &before[at + line_end.len()..]);
    let (mut count, mut end) = (0, body);
    let mut line = body.plus(length + line_end.len());
    while !line.rest().is_empty() {
        let found = find(line, MAX_LINE_BYTES);
        let length = found.unwrap_or(MAX_LINE_BYTES.min(line.rest().len()));
        let shown = &line.rest()[..length];
        let start = common_beginning(prefix, shown);
        if shown[start..].starts_with(END) {
            return (count, line.plus(start));
        }
        let part = shown[start..].strip_suffix(suffix).unwrap_or(&shown[start..]);
        if !part.iter().all(|&byte| is_part(byte)) || memmem::find(part, PEM.as_bytes()).is_some() {
            break;
        }
        count += count_base64(part);
        end = line.plus(length);
        line = end.plus(found.map_or(0, |_| line_end.len()));
    }
    (count, end)
}

/// Returns the length of the prefix that a line shares with another one. Numbers and blanks in it may differ:
/// `key.pem:12:`.
fn common_beginning(prefix: &[u8], line: &[u8]) -> usize {
    let is_count = |byte: &&u8| byte.is_ascii_digit() || byte.is_ascii_whitespace();
    let (mut expected, mut at) = (prefix, 0);
    while let Some((&first, rest)) = expected.split_first() {
        match line.get(at) {
            _ if is_count(&&first) => {
                expected = &rest[rest.iter().take_while(is_count).count()..];
                at += line[at..].iter().take_while(is_count).count();
            }
            // In the output of grep, `key.pem-13-` follows `key.pem:12:`.
            Some(&byte) if byte == first || (first, byte) == (b':', b'-') => (expected, at) = (rest, at + 1),
            _ => break,
        }
    }
    at
}

fn count_base64(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| is_base64(byte)).count()
}

/// Returns the range of the base64 lines behind `Private-Lines: 14`.
pub(crate) fn find_putty(count: Cursor) -> Option<Range<usize>> {
    let body = count.skip(4, |byte| byte.is_ascii_digit());
    let mut end = body;
    while end.peek().is_some_and(|byte| is_base64(byte) || b"\r\n\\".contains(&byte))
        && !end.rest().starts_with(b"Private-MAC")
    {
        end = end.plus(1);
    }
    (end.at - body.at >= MIN_KEY_CHARS).then(|| body.at..body.at + body.shown(end).trim_end().len())
}
