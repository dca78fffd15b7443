//! What an output says that its input does not.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::sets::{changes, sampled, visible};

static NOTE: LazyLock<Regex> = LazyLock::new(|| {
    // Python wants a word where a block was: an ellipsis.
    Regex::new(r"(?:\.\.\.  )?(?:(?://|#|--|/\*+) ?)?\[… ?[^\]\n]*\](?: \*/| lines \d+-\d+)?|\[\[REWIND:[^\n]*")
        .expect("a valid pattern")
});
static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\d[\d.,:]*\d|https?://[^\s<>)\]`]+").expect("a valid pattern"));

/// The claims of an output, its folds undone, that its input does not hold.
pub(crate) fn false_claims(class: &str, input: &str, output: &str) -> Vec<String> {
    if output == input {
        return Vec::new();
    }
    if output.contains("[sampled: rows") {
        let records: HashSet<Value> = records(class, input).into_iter().collect();
        let shown = sampled(output).into_iter().filter(|(_, record)| !record.to_string().contains("[… "));
        return shown
            .filter(|(_, record)| !records.contains(record) && !has_pairs(class, input, record))
            .map(|(number, record)| format!("{number}: {record}"))
            .collect();
    }
    match class {
        "diffs" => {
            let known = changes(input);
            changes(output).difference(&known).map(|(file, line)| format!("{file}: {line}")).collect()
        }
        "html" | "prose" => {
            let bare = NOTE.replace_all(output, " ");
            let seen = visible(input);
            NUMBER
                .find_iter(&bare)
                .map(|found| found.as_str())
                .filter(|found| !input.contains(found) && !seen.contains(found))
                .map(str::to_owned)
                .collect()
        }
        _ => {
            let pieces = output.lines().flat_map(|line| NOTE.split(line));
            pieces
                .map(str::trim)
                .filter(|piece| !piece.is_empty() && !input.contains(piece))
                .map(str::to_owned)
                .collect()
        }
    }
}

/// Whether every pair of a record stands in a text that cannot be read as a whole; in a table without names, every value.
fn has_pairs(class: &str, input: &str, value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.iter().all(|(key, value)| match value {
            Value::Object(_) | Value::Array(_) => has_pairs(class, input, value),
            _ if class == "tables" => input.contains(value.as_str().unwrap_or(&value.to_string())),
            _ => [":", ": "].iter().any(|colon| input.contains(&format!("\"{key}\"{colon}{value}"))),
        }),
        Value::Array(items) => items.iter().all(|item| has_pairs(class, input, item)),
        _ => input.contains(&value.to_string()),
    }
}

/// Every record of a text: the objects of its JSON, or the rows of its table with its header's names.
fn records(class: &str, input: &str) -> Vec<Value> {
    let mut found = Vec::new();
    if class == "tables" {
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .delimiter(if input.contains('\t') { b'\t' } else { b',' })
            .from_reader(input.as_bytes());
        let names: Vec<String> =
            reader.headers().map(|names| names.iter().map(str::to_owned).collect()).unwrap_or_default();
        for row in reader.records().flatten() {
            let cells =
                names.iter().cloned().zip(row.iter().map(|cell| {
                    serde_json::from_str(cell).ok().filter(Value::is_number).unwrap_or_else(|| cell.into())
                }));
            found.push(Value::Object(cells.collect()));
        }
        return found;
    }
    let whole = serde_json::from_str(input).ok();
    let mut open: Vec<Value> =
        whole.into_iter().chain(input.lines().filter_map(|line| serde_json::from_str(line).ok())).collect();
    while let Some(value) = open.pop() {
        match &value {
            Value::Array(items) => open.extend(items.iter().cloned()),
            Value::Object(fields) => {
                open.extend(fields.values().cloned());
                found.push(value);
            }
            _ => {}
        }
    }
    found
}
