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

/// The contents of the table files.
const TABLES: Tables<'_> = Tables {
    tokens: include_str!("../data/tokens.txt"),
    names: include_str!("../data/names.txt"),
    commands: include_str!("../data/commands.txt"),
};

static FINDER: LazyLock<Finder> = LazyLock::new(|| Finder::new(&TABLES));

/// The texts of the tables.
#[derive(Clone, Copy)]
struct Tables<'t> {
    tokens: &'t str,
    names: &'t str,
    commands: &'t str,
}

/// The finders, built from the tables.
struct Finder {
    tokens: Tokens,
    announcements: Announcements,
}

impl Finder {
    fn new(tables: &Tables<'_>) -> Self {
        Self { tokens: Tokens::read(tables.tokens), announcements: Announcements::read(tables.names, tables.commands) }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the table rows of `## How to add a kind of secret`: file, row, planted line.
    fn recipe() -> Vec<[&'static str; 3]> {
        let guide = include_str!("../../../CONTRIBUTING.md");
        let (_, section) = guide.split_once("## How to add a kind of secret").expect("the recipe");
        let section = section.split("\n## ").next().unwrap_or_default();
        let cells = |line: &'static str| -> Option<[&'static str; 3]> {
            let quoted: Vec<&str> = line.strip_prefix('|')?.split('`').skip(1).step_by(2).collect();
            quoted.try_into().ok()
        };
        section.lines().filter_map(cells).collect()
    }

    #[test]
    fn a_kind_of_secret_is_one_row_and_one_planted_line() {
        let recipe = recipe();
        assert!(recipe.len() >= 4, "{recipe:?}");
        for [file, row, planted] in recipe {
            let planted = reading::lines(planted).next().expect("a planted line");
            let case = reading::read(planted);
            assert!(find_secrets(&case.text).is_empty(), "{planted}: found without the row");
            let added =
                |name: &str, table: &str| if file == name { format!("{table}{row}\n") } else { table.to_owned() };
            let [tokens, names, commands] = [
                added("data/tokens.txt", TABLES.tokens),
                added("data/names.txt", TABLES.names),
                added("data/commands.txt", TABLES.commands),
            ];
            let finder = Finder::new(&Tables { tokens: &tokens, names: &names, commands: &commands });
            assert_eq!(finder.find(&case.text), case.secrets, "{file}: {row}");
        }
    }
}
