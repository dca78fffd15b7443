//! Groups of records -> the classes that are worth a table, their columns, and the containers that are printed as rows.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::groups::{Groups, MOST_COLUMNS, Signature, one_order};
use super::keys::Keys;
use super::path::{Step, name_of};
use super::records::{Class, Plan};
use super::scan::{Id, Node, Tree};
use concertina_base::hashing::{FastMap, FastSet};

/// Adds classes, their records and their blocks to a plan.
pub(super) fn plan<'a>(tree: &Tree<'a>, keys: &Keys<'_>, plan: Plan<'a>) -> Plan<'a> {
    let groups = Groups::of(tree, keys);
    let maps = groups.maps.iter().copied().collect();
    let flattened = FastSet::default();
    let mut builder = Builder { tree, plan, lists: keys, members: groups.members, keys: groups.keys, maps, flattened };
    builder.classes(&groups.classes);
    builder.choose_blocks();
    builder.plan
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
                stated: Vec::new(),
                firsts: Vec::new(),
                paths,
                names,
            });
        }
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

    /// Adds the columns of objects: one per key, or those inside its values.
    fn object_columns(
        &mut self,
        keys: &[String],
        rows: &[Option<Id>],
        path: &mut Vec<Step<'static>>,
        found: &mut Vec<Vec<Step<'static>>>,
    ) {
        let place: FastMap<&str, usize> = keys.iter().enumerate().map(|(at, key)| (key.as_str(), at)).collect();
        let mut children: Vec<Vec<Option<Id>>> = vec![vec![None; rows.len()]; keys.len()];
        // The positions of each list's keys among all keys.
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
            && present.iter().all(|id| !self.plan.rows.contains_key(id));
        if free && let Some(keys) = self.shared_keys(&present) {
            self.flattened.extend(&present);
            return self.object_columns(&keys, rows, path, found);
        }
        found.push(path.clone());
    }

    /// Returns the keys of similar objects in one order; `None` if the objects differ too much.
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
}
