//! The path from a record to a value inside it, and the name of the column made from it: `user.name`.

use std::borrow::Cow;

use super::tree::{Id, Node, Tree, string_end};

/// A step from a record to a value inside it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step<'k> {
    /// The record's own key.
    Own,
    /// The key of an object inside the record.
    Key(Cow<'k, str>),
}

/// Returns the node at the end of a path.
pub fn follow(tree: &Tree<'_>, record: Id, path: &[Step<'_>]) -> Option<Id> {
    follow_from(tree, record, path, &mut 0)
}

/// Does the same as [`follow`], trying the first key at `likely` first and updating it: paths are in the order of the
/// keys.
pub fn follow_from(tree: &Tree<'_>, record: Id, path: &[Step<'_>], likely: &mut usize) -> Option<Id> {
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
            _ => return None,
        };
    }
    Some(at)
}

/// Returns the name of a path: `user.name`, or `@` for the record's own key. Keys with other characters are quoted.
pub fn name_of(path: &[Step<'_>]) -> String {
    let mut name = String::new();
    for step in path {
        match step {
            Step::Own => name.push('@'),
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

/// Reads the output of [`name_of`] back.
pub fn path_of(name: &str) -> Option<Vec<Step<'_>>> {
    if name == "@" {
        return Some(vec![Step::Own]);
    }
    let mut path = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        if !path.is_empty() {
            rest = rest.strip_prefix('.')?;
        }
        let length = if rest.starts_with('"') { string_end(rest, 0)? } else { rest.find('.').unwrap_or(rest.len()) };
        let key = rest[..length].strip_prefix('"').and_then(|key| key.strip_suffix('"')).unwrap_or(&rest[..length]);
        path.push(Step::Key(Cow::Borrowed(key)));
        rest = &rest[length..];
    }
    (!path.is_empty()).then_some(path)
}

/// Returns true if a key needs no quotes in a column name.
fn is_plain(key: &str) -> bool {
    !key.is_empty()
        && key.len() < 100
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | ' ' | '/' | '(' | ')' | '%' | '#'))
        && !key.starts_with(' ')
        && !key.ends_with([' ', '/'])
}
