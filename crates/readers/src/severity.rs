//! Rates the severity of a line, a value or the answer to a call: the one place that decides what is a failure.
//!
//! A level that a line states outranks the words after it: `INFO ... parity error corrected` only mentions an error.
//! The words are the rows of `severity.txt`. The form of a line (a verdict on a test, a frame of a trace) is not
//! considered here.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::lines::head;
use super::log;
use super::word_set::is_word_byte;

/// A severity, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Reports no problem.
    None,
    /// Mentions a failure without stating a level, or states a harmless level.
    Notice,
    /// A warning.
    Warning,
    /// An error.
    Error,
    /// The end of a process, or a level above error.
    Fatal,
}

impl Severity {
    /// Returns true if it is a failure. A warning is not.
    pub fn is_failure(self) -> bool {
        !matches!(self, Self::None | Self::Warning)
    }

    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "notice" => Self::Notice,
            "warning" => Self::Warning,
            "error" => Self::Error,
            "fatal" => Self::Fatal,
            _ => return None,
        })
    }
}

/// The part of a line that is examined, in bytes. Longer lines are data, and what they report is at their start.
const REACH: usize = 4096;

/// The part of each line of an answer that is examined, in bytes.
const ANSWER_REACH: usize = 400;

/// The maximum number of blanks before the start of a line or between a word and its number, and the maximum length of
/// a negating word, in bytes.
const NEAR: usize = 64;

/// Returns the severity of a line: by its level, otherwise by its words. Linear in the line, without allocation.
pub fn severity(line: &str) -> Severity {
    let text = head(line, REACH);
    let level = log::level(text);
    let named = level.as_ref().map_or(Severity::None, |(_, level)| level.severity());
    if named >= Severity::Warning {
        return named;
    }
    let capped_from = level.map_or(usize::MAX, |(range, _)| range.end);
    let said = mentions_in(text, Form::Line).map(|mention| {
        if mention.range.start < capped_from { mention.severity } else { mention.severity.min(Severity::Notice) }
    });
    let said = said.max().unwrap_or(Severity::None);
    if said < Severity::Error && is_numbered_failure(text) { Severity::Error } else { said }
}

/// Returns the severity of a data value. The parts of a name count as words here: `payment_failed`,
/// `ConnectionTimeout`.
pub fn severity_of_value(value: &str) -> Severity {
    let said = mentions_in(head(value, REACH), Form::Value).map(|mention| mention.severity);
    said.max().unwrap_or(Severity::None).max(severity_of_state(value))
}

/// Returns the severity of a state: one word of the table that is the whole value of a status or a cell, or a container
/// state of docker, `Exited (137) …`.
pub fn severity_of_state(value: &str) -> Severity {
    let exit = value.strip_prefix("Exited (").and_then(|rest| rest.split_once(')'));
    if exit.is_some_and(|(code, _)| code != "0") {
        return Severity::Error;
    }
    let plain = |byte: u8| if byte == b'_' { b' ' } else { byte.to_ascii_lowercase() };
    let found = TABLE.states.binary_search_by(|(word, _)| word.bytes().cmp(value.bytes().map(plain)));
    found.map_or(Severity::None, |at| TABLE.states[at].1)
}

/// Returns true if the key of a data member names a failure, so that any value of it reports one: `error`, `stderr`.
pub fn is_failure_key(key: &str) -> bool {
    const KEYS: [&str; 8] =
        ["error", "errors", "err", "exception", "failure", "error_message", "errormessage", "stderr"];
    KEYS.iter().any(|name| key.eq_ignore_ascii_case(name))
}

/// Returns true if a line is the answer of a system or a shell to a failed call, or begins with a failure.
pub fn refuses(line: &str) -> bool {
    let text = head(line, ANSWER_REACH);
    mentions_in(text, Form::Line).any(|mention| {
        mention.is_answer || mention.severity.is_failure() && is_start(text.as_bytes(), mention.range.start)
    })
}

/// A mention of a failure or a level in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// The range of the words.
    pub range: Range<usize>,
    /// The severity of the words.
    pub severity: Severity,
    is_answer: bool,
}

/// Returns the words of a text, of one line or more, that mention a failure or a level. They are in order and do not
/// overlap.
pub fn mentions(text: &str) -> impl Iterator<Item = Mention> + '_ {
    mentions_in(text, Form::Line)
}

/// Returns the single words of the table that speak of a failure or name its level, in lower case.
pub fn words() -> impl Iterator<Item = &'static str> {
    let is_plain = |row: &Row| !row.is(Guard::Written) && !row.is(Guard::State) && !row.is(Guard::Value);
    rows().filter(is_plain).map(|row| row.phrase).filter(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// The kind of text that is searched for words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Line,
    Value,
}

fn mentions_in(text: &str, form: Form) -> impl Iterator<Item = Mention> + '_ {
    let bytes = text.as_bytes();
    TABLE.automaton.find_iter(text).filter_map(move |found| {
        let rows = TABLE.phrases[found.pattern().as_usize()].iter();
        let range = found.range();
        let holding = || rows.clone().filter(|row| row.holds(bytes, &range, form));
        let severity = holding().map(|row| row.severity).max()?;
        let is_denied = is_denied_before(bytes, range.start) || is_denied_after(bytes, range.end);
        let is_answer = holding().any(|row| row.is(Guard::Answer));
        (!is_denied).then_some(Mention { range, severity, is_answer })
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guard {
    Written,
    Ending,
    Start,
    Code,
    Answer,
    Value,
    State,
}

impl Guard {
    const NAMES: [(&'static str, Self); 7] = [
        ("written", Self::Written),
        ("ending", Self::Ending),
        ("start", Self::Start),
        ("code", Self::Code),
        ("answer", Self::Answer),
        ("value", Self::Value),
        ("state", Self::State),
    ];
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
struct Row {
    severity: Severity,
    phrase: &'static str,
    /// One bit for each guard.
    guards: u8,
}

impl Row {
    fn read(line: &'static str) -> Self {
        let mut fields = line.split('|');
        let severity =
            fields.next().and_then(|level| Severity::parse(level.trim())).expect("a row begins with its level");
        let phrase = fields.next().expect("a row has a phrase");
        // One blank on each side is not part of the phrase.
        let phrase =
            phrase.strip_prefix(' ').and_then(|phrase| phrase.strip_suffix(' ')).expect("a blank on each side");
        let guard = |name| Guard::NAMES.iter().find(|(known, _)| *known == name).expect("a guard of the table").1;
        let guards = fields.next().unwrap_or_default().split_whitespace().map(guard);
        Self { severity, phrase, guards: guards.fold(0, |all, guard| all | 1 << guard as u8) }
    }

    fn is(&self, guard: Guard) -> bool {
        self.guards & 1 << guard as u8 != 0
    }

    /// Returns true if an occurrence of the phrase, in any case, is what the row means.
    fn holds(&self, bytes: &[u8], range: &Range<usize>, form: Form) -> bool {
        let found = &bytes[range.clone()];
        let is_open =
            if self.is(Guard::Ending) { ends_type(bytes, range.start) } else { opens(bytes, range.start, form) };
        (form == Form::Value || !self.is(Guard::Value))
            && (!self.is(Guard::Written) || found == self.phrase.as_bytes())
            && is_open
            && closes(bytes, range.end, form)
            && (!self.is(Guard::Start) || is_start(bytes, range.start))
            && (!self.is(Guard::Code) || has_code(&bytes[range.end..]))
    }
}

/// The rows of the table, prepared for searching.
struct Table {
    automaton: AhoCorasick,
    /// The rows by pattern: those whose phrase it is in some case.
    phrases: Vec<Vec<Row>>,
    /// Whole values in lower case, sorted.
    states: Vec<(&'static str, Severity)>,
}

fn rows() -> impl Iterator<Item = Row> {
    let lines = include_str!("severity.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with("# ") && *line != "#").map(Row::read)
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut phrases: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    let mut states: BTreeMap<&'static str, Severity> = BTreeMap::new();
    for row in rows() {
        if !row.is(Guard::State) {
            phrases.entry(row.phrase.to_ascii_lowercase()).or_default().push(row);
        }
        let is_plain = [Guard::Written, Guard::Ending, Guard::Start, Guard::Code].iter().all(|guard| !row.is(*guard));
        if row.is(Guard::State) || is_plain && row.phrase.bytes().all(|byte| byte.is_ascii_lowercase()) {
            let known = states.entry(row.phrase).or_insert(row.severity);
            *known = row.severity.max(*known);
        }
    }
    let kind = MatchKind::LeftmostLongest;
    let automaton = AhoCorasick::builder().match_kind(kind).ascii_case_insensitive(true).build(phrases.keys());
    Table {
        automaton: automaton.expect("a list of short phrases"),
        phrases: phrases.into_values().collect(),
        states: states.into_iter().collect(),
    }
});

/// Returns true if a phrase that begins here begins a word and is not part of a name such as `/error`, `--fail`,
/// `console.error` or `std::error`. Such names are in lower case, so `[main/ERROR]` and `-ERR unknown command` are
/// accepted.
fn opens(bytes: &[u8], start: usize, form: Form) -> bool {
    let first = bytes[start];
    let Some(before) = start.checked_sub(1).map(|at| bytes[at]).filter(|_| is_word_byte(first)) else { return true };
    if form == Form::Value {
        return !before.is_ascii_alphanumeric() || is_hump(before, first, bytes.get(start + 1));
    }
    let is_name = match before {
        b'/' | b'\\' | b'-' | b'.' | b'$' => true,
        // GitHub actions write a level as `::error file=a.js`.
        b':' => start >= 2 && bytes[start - 2] == b':' && !is_start(bytes, start - 2),
        _ => false,
    };
    !(is_word_byte(before) || is_name && first.is_ascii_lowercase())
}

/// Returns true if a phrase that ends here ends a word and is not part of a name such as `errors.rs`, `fail-fast` or
/// `errors::new`.
fn closes(bytes: &[u8], end: usize, form: Form) -> bool {
    let last = bytes[end - 1];
    let Some(&after) = bytes.get(end).filter(|_| last.is_ascii_alphanumeric()) else { return true };
    let next = bytes.get(end + 1);
    if form == Form::Value {
        return !after.is_ascii_alphanumeric() || is_hump(last, after, next);
    }
    let is_name = match after {
        b'.' | b'-' => next.is_some_and(u8::is_ascii_lowercase),
        b':' => next == Some(&b':') && bytes.get(end + 2).is_some_and(u8::is_ascii_lowercase),
        _ => false,
    };
    !(is_word_byte(after) || is_name && last.is_ascii_lowercase())
}

/// Returns true if the letters before a position begin the name of a type: `Type` in `TypeError`, but not `on` in
/// `onError`.
fn ends_type(bytes: &[u8], at: usize) -> bool {
    let name = bytes[..at].iter().rev().take(NEAR).take_while(|byte| is_word_byte(**byte)).last();
    name.is_some_and(u8::is_ascii_uppercase)
}

/// Returns true if a new word begins between two letters: `paymentFailed`, `OOMKilled`.
fn is_hump(before: u8, first: u8, second: Option<&u8>) -> bool {
    first.is_ascii_uppercase() && (!before.is_ascii_uppercase() || second.is_some_and(u8::is_ascii_lowercase))
}

/// Returns true if only blanks stand before a position in its line.
fn is_start(bytes: &[u8], at: usize) -> bool {
    let mut before = bytes[..at].iter().rev().take(NEAR).skip_while(|byte| matches!(byte, b' ' | b'\t'));
    before.next().map_or(at < NEAR, |&byte| byte == b'\n')
}

/// Returns true if a number other than zero follows: `: 1`, ` 137`, `=2`.
fn has_code(after: &[u8]) -> bool {
    let digits = after.iter().take(NEAR).skip_while(|byte| matches!(byte, b':' | b' ' | b'=' | b'(' | b'"' | b'-'));
    digits.take_while(|byte| byte.is_ascii_digit()).any(|&byte| byte != b'0')
}

/// Returns true for the name of a program and the number of the error that ended it: `curl: (60) …`.
fn is_numbered_failure(text: &str) -> bool {
    let Some((name, rest)) = text.split_once(": (").filter(|_| text.starts_with(|c: char| c.is_ascii_lowercase()))
    else {
        return false;
    };
    let is_name = name.len() < NEAR && name.bytes().all(|byte| is_word_byte(byte) || matches!(byte, b'.' | b'-'));
    is_name && rest.bytes().take(NEAR).any(|byte| byte == b')') && has_code(rest.as_bytes())
}

/// Returns true if a negation stands before a position: `0 errors`, `no errors`, `0 tests failed`, `not fatal`.
fn is_denied_before(bytes: &[u8], start: usize) -> bool {
    const DENYING: [&[u8]; 7] = [b"0", b"no", b"without", b"any", b"zero", b"not", b"never"];
    let line = &bytes[start.saturating_sub(NEAR)..start];
    let Some(line) = line.strip_suffix(b" ") else { return false };
    let mut words = line.rsplit(|byte| matches!(byte, b' ' | b'\t' | b'\n'));
    let bare = |word: &[u8]| {
        let marks = word.iter().take_while(|byte| matches!(byte, b'(' | b'[' | b'"' | b'*' | b'|')).count();
        marks..word.len()
    };
    let Some(word) = words.next() else { return false };
    if DENYING.iter().any(|denying| word[bare(word)].eq_ignore_ascii_case(denying)) {
        return true;
    }
    // `0 tests failed`, `0 unexpected failures`.
    word.iter().all(u8::is_ascii_alphabetic) && words.next().is_some_and(|count| &count[bare(count)] == b"0")
}

/// Returns true if a negation follows: `: 0`, `=0`, `": null`, `(s): 0`, ` transactions: 0`, or ` 0` at the end.
fn is_denied_after(bytes: &[u8], end: usize) -> bool {
    const NOTHING: [&[u8]; 7] = [b"none", b"null", b"nil", b"<nil>", b"false", b"no", b"undefined"];
    let text = &bytes[end..bytes.len().min(end + NEAR)];
    let skip = |text: &[u8], set: &[u8]| text.iter().take_while(|byte| set.contains(byte)).count();
    let text = text.strip_prefix(b"(s)").unwrap_or(text);
    let text = text.strip_prefix(b"\"").or_else(|| text.strip_prefix(b"'")).unwrap_or(text);
    let noun =
        text.strip_prefix(b" ").map_or(0, |text| text.iter().take_while(|byte| byte.is_ascii_lowercase()).count());
    let has_noun = noun > 0 && text.get(noun + 1) == Some(&b':');
    let text = if has_noun { &text[noun + 1..] } else { text };
    let blanks = skip(text, b" \t");
    let signs = skip(&text[blanks..], b":=");
    let value = &text[blanks + signs..];
    let value = &value[skip(value, b" \t")..];
    if signs > 0 && (value.starts_with(b"[]") || value.starts_with(b"{}")) {
        return true;
    }
    let is_quoted = matches!(value.first(), Some(b'"' | b'\''));
    let value = &value[usize::from(is_quoted)..];
    let len = value.iter().take_while(|byte| byte.is_ascii_graphic() && !b",;)]}\"'".contains(byte)).count();
    let (value, rest) = value.split_at(len);
    let is_zero = value.starts_with(b"0") && value.iter().all(|byte| b"0.%".contains(byte));
    // In `error 0 of 12` and `error: no such file` the words go on. Pairs such as `err=null` end at the blank.
    let is_pair = text[blanks..].starts_with(b"=");
    let goes_on = !is_pair && matches!(rest.first(), Some(b' ' | b'\t')) && rest.iter().any(u8::is_ascii_alphanumeric);
    match signs {
        0 => blanks > 0 && is_zero && !goes_on,
        _ if is_zero || has_noun => is_zero,
        _ if value.is_empty() => is_quoted,
        _ => !goes_on && NOTHING.iter().any(|word| value.eq_ignore_ascii_case(word)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_is_found_where_its_guards_allow() {
        for row in rows() {
            if row.is(Guard::State) {
                assert!(severity_of_state(row.phrase) >= row.severity, "{}", row.phrase);
                continue;
            }
            let before = if row.is(Guard::Ending) { "Some" } else { "" };
            let after = if row.is(Guard::Code) { " 7" } else { "" };
            let line = format!("{before}{}{after}", row.phrase);
            let found = if row.is(Guard::Value) { severity_of_value(&line) } else { severity(&line) };
            assert!(found >= row.severity, "{line}: {found:?}");
            assert!(row.phrase.len() < NEAR, "{line}");
        }
    }
}
