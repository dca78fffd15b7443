//! Logs and command output -> counts of verdicts and of a log's levels, the ending, the error lines themselves, the
//! times.
//!
//! One error line of each kind is quoted. Lines that differ only in words with digits are of one kind. Levels are
//! counted only where most lines are entries of a log: elsewhere `Info:` is a field, and `ERR` the name of a row.

mod patterns;

use std::ops::Range;

use concertina_base::hashing::FastSet;
use indexmap::{IndexMap, IndexSet};
use patterns::{ENDING, ERROR_TYPE, FOREIGN, NUMBERED, OWN_COUNT, PLACE};
use xxhash_rust::xxh3::xxh3_64;

use super::numbers::which_lines;
use super::sheet::{MOST_ITEMS, Sheet, quote};
use crate::content::head;
use crate::content::log::{Level, level};
use crate::content::severity::{Severity, severity};
use crate::content::test_report::{Outcome, have_failures, is_test_totals, is_totals, verdict};
use crate::content::time_stamp::Stamp;
use crate::tokens::utf16;

/// The number of bytes of a line in which its level and time are searched.
const FRONT: usize = 240;

/// The most kinds of lines that are distinguished.
const MOST_KINDS: usize = 20_000;

/// The number of last lines in which an ending is searched.
const TAIL: usize = 60;

/// The number of last lines in which the totals of a run are searched, since details of failures may follow them.
const TOTALS_TAIL: usize = 400;

/// The most totals that are quoted.
const MOST_TOTALS: usize = 6;

/// The most other endings that are quoted.
const ENDINGS: usize = 3;

/// If fewer characters than this are left, quoted lines lose the time in front.
const ROOMY: usize = 400;

/// The most lines quoted of each severity.
const QUOTED: usize = 40;

/// The most lines from a failure to the line with its place in a file. Chosen by judgement.
const PLACE_REACH: usize = 12;

/// The lines of one kind.
struct Kind<'t> {
    line: &'t str,
    count: usize,
    severity: Severity,
    /// True if the line itself names its level.
    has_level: bool,
    /// True if the line names a failed test.
    is_failed_test: bool,
}

#[derive(Default)]
struct Log<'t> {
    /// The number of lines that are not blank.
    lines: usize,
    levels: IndexMap<Level, usize>,
    /// The words of verdicts with the number of lines that have them. Ticks are not counted.
    verdicts: IndexMap<&'t str, (usize, Outcome)>,
    /// The suites that node's reporter opened. A verdict on one is a verdict on all its tests.
    suites: FastSet<&'t str>,
    /// True once the list that repeats the failures has begun.
    is_recap: bool,
    /// True if the output ends with totals that report failures, so that it numbers the failed tests: `1) adds`.
    numbers_failures: bool,
    /// The number of further lines in which the place of the last failure is searched.
    awaits_place: usize,
    /// True if the last line is a failure that ends with a colon, so that its message is the next line.
    awaits_message: bool,
    kinds: IndexMap<u64, Kind<'t>>,
    types: IndexSet<&'t str>,
    times: Option<Times<'t>>,
}

/// The times of one form on the lines of a log.
struct Times<'t> {
    first: &'t str,
    last: &'t str,
    /// The earliest and the latest time, if their texts sort as times.
    range: Option<(&'t str, &'t str)>,
    /// The number of lines with such a time, and true if lines begin with it.
    count: usize,
    lead: bool,
}

/// Returns true if the totals of a run report a failure.
pub fn totals_failures(text: &str) -> bool {
    lines_from_end(text).take(TOTALS_TAIL).any(|line| is_totals(line) && have_failures(line))
}

/// Writes the summary, and returns false if all lines are blank.
pub(super) fn summarize(text: &str, sheet: &mut Sheet) -> bool {
    let mut log = Log { numbers_failures: totals_failures(text), ..Log::default() };
    let mut kind = String::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        log.add(line, &mut kind);
    }
    if log.lines == 0 {
        return false;
    }
    log.write(text, sheet);
    true
}

impl<'t> Log<'t> {
    fn add(&mut self, line: &'t str, kind: &mut String) {
        self.lines += 1;
        let front = head(line, FRONT);
        self.add_time(front);
        let verdict = verdict(line);
        if self.is_told_again(line) && verdict.is_some() {
            return;
        }
        if let Some((word, outcome)) = verdict.filter(|(word, _)| word.is_ascii()) {
            self.verdicts.entry(word).or_insert((0, outcome)).0 += 1;
        }
        let has_failed = verdict.is_some_and(|(_, outcome)| outcome == Outcome::Failed)
            || self.numbers_failures && NUMBERED.is_match(front);
        // The name of a passed test may contain any word.
        let is_judged = verdict.is_some() && !has_failed;
        let level = level(front).map(|(_, level)| level).filter(|_| !is_judged);
        if let Some(level) = level {
            *self.levels.entry(level).or_insert(0) += 1;
        }
        let is_message = self.awaits_message && verdict.is_none();
        let severity = match severity(front) {
            _ if is_judged => Severity::None,
            // A line about a failure counts as an error unless it names a harmless level.
            Severity::Notice if level.is_none() => Severity::Error,
            Severity::None if has_failed || is_message || self.is_place(front) => Severity::Error,
            said => said.min(Severity::Error),
        };
        self.awaits_message = severity == Severity::Error && line.trim_end().ends_with(':');
        self.awaits_place = match severity {
            Severity::Error if !PLACE.is_match(front) => PLACE_REACH,
            Severity::Error => 0,
            _ => self.awaits_place.saturating_sub(1),
        };
        if severity == Severity::Error {
            let room = MOST_ITEMS - self.types.len();
            self.types.extend(ERROR_TYPE.find_iter(front).map(|found| found.as_str()).take(room));
        }
        kind_of(front, kind);
        // Lines of one kind have one severity, and a passed test is never like one that failed.
        kind.push(if is_judged { '✔' } else { char::from(b'0' + severity as u8) });
        let key = xxh3_64(kind.as_bytes());
        if self.kinds.len() < MOST_KINDS || self.kinds.contains_key(&key) {
            let new =
                Kind { line, count: 0, severity, has_level: level.is_some() || is_message, is_failed_test: has_failed };
            self.kinds.entry(key).or_insert(new).count += 1;
        }
    }

    /// Returns true if a line below a failure names its place in a file of the project.
    fn is_place(&self, line: &str) -> bool {
        self.awaits_place > 0 && PLACE.is_match(line) && !FOREIGN.is_match(line)
    }

    /// Returns true if the verdict on a line repeats others: one on a suite, or one in the list of failures at the end
    /// of the output of node's reporter.
    fn is_told_again(&mut self, line: &'t str) -> bool {
        let Some((sign, name)) = line.trim_start().split_once(' ') else { return false };
        if sign == "▶" && self.suites.len() < MOST_KINDS {
            self.suites.insert(name);
        }
        self.is_recap |= sign == "✖" && name == "failing tests:";
        self.is_recap || name.rsplit_once(" (").is_some_and(|(name, _)| self.suites.contains(name))
    }

    /// Records the time of a line if it has the form of the first one.
    fn add_time(&mut self, line: &'t str) {
        let Some(range) = time_of(line) else { return };
        let time = &line[range.clone()];
        let lead = line[..range.start].trim_matches([' ', '[', '(']).is_empty();
        match &mut self.times {
            None => {
                let range = sorts_as_text(time).then_some((time, time));
                self.times = Some(Times { first: time, last: time, range, count: 1, lead });
            }
            Some(times) if has_form_of(times.first, time) => {
                // Entries of several threads, or of access logs, are not in the order of their times.
                let range = times.range.filter(|_| is_spelt_like(times.first, time));
                times.range = range.map(|(earliest, latest)| (time.min(earliest), time.max(latest)));
                times.last = time;
                times.count += 1;
            }
            Some(_) => {}
        }
    }

    /// Returns the times, if enough lines have one.
    fn times(&self) -> Option<&Times<'t>> {
        /// The most lines for each one with a time, since the lines of traces have none: 4, or 20 if lines begin with
        /// it.
        const STAMPED: [usize; 2] = [4, 20];
        let times = self.times.as_ref()?;
        (times.count > 1 && times.count * STAMPED[usize::from(times.lead)] >= self.lines).then_some(times)
    }

    /// Returns true if the lines are entries of a log: they have times, or most of them a level.
    fn has_entries(&self) -> bool {
        self.times().is_some() || self.levels.values().sum::<usize>() * 2 >= self.lines
    }

    fn time_range(&self) -> Option<String> {
        let Times { first, last, range, .. } = self.times()?;
        match range {
            Some((earliest, latest)) if earliest == latest => Some(format!("at {earliest}")),
            Some((earliest, latest)) => Some(format!("from {earliest} to {latest}")),
            None => (first != last).then(|| format!("first at {first}, last at {last}")),
        }
    }

    fn write(&self, text: &str, sheet: &mut Sheet) {
        let (last, endings) = endings(text);
        sheet.say(&self.headline(text));
        let quoted: Vec<String> = endings
            .iter()
            .map(|line| quote(if line.starts_with("===") { line.trim_matches(['=', ' ']) } else { line }, FRONT))
            .collect();
        // The parts of a run that passed have a total each.
        let has_failures = self.kinds.values().any(|kind| kind.severity == Severity::Error);
        sheet.lines(&quoted, sheet.share(if has_failures { 35 } else { 70 }));
        let is_short = sheet.left() < ROOMY;
        self.quote_kinds(Severity::Error, &endings, is_short, sheet, 70);
        // A truncated time would be misleading.
        if let Some(range) = self.time_range().filter(|range| utf16::len(range) < sheet.left()) {
            sheet.line(&range, usize::MAX);
        }
        if self.types.len() > 1 {
            sheet.list("error types:", &self.types.iter().collect::<Vec<_>>(), sheet.share(40));
        }
        self.quote_kinds(Severity::Warning, &endings, is_short, sheet, 40);
        self.quote_kinds(Severity::Notice, &endings, is_short, sheet, 30);
        // The last line may have been quoted above as an error.
        let last = last.map(|last| quote(without_time(last, is_short), FRONT)).filter(|last| !sheet.has_line(last));
        if let Some(last) = last {
            sheet.lines(&[last], sheet.share(40));
        }
        if self.lines >= 50 && self.kinds.len() * 5 <= self.lines {
            let rare: Vec<String> = self
                .kinds
                .values()
                .filter(|kind| kind.severity == Severity::None && kind.count == 1 && !endings.contains(&kind.line))
                .take(QUOTED)
                .map(|kind| quote(kind.line, FRONT))
                .collect();
            sheet.lines(&rare, sheet.share(50));
        }
    }

    /// Returns the first line, without counts if the output states them itself.
    fn headline(&self, text: &str) -> String {
        let has_entries = self.has_entries();
        let mut parts = vec![format!("{}, {}", if has_entries { "log" } else { "output" }, which_lines(text))];
        if !lines_from_end(text).take(TOTALS_TAIL).any(|line| has_own_count(head(line, FRONT))) {
            // A short summary is cut within this line, so failures come first.
            let mut verdicts: Vec<_> = self.verdicts.iter().collect();
            verdicts.sort_by_key(|(_, (_, outcome))| *outcome != Outcome::Failed);
            parts.extend(verdicts.iter().map(|(word, (count, _))| format!("{word} ×{count}")));
            for level in Level::ALL.iter().rev().filter(|_| has_entries) {
                parts.extend(self.levels.get(level).map(|count| format!("{} {count}", level.as_str())));
            }
        }
        parts.join(", ")
    }

    /// Quotes the first line of each kind of this severity, in the order of the text, in at most `percent` of the room.
    /// If that is too little for all, failed tests stay and then the rarer kinds, because a rare event often explains
    /// frequent ones. Endings are omitted, since they are quoted already.
    fn quote_kinds(&self, severity: Severity, endings: &[&str], is_short: bool, sheet: &mut Sheet, percent: usize) {
        let is_wanted = |kind: &&Kind<'_>| kind.severity == severity && !endings.contains(&kind.line);
        let mut kinds: Vec<(usize, &Kind<'_>)> = self.kinds.values().filter(is_wanted).enumerate().collect();
        kinds.sort_by_key(|(_, kind)| (!kind.is_failed_test, !kind.has_level, kind.count.ilog2()));
        let room = sheet.share(percent);
        let mut used = 0;
        let mut quoted: Vec<(usize, String)> = kinds
            .iter()
            .take(QUOTED)
            .map(|(at, kind)| {
                let line = quote(without_time(kind.line, is_short), FRONT);
                (*at, if kind.count == 1 { line } else { format!("{} like: {line}", kind.count) })
            })
            .take_while(|(_, line)| {
                let is_first = used == 0;
                used += utf16::len(line) + 1;
                is_first || used <= room
            })
            .collect();
        quoted.sort_by_key(|(at, _)| *at);
        let quoted: Vec<String> = quoted.into_iter().map(|(_, line)| line).collect();
        sheet.lines(&quoted, room);
    }
}

/// Returns true if most of the first lines are verdicts on tests, or a runner states its totals at the end.
pub(super) fn is_test_run(text: &str) -> bool {
    let lines = || text.lines().filter(|line| !line.trim().is_empty()).take(TAIL);
    lines().filter(|line| verdict(line).is_some()).count() * 2 > lines().count()
        || is_tap(text)
        || lines_from_end(text).take(TAIL).any(is_test_totals)
}

/// Returns true if a text begins with the header of the Test Anything Protocol, below the command of a script at most.
pub(super) fn is_tap(text: &str) -> bool {
    text.lines().take(6).any(|line| line.starts_with("TAP version "))
}

/// Returns a line without the time in front of it if room is short: the range of times says nearly as much.
fn without_time(line: &str, is_short: bool) -> &str {
    let found = time_of(line).filter(|found| is_short && found.start < 2);
    found.map_or(line, |found| line[found.end..].trim_start_matches([' ', ']', '-', '\t']))
}

/// Returns true if a line states the number of tests or errors. Lines with a time are entries of a log.
pub(super) fn has_own_count(front: &str) -> bool {
    time_of(front).is_none() && (is_totals(front) || OWN_COUNT.is_match(front))
}

/// Writes the words of a line without digits to `kind`.
fn kind_of(front: &str, kind: &mut String) {
    kind.clear();
    for word in front.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        if !word.is_empty() && !word.bytes().any(|byte| byte.is_ascii_digit()) {
            kind.push_str(word);
            kind.push(' ');
        }
    }
}

/// Returns the last line if it is an entry of a log, and the lines that tell the ending, the most telling first: totals
/// with failures, other totals that count something, the error on the last line, and other endings.
fn endings(text: &str) -> (Option<&str>, Vec<&str>) {
    let mut last = None;
    let (mut totals, mut telling, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for (index, line) in lines_from_end(text).take(TOTALS_TAIL).enumerate() {
        let front = head(line, FRONT);
        let is_last = index == 0;
        if has_own_count(front) {
            if !totals.contains(&line) {
                totals.push(line);
            }
            continue;
        }
        let has_level = || level(front).is_some();
        if is_last && (time_of(line).is_some() || has_level()) {
            last = Some(line);
        } else if is_last && severity(front).is_failure() {
            telling.push(line);
        } else if is_last
            || index < TAIL
                && others.len() < ENDINGS
                && line.len() < 400
                && ENDING.is_match(line)
                && verdict(line).is_none()
                && (!has_level() || line.starts_with('[') && time_of(line).is_none())
        {
            others.push(line);
        }
    }
    totals.sort_by_key(|line| (!have_failures(line), !counts_something(line)));
    totals.truncate(MOST_TOTALS);
    totals.append(&mut telling);
    totals.append(&mut others);
    (last, totals)
}

/// Returns true if a line has a whole number other than 0: `0 passed in 0.01 s` is the total of a part without tests.
fn counts_something(line: &str) -> bool {
    line.split(|c: char| !c.is_ascii_digit() && c != '.')
        .any(|number| !number.contains('.') && number.bytes().any(|digit| digit != b'0'))
}

/// Returns the lines of a text that have words, the last first, without shell prompts and notes.
pub(super) fn lines_from_end(text: &str) -> impl Iterator<Item = &str> {
    let has_words = |line: &str| line.contains(char::is_alphanumeric) && !is_prompt(line.trim());
    text.lines().rev().filter(move |line| has_words(line) && !line.starts_with("note: "))
}

fn is_prompt(line: &str) -> bool {
    line.len() < 12 && line.ends_with(['$', '#', '>', '%'])
}

/// Returns the range of the time of a line. Counters are not times.
fn time_of(line: &str) -> Option<Range<usize>> {
    Stamp::find(line).filter(|stamp| !stamp.is_counter).map(|stamp| stamp.range)
}

/// Returns true for a time that begins with its year or is a number of seconds: the order of such texts of one length
/// is that of their times.
fn sorts_as_text(time: &str) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let digits = time.bytes().take_while(|byte| is_digit(byte)).count();
    digits == 4 || digits >= 10 && time.bytes().all(|byte| is_digit(&byte) || byte == b'.')
}

/// Returns true if two times differ in their digits only.
fn is_spelt_like(one: &str, other: &str) -> bool {
    let is_like = |(a, b): (u8, u8)| a == b || a.is_ascii_digit() && b.is_ascii_digit();
    one.len() == other.len() && one.bytes().zip(other.bytes()).all(is_like)
}

/// Returns true if two times have the same punctuation.
fn has_form_of(one: &str, other: &str) -> bool {
    let form = |time: &str| time.bytes().filter(u8::is_ascii_punctuation).collect::<Vec<u8>>();
    form(one) == form(other)
}
