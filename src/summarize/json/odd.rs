//! Rows -> those that failed, and those with an outlier.
//!
//! An outlier is far from the median, measured by the spread of the others and never by a fixed factor. Ids, times and
//! dates are not measured.

use indexmap::IndexMap;

use super::super::keys::{NAMING, is_failed_state, is_level, is_one_of, is_verdict, last_word};
use super::super::sheet::{Sheet, quote, shorten};
use super::{KEY_ROOM, List, field, member, scalar};
use crate::content::json_tree::Node;
use crate::content::severity::is_failure_key;

/// The deepest level of nested objects in a row that is read.
const ROW_DEPTH: usize = 3;

/// The fewest rows of which a value can be rare.
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

/// Writes the failed and the odd rows of a list; returns the ranges of its measured fields.
pub(super) fn write(list: &List<'_, '_>, sheet: &mut Sheet) -> Vec<String> {
    let List { rows, len, .. } = list;
    if rows.len() < *len {
        sheet.line(&format!("only the first {} of {len} read", rows.len()), usize::MAX);
    }
    let columns = columns(rows);
    let states: Vec<&str> = columns.values().filter(|column| column.is_state()).map(|column| column.key).collect();
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
                let name = name_of_failed(row).map_or_else(|| list.place(index), |(_, name)| name);
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
    let (odd, ranges) = stand_outs(list, &columns);
    sheet.lines(&odd, sheet.share(55));
    ranges
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
    let mut parts: Vec<String> = name_of_failed(row).map(|(key, name)| format!("{key}: {name}")).into_iter().collect();
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

/// Returns the key and the value of the field that names a row.
fn name_of<'a>(row: &Node<'a>) -> Option<(&'a str, String)> {
    ["id"].iter().chain(NAMING).find_map(|name| {
        let (key, value) = field(row, name)?;
        Some((key, scalar(value)?))
    })
}

/// Returns the same for a row that failed, which a field may name by its last word only: `taskName`.
fn name_of_failed<'a>(row: &Node<'a>) -> Option<(&'a str, String)> {
    let Node::Object(fields, _) = row else { return None };
    name_of(row).or_else(|| {
        NAMING.iter().find_map(|name| {
            let (key, value) = fields.iter().find(|(key, _)| last_word(key).eq_ignore_ascii_case(name))?;
            Some((*key, scalar(value)?))
        })
    })
}

/// The most distinct texts of a column that are counted.
const MOST_CATEGORIES: usize = 12;

#[derive(Default)]
struct Column<'a> {
    key: &'a str,
    /// The row, the value and the digits of each number.
    numbers: Vec<(usize, f64, &'a str)>,
    /// The count and the first row of each text. Once there are too many for a category, no new ones are added.
    texts: IndexMap<&'a str, (usize, usize)>,
    text_rows: usize,
}

impl Column<'_> {
    /// Returns true for a column of a few words that recur, one of which names a failure, whatever its key.
    fn is_state(&self) -> bool {
        let few = self.texts.len();
        let recurs = self.text_rows >= FEW_ROWS.max(few * 2);
        recurs && (2..MOST_CATEGORIES).contains(&few) && self.texts.keys().any(|text| is_failed_state(text))
    }
}

/// Returns one line for each field value that stands out, `field value at [row] (others min–max)`, and the ranges of
/// the other fields.
fn stand_outs(list: &List<'_, '_>, columns: &IndexMap<String, Column<'_>>) -> (Vec<String>, Vec<String>) {
    let rows = &list.rows;
    let at = |row: usize| match name_of(rows[row]) {
        Some((key, name)) => format!("{} ({key}: {name})", list.place(row)),
        None => list.place(row),
    };
    let mut odd: Vec<(usize, String)> = Vec::new();
    let mut plain = Vec::new();
    for (name, column) in columns {
        let most_rare = (rows.len() / 50).max(1);
        if let Some((text, (count, row))) = column.texts.iter().min_by_key(|(_, (count, row))| (*count, *row)) {
            let is_category = column.texts.len() <= 6 && column.texts.len() > 1 && column.text_rows >= FEW_ROWS;
            if is_category && *count <= most_rare {
                odd.push((0, format!("{name} \"{}\" only {count}×, at {}", quote(text, 60), at(*row))));
            }
        }
        match outliers(name, column) {
            Some((row, digits, low, high)) => {
                odd.push((1, format!("{name} {digits} at {} (others {low}–{high})", at(row))))
            }
            None => plain.extend(span(name, column)),
        }
    }
    odd.sort_by_key(|(rank, _)| *rank);
    odd.truncate(QUOTED);
    (odd.into_iter().map(|(_, line)| line).collect(), plain)
}

/// Returns the columns of the rows by their paths, or none if there are too few rows to compare.
fn columns<'a>(rows: &[&Node<'a>]) -> IndexMap<String, Column<'a>> {
    let mut columns = IndexMap::new();
    if rows.len() >= FEW_ROWS {
        for (index, row) in rows.iter().enumerate() {
            measure(row, "", 0, index, &mut columns);
        }
    }
    columns
}

fn measure<'a>(row: &Node<'a>, path: &str, depth: usize, index: usize, columns: &mut IndexMap<String, Column<'a>>) {
    const MOST_COLUMNS: usize = 200;
    let Node::Object(fields, _) = row else { return };
    for (key, value) in fields {
        let name = if path.is_empty() { quote(key, 40) } else { format!("{path}.{}", quote(key, 40)) };
        if let Node::Object(..) = value {
            if depth < ROW_DEPTH {
                measure(value, &name, depth + 1, index, columns);
            }
            continue;
        }
        if columns.len() >= MOST_COLUMNS && !columns.contains_key(&name) {
            continue;
        }
        let column = columns.entry(name).or_insert_with(|| Column { key, ..Column::default() });
        match value {
            Node::Number(digits) => {
                if let Ok(number) = digits.parse::<f64>() {
                    column.numbers.push((index, number, digits));
                }
            }
            Node::Text(text) => {
                column.text_rows += 1;
                if column.texts.len() < MOST_CATEGORIES || column.texts.contains_key(text) {
                    column.texts.entry(text).or_insert((0, index)).0 += 1;
                }
            }
            _ => {}
        }
    }
}

fn is_measured(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
    !(last == "id" || last.ends_with("_id") || last.ends_with("id]") || last.contains("time") || last.ends_with("date"))
}

/// Returns the value farthest from the median if it is far beyond the spread of the others: its row and digits, then
/// the range of the others.
fn outliers<'a>(name: &str, column: &Column<'a>) -> Option<(usize, &'a str, &'a str, &'a str)> {
    const FAR: f64 = 15.0;
    let numbers = &column.numbers;
    if numbers.len() < FEW_ROWS || !is_measured(name) {
        return None;
    }
    let median = middle(numbers.iter().map(|(_, number, _)| *number).collect());
    let spread = middle(numbers.iter().map(|(_, number, _)| (number - median).abs()).collect());
    let &(row, farthest, digits) =
        numbers.iter().max_by(|a, b| (a.1 - median).abs().total_cmp(&(b.1 - median).abs()).then(b.0.cmp(&a.0)))?;
    let distance = (farthest - median).abs();
    let is_far = if spread > 0.0 { distance > FAR * spread } else { distance > 0.0 };
    let others = || numbers.iter().filter(|(_, number, _)| *number != farthest);
    let far_too = others().filter(|(_, number, _)| (number - median).abs() * 2.0 > distance).count();
    let low = others().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let high = others().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let alone = numbers.len() - others().count() <= 2 && far_too <= numbers.len() / 50;
    (is_far && alone).then_some((row, digits, low.2, high.2))
}

fn middle(mut values: Vec<f64>) -> f64 {
    let half = values.len() / 2;
    *values.select_nth_unstable_by(half, f64::total_cmp).1
}

/// Returns `name 3–99` for a measured column.
fn span(name: &str, column: &Column<'_>) -> Option<String> {
    let numbers = &column.numbers;
    if numbers.len() < FEW_ROWS || !is_measured(name) {
        return None;
    }
    let low = numbers.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let high = numbers.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    (low.1 < high.1).then(|| format!("{name} {}–{}", low.2, high.2))
}
