//! The objects of a tree -> those that may be records of one class: in one container, and alike enough.

use std::collections::{BTreeMap, HashMap};

use super::keys::Keys;
use super::scan::{Id, Node, Tree};
use concertina_base::hashing::{FastMap, FastSet};

/// Most columns of a class.
pub(super) const MOST_COLUMNS: usize = 512;

/// True if the record has a key of its own, and its keys.
pub(super) type Signature = (bool, Vec<String>);

/// The signatures that form classes.
#[derive(Default)]
pub(super) struct Groups {
    /// Objects whose values are records.
    pub(super) maps: Vec<Id>,
    /// Signatures of each class-to-be, and its keys in one order.
    pub(super) classes: Vec<usize>,
    pub(super) members: BTreeMap<usize, Vec<Id>>,
    pub(super) keys: HashMap<usize, Signature>,
}

struct Collector<'c, 'a> {
    tree: &'c Tree<'a>,
    lists: &'c Keys<'c>,
    /// The number of each list of keys, with and without a key of the record's own.
    signatures: FastMap<(bool, usize), usize>,
    by_number: Vec<Signature>,
    members: Vec<Vec<Id>>,
    maps: Vec<Id>,
    /// Links each signature to the one that represents its class.
    link: Vec<usize>,
}

impl Groups {
    pub(super) fn of(tree: &Tree<'_>, lists: &Keys<'_>) -> Self {
        let mut collector = Collector {
            tree,
            lists,
            signatures: FastMap::default(),
            by_number: Vec::new(),
            members: Vec::new(),
            maps: Vec::new(),
            link: Vec::new(),
        };
        collector.walk();
        collector.finish()
    }
}

impl<'a> Collector<'_, 'a> {
    fn walk(&mut self) {
        let mut stack = vec![(self.tree.root, false)];
        while let Some((id, keyed)) = stack.pop() {
            match &self.tree.nodes[id] {
                Node::Scalar { .. } => {}
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

    /// Puts the records of a container in one class if they are similar enough; returns true if it did.
    fn unite(&mut self, items: impl Iterator<Item = Id> + Clone, keyed: bool) -> bool {
        let all = items.clone().count();
        let is_record = |id: &Id| matches!(&self.tree.nodes[*id], Node::Object(items) if !items.is_empty());
        let items: Vec<Id> = items.filter(is_record).collect();
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

/// Merges lists of keys into one order; returns it, and for each list whether it is in that order.
pub(super) fn one_order<'k>(lists: impl Iterator<Item = &'k [String]> + Clone) -> (Vec<String>, Vec<bool>) {
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
