//! JSON and lines of JSON -> shape, what failed or stands out by value, scalars.
//!
//! The rows of the largest list of objects are what an agent asks about, wherever in the document the list lies.

mod odd;
mod read;

use indexmap::IndexSet;
use read::{Document, Node};

use super::sheet::{Sheet, clean};

/// Longest printed scalar.
const VALUE_ROOM: usize = 60;

/// Rows or members that are looked through for keys.
const LOOKED_THROUGH: usize = 1000;

/// How deep lists of objects are looked for.
const LIST_DEPTH: usize = 6;

/// Writes the summary; false when the text is not JSON for the most part.
pub(super) fn summarize(text: &str, sheet: &mut Sheet) -> bool {
    let document = read::read(text);
    if document.count == 0 || document.read < text.trim_end().len() / 2 {
        return false;
    }
    sheet.say(&headline(&document));
    let lines;
    let root = if document.count > 1 {
        let Document { roots, count, .. } = document;
        lines = Node::Array(roots, count);
        &lines
    } else {
        let Some(root) = document.roots.first() else { return true };
        root
    };
    let lists = lists(root);
    let rows: Vec<(&Node<'_>, &str, usize)> = lists
        .iter()
        .filter_map(
            |list| if let Node::Array(_, len) = list.node { Some((list.node, &*list.path, *len)) } else { None },
        )
        .collect();
    let (scalars, rest) = top_level(root);
    let failed_here = odd::failed_fields(root);
    if !failed_here.is_empty() {
        sheet.line(&format!("failed: {}", failed_here.join(", ")), sheet.share(60));
    }
    for &(list, path, _) in rows.iter().take(3) {
        odd::write(list, path, sheet);
    }
    if !scalars.is_empty() {
        sheet.list("values:", &scalars, sheet.share(60));
    }
    if !rest.is_empty() {
        sheet.list("holds:", &rest, sheet.share(60));
    }
    for &(list, path, len) in rows.iter().filter(|(_, path, _)| !path.is_empty()).take(4) {
        sheet.line(&format!("{path}: {len} × {}", keys_of_rows(list)), sheet.share(60));
    }
    true
}

fn headline(document: &Document<'_>) -> String {
    let shape = match document.roots.first() {
        _ if document.count > 1 => {
            let keys = if document.roots.iter().any(|root| matches!(root, Node::Object(..))) {
                format!(", each {}", keys_of(document.roots.iter()))
            } else {
                String::new()
            };
            format!("{} lines of JSON{keys}", document.count)
        }
        Some(root @ Node::Array(items, len)) => {
            let kind = items.first().map_or("nothing", kind_of);
            match items.first() {
                Some(Node::Object(..)) => format!("JSON array of {len} × {}", keys_of_rows(root)),
                _ if items.iter().all(|item| kind_of(item) == kind) && items.len() == *len => {
                    format!("JSON array of {len} {kind}")
                }
                _ => format!("JSON array of {len}"),
            }
        }
        Some(Node::Object(_, len)) => format!("JSON object, {len} keys"),
        Some(root) => format!("JSON {}", kind_of(root).trim_end_matches('s')),
        None => "JSON".to_owned(),
    };
    if document.complete { shape } else { format!("{shape}, incomplete") }
}

fn kind_of(node: &Node<'_>) -> &'static str {
    match node {
        Node::Null => "nulls",
        Node::Bool(_) => "booleans",
        Node::Number(_) => "numbers",
        Node::Text(_) => "strings",
        Node::Array(..) => "arrays",
        Node::Object(..) => "objects",
        Node::Skipped => "values",
    }
}

fn keys_of_rows(list: &Node<'_>) -> String {
    match list {
        Node::Array(items, _) => keys_of(items.iter()),
        _ => String::new(),
    }
}

/// `{id, name, tags[], owner{}}` for all keys of some rows.
fn keys_of<'n, 'a: 'n>(rows: impl Iterator<Item = &'n Node<'a>>) -> String {
    let mut keys: IndexSet<(&str, &str)> = IndexSet::new();
    for row in rows.take(LOOKED_THROUGH) {
        let Node::Object(fields, _) = row else { continue };
        for (key, value) in fields.iter().take(LOOKED_THROUGH) {
            let mark = match value {
                Node::Array(..) => "[]",
                Node::Object(..) => "{}",
                _ => "",
            };
            keys.insert((key, mark));
        }
    }
    let names: Vec<String> = keys.iter().take(60).map(|(key, mark)| format!("{}{mark}", clean(key, 40))).collect();
    let more = if keys.len() > 60 { ", …" } else { "" };
    format!("{{{}{more}}}", names.join(", "))
}

/// `key: value` of a scalar, as JSON; `None` for containers.
fn scalar(node: &Node<'_>) -> Option<String> {
    Some(match node {
        Node::Null => "null".to_owned(),
        Node::Bool(value) => value.to_string(),
        Node::Number(digits) => (*digits).to_owned(),
        Node::Text(words) => format!("\"{}\"", super::sheet::shorten(&clean(words, VALUE_ROOM + 1), VALUE_ROOM)),
        _ => return None,
    })
}

/// The members of an object, or of the only object in an array: its scalars, then what its containers hold.
fn top_level(root: &Node<'_>) -> (Vec<String>, Vec<String>) {
    let Node::Object(fields, _) = root else {
        return match root {
            Node::Array(items, 1) => items.first().map(top_level).unwrap_or_default(),
            Node::Array(items, _) => (items.iter().take(LOOKED_THROUGH).filter_map(scalar).collect(), Vec::new()),
            other => (scalar(other).into_iter().collect(), Vec::new()),
        };
    };
    let mut scalars = Vec::new();
    let mut rest = Vec::new();
    for (key, value) in fields.iter().take(LOOKED_THROUGH) {
        let key = clean(key, VALUE_ROOM);
        match value {
            Node::Array(_, len) => rest.push(format!("{key}[{len}]")),
            Node::Object(inner, len) => {
                let names: Vec<String> = inner.iter().take(8).map(|(name, _)| clean(name, VALUE_ROOM)).collect();
                let more = if *len > names.len() { ", …" } else { "" };
                rest.push(format!("{key}{{{}{more}}}", names.join(", ")));
            }
            other => scalars.extend(scalar(other).map(|value| format!("{key}: {value}"))),
        }
    }
    (scalars, rest)
}

struct List<'n, 'a> {
    node: &'n Node<'a>,
    path: String,
}

/// Lists of objects, the longest first; the root's path is empty. An object of objects is not a list: its keys matter.
fn lists<'n, 'a>(root: &'n Node<'a>) -> Vec<List<'n, 'a>> {
    let mut found = Vec::new();
    let mut left = LOOKED_THROUGH * 10;
    find_lists(root, String::new(), 0, &mut left, &mut found);
    found.sort_by_key(|list| match list.node {
        Node::Array(items, _) => std::cmp::Reverse(items.len()),
        _ => std::cmp::Reverse(0),
    });
    found
}

fn find_lists<'n, 'a>(node: &'n Node<'a>, path: String, depth: usize, left: &mut usize, found: &mut Vec<List<'n, 'a>>) {
    if depth > LIST_DEPTH || *left == 0 {
        return;
    }
    *left -= 1;
    match node {
        Node::Array(items, _) => {
            let objects = items.iter().filter(|item| matches!(item, Node::Object(..))).count();
            if objects > 1 && objects * 2 > items.len() {
                found.push(List { node, path });
            } else if let [only] = items.as_slice() {
                find_lists(only, format!("{path}[0]"), depth + 1, left, found);
            }
        }
        Node::Object(fields, _) => {
            for (key, value) in fields {
                let key = clean(key, VALUE_ROOM);
                let path = if path.is_empty() { key } else { format!("{path}.{key}") };
                find_lists(value, path, depth + 1, left, found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
