//! a group of lines -> the text they share, the columns where they differ, and how each column goes on.

use super::book::{Part, Slot, number};
use super::template::{Cut, Group, STAMP, Words};
use crate::config::Encoding;
use crate::pipeline::affixes::{is_constant, split_affixes};
use crate::pipeline::hashing::FastMap;
use crate::tokens;

/// Fewer lines that differ stay as they are.
const MIN_LINES: usize = 3;
/// In fewer lines nothing is rare.
const NEEDLE_LINES: usize = 50;
/// A value is rare that one line in so many has.
const RARE: usize = 50;
/// Rare values are needles where one line in so many has one.
const NEEDLES: usize = 20;

/// A group that is worth a template.
pub(super) struct Template<'a> {
    pub(super) parts: Vec<Part>,
    pub(super) slots: Vec<Slot>,
    /// For each slot, its value in each line of the group, in order.
    pub(super) columns: Vec<Vec<&'a str>>,
    /// How many lines the group has.
    rows: usize,
}

impl Template<'_> {
    /// The text with what `say` says of each column in place of its values in some rows.
    pub(super) fn sum_up(&self, rows: &[usize], say: impl Fn(&[&str]) -> String) -> String {
        let values = |column: usize| rows.iter().map(|&row| self.columns[column][row]).collect::<Vec<_>>();
        let piece = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Stamp => String::new(),
            Part::Value(column) => format!("<{}>", say(&values(*column))),
        };
        self.parts.iter().map(piece).collect()
    }
}

/// Works out what is fixed, what varies and how in a group.
pub(super) fn template<'a>(group: &Group, words: &Words<'a>) -> Template<'a> {
    let lines: Vec<Cut> = group.lines.iter().filter_map(|&line| words.of(line)).collect();
    let mut builder = Builder::of(lines.len());
    for (at, (word, column)) in lines[0].words.iter().zip(columns(&lines)).enumerate() {
        match at.checked_sub(1).map(|before| lines[0].separators[before]) {
            Some(STAMP) => builder.push_stamp(),
            Some(separator) => builder.text.push(char::from(separator)),
            None => {}
        }
        match column {
            Some(column) => builder.push_column(&column),
            None => builder.text += word,
        }
    }
    builder.flush();
    builder.template
}

/// For each place of the lines their words there, unless all are the same. Line by line: a large log fits in no cache.
fn columns<'a>(lines: &[Cut<'_, 'a>]) -> Vec<Option<Vec<&'a str>>> {
    let first = lines[0].words;
    let mut varies = vec![false; first.len()];
    for line in lines {
        for (at, word) in line.words.iter().enumerate() {
            varies[at] = varies[at] || *word != first[at];
        }
    }
    let mut columns: Vec<_> = varies.iter().map(|varies| varies.then(|| Vec::with_capacity(lines.len()))).collect();
    for line in lines {
        for (column, word) in columns.iter_mut().zip(line.words) {
            if let Some(column) = column {
                column.push(*word);
            }
        }
    }
    columns
}

struct Builder<'a> {
    template: Template<'a>,
    /// Fixed text that no part holds yet.
    text: String,
}

impl<'a> Builder<'a> {
    fn of(rows: usize) -> Self {
        let template = Template { parts: Vec::new(), slots: Vec::new(), columns: Vec::new(), rows };
        Self { template, text: String::new() }
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.template.parts.push(Part::Text(std::mem::take(&mut self.text)));
        }
    }

    fn push_stamp(&mut self) {
        self.flush();
        self.template.parts.push(Part::Stamp);
    }

    /// Adds what the values share as text, and what varies as a column.
    fn push_column(&mut self, column: &[&'a str]) {
        if is_constant(column) {
            self.text += column[0];
            return;
        }
        let (prefix, column, suffix) = split_affixes(column);
        self.text += prefix;
        let slot = self.slot(&column);
        self.flush();
        self.template.parts.push(Part::Value(self.template.slots.len()));
        self.template.slots.push(slot);
        self.template.columns.push(column);
        self.text += suffix;
    }

    fn slot(&self, column: &[&str]) -> Slot {
        match self.template.columns.iter().position(|known| known == column) {
            Some(from) => Slot::Copy(from),
            None => count_of(column).map_or(Slot::Free, Slot::Count),
        }
    }
}

/// Takes out lines with a value that is rare in a place where few values are usual: a 302 among 200s must meet the eye.
pub(super) fn drop_needles(group: &mut Group, words: &Words) {
    if group.lines.len() < NEEDLE_LINES {
        return;
    }
    let lines: Vec<Cut> = group.lines.iter().filter_map(|&line| words.of(line)).collect();
    let mut is_needle = vec![false; lines.len()];
    for column in columns(&lines).into_iter().flatten() {
        let Some(seen) = few_values(&column) else { continue };
        let is_rare = |times: usize| times * RARE <= lines.len();
        let rare = seen.values().filter(|times| is_rare(**times)).sum::<usize>();
        if rare > 0 && rare * NEEDLES <= lines.len() {
            for (needle, value) in is_needle.iter_mut().zip(&column) {
                *needle |= is_rare(seen[value]);
            }
        }
    }
    let mut is_needle = is_needle.into_iter();
    group.lines.retain(|_| is_needle.next() == Some(false));
}

/// How often each of some values occurs; `None` when they are so many that most of them are rare.
fn few_values<'a>(column: &[&'a str]) -> Option<FastMap<&'a str, usize>> {
    // All values but `RARE` at most are rare.
    let most = RARE + column.len() / NEEDLES;
    let mut seen: FastMap<&str, usize> = FastMap::default();
    for value in column {
        *seen.entry(value).or_default() += 1;
        (seen.len() <= most).then_some(())?;
    }
    Some(seen)
}

/// Whether rows of a template, its definition included, are cheaper than its lines. A pair must be equal to the letter.
pub(super) fn pays(template: &Template, encoding: Encoding) -> bool {
    if template.rows < MIN_LINES && !template.slots.is_empty() {
        return false;
    }
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
    (template.rows - 1) * fixed.saturating_sub(1) > 4 + 2 * template.slots.len()
}

/// The step of a column that mostly grows by the same number.
fn count_of(column: &[&str]) -> Option<i64> {
    let pairs = column.len() - 1;
    let mut steps = Vec::with_capacity(pairs);
    let mut before = number(column[0]);
    for (at, value) in column[1..].iter().enumerate() {
        let after = number(value);
        steps.extend(before.zip(after).map(|(before, after)| after - before));
        before = after;
        if (at + 1 - steps.len()) * 2 > pairs {
            return None;
        }
    }
    // A step that is half of them is one of the two that are left when each vote cancels one for each of two others
    // (Misra and Gries, Finding repeated elements).
    let mut votes: [(i64, usize); 2] = [(0, 0); 2];
    for &step in &steps {
        if let Some((_, votes)) = votes.iter_mut().find(|(known, votes)| *known == step && *votes > 0) {
            *votes += 1;
        } else if let Some(free) = votes.iter_mut().find(|(_, votes)| *votes == 0) {
            *free = (step, 1);
        } else {
            votes.iter_mut().for_each(|(_, votes)| *votes -= 1);
        }
    }
    let times = |step: i64| steps.iter().filter(|&&other| other == step).count();
    let (most, step) = votes.into_iter().map(|(step, _)| (times(step), -step)).max()?;
    (step != 0 && most * 2 >= pairs).then_some(-step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_counts_that_half_of_the_pairs_have() {
        for (column, step) in [
            (["1", "2", "3", "4", "5"], Some(1)),
            (["1", "3", "5", "6", "7"], Some(1)),
            (["9", "7", "5", "x", "1"], Some(-2)),
            (["1", "2", "4", "7", "11"], None),
            (["1", "1", "1", "2", "3"], None),
            (["a", "2", "b", "3", "4"], None),
        ] {
            assert_eq!(count_of(&column), step, "{column:?}");
        }
    }

    #[test]
    fn columns_are_the_places_that_vary() {
        let mut words = Words::default();
        ["a 1 b", "a 2 b", "a 1 b"].into_iter().for_each(|line| words.push(line, None));
        let cuts: Vec<Cut> = (0..3).filter_map(|line| words.of(line)).collect();
        assert_eq!(columns(&cuts), [None, Some(vec!["1", "2", "1"]), None]);
    }
}
