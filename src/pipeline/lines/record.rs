//! templates that follow each other -> one template of several lines.
//!
//! The pair of neighbours that saves most becomes one, again and again (Larsson and Moffat, Off-line dictionary-based
//! compression): the eight lines of a `stat`, the four of a warning, a heading with what stands below it.

use super::column::{self, Rule};
use super::layout::Pad;
use super::template::{Part, Template};
use crate::pipeline::columns::is_constant;
use concertina_base::hashing::FastMap;

/// The most lines of a record; more are hard to read.
const MAX_HEIGHT: usize = 40;

/// The most pairs that are joined.
const MAX_JOINED: usize = 64;

/// A line or a row at a place of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// A line that stays unchanged.
    Raw(usize),
    Row {
        template: usize,
        row: usize,
    },
}

/// Two templates; rows of the second directly follow rows of the first.
type Pair = (usize, usize);

/// Cached results for templates and pairs whose rows have not changed.
#[derive(Default)]
struct Known {
    gains: FastMap<Pair, Option<usize>>,
    end_in_words: FastMap<usize, bool>,
}

impl Known {
    fn forget(&mut self, template: usize) {
        self.gains.retain(|&(first, second), _| first != template && second != template);
        self.end_in_words.remove(&template);
    }
}

/// Joins neighbouring templates. Templates may be left without rows.
pub(super) fn join<'t>(templates: &mut Vec<Template<'t>>, mut entries: Vec<Entry>) -> Vec<Entry> {
    let mut known = Known::default();
    for _ in 0..MAX_JOINED {
        let Some((first, second)) = best_pair(templates, &entries, &mut known) else { break };
        known.forget(first);
        known.forget(second);
        let joined = templates.len();
        let mut rows: Vec<(usize, usize)> = Vec::new();
        let mut next = Vec::with_capacity(entries.len());
        let mut at = 0;
        while at < entries.len() {
            match (entries[at], entries.get(at + 1)) {
                (Entry::Row { template, row }, Some(&Entry::Row { template: other, row: below }))
                    if template == first && other == second =>
                {
                    next.push(Entry::Row { template: joined, row: rows.len() });
                    rows.push((row, below));
                    at += 2;
                }
                (entry, _) => {
                    next.push(entry);
                    at += 1;
                }
            }
        }
        let record = record(&templates[first], &templates[second], &rows);
        templates.push(record);
        keep_rows(templates, &mut next, first, second);
        entries = next;
    }
    entries
}

/// Returns the pair that saves most.
fn best_pair(templates: &[Template], entries: &[Entry], known: &mut Known) -> Option<Pair> {
    let mut pairs: FastMap<Pair, Vec<(usize, usize)>> = FastMap::default();
    for pair in entries.windows(2) {
        if let [Entry::Row { template: first, row }, Entry::Row { template: second, row: below }] = *pair
            && first != second
        {
            pairs.entry((first, second)).or_default().push((row, below));
        }
    }
    let mut gain = |(first, second): Pair, rows: &[(usize, usize)]| {
        let (one, other, times) = (&templates[first], &templates[second], rows.len());
        if times < 3
            || one.height + other.height > MAX_HEIGHT
            || one.kinds.iter().any(|kind| other.kinds.contains(kind))
        {
            return None;
        }
        // Neighbours by chance are no record: most rows must be followed so, and more often than in random order.
        let (firsts, seconds) = (one.lines.len(), other.lines.len());
        if times * 10 < firsts.min(seconds) * 6 || times * entries.len() * 2 < firsts * seconds * 3 {
            return None;
        }
        let again = |template: &Template| if template.lines.len() > times { template.cost() } else { 0 };
        // A line end and the name of another template.
        let saved = if *known.end_in_words.entry(first).or_insert_with(|| one.ends_in_words()) { 0 } else { 2 };
        // Values that the lines above already contain.
        let is_said = |column: &[&str]| {
            one.columns.iter().any(|above| rows.iter().all(|&(row, below)| above[row] == column[below]))
        };
        let said = other.columns.iter().zip(&other.spent).filter(|(column, _)| is_said(column));
        let said: usize = said.map(|(_, spent)| spent * times / other.lines.len()).sum();
        (saved * times + said).checked_sub(again(one) + again(other) + 3)
    };
    let gains = &mut known.gains;
    let mut gain_of = |pair, rows: &[_]| *gains.entry(pair).or_insert_with(|| gain(pair, rows));
    let best = pairs.into_iter().filter_map(|(pair, rows)| Some((gain_of(pair, &rows)?, pair)));
    best.filter(|(gain, _)| *gain > 0).max_by_key(|&(gain, pair)| (gain, std::cmp::Reverse(pair))).map(|(_, pair)| pair)
}

fn record<'t>(first: &Template<'t>, second: &Template<'t>, rows: &[(usize, usize)]) -> Template<'t> {
    let mut parts = first.parts.clone();
    push_text(&mut parts, "\n");
    let shift = first.rules.len();
    for part in &second.parts {
        match part {
            Part::Text(text) => push_text(&mut parts, text),
            Part::Value(value, pad) => parts.push(Part::Value(value + shift, *pad)),
        }
    }
    let shifted = |rule: &Rule| match *rule {
        Rule::Same(value) => Rule::Same(value + shift),
        rule => rule,
    };
    let above = first.columns.iter().map(|column| rows.iter().map(|&(row, _)| column[row]).collect());
    let below = second.columns.iter().map(|column| rows.iter().map(|&(_, row)| column[row]).collect());
    Template {
        kinds: first.kinds.iter().chain(&second.kinds).copied().collect(),
        lines: rows.iter().map(|&(row, _)| first.lines[row]).collect(),
        height: first.height + second.height,
        parts,
        rules: first.rules.iter().copied().chain(second.rules.iter().map(shifted)).collect(),
        spent: first.spent.iter().chain(&second.spent).copied().collect(),
        columns: above.chain(below).collect(),
    }
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        Some(Part::Text(last)) => last.push_str(text),
        _ => parts.push(Part::Text(text.to_owned())),
    }
}

/// Removes the rows of two templates that no entry names any more.
fn keep_rows(templates: &mut [Template], entries: &mut [Entry], first: usize, second: usize) {
    for index in [first, second] {
        let mut kept = Vec::new();
        for entry in entries.iter_mut() {
            if let Entry::Row { template, row } = entry
                && *template == index
            {
                kept.push(*row);
                *row = kept.len() - 1;
            }
        }
        let template = &mut templates[index];
        template.lines = kept.iter().map(|&row| template.lines[row]).collect();
        for column in &mut template.columns {
            *column = kept.iter().map(|&row| column[row]).collect();
        }
    }
}

/// Determines constants and rules again, after the rows are final.
pub(super) fn settle(template: &mut Template) {
    let mut parts = Vec::with_capacity(template.parts.len());
    let (mut rules, mut spent, mut columns): (Vec<Rule>, Vec<usize>, Vec<Vec<&str>>) = Default::default();
    for part in std::mem::take(&mut template.parts) {
        match part {
            Part::Text(text) => push_text(&mut parts, &text),
            Part::Value(value, pad) => {
                let column = std::mem::take(&mut template.columns[value]);
                if is_constant(&column) && pad == Pad::None {
                    push_text(&mut parts, column[0]);
                    continue;
                }
                parts.push(Part::Value(rules.len(), pad));
                let (rule, cost) = column::rule(&column, &columns);
                spent.push(cost);
                rules.push(rule);
                columns.push(column);
            }
        }
    }
    (template.parts, template.rules, template.spent, template.columns) = (parts, rules, spent, columns);
}
