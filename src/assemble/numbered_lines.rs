//! The lines of an original by the numbers that placeholders print and a fetch asks for.
//!
//! The numbers are 1-based positions. In a listing that begins elsewhere they are the printed numbers, because those
//! are what an agent has seen. Arguments of calls are stored as JSON, mostly on one line, so their line numbers refer
//! to a text rendering; character ranges refer to the JSON itself.

use std::ops::{Range, RangeInclusive};

use serde_json::Value;

use crate::content::numbered::listed_lines;

/// The note on a page of rendered arguments.
const RENDERED_NOTE: &str = " of the arguments as text; the id alone gives their JSON";

/// A line. In a listing it includes the unnumbered lines below it.
pub(super) struct NumberedLine<'t> {
    /// The number by which it is requested. Numbers rise.
    pub(super) number: usize,
    /// Its 1-based position in the text.
    position: usize,
    /// The text, with its line end.
    pub(super) text: &'t str,
}

/// The source of line numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbering {
    Position,
    PrintedNumbers,
    Rendered,
}

/// The lines of a text. Concatenated, they are the text.
pub(super) struct NumberedLines<'t> {
    pub(super) all: Vec<NumberedLine<'t>>,
    numbering: Numbering,
    /// The number of lines of the text.
    total: usize,
}

impl<'t> NumberedLines<'t> {
    /// Splits an original into lines.
    pub(super) fn of(text: &'t str) -> Self {
        let mut total = 0;
        let line = |(number, text): (usize, &'t str)| {
            let position = total + 1;
            total += text.split_inclusive('\n').count();
            NumberedLine { number, position, text }
        };
        let all: Vec<NumberedLine> = listed_lines(text).unwrap_or_default().into_iter().map(line).collect();
        // Most listings begin with the first line of a file, so their numbers are positions.
        if all.iter().any(|line| line.number != line.position) {
            Self { all, numbering: Numbering::PrintedNumbers, total }
        } else {
            Self::by_position(text, Numbering::Position)
        }
    }

    /// Splits arguments that [`render_arguments`] rendered into lines.
    pub(super) fn of_rendering(text: &'t str) -> Self {
        Self::by_position(text, Numbering::Rendered)
    }

    fn by_position(text: &'t str, numbering: Numbering) -> Self {
        let lines = text.split_inclusive('\n').zip(1..);
        let all: Vec<NumberedLine> =
            lines.map(|(text, position)| NumberedLine { number: position, position, text }).collect();
        Self { total: all.len(), all, numbering }
    }

    /// Returns the lines in a range, and whether they were found by position. Positions are used in a listing in which
    /// no line has such a number, and for an open range that begins before all numbers, as a continued page does.
    pub(super) fn find(&self, requested: &RangeInclusive<usize>) -> (Range<usize>, bool) {
        let (first, last) = (*requested.start(), *requested.end());
        let end = self.all.partition_point(|line| line.number <= last);
        let start = self.all.partition_point(|line| line.number < first).min(end);
        let is_continuation = last == usize::MAX && self.all.first().is_some_and(|line| first < line.number);
        if start < end && !is_continuation {
            return (start..end, false);
        }
        let lines_starting_by = |position: usize| self.all.partition_point(|line| line.position <= position);
        let end = lines_starting_by(last);
        let start = if first > self.total { end } else { lines_starting_by(first).saturating_sub(1) };
        (start..end, true)
    }

    /// Returns the number of the line in which a part of the text begins. `part` must be a slice of the text.
    pub(super) fn number_of(&self, part: &str) -> usize {
        let count = self.all.partition_point(|line| line.text.as_ptr() <= part.as_ptr());
        self.all.get(count.saturating_sub(1)).map_or(1, |line| line.number)
    }

    /// Describes the lines of a page, which were found by position or by number: `lines 41-80 of 300`.
    pub(super) fn describe(&self, page: &Range<usize>, is_by_position: bool) -> String {
        let (first_and_last, total) = (self.first_and_last(page), self.total);
        match self.numbering {
            Numbering::Position => format!("lines {first_and_last} of {total}"),
            Numbering::PrintedNumbers if is_by_position => {
                let first = self.all.get(page.start).map_or(1, |line| line.position);
                let last = self.all.get(page.end).map_or(total, |next| next.position - 1);
                format!("lines {first}-{last} of {total}, numbered {first_and_last} in it")
            }
            Numbering::PrintedNumbers => {
                format!("lines {first_and_last} as numbered in it, of {}", self.first_and_last(&(0..self.all.len())))
            }
            Numbering::Rendered => format!("lines {first_and_last} of {total}{RENDERED_NOTE}"),
        }
    }

    /// Describes the number of lines, and their numbering unless it starts at 1: `121 lines, numbered 300-420 in it`.
    pub(super) fn count(&self) -> String {
        let total = self.total;
        match self.numbering {
            Numbering::Position => format!("{total} lines"),
            Numbering::PrintedNumbers => {
                format!("{total} lines, numbered {} in it", self.first_and_last(&(0..self.all.len())))
            }
            Numbering::Rendered => format!("{total} lines{RENDERED_NOTE}"),
        }
    }

    /// Returns the note for line numbers that are not positions in the original.
    pub(super) fn numbering(&self) -> &'static str {
        match self.numbering {
            Numbering::Position => "",
            Numbering::PrintedNumbers => ", numbered as in it",
            Numbering::Rendered => RENDERED_NOTE,
        }
    }

    /// Returns true if the lines are those of a rendering.
    pub(super) fn is_rendering(&self) -> bool {
        self.numbering == Numbering::Rendered
    }

    /// Formats the first and the last number of a non-empty part.
    fn first_and_last(&self, part: &Range<usize>) -> String {
        let number = |at: usize| self.all.get(at).map_or(0, |line| line.number);
        format!("{}-{}", number(part.start), number(part.end.saturating_sub(1)))
    }
}

/// Renders arguments as text: strings are unquoted, and a string with line breaks stands below its key. Returns `None`
/// if the input is not a non-empty JSON object or array.
pub(super) fn render_arguments(json: &str) -> Option<String> {
    let value: Value = serde_json::from_str(json).ok()?;
    let mut text = String::with_capacity(json.len());
    write_members(&value, &mut text);
    (!text.is_empty()).then_some(text)
}

fn write_members(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| write_member(key, value, text)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, value)| write_member(&format!("[{at}]"), value, text));
        }
        _ => {}
    }
}

/// Nested values are not indented: indentation could multiply the length of the text.
fn write_member(key: &str, value: &Value, text: &mut String) {
    text.push_str(key);
    text.push(':');
    let is_filled = value.as_object().is_some_and(|fields| !fields.is_empty())
        || value.as_array().is_some_and(|items| !items.is_empty());
    match value {
        Value::String(words) => {
            text.push(if words.contains('\n') { '\n' } else { ' ' });
            text.push_str(words);
        }
        _ if is_filled => {
            text.push('\n');
            write_members(value, text);
        }
        _ => text.push_str(&format!(" {value}")),
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
}
