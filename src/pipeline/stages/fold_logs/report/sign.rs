//! The meaning of one line of a report: its tool, what succeeded, and the count.

use crate::content::is_frame;
use crate::content::severity::{Severity, severity};

/// The minimum number of lines that a note replaces.
pub(super) const MIN_RUN: usize = 8;

/// The tool that printed a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
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

pub(super) const TOOLS: usize = Tool::Unittest as usize + 1;

/// The role of a line in a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Something finished successfully.
    Done,
    /// Something is in progress. The last such line before another line is kept, because that line may be about it.
    Step,
    /// A heading of the more deeply indented lines below.
    Heading,
}

/// A line of a report about something that succeeded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sign<'t> {
    pub(super) tool: Tool,
    pub(super) part: Part,
    /// The unit of the count, such as `passed`, and the count.
    pub(super) label: &'static str,
    pub(super) count: usize,
    /// The suite, file, module or package; empty if the headings above name it.
    pub(super) name: &'t str,
    /// The text after the name: a version or an id.
    pub(super) detail: &'t str,
    /// The title of the test. In some reports, a line whose title is the name of a heading closes that heading.
    pub(super) title: &'t str,
    /// The duration in seconds.
    pub(super) seconds: Option<f64>,
    /// True if words like `error` in the line are known not to report one.
    pub(super) quiet: bool,
}

impl<'t> Sign<'t> {
    pub(super) fn new(tool: Tool, part: Part, label: &'static str, count: usize) -> Self {
        Self { tool, part, label, count, name: "", detail: "", title: "", seconds: None, quiet: false }
    }

    /// Creates the sign of a passed test.
    pub(super) fn passed(tool: Tool, name: &'t str) -> Self {
        Self { name, ..Self::new(tool, Part::Done, "passed", 1) }
    }

    /// Creates the sign of a line that is omitted only together with others.
    pub(super) fn aside(tool: Tool) -> Self {
        Self::new(tool, Part::Done, "", 0)
    }

    pub(super) fn step(tool: Tool, label: &'static str) -> Self {
        Self::new(tool, Part::Step, label, 1)
    }

    /// Creates the sign of a line that announces the next ones.
    pub(super) fn opening(tool: Tool) -> Self {
        Self::new(tool, Part::Step, "", 0)
    }

    pub(super) fn heading(tool: Tool, name: &'t str) -> Self {
        Self { name, ..Self::new(tool, Part::Heading, "", 0) }
    }

    /// Returns the sign with a duration.
    pub(super) fn taking(self, time: &str) -> Self {
        Self { seconds: seconds(time), ..self }
    }
}

/// A line of the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    /// The offset of its start in the examined range.
    pub(super) start: usize,
    /// The offset of its line feed.
    pub(super) end: usize,
    /// The line without its line end.
    pub(super) text: &'t str,
    /// The line without surrounding blanks.
    pub(super) trimmed: &'t str,
    /// The number of bytes of leading blanks.
    pub(super) indent: usize,
}

impl<'t> Line<'t> {
    pub(super) fn of(start: usize, line: &'t str) -> Self {
        let text = line.strip_suffix('\r').unwrap_or(line);
        let trimmed = text.trim_start_matches([' ', '\t']);
        Self { start, end: start + line.len(), text, trimmed: trimmed.trim_end(), indent: text.len() - trimmed.len() }
    }

    pub(super) fn is_blank(&self) -> bool {
        self.trimmed.is_empty()
    }
}

pub(super) fn lines_of(text: &str) -> Vec<Line<'_>> {
    let mut start = 0;
    let mut lines = Vec::new();
    for line in text.split('\n') {
        lines.push(Line::of(start, line));
        start += line.len() + 1;
    }
    lines
}

/// Returns true if a line mentions a failure or a warning, or is part of a stack trace.
pub(super) fn speaks_of_failure(line: &str) -> bool {
    severity(line) > Severity::None || is_frame(line)
}

/// Parses a duration such as `58.21s`, `9m41s`, `31002ms` or `1 m 3 s` at the start of a text.
pub(super) fn seconds(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 4] = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let mut rest = text.trim_start_matches(['<', ' ']);
    let mut sum = None;
    loop {
        let after = rest.trim_start_matches(|char: char| char.is_ascii_digit() || char == '.');
        let number: Option<f64> = rest[..rest.len() - after.len()].parse().ok();
        let after = after.trim_start();
        let unit = UNITS.iter().find_map(|(unit, worth)| Some((after.strip_prefix(unit)?, worth)));
        let (Some(number), Some((next, worth))) = (number, unit) else { return sum };
        sum = Some(sum.unwrap_or(0.0) + number * worth);
        rest = next.trim_start();
    }
}
