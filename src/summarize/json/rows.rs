//! Rows -> those that failed, and the facts on their columns.

use indexmap::IndexMap;

use super::super::columns::{Column, MOST_COLUMNS};
use super::super::keys::{NAMING, is_failed_state, is_level, is_one_of, is_verdict, last_word};
use super::super::sheet::{Sheet, quote, shorten};
use super::{KEY_ROOM, List, field, member, scalar};
use crate::content::json_tree::Node;
use crate::content::severity::is_failure_key;

/// The deepest level of nested objects in a row that is read.
const ROW_DEPTH: usize = 3;

/// The fewest rows with facts on columns.
const FEW_ROWS: usize = 8;

/// The most rows of each kind that are quoted.
const QUOTED: usize = 12;

/// The most characters of a quoted row.
const ROW_ROOM: usize = 160;

/// Keys that explain the state of an answer, besides the keys of failures.
const EXPLANATION_KEYS: &[&str] =
    &["code", "message", "msg", "detail", "error_code", "errorcode", "error_description", "statuscode", "status_code"];

const CODE_KEYS: &[&str] = &["exit_code", "exitcode", "returncode", "return_code"];

const SUCCESS_KEYS: &[&str] = &["ok", "success", "succeeded", "passed", "healthy", "ready", "valid", "available"];

/// Returns true if a member gives the state of its object.
pub(super) fn is_state(key: &str) -> bool {
    is_verdict(key) || is_level(key)
}

/// Returns `key: value` of each member that reports a failure of this object. The keys of `states` give states
/// besides those that [`is_state`] knows.
pub(super) fn failed_fields(node: &Node<'_>, states: &[&str]) -> Vec<String> {
    let Node::Object(fields, _) = node else { return Vec::new() };
    let is_failed = |key: &str, value: &Node<'_>| match value {
        Node::Text(words) if states.contains(&key) => is_failed_state(words),
        _ => is_failure(key, value),
    };
    fields
        .iter()
        .filter(|(key, value)| is_failed(key, value))
        .filter_map(|(key, value)| {
            member(key, value).or_else(|| Some(format!("{}: {}", quote(key, KEY_ROOM), shown(value)?)))
        })
        .collect()
}

fn shown(value: &Node<'_>) -> Option<String> {
    match value {
        Node::Object(fields, _) => {
            let (explaining, others): (Vec<_>, Vec<_>) = fields.iter().partition(|(key, _)| is_explaining(key));
            let told = explaining.into_iter().chain(others).filter_map(|(key, value)| member(key, value));
            let told: Vec<String> = told.take(4).collect();
            Some(format!("{{{}}}", told.join(", ")))
        }
        Node::Array(items, _) => {
            let inner: Vec<String> = items.iter().filter_map(shown).take(2).collect();
            Some(format!("[{}]", inner.join(", ")))
        }
        other => scalar(other),
    }
}

/// Returns true if a member explains a state: in words, or by a code.
pub(super) fn is_explaining(key: &str) -> bool {
    is_failure_key(key) || is_one_of(key, EXPLANATION_KEYS)
}

/// Returns true if a member reports that its object failed.
pub(super) fn is_failure(key: &str, value: &Node<'_>) -> bool {
    match value {
        Node::Text(words) if is_state(key) => is_failed_state(words),
        Node::Text(words) => is_failure_key(key) && !words.is_empty(),
        Node::Number(digits) if is_one_of(key, CODE_KEYS) => *digits != "0",
        Node::Number(digits) if is_one_of(key, &["status", "statuscode", "status_code"]) => {
            digits.len() == 3 && digits.starts_with(['4', '5'])
        }
        Node::Number(_) => false,
        Node::Bool(false) => is_one_of(key, SUCCESS_KEYS),
        Node::Bool(true) => is_failure_key(key) || is_one_of(key, &["is_error", "iserror"]),
        Node::Array(items, _) => is_failure_key(key) && !items.is_empty(),
        Node::Object(fields, _) => is_failure_key(key) && !fields.is_empty(),
        Node::Null | Node::Skipped => false,
    }
}

/// Writes the failed rows of a list and the categories of its columns; returns the extremes of its columns.
pub(super) fn write(list: &List<'_, '_>, sheet: &mut Sheet) -> Vec<String> {
    let List { rows, len, .. } = list;
    if rows.len() < *len {
        sheet.line(&format!("only the first {} of {len} read", rows.len()), usize::MAX);
    }
    let columns = columns(rows);
    let states: Vec<&str> = columns.values().filter(|(_, column)| column.is_state()).map(|(key, _)| *key).collect();
    let mut failed = Vec::new();
    let mut failures = 0usize;
    // The names of the rows of each failed state. A level is mostly that of a finding, which has no name.
    let mut named: IndexMap<String, Vec<String>> = IndexMap::new();
    let is_told_by_name = |reason: &str| {
        let member = reason.strip_suffix('"').and_then(|member| member.split_once(": \""));
        member.is_some_and(|(key, value)| !is_level(key) && is_failed_state(value))
    };
    for (index, row) in rows.iter().enumerate() {
        let mut reasons = Vec::new();
        collect_failures(row, 0, &states, &mut reasons);
        if !reasons.is_empty() {
            failures += 1;
            if let Some(state) = reasons.iter().find(|reason| is_told_by_name(reason)) {
                let name = name_of(row).map_or_else(|| list.place(index), |(_, name)| name);
                named.entry(state.clone()).or_default().push(name);
            }
            if failed.len() < QUOTED {
                failed.push(quoted_row(&list.place(index), row, &reasons));
            }
        }
    }
    for (state, names) in named.iter().filter(|(_, names)| names.len() > 1).take(QUOTED) {
        sheet.list(&format!("{state} {}×:", names.len()), names, sheet.share(40));
    }
    // If most rows failed, only the first is quoted.
    if failures * 2 > rows.len().max(2) {
        failed.truncate(1);
    }
    sheet.failures(failures, failed, sheet.share(60));
    let categories = columns.iter().filter_map(|(name, (_, column))| column.categories(name));
    sheet.list("", &Vec::from_iter(categories), sheet.share(40));
    columns.iter().filter_map(|(name, (_, column))| column.extremes(name)).collect()
}

fn collect_failures(row: &Node<'_>, depth: usize, states: &[&str], reasons: &mut Vec<String>) {
    let Node::Object(fields, _) = row else { return };
    reasons.extend(failed_fields(row, states));
    if depth < ROW_DEPTH {
        for (_, value) in fields {
            collect_failures(value, depth + 1, states, reasons);
        }
    }
}

/// Returns `[17] {id: 3, name: "x", status: "failed"}`: the name of the row first, then the reasons for quoting it,
/// then its other scalars, nulls last.
fn quoted_row(place: &str, row: &Node<'_>, reasons: &[String]) -> String {
    let mut parts: Vec<String> = name_of(row).map(|(key, name)| format!("{key}: {name}")).into_iter().collect();
    let Node::Object(fields, _) = row else { return place.to_owned() };
    let (nulls, told): (Vec<_>, Vec<_>) = fields.iter().partition(|(_, value)| matches!(value, Node::Null));
    let members = told.into_iter().chain(nulls).filter_map(|(key, value)| member(key, value));
    for part in reasons.iter().cloned().chain(members) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    shorten(&format!("{place} {{{}}}", parts.join(", ")), ROW_ROOM)
}

/// Returns the key and the value of the field that names a row, perhaps by its last word only: `taskName`.
fn name_of<'a>(row: &Node<'a>) -> Option<(&'a str, String)> {
    let Node::Object(fields, _) = row else { return None };
    let ends_with = |name: &str| fields.iter().find(|(key, _)| last_word(key).eq_ignore_ascii_case(name));
    let by_last_word = |name: &&str| ends_with(name).map(|(key, value)| (*key, value));
    let named = NAMING.iter().find_map(|name| field(row, name)).or_else(|| NAMING.iter().find_map(by_last_word));
    named.and_then(|(key, value)| Some((key, scalar(value)?)))
}

/// The columns of some rows by their paths, each with its key.
type Columns<'a> = IndexMap<String, (&'a str, Column)>;

/// Returns the columns of the rows, or none if there are too few rows to compare.
fn columns<'a>(rows: &[&Node<'a>]) -> Columns<'a> {
    let mut columns = IndexMap::new();
    for row in rows.iter().filter(|_| rows.len() >= FEW_ROWS) {
        measure(row, "", 0, &mut columns);
    }
    columns
}

/// Adds the members of an object to the columns.
fn measure<'a>(object: &Node<'a>, path: &str, depth: usize, columns: &mut Columns<'a>) {
    let Node::Object(fields, _) = object else { return };
    for (key, value) in fields {
        let name = if path.is_empty() { quote(key, 40) } else { format!("{path}.{}", quote(key, 40)) };
        let cell = match value {
            Node::Number(digits) => *digits,
            Node::Text(text) => *text,
            Node::Object(..) if depth < ROW_DEPTH => {
                measure(value, &name, depth + 1, columns);
                continue;
            }
            _ => continue,
        };
        if columns.len() < MOST_COLUMNS || columns.contains_key(&name) {
            columns.entry(name).or_insert_with(|| (key, Column::default())).1.add(cell, String::new);
        }
    }
}
