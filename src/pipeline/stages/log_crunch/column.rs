//! a group of lines -> the text they share, the columns where they differ, and how each column goes on.

use super::book::{Part, Slot, expected, number};
use super::template::{Group, STAMP, Words, shared_affixes};
use crate::config::Encoding;
use crate::pipeline::stages::hashing::FastMap;
use crate::tokens;

/// Fewer lines that differ stay as they are.
const MIN_LINES: usize = 3;
/// In fewer lines nothing is rare.
const NEEDLE_LINES: usize = 50;
/// A word of more pieces is one value.
const MAX_PIECES: usize = 24;

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
pub(super) fn template<'a>(group: &Group, words: &[Option<Words<'a>>], encoding: Encoding) -> Template<'a> {
    let lines: Vec<&Words> = group.lines.iter().filter_map(|&line| words[line].as_ref()).collect();
    let mut builder = Builder::of(lines.len(), encoding);
    for at in 0..lines[0].words.len() {
        match at.checked_sub(1).map(|before| lines[0].separators[before]) {
            Some(STAMP) => builder.push_stamp(),
            Some(separator) => builder.text.push(char::from(separator)),
            None => {}
        }
        builder.push_column(&lines.iter().map(|line| line.words[at]).collect::<Vec<_>>(), true);
    }
    builder.flush();
    builder.template
}

struct Builder<'a> {
    template: Template<'a>,
    /// Fixed text that no part holds yet.
    text: String,
    /// Columns so far, to find equal ones.
    known: FastMap<Vec<&'a str>, usize>,
    encoding: Encoding,
}

impl<'a> Builder<'a> {
    fn of(rows: usize, encoding: Encoding) -> Self {
        let template = Template { parts: Vec::new(), slots: Vec::new(), rows: vec![Vec::new(); rows] };
        Self { template, text: String::new(), known: FastMap::default(), encoding }
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

    fn push_column(&mut self, column: &[&'a str], may_split: bool) {
        let word = column[0];
        if column.iter().all(|other| *other == word) {
            self.text += word;
            return;
        }
        let (prefix, suffix) = shared_affixes(column);
        let column: Vec<&str> = column.iter().map(|word| &word[prefix..word.len() - suffix]).collect();
        self.text += &word[..prefix];
        let split = if may_split && !self.known.contains_key(&column) { self.split(&column) } else { None };
        if let Some((pieces, separators)) = split {
            for (at, piece) in pieces.into_iter().enumerate() {
                self.text += at.checked_sub(1).map_or("", |before| &separators[before]);
                self.push_column(&piece, false);
            }
        } else {
            self.push_value(column);
        }
        self.text += &word[word.len() - suffix..];
    }

    fn push_value(&mut self, column: Vec<&'a str>) {
        self.flush();
        let index = self.template.slots.len();
        self.template.slots.push(self.slot(&column));
        self.template.parts.push(Part::Value(index));
        for (row, value) in self.template.rows.iter_mut().zip(&column) {
            row.push(value);
        }
        self.known.entry(column).or_insert(index);
    }

    fn slot(&self, column: &[&str]) -> Slot {
        match self.known.get(column) {
            Some(&from) => Slot::Copy(from),
            None => count_of(column).map_or(Slot::Free, Slot::Count),
        }
    }

    /// The pieces of a column between punctuation that all its values share, where saying only the pieces that vary is
    /// cheaper. Pieces side by side of which nothing is fixed stay one.
    fn split(&self, column: &[&'a str]) -> Option<(Vec<Vec<&'a str>>, Vec<String>)> {
        let cuts: Vec<Vec<(usize, usize)>> = column.iter().map(|value| punctuation(value)).collect();
        let shape = |row: usize| cuts[row].iter().map(move |&(start, end)| &column[row][start..end]);
        if cuts[0].is_empty() || cuts[0].len() > MAX_PIECES || !(1..column.len()).all(|row| shape(row).eq(shape(0))) {
            return None;
        }
        let piece = |row: usize, from: usize, to: usize| {
            let start = from.checked_sub(1).map_or(0, |before| cuts[row][before].1);
            &column[row][start..cuts[row].get(to).map_or(column[row].len(), |cut| cut.0)]
        };
        let between = |from: usize, to: usize| (0..column.len()).map(|row| piece(row, from, to)).collect::<Vec<_>>();
        let is_free = |at: usize| {
            let values = between(at, at);
            shared_affixes(&values) == (0, 0) && self.slot(&values) == Slot::Free
        };
        let (mut pieces, mut separators) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at <= cuts[0].len() {
            let last = (at..=cuts[0].len()).take_while(|&at| is_free(at)).last().unwrap_or(at);
            pieces.push(between(at, last));
            if let Some(&(start, end)) = cuts[0].get(last) {
                separators.push(column[0][start..end].to_owned());
            }
            at = last + 1;
        }
        let cost = pieces.iter().map(|piece| self.cost(piece)).sum::<usize>();
        (pieces.len() > 1 && cost < self.cost(column)).then_some((pieces, separators))
    }

    /// About how many tokens the rows spend on a column.
    fn cost(&self, column: &[&str]) -> usize {
        let (prefix, suffix) = shared_affixes(column);
        let column: Vec<&str> = column.iter().map(|word| &word[prefix..word.len() - suffix]).collect();
        let slot = self.slot(&column);
        if matches!(slot, Slot::Copy(_)) || column.iter().all(|value| *value == column[0]) {
            return 0;
        }
        let mut said: FastMap<&str, usize> = FastMap::default();
        let mut cost = 0;
        for pair in column.windows(2) {
            if expected(slot, pair[0]) == pair[1] {
                cost += 1;
            } else {
                *said.entry(pair[1]).or_default() += 1;
            }
        }
        let costs = said.into_iter().map(|(value, times)| {
            let each = tokens::count(&format!(" {value}"), self.encoding);
            (times * each).min(each + 3 + 2 * (times - 1))
        });
        cost + costs.sum::<usize>()
    }
}

/// The runs of punctuation within a word.
fn punctuation(word: &str) -> Vec<(usize, usize)> {
    let is_punctuation = |b: u8| b.is_ascii_punctuation();
    let bytes = word.as_bytes();
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for at in (0..bytes.len()).filter(|&at| is_punctuation(bytes[at])) {
        match runs.last_mut() {
            Some((_, end)) if *end == at => *end += 1,
            _ => runs.push((at, at + 1)),
        }
    }
    runs
}

/// Takes out lines with a value that is rare in a place where few values are usual: a 302 among 200s must meet the eye.
pub(super) fn drop_needles(group: &mut Group, words: &[Option<Words>]) {
    let lines: Vec<&Words> = group.lines.iter().filter_map(|&line| words[line].as_ref()).collect();
    if lines.len() < NEEDLE_LINES {
        return;
    }
    let mut is_needle = vec![false; lines.len()];
    for at in 0..lines[0].words.len() {
        if lines.iter().all(|line| line.words[at] == lines[0].words[at]) {
            continue;
        }
        let mut seen: FastMap<&str, usize> = FastMap::default();
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

/// Whether rows of a template, its definition included, are cheaper than its lines. A pair must be equal to the letter.
pub(super) fn pays(template: &Template, encoding: Encoding) -> bool {
    if template.rows.len() < MIN_LINES && !template.slots.is_empty() {
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
    (template.rows.len() - 1) * fixed.saturating_sub(1) > 4 + 2 * template.slots.len()
}

/// The step of a column that mostly grows by the same number.
fn count_of(column: &[&str]) -> Option<i64> {
    let mut steps: FastMap<i64, usize> = FastMap::default();
    for pair in column.windows(2) {
        if let (Some(before), Some(after)) = (number(pair[0]), number(pair[1])) {
            *steps.entry(after - before).or_default() += 1;
        }
    }
    let (&step, &most) = steps.iter().max_by_key(|&(&step, &count)| (count, -step))?;
    (step != 0 && most * 2 >= column.len() - 1).then_some(step)
}
