//! entries -> the lines that [`Book`] reads.

use std::borrow::Cow;

use super::book::{Book, Part, Reading, Slot, escaped, template_name};
use super::column::Template;
use super::encode::Entry;
use super::log::Line;
use crate::pipeline::stages::hashing::{FastMap, FastSet};

/// Writes the body, reading along: what a line would be read as is known before it is written.
pub(super) fn body<'a>(
    lines: &[Line],
    entries: &[Entry<'a>],
    templates: &[Template],
    names: &FastSet<&'a str>,
    mut book: Book,
    marks: (char, char),
) -> Option<Vec<String>> {
    let mut known_templates: Vec<Option<usize>> = vec![None; templates.len()];
    let (mut defined, mut current) = (0, None);
    let mut numbers: FastMap<&str, usize> = FastMap::default();
    let mut body = Vec::with_capacity(lines.len());
    for (line, entry) in lines.iter().zip(entries) {
        let mut value = |value: &'a str| -> Cow<'a, str> {
            let Some(&name) = names.get(value) else { return escaped(value) };
            match numbers.get(name) {
                Some(number) => format!("${number}").into(),
                None => {
                    let number = numbers.len() + 1;
                    numbers.insert(name, number);
                    format!("${number}={name}").into()
                }
            }
        };
        let written = match entry {
            Entry::Raw if book.is_plain(line.text) => line.text.to_owned(),
            Entry::Raw => format!("\\{}", line.text),
            Entry::Text { gap } => {
                format!("{gap}: {}", &line.text[line.stamp.map_or(0, |stamp| stamp.end)..])
            }
            Entry::Template { template, gap, values } => {
                let known = &templates[*template];
                let gap = line.stamp.map(|_| *gap);
                if let Some(number) = known_templates[*template] {
                    row(number, current == Some(number), gap.unwrap_or(0), values, &mut value)
                } else {
                    known_templates[*template] = Some(defined);
                    defined += 1;
                    definition(defined - 1, gap, known, values, marks, &mut value)
                }
            }
        };
        if let Entry::Template { template, .. } = entry {
            current = known_templates[*template];
        }
        // The proof that the line comes back, once per line.
        matches!(book.read(&written)?, Reading::Line(read) if read == line.text).then_some(())?;
        body.push(written);
    }
    Some(body)
}

fn row<'a>(
    number: usize,
    is_current: bool,
    gap: i64,
    values: &[Option<&'a str>],
    write: &mut impl FnMut(&'a str) -> Cow<'a, str>,
) -> String {
    let said = values.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    let mut row = if is_current && (gap != 0 || said > 0) { String::new() } else { template_name(number) };
    if gap != 0 {
        row += &gap.to_string();
    }
    let mut values = &values[..said];
    while let Some(first) = values.first() {
        let expected = values.iter().take_while(|value| value.is_none()).count();
        row.push(' ');
        match first {
            Some(value) => row += &write(value),
            None if expected > 1 => row += &format!(".{expected}"),
            None => row.push('.'),
        }
        values = &values[expected.max(1)..];
    }
    row
}

fn definition<'a>(
    number: usize,
    gap: Option<i64>,
    template: &Template,
    values: &[Option<&'a str>],
    marks: (char, char),
    write: &mut impl FnMut(&'a str) -> Cow<'a, str>,
) -> String {
    let mut line = template_name(number);
    if let Some(gap) = gap {
        line += &gap.to_string();
    }
    line += ": ";
    let mut values = values.iter();
    for (index, part) in template.parts.iter().enumerate() {
        match part {
            Part::Text(text) => line += text,
            Part::Stamp if index == 0 => {}
            Part::Stamp => line.extend([marks.0, '+', marks.1]),
            Part::Value(slot) => {
                line.push(marks.0);
                if let Slot::Copy(from) = template.slots[*slot] {
                    line += &format!("={}", from + 1);
                } else {
                    line += &values.next().copied().flatten().map_or(Cow::Borrowed(""), &mut *write);
                    if let Slot::Count(step) = template.slots[*slot] {
                        line += &format!(",{step:+}");
                    }
                }
                line.push(marks.1);
            }
        }
    }
    line
}
