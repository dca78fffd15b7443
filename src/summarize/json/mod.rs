//! JSON and lines of JSON -> shape, failures, scalars, categories and extremes of columns.
//!
//! An agent mostly asks about the rows of the largest list of objects, wherever it is in the document.

mod members;
mod rows;

use indexmap::{IndexMap, IndexSet};
use members::Members;

use super::keys::NAMING;
use super::sheet::{Sheet, quote};
use crate::content::json_tree::{self, Document, Node};
use crate::tokens::utf16;

/// The most characters of a printed key.
const KEY_ROOM: usize = 40;

/// The most characters of a printed scalar.
const VALUE_ROOM: usize = 60;

/// The most characters of the printed message of a failure.
const SENTENCE_ROOM: usize = 120;

/// The most values that are searched for lists.
const LOOKED_THROUGH: usize = 10_000;

/// The fewest characters in which a list of keys is useful.
const LEAST_KEYS: usize = 24;

/// The fewest objects in an object that is read as a list with its keys as labels.
const LEAST_LABELLED: usize = 8;

/// The deepest level at which lists of objects are searched.
const LIST_DEPTH: usize = 6;

/// Writes the summary, and returns false if less than half of the text is JSON.
pub(super) fn summarize(text: &str, sheet: &mut Sheet) -> bool {
    let document = json_tree::read(text);
    if document.count == 0 || document.read < text.trim_end().len() / 2 {
        return false;
    }
    let rest = if document.complete { "" } else { ", incomplete" };
    sheet.say(&format!("{}{rest}", headline(&document, sheet.share(40))));
    if let Some(note) = document.note {
        sheet.line(note, sheet.share(40));
    }
    let lines;
    let root = if document.count > 1 {
        let Document { roots, count, .. } = document;
        lines = Node::Array(roots, count);
        &lines
    } else {
        let Some(root) = document.roots.first() else { return true };
        root
    };
    let members = Members::of(root);
    if !members.failure.is_empty() {
        sheet.line(&format!("naming a failure: {}", members.failure.join(", ")), sheet.share(60));
    }
    if !members.scalars.is_empty() {
        sheet.list("values:", &members.scalars, sheet.share(50));
    }
    let lists = lists(root);
    for list in lists.iter().take(3) {
        let extremes = rows::write(list, sheet);
        if let Some((key, names)) = names_of_rows(&list.rows) {
            sheet.list(&format!("{}{key}:", list.prefix()), &names, sheet.share(40));
        } else if !list.labels.is_empty() {
            sheet.list(&format!("{}keys:", list.prefix()), &list.labels, sheet.share(40));
        }
        sheet.list("", &extremes, sheet.share(40));
    }
    if !members.containers.is_empty() {
        sheet.list("holds:", &members.containers, sheet.share(60));
    }
    for list in lists.iter().filter(|list| !list.path.is_empty()).take(4) {
        let label = format!("{}: {} × ", list.path, list.len);
        let room = sheet.share(60).saturating_sub(utf16::len(&label));
        if room >= LEAST_KEYS {
            sheet.line(&format!("{label}{}", keys_of(list.rows.iter().copied(), room)), usize::MAX);
        }
    }
    true
}

fn headline(document: &Document<'_>, room: usize) -> String {
    match document.roots.first() {
        _ if document.count > 1 => {
            let keys = if document.roots.iter().any(|root| matches!(root, Node::Object(..))) {
                format!(", each {}", keys_of(&document.roots, room))
            } else {
                String::new()
            };
            format!("{} lines of JSON{keys}", document.count)
        }
        Some(Node::Array(items, len)) => {
            let kind = items.first().map_or("nothing", kind_of);
            match items.first() {
                Some(Node::Object(..)) => format!("JSON array of {len} × {}", keys_of(items, room)),
                _ if items.iter().all(|item| kind_of(item) == kind) && items.len() == *len => {
                    format!("JSON array of {len} {kind}")
                }
                _ => format!("JSON array of {len}"),
            }
        }
        Some(Node::Object(fields, len)) if is_labelled(fields) => {
            format!("JSON object, {len} keys, each {}", keys_of(fields.iter().map(|(_, value)| value), room))
        }
        Some(Node::Object(_, len)) => format!("JSON object, {len} keys"),
        Some(root) => format!("JSON {}", kind_of(root).trim_end_matches('s')),
        None => "JSON".to_owned(),
    }
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

/// Returns `{id, name, tags[], owner{}?}` for all keys of some rows, in at most `room` characters. Rows may lack a key
/// with `?`.
fn keys_of<'n, 'a: 'n>(rows: impl IntoIterator<Item = &'n Node<'a>>, room: usize) -> String {
    // The number of rows that have a key, and the last of them. A row that was not read whole lacks nothing.
    let mut keys: IndexMap<(&str, &str), (usize, usize)> = IndexMap::new();
    let mut count = 0;
    for (index, row) in rows.into_iter().enumerate() {
        let (fields, is_whole) = match row {
            Node::Object(fields, len) => (fields.as_slice(), fields.len() == *len),
            other => (&[][..], !matches!(other, Node::Skipped)),
        };
        count += usize::from(is_whole);
        for (key, value) in fields {
            let mark = match value {
                Node::Array(..) => "[]",
                Node::Object(..) => "{}",
                _ => "",
            };
            let (having, last) = keys.entry((key, mark)).or_insert((0, usize::MAX));
            *having += usize::from(is_whole && *last != index);
            *last = index;
        }
    }
    let mut written = String::new();
    let mut left = room.saturating_sub(8);
    for (shown, ((key, mark), (having, _))) in keys.iter().enumerate() {
        let optional = if *having < count { "?" } else { "" };
        let name = format!("{}{}{mark}{optional}", if shown == 0 { "" } else { ", " }, quote(key, 40));
        let cost = utf16::len(&name);
        if cost > left {
            return format!("{{{written} …+{}}}", keys.len() - shown);
        }
        left -= cost;
        written.push_str(&name);
    }
    format!("{{{written}}}")
}

/// Returns the key and the values of the field that names the rows of a list, one that differs from row to row.
fn names_of_rows(rows: &[&Node<'_>]) -> Option<(String, Vec<String>)> {
    NAMING.iter().find_map(|wanted| {
        let mut key = None;
        let mut names = IndexSet::new();
        for row in rows {
            let Some((found, value)) = field(row, wanted) else { continue };
            key.get_or_insert(found);
            names.extend(scalar(value));
        }
        let is_naming = names.len() > 1 && names.len() * 10 >= rows.len() * 8;
        is_naming.then(|| (quote(key.unwrap_or(wanted), 40), names.into_iter().collect()))
    })
}

/// Returns a field of a row, or of its `metadata`.
fn field<'n, 'a>(row: &'n Node<'a>, name: &str) -> Option<(&'a str, &'n Node<'a>)> {
    let Node::Object(fields, _) = row else { return None };
    let find =
        |name: &str| fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(key, value)| (*key, value));
    find(name).or_else(|| field(find("metadata")?.1, name))
}

/// Returns `key: value` of a member, as [`scalar`] writes the value. An explanation of a failure has room for a
/// sentence.
fn member(key: &str, value: &Node<'_>) -> Option<String> {
    let room = if rows::is_explaining(key) { SENTENCE_ROOM } else { VALUE_ROOM };
    Some(format!("{}: {}", quote(key, KEY_ROOM), scalar_within(value, room)?))
}

/// Returns a scalar as JSON, or `None` for containers.
fn scalar(node: &Node<'_>) -> Option<String> {
    scalar_within(node, VALUE_ROOM)
}

fn scalar_within(node: &Node<'_>, room: usize) -> Option<String> {
    Some(match node {
        Node::Null => "null".to_owned(),
        Node::Bool(value) => value.to_string(),
        Node::Number(digits) => (*digits).to_owned(),
        Node::Text(words) => format!("\"{}\"", quote(words, room)),
        _ => return None,
    })
}

/// Returns true if an object has many members that are objects, and most of its members are.
fn is_labelled(fields: &[(&str, Node<'_>)]) -> bool {
    let objects = fields.iter().filter(|(_, value)| matches!(value, Node::Object(..))).count();
    objects >= LEAST_LABELLED && objects * 2 > fields.len()
}

/// A list of objects somewhere in the document, or an object of many objects.
struct List<'n, 'a> {
    rows: Vec<&'n Node<'a>>,
    /// The keys of the rows in an object.
    labels: Vec<String>,
    /// The number of rows, read or not.
    len: usize,
    /// The path of the list, empty for the root.
    path: String,
}

impl List<'_, '_> {
    /// Returns the prefix of the names of its fields, such as `items.`.
    fn prefix(&self) -> String {
        if self.path.is_empty() { String::new() } else { format!("{}.", self.path) }
    }

    /// Returns the place of a row: `items[17]`, or `services.web` in an object.
    fn place(&self, row: usize) -> String {
        match self.labels.get(row) {
            Some(label) => format!("{}{label}", self.prefix()),
            None => format!("{}[{row}]", self.path),
        }
    }
}

/// Returns the lists of objects, the longest first.
fn lists<'n, 'a>(root: &'n Node<'a>) -> Vec<List<'n, 'a>> {
    let mut found = Vec::new();
    let mut left = LOOKED_THROUGH;
    find_lists(root, String::new(), 0, &mut left, &mut found);
    found.sort_by_key(|list| std::cmp::Reverse(list.rows.len()));
    found
}

fn find_lists<'n, 'a>(node: &'n Node<'a>, path: String, depth: usize, left: &mut usize, found: &mut Vec<List<'n, 'a>>) {
    if depth > LIST_DEPTH || *left == 0 {
        return;
    }
    *left -= 1;
    match node {
        Node::Array(rows, len) => {
            let objects = rows.iter().filter(|row| matches!(row, Node::Object(..))).count();
            let least = if path.is_empty() { 2 } else { 3 };
            if objects >= least && objects * 2 > rows.len() {
                found.push(List { rows: rows.iter().collect(), labels: Vec::new(), len: *len, path });
            } else if let [only] = rows.as_slice() {
                find_lists(only, format!("{path}[0]"), depth + 1, left, found);
            }
        }
        Node::Object(fields, len) => {
            if is_labelled(fields) {
                let labels = fields.iter().map(|(key, _)| quote(key, VALUE_ROOM)).collect();
                let rows = fields.iter().map(|(_, value)| value).collect();
                found.push(List { rows, labels, len: *len, path: path.clone() });
            }
            for (key, value) in fields {
                if matches!(value, Node::Array(..) | Node::Object(..)) {
                    let key = quote(key, VALUE_ROOM);
                    let path = if path.is_empty() { key } else { format!("{path}.{key}") };
                    find_lists(value, path, depth + 1, left, found);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(text: &str) -> String {
        let mut sheet = Sheet::new(400);
        assert!(summarize(text, &mut sheet), "{text}");
        sheet.finish()
    }

    #[test]
    fn a_failed_state_is_counted_and_named_under_any_key_in_any_order() {
        const KEYS: [&str; 5] = ["Action", "event_kind", "checkStatus", "lastWord", "x"];
        for (key, naming) in KEYS.iter().zip(["Test", "name", "taskName", "unit-id", "PACKAGE"]) {
            for failure in ["fail", "FAILED", "crashed", "timed_out", "Rejected"] {
                let words = ["begin", "going on", failure, "end"];
                for turn in 0..12 {
                    let row = |at: usize| {
                        let mut members = [
                            format!("\"{key}\": \"{}\"", words[(at + turn) % 4]),
                            format!("\"{naming}\": \"unit{at}\""),
                            format!("\"size\": {at}"),
                        ];
                        members.rotate_left(turn % 3);
                        format!("{{{}}}\n", members.join(", "))
                    };
                    let text: String = (0..12).map(row).collect();
                    let first = (0..12).find(|at| words[(at + turn) % 4] == failure).expect("each word has rows");
                    let expected = format!("{key}: \"{failure}\" 3×: \"unit{first}\"");
                    let found = summary(&text);
                    assert!(found.contains(&expected) && found.contains("3 naming a failure: "), "{expected}\n{found}");
                }
            }
        }
    }
}
