//! Finds secrets in text before it is stored: keys by their form, values by the name, header, command or file that they stand in.
//!
//! It errs towards silence: hashes, identifiers, UUIDs and code that merely names a token are what tool outputs are made of, and
//! each false hit keeps a large text in the context. So it is a net for accidents, not a guarantee. Linear in the text.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod alphabet;
mod apart;
mod assignment;
mod bare;
mod chosen;
mod command;
mod credential_file;
mod format;
mod header;
mod infix;
mod kinds;
mod name;
/// The secrets of a text as they stand in it.
#[cfg(test)]
fn secrets_in(text: &str) -> Vec<&str> {
    find_secrets(text).into_iter().map(|range| &text[range]).collect()
}

#[cfg(test)]
mod noise;
mod plain;
mod private_key;

use std::borrow::Cow;
use std::ops::Range;

/// The text that stands where a secret was.
const REDACTED: &str = "[REDACTED]";

/// The byte ranges of what looks like a secret: in order, not overlapping, on character boundaries.
pub fn find_secrets(text: &str) -> Vec<Range<usize>> {
    let mut found = format::find(text);
    found.extend(name::find(text));
    found.extend(bare::find(text));
    found.sort_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(found.len());
    for range in found {
        match merged.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// The text with each of these ranges blanked out.
///
/// # Panics
/// When the ranges are not as [`find_secrets`] returns them for this text.
pub fn redact(text: &str, ranges: &[Range<usize>]) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut end = 0;
    for range in ranges {
        redacted.push_str(&text[end..range.start]);
        redacted.push_str(REDACTED);
        end = range.end;
    }
    redacted.push_str(&text[end..]);
    redacted
}

/// A line for people without its secrets. It is scrubbed whole and cut after that: half a secret is not found.
pub fn scrub(line: &str) -> Cow<'_, str> {
    match find_secrets(line) {
        found if found.is_empty() => Cow::Borrowed(line),
        found => Cow::Owned(redact(line, &found)),
    }
}

/// Whether a string is as mixed as a random key: long, with few repeats, and with a digit among letters that change places
/// with digits, or large with small, much more often than in words. Identifiers with a number, paths, dates and version
/// numbers are not.
fn is_random(value: &str) -> bool {
    let length = value.len();
    let turns = || turns(value, |byte| (byte.is_ascii_digit(), byte.is_ascii_uppercase()));
    length >= 16
        && (digit_turns(value) >= 3 || (digit_turns(value) >= 1 && turns() * 2 > length))
        && entropy(value) >= 3.2
        && !is_uuid(value)
}

/// Whether letters change between large and small as often as in a random key, and large ones stand side by side as in no
/// joined words.
fn is_random_letters(value: &str) -> bool {
    let pairs = value.as_bytes().windows(2).filter(|pair| pair.iter().all(u8::is_ascii_uppercase)).count();
    value.len() >= 24
        && value.bytes().all(|byte| byte.is_ascii_alphabetic())
        && pairs >= 3
        && turns(value, |byte| byte.is_ascii_uppercase()) * 3 > value.len()
        && entropy(value) >= 3.8
}

/// Whether a value has digits among its letters, as no word of a sentence has.
fn is_mixed(value: &str) -> bool {
    value.len() >= 6
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// How often letters turn into digits or back, ignoring other characters.
fn digit_turns(value: &str) -> usize {
    turns(value, |byte| byte.is_ascii_digit())
}

/// How often one kind of letter or digit follows another, ignoring other characters.
fn turns<Kind: PartialEq>(value: &str, kind: impl Fn(u8) -> Kind) -> usize {
    let mut kinds = value.bytes().filter(u8::is_ascii_alphanumeric).map(kind);
    let Some(mut last) = kinds.next() else { return 0 };
    kinds.filter_map(|kind| (std::mem::replace(&mut last, kind) != last).then_some(())).count()
}

/// Shannon entropy in bits per byte.
fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = value.len() as f64;
    counts.iter().filter(|&&count| count > 0).map(|&count| f64::from(count) / length).map(|p| -p * p.log2()).sum()
}

/// Whether a value says of itself that it stands for another.
fn is_placeholder(value: &str) -> bool {
    const SIGNS: [&str; 18] = [
        "...",
        "***",
        "xxxx",
        "${",
        "$(",
        "{{",
        "<",
        "%(",
        "example",
        "placeholder",
        "changeme",
        "your",
        "dummy",
        "fake",
        "invalid",
        "redacted",
        "environ",
        "process.env",
    ];
    let lower = value.to_ascii_lowercase();
    lower.starts_with(['$', '%', '@']) || SIGNS.iter().any(|sign| lower.contains(sign))
}

fn is_uuid(value: &str) -> bool {
    let groups: Vec<&str> = value.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Whether a byte can be part of a word, so that what stands beside it is not the beginning or end of one.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The characters of base64.
fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Whether a key can start here: not inside a word, but behind a line end that JSON or a shell escaped.
fn is_start(bytes: &[u8], start: usize) -> bool {
    start == 0 || !(is_word(bytes[start - 1]) || bytes[start - 1] == b'-') || is_escape(bytes, start - 1)
}

/// Whether the letter of a line end or tab stands here that JSON or a shell escaped.
fn is_escape(bytes: &[u8], at: usize) -> bool {
    at > 0 && bytes[at - 1] == b'\\' && matches!(bytes.get(at), Some(b'n' | b'r' | b't'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_can_be_blanked_and_is_not_found_again() {
        let text = "漢字 password = \"hV7#kq2Lw9\" und AKIAQ3EGRZ5TXL7M2N4P.";
        let found = find_secrets(text);
        let shown: Vec<&str> = found.iter().map(|range| &text[range.clone()]).collect();
        assert_eq!(shown, ["hV7#kq2Lw9", "AKIAQ3EGRZ5TXL7M2N4P"]);
        let redacted = redact(text, &found);
        assert_eq!(redacted, "漢字 password = \"[REDACTED]\" und [REDACTED].");
        assert!(find_secrets(&redacted).is_empty());
        assert_eq!(redact(text, &[]), text);
    }

    #[test]
    fn two_reasons_for_one_secret_are_one_range() {
        let text = "GITHUB_TOKEN=ghp_16C7e42F292c6912E7710c838347Ae178B4a";
        assert_eq!(find_secrets(text), std::slice::from_ref(&(13..text.len())));
    }

    #[test]
    fn what_tool_outputs_are_made_of_is_no_secret() {
        for text in [
            "commit 9fceb02d0ae598e95dc970b74767f19372d61af8\nAuthor: A <a@b.c>",
            "\"integrity\": \"sha512-BKB6Tv1Q3Gk2C5o9Zq7x8R1n0d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8s9t0u1v2w3x4y5z6A7B8==\"",
            "checksum = \"8a5a9c0d3f1b2e4c6d7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5\"",
            "golang.org/x/net v0.7.0 h1:rJrUqqhjsgNp7KqAIc25s9pZnjU7TUcSY7HcVZjdn1g=",
            "token = nextToken()",
            "let token = self.tokens[i + 1];",
            "this.token = config.auth.token2",
            "if (token === TokenType.Identifier2) {",
            "secret: ${{ secrets.GH_TOKEN_2 }}",
            "API_KEY=$MY_API_KEY_1",
            "api_key: \"your-api-key-here-1a2b3c4d5e\"",
            "password: \"********\"",
            "password = getpass.getpass(\"Password: \")",
            "token: 550e8400-e29b-41d4-a716-446655440000",
            "max_tokens: 4096, total_tokens=128000, tokenizer: \"cl100k_base\"",
            "nextPageToken: \"CAUQAAoIY2h1bms3ZDEyOWE4\"",
            "const secret = 'test-secret-1'",
            "secret = MyTestSecretV2Provider, token: 'getAuthTokenV2FromDb'",
            "AKIAIOSFODNN7EXAMPLE",
            "https://user:password@example.com/ and https://$USER:$PASS@host and http://localhost:8080/@scope/pkg",
            "class=\"sk-circle-fade-dot sk-folding-cube-animation-two\"",
            "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
            "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEVs/o5+uQbTjL3chynL4wXgUg2R9\n-----END PUBLIC KEY-----",
            "Authorization: Bearer <token> ... Basic authentication2 required",
            "secret_id: projects/my-project/secrets/db-password-1/versions/3",
            "password: \"$DB_PASSWORD1\", password = '@Password1!=x', password: '$2b$12$K9x!abcdef'",
            "export DB_PASSWORD=$ecret9!x\n",
            "password: \"/run/secrets/db1!\", \"password\": \"@string/password1!\", password=\"$user1!$host2\"",
            "secret: /data/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "token: /var/lib/App2/Build3/Release4/Keys5/token6, SECRET='/API/V2/USERS/TOKENS/V3/KEYS'",
        ] {
            let found = find_secrets(text);
            assert!(
                found.is_empty(),
                "{text}: {:?}",
                found.iter().map(|range| &text[range.clone()]).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn what_is_found_in_a_megabyte_of_beginnings_is_of_the_text() {
        for unit in [
            "sk-",
            "eyJ.",
            "eyJa.eyJ",
            "token=",
            "token:\"",
            "password: '",
            "://",
            "://a:",
            "-----BEGIN PRIVATE KEY-----",
            "ghp_",
            "SG.",
            "x",
            "a1",
            "=",
            "\"",
            "\\\"token\\\": \\\"",
            "12345678:AA",
            "AzFu",
            "MTEyMjMz.a.",
            "sl.u.",
            "\n",
            "\0",
            "漢",
            "Bearer ",
            "--token ",
            "curl ",
            "curl -u a:' \"",
            "mysql -pa ",
            "password: abcd\n",
            "password = abcd ",
            "password=\\n",
            "--password ",
            "machine a login ",
            ":5432:",
            "Cookie: a=b;",
            "authorization: a ",
            "Private-Lines: 9",
            "auth=",
            "cvc=",
            "LS0tLS1CRUdJTi",
            "/LS0tLS1CRUdJTi",
            "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS\n",
            "password 'a' ",
            "create user password by 'a' ",
            "name: password\n value",
            "<password>",
            "define('password', 'a",
            "\\\\\\\"password",
            "://a1b2c3d4e5f6g7h8i9j0k1l2m3@",
            "curl -H Cookie: a=b authorization: a ",
        ] {
            let text = unit.repeat((1 << 20) / unit.len());
            let found = find_secrets(&text);
            assert!(found.iter().all(|range| text.get(range.clone()).is_some()), "{unit:?}");
        }
    }
}
