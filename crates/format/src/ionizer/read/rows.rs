//! The rows of a class -> the objects that they stand for.

use std::borrow::Cow;

use super::super::cells::{Cell, Lookup, Rule, predict};
use super::super::notation::Around;
use super::super::path::Step;
use super::super::tree::{Id, Node};
use super::Reader;

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
                cells[column] = Some(if is_empty { Cell::Absent } else { self.cell_value(around)? });
            }
        }
        while self.take(";").is_some() {
            let name = self.name()?;
            let column = self.classes[class].short.iter().position(|own| *own == name)?;
            cells[column] = Some(if self.take("?").is_some() {
                Cell::Absent
            } else {
                self.take("=")?;
                self.cell_value(around)?
            });
        }
        for column in 0..columns {
            self.resolve(class, column, &mut cells, &holes, 0)?;
        }
        let cells: Vec<Cell<'r>> = cells.into_iter().collect::<Option<_>>()?;
        let made = self.record(class, &cells)?;
        self.classes[class].rows.push(cells);
        Some(made)
    }

    fn resolve(
        &self,
        class: usize,
        column: usize,
        cells: &mut [Option<Cell<'r>>],
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
            self.resolve(class, needed, cells, holes, depth + 1)?;
        }
        let draft = Draft { above: &own.rows, cells };
        let hole = holes[column];
        let cell = predict(rule, column, hole, &draft)?;
        let made = cell.text().map_or(0, str::len);
        if matches!(rule, Rule::Made(_)) && made > MOST_MADE + hole.map_or(0, str::len) {
            return None;
        }
        cells[column] = Some(cell);
        Some(())
    }

    /// Builds an object from the cells of a row.
    fn record(&mut self, class: usize, cells: &[Cell<'r>]) -> Option<(Option<Cow<'r, str>>, Id)> {
        let paths = std::mem::take(&mut self.classes[class].paths);
        let mut key = None;
        let mut leaves = Vec::with_capacity(paths.len());
        for (path, cell) in paths.iter().zip(cells) {
            match (&path[0], cell) {
                (Step::Own, Cell::Text { text, .. }) => key = Some(text.clone()),
                (Step::Own, _) => return None,
                (_, Cell::Absent) => {}
                (_, cell) => leaves.push((path.as_slice(), self.node(cell.clone())?)),
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
