//! a layout -> templates: the text that its lines share, with places for the values that rows list.

pub(super) use concertina_format::lines::template::Part;

use super::column::{self, Piece, Rule, pieces};
use super::layout::{Layout, Pad};
use crate::pipeline::columns::{cost, is_constant, split_affixes};
use concertina_base::hashing::FastMap;

/// The fewest rows that are worth their own template.
const MIN_SPLIT: usize = 4;

/// The most times that a group is divided by the values of a column.
pub(super) const MAX_SPLITS: usize = 3;

/// A group with more parts is divided only if that saves at once; with fewer, each may be divided further.
const MANY_PARTS: usize = 8;

/// The common text of some lines, and the values of each.
#[derive(Debug, Clone, Default)]
pub(super) struct Template<'t> {
    /// The templates that were joined to it. A record has none of them twice.
    pub(super) kinds: Vec<usize>,
    /// The first line of each row, ascending.
    pub(super) lines: Vec<usize>,
    /// The number of lines per row.
    pub(super) height: usize,
    pub(super) parts: Vec<Part>,
    pub(super) rules: Vec<Rule>,
    /// The estimated tokens that the rows spend on each value.
    pub(super) spent: Vec<usize>,
    /// For each value its text in each row.
    pub(super) columns: Vec<Vec<&'t str>>,
}

impl Template<'_> {
    /// Estimates the tokens of its definition.
    pub(super) fn cost(&self) -> usize {
        let piece = |part: &Part| match part {
            Part::Text(text) => cost(text),
            Part::Value(_, Pad::None) => 1,
            Part::Value(..) => 3,
        };
        3 + self.parts.iter().map(piece).sum::<usize>()
    }

    /// Returns the number of uninterrupted runs of its rows.
    pub(super) fn runs(&self) -> usize {
        runs(&self.lines, self.height)
    }

    /// Returns true if each row is one word.
    pub(super) fn is_list(&self) -> bool {
        let is_word = |column: &Vec<&str>| column.iter().all(|value| !value.is_empty() && !value.contains(' '));
        let mut written = self.columns.iter().zip(&self.rules).filter(|(_, rule)| !rule.is_silent());
        // Rows that almost always count on are written together.
        let counts_on = |column: &[&str], rule: Rule| {
            let others = column.windows(2).filter(|pair| !rule.is_expected(pair[0], pair[1])).count();
            matches!(rule, Rule::Step(_)) && others * 10 < column.len()
        };
        self.lines.len() > MIN_SPLIT
            && matches!((written.next(), written.next()), (Some((column, rule)), None)
                if is_word(column) && !counts_on(column, *rule))
    }

    /// Returns true if most last values have blanks; they need quotes if another value follows.
    pub(super) fn ends_in_words(&self) -> bool {
        let blanks = |column: &Vec<&str>| column.iter().filter(|value| value.contains(' ')).count() * 2 > column.len();
        self.columns.last().is_some_and(blanks)
    }
}

fn runs(lines: &[usize], height: usize) -> usize {
    1 + lines.windows(2).filter(|pair| pair[0] + height != pair[1]).count()
}

/// Returns the templates of a layout: one, or several if these are cheaper and it may be divided so many times.
pub(super) fn templates<'t>(layout: &Layout<'t>, splits: usize) -> Vec<Template<'t>> {
    let all = Rows::of(layout, (0..layout.lines.len()).collect());
    divide(layout, all, splits).into_iter().map(|rows| rows.template(layout)).collect()
}

/// Rows that have a template of their own.
struct Rows<'t> {
    rows: Vec<usize>,
    /// The template of a sample of them.
    draft: Template<'t>,
    /// The estimated tokens of definition and rows; each run begins with the template's name.
    spends: usize,
}

impl<'t> Rows<'t> {
    fn of(layout: &Layout<'t>, rows: Vec<usize>) -> Self {
        let sample = column::sample(&rows);
        let draft = of_rows(layout, &sample);
        let spent = draft.spent.iter().sum::<usize>() * rows.len() / sample.len();
        let lines: Vec<usize> = rows.iter().map(|&row| layout.lines[row]).collect();
        Self { spends: draft.cost() + spent + runs(&lines, draft.height), draft, rows }
    }

    fn template(self, layout: &Layout<'t>) -> Template<'t> {
        if self.draft.lines.len() == self.rows.len() { self.draft } else { of_rows(layout, &self.rows) }
    }
}

fn divide<'t>(layout: &Layout<'t>, whole: Rows<'t>, depth: usize) -> Vec<Rows<'t>> {
    if depth == 0 {
        return vec![whole];
    }
    let spend = |parts: &[Rows]| parts.iter().map(|part| part.spends).sum::<usize>();
    for part in [by_value, by_beginning] {
        let Some(parts) = part(layout, &whole.rows) else { continue };
        let parts: Vec<Rows> = parts.into_iter().map(|rows| Rows::of(layout, rows)).collect();
        if parts.len() > MANY_PARTS && spend(&parts) >= whole.spends {
            continue;
        }
        let parts: Vec<Rows> = parts.into_iter().flat_map(|part| divide(layout, part, depth - 1)).collect();
        if spend(&parts) < whole.spends {
            return parts;
        }
    }
    vec![whole]
}

/// Divides the rows by the values of the column that seems to save most.
fn by_value(layout: &Layout, rows: &[usize]) -> Option<Vec<Vec<usize>>> {
    let mut least = 3 + layout.between.iter().map(|text| cost(text)).sum::<usize>();
    let mut varying = Vec::with_capacity(layout.columns.len());
    for column in &layout.columns {
        let first = column[rows[0]];
        if rows.iter().all(|&row| column[row] == first) {
            least += cost(first);
        } else {
            least += 2;
            varying.push(column);
        }
    }
    let mut best: Option<(usize, Vec<Vec<usize>>)> = None;
    for column in varying {
        let Some(values) = Values::of(rows.iter().map(|&row| column[row])) else { continue };
        let is_own: Vec<bool> = values
            .seen
            .iter()
            .map(|&(value, times)| times >= MIN_SPLIT && times * cost(value).max(1) > least)
            .collect();
        if !is_own.contains(&true) {
            continue;
        }
        let each =
            |(&(value, times), &is_own): (&(&str, usize), &bool)| if is_own { least } else { times * cost(value) };
        let spent = values.changes + values.seen.iter().zip(&is_own).map(each).sum::<usize>();
        // The value is written in each row, or once for all rows with it; the remaining rows may then be simpler.
        let column: Vec<&str> = values.of_rows.iter().map(|&value| values.seen[value].0).collect();
        let saved = (column::spent(&column, Rule::Above, usize::MAX) * 3 / 2).saturating_sub(spent);
        if saved == 0 || best.as_ref().is_some_and(|(most, _)| *most >= saved) {
            continue;
        }
        best = Some((saved, values.parts(rows, |value| is_own[value])));
    }
    best.map(|(_, parts)| parts)
}

/// Divides the rows by the start of their first value, up to its first punctuation. Rare starts stay together. `None`
/// if nothing is divided.
fn by_beginning(layout: &Layout, rows: &[usize]) -> Option<Vec<Vec<usize>>> {
    let beginning = |value: &str| {
        let mark = value.bytes().position(|byte| byte.is_ascii_punctuation())?;
        let behind = value[mark..].bytes().take_while(u8::is_ascii_punctuation).count();
        Some(mark + behind)
    };
    let column = layout.columns.first()?;
    let beginnings = rows.iter().map(|&row| beginning(column[row]).map_or("", |end| &column[row][..end]));
    let values = Values::of(beginnings)?;
    let is_own = |value: usize| values.seen[value].1 >= MIN_SPLIT && !values.seen[value].0.is_empty();
    let parts = values.parts(rows, is_own);
    (parts.len() > 1).then_some(parts)
}

/// The few values of a column.
struct Values<'t> {
    /// Each value, and its number of rows.
    seen: Vec<(&'t str, usize)>,
    /// The index of the value of each row.
    of_rows: Vec<usize>,
    /// The number of rows that differ from the row above, including the first.
    changes: usize,
}

impl<'t> Values<'t> {
    /// Returns `None` for a column of one value, or with more distinct values than half its rows.
    fn of(column: impl ExactSizeIterator<Item = &'t str>) -> Option<Self> {
        let most = column.len() / 2 + 1;
        let mut numbers: FastMap<&str, usize> = FastMap::default();
        let mut values = Self { seen: Vec::new(), of_rows: Vec::with_capacity(column.len()), changes: 0 };
        let mut above: Option<usize> = None;
        for value in column {
            let number = match above {
                Some(number) if values.seen[number].0 == value => number,
                _ => *numbers.entry(value).or_insert(values.seen.len()),
            };
            if number == values.seen.len() {
                if number == most {
                    return None;
                }
                values.seen.push((value, 0));
            }
            values.seen[number].1 += 1;
            values.changes += usize::from(above.replace(number) != Some(number));
            values.of_rows.push(number);
        }
        (values.seen.len() > 1).then_some(values)
    }

    /// Returns the rows of each value of its own, and those of all others together.
    fn parts(&self, rows: &[usize], is_own: impl Fn(usize) -> bool) -> Vec<Vec<usize>> {
        let mut parts: Vec<Vec<usize>> = vec![Vec::new(); self.seen.len() + 1];
        for (&row, &value) in rows.iter().zip(&self.of_rows) {
            parts[if is_own(value) { value } else { self.seen.len() }].push(row);
        }
        parts.retain(|rows| !rows.is_empty());
        parts.sort_unstable();
        parts
    }
}

fn of_rows<'t>(layout: &Layout<'t>, rows: &[usize]) -> Template<'t> {
    let lines = rows.iter().map(|&row| layout.lines[row]).collect();
    let mut builder = Builder { text: String::new(), template: Template { lines, height: 1, ..Template::default() } };
    for ((column, &pad), before) in layout.columns.iter().zip(&layout.pads).zip(&layout.between) {
        builder.text += before;
        builder.push_field(rows.iter().map(|&row| column[row]).collect(), pad);
    }
    builder.text += layout.between[layout.columns.len()];
    builder.flush();
    builder.template
}

struct Builder<'t> {
    /// Fixed text that no part holds yet.
    text: String,
    template: Template<'t>,
}

impl<'t> Builder<'t> {
    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.template.parts.push(Part::Text(std::mem::take(&mut self.text)));
        }
    }

    fn push_value(&mut self, column: Vec<&'t str>, (rule, spent): (Rule, usize), pad: Pad) {
        self.flush();
        let template = &mut self.template;
        template.parts.push(Part::Value(template.rules.len(), pad));
        template.rules.push(rule);
        template.spent.push(spent);
        template.columns.push(column);
    }

    fn push_field(&mut self, column: Vec<&'t str>, pad: Pad) {
        match pad {
            Pad::None => self.push_column(&column, true),
            Pad::Before(width) | Pad::Behind(width) => {
                if !is_constant(&column) {
                    return self.push_ruled(column, pad);
                }
                let blanks = " ".repeat(width.saturating_sub(column[0].chars().count()));
                if matches!(pad, Pad::Before(_)) {
                    self.text += &blanks;
                    self.text += column[0];
                } else {
                    self.text += column[0];
                    self.text += &blanks;
                }
            }
        }
    }

    fn push_ruled(&mut self, column: Vec<&'t str>, pad: Pad) {
        let rule = column::rule(&column, &self.template.columns);
        self.push_value(column, rule, pad);
    }

    /// Adds the shared text, and the varying parts as one value or several.
    fn push_column(&mut self, column: &[&'t str], may_split: bool) {
        if is_constant(column) {
            self.text += column[0];
            return;
        }
        let (prefix, column, suffix) = split_affixes(column);
        self.text += prefix;
        let (rule, whole) = column::rule(&column, &self.template.columns);
        match pieces(&column).filter(|_| may_split && whole > 0).and_then(|pieces| self.cheaper(&column, pieces, whole))
        {
            Some(pieces) => {
                for piece in pieces {
                    self.text += piece.before;
                    self.push_column(&piece.of(&column), false);
                }
            }
            None => self.push_value(column, (rule, whole), Pad::None),
        }
        self.text += suffix;
    }

    /// Returns the pieces if they are cheaper than the whole. Adjacent pieces without a rule are joined.
    fn cheaper(&self, column: &[&'t str], pieces: Vec<Piece<'t>>, whole: usize) -> Option<Vec<Piece<'t>>> {
        let mut joined: Vec<(Piece, bool)> = Vec::with_capacity(pieces.len());
        let mut spent = 0;
        for piece in pieces {
            let values = piece.of(column);
            let (rule, each) =
                if is_constant(&values) { (Rule::Above, 0) } else { column::rule(&values, &self.template.columns) };
            let alone: usize = values.iter().map(|value| cost(value)).sum();
            let is_free = each > 0 && rule == Rule::Above && each * 10 >= alone * 9;
            match joined.last_mut() {
                Some((last, true)) if is_free => {
                    last.ranges.iter_mut().zip(&piece.ranges).for_each(|(last, range)| last.1 = range.1);
                    spent += cost(piece.before) * values.len();
                }
                _ => joined.push((piece, is_free)),
            }
            spent += each;
        }
        (spent < whole && joined.len() > 1).then(|| joined.into_iter().map(|(piece, _)| piece).collect())
    }
}
