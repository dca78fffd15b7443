//! `grep -rn 'a\|b' src | head` -> the patterns that the command searches for, as regexes.
//!
//! If one pattern cannot be read, the whole command counts as unknown.

use regex::{Regex, RegexBuilder};

use crate::history::commands;

/// Options whose value is the next word.
#[rustfmt::skip]
const VALUED: [&str; 16] = [
    "-A", "-B", "-C", "-D", "-T", "-d", "-f", "-g", "-j", "-m", "-t", "--exclude", "--exclude-dir", "--glob",
    "--include", "--type",
];

/// The maximum size of a compiled pattern, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// The syntax of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Literal,
    /// The syntax of plain `grep`: `a\|b`.
    Basic,
    Extended,
}

/// Returns the patterns that a command line searches for; empty if they are not known.
pub(super) fn patterns(command: &str) -> Vec<Regex> {
    let commands = commands(command);
    let searches = commands.iter().filter_map(|command| search(&command.words));
    searches.flatten().collect::<Option<Vec<Regex>>>().unwrap_or_default()
}

/// Returns the patterns of one command if it is a search, with `None` for a pattern that cannot be read. An inverted
/// search has none.
fn search(words: &[String]) -> Option<Vec<Option<Regex>>> {
    let kind = |word: &String| match word.rsplit('/').next()? {
        "grep" | "zgrep" => Some(Kind::Basic),
        "egrep" | "rg" | "ag" | "ack" => Some(Kind::Extended),
        "fgrep" => Some(Kind::Literal),
        _ => None,
    };
    let (at, mut kind) = words.iter().enumerate().find_map(|(at, word)| Some((at, kind(word)?)))?;
    let (mut named, mut others) = (Vec::new(), Vec::new());
    let (mut ignores_case, mut is_inverted) = (false, false);
    let mut arguments = words[at + 1..].iter();
    while let Some(word) = arguments.next() {
        if let Some(pattern) = word.strip_prefix("--regexp=") {
            named.push(pattern);
        } else if word == "-e" || word == "--regexp" {
            named.extend(arguments.next().map(String::as_str));
        } else if VALUED.contains(&word.as_str()) {
            arguments.next();
        } else if word.starts_with('-') && word.len() > 1 {
            let flags = if word.starts_with("--") { "" } else { word.as_str() };
            let has = |flag: char, name: &str| flags.contains(flag) || word == name;
            ignores_case |= has('i', "--ignore-case") || has('S', "--smart-case");
            is_inverted |= has('v', "--invert-match");
            kind = match kind {
                _ if has('F', "--fixed-strings") => Kind::Literal,
                _ if has('E', "--extended-regexp") || has('P', "--perl-regexp") => Kind::Extended,
                kind => kind,
            };
            if flags.ends_with('e') {
                named.extend(arguments.next().map(String::as_str));
            }
        } else {
            others.push(word.as_str());
        }
    }
    if named.is_empty() {
        named.extend(others.first());
    }
    (!is_inverted).then(|| named.into_iter().map(|pattern| compiled(pattern, kind, ignores_case)).collect())
}

fn compiled(pattern: &str, kind: Kind, ignores_case: bool) -> Option<Regex> {
    let pattern = match kind {
        Kind::Literal => regex::escape(pattern),
        Kind::Basic => extended(pattern),
        Kind::Extended => pattern.to_owned(),
    };
    RegexBuilder::new(&pattern).case_insensitive(ignores_case).size_limit(MAX_BYTES).build().ok()
}

/// Converts basic to extended syntax: `a\|b(c)` -> `a|b\(c\)`.
fn extended(basic: &str) -> String {
    let mut extended = String::with_capacity(basic.len());
    let mut chars = basic.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('|' | '(' | ')' | '{' | '}' | '+' | '?')) => extended.push(c),
                Some('<' | '>') => extended.push_str("\\b"),
                next => extended.extend(['\\'].into_iter().chain(next)),
            },
            '|' | '(' | ')' | '{' | '}' | '+' | '?' => extended.extend(['\\', c]),
            c => extended.push(c),
        }
    }
    extended
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_tells_what_it_looks_for() {
        for (command, expected) in [
            ("grep -rn login dist src", &["login"] as &[&str]),
            ("cd /x && grep -rnE 'a (b|c)' . | head -50", &["a (b|c)"]),
            (r#"grep -n "a\|b(" x"#, &["a|b\\("]),
            ("git grep -n -e a -e 'b c' -- src", &["a", "b c"]),
            ("rg -g '*.js' -A 3 \"it's\" .", &["it's"]),
            ("grep -rnF 'a.b' . | grep -v c | grep d", &["a\\.b", "d"]),
            ("find . -name x | xargs grep -ne x", &["x"]),
            ("cat a.txt", &[]),
            ("rg '(?=a)' .", &[]),
            ("rg a . | rg '('", &[]),
            ("", &[]),
        ] {
            let found: Vec<String> = patterns(command).iter().map(|pattern| pattern.as_str().to_owned()).collect();
            assert_eq!(found, expected, "{command}");
        }
        assert!(patterns("grep -rni login .")[0].is_match("LOGIN"));
    }
}
