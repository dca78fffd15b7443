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
    last: Vec<String>,
}

impl Template {
    fn is_stamped(&self) -> bool {
        self.parts.contains(&Part::Stamp)
    }

    fn written_slots(&self) -> impl Iterator<Item = usize> {
        (0..self.slots.len()).filter(|&index| !matches!(self.slots[index], Slot::Copy(_)))
    }

    fn line(&self, stamp: &str) -> String {
        let pieces = self.parts.iter().map(|part| match part {
            Part::Text(text) => text,
            Part::Value(index) => self.last[*index].as_str(),
            Part::Stamp => stamp,
        });
        let mut line = String::with_capacity(pieces.clone().map(str::len).sum());
        line.extend(pieces);
        line
    }
}

/// What a line of the body says.
#[derive(Debug, PartialEq, Eq)]
enum Entry {
    Raw,
    Again { lines: usize, times: usize },
    Text { gap: i64, text: String },
    Define { gap: Option<i64>, parts: Vec<Part>, slots: Vec<Slot>, values: Vec<String>, names: Vec<String> },
    Row { template: usize, gap: i64, values: Vec<Option<String>>, names: Vec<String> },
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
    Line(String),
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
        self.parse(line) == Entry::Raw && !line.starts_with('\\') && !line.starts_with("[[FOLD:")
    }

    /// Reads the next line of the body; `None` when it leads beyond all stamps.
    pub(super) fn read(&mut self, line: &str) -> Option<Reading> {
        match self.parse(line) {
            Entry::Raw => {
                let line = line.strip_prefix('\\').unwrap_or(line);
                if let Some(stamp) = self.layout.as_ref().and_then(|layout| layout.find(line)) {
                    self.clock = stamp.ticks;
                }
                Some(Reading::Line(line.to_owned()))
            }
            Entry::Again { lines, times } => Some(Reading::Again(lines, times)),
            Entry::Text { gap, text } => Some(Reading::Line(self.tick(gap)? + &text)),
            Entry::Define { gap, parts, slots, values, names } => {
                self.names.extend(names);
                self.current = Some(self.templates.len());
                self.templates.push(Template { parts, slots, last: values });
                self.line(gap.unwrap_or(0))
            }
            Entry::Row { template, gap, values, names } => {
                self.names.extend(names);
                self.current = Some(template);
                let Template { slots, last, .. } = &mut self.templates[template];
                let mut values = values.into_iter();
                let written = slots.iter().zip(last.iter_mut()).filter(|(slot, _)| !matches!(slot, Slot::Copy(_)));
                for (slot, last) in written {
                    match values.next().flatten() {
                        Some(value) => *last = value,
                        None => {
                            if let Cow::Owned(next) = expected(*slot, last) {
                                *last = next;
                            }
                        }
                    }
                }
                for (index, slot) in slots.iter().enumerate() {
                    if let Slot::Copy(from) = slot {
                        last[index] = last[*from].clone();
                    }
                }
                self.line(gap)
            }
        }
    }

    fn line(&mut self, gap: i64) -> Option<Reading> {
        let template = self.current?;
        let stamp = if self.templates[template].is_stamped() { self.tick(gap)? } else { String::new() };
        Some(Reading::Line(self.templates[template].line(&stamp)))
    }

    fn tick(&mut self, gap: i64) -> Option<String> {
        let layout = self.layout.as_ref()?;
        self.clock = self.clock.checked_add(gap).filter(|_| layout.is_certain(gap))?;
        Some(layout.write(self.clock))
    }

    fn parse(&self, line: &str) -> Entry {
        match repeat::parse(line) {
            Some((lines, times)) => Entry::Again { lines, times },
            None => self.parse_head(line).unwrap_or(Entry::Raw),
        }
    }

    fn parse_head(&self, line: &str) -> Option<Entry> {
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
            (Some(text), Some(gap)) if name.is_empty() => Some(Entry::Text { gap, text: text.to_owned() }),
            (Some(text), gap) if name == template_name(self.templates.len()) => self.parse_template(gap, text),
            (Some(_), _) => None,
            (None, gap) => self.parse_row(name, gap, rest),
        }
    }

    fn parse_row(&self, name: &str, gap: Option<i64>, rest: &str) -> Option<Entry> {
        let template = match name {
            "" => self.current.filter(|_| gap.is_some() || !rest.is_empty())?,
            name => template_index(name).filter(|&index| index < self.templates.len())?,
        };
        let known = &self.templates[template];
        if gap == Some(0) || (gap.is_some() && !known.is_stamped()) || !(rest.is_empty() || rest.starts_with(' ')) {
            return None;
        }
        let slots = known.written_slots().count();
        let (mut values, mut names) = (Vec::new(), Vec::new());
        for word in rest.split(' ').skip(1) {
            match word.strip_prefix('.').and_then(canonical) {
                Some(times) => values.resize(values.len().checked_add(times).filter(|&len| len <= slots)?, None),
                None => values.push(self.parse_value(word, &mut names)?),
            }
        }
        (values.len() <= slots).then(|| Entry::Row { template, gap: gap.unwrap_or(0), values, names })
    }

    fn parse_template(&self, gap: Option<i64>, text: &str) -> Option<Entry> {
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
                let from = canonical(from)?.checked_sub(1).filter(|&from| from < values.len())?;
                (Slot::Copy(from), String::clone(&values[from]))
            } else {
                let (word, count) = mark.split_once(',').map_or((mark, None), |(word, count)| (word, Some(count)));
                let slot = match count {
                    Some(step) => Slot::Count(canonical_gap(step.strip_prefix('+').unwrap_or(step))?),
                    None => Slot::Free,
                };
                (slot, self.parse_value(word, &mut names)??)
            };
            parts.push(Part::Value(slots.len()));
            slots.push(slot);
            values.push(value);
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

    /// The value that a word stands for: `Some(None)` for `.`, `None` when it stands for nothing.
    #[expect(clippy::option_option, reason = "no value, the expected value, or this value")]
    fn parse_value(&self, word: &str, names: &mut Vec<String>) -> Option<Option<String>> {
        if word == "." {
            return Some(None);
        }
        if word == "\"\"" {
            return Some(Some(String::new()));
        }
        if let Some(text) = word.strip_prefix('\\') {
            return Some(Some(text.to_owned()));
        }
        let Some(reference) = word.strip_prefix('$') else {
            return (!word.is_empty()).then(|| Some(word.to_owned()));
        };
        if let Some((number, text)) = reference.split_once('=') {
            let is_next = canonical(number)? == self.names.len() + names.len() + 1;
            names.push(text.to_owned());
            return is_next.then(|| Some(text.to_owned()));
        }
        let index = canonical(reference)?.checked_sub(1)?;
        self.names.get(index).or_else(|| names.get(index.checked_sub(self.names.len())?)).map(|text| Some(text.clone()))
    }
}

/// What a value is when a row does not say it.
pub(super) fn expected(slot: Slot, last: &str) -> Cow<'_, str> {
    let Slot::Count(step) = slot else { return Cow::Borrowed(last) };
    let next = number(last).and_then(|number| number.checked_add(step)).filter(|&next| next >= 0);
    next.map_or(Cow::Borrowed(last), |next| {
        Cow::Owned(format!("{next:0width$}", width = if last.starts_with('0') { last.len() } else { 0 }))
    })
}

/// A run of at most 18 digits as a number.
pub(super) fn number(text: &str) -> Option<i64> {
    (text.len() <= 18 && !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
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
    let gap: i64 = text.parse().ok()?;
    (gap.to_string() == text).then_some(gap)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(book: &mut Book, lines: &[&str]) -> Vec<String> {
        lines
            .iter()
            .map(|line| match book.read(line).unwrap() {
                Reading::Line(line) => line,
                Reading::Again(lines, times) => format!("({lines} x {times})"),
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
        book.read("a: x <1> <2>").unwrap();
        for (line, plain) in
            [("a", false), (" 3", false), (" 3  4", true), (" 1 2 3", true), (" $1", true), ("b", true)]
        {
            assert_eq!(book.is_plain(line), plain, "{line:?}");
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
