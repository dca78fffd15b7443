//! Finds the words that tell of a secret beside them, in one pass: names of values, of headers, of commands, of files.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::{assignment, command, credential_file, header};

/// What a word announces.
#[derive(Clone, Copy)]
enum Sign {
    /// A value assigned to a name of [`assignment::NAMES`].
    Value(usize),
    Authorization,
    Cookie,
    /// The words of a command.
    Command,
    /// The words of a `.netrc`.
    Machine,
    /// The fields of a `.pgpass`.
    Port,
}

static WORDS: LazyLock<(AhoCorasick, Vec<Sign>)> = LazyLock::new(|| {
    let mut words: Vec<(String, Sign)> = Vec::new();
    words.extend(assignment::NAMES.iter().enumerate().map(|(which, name)| ((*name).to_owned(), Sign::Value(which))));
    words.extend(["authorization", "cookie"].map(str::to_owned).into_iter().zip([Sign::Authorization, Sign::Cookie]));
    words.extend(["machine", "default login"].map(|word| (word.to_owned(), Sign::Machine)));
    words.extend(credential_file::PORTS.map(|port| (port.to_owned(), Sign::Port)));
    words.extend(command::names().map(|name| (format!("{name} "), Sign::Command)));
    let automaton = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(AhoCorasickKind::DFA))
        .ascii_case_insensitive(true)
        .build(words.iter().map(|(word, _)| word))
        .expect("the words fit into an automaton");
    (automaton, words.into_iter().map(|(_, sign)| sign).collect())
});

/// Ranges of what the words of a text tell of; they may overlap, and are in no order.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let (automaton, signs) = &*WORDS;
    let mut found = Vec::new();
    let (mut done, mut read_command, mut read_header) = (0, 0, 0);
    for hit in automaton.find_iter(text) {
        let sign = signs[hit.pattern().as_usize()];
        let value = match sign {
            // A value may hold the names of others; a command line holds values that are found on their own.
            _ if hit.start() < done => continue,
            Sign::Value(which) => assignment::find(text, which, hit.range()),
            Sign::Machine => credential_file::find_netrc(text, netrc_name(text, hit.range())),
            Sign::Port => credential_file::find_pgpass(text, hit.range()),
            Sign::Command if hit.start() < read_command => continue,
            Sign::Command => {
                read_command = command::find(text, hit.start()..hit.end() - 1, &mut found);
                None
            }
            // A command line may hold headers.
            Sign::Authorization | Sign::Cookie if hit.start() < read_header => continue,
            Sign::Authorization => {
                read_header = header::find_authorization(text, hit.end(), &mut found);
                None
            }
            Sign::Cookie => {
                read_header = header::find_cookie_header(text, hit.end(), &mut found);
                None
            }
        };
        if let Some(range) = value {
            done = range.end;
            found.push(range);
        }
    }
    found
}

/// `machine` as it stands, `default` without the word behind it.
fn netrc_name(text: &str, hit: Range<usize>) -> Range<usize> {
    match text[hit.clone()].find(' ') {
        Some(blank) => hit.start..hit.start + blank,
        None => hit,
    }
}
