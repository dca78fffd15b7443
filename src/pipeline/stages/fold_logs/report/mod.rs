//! `test a::b ... ok` 200 times -> `[… 200 lines 7-206] 200 passed: a 120, c 80`.
//!
//! Successful lines of test runners, build tools and installers become one note with their counts and the names of
//! suites, files and modules. All other lines stay unchanged and in place: failures, warnings, traces, summaries,
//! timings, and every line that this module does not know. Successful lines that differ from the rest stay too
//! ([`unusual`]).
//!
//! A line is recognised by its form. A form counts only if it occurs often enough ([`MIN_SIGNS`]). If other programs
//! print lines of the same form, the tool's own totals or durations must prove it. A line that mentions an error stays
//! visible whatever its form.

mod build;
mod check_marks;
mod notes;
mod python;
mod rspec;
mod sign;
mod signs;
mod tap;
mod unusual;

use std::ops::Range;

use crate::content::hints::expected;
use crate::content::{ContentType, Segment};
use crate::pipeline::{Edit, FusionContext};
use crate::transcript::Role;
use sign::{Line, Sign, TOOLS, Tool, lines_of};

/// The minimum number of lines of a tool that count as its report.
const MIN_SIGNS: usize = 5;
/// The number of lines that are kept at the end of the text.
const LAST_LINES: usize = 2;
/// The maximum length of a line of a report, in bytes.
const MAX_LINE_BYTES: usize = 4000;

/// Returns true if a segment of this type may hold a report. JSON, diffs and markup are never shortened.
pub(super) fn may_hold(segment: &Segment) -> bool {
    !matches!(segment.content_type, ContentType::Json | ContentType::Diff | ContentType::Html)
}

/// Returns true if a tool printed the text, according to the hints. Sources, manuals that quote reports, and lists of
/// commands do not count.
pub(super) fn is_printed(context: &FusionContext) -> bool {
    let source = || context.hints.path.as_deref().or(context.hints.command.as_deref()).unwrap_or_default();
    context.role == Role::Tool
        && !context.text.starts_with("#!")
        && !context.hints.command.as_deref().is_some_and(asks_for_commands)
        && match expected(context.hints).map(|expected| expected.content_type) {
            Some(ContentType::Code | ContentType::Json | ContentType::Diff | ContentType::Html) => false,
            Some(ContentType::Text) => [".txt", ".out"].iter().any(|suffix| source().contains(suffix)),
            _ => true,
        }
}

/// Returns true if a command asks a build tool to show its commands: `make -nj4`, `make V=1`, `ninja -v`, `ninja -t
/// commands`.
fn asks_for_commands(command: &str) -> bool {
    command.split([';', '|', '&', '\n', '(', ')']).any(|part| {
        let words: Vec<&str> = part.split_whitespace().collect();
        let program = |name: &str| words.iter().any(|word| word.rsplit('/').next() == Some(name));
        let makes = program("make") || program("gmake");
        let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
        has(&["--dry-run", "--just-print", "--recon"])
            || makes && words.iter().any(|word| has_dry_flag(word))
            || (makes || program("ninja") || program("cmake")) && has(&["V=1", "VERBOSE=1", "-v", "--verbose"])
            || program("ninja") && has(&["-n", "-t"])
    })
}

/// Returns true if an option word of `make` contains the flag `n`. The text after a flag with a value is that value.
fn has_dry_flag(word: &str) -> bool {
    let flags = word.strip_prefix('-').filter(|flags| !flags.starts_with('-')).unwrap_or_default();
    flags.split(['C', 'I', 'W', 'f', 'j', 'l', 'o']).next().is_some_and(|flags| flags.contains('n'))
}

/// Returns notes in place of the successful lines in a range of whole lines.
pub(super) fn find(context: &FusionContext, range: Range<usize>) -> Vec<Edit> {
    let lines = lines_of(&context.text[range.clone()]);
    let mut signs = signs(&lines);
    if context.text[range.end..].trim().is_empty() {
        let last = lines.iter().enumerate().rev().filter(|(_, line)| !line.is_blank()).take(LAST_LINES);
        last.for_each(|(at, _)| signs[at] = None);
    }
    if signs.iter().all(Option::is_none) {
        return Vec::new();
    }
    let first_line = memchr::memchr_iter(b'\n', &context.text.as_bytes()[..range.start]).count() + 1;
    notes::notes(&lines, &signs, &unusual::lines(&lines, &signs), (range.start, first_line))
}

/// Returns the sign of each line. Tools with too few lines get none.
fn signs<'t>(lines: &[Line<'t>]) -> Vec<Option<Sign<'t>>> {
    let mut signs: Vec<Option<Sign>> = (0..lines.len()).map(|at| judge(lines, at)).collect();
    if let Some(doc) = rspec::passed(lines) {
        doc.into_iter().for_each(|(at, sign)| signs[at] = Some(sign));
    }
    tap::attach(lines, &mut signs);
    python::attach(lines, &mut signs);
    python::check(lines, &mut signs);
    let is_proved = check_marks::is_proved(lines, &signs);
    if is_proved {
        check_marks::attach(lines, &mut signs);
    }
    let mut tally = [0; TOOLS];
    signs.iter().flatten().for_each(|sign| tally[sign.tool as usize] += 1);
    if !is_proved {
        tally[Tool::Marks as usize] = 0;
    }
    for sign in &mut signs {
        *sign = sign.filter(|sign| tally[sign.tool as usize] >= MIN_SIGNS);
    }
    signs
}

/// Returns the sign of a line, read alone or with a neighbouring line.
fn judge<'t>(lines: &[Line<'t>], at: usize) -> Option<Sign<'t>> {
    let line = &lines[at];
    if line.text.len() > MAX_LINE_BYTES || line.trimmed.len() < 3 {
        return None;
    }
    signs::read(line)
        .or_else(|| signs::read_in_step(line))
        .or_else(|| build::command(line))
        .or_else(|| check_marks::judge(line))
        .or_else(|| python::unittest(lines, at))
}

#[cfg(test)]
mod tests;
