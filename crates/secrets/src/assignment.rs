//! `password = "..."`, `API_KEY=...`, `"token": "..."`: a telling name, a sign of assignment, a value that looks random.
//!
//! The value decides. Code assigns names, calls and templates to such names all day; what counts is a literal that no one
//! would write as a word. Only behind names of passwords may it be a word, and there the place decides.

use std::ops::Range;

use super::chosen::{is_mixed_password, is_quoted_password};
use super::header::is_user_and_password;
use super::{apart, is_base64, is_placeholder, is_random, is_random_letters, is_uuid, is_word, plain, turns};

/// Ends of names that hold secrets, in lower case.
pub(super) const NAMES: [&str; 43] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "pass",
    "identified by",
    "secret",
    "token",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "accesskey",
    "access-key",
    "private_key",
    "privatekey",
    "encryption_key",
    "signing_key",
    "account_key",
    "accountkey",
    "auth_key",
    "authkey",
    "auth-key",
    "master_key",
    "app_key",
    "admin_key",
    "service_key",
    "credential",
    "credentials",
    "phpsessid",
    "jsessionid",
    "?key",
    "&key",
    "?signature",
    "&signature",
    "amz-signature",
    "auth",
    "card_number",
    "cardnumber",
    "card-number",
    "cvc",
    "cvv",
    "security_code",
];

/// How many of [`NAMES`] hold passwords, which people choose and keep short.
const PASSWORDS: usize = 6;

/// From which of [`NAMES`] on they hold what is printed on a payment card.
const CARDS: usize = 37;

/// What may follow in the name.
const SUFFIXES: [&str; 10] = ["", "key", "value", "hex", "b64", "base64", "raw", "base", "keybase", "accesskey"];

/// Words before `token` that make it a position in a list or a piece of text.
const OTHER_TOKENS: [&str; 12] =
    ["page", "next", "sync", "continuation", "cursor", "cancellation", "eos", "bos", "pad", "csrf", "start", "end"];

/// What hashes that are written with their kind begin with.
const HASHES: [&str; 6] = ["sha1-", "sha256-", "sha384-", "sha512-", "sha256:", "sha512:"];

/// Longest value, in bytes.
const LONGEST: usize = 512;

/// Longest value of base64, such as the session tokens of AWS. No name and sign stand within one, so however long they are, none is read
/// twice.
const LONGEST_BASE64: usize = 4096;

/// The value assigned to a name that ends, but for a suffix, with [`NAMES`]`[which]`, at `name`.
pub(super) fn find(text: &str, which: usize, name: Range<usize>) -> Option<Range<usize>> {
    if is_other_token(text, name.start) {
        return None;
    }
    match NAMES[which] {
        "pass" if !is_end_of_name(text, &name) => None,
        "identified by" => apart::find_in_statement(text, name).filter(|value| is_value(&text[value.clone()], true)),
        "auth" => find_pair(text, name),
        _ if which >= CARDS => find_card(text, name),
        _ => find_value(text, name, which < PASSWORDS),
    }
}

/// Whether `pass` is a name or the last word of one, and not the beginning of a sentence.
fn is_end_of_name(text: &str, name: &Range<usize>) -> bool {
    let bytes = text.as_bytes();
    let is_upper = text[name.clone()].bytes().all(|byte| byte.is_ascii_uppercase());
    let before = name.start.checked_sub(1).map(|at| bytes[at]);
    before.is_some_and(|byte| matches!(byte, b'_' | b'-' | b'.' | b'"' | b'\'' | b'?' | b'&'))
        || is_upper && bytes.get(name.end) == Some(&b'=')
}

/// `"auth": "<base64 of user:password>"`.
fn find_pair(text: &str, name: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let at = skip_sign(bytes, skip_quote(bytes, name.end))?;
    let (value, _) = read_literal(text, at)?;
    is_user_and_password(&text[value.clone()]).then_some(value)
}

/// The number of a payment card, or the three or four digits on its back.
fn find_card(text: &str, name: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let at = skip_sign(bytes, skip_quote(bytes, name.end))?;
    let (value, _) = read_literal(text, at)?;
    let shown = &text[value.clone()];
    let is_number =
        shown.bytes().all(|byte| byte.is_ascii_digit()) && shown.bytes().any(|byte| byte != bytes[value.start]);
    let names_number = text[name].to_ascii_lowercase().ends_with("number");
    let is_card = match names_number {
        true => (13..=19).contains(&shown.len()) && has_check_digit(shown),
        false => (3..=4).contains(&shown.len()) && shown != "123" && shown != "1234",
    };
    (is_number && is_card).then_some(value)
}

/// Whether the last digit is right by the Luhn formula, as on every payment card.
fn has_check_digit(number: &str) -> bool {
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let digits = number.bytes().rev().map(|byte| u32::from(byte - b'0'));
    let sum: u32 = digits.enumerate().map(|(at, digit)| if at % 2 == 1 { doubled(digit) } else { digit }).sum();
    sum.is_multiple_of(10)
}

fn is_other_token(text: &str, start: usize) -> bool {
    let before = text.as_bytes()[..start].strip_suffix(b"_").unwrap_or(&text.as_bytes()[..start]);
    OTHER_TOKENS.iter().any(|word| {
        before.len().checked_sub(word.len()).is_some_and(|at| before[at..].eq_ignore_ascii_case(word.as_bytes()))
    })
}

/// The value behind a name that ends, but for a suffix, with `name`.
fn find_value(text: &str, name: Range<usize>, is_password: bool) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let rest = &bytes[name.end..];
    let length = rest.iter().take(16).take_while(|&&byte| is_word(byte) || byte == b'-').count();
    let suffix: String = text[name.end..name.end + length]
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_lowercase();
    let is_number = (1..=2).contains(&suffix.len()) && suffix.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number && !SUFFIXES.contains(&suffix.as_str()) {
        return None;
    }
    let mut at = skip_quote(bytes, name.end + length);
    let is_flag = is_flag(bytes, name.start);
    let signed = skip_sign(bytes, at);
    let is_tight = signed == Some(at + 1);
    at = match signed {
        Some(behind) => behind,
        None if is_flag && bytes.get(at) == Some(&b' ') => at + 1,
        None => {
            return apart::find(text, name.start..name.end + length)
                .filter(|value| is_value(&text[value.clone()], is_password));
        }
    };
    // Nothing but a value stands behind a flag and in a query.
    let may_be_short = is_password || is_flag || is_in_query(bytes, name.start);
    find_random(text, at, may_be_short, is_tight || is_flag, &name).or_else(|| {
        let place = plain::Place { name: name.start, value: at, is_tight, is_flag };
        is_password.then(|| plain::find(text, &place)).flatten()
    })
}

/// Whether what can be nothing but a value is a secret.
fn is_value(value: &str, is_password: bool) -> bool {
    is_secret(value, is_password, true) || (is_password && is_quoted_password(value))
}

/// A value at `at` that looks random; `is_literal` when it cannot be a piece of code.
fn find_random(
    text: &str,
    at: usize,
    may_be_short: bool,
    is_literal: bool,
    name: &Range<usize>,
) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let (value, is_quoted) = read_literal(text, at)?;
    let shown = &text[value.clone()];
    // A name and its type: `token: str = "..."`.
    if !is_quoted
        && shown.bytes().all(is_word)
        && let Some((typed, true)) = skip_sign(bytes, value.end).and_then(|at| read_literal(text, at))
    {
        return is_secret(&text[typed.clone()], may_be_short, true).then_some(typed);
    }
    if !is_quoted && shown.contains(['(', '[', '{']) {
        return None;
    }
    let is_secret = is_secret(shown, may_be_short, is_quoted || is_literal);
    (is_secret || (is_uuid(shown) && has_uuid_tokens(text, name.start))).then_some(value)
}

/// Whether those who issue the keys of this name make them like UUIDs: `_authToken` of npm, `HEROKU_API_KEY`.
fn has_uuid_tokens(text: &str, name: usize) -> bool {
    let before = &text.as_bytes()[..name];
    [&b"_auth"[..], b"heroku_", b"heroku-"]
        .iter()
        .any(|word| before.len() >= word.len() && before[before.len() - word.len()..].eq_ignore_ascii_case(word))
}

/// Whether a value looks like a secret; `is_literal` when it cannot be a piece of code.
fn is_secret(value: &str, may_be_short: bool, is_literal: bool) -> bool {
    // `config.db2.token3`: names joined by dots.
    let is_path = !is_literal && value.contains('.');
    let looks_secret = (!is_path && is_random(value))
        || (is_literal && is_random_letters(value))
        || (may_be_short && is_literal && is_mixed_password(value));
    let is_place =
        || value.contains("://") || value.starts_with(['.', '~']) || (value.starts_with('/') && !is_base64_key(value));
    let is_hash = || HASHES.iter().any(|hash| value.starts_with(hash));
    looks_secret && !is_place() && !is_hash() && !is_placeholder(value)
}

/// Whether a value that begins as a path does is a key in base64: no folders have names with so many capitals, and with kinds of
/// characters that change so often.
fn is_base64_key(value: &str) -> bool {
    let kinds = turns(value, |byte| (byte.is_ascii_digit(), byte.is_ascii_uppercase()));
    let capitals = value.bytes().filter(u8::is_ascii_uppercase).count();
    value.len() >= 24 && value.bytes().all(is_base64) && kinds * 5 > value.len() * 2 && capitals * 5 > value.len()
}

/// Whether the name is that of a parameter in a URL.
fn is_in_query(bytes: &[u8], name: usize) -> bool {
    let before = bytes[..name].iter().rev().take(40).take_while(|&&byte| is_word(byte) || byte == b'-').count();
    bytes[..name - before].ends_with(b"?")
        || bytes[..name - before].ends_with(b"&")
        || matches!(bytes[name], b'?' | b'&')
}

/// Whether the name is that of a command-line option, whose value may follow after a blank.
fn is_flag(bytes: &[u8], name: usize) -> bool {
    let before = bytes[..name].iter().rev().take(40).take_while(|&&byte| is_word(byte) || byte == b'-').count();
    bytes[name - before..].starts_with(b"--")
}

/// Behind a quote, which in JSON inside a string has a backslash, and three or seven where that stands in strings again.
pub(super) fn skip_quote(bytes: &[u8], at: usize) -> usize {
    let behind = at + bytes[at.min(bytes.len())..].iter().take(7).take_while(|&&byte| byte == b'\\').count();
    if matches!(bytes.get(behind), Some(b'"' | b'\'' | b'`')) { behind + 1 } else { at }
}

pub(super) fn skip_blanks(bytes: &[u8], at: usize) -> usize {
    at + bytes[at.min(bytes.len())..].iter().take(8).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Behind `=`, `:`, `:=` or `=>` with its blanks, but not `==` or `::`.
fn skip_sign(bytes: &[u8], at: usize) -> Option<usize> {
    let sign = skip_blanks(bytes, at);
    let length = match (bytes.get(sign)?, bytes.get(sign + 1)) {
        (b'=', Some(b'=')) | (b':', Some(b':')) => return None,
        (b':', Some(b'=')) | (b'=', Some(b'>')) => 2,
        (b'=' | b':', _) => 1,
        _ => return None,
    };
    Some(skip_blanks(bytes, sign + length))
}

/// The value at `at` without its quotes, and whether it had some.
fn read_literal(text: &str, at: usize) -> Option<(Range<usize>, bool)> {
    let bytes = text.as_bytes();
    let start = skip_quote(bytes, at);
    let is_quoted = start > at;
    let quote = is_quoted.then(|| bytes[start - 1]);
    let is_part = |byte: &u8| match quote {
        Some(quote) => byte.is_ascii_graphic() && *byte != quote && *byte != b'\\',
        None => byte.is_ascii_graphic() && !b"\"'`,;)}]<>|\\&=".contains(byte),
    };
    let is_base64 = |byte: &u8| is_word(*byte) || matches!(byte, b'+' | b'/' | b'-' | b'.');
    let is_base64 = bytes[start..].iter().take(LONGEST).all(is_base64);
    let longest = if is_base64 { LONGEST_BASE64 } else { LONGEST };
    let mut end = start + bytes[start..].iter().take(longest).take_while(|byte| is_part(byte)).count();
    if !is_quoted {
        // Padding of base64.
        end += bytes[end..].iter().take(2).take_while(|&&byte| byte == b'=').count();
    }
    let is_closed = match quote {
        Some(quote) => bytes.get(end) == Some(&quote) || bytes.get(end) == Some(&b'\\'),
        None => end - start < longest,
    };
    is_closed.then_some((start..end, is_quoted))
}

#[cfg(test)]
mod tests {
    use super::super::noise::{MIXED, noise};
    use super::super::{find_secrets, secrets_in};

    #[test]
    fn values_of_telling_names_are_found() {
        for (text, expected) in [
            ("password = \"hV7#kq2Lw9\"", "hV7#kq2Lw9"),
            ("DB_PASSWORD=hV7kq2Lw9x", "hV7kq2Lw9x"),
            ("\"passwd\": \"Zq8!rT3v\"", "Zq8!rT3v"),
            ("client_secret: 8f3Kd9aL2mQ7xW4z", "8f3Kd9aL2mQ7xW4z"),
            ("SECRET_KEY = 'q8w7e6r5t4y3u2i1o0pA'", "q8w7e6r5t4y3u2i1o0pA"),
            ("{\\\"token\\\": \\\"q8w7e6r5t4y3u2i1o0pA\\\"}", "q8w7e6r5t4y3u2i1o0pA"),
            ("aws_secret_access_key = wJa1rXUt2nFEM3K7MDENG4bPxRfi5CY", "wJa1rXUt2nFEM3K7MDENG4bPxRfi5CY"),
            ("apiKey: `9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d`,", "9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d"),
            ("auth_token := \"q8w7e6r5t4y3u2i1o0pA\"", "q8w7e6r5t4y3u2i1o0pA"),
            ("token: str = \"q8w7e6r5t4y3u2i1o0pA\"", "q8w7e6r5t4y3u2i1o0pA"),
            ("run --api-key q8w7e6r5t4y3u2i1o0pA now", "q8w7e6r5t4y3u2i1o0pA"),
            ("?token=q8w7e6r5t4y3u2i1o0pA", "q8w7e6r5t4y3u2i1o0pA"),
            ("{\\\\\\\"password\\\\\\\":\\\\\\\"summer\\\\\\\"}", "summer"),
            ("{\\\\\\\"token\\\\\\\": \\\\\\\"q8w7e6r5t4y3u2i1o0pA\\\\\\\"}", "q8w7e6r5t4y3u2i1o0pA"),
            ("CLIENT_SECRET=dKvXQzNwRTbhYLmCfAJpUsGeWoHi", "dKvXQzNwRTbhYLmCfAJpUsGeWoHi"),
            ("X-Auth-Key: 9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d", "9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d"),
            ("RAILS_MASTER_KEY=9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d", "9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d"),
            ("APP_KEY=base64:q8w7e6r5t4y3u2i1o0pA/x+Q7rT2vW9=", "base64:q8w7e6r5t4y3u2i1o0pA/x+Q7rT2vW9="),
            ("ALGOLIA_ADMIN_KEY: 9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d", "9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d"),
            ("service_key = '9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d'", "9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d"),
            ("password: \"$ecret9!x\"", "$ecret9!x"),
            ("{\"user\": \"app\", \"password\": \"@dmin123!\"}", "@dmin123!"),
            ("CREATE USER app IDENTIFIED BY '/Sommer2024!'", "/Sommer2024!"),
            (
                "aws_secret_access_key = /Qz7Rt2mXk9Wp4Lv8Ns3Bd6Hf1JgYc0Xa+uEoIq5",
                "/Qz7Rt2mXk9Wp4Lv8Ns3Bd6Hf1JgYc0Xa+uEoIq5",
            ),
        ] {
            let found = secrets_in(text);
            assert_eq!(found, [expected], "{text}");
        }
    }

    #[test]
    fn the_long_tokens_of_sessions_are_found() {
        let token = format!("{}/+==", noise(MIXED, 1600));
        for text in [
            format!("export AWS_SESSION_TOKEN={token}\n"),
            format!("aws_session_token = {token}"),
            format!("{{\"SessionToken\": \"{token}\"}}"),
        ] {
            assert_eq!(secrets_in(&text), [token.as_str()]);
        }
    }

    #[test]
    fn a_value_that_does_not_end_is_no_secret() {
        let text = format!("token=\"{}", "a1B2".repeat(100_000));
        assert!(find_secrets(&text).is_empty());
    }
}
