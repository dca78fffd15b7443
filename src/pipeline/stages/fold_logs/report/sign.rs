//! What one line of a report tells: whose it is, what went well, and how much of it.

use crate::content::is_frame;
use crate::content::severity::{Severity, severity};

/// A note replaces at least this many lines.
pub(super) const MIN_RUN: usize = 8;

/// Whose line it is.
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

/// What part a line has in a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Something is done, and went well.
    Done,
    /// Something goes on. The last such line before another line stays: that may be about it.
    Step,
    /// The name of what the deeper lines below are about.
    Heading,
}

/// A line of a report of what went well.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sign<'t> {
    pub(super) tool: Tool,
    pub(super) part: Part,
    /// What is counted (`passed`), and how many of it the line stands for.
    pub(super) label: &'static str,
    pub(super) count: usize,
    /// The suite, file, module or package; empty for what the headings above say.
    pub(super) name: &'t str,
    /// What is said after the name: a version, or an id.
    pub(super) detail: &'t str,
    /// The name of the test itself, where a line with the name of its heading closes that.
    pub(super) title: &'t str,
    /// How long it took.
    pub(super) seconds: Option<f64>,
    /// Whether words like `error` in the line are known to report none.
    pub(super) quiet: bool,
}

impl<'t> Sign<'t> {
    pub(super) fn new(tool: Tool, part: Part, label: &'static str, count: usize) -> Self {
        Self { tool, part, label, count, name: "", detail: "", title: "", seconds: None, quiet: false }
    }

    /// A test that passed.
    pub(super) fn passed(tool: Tool, name: &'t str) -> Self {
        Self { name, ..Self::new(tool, Part::Done, "passed", 1) }
    }

    pub(super) fn done(tool: Tool, label: &'static str, name: &'t str) -> Self {
        Self { name, ..Self::new(tool, Part::Done, label, 1) }
    }

    /// A line that only goes with others.
    pub(super) fn aside(tool: Tool) -> Self {
        Self::new(tool, Part::Done, "", 0)
    }

    pub(super) fn step(tool: Tool, label: &'static str) -> Self {
        Self::new(tool, Part::Step, label, 1)
    }

    /// A line that announces what the next ones tell.
    pub(super) fn opening(tool: Tool) -> Self {
        Self::new(tool, Part::Step, "", 0)
    }

    pub(super) fn heading(tool: Tool, name: &'t str) -> Self {
        Self { name, ..Self::new(tool, Part::Heading, "", 0) }
    }

    /// With what is said about how long it took.
    pub(super) fn taking(self, time: &str) -> Self {
        Self { seconds: seconds(time), ..self }
    }
}

/// A line of the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    /// Where it starts in the range that is looked at.
    pub(super) start: usize,
    /// Where its line feed stands.
    pub(super) end: usize,
    /// Without its line end.
    pub(super) text: &'t str,
    /// Without the blanks around it.
    pub(super) trimmed: &'t str,
    /// How many bytes of blanks it starts with.
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

/// Whether a line speaks of a failure or a warning, or is part of a stack trace: it is nothing that went well.
pub(super) fn speaks_of_failure(line: &str) -> bool {
    severity(line) > Severity::None || is_frame(line)
}

/// The seconds of `58.21s`, `9m41s`, `31002ms` or `1 m 3 s` at the start of a text.
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
