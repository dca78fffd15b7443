//! `[row, row, … 1,707 of them]` -> five rows and more, each with its number, and what all rows have in common.
//!
//! Shown are the first and the last row, every row that speaks of an error, rows whose numbers or categories stand out,
//! and a few between them: the same choice every time. Statistics cover all rows, and every gap says which rows it
//! holds and, where rows begin on lines of their own, which lines of the original those are.

use std::borrow::Cow;
use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::scan::{Id, Node, Scan, Tree};
use crate::content::severity::{is_failure_key, severity_of_value};
use crate::pipeline::elided;
use concertina_base::hashing::FastState;

/// Arrays with more items than this are sampled.
pub(super) const MANY_ROWS: usize = 20;
/// The number of rows that are shown even if none stands out.
const SPREAD: usize = 5;
/// The number of rare-text rows that a column may add.
const ODD_ROWS: usize = 2;
/// The most distinct texts that are all listed with their counts, and the number listed of more.
const FEW_TEXTS: usize = 8;
const TOP_TEXTS: usize = 3;

/// Returns the first and last line of a value in the original, 1-based, if known.
pub(super) type Lines<'l> = &'l dyn Fn(Id) -> Option<(usize, usize)>;

/// Prints a value with its long arrays sampled; `None` if it has none. `names` are columns that are always reported.
pub(super) fn sample(tree: &Tree<'_>, names: &[Cow<'_, str>], lines: Lines<'_>) -> Option<String> {
    let mut printer = Printer { tree, names, lines, out: String::new(), sampled: 0 };
    printer.value(tree.root);
    let note = "sampled: rows are numbered from 1, statistics cover all of them";
    (printer.sampled > 0).then(|| format!("[{note}]\n{}", printer.out))
}

/// Returns the first and last line of each value by id; the text must begin at the start of a line.
pub(super) fn lines_of(scan: &Scan<'_>, first_line: usize, is_run: bool) -> Vec<(usize, usize)> {
    let mut found = vec![(0, 0); scan.tree.nodes.len()];
    let mut counter = Counter { tree: &scan.tree, gaps: scan.gaps.iter(), line: first_line, found: &mut found };
    match &scan.tree.nodes[scan.tree.root] {
        Node::Array(items) if is_run => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    counter.token();
                    counter.line += 1;
                }
                counter.value(*item);
            }
        }
        _ => counter.value(scan.tree.root),
    }
    found
}

struct Counter<'c, 'a> {
    tree: &'c Tree<'a>,
    gaps: std::slice::Iter<'c, &'a str>,
    line: usize,
    found: &'c mut [(usize, usize)],
}

impl Counter<'_, '_> {
    fn token(&mut self) {
        self.line += self.gaps.next().map_or(0, |gap| gap.bytes().filter(|byte| *byte == b'\n').count());
    }

    fn value(&mut self, id: Id) {
        self.token();
        let start = self.line;
        let tree = self.tree;
        match &tree.nodes[id] {
            Node::Scalar { .. } => {}
            Node::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.token();
                    }
                    self.value(*item);
                }
                self.token();
            }
            Node::Object(items) => {
                for (index, (_, item)) in items.iter().enumerate() {
                    if index > 0 {
                        self.token();
                    }
                    self.token();
                    self.token();
                    self.value(*item);
                }
                self.token();
            }
        }
        self.found[id] = (start, self.line);
    }
}

struct Printer<'p, 'a> {
    tree: &'p Tree<'a>,
    names: &'p [Cow<'p, str>],
    lines: Lines<'p>,
    out: String,
    sampled: usize,
}

impl Printer<'_, '_> {
    fn value(&mut self, id: Id) {
        let tree = self.tree;
        match &tree.nodes[id] {
            Node::Scalar { quoted: true, text } => self.out.extend(["\"", text, "\""]),
            Node::Scalar { text, .. } => self.out.push_str(text),
            Node::Array(items) if items.len() > MANY_ROWS => self.rows(items),
            Node::Array(items) => {
                self.out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.out.push(',');
                    }
                    self.value(*item);
                }
                self.out.push(']');
            }
            Node::Object(items) => {
                self.out.push('{');
                for (index, (key, item)) in items.iter().enumerate() {
                    if index > 0 {
                        self.out.push(',');
                    }
                    self.out.extend(["\"", key, "\":"]);
                    self.value(*item);
                }
                self.out.push('}');
            }
        }
    }

    fn rows(&mut self, items: &[Id]) {
        self.sampled += 1;
        let columns = columns_of(self.tree, items, self.names);
        self.out.push_str(&format!("[{} rows\n", items.len()));
        for (name, column) in &columns {
            self.out.push_str(&format!("{name}: {}\n", column.summary(items.len())));
        }
        let mut next = 0;
        for row in chosen(self.tree, items, &columns) {
            self.gap(items, next, row);
            self.out.push_str(&format!("{}: ", row + 1));
            self.value(items[row]);
            self.out.push('\n');
            next = row + 1;
        }
        self.gap(items, next, items.len());
        self.out.push(']');
    }

    /// Writes a note on the omitted rows from `from` up to, not including, `to`.
    fn gap(&mut self, items: &[Id], from: usize, to: usize) {
        if from == to {
            return;
        }
        self.out.push_str(&elided(to - from, "rows", Some((from + 1, to))));
        let line = |row: usize| (self.lines)(items[row]);
        // Only where no other row shares the lines.
        let before = from.checked_sub(1).and_then(line).map_or(0, |(_, last)| last);
        let after = if to < items.len() { line(to).map_or(0, |(first, _)| first) } else { usize::MAX };
        if let (Some((first, _)), Some((_, last))) = (line(from), line(to - 1))
            && before < first
            && last < after
            && (to - from == 1 || first < last)
        {
            self.out.push_str(&format!(" lines {first}-{last}"));
        }
        self.out.push('\n');
    }
}

/// The statistics of a column over all rows.
#[derive(Debug, Default)]
struct Stats<'a> {
    /// Row and spelling of each number.
    numbers: Vec<(f64, usize, &'a str)>,
    /// The count of each other scalar, and its first row.
    texts: IndexMap<Spelling<'a>, (usize, usize), FastState>,
    /// The number of arrays, and of their items.
    arrays: usize,
    items: usize,
}

/// A scalar: true for a string, and its text without quotes.
type Spelling<'a> = (bool, &'a str);

type Columns<'a> = IndexMap<String, Stats<'a>, FastState>;

fn columns_of<'t>(tree: &'t Tree<'_>, items: &[Id], names: &[Cow<'_, str>]) -> Columns<'t> {
    let mut columns: Columns<'t> = names.iter().map(|name| (name.to_string(), Stats::default())).collect();
    let mut stack = Vec::new();
    for (row, item) in items.iter().enumerate() {
        // Most rows have the columns of the row before, in the same order.
        let mut next = 0;
        stack.push((Cow::Borrowed(""), *item));
        while let Some((name, id)) = stack.pop() {
            match &tree.nodes[id] {
                Node::Object(fields) => {
                    for (key, field) in fields.iter().rev() {
                        let path = if name.is_empty() { Cow::Borrowed(&**key) } else { format!("{name}.{key}").into() };
                        stack.push((path, *field));
                    }
                }
                Node::Array(items) => {
                    let stats = column(&mut columns, &name, &mut next);
                    stats.arrays += 1;
                    stats.items += items.len();
                }
                Node::Scalar { quoted, text } => {
                    let stats = column(&mut columns, &name, &mut next);
                    let number = || text.parse::<f64>().ok().filter(|number| number.is_finite());
                    match if *quoted { None } else { number() } {
                        Some(number) => stats.numbers.push((number, row, text)),
                        None => stats.add(*quoted, text, row),
                    }
                }
            }
        }
    }
    for stats in columns.values_mut() {
        stats.numbers.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }
    columns
}

/// Returns the column of a name. `likely` is tried first and becomes the place after it.
fn column<'c, 'a>(columns: &'c mut Columns<'a>, name: &str, likely: &mut usize) -> &'c mut Stats<'a> {
    let is_there = columns.get_index(*likely).is_some_and(|(own, _)| own == name);
    let known = if is_there { Some(*likely) } else { columns.get_index_of(name) };
    let index = known.unwrap_or_else(|| columns.insert_full(name.to_owned(), Stats::default()).0);
    *likely = index + 1;
    &mut columns[index]
}

impl<'a> Stats<'a> {
    fn add(&mut self, quoted: bool, text: &'a str, row: usize) {
        self.texts.entry((quoted, text)).or_insert((0, row)).0 += 1;
    }

    fn summary(&self, rows: usize) -> String {
        let mut parts = Vec::new();
        let count = self.numbers.len();
        let others: usize = self.texts.values().map(|(count, _)| count).sum();
        if count > 0 && count < others {
            // Among words a few look like numbers: `0E8` is an airport.
            parts.push(format!("{count} numbers"));
        } else if count > 0 {
            let at = |quarter: usize| self.numbers[(count - 1) * quarter / 4].2;
            let mean = self.numbers.iter().map(|(number, ..)| number).sum::<f64>() / count as f64;
            let quartiles = [at(1), at(2), at(3)].join("/");
            parts.push(format!("{count} numbers, min {} max {} mean ≈{mean:.6} quartiles {quartiles}", at(0), at(4)));
        }
        if !self.texts.is_empty() {
            let different = self.texts.len();
            let shown = if different <= FEW_TEXTS { different } else { TOP_TEXTS };
            let top = self.most_frequent(shown);
            let list = top.iter().filter(|(_, count)| *count > 1 || different <= FEW_TEXTS);
            let list: Vec<String> = list.map(|(text, count)| format!("{} {count}", shorten(*text))).collect();
            let more = if shown < different { format!("{different} different") } else { String::new() };
            let comma = if more.is_empty() || list.is_empty() { "" } else { ": " };
            parts.push(format!("{more}{comma}{}", list.join(", ")));
        }
        if self.arrays > 0 {
            parts.push(format!("{} arrays, {} items", self.arrays, self.items));
        }
        let present = count + self.arrays + others;
        if present < rows {
            parts.push(format!("absent {}", rows - present));
        }
        parts.join("; ")
    }

    /// Returns the most frequent texts with their counts; of equals the first.
    fn most_frequent(&self, most: usize) -> Vec<(Spelling<'a>, usize)> {
        let mut top: Vec<(Spelling<'a>, usize)> = Vec::with_capacity(most + 1);
        for (text, (count, _)) in &self.texts {
            if top.len() < most || top.last().is_some_and(|last| last.1 < *count) {
                top.insert(top.partition_point(|known| known.1 >= *count), (*text, *count));
                top.truncate(most);
            }
        }
        top
    }

    /// Returns rows whose number is far from the others, or whose text is rare among few.
    fn odd_rows(&self, rows: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let count = self.numbers.len();
        if count >= 8 {
            let at = |quarter: usize| self.numbers[(count - 1) * quarter / 4].0;
            let reach = 3.0 * (at(3) - at(1));
            found.extend(self.numbers.first().filter(|first| first.0 < at(1) - reach).map(|first| first.1));
            found.extend(self.numbers.last().filter(|last| last.0 > at(3) + reach).map(|last| last.1));
        }
        if self.texts.len() > 1 && self.texts.len() * 10 <= rows.max(20) {
            let mut rare: Vec<(usize, usize)> =
                self.texts.values().copied().filter(|(count, _)| count * 50 <= rows.max(50)).collect();
            rare.sort_by_key(|(count, _)| *count);
            found.extend(rare.iter().take(ODD_ROWS).map(|(_, first)| first));
        }
        found
    }
}

/// Returns a scalar as spelled, cut after 40 characters.
fn shorten((quoted, text): Spelling<'_>) -> String {
    let quote = if quoted { "\"" } else { "" };
    let mut shown = [quote, text, quote].concat();
    if let Some((end, _)) = shown.char_indices().nth(40) {
        shown.truncate(end);
        shown.push('…');
    }
    shown
}

/// Returns the rows that are shown, in order.
fn chosen(tree: &Tree<'_>, items: &[Id], columns: &Columns<'_>) -> BTreeSet<usize> {
    let last = items.len() - 1;
    let mut rows = BTreeSet::from([0, last]);
    let mut stack = Vec::new();
    let errors: Vec<usize> = (0..items.len()).filter(|row| speaks_of_error(tree, items[*row], &mut stack)).collect();
    // If most rows report an error, it is nothing special, and the statistics count them.
    if errors.len() * 2 <= items.len() {
        rows.extend(errors);
    }
    rows.extend(columns.values().flat_map(|stats| stats.odd_rows(items.len())));
    for part in 1..SPREAD {
        if rows.len() >= SPREAD {
            break;
        }
        rows.insert(last * part / (SPREAD - 1));
    }
    rows
}

/// Returns true if a record reports an error. `stack` is a reused buffer.
fn speaks_of_error(tree: &Tree<'_>, record: Id, stack: &mut Vec<Id>) -> bool {
    stack.clear();
    stack.push(record);
    while let Some(id) = stack.pop() {
        match &tree.nodes[id] {
            Node::Scalar { quoted: false, .. } => {}
            Node::Scalar { text, .. } => {
                if severity_of_value(text).is_failure() {
                    return true;
                }
            }
            Node::Array(items) => stack.extend(items),
            Node::Object(items) => {
                for (key, item) in items {
                    let is_set = match &tree.nodes[*item] {
                        Node::Scalar { quoted: true, text } => !text.is_empty(),
                        Node::Scalar { text, .. } => !matches!(&**text, "null" | "false" | "0"),
                        Node::Array(items) => !items.is_empty(),
                        Node::Object(items) => !items.is_empty(),
                    };
                    if is_set && is_failure_key(key) {
                        return true;
                    }
                    stack.push(*item);
                }
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::scan::scan;
    use super::*;

    fn summary(values: &str) -> String {
        let json =
            format!("[{}]", values.split(' ').map(|value| format!("{{\"a\":{value}}}")).collect::<Vec<_>>().join(","));
        let scan = scan(&json).expect("JSON");
        let Node::Array(items) = &scan.tree.nodes[scan.tree.root] else { panic!("an array") };
        columns_of(&scan.tree, items, &[])["a"].summary(items.len())
    }

    #[test]
    fn a_column_is_summed_up_as_what_most_of_it_is() {
        assert_eq!(summary("1 2 6"), "3 numbers, min 1 max 6 mean ≈3.000000 quartiles 1/2/2");
        assert_eq!(summary("\"00M\" 0E8 \"00R\""), "1 numbers; \"00M\" 1, \"00R\" 1");
        assert_eq!(summary("3 1e999 5"), "2 numbers, min 3 max 5 mean ≈4.000000 quartiles 3/3/3; 1e999 1");
    }
}
