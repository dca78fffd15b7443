//! entries -> the lines that [`Book`] reads.

use std::fmt::Write;

use super::book::{Book, Part, Slot, escaped, template_name};
use super::column::Template;
use super::encode::{Entry, Plan};
use super::log::Line;
use crate::pipeline::hashing::FastMap;

/// Writes the body, one line of it for each line of the log. Whether it is read as the log is for the caller to ask.
pub(super) fn body<'a>(
    lines: &[Line],
    plan: &Plan<'a>,
    templates: &[Template<'a>],
    names: FastMap<&'a str, usize>,
    book: Book,
    marks: (char, char),
) -> String {
    let bytes: usize = lines.iter().map(|line| line.text.len()).sum();
    let mut writer = Writer { body: String::with_capacity(bytes / 2), book, names, marks };
    let mut known: Vec<Option<(usize, String)>> = vec![None; templates.len()];
    let mut defined = 0;
    for (index, (line, entry)) in lines.iter().zip(&plan.entries).enumerate() {
        if index > 0 {
            writer.body.push('\n');
        }
        match entry {
            Entry::Raw => {
                if !writer.book.is_plain(line.text) {
                    writer.body.push('\\');
                }
                writer.body.push_str(line.text);
            }
            Entry::Text { gap } => {
                let text = &line.text[line.stamp.map_or(0, |stamp| stamp.end)..];
                writer.push_number(*gap);
                writer.body.extend([": ", text]);
            }
            Entry::Template { template, gap, values } => {
                let gap = line.stamp.map(|_| *gap);
                let values = &plan.values[values.clone()];
                if let Some((number, name)) = &known[*template] {
                    writer.push_row(*number, name, gap.unwrap_or(0), values);
                } else {
                    let name = template_name(defined);
                    writer.push_definition(&name, gap, &templates[*template], values);
                    known[*template] = Some((defined, name));
                    defined += 1;
                }
            }
        }
    }
    writer.body
}

/// Writes what the book reads, and has the book know it.
struct Writer<'a> {
    body: String,
    book: Book,
    /// The values that have names, each with its number once it was said.
    names: FastMap<&'a str, usize>,
    marks: (char, char),
}

impl<'a> Writer<'a> {
    fn push_number(&mut self, number: i64) {
        write!(self.body, "{number}").expect("a string takes everything");
    }

    fn push_value(&mut self, value: &'a str) {
        let Some(number) = self.names.get_mut(value) else {
            self.body.push_str(&escaped(value));
            return;
        };
        let is_said = *number > 0;
        if !is_said {
            *number = self.book.name(value);
        }
        write!(self.body, "${number}").expect("a string takes everything");
        if !is_said {
            self.body.extend(["=", value]);
        }
    }

    fn push_row(&mut self, number: usize, name: &str, gap: i64, values: &[Option<&'a str>]) {
        let said = values.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        if !(self.book.is_at(number) && (gap != 0 || said > 0)) {
            self.body.push_str(name);
        }
        if gap != 0 {
            self.push_number(gap);
        }
        let mut values = &values[..said];
        while let Some(first) = values.first() {
            let expected = values.iter().take_while(|value| value.is_none()).count();
            self.body.push(' ');
            match first {
                Some(value) => self.push_value(value),
                None => {
                    self.body.push('.');
                    if expected > 1 {
                        self.push_number(expected as i64);
                    }
                }
            }
            values = &values[expected.max(1)..];
        }
        self.book.turn_to(number);
    }

    fn push_definition(&mut self, name: &str, gap: Option<i64>, template: &Template, values: &[Option<&'a str>]) {
        self.body.push_str(name);
        if let Some(gap) = gap {
            self.push_number(gap);
        }
        self.body.push_str(": ");
        let mut values = values.iter();
        for (index, part) in template.parts.iter().enumerate() {
            match part {
                Part::Text(text) => self.body.push_str(text),
                Part::Stamp if index == 0 => {}
                Part::Stamp => self.body.extend([self.marks.0, '+', self.marks.1]),
                Part::Value(slot) => {
                    self.body.push(self.marks.0);
                    if let Slot::Copy(from) = template.slots[*slot] {
                        write!(self.body, "={}", from + 1).expect("a string takes everything");
                    } else {
                        if let Some(value) = values.next().copied().flatten() {
                            self.push_value(value);
                        }
                        if let Slot::Count(step) = template.slots[*slot] {
                            write!(self.body, ",{step:+}").expect("a string takes everything");
                        }
                    }
                    self.body.push(self.marks.1);
                }
            }
        }
        self.book.define(template.parts.clone(), template.slots.clone());
    }
}
