//! Finds secrets in text before it is stored: tokens by their form, and values by the name, header, command or file
//! that contains them.
//!
//! It prefers to miss a secret than to report a false one: tool outputs are full of hashes, identifiers, UUIDs and code
//! that names a token, and each false hit keeps a large text in the context. It is a safety net, not a guarantee. The
//! time is linear in the text.
//!
//! The tables and word lists of `data/`, which `table` reads, define the secrets. Three finders search for them:
//! `token`, `announced` and `aws_key`. They move a `Cursor` over the text.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod alphabet;
mod announced;
mod assignment;
mod aws_key;
mod command;
mod credential_file;
mod cursor;
mod header;
mod password;
mod plain_password;
mod private_key;
mod table;
mod token;
mod unassigned;
mod value;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use announced::Announcements;
use token::Tokens;

/// The replacement of a secret.
const REDACTED: &str = "[REDACTED]";

static FINDER: LazyLock<Finder> =
    LazyLock::new(|| Finder { tokens: Tokens::read(), announcements: Announcements::read() });

/// The finders, built from the tables.
struct Finder {
    tokens: Tokens,
    announcements: Announcements,
}

impl Finder {
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = self.tokens.find(text);
        found.extend(self.announcements.find(text));
        found.extend(aws_key::find(text));
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
}

/// Returns the byte ranges of what looks like a secret. They are in order, do not overlap, and are at character
/// boundaries.
pub fn find_secrets(text: &str) -> Vec<Range<usize>> {
    FINDER.find(text)
}

/// Returns the text with [`REDACTED`] in place of each of these ranges.
///
/// # Panics
/// If the ranges are not those that [`find_secrets`] returns for this text.
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

/// Returns a line for display without its secrets. The whole line is scrubbed before it is cut, because half a secret
/// is not found.
pub fn scrub(line: &str) -> Cow<'_, str> {
    match find_secrets(line) {
        found if found.is_empty() => Cow::Borrowed(line),
        found => Cow::Owned(redact(line, &found)),
    }
}

#[cfg(test)]
#[path = "../tests/reading/mod.rs"]
mod reading;
