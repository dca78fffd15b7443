//! A tree -> its record classes: objects with the same keys, wherever they are, as the rows of one table.
//!
//! Objects inside a record become columns of it (`user.name`) where they are all alike. The rows of a class are
//! numbered in the order in which their printing ends, so that a reader who copies from the row above always has that
//! row complete.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use concertina_format::ionizer::notation::MARKS;

use super::cells::{Cell, Rule};
use super::columns;
use super::fit::{Grid, Outcome};
use super::keys::{Keys, number_equal};
use super::path::{Step, follow_from};
use super::scan::{Id, Node, Tree};
use crate::tokens::{self, Encoding};
use concertina_base::hashing::FastMap;

/// Objects with the same keys.
#[derive(Debug)]
pub(super) struct Class<'a> {
    /// True if its records are the values of an object; then the first column is their key.
    pub(super) keyed: bool,
    /// The separator of the cells of a row.
    pub(super) mark: char,
    /// The path from the record to each column's value.
    pub(super) paths: Vec<Vec<Step<'static>>>,
    /// A name for each column.
    pub(super) names: Vec<String>,
    /// The cells of each column.
    pub(super) columns: Vec<Vec<Cell<'a>>>,
    /// The first node equal to each cell's value; the number of nodes if there is no value.
    pub(super) values: Vec<Vec<Id>>,
    /// Columns with records inside.
    pub(super) pinned: Vec<bool>,
    /// The rule of each column.
    pub(super) rules: Vec<Rule<'a>>,
    /// For each column and row, whether the row states the cell although the column has a rule.
    pub(super) stated: Vec<Vec<bool>>,
    /// For each column and row: the first row with the same cell.
    pub(super) firsts: Vec<Vec<usize>>,
}

/// The form in which each node is printed.
#[derive(Debug, Default)]
pub(super) struct Plan<'a> {
    /// The record classes.
    pub(super) classes: Vec<Class<'a>>,
    /// The class and row number of each record that is printed as a row.
    pub(super) rows: FastMap<Id, (usize, usize)>,
    /// Arrays and objects that are printed as rows, and the class of most of them.
    pub(super) blocks: FastMap<Id, usize>,
    /// The first equal node of each node.
    pub(super) same: Vec<Id>,
}

impl<'a> Plan<'a> {
    /// Plans a tree.
    pub(super) fn of(tree: &Tree<'a>, encoding: Encoding) -> Self {
        let keys = Keys::of(tree);
        let plan = Self { same: number_equal(tree, &keys), ..Self::default() };
        let mut plan = columns::plan(tree, &keys, plan);
        plan.drop_empty_classes();
        plan.number_rows(tree);
        let mut rows = vec![usize::MAX; tree.nodes.len() + 1];
        for class in &mut plan.classes {
            let values = class.values.iter().zip(&class.columns);
            class.firsts = values.map(|(values, cells)| first_rows(values, cells, &mut rows)).collect();
            class.values.clear();
            class.rules = class.grid().fit(encoding);
            let rules = class.rules.iter().enumerate();
            class.stated = rules.map(|(column, rule)| class.grid().stated(rule, column).collect()).collect();
            class.mark = class.cheapest_mark(encoding);
        }
        plan
    }

    fn drop_empty_classes(&mut self) {
        let used: HashSet<usize> = self.rows.values().map(|(class, _)| *class).collect();
        let mut number = 0;
        let mut numbers = HashMap::new();
        self.classes = std::mem::take(&mut self.classes)
            .into_iter()
            .enumerate()
            .filter(|(class, _)| used.contains(class))
            .map(|(class, kept)| {
                numbers.insert(class, number);
                number += 1;
                kept
            })
            .collect();
        let of_rows = self.rows.values_mut().map(|(class, _)| class);
        for class in of_rows.chain(self.blocks.values_mut()) {
            *class = numbers[class];
        }
    }

    fn number_rows(&mut self, tree: &Tree<'a>) {
        let members: FastMap<Id, usize> = self.rows.iter().map(|(id, (class, _))| (*id, *class)).collect();
        Order { tree, plan: self, members: &members }.visit(tree.root);
    }
}

impl<'a> Class<'a> {
    fn cheapest_mark(&self, encoding: Encoding) -> char {
        let grid = self.grid();
        let rows = self.columns.first().map_or(0, Vec::len);
        let spread = rows.div_ceil(64).max(1);
        let shown: Vec<(usize, &Rule<'_>)> =
            self.rules.iter().enumerate().filter(|(_, rule)| rule.is_shown()).collect();
        let cell = |row, (column, rule): (usize, &Rule<'a>)| match grid.outcome(rule, column, row) {
            Outcome::Residual(text) => text,
            _ => self.columns[column][row].text().unwrap_or(""),
        };
        let lines: Vec<Vec<&str>> = (0..rows)
            .step_by(spread)
            .map(|row| shown.iter().map(|(column, rule)| cell(row, (*column, *rule))).collect())
            .collect();
        let cost = |mark: char| {
            let mut text = String::new();
            for line in &lines {
                for cell in line {
                    let is_special = |byte| byte == b';' || char::from(byte) == mark;
                    let quote = if cell.bytes().any(is_special) { "\"" } else { "" };
                    text.extend([quote, cell, quote]);
                    text.push(mark);
                }
                text.pop();
                text.push('\n');
            }
            tokens::count(&text, encoding)
        };
        // The first of the cheapest: the usual mark, unless another saves something.
        std::iter::once(',').chain(MARKS).min_by_key(|mark| cost(*mark)).expect("there are marks")
    }

    /// Returns the cells as a table.
    pub(super) fn grid(&self) -> Grid<'_, 'a> {
        Grid { names: &self.names, columns: &self.columns, pinned: &self.pinned, firsts: &self.firsts }
    }
}

/// Returns for each row of a column the first row with the same cell. `rows` is a buffer with a place per value, reset
/// afterwards.
fn first_rows(values: &[Id], cells: &[Cell<'_>], rows: &mut [usize]) -> Vec<usize> {
    // A record's own key is no value of the tree.
    if values.first() == Some(&(rows.len() - 1)) && cells[0] != Cell::Absent {
        let mut first: FastMap<&Cell<'_>, usize> = FastMap::default();
        return cells.iter().enumerate().map(|(row, cell)| *first.entry(cell).or_insert(row)).collect();
    }
    let mut first = |(row, value): (usize, &Id)| {
        rows[*value] = rows[*value].min(row);
        rows[*value]
    };
    let firsts = values.iter().enumerate().map(&mut first).collect();
    values.iter().for_each(|value| rows[*value] = usize::MAX);
    firsts
}

/// Visits what is printed, in printing order, and gives each record its row and its cells.
struct Order<'o, 'a> {
    tree: &'o Tree<'a>,
    plan: &'o mut Plan<'a>,
    members: &'o FastMap<Id, usize>,
}

impl<'a> Order<'_, 'a> {
    /// Visits a node; returns true if there are records inside.
    fn visit(&mut self, id: Id) -> bool {
        match &self.tree.nodes[id] {
            Node::Scalar { .. } => false,
            Node::Array(items) => items.iter().fold(false, |found, item| self.visit(*item) | found),
            Node::Object(items) => match self.members.get(&id) {
                Some(class) => {
                    self.record(id, *class, None);
                    true
                }
                None => items.iter().fold(false, |found, (key, item)| match self.members.get(item) {
                    Some(class) if self.plan.classes[*class].keyed => {
                        self.record(*item, *class, Some(key));
                        true
                    }
                    _ => self.visit(*item) | found,
                }),
            },
        }
    }

    fn record(&mut self, id: Id, class: usize, key: Option<&Cow<'a, str>>) {
        let tree = self.tree;
        let paths = &self.plan.classes[class].paths;
        let mut likely = 0;
        let values: Vec<Option<Id>> = paths.iter().map(|path| follow_from(tree, id, path, &mut likely)).collect();
        let mut cells = Vec::with_capacity(values.len());
        for (column, value) in values.iter().copied().enumerate() {
            cells.push(match value.map(|value| (value, &tree.nodes[value])) {
                None => Cell::Absent,
                Some((_, Node::Scalar { quoted, text })) => Cell::Text { quoted: *quoted, text: text.clone() },
                Some((_, Node::Array(items))) if items.is_empty() => Cell::literal("[]"),
                Some((_, Node::Object(items))) if items.is_empty() => Cell::literal("{}"),
                Some((value, _)) => {
                    if self.visit(value) {
                        self.plan.classes[class].pinned[column] = true;
                    }
                    Cell::Node(self.plan.same[value])
                }
            });
        }
        let own = &mut self.plan.classes[class];
        if own.keyed {
            cells[0] = Cell::Text { quoted: true, text: key.expect("records of a keyed class have a key").clone() };
        }
        self.plan.rows.insert(id, (class, own.columns.first().map_or(0, Vec::len)));
        for (column, cell) in own.columns.iter_mut().zip(cells) {
            column.push(cell);
        }
        for (column, value) in own.values.iter_mut().zip(values) {
            column.push(value.map_or(self.plan.same.len(), |value| self.plan.same[value]));
        }
    }
}
