//! Messages that name no severity, as `go vet`, flake8, staticcheck, markdownlint and vale print them -> what is said of their places.
//!
//! `rg --column` prints lines of the same form. So they are believed by what all of them are: a search prints what it found right
//! behind the place, with the blanks that it has in its file, and prints at which column it found what it looked for.

use std::sync::LazyLock;

use regex::Regex;

use super::super::line_pattern;
use super::{FRONT, Message, Severity, severity_of};
use crate::content::head;
use crate::content::hit_line::{Hit, Row, read_line};

/// ` F401 `, ` [E501] `, ` SA4006: `: the code of a rule, one blank behind the place.
static CODE: LazyLock<Regex> = LazyLock::new(|| line_pattern(r"^ \[?([A-Z]{1,5}\d{2,5})(?:[\]:( ]|$)"));

/// `Vale.Spelling:Did you really …`: a rule of vale's, right behind the column.
static STYLE: LazyLock<Regex> = LazyLock::new(|| line_pattern(r"^([A-Z][A-Za-z]*\.[A-Z][A-Za-z]*):\S"));

/// ` [error] ` of yamllint, ` W: ` of rubocop, behind a column.
static MARK: LazyLock<Regex> = LazyLock::new(|| line_pattern(r"^ (?:\[(error|warning)\]|([CEFIRW]):) "));

/// `README.md:3:81 error MD013/line-length …`, `Dockerfile:3 DL3008 warning: …`: no colon behind the place.
static WITHOUT_COLON: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(
        r"^([^\s:]+):\d+(?::\d+)? (?:(error|warning) )?(MD\d{3}|DL\d{4}|SC\d{4})\b\S*(?: (error|warning|info|style):)?",
    )
});

/// What a message behind a place says, the same at every place: its rule, or its words.
pub(super) fn said_of<'t>(hit: &Hit<'t>) -> Option<(Severity, &'t str)> {
    if let Some(rule) = rule_of(hit) {
        return Some((Severity::Unstated, rule));
    }
    let words = hit.text.strip_prefix(' ').filter(|words| hit.column.is_some() && words.starts_with(opens_words))?;
    let mark = MARK.captures(hit.text).and_then(|found| found.get(1).or_else(|| found.get(2)));
    Some((mark.map_or(Severity::Unstated, |mark| Severity::of(mark.as_str())), words))
}

fn rule_of<'t>(hit: &Hit<'t>) -> Option<&'t str> {
    let found = CODE.captures(hit.text).or_else(|| STYLE.captures(hit.text).filter(|_| hit.column.is_some()))?;
    Some(found.get(1)?.as_str())
}

/// What comments, lists and tags open with, a message does not.
fn opens_words(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\'' | '"' | '`' | '‘' | '“' | '[')
}

/// The message of a line that has no colon behind its place.
pub(super) fn without_colon(line: &str) -> Option<Message<'_>> {
    let found = WITHOUT_COLON.captures(line)?;
    let path = found.get(1)?.as_str();
    let word = found.get(2).or_else(|| found.get(4));
    let severity = word.map_or(Severity::Unstated, |word| Severity::of(word.as_str()));
    Some(Message { severity, path, rest: &line[path.len()..], said: found.get(3)?.as_str() })
}

/// Whether what stands behind the places of a text is said about them: hardly any of it where a search prints what it found, and
/// not the same words at every column.
pub(super) fn is_said(text: &str) -> bool {
    let (mut said, mut found) = (0usize, 0usize);
    let (mut first, mut is_sought) = (None, true);
    for line in text.lines() {
        match read_line(head(line, FRONT)) {
            Row::Hit(hit) if !hit.is_context() && severity_of(hit.text).is_some() => {}
            Row::Hit(hit) if !hit.is_context() && said_of(&hit).is_some() => {
                said += 1;
                let here = at_column(&hit).filter(|_| rule_of(&hit).is_none());
                is_sought &= here.is_some() && *first.get_or_insert(here) == here;
            }
            Row::Hit(_) => found += 1,
            _ => {}
        }
    }
    found * 10 <= said && !(is_sought && said > 1)
}

/// The bytes with which a match at the printed column begins; a word that was looked for begins with no blank.
fn at_column<'t>(hit: &Hit<'t>) -> Option<&'t [u8]> {
    let start = usize::try_from(hit.column?).ok()?.checked_sub(1)?;
    hit.text.as_bytes().get(start..start + 3).filter(|bytes| bytes[0] != b' ')
}
