//! The lists of keys and the equal nodes of a tree, numbered once so that comparisons are cheap.

use std::hash::{Hash, Hasher};

use super::scan::{Id, Node, Tree};
use concertina_base::hashing::{FastHasher, FastMap, FastSet, FastState, find_or_insert};

/// The lists of keys that the objects of a tree have, numbered.
#[derive(Default)]
pub(super) struct Keys<'t> {
    /// The list of each node; `usize::MAX` for a node that is not an object.
    pub(super) of: Vec<usize>,
    /// The keys of each list.
    pub(super) lists: Vec<Vec<&'t str>>,
    /// True for each list in which a key occurs twice.
    pub(super) has_twins: Vec<bool>,
}

impl<'t> Keys<'t> {
    pub(super) fn of(tree: &'t Tree<'_>) -> Self {
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

/// Returns the first equal node of each node.
pub(super) fn number_equal(tree: &Tree<'_>, keys: &Keys<'_>) -> Vec<Id> {
    let mut known: FastMap<u64, Id> = FastMap::with_capacity_and_hasher(tree.nodes.len() / 4, FastState);
    let mut same: Vec<Id> = Vec::with_capacity(tree.nodes.len());
    for (id, node) in tree.nodes.iter().enumerate() {
        let mut hasher = FastHasher::default();
        match node {
            Node::Scalar { quoted, text } => (quoted, text).hash(&mut hasher),
            Node::Array(items) => items.iter().for_each(|item| hasher.write_usize(same[*item])),
            Node::Object(items) => {
                hasher.write_usize(keys.of[id]);
                items.iter().for_each(|(_, item)| hasher.write_usize(same[*item]));
            }
        }
        let is_it = |first: Id| is_equal((first, &tree.nodes[first]), (id, node), keys, &same);
        let first = find_or_insert(&mut known, hasher.finish(), is_it, || id);
        same.push(first);
    }
    same
}

/// Returns true if two nodes are equal; everything inside them must be numbered.
fn is_equal((a_id, a): (Id, &Node<'_>), (b_id, b): (Id, &Node<'_>), keys: &Keys<'_>, same: &[Id]) -> bool {
    let is_same = |a: Id, b: Id| same[a] == same[b];
    match (a, b) {
        (Node::Scalar { quoted: a_quoted, text: a }, Node::Scalar { quoted: b_quoted, text: b }) => {
            a_quoted == b_quoted && a == b
        }
        (Node::Array(a), Node::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(*a, *b)),
        (Node::Object(a), Node::Object(b)) => {
            keys.of[a_id] == keys.of[b_id] && a.iter().zip(b).all(|((_, a), (_, b))| is_same(*a, *b))
        }
        _ => false,
    }
}

/// Returns true if a key occurs twice.
fn has_twins(keys: &[&str]) -> bool {
    keys.iter().collect::<FastSet<_>>().len() < keys.len()
}
