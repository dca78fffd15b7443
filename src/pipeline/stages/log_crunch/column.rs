//! a group of lines -> the text they share, the columns where they differ, and how each column goes on.

use std::collections::HashMap;

use super::book::{Part, Slot, number};
use super::template::{Group, STAMP, Words, shared_affixes};
use crate::config::Encoding;
use crate::tokens;

/// In fewer lines nothing is rare.
const NEEDLE_LINES: usize = 50;

/// A group that is worth a template.
pub(super) struct Template<'a> {
    pub(super) parts: Vec<Part>,
    pub(super) slots: Vec<Slot>,
    /// The values of each line of the group, in order.
    pub(super) rows: Vec<Vec<&'a str>>,
}

impl Template<'_> {
    /// The text with what `say` says of each column in place of its values.
    pub(super) fn sum_up(&self, rows: &[&[&str]], say: impl Fn(&[&str]) -> String) -> String {
        let piece = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Stamp => String::new(),
            Part::Value(column) => format!("<{}>", say(&rows.iter().map(|row| row[*column]).collect::<Vec<_>>())),
        };
        self.parts.iter().map(piece).collect()
    }
}

/// Works out what is fixed, what varies and how in a group.
pub(super) fn template<'a>(group: &Group, words: &[Option<Words<'a>>]) -> Template<'a> {
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
pub(super) fn drop_needles(group: &mut Group, words: &[Option<Words>]) {
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
pub(super) fn pays(template: &Template, encoding: Encoding) -> bool {
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
