//! Secrets in assignments, `password = "..."`, `API_KEY=...`, `"token": "..."`: a name that announces a secret, an
//! assignment sign, and a value that looks random.
//!
//! The value decides. Code often assigns names, calls and templates to such names; only a literal that nobody would
//! write as a word counts. A word counts only if the name announces a password, and then the context decides.

use std::ops::Range;

use crate::announced::Announced;
use crate::cursor::Cursor;
use crate::header::is_user_and_password;
use crate::password::{is_mixed_password, is_quoted_password};
use crate::plain_password;
use crate::table::word_list;
use crate::unassigned;
use crate::value::{is_base64, is_placeholder, is_random, is_random_letters, is_uuid, is_word, kind_changes};

word_list!(COUNTED_TOKENS, "counted_tokens.txt");

/// The suffixes that may follow the announcing word in a name.
const SUFFIXES: [&str; 10] = ["", "key", "value", "hex", "b64", "base64", "raw", "base", "keybase", "accesskey"];

/// The prefixes of hashes that are written with their algorithm.
const HASHES: [&str; 6] = ["sha1-", "sha256-", "sha384-", "sha512-", "sha256:", "sha512:"];

/// The longest part of a name before the announcing word, in bytes.
const MAX_NAME_BYTES: usize = 40;

/// The longest value, in bytes.
const MAX_VALUE_BYTES: usize = 512;

/// The longest base64 value, such as an AWS session token. Such a value contains no name with a sign, so no value is
/// read twice.
const MAX_BASE64_BYTES: usize = 4096;

/// Returns the value assigned to a name that ends with the announcing word, ignoring a suffix.
pub(crate) fn find(start: Cursor, end: Cursor, announced: Announced) -> Option<Range<usize>> {
    if follows_counted_token(start) {
        return None;
    }
    let shown = |value: &Range<usize>| &start.text()[value.clone()];
    match announced {
        Announced::PasswordAtEnd if !is_end_of_name(start, end) => None,
        Announced::Sql => unassigned::find_in_statement(start, end).filter(|value| is_value(shown(value), true)),
        Announced::Login => literal_behind(end).filter(|value| is_user_and_password(shown(value))),
        Announced::CardNumber => literal_behind(end).filter(|value| is_card_number(shown(value))),
        Announced::CardCode => literal_behind(end).filter(|value| is_card_code(shown(value))),
        _ => find_value(start, end, announced.is_password()),
    }
}

/// Returns true if `pass` is a name or the last word of one, and not the beginning of a sentence.
fn is_end_of_name(start: Cursor, end: Cursor) -> bool {
    let is_upper = start.shown(end).bytes().all(|byte| byte.is_ascii_uppercase());
    start.previous().is_some_and(|byte| b"_-.\"'?&".contains(&byte)) || is_upper && end.peek() == Some(b'=')
}

fn literal_behind(name: Cursor) -> Option<Range<usize>> {
    Some(literal(name.skip_quote().skip_sign()?)?.0)
}

/// Returns true if a value is the number of a payment card.
fn is_card_number(value: &str) -> bool {
    (13..=19).contains(&value.len()) && is_number(value) && has_check_digit(value)
}

/// Returns true if a value is the three or four digits on the back of a payment card.
fn is_card_code(value: &str) -> bool {
    (3..=4).contains(&value.len()) && is_number(value) && value != "123" && value != "1234"
}

fn is_number(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_digit()) && value.bytes().any(|byte| byte != value.as_bytes()[0])
}

/// Returns true if the last digit is correct by the Luhn formula, as on every payment card.
fn has_check_digit(number: &str) -> bool {
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let digits = number.bytes().rev().map(|byte| u32::from(byte - b'0'));
    let sum: u32 = digits.enumerate().map(|(at, digit)| if at % 2 == 1 { doubled(digit) } else { digit }).sum();
    sum.is_multiple_of(10)
}

fn follows_counted_token(start: Cursor) -> bool {
    let before = start.before().strip_suffix(b"_").unwrap_or(start.before());
    COUNTED_TOKENS.iter().any(|word| {
        before.len().checked_sub(word.len()).is_some_and(|at| before[at..].eq_ignore_ascii_case(word.as_bytes()))
    })
}

/// Returns the value behind a name that ends at `end`, ignoring a suffix.
fn find_value(start: Cursor, end: Cursor, is_password: bool) -> Option<Range<usize>> {
    let behind = end.skip(16, |byte| is_word(byte) || byte == b'-');
    let suffix = end.shown(behind).replace(['_', '-'], "").to_ascii_lowercase();
    let is_number = (1..=2).contains(&suffix.len()) && suffix.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number && !SUFFIXES.contains(&suffix.as_str()) {
        return None;
    }
    let name = start.back(MAX_NAME_BYTES, |byte| is_word(byte) || byte == b'-');
    let is_option = name.rest().starts_with(b"--");
    let is_in_query = matches!(name.previous(), Some(b'?' | b'&')) || matches!(start.peek(), Some(b'?' | b'&'));
    let sign = behind.skip_quote();
    let signed = sign.skip_sign();
    let is_tight = signed.is_some_and(|value| value.at == sign.at + 1);
    let value = match signed {
        Some(value) => value,
        None if is_option && sign.peek() == Some(b' ') => sign.plus(1),
        None => {
            return unassigned::find(start, behind).filter(|value| is_value(&start.text()[value.clone()], is_password));
        }
    };
    // Only a value can follow an option, or a name in a query.
    let may_be_short = is_password || is_option || is_in_query;
    find_random(value, may_be_short, is_tight || is_option, start).or_else(|| {
        let assignment = plain_password::Assignment { name: start, value, is_tight, is_option };
        is_password.then(|| plain_password::find(&assignment)).flatten()
    })
}

/// Returns true if text in a position where only a value can stand is a secret.
fn is_value(value: &str, is_password: bool) -> bool {
    is_secret(value, is_password, true) || (is_password && is_quoted_password(value))
}

/// Returns a value that looks random. `is_literal` is true if it cannot be a piece of code.
fn find_random(value: Cursor, may_be_short: bool, is_literal: bool, name: Cursor) -> Option<Range<usize>> {
    let text = value.text();
    let (value, is_quoted) = literal(value)?;
    let shown = &text[value.clone()];
    // A name with its type: `token: str = "..."`.
    if !is_quoted
        && shown.bytes().all(is_word)
        && let Some((typed, true)) = Cursor::new(text, value.end).skip_sign().and_then(literal)
    {
        return is_secret(&text[typed.clone()], may_be_short, true).then_some(typed);
    }
    if !is_quoted && shown.contains(['(', '[', '{']) {
        return None;
    }
    let is_secret = is_secret(shown, may_be_short, is_quoted || is_literal);
    (is_secret || (is_uuid(shown) && has_uuid_tokens(name))).then_some(value)
}

/// Returns true if the issuers of keys of this name make them like UUIDs: `_authToken` of npm, `HEROKU_API_KEY`.
fn has_uuid_tokens(name: Cursor) -> bool {
    let before = name.before();
    ["_auth", "heroku_", "heroku-"].iter().any(|word| {
        before.len() >= word.len() && before[before.len() - word.len()..].eq_ignore_ascii_case(word.as_bytes())
    })
}

/// Returns true if a value looks like a secret. `is_literal` is true if it cannot be a piece of code.
fn is_secret(value: &str, may_be_short: bool, is_literal: bool) -> bool {
    // `config.db2.token3` is a path of names joined by dots.
    let is_path = !is_literal && value.contains('.');
    let looks_secret = (!is_path && is_random(value))
        || (is_literal && is_random_letters(value))
        || (may_be_short && is_literal && is_mixed_password(value));
    let is_place =
        || value.contains("://") || value.starts_with(['.', '~']) || (value.starts_with('/') && !is_base64_key(value));
    let is_hash = || HASHES.iter().any(|hash| value.starts_with(hash));
    looks_secret && !is_place() && !is_hash() && !is_placeholder(value)
}

/// Returns true if a value that begins like a path is a base64 key. Directory names do not have so many capitals, nor
/// do they change so often between kinds of characters.
fn is_base64_key(value: &str) -> bool {
    let capitals = value.bytes().filter(u8::is_ascii_uppercase).count();
    value.len() >= 24
        && value.bytes().all(is_base64)
        && kind_changes(value) * 5 > value.len() * 2
        && capitals * 5 > value.len()
}

/// Returns the value at a position without its quotes, and true if it had quotes.
fn literal(value: Cursor) -> Option<(Range<usize>, bool)> {
    let start = value.skip_quote();
    let quote = start.previous().filter(|_| start.at > value.at);
    let is_part = |byte: u8| match quote {
        Some(quote) => byte.is_ascii_graphic() && byte != quote && byte != b'\\',
        None => byte.is_ascii_graphic() && !b"\"'`,;)}]<>|\\&=".contains(&byte),
    };
    let is_base64 = start.rest().iter().take(MAX_VALUE_BYTES).all(|&byte| is_word(byte) || b"+/-.".contains(&byte));
    let max_bytes = if is_base64 { MAX_BASE64_BYTES } else { MAX_VALUE_BYTES };
    let mut end = start.skip(max_bytes, is_part);
    if quote.is_none() {
        // Padding of base64.
        end = end.skip(2, |byte| byte == b'=');
    }
    let is_closed = match quote {
        Some(quote) => end.peek() == Some(quote) || end.peek() == Some(b'\\'),
        None => end.at - start.at < max_bytes,
    };
    is_closed.then_some((start.at..end.at, quote.is_some()))
}
