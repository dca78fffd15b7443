//! `test a::b ... ok` 200 times -> `[… 200 lines 7-206] 200 passed: a 120, c 80`.
//!
//! What test runners, build tools and installers print about all that went well becomes one note with its counts and
//! the names of suites, files and modules. Everything else stays as it is, in its place: failures, warnings, traces,
//! summaries, timings, and whatever this module does not know; and of what went well what is unlike the rest ([`odd`]).
//!
//! A line is known by its own shape, and a shape counts only where it comes often enough ([`MIN_SIGNS`]) and, where
//! others write such lines too, where the tool's own summary or durations prove it. A line that speaks of an error
//! stays in sight whatever its shape.

mod build;
mod marks;
mod odd;
mod python;
mod rspec;
mod runs;
mod signs;
mod tap;
mod terraform;

use std::ops::Range;

use crate::content::hints::expected;
use crate::content::is_frame;
use crate::content::severity::{Severity, severity};
use crate::content::{ContentType, Segment};
use crate::pipeline::{Edit, FusionContext};
use crate::transcript::Role;

/// Fewer lines of one tool are no report of it.
const MIN_SIGNS: usize = 5;
/// A note replaces at least this many lines.
const MIN_RUN: usize = 8;
/// Lines that stay at the end of the text.
const LAST_LINES: usize = 2;
/// Longer lines are nobody's report.
const MAX_LINE_BYTES: usize = 4000;

/// Whose line it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    Apt,
    Build,
    Cargo,
    CargoTest,
    Configure,
    Docker,
    Dots,
    Dotnet,
    Git,
    Go,
    Gradle,
    Marks,
    Maven,
    Nextest,
    Node,
    Pip,
    Pytest,
    Rspec,
    Tap,
    Terraform,
    Unittest,
}

const TOOLS: usize = Tool::Unittest as usize + 1;

/// What part a line has in a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Something is done, and went well.
    Done,
    /// Something goes on. The last such line before another line stays: that may be about it.
    Step,
    /// The name of what the deeper lines below are about.
    Heading,
}

/// A line of a report of what went well.
#[derive(Debug, Clone, Copy)]
struct Sign<'t> {
    tool: Tool,
    part: Part,
    /// What is counted (`passed`), and how many of it the line stands for.
    label: &'static str,
    count: usize,
    /// The suite, file, module or package; empty for what the headings above say.
    name: &'t str,
    /// What is said behind the name: a version, or an id.
    detail: &'t str,
    /// The name of the test itself, where a line with the name of its heading closes that.
    title: &'t str,
    /// How long it took.
    seconds: Option<f64>,
    /// Whether words like `error` in the line are known to report none.
    quiet: bool,
}

impl<'t> Sign<'t> {
    fn new(tool: Tool, part: Part, label: &'static str, count: usize) -> Self {
        Self { tool, part, label, count, name: "", detail: "", title: "", seconds: None, quiet: false }
    }

    /// A test that passed.
    fn passed(tool: Tool, name: &'t str) -> Self {
        Self { name, ..Self::new(tool, Part::Done, "passed", 1) }
    }

    fn done(tool: Tool, label: &'static str, name: &'t str) -> Self {
        Self { name, ..Self::new(tool, Part::Done, label, 1) }
    }

    /// A line that only goes with others.
    fn aside(tool: Tool) -> Self {
        Self::new(tool, Part::Done, "", 0)
    }

    fn step(tool: Tool, label: &'static str) -> Self {
        Self::new(tool, Part::Step, label, 1)
    }

    /// A line that announces what the next ones tell.
    fn opening(tool: Tool) -> Self {
        Self::new(tool, Part::Step, "", 0)
    }

    fn heading(tool: Tool, name: &'t str) -> Self {
        Self { name, ..Self::new(tool, Part::Heading, "", 0) }
    }

    /// With what is said about how long it took.
    fn taking(self, time: &str) -> Self {
        Self { seconds: odd::seconds(time), ..self }
    }
}

/// A line of the text.
#[derive(Debug, Clone, Copy)]
struct Line<'t> {
    /// Where it starts in the range that is looked at.
    start: usize,
    /// Where its line feed stands.
    end: usize,
    /// Without its line end.
    text: &'t str,
    /// Without the blanks around it.
    bare: &'t str,
    /// How many bytes of blanks it starts with.
    indent: usize,
}

impl<'t> Line<'t> {
    fn of(start: usize, line: &'t str) -> Self {
        let text = line.strip_suffix('\r').unwrap_or(line);
        let bare = text.trim_start_matches([' ', '\t']);
        Self { start, end: start + line.len(), text, bare: bare.trim_end(), indent: text.len() - bare.len() }
    }

    fn is_blank(&self) -> bool {
        self.bare.is_empty()
    }
}

fn lines_of(text: &str) -> Vec<Line<'_>> {
    let mut start = 0;
    let mut lines = Vec::new();
    for line in text.split('\n') {
        lines.push(Line::of(start, line));
        start += line.len() + 1;
    }
    lines
}

/// Whether a line speaks of a failure or a warning, or is part of a stack trace: it is nothing that went well.
fn speaks_of_failure(line: &str) -> bool {
    severity(line) > Severity::None || is_frame(line)
}

/// Whether a segment of this type may hold a report. Whoever reads JSON, diffs or markup wants them as they are.
pub(super) fn may_hold(segment: &Segment) -> bool {
    !matches!(segment.content_type, ContentType::Json | ContentType::Diff | ContentType::Html)
}

/// Whether the text is what a tool printed, as far as its teller says: no source, no manual that quotes such lines, and
/// no list of commands that were only to be shown.
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

/// Whether a command line asks a build tool to show its commands: `make -nj4`, `make V=1`, `ninja -v`, `ninja -t
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

/// Whether a word of `make`'s holds the flag `n`: what follows a flag that takes a value is that value.
fn has_dry_flag(word: &str) -> bool {
    let flags = word.strip_prefix('-').filter(|flags| !flags.starts_with('-')).unwrap_or_default();
    flags.split(['C', 'I', 'W', 'f', 'j', 'l', 'o']).next().is_some_and(|flags| flags.contains('n'))
}

/// The notes in place of what went well in a range of whole lines.
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
    runs::notes(&lines, &signs, &odd::lines(&lines, &signs), (range.start, first_line))
}

/// What each line tells; nothing for tools with too few lines.
fn signs<'t>(lines: &[Line<'t>]) -> Vec<Option<Sign<'t>>> {
    let mut signs: Vec<Option<Sign>> = (0..lines.len()).map(|at| judge(lines, at)).collect();
    if let Some(doc) = rspec::passed(lines) {
        doc.into_iter().for_each(|(at, sign)| signs[at] = Some(sign));
    }
    tap::attach(lines, &mut signs);
    python::attach(lines, &mut signs);
    python::check(lines, &mut signs);
    terraform::attach(lines, &mut signs);
    let is_proved = marks::is_proved(lines, &signs);
    if is_proved {
        marks::attach(lines, &mut signs);
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

/// What a line tells by itself, or with the one beside it.
fn judge<'t>(lines: &[Line<'t>], at: usize) -> Option<Sign<'t>> {
    let line = &lines[at];
    if line.text.len() > MAX_LINE_BYTES || line.bare.len() < 3 {
        return None;
    }
    signs::read(line)
        .or_else(|| signs::read_in_step(line))
        .or_else(|| build::command(line))
        .or_else(|| marks::judge(line))
        .or_else(|| python::unittest(lines, at))
}

#[cfg(test)]
mod tests;
