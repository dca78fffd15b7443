//! log -> fold: decides what becomes a template, a column, a name, and writes the lines that [`Book`] reads.
//!
//! Depends on nothing but the text and the vocabulary, so that a fold can be told from a look-alike by folding again.

use std::collections::{HashMap, HashSet};

use super::alarm::{Alarm, alarm};
use super::book::{Book, MARKS, Part, Reading, Slot, escaped, expected, number, template_name};
use super::stamp::{Layout, Stamp};
use super::template::{Group, STAMP, Words, group, shared_affixes};
use super::{legend, repeat};
use crate::config::Encoding;
use crate::pipeline::fold::Fold;
use crate::tokens;

/// Fewer lines of a kind stay as they are.
const MIN_LINES: usize = 3;
/// A failure that is said more often than this is no news.
const MAX_FAILURES: usize = 8;
/// In fewer lines nothing is rare.
const NEEDLE_LINES: usize = 50;
/// Lines that a layout of stamps is chosen from.
const SAMPLES: usize = 128;

/// One line of the log, read but not judged.
struct Line<'a> {
    text: &'a str,
    stamp: Option<Stamp>,
}

/// What becomes of a line.
enum Entry<'a> {
    Raw,
    Text { gap: i64 },
    Template { template: usize, gap: i64, values: Vec<Option<&'a str>> },
}

/// A group that is worth a template.
struct Template<'a> {
    parts: Vec<Part>,
    slots: Vec<Slot>,
    /// The values of each line of the group, in order.
    rows: Vec<Vec<&'a str>>,
}

/// Folds the lines of a log; `None` when nothing in it repeats.
pub(super) fn fold(text: &str, encoding: Encoding) -> Option<Fold> {
    let is_crlf = text.ends_with('\r') && text.split('\n').all(|line| line.ends_with('\r'));
    let texts: Vec<&str> =
        text.split('\n').map(|line| if is_crlf { &line[..line.len() - 1] } else { line }).collect();
    let step = texts.len().div_ceil(SAMPLES);
    let layout = Layout::of_most(texts.iter().copied().step_by(step));
    let lines: Vec<Line> = texts
        .iter()
        .map(|&text| Line { text, stamp: layout.as_ref().and_then(|layout| layout.find(text)) })
        .collect();
    let start = lines.iter().find_map(|line| line.stamp);
    let layout = layout.filter(|_| start.is_some());
    let clock = start.map_or(0, |stamp| stamp.ticks);

    let alarms: Vec<Alarm> = lines.iter().map(|line| alarm(&line.text[line.stamp.map_or(0, |stamp| stamp.end)..])).collect();
    let words: Vec<Option<Words>> = lines
        .iter()
        .zip(&alarms)
        .map(|(line, alarm)| {
            let stamp = line.stamp.map(|stamp| (stamp.start, stamp.end));
            (*alarm < Alarm::Error).then(|| Words::split(line.text, stamp))?
        })
        .collect();
    let groups: Vec<Group> = group(&words)
        .into_iter()
        .filter(|group| {
            let few = if group.lines.iter().any(|&line| alarms[line] == Alarm::Failure) { MAX_FAILURES } else { MIN_LINES - 1 };
            group.lines.len() > few
        })
        .collect();
    let marks = choose_marks(&groups, &texts)?;
    let groups: Vec<Group> =
        groups.into_iter().filter(|group| !conflicts(&texts, group, marks)).collect();
    let mut place = vec![None; lines.len()];
    let mut templates: Vec<Template> = Vec::new();
    for mut group in groups {
        drop_needles(&mut group, &words);
        if group.lines.is_empty() {
            continue;
        }
        let template = template(&group, &words);
        if pays(&template, encoding) {
            for (row, &line) in group.lines.iter().enumerate() {
                place[line] = Some((templates.len(), row));
            }
            templates.push(template);
        }
    }
    let entries = plan(&lines, &alarms, &place, &templates, layout.as_ref(), clock, marks);
    let names = worth_naming(&entries, encoding);
    let body = write(&lines, &entries, &templates, &names, Book::new(layout.clone(), clock, marks), marks)?;
    let body = repeat::shorten(body);
    let legend = legend::write(&legend::Facts { is_crlf, layout, clock, marks }, &body);
    Some(Fold::new(super::NAME, legend, Some(body.join("\n"))))
}

fn conflicts(texts: &[&str], group: &Group, marks: (char, char)) -> bool {
    group.lines.iter().any(|&line| texts[line].contains([marks.0, marks.1]))
}

/// The marks that the fewest lines of groups hold already.
fn choose_marks(groups: &[Group], texts: &[&str]) -> Option<(char, char)> {
    MARKS.into_iter().min_by_key(|&marks| {
        groups.iter().filter(|group| conflicts(texts, group, marks)).map(|group| group.lines.len()).sum::<usize>()
    })
}

/// Works out what is fixed, what varies and how in a group.
fn template<'a>(group: &Group, words: &[Option<Words<'a>>]) -> Template<'a> {
    let lines: Vec<&Words> = group.lines.iter().filter_map(|&line| words[line].as_ref()).collect();
    let mut found = Template { parts: Vec::new(), slots: Vec::new(), rows: vec![Vec::new(); lines.len()] };
    let mut fixed = String::new();
    let mut columns: HashMap<Vec<&str>, usize> = HashMap::new();
    let flush = |fixed: &mut String, parts: &mut Vec<Part>| {
        if !fixed.is_empty() {
            parts.push(Part::Text(std::mem::take(fixed)));
        }
    };
    for at in 0..lines[0].words.len() {
        if let Some(separator) = at.checked_sub(1).map(|before| lines[0].separators[before]) {
            if separator == STAMP {
                flush(&mut fixed, &mut found.parts);
                found.parts.push(Part::Stamp);
            } else {
                fixed.push(char::from(separator));
            }
        }
        let column: Vec<&'a str> = lines.iter().map(|line| line.words[at]).collect();
        if column.iter().all(|word| *word == column[0]) {
            fixed.push_str(column[0]);
            continue;
        }
        let (prefix, suffix) = shared_affixes(&column);
        fixed.push_str(&column[0][..prefix]);
        flush(&mut fixed, &mut found.parts);
        let column: Vec<&str> = column.iter().map(|word| &word[prefix..word.len() - suffix]).collect();
        let index = found.slots.len();
        let slot = match columns.get(&column) {
            Some(&from) => Slot::Copy(from),
            None => count_of(&column).map_or(Slot::Free, Slot::Count),
        };
        found.slots.push(slot);
        found.parts.push(Part::Value(index));
        for (row, value) in found.rows.iter_mut().zip(&column) {
            row.push(value);
        }
        columns.entry(column).or_insert(index);
        let word = lines[0].words[at];
        fixed.push_str(&word[word.len() - suffix..]);
    }
    flush(&mut fixed, &mut found.parts);
    found
}

/// Takes out lines with a value that is rare in a place where few values are usual: a 302 among 200s must meet the eye.
fn drop_needles(group: &mut Group, words: &[Option<Words>]) {
    let lines: Vec<&Words> = group.lines.iter().filter_map(|&line| words[line].as_ref()).collect();
    if lines.len() < NEEDLE_LINES {
        return;
    }
    let mut is_needle = vec![false; lines.len()];
    for at in 0..lines[0].words.len() {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for line in &lines {
            *seen.entry(line.words[at]).or_default() += 1;
        }
        let is_rare = |word: &str| seen[word] * 50 <= lines.len();
        let rare = seen.iter().filter(|(word, _)| is_rare(word)).map(|(_, times)| times).sum::<usize>();
        if rare > 0 && rare * 20 <= lines.len() {
            for (needle, line) in is_needle.iter_mut().zip(&lines) {
                *needle |= is_rare(line.words[at]);
            }
        }
    }
    let mut is_needle = is_needle.into_iter();
    group.lines.retain(|_| is_needle.next() == Some(false));
}

/// Whether rows of a template, its definition included, are cheaper than its lines.
fn pays(template: &Template, encoding: Encoding) -> bool {
    let fixed: String = template
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => text,
            Part::Value(_) | Part::Stamp => "",
        })
        .collect();
    let fixed = tokens::count(&fixed, encoding);
    // A row costs its line end and about one token more; a definition its name and the marks around each value.
    (template.rows.len() - 1) * fixed.saturating_sub(1) > 4 + 2 * template.slots.len()
}

/// The step of a column that mostly grows by the same number.
fn count_of(column: &[&str]) -> Option<i64> {
    let mut steps: HashMap<i64, usize> = HashMap::new();
    for pair in column.windows(2) {
        if let (Some(before), Some(after)) = (number(pair[0]), number(pair[1])) {
            *steps.entry(after - before).or_default() += 1;
        }
    }
    let (&step, &most) = steps.iter().max_by_key(|&(&step, &count)| (count, -step))?;
    (step != 0 && most * 2 >= column.len() - 1).then_some(step)
}

/// Decides for each line how it is written, and which values a reader can tell without being told.
fn plan<'a>(
    lines: &[Line<'a>],
    alarms: &[Alarm],
    place: &[Option<(usize, usize)>],
    templates: &[Template<'a>],
    layout: Option<&Layout>,
    clock: i64,
    marks: (char, char),
) -> Vec<Entry<'a>> {
    let mut clock = clock;
    let mut last: Vec<Option<&[&'a str]>> = vec![None; templates.len()];
    let stamp_mark = format!("{}+{}", marks.0, marks.1);
    let mut entries = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        let gap = line.stamp.map_or(0, |stamp| stamp.ticks - clock);
        clock = line.stamp.map_or(clock, |stamp| stamp.ticks);
        let is_certain = line.stamp.is_none() || layout.is_some_and(|layout| layout.is_certain(gap));
        entries.push(match place[index] {
            Some((template, row)) if is_certain => {
                let known = &templates[template];
                let row = known.rows[row].as_slice();
                let values = known.slots.iter().enumerate().filter(|(_, slot)| !matches!(slot, Slot::Copy(_)));
                let values = values
                    .map(|(at, &slot)| {
                        let is_expected = last[template].is_some_and(|last| expected(slot, last[at]) == row[at]);
                        (!is_expected).then_some(row[at])
                    })
                    .collect();
                last[template] = Some(row);
                Entry::Template { template, gap, values }
            }
            _ if line.stamp.is_some() && is_certain && alarms[index] < Alarm::Error && !line.text.contains(&stamp_mark) => {
                Entry::Text { gap }
            }
            _ => Entry::Raw,
        });
    }
    entries
}

/// The values that are cheaper as `$1`.
fn worth_naming<'a>(entries: &[Entry<'a>], encoding: Encoding) -> HashSet<&'a str> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for entry in entries {
        if let Entry::Template { values, .. } = entry {
            for value in values.iter().flatten() {
                *seen.entry(value).or_default() += 1;
            }
        }
    }
    // A reference costs two tokens, a definition three more than the value.
    seen.retain(|value, times| {
        *times > 1 && value.len() > 2 && {
            let cost = tokens::count(&format!(" {value}"), encoding);
            (*times - 1) * cost.saturating_sub(2) > 3
        }
    });
    seen.into_keys().collect()
}

/// Writes the body, reading along: what a line would be read as is known before it is written.
fn write(
    lines: &[Line],
    entries: &[Entry],
    templates: &[Template],
    names: &HashSet<&str>,
    mut book: Book,
    marks: (char, char),
) -> Option<Vec<String>> {
    let mut known_templates: Vec<Option<usize>> = vec![None; templates.len()];
    let (mut defined, mut current) = (0, None);
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut body = Vec::with_capacity(lines.len());
    for (line, entry) in lines.iter().zip(entries) {
        let mut value = |value: &str| -> String {
            let Some(&name) = names.get(value) else { return escaped(value) };
            match numbers.get(name) {
                Some(number) => format!("${number}"),
                None => {
                    let number = numbers.len() + 1;
                    numbers.insert(name, number);
                    format!("${number}={name}")
                }
            }
        };
        let written = match entry {
            Entry::Raw if book.is_plain(line.text) => line.text.to_owned(),
            Entry::Raw => format!("\\{}", line.text),
            Entry::Text { gap } => {
                let stamp = line.stamp.expect("a text entry has a stamp");
                let (before, after) = (&line.text[..stamp.start], &line.text[stamp.end..]);
                match before {
                    "" => format!("{gap}: {after}"),
                    before => format!("{gap}: {before}{}+{}{after}", marks.0, marks.1),
                }
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
        (book.read(&written)? == Reading::Line(line.text.to_owned())).then_some(())?;
        body.push(written);
    }
    Some(body)
}

fn row(number: usize, is_current: bool, gap: i64, values: &[Option<&str>], write: &mut impl FnMut(&str) -> String) -> String {
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

fn definition(
    number: usize,
    gap: Option<i64>,
    template: &Template,
    values: &[Option<&str>],
    marks: (char, char),
    write: &mut impl FnMut(&str) -> String,
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
                    line += &values.next().copied().flatten().map_or_else(String::new, &mut *write);
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
