//! Lines of one shape, wherever they stand -> templates and rows of what differs, and back.
//!
//! The meaning of the lines does not matter. [`cells`] cuts them at blanks, [`group`] finds lines of one shape,
//! [`layout`] explains the blanks between their fields, [`template`] and [`column`] say what is fixed, what varies and
//! how, [`record`] joins templates that follow each other, [`write`] writes down the result in the notation of
//! [`concertina_format::lines`], which reads it back.

mod cells;
mod column;
mod group;
mod layout;
mod record;
mod template;
mod write;

use std::hash::{BuildHasher, BuildHasherDefault};
use std::ops::Range;

use cells::{Lines, View};
use group::{Group, Node};
use record::Entry;
use template::{Part, Template};

use crate::config::Encoding;
use crate::pipeline::fold::Fold;
use crate::pipeline::measure::is_worth;
use crate::pipeline::remembered_folds::{Folds, RememberedFolds};
use crate::pipeline::{Edit, FusionContext};
use crate::tokens;
use concertina_base::hashing::{FastHasher, FastMap, FastSet};

/// The most percent of the tokens that a fold of lines may leave, and the fewest tokens that it must save.
pub(super) const WORTH: (usize, usize) = (95, 1);

/// The number of times that remaining lines are grouped again, in each way.
const ROUNDS: usize = 2;

/// A plan is written only if its estimated saving is at least this percentage of the best plan's.
const NEAR: usize = 60;

/// The most other lines between rows of one fold.
const MAX_RAW: usize = 8;

/// Returns true if a line must stay unchanged, even if a row would be cheaper.
pub(super) type Keeps = fn(&str) -> bool;

/// The runs and lines of each that must be worth folding before a long text is. Prose is not.
const TASTE: (usize, usize) = (8, 40);

/// Returns the folds of the parts worth folding. An estimated saving below half of `least` percent is not tried.
fn folds(stage: &str, text: &str, encoding: Encoding, least: usize, keeps: Keeps) -> Folds {
    let starts: Vec<usize> =
        std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1)).collect();
    let bytes = |lines: Range<usize>| starts[lines.start]..starts.get(lines.end).map_or(text.len(), |next| next - 1);
    let (runs, height) = TASTE;
    if starts.len() > 2 * runs * height {
        let start = |run: usize| (starts.len() - height) * run / (runs - 1);
        let taste: Vec<&str> = (0..runs).map(|run| &text[bytes(start(run)..start(run) + height)]).collect();
        if plans(&taste.join("\n"), keeps)[0].percent() * 2 < least {
            return Vec::new();
        }
    }
    let plans = plans(text, keeps);
    let part = |lines: Range<usize>| {
        let range = bytes(lines);
        let fold = match range.len() == text.len() {
            true => whole(stage, &plans, encoding, true),
            false => fold(stage, &text[range.clone()], encoding, keeps),
        };
        Some((range, fold?))
    };
    plans[0].regions(least).into_iter().filter_map(part).collect()
}

/// Folds all lines of a text, without the line end of the last one; `None` if nothing repeats. The result depends only
/// on the arguments.
pub(super) fn fold(stage: &str, text: &str, encoding: Encoding, keeps: Keeps) -> Option<Fold> {
    whole(stage, &plans(text, keeps), encoding, true)
}

/// Folds the prefixes of lines, one on each line. Its rows state no value again, because a reader would have to count
/// lines to find the prefix of one.
pub(super) fn fold_prefixes(stage: &str, prefixes: &str, encoding: Encoding) -> Option<Fold> {
    whole(stage, &plans(prefixes, |_| false), encoding, false)
}

/// Returns at least one plan, the best first by estimated saving.
fn plans(text: &str, keeps: Keeps) -> Vec<Plan<'_>> {
    let words = Plan::of(Lines::of(text, View::Words, keeps));
    if !has_columns(&words.lines) {
        return vec![words];
    }
    let columns = Plan::of(words.lines.seen_as(View::Columns));
    let (first, second) = if columns.saved > words.saved { (columns, words) } else { (words, columns) };
    // Every written plan is counted exactly, which takes time.
    if second.saved * 100 >= first.saved * NEAR { vec![first, second] } else { vec![first] }
}

/// Returns true if blanks separate columns in at least a tenth of the lines.
fn has_columns(lines: &Lines) -> bool {
    let is_parted = |text: &&&str| {
        let text = text.trim_start();
        text.contains("  ") || text.contains('\t')
    };
    lines.texts.iter().filter(is_parted).count() * 10 >= lines.texts.len()
}

/// Returns the fold of the cheapest plan. With `restates`, rows state values again where a naive reader needs it.
fn whole(stage: &str, plans: &[Plan], encoding: Encoding, restates: bool) -> Option<Fold> {
    let folds = plans.iter().filter_map(|plan| {
        let (legend, body) = plan.write(restates)?;
        let fold = Fold::new(stage, legend, Some(body));
        Some((tokens::count(&fold.to_string(), encoding), fold))
    });
    folds.min_by_key(|(tokens, _)| *tokens).map(|(_, fold)| fold)
}

/// Returns the folds of a part of a text as edits. An estimated saving below half of `least` percent is not tried.
pub(super) fn edits(
    context: &FusionContext,
    stage: &'static str,
    part: Range<usize>,
    least: usize,
    keeps: Keeps,
) -> Vec<Edit> {
    let none = RememberedFolds::default();
    let text = &context.text[part.clone()];
    let compute = || folds(stage, text, context.encoding, least, keeps);
    let folds = context.remembered.unwrap_or(&none).get(stage, text, least, compute);
    folds.into_iter().map(|(found, fold)| Edit::fold(part.start + found.start..part.start + found.end, &fold)).collect()
}

/// Returns the [`edits`] that leave at most this percentage of the tokens and save at least this many.
pub(super) fn worthy_edits(
    context: &FusionContext,
    stage: &'static str,
    part: Range<usize>,
    worth: (usize, usize),
) -> Vec<Edit> {
    let mut edits = edits(context, stage, part, 100 - worth.0, |_| false);
    edits.retain(|edit| is_worth(context, edit, worth));
    edits
}

/// Lines of one shape.
pub(super) struct Flood<'t>(Template<'t>);

impl<'t> Flood<'t> {
    /// Returns the floods of a text; no line is in two of them.
    pub(super) fn all(text: &'t str, keeps: Keeps) -> Vec<Self> {
        Search::of(&Lines::of(text, View::Words, keeps), 0).templates().into_iter().map(Self).collect()
    }

    /// Returns the line numbers, ascending.
    pub(super) fn lines(&self) -> &[usize] {
        &self.0.lines
    }

    /// Returns the values in which the lines differ, by place.
    pub(super) fn columns(&self) -> &[Vec<&'t str>] {
        &self.0.columns
    }

    /// Returns the text of the lines, with `say` of each column in place of its values in these rows.
    pub(super) fn sum_up(&self, rows: &[usize], say: impl Fn(&[&str]) -> String) -> String {
        let values = |column: usize| rows.iter().map(|&row| self.0.columns[column][row]).collect::<Vec<_>>();
        let piece = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Value(column, _) => format!("<{}>", say(&values(*column))),
        };
        self.0.parts.iter().map(piece).collect()
    }
}

/// The templates and rows that a text is written as.
struct Plan<'t> {
    lines: Lines<'t>,
    templates: Vec<Template<'t>>,
    entries: Vec<Entry>,
    /// The estimated tokens that each template saves, and their sum.
    worth: Vec<usize>,
    saved: usize,
}

impl<'t> Plan<'t> {
    fn of(lines: Lines<'t>) -> Self {
        let mut templates = Search::of(&lines, template::MAX_SPLITS).templates();
        let mut place: Vec<Option<(usize, usize)>> = vec![None; lines.texts.len()];
        for (index, template) in templates.iter().enumerate() {
            for (row, &line) in template.lines.iter().enumerate() {
                place[line] = Some((index, row));
            }
        }
        let entry = |(line, place): (usize, &Option<(usize, usize)>)| match *place {
            Some((template, row)) => Entry::Row { template, row },
            None => Entry::Raw(line),
        };
        let joined = record::join(&mut templates, place.iter().enumerate().map(entry).collect());
        templates.iter_mut().filter(|template| !template.lines.is_empty()).for_each(record::settle);
        let worth: Vec<usize> = templates.iter().map(|template| saved(template, &lines)).collect();
        let mut entries = Vec::with_capacity(joined.len());
        for entry in joined {
            match entry {
                Entry::Row { template, row } if worth[template] == 0 => {
                    let first = templates[template].lines[row];
                    entries.extend((first..first + templates[template].height).map(Entry::Raw));
                }
                entry => entries.push(entry),
            }
        }
        Self { lines, templates, entries, saved: worth.iter().sum(), worth }
    }

    /// Returns the estimated saving in percent of the tokens.
    fn percent(&self) -> usize {
        100 * self.saved / self.lines.cost(0..self.lines.texts.len()).max(1)
    }

    fn write(&self, restates: bool) -> Option<(String, String)> {
        let write = || write::write(&self.lines.texts, &self.templates, &self.entries, restates);
        if self.saved > 0 { write() } else { None }
    }

    /// Returns the line ranges, without long runs of raw lines, that save an estimated half of `least` percent.
    fn regions(&self, least: usize) -> Vec<Range<usize>> {
        let mut found: Vec<(Range<usize>, f64)> = Vec::new();
        for entry in &self.entries {
            let Entry::Row { template: index, row } = *entry else { continue };
            let template = &self.templates[index];
            let (start, end) = (template.lines[row], template.lines[row] + template.height);
            let saved = self.worth[index] as f64 / template.lines.len() as f64;
            match found.last_mut() {
                Some((last, sum)) if start - last.end <= MAX_RAW => (last.end, *sum) = (end, *sum + saved),
                _ => found.push((start..end, saved)),
            }
        }
        found.retain(|(lines, saved)| saved * 200.0 >= (self.lines.cost(lines.clone()) * least) as f64);
        let mut regions: Vec<Range<usize>> = found.into_iter().map(|(lines, _)| lines).collect();
        // A few lines outside the fold are included, so that nothing is planned twice.
        let folded: usize = regions.iter().map(ExactSizeIterator::len).sum();
        if regions.len() == 1 && self.lines.texts.len() - folded <= MAX_RAW.min(folded / 8) {
            regions[0] = 0..self.lines.texts.len();
        }
        regions
    }
}

/// Templates and their estimated saving in tokens.
#[derive(Default)]
struct Choice<'t> {
    templates: Vec<Template<'t>>,
    saved: usize,
}

impl<'t> Choice<'t> {
    fn and(mut self, other: Self) -> Self {
        self.templates.extend(other.templates);
        self.saved += other.saved;
        self
    }

    fn or(self, other: Self) -> Self {
        if other.saved > self.saved { other } else { self }
    }
}

/// The number of a group's lines that are examined first.
const SAMPLE: usize = 40;

/// The number of cells per line that are examined.
const SAMPLE_CELLS: usize = 12;

/// Returns true if enough cells of a group repeat or count to be worth a closer look. Prose does not.
fn is_regular(lines: &Lines, group: &Group) -> bool {
    if group.fields == 1 && !group.has_rest {
        return true;
    }
    let fields = group.fields - usize::from(group.has_rest && group.fields > 1);
    let (mut cells, mut regular) = (0, 0);
    let step = group.lines.len().div_ceil(SAMPLE);
    for field in 0..fields.min(SAMPLE_CELLS) {
        let mut above: [&str; 4] = [""; 4];
        for (row, &line) in group.lines.iter().step_by(step).enumerate() {
            let cell = lines.cell(line, field);
            cells += 2;
            let shared = cell.bytes().zip(above[(row + 3) % 4].bytes()).take_while(|(a, b)| a == b).count();
            if above.contains(&cell) || shared * 3 >= cell.len().max(9) {
                regular += 2;
            } else if cell.as_bytes()[0].is_ascii_digit() {
                regular += 1;
            }
            above[row % 4] = cell;
        }
    }
    regular * 5 >= cells
}

/// The most fields before a rest.
const MAX_MERGED: usize = 12;

/// The search for the templates of a text.
struct Search<'l, 't> {
    lines: &'l Lines<'t>,
    /// The most times that a group is divided by the values of a column.
    splits: usize,
    /// The hashes of groups that are known to save nothing.
    worthless: FastSet<u64>,
}

impl<'l, 't> Search<'l, 't> {
    fn of(lines: &'l Lines<'t>, splits: usize) -> Self {
        Self { lines, splits, worthless: FastSet::default() }
    }

    /// Returns the templates of all matching lines, each line in at most one.
    fn templates(mut self) -> Vec<Template<'t>> {
        let lines = self.lines;
        let mut found = Vec::new();
        let mut is_taken = lines.kept.clone();
        for exact in [false, true] {
            for _ in 0..ROUNDS {
                let left: Vec<usize> =
                    (0..lines.texts.len()).filter(|&line| !is_taken[line] && !lines.cells(line).is_empty()).collect();
                let more = self.best(&group::tree(lines, &left, exact)).templates;
                if more.is_empty() {
                    break;
                }
                more.iter().flat_map(|template| &template.lines).for_each(|&line| is_taken[line] = true);
                found.extend(more);
            }
        }
        found.extend(same_lines(lines, &is_taken));
        found.iter_mut().enumerate().for_each(|(index, template)| template.kinds = vec![index]);
        found
    }

    /// Returns the choice that saves most: each branch by itself, or branches merged with the rest of each line as a
    /// value.
    fn best(&mut self, tree: &[Node]) -> Choice<'t> {
        let mut choices: Vec<Choice> = Vec::new();
        choices.resize_with(tree.len(), Choice::default);
        for (index, node) in tree.iter().enumerate().rev().filter(|(_, node)| node.lines.len() >= group::MIN_ROWS) {
            let ends = self.of_group(&node.ends, node.depth, node.depth == group::MAX_DEPTH);
            let below = node.children.iter().map(|&child| std::mem::take(&mut choices[child]));
            let mut ways = below.fold(Choice::default(), Choice::and);
            let largest = node.children.iter().map(|&child| tree[child].lines.len()).max().unwrap_or(0);
            let is_parting = node.lines.len() * 9 > largest.max(node.ends.len()) * 10;
            if is_parting && (1..=MAX_MERGED).contains(&node.depth) {
                let is_longer = |line: &usize| self.lines.cells(*line).len() > node.depth;
                let longer: Vec<usize> = node.lines.iter().copied().filter(is_longer).collect();
                ways = ways.or(self.of_group(&longer, node.depth + 1, true)).and(ends);
                ways = ways.or(self.of_group(&node.lines, node.depth, true));
            } else {
                ways = ways.and(ends);
            }
            choices[index] = ways;
        }
        std::mem::take(&mut choices[0])
    }

    /// Returns the templates of a group, unless it is known to be worthless.
    fn of_group(&mut self, group: &[usize], fields: usize, has_rest: bool) -> Choice<'t> {
        if group.len() < group::MIN_ROWS {
            return Choice::default();
        }
        let key = BuildHasherDefault::<FastHasher>::default().hash_one((group, fields, has_rest));
        if self.worthless.contains(&key) {
            return Choice::default();
        }
        let choice = self.measured(&Group { lines: group.to_vec(), fields, has_rest });
        if choice.saved == 0 {
            self.worthless.insert(key);
        }
        choice
    }

    fn measured(&self, group: &Group) -> Choice<'t> {
        let mut choice = Choice::default();
        if !is_regular(self.lines, group) {
            return choice;
        }
        let Some(layout) = layout::layout(self.lines, group) else { return choice };
        for template in template::templates(&layout, self.splits) {
            let saved = saved(&template, self.lines);
            if template.lines.len() >= group::MIN_ROWS && saved > 0 {
                choice.saved += saved;
                choice.templates.push(template);
            }
        }
        choice
    }
}

/// Returns templates of identical lines.
fn same_lines<'t>(lines: &Lines<'t>, is_taken: &[bool]) -> Vec<Template<'t>> {
    let mut by_text: FastMap<&str, Vec<usize>> = FastMap::default();
    for (line, text) in lines.texts.iter().enumerate().filter(|(line, _)| !is_taken[*line]) {
        by_text.entry(text).or_default().push(line);
    }
    let mut found: Vec<(&str, Vec<usize>)> =
        by_text.into_iter().filter(|(_, lines)| lines.len() >= group::MIN_ROWS).collect();
    found.sort_unstable_by_key(|(_, lines)| lines[0]);
    let template = |(text, lines): (&str, Vec<usize>)| Template {
        lines,
        height: 1,
        parts: if text.is_empty() { Vec::new() } else { vec![Part::Text(text.to_owned())] },
        ..Template::default()
    };
    found.into_iter().map(template).collect()
}

/// Estimates the tokens that a template and its rows save against its lines.
fn saved(template: &Template, lines: &Lines) -> usize {
    if template.lines.is_empty() {
        return 0;
    }
    let before: usize = template.lines.iter().map(|&first| lines.cost(first..first + template.height)).sum();
    let rows: usize = template.spent.iter().sum();
    // Each row has a line end, and each run the template's name; the rows of a list share lines.
    let runs = template.runs();
    let ends = if template.is_list() { 2 * runs } else { template.lines.len() + runs };
    before.saturating_sub(template.cost() + rows + ends)
}
