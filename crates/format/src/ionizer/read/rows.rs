//! The rows of a class -> the objects that they stand for.

use std::borrow::Cow;

use super::super::cells::{Cell, Lookup, Part, Rule, predict};
use super::super::notation::Around;
use super::super::path::Step;
use super::super::tree::{Id, Node};
use super::Reader;
use crate::naive::{Price, unread};

/// The most bytes that a template may make, besides the part that a row shows.
const MOST_MADE: usize = 1 << 16;

/// A row that is being read.
struct Draft<'d, 'r> {
    above: &'d [Vec<Cell<'r>>],
    cells: &'d [Option<Cell<'r>>],
}

impl<'r> Lookup<'r> for Draft<'_, 'r> {
    fn cell(&self, column: usize, back: usize) -> Option<&Cell<'r>> {
        match back {
            0 => self.cells[column].as_ref(),
            _ => self.above.get(self.above.len().checked_sub(back)?).map(|row| &row[column]),
        }
    }
}

impl<'r> Reader<'r> {
    /// Reads a line of a block, usually a row of its class.
    pub(super) fn line(&mut self, class: usize) -> Option<(Option<Cow<'r, str>>, Id)> {
        if self.take("|").is_none() {
            return self.row(class, Around::Row(self.classes[class].mark));
        }
        let name = self.until(|c| !c.is_ascii_uppercase());
        if !name.is_empty() {
            let own = self.class(name)?;
            self.take(" ")?;
            return self.row(own, Around::Row(self.classes[own].mark));
        }
        let key = if self.rest().starts_with('"') { Some(Cow::Borrowed(self.quoted()?)) } else { None };
        self.take(":")?;
        Some((key, self.value(Around::Line)?))
    }

    /// Reads a row; returns the record's own key, if it has one, and its node.
    pub(super) fn row(&mut self, class: usize, around: Around) -> Option<(Option<Cow<'r, str>>, Id)> {
        let columns = self.classes[class].rules.len();
        let mut cells: Vec<Option<Cell<'r>>> = vec![None; columns];
        let mut holes: Vec<Option<&str>> = vec![None; columns];
        let mut prices = vec![Price::default(); columns];
        let start = self.at;
        let mut is_first = true;
        for column in 0..columns {
            let (is_shown, has_hole) = self.classes[class].shown[column];
            if !is_shown {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                self.rest().starts_with(around.mark()).then(|| self.at += around.mark().len_utf8())?;
            }
            let is_empty = self.rest().chars().next().is_none_or(|c| around.ends(c));
            if has_hole {
                holes[column] = Some(self.quoted_or_bare(around)?);
            } else {
                (cells[column], prices[column]) = self.stated(is_empty, around)?;
            }
        }
        while self.take(";").is_some() {
            let name = self.name()?;
            let column = self.classes[class].short.iter().position(|own| *own == name)?;
            let is_absent = self.take("?").is_some();
            if !is_absent {
                self.take("=")?;
            }
            (cells[column], prices[column]) = self.stated(is_absent, around)?;
        }
        let is_blank = self.at == start;
        for column in 0..columns {
            self.resolve(class, column, (&mut cells, &mut prices), &holes, 0)?;
        }
        if is_blank {
            prices.fill(Price::UNREADABLE);
        }
        let cells: Vec<Cell<'r>> = cells.into_iter().collect::<Option<_>>()?;
        let made = self.record(class, &cells, &prices)?;
        self.classes[class].rows.push(cells);
        self.classes[class].prices.push(prices);
        Some(made)
    }

    /// Reads a cell that a row states.
    fn stated(&mut self, is_absent: bool, around: Around) -> Option<(Option<Cell<'r>>, Price)> {
        let names = self.names;
        let cell = if is_absent { Cell::Absent } else { self.cell_value(around)? };
        // The parts of a container are read one by one.
        let names = if matches!(cell, Cell::Node(_)) { 0 } else { self.names - names };
        Some((Some(cell), Price { names, ..Price::default() }))
    }

    /// Returns the price of a cell that its rule gives.
    fn price(&self, class: usize, column: usize, prices: &[Price]) -> Price {
        let above = |column: usize, back: usize| {
            let rows = &self.classes[class].prices;
            let price = rows.len().checked_sub(back).map_or(Price::UNREADABLE, |row| rows[row][column]);
            Price { rows: price.rows + back, ..price }
        };
        match &self.classes[class].rules[column] {
            Rule::Shown | Rule::Fixed(_) => Price::default(),
            Rule::Above { back, step } => Price { is_added: step.is_some(), ..above(column, *back) },
            Rule::Made(template) => {
                let mut price = Price { is_made: true, ..Price::default() };
                for (index, part) in template.parts.iter().enumerate() {
                    let Part::Ref { column, above: is_above, .. } = part else { continue };
                    let is_same = |part: &Part| matches!(part, Part::Ref { column: other, .. } if other == column);
                    if template.parts[..index].iter().any(is_same) {
                        continue;
                    }
                    let source = if *is_above { above(*column, 1) } else { prices[*column] };
                    price.names += source.names;
                    price.rows = price.rows.max(if source.is_made { Price::UNREADABLE.rows } else { source.rows });
                    price.is_added |= source.is_added;
                }
                price
            }
        }
    }

    fn resolve(
        &self,
        class: usize,
        column: usize,
        (cells, prices): (&mut [Option<Cell<'r>>], &mut [Price]),
        holes: &[Option<&str>],
        depth: usize,
    ) -> Option<()> {
        if cells[column].is_some() {
            return Some(());
        }
        if depth > cells.len().min(100) {
            return None;
        }
        let own = &self.classes[class];
        let rule = &own.rules[column];
        for needed in rule.needs() {
            self.resolve(class, needed, (cells, prices), holes, depth + 1)?;
        }
        let draft = Draft { above: &own.rows, cells };
        let hole = holes[column];
        let cell = predict(rule, column, hole, &draft)?;
        let made = cell.text().map_or(0, str::len);
        if matches!(rule, Rule::Made(_)) && made > MOST_MADE + hole.map_or(0, str::len) {
            return None;
        }
        cells[column] = Some(cell);
        prices[column] = self.price(class, column, prices);
        Some(())
    }

    /// Builds an object from the cells of a row.
    fn record(&mut self, class: usize, cells: &[Cell<'r>], prices: &[Price]) -> Option<(Option<Cow<'r, str>>, Id)> {
        let paths = std::mem::take(&mut self.classes[class].paths);
        let mut key = None;
        let mut leaves = Vec::with_capacity(paths.len());
        for ((path, cell), price) in paths.iter().zip(cells).zip(prices) {
            let is_read = !self.is_naive || price.is_low();
            match (&path[0], cell) {
                (Step::Own, Cell::Text { text, .. }) if is_read => key = Some(text.clone()),
                (Step::Own, Cell::Text { text, .. }) => key = Some(Cow::Owned(unread(text))),
                (Step::Own, _) => return None,
                (_, Cell::Absent) => {}
                (_, cell) => {
                    let id = self.node(cell.clone())?;
                    leaves.push((path.as_slice(), if is_read { id } else { self.as_read(id) }));
                }
            }
        }
        let id = self.object_of(&leaves, 0);
        self.classes[class].paths = paths;
        Some((key, id?))
    }

    /// Builds the object whose leaves' paths agree up to `depth`.
    fn object_of(&mut self, leaves: &[(&[Step<'r>], Id)], depth: usize) -> Option<Id> {
        let mut keys = Vec::with_capacity(leaves.len());
        let mut at = 0;
        while at < leaves.len() {
            let step = leaves[at].0.get(depth)?;
            let length = leaves[at..].iter().take_while(|(path, _)| path.get(depth) == Some(step)).count();
            let group = &leaves[at..at + length];
            let id = if group[0].0.len() == depth + 1 { group[0].1 } else { self.object_of(group, depth + 1)? };
            let Step::Key(key) = step else { return None };
            keys.push((key.clone(), id));
            at += length;
        }
        Some(self.tree.push(Node::Object(keys)))
    }
}
