//! A tree -> its record classes: objects with the same keys, wherever they are, as the rows of one table.
//!
//! Objects inside a record become columns of it (`user.name`) where they are all alike, and so do short lists of the same
//! length (`tags[0]`). The rows of a class are numbered in the order in which their printing ends, so that a reader who copies
//! from the row above always has that row complete.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{Hash, Hasher};

use super::cells::{Cell, Rule};
use super::fit::{Grid, LastLike, Outcome, last_like};
use super::scan::{Id, Node, Tree};
use crate::pipeline::hashing::{FastHasher, FastMap, FastSet, FastState, first_like};
use crate::tokens::{self, Encoding};

/// A step from a record to a value inside it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Step<'k> {
    /// The key under which the record itself stands.
    Own,
    /// Into an object.
    Key(Cow<'k, str>),
    /// Into an array.
    Index(usize),
}

/// Objects with the same keys.
#[derive(Debug)]
pub(super) struct Class<'a> {
    /// Whether its records are the values of an object; then the first column is their key.
    pub(super) keyed: bool,
    /// What stands between the cells of a row.
    pub(super) mark: char,
    /// From the record to each column's value.
    pub(super) paths: Vec<Vec<Step<'static>>>,
    /// A name for each column.
    pub(super) names: Vec<String>,
    /// The cells of each column.
    pub(super) columns: Vec<Vec<Cell<'a>>>,
    /// The first node equal to the value of each cell; what stands for none where there is no value.
    values: Vec<Vec<Id>>,
    /// Columns with records inside.
    pub(super) pinned: Vec<bool>,
    /// How each column's cells come about.
    pub(super) rules: Vec<Rule<'a>>,
    /// For columns that others are alike by: the last row above with the same cell.
    pub(super) last_like: LastLike,
    /// For each column and row: the first row with the same cell.
    pub(super) firsts: Vec<Vec<usize>>,
}

/// What is printed how.
#[derive(Debug, Default)]
pub(super) struct Plan<'a> {
    /// Subtrees that are printed once, above all else: the number of each, by the first equal node.
    pub(super) shared: FastMap<Id, usize>,
    /// A node for each of them.
    pub(super) entries: Vec<Id>,
    /// The record classes.
    pub(super) classes: Vec<Class<'a>>,
    /// Which records are rows: class and row number.
    pub(super) rows: FastMap<Id, (usize, usize)>,
    /// Arrays and objects that are printed as rows, and the class of most of them.
    pub(super) blocks: FastMap<Id, usize>,
    /// The first equal node of each node.
    pub(super) same: Vec<Id>,
}

/// Fewest bytes of a repeated subtree that is printed once.
const SHARED_BYTES: usize = 80;
/// What may stand between the cells of a row instead of a comma.
pub(super) const MARKS: [char; 2] = [' ', '\t'];
/// Most columns of a class.
const MOST_COLUMNS: usize = 512;

impl<'a> Plan<'a> {
    /// Plans a tree.
    pub(super) fn of(tree: &Tree<'a>, encoding: Encoding) -> Self {
        let keys = Keys::of(tree);
        let (same, sizes) = number_equal(tree, &keys);
        let mut plan = Self { same, ..Self::default() };
        plan.share(tree, &sizes);
        let groups = Groups::of(tree, &plan, &keys);
        let maps: FastSet<Id> = groups.maps.iter().copied().collect();
        let mut builder = Builder {
            tree,
            plan,
            lists: &keys,
            members: groups.members,
            keys: groups.keys,
            maps,
            flattened: FastSet::default(),
        };
        builder.classes(&groups.classes);
        builder.choose_blocks();
        let mut plan = builder.plan;
        plan.drop_empty_classes();
        plan.number_rows(tree);
        let mut rows = vec![usize::MAX; tree.nodes.len() + 1];
        for class in &mut plan.classes {
            let values = class.values.iter().zip(&class.columns);
            class.firsts = values.map(|(values, cells)| first_rows(values, cells, &mut rows)).collect();
            class.values.clear();
            class.last_like = last_like(&class.columns, &class.firsts);
            class.rules = class.grid().fit(encoding);
            class.mark = class.cheapest_mark(encoding);
        }
        plan
    }

    /// Whether a node is printed as a reference to an entry.
    pub(super) fn entry(&self, id: Id) -> Option<usize> {
        if self.shared.is_empty() { None } else { self.shared.get(&self.same[id]).copied() }
    }

    /// Chooses the subtrees that are printed once.
    fn share(&mut self, tree: &Tree<'a>, sizes: &[usize]) {
        let mut counts: FastMap<Id, usize> = FastMap::default();
        let mut rows: FastSet<Id> = FastSet::default();
        let mut stack = vec![tree.root];
        while let Some(id) = stack.pop() {
            if matches!(tree.nodes[id], Node::Scalar { .. }) {
                continue;
            }
            let count = counts.entry(self.same[id]).or_default();
            *count += 1;
            // The inside of a repeat is not printed again.
            if *count > 1 && sizes[id] >= SHARED_BYTES && !rows.contains(&id) {
                continue;
            }
            let items = tree.nodes[id].children();
            if items.clone().all(|item| matches!(tree.nodes[item], Node::Object(_))) && items.clone().count() >= 3 {
                rows.extend(items.clone());
            }
            stack.extend(items.rev());
        }
        let in_rows: FastSet<Id> = rows.iter().map(|id| self.same[*id]).collect();
        let mut chosen: Vec<Id> = counts
            .into_iter()
            .filter(|(id, count)| {
                *count > 1 && sizes[*id] >= SHARED_BYTES && !in_rows.contains(id) && *id != self.same[tree.root]
            })
            .map(|(id, _)| id)
            .collect();
        chosen.sort_unstable();
        self.shared = chosen.iter().enumerate().map(|(number, id)| (*id, number)).collect();
        self.entries = chosen;
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
        let mut order = Order { tree, plan: self, members: &members };
        for index in 0..order.plan.entries.len() {
            order.visit(order.plan.entries[index], true);
        }
        order.visit(tree.root, true);
    }
}

impl<'a> Class<'a> {
    /// Whether a row says what its rule implies, so that a reader need not count from the top: every tenth row of a sequence.
    pub(super) fn is_milestone(&self, column: usize, row: usize) -> bool {
        let is_sequence = |rule: &Rule<'_>| matches!(rule, Rule::Above { step: Some(_), .. });
        row.is_multiple_of(10) && is_sequence(&self.rules[column]) && !self.rules[..column].iter().any(is_sequence)
    }

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

    /// Its cells as a table.
    pub(super) fn grid(&self) -> Grid<'_, 'a> {
        Grid {
            names: &self.names,
            columns: &self.columns,
            pinned: &self.pinned,
            last_like: &self.last_like,
            firsts: &self.firsts,
        }
    }
}

/// For each row of a column: the first row with the same cell. `rows` has a place for each value, and keeps nothing.
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

/// The node at the end of a path.
pub(super) fn follow(tree: &Tree<'_>, record: Id, path: &[Step<'_>]) -> Option<Id> {
    follow_from(tree, record, path, &mut 0)
}

/// The same. `likely` is where the first key may be, and becomes where it is: paths are in the order of the keys.
fn follow_from(tree: &Tree<'_>, record: Id, path: &[Step<'_>], likely: &mut usize) -> Option<Id> {
    let mut at = record;
    for (depth, step) in path.iter().enumerate() {
        at = match (step, &tree.nodes[at]) {
            (Step::Key(key), Node::Object(items)) => {
                let start = if depth == 0 { (*likely).min(items.len()) } else { 0 };
                let mut places = (start..items.len()).chain(0..start);
                let place = places.find(|place| items[*place].0 == *key)?;
                if depth == 0 {
                    *likely = place;
                }
                items[place].1
            }
            (Step::Index(index), Node::Array(items)) => *items.get(*index)?,
            _ => return None,
        };
    }
    Some(at)
}

/// Visits what is printed, in printing order, and gives each record its row and its cells.
struct Order<'o, 'a> {
    tree: &'o Tree<'a>,
    plan: &'o mut Plan<'a>,
    members: &'o FastMap<Id, usize>,
}

impl<'a> Order<'_, 'a> {
    /// Returns whether there are records inside.
    fn visit(&mut self, id: Id, is_entry: bool) -> bool {
        if !is_entry && self.plan.entry(id).is_some() {
            return false;
        }
        match &self.tree.nodes[id] {
            Node::Scalar { .. } => false,
            Node::Inner { root, .. } => self.visit(*root, false),
            Node::Array(items) => items.iter().fold(false, |found, item| self.visit(*item, false) | found),
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
                    _ => self.visit(*item, false) | found,
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
                    if self.visit(value, false) {
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

/// Which keys the objects of a tree have. A list of keys is a number here, so that it is hashed and compared only once.
#[derive(Default)]
struct Keys<'t> {
    /// The list of each node; for what is no object, one that is not there.
    of: Vec<usize>,
    lists: Vec<Vec<&'t str>>,
    /// Whether a key comes twice in each list.
    has_twins: Vec<bool>,
}

impl<'t> Keys<'t> {
    fn of(tree: &'t Tree<'_>) -> Self {
        let mut keys = Self { of: Vec::with_capacity(tree.nodes.len()), ..Self::default() };
        let mut known: FastMap<Vec<&str>, usize> = FastMap::default();
        // Most objects have the keys of the last one with as many.
        let mut latest: FastMap<usize, usize> = FastMap::default();
        for node in &tree.nodes {
            let Node::Object(items) = node else {
                keys.of.push(usize::MAX);
                continue;
            };
            let own = items.iter().map(|(key, _)| &**key);
            let like = latest.get(&items.len()).filter(|list| own.clone().eq(keys.lists[**list].iter().copied()));
            let list = like.copied().unwrap_or_else(|| {
                let own: Vec<&str> = own.collect();
                *known.entry(own).or_insert_with_key(|own| {
                    keys.has_twins.push(has_twins(own));
                    keys.lists.push(own.clone());
                    keys.lists.len() - 1
                })
            });
            latest.insert(items.len(), list);
            keys.of.push(list);
        }
        keys
    }
}

/// The first equal node of each node, and the bytes of its leaves.
fn number_equal(tree: &Tree<'_>, keys: &Keys<'_>) -> (Vec<Id>, Vec<usize>) {
    let mut known: FastMap<u64, Id> = FastMap::with_capacity_and_hasher(tree.nodes.len() / 4, FastState::default());
    let mut same: Vec<Id> = Vec::with_capacity(tree.nodes.len());
    let mut sizes: Vec<usize> = Vec::with_capacity(tree.nodes.len());
    for (id, node) in tree.nodes.iter().enumerate() {
        let mut hasher = FastHasher::default();
        let size = match node {
            Node::Scalar { quoted, text } => {
                (quoted, text).hash(&mut hasher);
                text.len() + 2 * usize::from(*quoted)
            }
            Node::Inner { raw, root, line_end } => {
                (same[*root], line_end).hash(&mut hasher);
                raw.len()
            }
            Node::Array(items) => {
                items.iter().for_each(|item| hasher.write_usize(same[*item]));
                items.iter().map(|item| sizes[*item] + 1).sum()
            }
            Node::Object(items) => {
                hasher.write_usize(keys.of[id]);
                items.iter().for_each(|(_, item)| hasher.write_usize(same[*item]));
                items.iter().map(|(key, item)| key.len() + sizes[*item] + 2).sum()
            }
        };
        let is_it = |first: Id| is_equal((first, &tree.nodes[first]), (id, node), keys, &same);
        let first = first_like(&mut known, hasher.finish(), is_it, || id);
        same.push(first);
        sizes.push(size);
    }
    (same, sizes)
}

/// Whether two nodes are equal, of which all that is inside is numbered.
fn is_equal((a_id, a): (Id, &Node<'_>), (b_id, b): (Id, &Node<'_>), keys: &Keys<'_>, same: &[Id]) -> bool {
    let is_same = |a: Id, b: Id| same[a] == same[b];
    match (a, b) {
        (Node::Scalar { quoted: a_quoted, text: a }, Node::Scalar { quoted: b_quoted, text: b }) => {
            a_quoted == b_quoted && a == b
        }
        (Node::Inner { root: a, line_end: a_end, .. }, Node::Inner { root: b, line_end: b_end, .. }) => {
            is_same(*a, *b) && a_end == b_end
        }
        (Node::Array(a), Node::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(*a, *b)),
        (Node::Object(a), Node::Object(b)) => {
            keys.of[a_id] == keys.of[b_id] && a.iter().zip(b).all(|((_, a), (_, b))| is_same(*a, *b))
        }
        _ => false,
    }
}

/// The keys of a record, and whether it has one itself.
type Signature = (bool, Vec<String>);

/// Which signatures belong together.
#[derive(Default)]
struct Groups {
    /// Objects whose values are records.
    maps: Vec<Id>,
    /// Signatures of each class-to-be, and its keys in one order.
    classes: Vec<usize>,
    members: BTreeMap<usize, Vec<Id>>,
    keys: HashMap<usize, (bool, Vec<String>)>,
}

struct Collector<'c, 'a> {
    tree: &'c Tree<'a>,
    plan: &'c Plan<'a>,
    lists: &'c Keys<'c>,
    /// The number of each list of keys, with and without a key of the record's own.
    signatures: FastMap<(bool, usize), usize>,
    by_number: Vec<Signature>,
    members: Vec<Vec<Id>>,
    maps: Vec<Id>,
    /// Links to the signature that stands for the class.
    link: Vec<usize>,
}

impl Groups {
    fn of<'a>(tree: &Tree<'a>, plan: &Plan<'a>, lists: &Keys<'_>) -> Self {
        let mut collector = Collector {
            tree,
            plan,
            lists,
            signatures: FastMap::default(),
            by_number: Vec::new(),
            members: Vec::new(),
            maps: Vec::new(),
            link: Vec::new(),
        };
        let roots = plan.entries.iter().map(|id| (*id, true)).chain([(tree.root, true)]);
        for (root, _) in roots.collect::<Vec<_>>() {
            collector.walk(root);
        }
        collector.finish()
    }
}

impl<'a> Collector<'_, 'a> {
    fn walk(&mut self, root: Id) {
        let mut stack = vec![(root, false)];
        let mut first = true;
        while let Some((id, keyed)) = stack.pop() {
            if !std::mem::take(&mut first) && self.plan.entry(id).is_some() {
                continue;
            }
            match &self.tree.nodes[id] {
                Node::Scalar { .. } => {}
                Node::Inner { root, .. } => stack.push((*root, false)),
                Node::Array(items) => {
                    if items.len() > 1 {
                        self.unite(items.iter().copied(), false);
                    }
                    stack.extend(items.iter().rev().map(|item| (*item, false)));
                }
                Node::Object(items) => {
                    let is_map = items.len() > 2 && self.unite(items.iter().map(|(_, item)| *item), true);
                    if is_map {
                        self.maps.push(id);
                    }
                    if !is_map && let Some(number) = self.number(id, keyed) {
                        self.members[number].push(id);
                    }
                    stack.extend(items.iter().rev().map(|(_, item)| (*item, is_map)));
                }
            }
        }
    }

    fn number(&mut self, id: Id, keyed: bool) -> Option<usize> {
        let Node::Object(items) = &self.tree.nodes[id] else { return None };
        if items.is_empty() || items.len() > MOST_COLUMNS {
            return None;
        }
        let list = self.lists.of[id];
        let signature = (keyed, list);
        if let Some(number) = self.signatures.get(&signature) {
            return Some(*number);
        }
        if self.lists.has_twins[list] {
            return None;
        }
        let number = self.by_number.len();
        self.by_number.push((keyed, self.lists.lists[list].iter().map(|&key| key.to_owned()).collect()));
        self.members.push(Vec::new());
        self.link.push(number);
        self.signatures.insert(signature, number);
        Some(number)
    }

    /// Puts the records of a container in one class, where they are alike enough.
    fn unite(&mut self, items: impl Iterator<Item = Id> + Clone, keyed: bool) -> bool {
        let all = items.clone().count();
        let items = items.filter(|id| {
            matches!(&self.tree.nodes[*id], Node::Object(items) if !items.is_empty()) && self.plan.entry(*id).is_none()
        });
        let items: Vec<Id> = items.collect();
        if items.len() * 5 < all * if keyed { 4 } else { 2 } || items.len() < 2 {
            return false;
        }
        let mut union: FastSet<&str> = FastSet::default();
        let mut total = 0;
        let mut count = 0;
        let mut seen: FastSet<usize> = FastSet::default();
        for id in &items {
            let list = self.lists.of[*id];
            let keys = &self.lists.lists[list];
            total += keys.len();
            count += 1;
            if seen.insert(list) {
                union.extend(keys);
            }
        }
        if union.len() > MOST_COLUMNS || total * 7 < count * union.len() {
            return false;
        }
        // A map of maps by arbitrary keys has no columns.
        if keyed && total == count && union.len() == 1 && count < 8 {
            return false;
        }
        let mut numbers = Vec::new();
        for id in items {
            numbers.extend(self.number(id, keyed));
        }
        for pair in numbers.windows(2).filter(|pair| pair[0] != pair[1]) {
            let (a, b) = (self.root(pair[0]), self.root(pair[1]));
            self.link[a.max(b)] = a.min(b);
        }
        true
    }

    fn root(&mut self, mut number: usize) -> usize {
        while self.link[number] != number {
            self.link[number] = self.link[self.link[number]];
            number = self.link[number];
        }
        number
    }

    fn finish(mut self) -> Groups {
        let mut by_root: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for number in 0..self.by_number.len() {
            let root = self.root(number);
            by_root.entry(root).or_default().push(number);
        }
        let mut groups = Groups { maps: std::mem::take(&mut self.maps), ..Groups::default() };
        for (_, mut numbers) in by_root {
            numbers.sort_by_key(|number| std::cmp::Reverse(self.members[*number].len()));
            // Records whose keys come in another order are a class of their own; after a few, too odd to be one.
            for _ in 0..8 {
                if numbers.is_empty() {
                    break;
                }
                let (keys, fitting) = one_order(numbers.iter().map(|number| self.by_number[*number].1.as_slice()));
                let mut fits = fitting.iter();
                let (taken, rest): (Vec<usize>, Vec<usize>) =
                    numbers.iter().partition(|_| *fits.next().expect("one answer for each"));
                // At least the first list keeps its order.
                let name = taken[0];
                let mut members: Vec<Id> =
                    taken.iter().flat_map(|number| std::mem::take(&mut self.members[*number])).collect();
                members.sort_unstable();
                groups.keys.insert(name, (self.by_number[name].0, keys));
                groups.members.insert(name, members);
                groups.classes.push(name);
                numbers = rest;
            }
        }
        groups
    }
}

/// Merges lists of keys into one order; says which lists keep their own order in it.
fn one_order<'k>(lists: impl Iterator<Item = &'k [String]> + Clone) -> (Vec<String>, Vec<bool>) {
    let mut order: Vec<String> = Vec::new();
    let mut place: HashMap<String, usize> = HashMap::new();
    for list in lists.clone() {
        let unknown = list.iter().filter(|key| !place.contains_key(*key)).count();
        if unknown == 0 || order.len() + unknown > 2 * MOST_COLUMNS {
            continue;
        }
        let mut after = 0;
        let mut changed = Vec::new();
        for key in list {
            match place.get(key) {
                Some(at) => after = *at + 1,
                None => changed.push((after, key.clone())),
            }
        }
        for (at, key) in changed.into_iter().rev() {
            order.insert(at, key);
        }
        place = order.iter().enumerate().map(|(at, key)| (key.clone(), at)).collect();
    }
    let fitting = lists
        .map(|list| {
            let places: Option<Vec<usize>> = list.iter().map(|key| place.get(key).copied()).collect();
            places.is_some_and(|places| places.is_sorted())
        })
        .collect();
    (order, fitting)
}

struct Builder<'b, 'a> {
    tree: &'b Tree<'a>,
    plan: Plan<'a>,
    lists: &'b Keys<'b>,
    members: BTreeMap<usize, Vec<Id>>,
    keys: HashMap<usize, Signature>,
    /// Objects whose values are records.
    maps: FastSet<Id>,
    /// Containers that are part of a record's row.
    flattened: FastSet<Id>,
}

impl<'a> Builder<'_, 'a> {
    fn classes(&mut self, groups: &[usize]) {
        // Parents have larger ids than what is in them, so outer records come first.
        let mut order: Vec<usize> = groups.to_vec();
        order.sort_by_key(|group| std::cmp::Reverse(self.members[group].iter().max().copied().unwrap_or(0)));
        let mut waiting: Vec<(bool, Vec<String>, Vec<Id>)> = Vec::new();
        for group in order {
            let (keyed, keys) = self.keys[&group].clone();
            waiting.push((keyed, keys, std::mem::take(self.members.get_mut(&group).expect("each group has members"))));
        }
        waiting.reverse();
        while let Some((keyed, keys, mut records)) = waiting.pop() {
            records.retain(|id| !self.flattened.contains(id));
            let worth = match records.len() {
                0 | 1 => false,
                2 => keys.len() >= 6,
                3..8 => keys.len() >= 2 || keyed,
                _ => true,
            };
            if !worth {
                continue;
            }
            if let Some(parts) = self.split(&keys, &records) {
                waiting.extend(parts.into_iter().rev().map(|records| (keyed, keys.clone(), records)));
                continue;
            }
            let class = self.plan.classes.len();
            let mut paths = Vec::new();
            if keyed {
                paths.push(vec![Step::Own]);
            }
            let present: Vec<Option<Id>> = records.iter().copied().map(Some).collect();
            self.object_columns(&keys, &present, &mut Vec::new(), &mut paths);
            if paths.len() > MOST_COLUMNS {
                continue;
            }
            for id in &records {
                self.plan.rows.insert(*id, (class, 0));
            }
            let names = paths.iter().map(|path| name_of(path)).collect::<Vec<_>>();
            self.plan.classes.push(Class {
                keyed,
                mark: ',',
                columns: vec![Vec::new(); paths.len()],
                values: vec![Vec::new(); paths.len()],
                pinned: vec![false; paths.len()],
                rules: Vec::new(),
                last_like: LastLike::default(),
                firsts: Vec::new(),
                paths,
                names,
            });
        }
    }

    /// Parts of a class whose records each have objects with the same keys under one key, where that makes few parts.
    fn split(&self, keys: &[String], records: &[Id]) -> Option<Vec<Vec<Id>>> {
        for key in keys {
            let mut parts: Vec<Vec<Id>> = Vec::new();
            let mut numbers: FastMap<usize, usize> = FastMap::default();
            let mut children = Vec::new();
            for id in records {
                let Node::Object(items) = &self.tree.nodes[*id] else { break };
                let Some((_, child)) = items.iter().find(|(own, _)| own == key) else { break };
                let Node::Object(inner) = &self.tree.nodes[*child] else { break };
                if inner.is_empty() || self.maps.contains(child) || self.plan.entry(*child).is_some() {
                    break;
                }
                children.push(*child);
                let part = *numbers.entry(self.lists.of[*child]).or_insert(parts.len());
                if part == parts.len() {
                    parts.push(Vec::new());
                }
                parts[part].push(*id);
            }
            let whole = children.len() == records.len();
            if whole && parts.len() > 1 && parts.len() * 5 <= records.len() && self.shared_keys(&children).is_none() {
                return Some(parts);
            }
        }
        None
    }

    /// Chooses the containers that are printed as rows. Records with a key of their own are rows there or not at all.
    fn choose_blocks(&mut self) {
        let keyed = |plan: &Plan<'_>, class: usize| plan.classes[class].keyed;
        let mut in_blocks: FastSet<Id> = FastSet::default();
        for (id, node) in self.tree.nodes.iter().enumerate() {
            let is_map = matches!(node, Node::Object(_));
            if is_map && !self.maps.contains(&id) {
                continue;
            }
            if matches!(node, Node::Scalar { .. }) {
                continue;
            }
            let items = node.children();
            let mut length = 0;
            let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
            for item in items.clone() {
                length += 1;
                if self.plan.entry(item).is_some() {
                    continue;
                }
                if let Some((class, _)) = self.plan.rows.get(&item) {
                    *counts.entry(*class).or_default() += 1;
                }
            }
            let rows: usize = counts.values().sum();
            let most = counts.iter().max_by_key(|(class, count)| (**count, std::cmp::Reverse(**class)));
            match most {
                Some((class, _)) if rows * 2 >= length && keyed(&self.plan, *class) == is_map => {
                    self.plan.blocks.insert(id, *class);
                    in_blocks.extend(items);
                }
                _ if is_map => {
                    for item in items {
                        self.plan.rows.remove(&item);
                    }
                }
                _ => {}
            }
        }
        // In parentheses, a record of one column is no shorter than the object.
        let Plan { rows, classes, .. } = &mut self.plan;
        rows.retain(|id, (class, _)| classes[*class].paths.len() > 1 || in_blocks.contains(id));
    }

    /// The columns of objects, one for each key or for what is inside its values.
    fn object_columns(
        &mut self,
        keys: &[String],
        rows: &[Option<Id>],
        path: &mut Vec<Step<'static>>,
        found: &mut Vec<Vec<Step<'static>>>,
    ) {
        let place: FastMap<&str, usize> = keys.iter().enumerate().map(|(at, key)| (key.as_str(), at)).collect();
        let mut children: Vec<Vec<Option<Id>>> = vec![vec![None; rows.len()]; keys.len()];
        // Where each key of a list is among all keys.
        let mut places: FastMap<usize, Vec<usize>> = FastMap::default();
        for (row, record) in rows.iter().enumerate() {
            let Some(id) = *record else { continue };
            let Node::Object(items) = &self.tree.nodes[id] else { continue };
            let list = self.lists.of[id];
            let places =
                places.entry(list).or_insert_with(|| self.lists.lists[list].iter().map(|key| place[key]).collect());
            for ((_, item), place) in items.iter().zip(places) {
                children[*place][row] = Some(*item);
            }
        }
        for (key, children) in keys.iter().zip(children) {
            path.push(Step::Key(key.clone().into()));
            self.value_columns(&children, path, found);
            path.pop();
        }
    }

    fn value_columns(
        &mut self,
        rows: &[Option<Id>],
        path: &mut Vec<Step<'static>>,
        found: &mut Vec<Vec<Step<'static>>>,
    ) {
        let present: Vec<Id> = rows.iter().copied().flatten().collect();
        let free = present.len() > 1
            && matches!(self.tree.nodes[present[0]], Node::Array(_) | Node::Object(_))
            && path.len() < 16
            && found.len() < MOST_COLUMNS
            && present.iter().all(|id| self.plan.entry(*id).is_none() && !self.plan.rows.contains_key(id));
        if free && let Some(keys) = self.shared_keys(&present) {
            self.flattened.extend(&present);
            return self.object_columns(&keys, rows, path, found);
        }
        if free && let Some(length) = self.shared_length(&present) {
            self.flattened.extend(&present);
            for index in 0..length {
                let items: Vec<Option<Id>> = rows
                    .iter()
                    .map(|id| match &self.tree.nodes[(*id)?] {
                        Node::Array(items) => Some(items[index]),
                        _ => None,
                    })
                    .collect();
                path.push(Step::Index(index));
                self.value_columns(&items, path, found);
                path.pop();
            }
            return;
        }
        found.push(path.clone());
    }

    /// The keys of objects that are alike, in one order.
    fn shared_keys(&self, objects: &[Id]) -> Option<Vec<String>> {
        let mut lists: Vec<Vec<String>> = Vec::new();
        let mut seen: FastSet<usize> = FastSet::default();
        let mut total = 0;
        for id in objects {
            let Node::Object(items) = &self.tree.nodes[*id] else { return None };
            if items.is_empty() || self.maps.contains(id) {
                return None;
            }
            total += items.len();
            let list = self.lists.of[*id];
            if seen.insert(list) {
                if self.lists.has_twins[list] {
                    return None;
                }
                lists.push(self.lists.lists[list].iter().map(|&key| key.to_owned()).collect());
            }
        }
        let union: HashSet<&String> = lists.iter().flatten().collect();
        if union.len() > 64 || total * 5 < objects.len() * union.len() * 2 {
            return None;
        }
        let (order, fitting) = one_order(lists.iter().map(Vec::as_slice));
        fitting.into_iter().all(|fits| fits).then_some(order)
    }

    /// The length of arrays that all have the same one and no containers inside.
    fn shared_length(&self, arrays: &[Id]) -> Option<usize> {
        let mut length = None;
        for id in arrays {
            let Node::Array(items) = &self.tree.nodes[*id] else { return None };
            let scalars = items.iter().all(|item| matches!(self.tree.nodes[*item], Node::Scalar { .. }));
            if !scalars || *length.get_or_insert(items.len()) != items.len() {
                return None;
            }
        }
        length.filter(|length| (1..=128).contains(length))
    }
}

/// Whether a key comes twice.
fn has_twins(keys: &[&str]) -> bool {
    keys.iter().collect::<FastSet<_>>().len() < keys.len()
}

/// `user.name`, `tags[0]`, `@` for the record's own key; keys with other characters in quotes.
pub(super) fn name_of(path: &[Step<'_>]) -> String {
    let mut name = String::new();
    for step in path {
        match step {
            Step::Own => name.push('@'),
            Step::Index(index) => name.push_str(&format!("[{index}]")),
            Step::Key(key) => {
                if !name.is_empty() {
                    name.push('.');
                }
                if is_plain(key) {
                    name.push_str(key);
                } else {
                    name.push('"');
                    name.push_str(key);
                    name.push('"');
                }
            }
        }
    }
    name
}

/// Reads a name back.
pub(super) fn path_of(name: &str) -> Option<Vec<Step<'_>>> {
    if name == "@" {
        return Some(vec![Step::Own]);
    }
    let mut path = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        if let Some(index) = rest.strip_prefix('[') {
            let close = index.find(']')?;
            path.push(Step::Index(index[..close].parse().ok()?));
            rest = &index[close + 1..];
            continue;
        }
        if !path.is_empty() {
            rest = rest.strip_prefix('.')?;
        }
        let length = if rest.starts_with('"') {
            super::scan::string_end(rest, 0)?
        } else {
            rest.find(['.', '[']).unwrap_or(rest.len())
        };
        let key = rest[..length].strip_prefix('"').and_then(|key| key.strip_suffix('"')).unwrap_or(&rest[..length]);
        path.push(Step::Key(Cow::Borrowed(key)));
        rest = &rest[length..];
    }
    (!path.is_empty()).then_some(path)
}

/// Whether a key needs no quotes in a column name.
fn is_plain(key: &str) -> bool {
    !key.is_empty()
        && key.len() < 100
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | ' ' | '/' | '(' | ')' | '%' | '#'))
        && !key.starts_with(' ')
        && !key.ends_with([' ', '/'])
}
