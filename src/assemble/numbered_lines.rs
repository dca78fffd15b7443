//! The lines of an original by the numbers that placeholders tell and a fetch asks for.
//!
//! These are places from 1, but in a listing that begins elsewhere the printed numbers, which are what an agent has
//! seen. Arguments of calls are stored as JSON, mostly on one line: of them a rendering has the lines, and nothing else
//! is taken from that.

use std::ops::{Range, RangeInclusive};

use serde_json::Value;

use crate::content::numbered::listed_lines;

/// What a rendering says of itself.
const RENDERED: &str = " of the arguments as text; the id alone gives their JSON";

/// A line, in a listing with those below it that have no number.
pub(super) struct NumberedLine<'t> {
    /// What it is asked for by. Numbers rise.
    pub(super) number: usize,
    /// Which line of the text it is, from 1.
    place: usize,
    /// With its line end.
    pub(super) text: &'t str,
}

/// Where the numbers of lines come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbering {
    Places,
    Printed,
    Rendering,
}

/// The lines of a text, which together are the text.
pub(super) struct NumberedLines<'t> {
    pub(super) all: Vec<NumberedLine<'t>>,
    numbering: Numbering,
    /// How many lines the text has.
    total: usize,
}

impl<'t> NumberedLines<'t> {
    /// Those of an original.
    pub(super) fn of(text: &'t str) -> Self {
        let mut total = 0;
        let line = |(number, text): (usize, &'t str)| {
            let place = total + 1;
            total += text.split_inclusive('\n').count();
            NumberedLine { number, place, text }
        };
        let all: Vec<NumberedLine> = listed_lines(text).unwrap_or_default().into_iter().map(line).collect();
        // Most listings begin with the first line of a file.
        if all.iter().any(|line| line.number != line.place) {
            Self { all, numbering: Numbering::Printed, total }
        } else {
            Self::by_place(text, Numbering::Places)
        }
    }

    /// Those of [`rendered`] arguments.
    pub(super) fn of_rendering(text: &'t str) -> Self {
        Self::by_place(text, Numbering::Rendering)
    }

    fn by_place(text: &'t str, numbering: Numbering) -> Self {
        let lines = text.split_inclusive('\n').zip(1..);
        let all: Vec<NumberedLine> = lines.map(|(text, place)| NumberedLine { number: place, place, text }).collect();
        Self { total: all.len(), all, numbering }
    }

    /// Which of the lines are meant by a range, and whether by their places: in a listing where none has such a number,
    /// or where the range has no end and begins before all numbers, as one does that goes on from a place.
    pub(super) fn find(&self, asked: &RangeInclusive<usize>) -> (Range<usize>, bool) {
        let (first, last) = (*asked.start(), *asked.end());
        let end = self.all.partition_point(|line| line.number <= last);
        let start = self.all.partition_point(|line| line.number < first).min(end);
        let goes_on = last == usize::MAX && self.all.first().is_some_and(|line| first < line.number);
        if start < end && !goes_on {
            return (start..end, false);
        }
        let begun = |place: usize| self.all.partition_point(|line| line.place <= place);
        let end = begun(last);
        let start = if first > self.total { end } else { begun(first).saturating_sub(1) };
        (start..end, true)
    }

    /// The number of the line in which a part of the text begins.
    pub(super) fn number_of(&self, part: &str) -> usize {
        let begun = self.all.partition_point(|line| line.text.as_ptr() <= part.as_ptr());
        self.all.get(begun.saturating_sub(1)).map_or(1, |line| line.number)
    }

    /// Which lines a page holds, that were found by their places or not: `lines 41-80 of 300`.
    pub(super) fn describe(&self, page: &Range<usize>, is_by_place: bool) -> String {
        let (numbers, total) = (self.numbers(page), self.total);
        match self.numbering {
            Numbering::Places => format!("lines {numbers} of {total}"),
            Numbering::Printed if is_by_place => {
                let first = self.all.get(page.start).map_or(1, |line| line.place);
                let last = self.all.get(page.end).map_or(total, |next| next.place - 1);
                format!("lines {first}-{last} of {total}, numbered {numbers} in it")
            }
            Numbering::Printed => {
                format!("lines {numbers} as numbered in it, of {}", self.numbers(&(0..self.all.len())))
            }
            Numbering::Rendering => format!("lines {numbers} of {total}{RENDERED}"),
        }
    }

    /// How many there are, and how they are numbered where not from 1: `121 lines, numbered 300-420 in it`.
    pub(super) fn count(&self) -> String {
        let total = self.total;
        match self.numbering {
            Numbering::Places => format!("{total} lines"),
            Numbering::Printed => format!("{total} lines, numbered {} in it", self.numbers(&(0..self.all.len()))),
            Numbering::Rendering => format!("{total} lines{RENDERED}"),
        }
    }

    /// What is said of numbers that stand before lines and are no places in the original.
    pub(super) fn numbering(&self) -> &'static str {
        match self.numbering {
            Numbering::Places => "",
            Numbering::Printed => ", numbered as in it",
            Numbering::Rendering => RENDERED,
        }
    }

    /// Whether they are none of the original itself.
    pub(super) fn is_rendering(&self) -> bool {
        self.numbering == Numbering::Rendering
    }

    /// The first and the last number of a part that is not empty.
    fn numbers(&self, part: &Range<usize>) -> String {
        let number = |at: usize| self.all.get(at).map_or(0, |line| line.number);
        format!("{}-{}", number(part.start), number(part.end.saturating_sub(1)))
    }
}

/// Arguments as text: each string as it is, one with line breaks as lines of its own below its key; `None` for what is
/// no such JSON.
pub(super) fn rendered(json: &str) -> Option<String> {
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

/// Deep values are not indented: with that a text could become many times as long.
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
