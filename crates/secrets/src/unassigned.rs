//! Values that no assignment sign joins to their names: `<password>x</password>`, `define('DB_PASSWORD', 'x')`,
//! `IDENTIFIED BY 'x'`, and lists of variables in which a name and its value are two entries: `name: DB_PASSWORD`,
//! `value: x`.
//!
//! Lists of words look similar (`["password", "username"]`), so each form counts only with the text that must stand
//! before the name.

use std::ops::Range;

use crate::cursor::{Cursor, MAX_VALUE_BYTES};
use crate::value::is_word;

/// The longest name, and the longest distance to its value, in bytes.
const MAX_DISTANCE_BYTES: usize = 64;

/// The distance within which the statement of a password begins, in bytes.
const MAX_STATEMENT_BYTES: usize = 256;

/// The beginnings of the SQL statements that contain passwords.
const STATEMENTS: [&str; 6] = ["create user", "alter user", "create role", "alter role", "create login", "grant "];

/// Returns the value of a name whose announcing word is between two positions.
pub(crate) fn find(word: Cursor, end: Cursor) -> Option<Range<usize>> {
    let name = word.back(MAX_DISTANCE_BYTES, |byte| is_word(byte) || b"-.:".contains(&byte));
    match end.peek()? {
        b'>' => find_in_element(name, end.plus(1)),
        b' ' => find_in_statement(word, end).or_else(|| find_in_entry(name, end)),
        _ => find_in_define(name, end).or_else(|| find_in_entry(name, end)),
    }
}

/// Returns the value in `<password>x</password>`.
fn find_in_element(name: Cursor, content: Cursor) -> Option<Range<usize>> {
    let end = content.skip(MAX_VALUE_BYTES, |byte| byte != b'<');
    (name.previous() == Some(b'<') && end.rest().starts_with(b"</") && end.at < content.at + MAX_VALUE_BYTES)
        .then_some(content.at..end.at)
}

/// Returns the password in `CREATE USER a IDENTIFIED BY 'x'` or `ALTER ROLE a PASSWORD 'x'`. The announcing word ends
/// before or after `BY`.
pub(crate) fn find_in_statement(word: Cursor, end: Cursor) -> Option<Range<usize>> {
    let mut behind = end.skip_blanks();
    if let Some(by) = behind.skip_word("by ") {
        behind = by.skip_blanks();
    }
    let value = behind.quoted()?;
    let from = word.text().ceil_char_boundary(word.at.saturating_sub(MAX_STATEMENT_BYTES));
    let before = word.text()[from..word.at].to_ascii_lowercase();
    STATEMENTS.iter().any(|statement| before.contains(statement)).then_some(value)
}

/// Returns the value in PHP's `define('DB_PASSWORD', 'x')`.
fn find_in_define(name: Cursor, end: Cursor) -> Option<Range<usize>> {
    let comma = end.skip_quote().skip_word(",")?;
    before_quote(name).before().ends_with(b"define(").then(|| comma.skip_blanks().quoted())?
}

/// Returns the value in `"name": "DB_PASSWORD", "value": "x"`, and in the YAML form on two lines without quotes.
fn find_in_entry(name: Cursor, end: Cursor) -> Option<Range<usize>> {
    let colon = before_quote(name);
    if colon.previous() != Some(b':') {
        return None;
    }
    let key_end = before_quote(Cursor::new(name.text(), colon.at - 1));
    let key = key_end.back(MAX_DISTANCE_BYTES, is_word);
    if !["name", "key"].iter().any(|word| key.skip_word(word).is_some_and(|behind| behind.at == key_end.at)) {
        return None;
    }
    let entry = end.skip_quote();
    let comma = entry.skip_word(",");
    let sign = comma.unwrap_or(entry).skip_lines().skip_quote().skip_word("value")?.skip_quote().skip_blanks();
    let value = sign.skip_word(":")?.skip_blanks();
    value.quoted().or_else(|| bare(value).filter(|_| comma.is_none()))
}

/// Returns a value without quotes that takes up its whole line.
fn bare(start: Cursor) -> Option<Range<usize>> {
    let end = start.skip(MAX_VALUE_BYTES, |byte| byte.is_ascii_graphic() && !b"\"'`,;()[]{}<>|&\\".contains(&byte));
    end.peek().is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b'\\' | b'"')).then_some(start.at..end.at)
}

/// Returns the position before the quote that opens here and the blanks before it.
fn before_quote(cursor: Cursor) -> Cursor {
    cursor.back(MAX_DISTANCE_BYTES, |byte| matches!(byte, b'"' | b'\'' | b'\\' | b' '))
}
