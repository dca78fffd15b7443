//! Messages of compilers and linters on places in files -> the count of each severity, the errors themselves, the
//! files.
//!
//! Their lines have the form of search hits, but a severity follows the place after one blank, whereas the text of a
//! search hit follows the colon directly, with its indentation. Messages without a severity are read by [`unstated`].

mod unstated;

use std::cell::LazyCell;
use std::sync::LazyLock;

use indexmap::IndexMap;
use regex::Regex;

use super::line_pattern;
use super::log::has_own_count;
use super::paths::common_directory;
use super::sheet::{Sheet, quote};
use crate::content::head;
use crate::content::hit_line::{Row, read_line, unnumbered};

/// The number of bytes of a line that are parsed.
const FRONT: usize = 600;

/// The most files and kinds of message that are kept.
const KEPT: usize = 20_000;

/// The most kinds of message that are quoted of each severity.
const QUOTED: usize = 40;

/// The most characters of a quoted message.
const MESSAGE_ROOM: usize = 300;

/// The most lines below the last message that are kept as the ending.
const ENDINGS: usize = 3;

/// ` error TS2322:`, ` warning[E0425]:`, `5 - error TS2322:` of `tsc --pretty`, and letters: ` E0602: `, ` C: `,
/// ` [W] `.
static SEVERITY: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(concat!(
        r"^(?:\d+ -)? ((?:fatal )?error|warning|note|info|information|hint|help|remark|style|performance|portability",
        r"|ERROR|WARNING|INFO)(?: [A-Z]+\d+|\[[\w:\-]+\])?:|^ ([EFWCRI])(?:\d{4})?: |^ \[([EFWCRI])\] ",
    ))
});

/// Matches a line of eslint below the name of its file: `  10:5  error  'x' is not defined  no-undef`.
static UNDER_HEADING: LazyLock<Regex> = LazyLock::new(|| line_pattern(r"^\s+\d+:\d+  +(error|warning)  +\S"));

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Severity {
    Error,
    Warning,
    Unstated,
    Note,
}

impl Severity {
    /// All severities, the gravest first.
    const ALL: [Self; 4] = [Self::Error, Self::Warning, Self::Unstated, Self::Note];

    fn of(word: &str) -> Self {
        match word {
            "error" | "ERROR" | "fatal error" | "E" | "F" => Self::Error,
            "warning" | "WARNING" | "W" => Self::Warning,
            _ => Self::Note,
        }
    }

    fn plural(self) -> &'static str {
        match self {
            Self::Error => "errors",
            Self::Warning => "warnings",
            Self::Unstated => "others",
            Self::Note => "notes",
        }
    }
}

/// A message on one place.
struct Message<'t> {
    severity: Severity,
    path: &'t str,
    /// The line number and the words, without the path.
    rest: &'t str,
    /// The words or the rule, which are the same at every place.
    said: &'t str,
}

impl<'t> Message<'t> {
    /// Reads a line; `heading` is the last line above it that is not indented. A message without a severity is accepted
    /// only if `is_said` returns true.
    fn parse(line: &'t str, heading: Option<&'t str>, is_said: &dyn Fn() -> bool) -> Option<Self> {
        let line = head(line, FRONT);
        let bare = line.trim_start();
        if let Some(message) = unstated::without_colon(bare) {
            return Some(message);
        }
        if let Row::Hit(hit) = read_line(bare)
            && !hit.is_context()
        {
            let unstated = || unstated::said_of(&hit).filter(|_| is_said());
            let (severity, said) = severity_of(hit.text).or_else(unstated)?;
            return Some(Self { severity, path: hit.path, rest: &bare[hit.path.len()..], said });
        }
        // `a.haml:33 [W] text` has no colon behind the number.
        if let Some(hit) = unnumbered(bare)
            && let Some((severity, said)) = severity_of(hit.text.trim_start_matches(|c: char| c.is_ascii_digit()))
        {
            return Some(Self { severity, path: hit.path, rest: &bare[hit.path.len()..], said });
        }
        let word = UNDER_HEADING.captures(line)?.get(1)?;
        Some(Self { severity: Severity::of(word.as_str()), path: heading?, rest: bare, said: &line[word.start()..] })
    }

    /// Returns the message with its path relative to a directory.
    fn shown(&self, directory: &str) -> String {
        let path = self.path.strip_prefix(directory).unwrap_or(self.path);
        let colon = if self.rest.starts_with(|c: char| c.is_ascii_digit()) { ":" } else { "" };
        quote(&format!("{path}{colon}{}", self.rest), MESSAGE_ROOM)
    }
}

/// Returns the severity in the text behind a place, and the part of the text that does not depend on the place.
fn severity_of(text: &str) -> Option<(Severity, &str)> {
    if let Some(found) = SEVERITY.captures(text) {
        let word = found.iter().skip(1).flatten().next()?;
        return Some((Severity::of(word.as_str()), &text[word.start()..]));
    }
    // eslint's format `unix`: `'x' is not defined. [Error/no-undef]`.
    let (_, rule) = text.trim_end().strip_suffix(']')?.rsplit_once(" [")?;
    let severity = match rule.split('/').next() {
        Some("Error") => Severity::Error,
        Some("Warning") => Severity::Warning,
        _ => return None,
    };
    Some((severity, text.trim()))
}

/// Returns true if a line continues the message above it: it is indented, or a line of source behind its number.
fn goes_on(line: &str) -> bool {
    line.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with([' ', '\t'])
}

/// Messages with the same text.
struct Kind<'t> {
    first: Message<'t>,
    count: usize,
}

#[derive(Default)]
struct Messages<'t> {
    /// The number of lines that are not blank.
    lines: usize,
    /// The number of messages, of lines that continue them, and of lines right above them.
    understood: usize,
    /// The number of messages of each severity, here and in `files`.
    counts: [usize; 4],
    files: IndexMap<&'t str, [usize; 4]>,
    kinds: IndexMap<(Severity, &'t str), Kind<'t>>,
    /// The lines below the last message that are not part of it.
    endings: Vec<&'t str>,
}

/// Writes the summary, and returns false if most lines are not part of a message. In the output of a search, a message
/// needs a severity.
pub(super) fn summarize(text: &str, is_searched: bool, sheet: &mut Sheet) -> bool {
    // Most texts never need the answer.
    let is_said = LazyCell::new(|| !is_searched && unstated::is_said(text));
    let messages = Messages::read(text, &|| *is_said);
    let total: usize = messages.counts.iter().sum();
    if total == 0
        || messages.files.len() == KEPT
        || total * 10 < messages.lines
        || messages.understood * 10 < messages.lines * 6
    {
        return false;
    }
    messages.write(sheet);
    true
}

impl<'t> Messages<'t> {
    fn read(text: &'t str, is_said: &dyn Fn() -> bool) -> Self {
        let mut messages = Self::default();
        let mut heading = None;
        let mut is_below_heading = false;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            messages.lines += 1;
            if let Some(message) = Message::parse(line, heading, is_said) {
                messages.understood += 1 + usize::from(std::mem::take(&mut is_below_heading));
                messages.add(message);
            } else if goes_on(line) {
                messages.understood += usize::from(!messages.kinds.is_empty());
            } else {
                heading = Some(line.trim_end());
                is_below_heading = true;
                if messages.endings.len() < ENDINGS {
                    messages.endings.push(line);
                }
            }
        }
        messages
    }

    fn add(&mut self, message: Message<'t>) {
        let rank = message.severity as usize;
        self.counts[rank] += 1;
        self.endings.clear();
        if self.files.len() < KEPT || self.files.contains_key(message.path) {
            self.files.entry(message.path).or_default()[rank] += 1;
        }
        let key = (message.severity, message.said);
        if self.kinds.len() < KEPT || self.kinds.contains_key(&key) {
            self.kinds.entry(key).or_insert(Kind { first: message, count: 0 }).count += 1;
        }
    }

    fn write(&self, sheet: &mut Sheet) {
        let common = common_directory(self.files.keys().copied());
        let under = if common.is_empty() { String::new() } else { format!(" under {common}") };
        let mut present = Severity::ALL.to_vec();
        present.retain(|severity| self.counts[*severity as usize] > 0);
        let count = |severity: &Severity| match (self.counts[*severity as usize], &present[..]) {
            (count, [Severity::Unstated]) => count.to_string(),
            (count, _) => format!("{count} {}", severity.plural()),
        };
        let counts: Vec<String> = present.iter().map(count).collect();
        let is_counted = self.endings.iter().any(|line| has_own_count(head(line, FRONT)));
        let counted = if is_counted { String::new() } else { format!(", {}", counts.join(", ")) };
        sheet.say(&format!("messages{counted} in {} files{under}", self.files.len()));
        let endings: Vec<String> = self.endings.iter().map(|line| quote(line, MESSAGE_ROOM)).collect();
        if is_counted {
            sheet.lines(&endings, sheet.share(40));
        }
        let mut quotes = present.into_iter().map(|severity| self.quotes(severity, common));
        sheet.lines(&quotes.next().unwrap_or_default(), sheet.share(70));
        if self.files.len() > 1 {
            sheet.list("files:", &self.files_by_gravity(common), sheet.share(50));
        }
        if !is_counted {
            sheet.lines(&endings, sheet.share(40));
        }
        for quotes in quotes {
            sheet.lines(&quotes, sheet.share(70));
        }
    }

    /// Returns the first message of each kind of this severity.
    fn quotes(&self, severity: Severity, directory: &str) -> Vec<String> {
        self.kinds
            .iter()
            .filter(|((of, _), _)| *of == severity)
            .take(QUOTED)
            .map(|(_, kind)| {
                let shown = kind.first.shown(directory);
                if kind.count == 1 { shown } else { format!("{} like: {shown}", kind.count) }
            })
            .collect()
    }

    /// Returns the files with the most errors first, with the number of messages on each.
    fn files_by_gravity(&self, directory: &str) -> Vec<String> {
        let mut files: Vec<(&str, [usize; 4])> = self.files.iter().map(|(path, counts)| (*path, *counts)).collect();
        files.sort_by_key(|(_, counts)| std::cmp::Reverse(*counts));
        files
            .iter()
            .map(|(path, counts)| {
                let path = quote(path.strip_prefix(directory).unwrap_or(path), 200);
                format!("{path} ×{}", counts.iter().sum::<usize>())
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The argument of a case is the room for its summary, in characters.
    #[test]
    fn what_tools_say_of_files() {
        concertina_cases::check!("messages", |text, room| {
            let mut sheet = Sheet::new(room.parse().expect("a number of characters"));
            if summarize(text, false, &mut sheet) { sheet.finish() } else { "no messages".to_owned() }
        });
    }
}
