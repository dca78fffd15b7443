//! Reads messages without a severity, as `go vet`, flake8, staticcheck, markdownlint and vale print them.
//!
//! `rg --column` prints lines of the same form, so all lines of a text decide together whether it has messages: a
//! search prints its match right behind the place, with its indentation, and the column at which the searched text
//! begins.

use std::sync::LazyLock;

use regex::Regex;

use super::super::line_pattern;
use super::{FRONT, Message, Severity, severity_of};
use crate::content::head;
use crate::content::hit_line::{Hit, Row, read_line};

/// ` F401 `, ` [E501] `, ` SA4006: `: the code of a rule, one blank behind the place.
static CODE: LazyLock<Regex> = LazyLock::new(|| line_pattern(r"^ \[?([A-Z]{1,5}\d{2,5})(?:[\],:( ]|$)"));

/// `Vale.Spelling:Did you really …`: a rule of vale's, right behind the column.
static STYLE: LazyLock<Regex> = LazyLock::new(|| line_pattern(r"^([A-Z][A-Za-z]*\.[A-Z][A-Za-z]*):\S"));

/// ` [error] ` of yamllint and ` [C] ` of pylint; ` W: ` of rubocop, behind a column.
static MARK: LazyLock<Regex> = LazyLock::new(|| line_pattern(r"^ (?:\[(error|warning|[CEFIRW])\]|([CEFIRW]):) "));

/// `README.md:3:81 error MD013/line-length …`, `Dockerfile:3 DL3008 warning: …`: no colon behind the place.
static WITHOUT_COLON: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(
        r"^([^\s:]+):\d+(?::\d+)? (?:(error|warning) )?(MD\d{3}|DL\d{4}|SC\d{4})\b\S*(?: (error|warning|info|style):)?",
    )
});

/// Returns the severity of a message behind a place and the part that is the same at every place: its rule, or its
/// words.
pub(super) fn said_of<'t>(hit: &Hit<'t>) -> Option<(Severity, &'t str)> {
    if let Some(rule) = rule_of(hit) {
        return Some((Severity::Unstated, rule));
    }
    let mark = MARK.captures(hit.text).and_then(|found| found.get(1).or_else(|| found.get(2)));
    let is_marked = hit.text.starts_with(" [") && mark.is_some();
    let words = hit.text.strip_prefix(' ').filter(|words| words.starts_with(opens_words))?;
    if hit.column.is_none() && !is_marked {
        return None;
    }
    Some((mark.map_or(Severity::Unstated, |mark| Severity::of(mark.as_str())), words))
}

fn rule_of<'t>(hit: &Hit<'t>) -> Option<&'t str> {
    let found = CODE.captures(hit.text).or_else(|| STYLE.captures(hit.text).filter(|_| hit.column.is_some()))?;
    Some(found.get(1)?.as_str())
}

/// Returns true if a message may begin with this character. Comments, lists and tags begin with others.
fn opens_words(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\'' | '"' | '`' | '‘' | '“' | '[')
}

/// Returns the message of a line that has no colon behind its place.
pub(super) fn without_colon(line: &str) -> Option<Message<'_>> {
    let found = WITHOUT_COLON.captures(line)?;
    let path = found.get(1)?.as_str();
    let word = found.get(2).or_else(|| found.get(4));
    let severity = word.map_or(Severity::Unstated, |word| Severity::of(word.as_str()));
    Some(Message { severity, path, rest: &line[path.len()..], said: found.get(3)?.as_str() })
}

/// Returns true if the texts behind the places are messages: a search prints many lines that are not, and the same
/// words at every column.
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

/// Returns the first three bytes at the printed column, or `None` if they begin with a blank, as no searched word does.
fn at_column<'t>(hit: &Hit<'t>) -> Option<&'t [u8]> {
    let start = usize::try_from(hit.column?).ok()?.checked_sub(1)?;
    hit.text.as_bytes().get(start..start + 3).filter(|bytes| bytes[0] != b' ')
}
