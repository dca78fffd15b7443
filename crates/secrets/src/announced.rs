//! Secrets that a word beside them announces: the name of a value (`data/names.txt`), a header, a command
//! (`data/commands.txt`), or a line of a credential file. One pass searches for all these words.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::cursor::Cursor;
use crate::table::rows;
use crate::{assignment, command, credential_file, header};

/// The kind of secret that a word announces.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Announced {
    Password,
    /// A password, if the word is the last one of a name.
    PasswordAtEnd,
    Key,
    Sql,
    Login,
    CardNumber,
    CardCode,
    Authorization,
    Cookie,
    Netrc,
    Pgpass,
    Command,
}

impl Announced {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "password" => Self::Password,
            "password-at-end" => Self::PasswordAtEnd,
            "key" => Self::Key,
            "sql" => Self::Sql,
            "login" => Self::Login,
            "card-number" => Self::CardNumber,
            "card-code" => Self::CardCode,
            "authorization" => Self::Authorization,
            "cookie" => Self::Cookie,
            "netrc" => Self::Netrc,
            "pgpass" => Self::Pgpass,
            _ => return None,
        })
    }

    /// Returns true if people choose the value and keep it short.
    pub(crate) fn is_password(self) -> bool {
        matches!(self, Self::Password | Self::PasswordAtEnd | Self::Sql)
    }
}

/// The announcing words, with the automaton that searches for them.
pub(crate) struct Announcements {
    announced: Vec<Announced>,
    commands: Vec<command::Command>,
    words: AhoCorasick,
}

impl Announcements {
    /// Parses the tables.
    ///
    /// # Panics
    /// If a row is malformed.
    pub(crate) fn read() -> Self {
        let read = |row: &str| {
            let (word, announced) = row.rsplit_once(char::is_whitespace)?;
            Some((word.trim_end().to_owned(), Announced::parse(announced)?))
        };
        let read = |row| read(row).unwrap_or_else(|| panic!("no row of data/names.txt: {row}"));
        let mut words: Vec<(String, Announced)> = rows(include_str!("../data/names.txt")).map(read).collect();
        let commands = command::read();
        let programs = commands.iter().map(|command| (format!("{} ", command.program), Announced::Command));
        words.extend(programs);
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::DFA))
            .ascii_case_insensitive(true)
            .build(words.iter().map(|(word, _)| word))
            .expect("the words fit into an automaton");
        Self { announced: words.into_iter().map(|(_, announced)| announced).collect(), commands, words: automaton }
    }

    /// Returns the ranges of the announced secrets of a text. They may overlap and are not sorted.
    pub(crate) fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let (mut value_end, mut command_end, mut header_end) = (0, 0, 0);
        for hit in self.words.find_iter(text) {
            let (start, end) = (Cursor::new(text, hit.start()), Cursor::new(text, hit.end()));
            let value = match self.announced[hit.pattern().as_usize()] {
                // A value may contain other names. A command line may contain values that are found on their own.
                _ if start.at < value_end => continue,
                Announced::Command if start.at < command_end => continue,
                Announced::Command => {
                    command_end = command::find(&self.commands, start, end, &mut found);
                    None
                }
                // A command line may contain headers.
                Announced::Authorization | Announced::Cookie if start.at < header_end => continue,
                Announced::Authorization => {
                    header_end = header::find_authorization(end, &mut found);
                    None
                }
                Announced::Cookie => {
                    header_end = header::find_cookies(end, &mut found);
                    None
                }
                Announced::Netrc => credential_file::find_netrc(start, end),
                Announced::Pgpass => credential_file::find_pgpass(start, end),
                announced => assignment::find(start, end, announced),
            };
            if let Some(range) = value {
                value_end = range.end;
                found.push(range);
            }
        }
        found
    }
}
