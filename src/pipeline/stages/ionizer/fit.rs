//! The cells of a table -> the cheapest rule for each column.
//!
//! Every candidate rule is tried on all rows; what it costs is its own text plus, in each row where it is wrong, the
//! column's name and value. Rules refer only to columns whose texts are shorter on average (or equal and further left),
//! so they never go in circles.

use std::borrow::Cow;

use concertina_format::ionizer::notation::index_of;
use concertina_format::naive::{MOST_ADDED, MOST_ROWS};
use concertina_format::steps::Step;

use super::cells::{Cell, Lookup, Part, Rule, Template, after_slash};
use super::scan::is_literal;
use crate::pipeline::columns::steps::between;
use crate::pipeline::columns::{split_affixes, tells_verdict};
use crate::tokens::{self, Encoding};
use concertina_base::hashing::FastMap;

/// A table by columns.
pub(super) struct Grid<'g, 'a> {
    /// One name for each column.
    pub(super) names: &'g [String],
    /// The cells of each column, top down.
    pub(super) columns: &'g [Vec<Cell<'a>>],
    /// Columns that rows must show.
    pub(super) pinned: &'g [bool],
    /// For each column and row, the first row with the same cell.
    pub(super) firsts: &'g [Vec<usize>],
}

/// One row of a grid.
pub(super) struct Row<'g, 'a> {
    columns: &'g [Vec<Cell<'a>>],
    row: usize,
}

impl<'a> Lookup<'a> for Row<'_, 'a> {
    fn cell(&self, column: usize, back: usize) -> Option<&Cell<'a>> {
        self.columns[column].get(self.row.checked_sub(back)?)
    }
}

/// The result of applying a rule to a row.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome<'c> {
    /// The rule gives the whole cell.
    Implied,
    /// The rule gives the cell together with this text.
    Residual(&'c str),
    /// The row must show the cell.
    Miss,
}

impl<'g, 'a> Grid<'g, 'a> {
    /// A row.
    pub(super) fn row(&self, row: usize) -> Row<'g, 'a> {
        Row { columns: self.columns, row }
    }

    fn rows(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// Returns the part of a cell that a row must show under a rule.
    pub(super) fn outcome(&self, rule: &Rule<'a>, column: usize, row: usize) -> Outcome<'g> {
        let cell = &self.columns[column][row];
        match rule {
            Rule::Made(template) => {
                let Cell::Text { quoted, text } = cell else { return Outcome::Miss };
                if *quoted != template.quoted {
                    return Outcome::Miss;
                }
                match residual(&template.parts, text, &self.row(row)) {
                    Some(rest) if template.has_hole() => Outcome::Residual(rest),
                    Some(_) => Outcome::Implied,
                    None => Outcome::Miss,
                }
            }
            Rule::Above { step: Some(step), .. } => {
                let before = row.checked_sub(1).map(|row| &self.columns[column][row]);
                let (Some(Cell::Text { quoted: same, text: before }), Cell::Text { quoted, text }) = (before, cell)
                else {
                    return Outcome::Miss;
                };
                implied_if(same == quoted && step.leads(before, text))
            }
            Rule::Shown => Outcome::Miss,
            Rule::Fixed(fixed) => implied_if(fixed == cell),
            Rule::Above { step: None, .. } => {
                let firsts = &self.firsts[column];
                implied_if(row > 0 && firsts[row] == firsts[row - 1])
            }
        }
    }

    /// Returns for each row of a column if it must state the cell, because the rule does not give it, or only from too
    /// far above.
    pub(super) fn stated(&self, rule: &Rule<'a>, column: usize) -> impl Iterator<Item = bool> {
        let reach = reach(rule);
        // The number of rows to the one that states the cell.
        let mut far = 0;
        (0..self.rows()).map(move |row| {
            let is_far = reach.is_some_and(|reach| far >= reach);
            let is_stated = is_far || self.outcome(rule, column, row) == Outcome::Miss;
            far = if is_stated { 0 } else { far + 1 };
            is_stated
        })
    }

    /// Returns the cheapest rule of each column.
    pub(super) fn fit(&self, encoding: Encoding) -> Vec<Rule<'a>> {
        let order = self.by_length();
        let mut rank = vec![0; order.len()];
        for (place, &column) in order.iter().enumerate() {
            rank[column] = place;
        }
        let index = index_of(self.names);
        let mut rules: Vec<Rule> = vec![Rule::Shown; order.len()];
        for column in order {
            let fit = Fit { grid: self, column, encoding, rank: &rank, rules: &rules, index: &index };
            if !self.pinned[column] {
                rules[column] = fit.best();
            }
        }
        rules
    }

    /// Returns the columns, the one with the shortest texts on average first.
    fn by_length(&self) -> Vec<usize> {
        let mean = |column: &Vec<Cell<'_>>| {
            let (sum, count) =
                column.iter().filter_map(Cell::text).fold((0, 0), |(s, c), text| (s + text.len(), c + 1));
            sum * 16 / count.max(1)
        };
        let mut order: Vec<(usize, usize)> = self.columns.iter().map(mean).zip(0..).collect();
        order.sort_unstable();
        order.into_iter().map(|(_, column)| column).collect()
    }
}

/// Returns the most rows between a cell and the one that states it; `None` if the rule takes it from no row.
fn reach(rule: &Rule<'_>) -> Option<usize> {
    match rule {
        Rule::Above { step: Some(_), .. } => Some(MOST_ADDED),
        Rule::Above { step: None, .. } => Some(MOST_ROWS),
        _ => None,
    }
}

fn implied_if(is_implied: bool) -> Outcome<'static> {
    if is_implied { Outcome::Implied } else { Outcome::Miss }
}

/// Returns the text in a hole; empty if there is no hole and the parts match.
fn residual<'t, 'a>(parts: &[Part], text: &'t str, cells: &impl Lookup<'a>) -> Option<&'t str> {
    let hole = parts.iter().position(|part| *part == Part::Hole).unwrap_or(parts.len());
    let mut rest = text;
    for part in &parts[..hole] {
        rest = rest.strip_prefix(part.text(None, cells)?)?;
    }
    for part in parts.get(hole + 1..).unwrap_or_default().iter().rev() {
        rest = rest.strip_suffix(part.text(None, cells)?)?;
    }
    let fits = if hole < parts.len() { !rest.ends_with('\\') } else { rest.is_empty() };
    fits.then_some(rest)
}

/// Most columns for which templates are looked for, and longest text that one is made of.
const TEMPLATE_COLUMNS: usize = 300;
const TEMPLATE_TEXT: usize = 600;
/// The number of cells that are counted as a sample.
const SAMPLE: usize = 48;

struct Fit<'f, 'g, 'a> {
    grid: &'f Grid<'g, 'a>,
    column: usize,
    encoding: Encoding,
    rank: &'f [usize],
    /// The rules of columns with a lower rank.
    rules: &'f [Rule<'a>],
    index: &'f FastMap<&'f str, usize>,
}

impl<'g, 'a> Fit<'_, 'g, 'a> {
    fn cells(&self) -> &'g [Cell<'a>] {
        &self.grid.columns[self.column]
    }

    fn best(&self) -> Rule<'a> {
        let rows = self.grid.rows();
        let present: Vec<&Cell<'_>> = self.cells().iter().filter(|cell| **cell != Cell::Absent).collect();
        let spread = present.len().div_ceil(SAMPLE).max(1);
        let per_cell = self.mean_tokens(present.iter().step_by(spread).map(|cell| shown_text(cell)));
        let per_absent = 2.0 + self.tokens(&self.grid.names[self.column]);
        let per_miss = per_cell + per_absent;
        let absent = rows - present.len();
        // Most rules miss all absent cells, and saying that a cell is absent takes no value.
        let cost_of = |rule: &Rule<'_>, misses: usize| {
            let free = if matches!(rule, Rule::Made(_)) { absent.min(misses) } else { 0 };
            misses as f64 * per_miss - free as f64 * per_cell
        };
        let shown = rows as f64 + present.len() as f64 * per_cell;
        let mut best = (shown, Rule::Shown);
        let consider = |best: &mut (f64, Rule<'a>), cost: f64, rule: Rule<'a>| {
            if cost + 0.5 < best.0 {
                *best = (cost, rule);
            }
        };
        for rule in self.simple_rules() {
            let own = if matches!(rule, Rule::Fixed(Cell::Text { .. } | Cell::Node(_))) { per_cell + 1.0 } else { 3.0 };
            // A sequence that often fails is no help to a reader.
            let often = match &rule {
                Rule::Above { step: Some(_), .. } => 1 + rows / 6,
                _ => rows,
            };
            let stated = reach(&rule).map_or(0, |reach| 1 + rows / (reach + 1));
            let limit = (((shown - own) / per_miss).max(0.0) as usize).min(stated + often);
            if let Some(misses) = self.misses(&rule, limit) {
                let cost = own + cost_of(&rule, misses);
                consider(&mut best, cost, rule);
            }
        }
        // A template costs itself and a token, and one with a hole a token in each row, too.
        let may_be_made = best.0 > 2.5;
        let may_have_hole = best.0 > 2.5 + rows as f64;
        if may_be_made
            && self.grid.columns.len() <= TEMPLATE_COLUMNS
            && present.iter().all(|cell| cell.text().is_some())
        {
            for template in self.templates(may_have_hole) {
                let Some(text) = template.to_text(self.grid.names, self.index) else { continue };
                let own = self.tokens(&text) + 1.0;
                let hole = template.has_hole();
                let rule = Rule::Made(template);
                let limit = absent + ((shown - own) / per_miss).max(0.0) as usize;
                let Some(misses) = self.misses(&rule, limit) else { continue };
                let rest = if hole { rows as f64 + (rows - misses) as f64 * self.mean_residual(&rule) } else { 0.0 };
                let cost = own + cost_of(&rule, misses) + rest;
                consider(&mut best, cost, rule);
            }
        }
        best.1
    }

    /// Returns the number of rows that a rule does not explain; `None` if it exceeds the limit.
    fn misses(&self, rule: &Rule<'a>, limit: usize) -> Option<usize> {
        let firsts = &self.grid.firsts[self.column];
        match rule {
            Rule::Fixed(cell) => {
                let first = self.cells().iter().position(|own| own == cell)?;
                let misses = firsts.iter().filter(|own| **own != first).count();
                (misses <= limit).then_some(misses)
            }
            _ => {
                let stated = self.grid.stated(rule, self.column).filter(|is_stated| *is_stated);
                let misses = stated.take(limit.saturating_add(1)).count();
                (misses <= limit).then_some(misses)
            }
        }
    }

    fn tokens(&self, text: &str) -> f64 {
        tokens::count(text, self.encoding) as f64
    }

    fn mean_tokens<'t>(&self, texts: impl Iterator<Item = Cow<'t, str>>) -> f64 {
        let mut count = 0;
        let mut joined = String::new();
        for text in texts {
            joined.push_str(&text);
            joined.push('\n');
            count += 1;
        }
        if count == 0 { 0.0 } else { (self.tokens(&joined) / f64::from(count) - 1.0).max(0.0) }
    }

    fn mean_residual(&self, rule: &Rule<'a>) -> f64 {
        let spread = self.grid.rows().div_ceil(SAMPLE).max(1);
        let rows = (0..self.grid.rows()).step_by(spread);
        self.mean_tokens(rows.filter_map(|row| match self.grid.outcome(rule, self.column, row) {
            Outcome::Residual(text) => Some(Cow::Borrowed(text)),
            _ => None,
        }))
    }

    /// Returns candidate rules: a constant, the row above, and steps.
    fn simple_rules(&self) -> Vec<Rule<'a>> {
        let cells = self.cells();
        let mut found = Vec::new();
        // The count of each cell, by its first row.
        let mut counts: Vec<usize> = vec![0; cells.len()];
        for first in &self.grid.firsts[self.column] {
            counts[*first] += 1;
        }
        // The first of the most frequent.
        let most = counts.iter().max();
        if let Some(cell) = counts.iter().position(|count| Some(count) == most).map(|first| &cells[first]) {
            // A constant that reads like a template would be read as one; the row above says the same.
            let is_plain = match cell {
                Cell::Absent => true,
                Cell::Text { quoted, text } => !text.contains('{') || (!quoted && text == "{}"),
                Cell::Node(_) => false,
            };
            if is_plain {
                found.push(Rule::Fixed((*cell).clone()));
            }
        }
        // A verdict is never as above: its column is shown, or it is the same almost everywhere.
        let is_verdict = |cell: &Cell| cell.text().is_some_and(tells_verdict);
        let verdicts = cells.iter().filter(|cell| is_verdict(cell)).count();
        found.extend((verdicts * 2 <= cells.len()).then_some(Rule::Above { back: 1, step: None }));
        let mut steps: Vec<(usize, Step)> = Vec::new();
        let spread = cells.len().div_ceil(SAMPLE).max(1);
        for pair in cells.windows(2).step_by(spread) {
            let (Some(from), Some(to)) = (pair[0].text(), pair[1].text()) else { continue };
            let Some(step) = between(from, to) else { continue };
            match steps.iter_mut().find(|(_, known)| *known == step) {
                Some((count, _)) => *count += 1,
                None => steps.push((1, step)),
            }
        }
        let step = steps.into_iter().rev().max_by_key(|(count, _)| *count);
        found.extend(step.map(|(_, step)| Rule::Above { back: 1, step: Some(step) }));
        found
    }

    /// Returns candidate templates: texts made of other cells, and texts with a common start and end.
    fn templates(&self, may_have_hole: bool) -> Vec<Template> {
        let rows = self.grid.rows();
        let mut found: Vec<Template> = Vec::new();
        let mut add = |template: Template| {
            if !found.contains(&template) {
                found.push(template);
            }
        };
        for row in [0, rows / 2, rows - 1] {
            let Cell::Text { quoted, text } = &self.cells()[row] else { continue };
            if text.len() > TEMPLATE_TEXT {
                continue;
            }
            let quoted = *quoted;
            let parts = self.compose(row, text);
            if parts.iter().any(|part| matches!(part, Part::Ref { .. })) {
                add(Template { quoted, parts: parts.clone() });
                for at in 0..if may_have_hole { parts.len() } else { 0 } {
                    if matches!(parts[at], Part::Literal(_)) {
                        let mut parts = parts.clone();
                        parts[at] = Part::Hole;
                        add(self.tighten(Template { quoted, parts }));
                    }
                }
            }
            if quoted && may_have_hole {
                add(self.tighten(Template { quoted, parts: vec![Part::Hole] }));
            }
        }
        for column in self.sources_above() {
            if let Some(Cell::Text { quoted, .. }) = self.cells().last() {
                add(Template { quoted: *quoted, parts: vec![Part::Ref { column, above: true, tail: false }] });
            }
        }
        found
    }

    /// Returns the columns whose cell in the row above is usually equal to the cell.
    fn sources_above(&self) -> Vec<usize> {
        let cells = self.cells();
        let spread = cells.len().div_ceil(16).max(1);
        let sample: Vec<usize> = (1..cells.len()).step_by(spread).collect();
        (0..self.grid.columns.len())
            .filter(|column| self.rank[*column] < self.rank[self.column] && self.made(*column).is_none())
            .filter(|column| {
                let source = &self.grid.columns[*column];
                let hits = sample.iter().filter(|row| source[**row - 1] == cells[**row]).count();
                hits * 2 > sample.len()
            })
            .collect()
    }

    /// Replaces the texts of other cells of the row by references, longest first.
    fn compose(&self, row: usize, text: &str) -> Vec<Part> {
        let mut sources: Vec<(&str, usize, bool)> = Vec::new();
        for (column, cells) in self.grid.columns.iter().enumerate() {
            if self.rank[column] >= self.rank[self.column]
                || self.grid.pinned[column]
                || self.made(column).is_some_and(Template::has_hole)
            {
                continue;
            }
            let Some(source) = cells[row].text() else { continue };
            let tail = after_slash(source);
            for (source, tail) in [(source, false), (tail, true)] {
                let distinct = source.len() >= 3 || (source == text && !source.is_empty());
                // A longer source cannot be a part of the text.
                let distinct = distinct && source.len() <= text.len();
                let is_cut = tail && self.made(column).is_some();
                if distinct && !is_cut && !(tail && source.len() == cells[row].text().map_or(0, str::len)) {
                    sources.push((source, column, tail));
                }
            }
        }
        sources.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then(a.2.cmp(&b.2)).then(a.1.cmp(&b.1)));
        let mut parts = vec![Part::Literal(text.to_owned())];
        for (source, column, tail) in sources {
            if !parts.iter().any(|part| matches!(part, Part::Literal(text) if text.contains(source))) {
                continue;
            }
            let mut next = Vec::new();
            for part in parts {
                let Part::Literal(text) = &part else {
                    next.push(part);
                    continue;
                };
                for (index, piece) in text.split(source).enumerate() {
                    if index > 0 {
                        // A reader who looks up a cell must find it there, and not be sent on.
                        let own = [Part::Ref { column, above: false, tail }];
                        next.extend_from_slice(self.made(column).map_or(&own[..], |template| &template.parts));
                    }
                    if !piece.is_empty() {
                        next.push(Part::Literal(piece.to_owned()));
                    }
                }
            }
            parts = merged(next);
        }
        parts
    }

    /// Returns the template of a column that has one.
    fn made(&self, column: usize) -> Option<&Template> {
        match &self.rules[column] {
            Rule::Made(template) => Some(template),
            _ => None,
        }
    }

    /// Moves the prefix and suffix that all texts in a hole share out of it.
    fn tighten(&self, template: Template) -> Template {
        let rest = |row: usize| match &self.cells()[row] {
            Cell::Text { quoted, text } if *quoted == template.quoted => {
                residual(&template.parts, text, &self.grid.row(row))
            }
            _ => None,
        };
        let rests: Vec<&str> = (0..self.grid.rows()).filter_map(rest).collect();
        let (before, _, behind) = split_affixes(&rests);
        // An escape is not cut.
        let before = before.trim_end_matches('\\').to_owned();
        let behind = behind.to_owned();
        let around = |part: Part| match part {
            Part::Hole => vec![Part::Literal(before.clone()), Part::Hole, Part::Literal(behind.clone())],
            part => vec![part],
        };
        let parts = template.parts.into_iter().flat_map(around);
        let parts = merged(parts.filter(|part| *part != Part::Literal(String::new())).collect());
        Template { parts, ..template }
    }
}

fn merged(parts: Vec<Part>) -> Vec<Part> {
    let mut found: Vec<Part> = Vec::new();
    for part in parts {
        match (found.last_mut(), part) {
            (Some(Part::Literal(before)), Part::Literal(text)) => before.push_str(&text),
            (_, part) => found.push(part),
        }
    }
    found
}

/// Returns a cell as a row would show it, for counting tokens.
fn shown_text<'c>(cell: &'c Cell<'_>) -> Cow<'c, str> {
    match cell {
        Cell::Absent => Cow::Borrowed(""),
        Cell::Text { quoted: true, text } if text.is_empty() || is_literal(text) || text.contains([',', ';']) => {
            Cow::Owned(format!("\"{text}\""))
        }
        Cell::Text { text, .. } => Cow::Borrowed(text),
        Cell::Node(_) => Cow::Borrowed("&1 &1 &1"),
    }
}
