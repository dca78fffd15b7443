//! One line of a folded log -> the line it stands for.
//!
//! Both directions walk through a [`Book`]: the decoder to read, the encoder to know how each line it writes will be read. So
//! a line from the log that would be mistaken for notation is found by asking the book, and gets a backslash.
//!
//! ```text
//! 5: text            the stamp 5 ticks after the line above, then the text
//! a5: text <v> end   the same, and names the line a template: v may change
//! b: text <v>        a template without a stamp
//! a5 w, 5 w          a line of template a, or of the last one, with w for v
//! 2*30               the two lines of the body above, 30 times more
//! \5 w               the line `5 w` itself
//! ```
//!
//! A value is `.` (as before: the template's last value, or the next of its count `<v,+1>`), `""` (empty), `$3=text` (text,
//! from now on `$3`), `$3`, `\.` (the text `.`), or itself. `.4` is four of `.`; at the end they are left out.

use std::borrow::Cow;
use std::fmt::Write;

use super::repeat::{self, canonical};
use super::stamp::Layout;

/// Pairs that may mark the places of values; the first two separate words, so that no value holds one.
pub(super) const MARKS: [(char, char); 4] = [('<', '>'), ('{', '}'), ('«', '»'), ('‹', '›')];

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// The same in all lines.
    Text(String),
    /// The value with this index.
    Value(usize),
    /// The stamp.
    Stamp,
}

/// How a value follows from what is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// As before, unless said.
    Free,
    /// Grows by this much, unless said.
    Count(i64),
    /// Always equal to another one of the line.
    Copy(usize),
}

#[derive(Debug)]
struct Template {
    parts: Vec<Part>,
    slots: Vec<Slot>,
    is_stamped: bool,
    /// The values of the line before.
    last: Vec<String>,
}

impl Template {
    fn new(parts: Vec<Part>, slots: Vec<Slot>) -> Self {
        let is_stamped = parts.contains(&Part::Stamp);
        Self { parts, is_stamped, last: vec![String::new(); slots.len()], slots }
    }

    fn written_slots(&self) -> usize {
        self.slots.iter().filter(|slot| !matches!(slot, Slot::Copy(_))).count()
    }

    fn read(&mut self, values: &[Value], names: &[String]) {
        let mut values = values.iter();
        for (index, slot) in self.slots.iter().enumerate() {
            let (known, rest) = self.last.split_at_mut(index);
            let last = &mut rest[0];
            if let Slot::Copy(from) = slot {
                last.clone_from(&known[*from]);
                continue;
            }
            match values.next() {
                Some(Value::Text(text)) => {
                    last.clear();
                    last.push_str(text);
                }
                Some(Value::Named(name)) => last.clone_from(&names[*name]),
                Some(Value::Expected) | None => {
                    if let Some((next, width)) = next(*slot, last) {
                        last.clear();
                        write!(last, "{next:0width$}").expect("a string takes everything");
                    }
                }
            }
        }
    }
}

/// What a word of a row or a definition stands for.
#[derive(Debug, Clone, Copy)]
enum Value<'a> {
    /// `.`
    Expected,
    Text(&'a str),
    /// What has the name with this index.
    Named(usize),
}

/// What a line of the body says.
#[derive(Debug)]
enum Entry<'a> {
    Raw,
    Again { lines: usize, times: usize },
    Text { gap: i64, text: &'a str },
    Define { gap: Option<i64>, parts: Vec<Part>, slots: Vec<Slot>, values: Vec<Value<'a>>, names: Vec<&'a str> },
    Row { template: usize, gap: i64, values: Vec<Value<'a>>, names: Vec<&'a str> },
}

/// What is known while reading a folded log from its start.
#[derive(Debug)]
pub(super) struct Book {
    layout: Option<Layout>,
    marks: (char, char),
    clock: i64,
    templates: Vec<Template>,
    current: Option<usize>,
    names: Vec<String>,
}

/// What reading a line gave.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// A line of the log.
    Line,
    /// The last so many lines of the body, so many times more.
    Again(usize, usize),
}

impl Book {
    /// A book whose clock stands at the stamp that the legend shows.
    pub(super) fn new(layout: Option<Layout>, clock: i64, marks: (char, char)) -> Self {
        Self { layout, marks, clock, templates: Vec::new(), current: None, names: Vec::new() }
    }

    /// Whether a line of a log means itself.
    pub(super) fn is_plain(&self, line: &str) -> bool {
        matches!(self.parse(line), Entry::Raw) && !line.starts_with('\\') && !line.starts_with("[[FOLD:")
    }

    /// Learns a template that is written, and turns to it.
    pub(super) fn define(&mut self, parts: Vec<Part>, slots: Vec<Slot>) {
        self.current = Some(self.templates.len());
        self.templates.push(Template::new(parts, slots));
    }

    /// Learns that a row of a template is written.
    pub(super) fn turn_to(&mut self, template: usize) {
        self.current = Some(template);
    }

    /// Whether a row without a name is one of this template.
    pub(super) fn is_at(&self, template: usize) -> bool {
        self.current == Some(template)
    }

    /// Learns that a value is written with the next name; returns that.
    pub(super) fn name(&mut self, value: &str) -> usize {
        self.names.push(value.to_owned());
        self.names.len()
    }

    /// Reads the next line of the body, and adds the line of the log that it stands for; `None` when it leads beyond all stamps.
    pub(super) fn read(&mut self, line: &str, log: &mut String) -> Option<Reading> {
        match self.parse(line) {
            Entry::Raw => {
                let line = line.strip_prefix('\\').unwrap_or(line);
                if let Some(stamp) = self.layout.as_ref().and_then(|layout| layout.find(line)) {
                    self.clock = stamp.ticks;
                }
                log.push_str(line);
            }
            Entry::Again { lines, times } => return Some(Reading::Again(lines, times)),
            Entry::Text { gap, text } => {
                self.tick(gap)?;
                self.write_stamp(log);
                log.push_str(text);
            }
            Entry::Define { gap, parts, slots, values, names } => {
                self.names.extend(names.into_iter().map(str::to_owned));
                self.define(parts, slots);
                self.line(gap.unwrap_or(0), &values, log)?;
            }
            Entry::Row { template, gap, values, names } => {
                self.names.extend(names.into_iter().map(str::to_owned));
                self.turn_to(template);
                self.line(gap, &values, log)?;
            }
        }
        Some(Reading::Line)
    }

    /// The next line of the current template.
    fn line(&mut self, gap: i64, values: &[Value], log: &mut String) -> Option<()> {
        let current = self.current?;
        self.templates[current].read(values, &self.names);
        if self.templates[current].is_stamped {
            self.tick(gap)?;
        }
        let Template { parts, last, .. } = &self.templates[current];
        for part in parts {
            match part {
                Part::Text(text) => log.push_str(text),
                Part::Value(index) => log.push_str(&last[*index]),
                Part::Stamp => self.write_stamp(log),
            }
        }
        Some(())
    }

    fn tick(&mut self, gap: i64) -> Option<()> {
        let layout = self.layout.as_ref()?;
        self.clock = self.clock.checked_add(gap).filter(|_| layout.is_certain(gap))?;
        Some(())
    }

    fn write_stamp(&self, log: &mut String) {
        if let Some(layout) = &self.layout {
            layout.write_to(log, self.clock);
        }
    }

    fn parse<'a>(&self, line: &'a str) -> Entry<'a> {
        match repeat::parse(line) {
            Some((lines, times)) => Entry::Again { lines, times },
            None => self.parse_head(line).unwrap_or(Entry::Raw),
        }
    }

    fn parse_head<'a>(&self, line: &'a str) -> Option<Entry<'a>> {
        let name_end = line.bytes().position(|b| !b.is_ascii_lowercase()).unwrap_or(line.len());
        let gap_end = line[name_end..]
            .bytes()
            .position(|b| !b.is_ascii_digit() && b != b'-')
            .map_or(line.len(), |at| name_end + at);
        let (name, gap, rest) = (&line[..name_end], &line[name_end..gap_end], &line[gap_end..]);
        let gap = if gap.is_empty() { None } else { Some(canonical_gap(gap)?) };
        if gap.is_some() && self.layout.is_none() {
            return None;
        }
        match (rest.strip_prefix(": "), gap) {
            (Some(text), Some(gap)) if name.is_empty() => Some(Entry::Text { gap, text }),
            (Some(text), gap) if name == template_name(self.templates.len()) => self.parse_template(gap, text),
            (Some(_), _) => None,
            (None, gap) => self.parse_row(name, gap, rest),
        }
    }

    fn parse_row<'a>(&self, name: &str, gap: Option<i64>, rest: &'a str) -> Option<Entry<'a>> {
        let template = match name {
            "" => self.current.filter(|_| gap.is_some() || !rest.is_empty())?,
            name => template_index(name).filter(|&index| index < self.templates.len())?,
        };
        let known = &self.templates[template];
        if gap == Some(0) || (gap.is_some() && !known.is_stamped) || !(rest.is_empty() || rest.starts_with(' ')) {
            return None;
        }
        let slots = known.written_slots();
        let (mut values, mut names) = (Vec::with_capacity(slots), Vec::new());
        let mut start = 1;
        while start <= rest.len() {
            let word = &rest[start..];
            let word = &word[..word.bytes().position(|byte| byte == b' ').unwrap_or(word.len())];
            start += word.len() + 1;
            match word.strip_prefix('.').and_then(canonical) {
                Some(times) => {
                    values.resize(values.len().checked_add(times).filter(|&len| len <= slots)?, Value::Expected)
                }
                None => values.push(self.parse_value(word, &mut names)?),
            }
        }
        (values.len() <= slots).then(|| Entry::Row { template, gap: gap.unwrap_or(0), values, names })
    }

    fn parse_template<'a>(&self, gap: Option<i64>, text: &'a str) -> Option<Entry<'a>> {
        let (mut parts, mut slots, mut values, mut names) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut rest = text;
        while let Some(open) = rest.find(self.marks.0) {
            if open > 0 {
                parts.push(Part::Text(rest[..open].to_owned()));
            }
            let (mark, after) = rest[open + self.marks.0.len_utf8()..].split_once(self.marks.1)?;
            rest = after;
            if mark == "+" {
                parts.push(Part::Stamp);
                continue;
            }
            let (slot, value) = if let Some(from) = mark.strip_prefix('=') {
                let from = canonical(from)?.checked_sub(1).filter(|&from| from < slots.len())?;
                (Slot::Copy(from), None)
            } else {
                let (word, count) = mark.split_once(',').map_or((mark, None), |(word, count)| (word, Some(count)));
                let slot = match count {
                    Some(step) => Slot::Count(canonical_gap(step.strip_prefix('+').unwrap_or(step))?),
                    None => Slot::Free,
                };
                (slot, Some(self.parse_value(word, &mut names).filter(|value| !matches!(value, Value::Expected))?))
            };
            parts.push(Part::Value(slots.len()));
            slots.push(slot);
            values.extend(value);
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        let stamps = parts.iter().filter(|&part| *part == Part::Stamp).count();
        if gap.is_some() && stamps == 0 {
            parts.insert(0, Part::Stamp);
        } else if stamps != usize::from(gap.is_some()) {
            return None;
        }
        Some(Entry::Define { gap, parts, slots, values, names })
    }

    /// What a word stands for, if for anything.
    fn parse_value<'a>(&self, word: &'a str, names: &mut Vec<&'a str>) -> Option<Value<'a>> {
        match word.as_bytes() {
            b"" => return None,
            b"." => return Some(Value::Expected),
            b"\"\"" => return Some(Value::Text("")),
            [b'\\', ..] => return Some(Value::Text(&word[1..])),
            [b'$', ..] => {}
            _ => return Some(Value::Text(word)),
        }
        let known = self.names.len() + names.len();
        let reference = &word[1..];
        if let Some((number, text)) = reference.split_once('=') {
            names.push(text);
            return (canonical(number)? == known + 1).then_some(Value::Named(known));
        }
        let index = canonical(reference)?.checked_sub(1).filter(|&index| index < known)?;
        Some(Value::Named(index))
    }
}

/// Whether a row need not say a value.
pub(super) fn is_expected(slot: Slot, last: &str, value: &str) -> bool {
    next(slot, last).map_or(last == value, |(next, width)| is_written(value, next, width))
}

/// What a count comes to after a value, and the least digits that it is written with; `None` when it stays as it is.
fn next(slot: Slot, last: &str) -> Option<(i64, usize)> {
    let Slot::Count(step) = slot else { return None };
    let next = number(last)?.checked_add(step).filter(|&next| next >= 0)?;
    Some((next, if last.starts_with('0') { last.len() } else { 0 }))
}

/// `format!("{number:0width$}") == text`
fn is_written(text: &str, number: i64, width: usize) -> bool {
    let mut rest = number;
    for (place, byte) in text.bytes().rev().enumerate() {
        let is_over = place > 0 && rest == 0 && place >= width;
        if is_over || i64::from(byte) != i64::from(b'0') + rest % 10 {
            return false;
        }
        rest /= 10;
    }
    rest == 0 && text.len() >= width.max(1)
}

/// A run of at most 18 digits as a number.
pub(super) fn number(text: &str) -> Option<i64> {
    if text.len() > 18 || text.is_empty() {
        return None;
    }
    text.bytes().try_fold(0, |sum, b| b.is_ascii_digit().then(|| sum * 10 + i64::from(b - b'0')))
}

/// How a value is written so that it is read as itself.
pub(super) fn escaped(value: &str) -> Cow<'_, str> {
    match value {
        "" => "\"\"".into(),
        "." | "+" => format!("\\{value}").into(),
        value if value.starts_with(['\\', '$']) || value.strip_prefix('.').and_then(canonical).is_some() => {
            format!("\\{value}").into()
        }
        value => value.into(),
    }
}

/// `0 -> a`, `25 -> z`, `26 -> aa`.
pub(super) fn template_name(index: usize) -> String {
    let mut name = Vec::new();
    let mut rest = index + 1;
    while rest > 0 {
        rest -= 1;
        name.push(b'a' + u8::try_from(rest % 26).expect("less than 26"));
        rest /= 26;
    }
    name.reverse();
    String::from_utf8(name).expect("letters")
}

fn template_index(name: &str) -> Option<usize> {
    if name.len() > 4 {
        return None;
    }
    name.bytes().fold(0, |sum, b| sum * 26 + usize::from(b - b'a') + 1).checked_sub(1)
}

fn canonical_gap(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_canonical = digits.bytes().all(|b| b.is_ascii_digit()) && (!digits.starts_with('0') || text == "0");
    is_canonical.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(book: &mut Book, lines: &[&str]) -> Vec<String> {
        lines
            .iter()
            .map(|line| {
                let mut log = String::new();
                match book.read(line, &mut log).unwrap() {
                    Reading::Line => log,
                    Reading::Again(lines, times) => format!("({lines} x {times})"),
                }
            })
            .collect()
    }

    #[test]
    fn rows_fill_their_template() {
        let layout = Layout::of_sample("12:00:00.000 ").unwrap();
        let clock = layout.find("12:00:00.000 ").unwrap().ticks;
        let mut book = Book::new(Some(layout), clock, MARKS[0]);
        let body = [
            "a0: job <1,+1> of <380> by <$1=anna> and <=3>",
            "5",
            " 7",
            "1000 .2 bert",
            "b: plain <x>",
            " y",
            "a . . $1",
            "2: once",
            "c3: at <+>end",
            "12:00:05.000 raw",
            "b \"\"",
            "a1",
            "2*30",
            "\\a1",
            "",
        ];
        let expected = [
            "12:00:00.000 job 1 of 380 by anna and anna",
            "12:00:00.005 job 2 of 380 by anna and anna",
            "12:00:00.005 job 7 of 380 by anna and anna",
            "12:00:01.005 job 8 of 380 by bert and bert",
            "plain x",
            "plain y",
            "12:00:01.005 job 9 of 380 by anna and anna",
            "12:00:01.007 once",
            "at 12:00:01.010 end",
            "12:00:05.000 raw",
            "plain ",
            "12:00:05.001 job 10 of 380 by anna and anna",
            "(2 x 30)",
            "a1",
            "",
        ];
        assert_eq!(read_all(&mut book, &body), expected);
    }

    #[test]
    fn lines_that_are_no_notation_are_plain() {
        let mut book = Book::new(None, 0, MARKS[0]);
        for line in ["", "a", "5: x", "5 x", "b: x", "text", "2*x", "*05", " x"] {
            assert!(book.is_plain(line), "{line:?}");
        }
        for line in ["a: x <y", "a: x", "*5", "2*5", "\\x", "[[FOLD:rle 1]]"] {
            assert_eq!(book.is_plain(line), line == "a: x <y", "{line:?}");
        }
        book.read("a: x <1> <2>", &mut String::new()).unwrap();
        for (line, plain) in
            [("a", false), (" 3", false), (" 3  4", true), (" 1 2 3", true), (" $1", true), ("b", true)]
        {
            assert_eq!(book.is_plain(line), plain, "{line:?}");
        }
    }

    #[test]
    fn a_count_is_told_from_what_it_would_be_written_as() {
        let lasts = ["0", "8", "9", "07", "009", "099", "99", "999999999999999999", "x", "", "-1"];
        for (last, step) in lasts.into_iter().flat_map(|last| [-9, -1, 1, 2].map(|step| (last, step))) {
            let written = next(Slot::Count(step), last).map(|(next, width)| format!("{next:0width$}"));
            let written = written.as_deref().unwrap_or(last);
            for value in [written, "0", "8", "08", "010", "10", "100", "1000000000000000000", "", "x"] {
                assert_eq!(is_expected(Slot::Count(step), last, value), value == written, "{last} {step:+} {value}");
            }
        }
    }

    #[test]
    fn names_count_like_columns_of_a_sheet() {
        for (index, name) in [(0, "a"), (25, "z"), (26, "aa"), (701, "zz"), (702, "aaa")] {
            assert_eq!(template_name(index), name);
            assert_eq!(template_index(name), Some(index));
        }
    }
}
