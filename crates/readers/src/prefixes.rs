//! Lines that all begin alike, `web-1  | `, `[1/3] `, `stdout: `, `> ` -> the lines without it.
//!
//! Who printed a line says nothing about what it is: lines are judged without it, and folded without it where that saves more.

use std::collections::HashSet;

use super::lines::head;
use super::log::{Stamp, level};
use super::seen::{Seen, filled};

/// Fewer lines share nothing.
const MIN_LINES: usize = 2;
/// The share of the lines that must have the prefix, in percent.
const SHARE: usize = 80;
/// A prefix ends within this many bytes.
const REACH: usize = 160;
/// The longest name of who printed a line, in bytes.
const MAX_NAME: usize = 80;

/// A shape that prefixes have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `web-1  | `, as `docker compose` prints.
    Bar,
    /// `[1/3] `, `[pod/web-1/app] `.
    Tag,
    /// `stdout: `, `web-1: `.
    Label,
    /// `> `, `>> `, `| `, `│ `.
    Quote,
    /// `#7 0.123 `, as a build of images prints.
    Step,
    /// `web-7f9c-x2 app `: a pod, and perhaps its container.
    Pod,
    /// `2026-11-22T10:00:00Z `, `2026-11-22T10:00:00Z stdout F `, before a value or another prefix.
    Stamp,
}

const FORMS: &[Form] = &[Form::Bar, Form::Tag, Form::Label, Form::Quote, Form::Step, Form::Stamp, Form::Pod];

impl Form {
    /// The name in the prefix of a line, and where the prefix ends.
    fn parse(self, line: &str) -> Option<(&str, usize)> {
        let searched = head(line, REACH);
        let (name, end) = match self {
            Self::Bar => {
                let at = searched.find(" | ").map(|at| (at, at + 3)).or_else(|| {
                    searched
                        .strip_suffix(" |")
                        .filter(|_| searched.len() == line.len())
                        .map(|name| (name.len(), line.len()))
                })?;
                (searched[..at.0].trim_end(), at.1)
            }
            Self::Tag => {
                let inner = searched.strip_prefix('[')?;
                let at = inner.find(']')?;
                let rest = &inner[at + 1..];
                let end = 1 + at + 1 + if rest.is_empty() { 0 } else { rest.strip_prefix(' ').map(|_| 1)? };
                let is_told = level(&searched[..at + 2]).is_some()
                    || Stamp::find(searched).is_some_and(|stamp| stamp.range.start <= at);
                (&inner[..at], (!is_told).then_some(end)?)
            }
            Self::Label => {
                let at = searched.find(':')?;
                let rest = &searched[at + 1..];
                let end = at + 1 + if rest.is_empty() { 0 } else { rest.strip_prefix(' ').map(|_| 1)? };
                (&searched[..at], end)
            }
            Self::Quote => {
                let mark = ["> ", ">> ", "| ", "│ ", "┃ "]
                    .iter()
                    .find(|mark| searched.starts_with(**mark) || line == mark.trim_end())?;
                return Some(("", mark.len().min(line.len())));
            }
            Self::Step => {
                let number = searched.strip_prefix('#')?;
                let digits = number.bytes().take_while(u8::is_ascii_digit).count();
                let rest = number[digits..].strip_prefix(' ').filter(|_| digits > 0)?;
                let seconds = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
                let has_seconds = rest[..seconds].contains('.') && rest[seconds..].starts_with(' ');
                return Some(("", digits + 2 + if has_seconds { seconds + 1 } else { 0 }));
            }
            Self::Pod => {
                let at = searched.find(' ')?;
                let pod = &searched[..at];
                let rest = &searched[at + 1..];
                let second = rest
                    .find(' ')
                    .filter(|&end| is_name(&rest[..end]) && rest[..end].starts_with(|c: char| c.is_ascii_lowercase()));
                let is_pod = pod.contains('-') && pod.bytes().any(|byte| byte.is_ascii_digit());
                (
                    is_pod.then_some(pod)?,
                    at + 1 + second.filter(|_| !rest.starts_with(['{', '['])).map_or(0, |end| end + 1),
                )
            }
            Self::Stamp => {
                let stamp = Stamp::find(searched).filter(|stamp| stamp.range.start <= 1)?;
                let mut end = stamp.range.end + usize::from(line[stamp.range.end..].starts_with([']', ')', ',']));
                for stream in [" stdout F", " stderr F", " stdout P", " stderr P"] {
                    end += if line[end..].starts_with(stream) { stream.len() } else { 0 };
                }
                return line[end..].starts_with([' ', '\t']).then_some(("", end + 1));
            }
        };
        is_name(name).then_some((name, end))
    }

    /// How many different names `lines` of this form may have, for all of them to be names of who printed something.
    fn names(self, lines: usize) -> usize {
        match self {
            // `key: value` has as many keys as lines.
            Self::Label | Self::Pod | Self::Bar => (lines / 3).clamp(1, 12),
            _ => lines,
        }
    }
}

/// Whether a word names a program, a container or a step.
fn is_name(word: &str) -> bool {
    (1..=MAX_NAME).contains(&word.len())
        && word.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b':' | b'%' | b'@' | b'#')
        })
}

/// A prefix that nearly all lines of a text have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Prefix {
    form: Form,
    /// How many blanks more stand behind it in all lines.
    blanks: usize,
}

impl Prefix {
    /// Whether it is a time stamp.
    pub(super) fn is_stamp(self) -> bool {
        self.form == Form::Stamp
    }

    /// Whether it is a name and a bar.
    pub(super) fn is_bar(self) -> bool {
        self.form == Form::Bar
    }

    /// Where it ends in a line; 0 where the line has none.
    pub(super) fn end(self, line: &str) -> usize {
        self.form.parse(line).map_or(0, |(_, end)| end + blanks(&line[end..]).min(self.blanks))
    }
}

/// How many blanks a line begins with.
fn blanks(line: &str) -> usize {
    line.bytes().take_while(|byte| *byte == b' ' || *byte == b'\t').count()
}

/// A text without the prefix that nearly all of its lines have.
#[derive(Debug)]
pub(super) struct Bare {
    /// The lines; those without the prefix as they are.
    pub(super) text: String,
    /// What was taken off.
    pub(super) prefix: Prefix,
}

/// Takes off the prefix that four of five lines share, in the first form that fits.
pub(super) fn without_prefix(lines: &[Seen]) -> Option<Bare> {
    let total = filled(lines).count();
    let least = (total * SHARE).div_ceil(100).max(MIN_LINES);
    FORMS.iter().enumerate().find_map(|(number, &form)| {
        let has_form = |line: &&Seen| line.is_other(number, || form.parse(line.text).is_some());
        let (mut found, mut left) = (0usize, total);
        for line in filled(lines) {
            found += usize::from(has_form(&line));
            left -= 1;
            if found + left < least {
                return None;
            }
        }
        let formed = || filled(lines).filter(has_form).filter_map(|line| Some((line.text, form.parse(line.text)?)));
        let is_short = formed().map(|(_, (name, _))| name).collect::<HashSet<&str>>().len() <= form.names(found);
        if found < least || !is_short {
            return None;
        }
        // Of the blanks behind a time those that all lines have: what is more indents what the line tells.
        let rests = || formed().map(|(line, (_, end))| &line[end..]).filter(|rest| !rest.trim().is_empty());
        let shared = if form == Form::Stamp { rests().map(blanks).min().unwrap_or(0) } else { 0 };
        let prefix = Prefix { form, blanks: shared };
        let mut text = String::new();
        for line in lines {
            text.push_str(&line.text[prefix.end(line.text)..]);
            text.push('\n');
        }
        Some(Bare { text, prefix })
    })
}

#[cfg(test)]
mod tests {
    use super::super::seen::Page;
    use super::*;

    fn bare(lines: &[&str]) -> Option<String> {
        without_prefix(Page::of(&lines.join("\n")).view().lines)
            .map(|bare| bare.text.lines().collect::<Vec<_>>().join("|"))
    }

    #[test]
    fn prefixes_of_several_programs_are_taken_off() {
        for (lines, expected) in [
            (&["web-1  | a b", "db-1   | c", "web-1  | d", "web-1  |", "db-1   | e", "db-1   | f"][..], "a b|c|d||e|f"),
            (&["[1/3] a", "[2/3] b", "[3/3] c"], "a|b|c"),
            (&["[pod/web-1/app] {", "[pod/web-1/app] }"], "{|}"),
            (&["stdout: a", "stdout: b", "stdout:", "stderr: c", "stdout: d", "stdout: e"], "a|b||c|d|e"),
            (&["> a", ">", "> b"], "a||b"),
            (&[">> a", ">> b"], "a|b"),
            (&["#7 0.123 a", "#7 1.200 b", "#8 c"], "a|b|c"),
            (
                &["web-7f9c-x2 app {\"a\":1}", "web-7f9c-x2 app {\"a\":2}", "web-7f9c-x2 app {\"a\":3}"],
                "{\"a\":1}|{\"a\":2}|{\"a\":3}",
            ),
            (
                &["2026-11-22T10:00:00Z stdout F {\"a\":1}", "2026-11-22T10:00:01Z stderr F {\"a\":2}"],
                "{\"a\":1}|{\"a\":2}",
            ),
            (&["2026-11-22 10:00:00,123 a", "2026-11-22 10:00:01,200 b"], "a|b"),
            (&["12:00:01.123  {", "12:00:01.124    \"a\": 1", "12:00:01.125  }", "12:00:01.126  "], "{|  \"a\": 1|}|"),
        ] {
            assert_eq!(bare(lines).as_deref(), Some(expected), "{lines:?}");
        }
    }

    #[test]
    fn lines_that_differ_have_no_prefix() {
        for lines in [
            &["name: a", "on: b", "jobs: c", "env: d"][..],
            &["[INFO] a", "[WARN] b", "[INFO] c"],
            &["ann | 3 | Rome", "bob | 4 | Oslo", "eve | 5 | Bern", "kim | 6 | Wien"],
            &["> a", "b", "c"],
            &["plain words", "other words"],
            &["> one"],
            &[],
        ] {
            assert_eq!(bare(lines), None, "{lines:?}");
        }
    }
}
