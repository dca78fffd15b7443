//! Finds claims of an output that its input does not support.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::sets::{changes, regex, sampled, visible};
use super::shell::{on_screen, says_something};

static NOTE: LazyLock<Regex> = LazyLock::new(|| {
    // Python requires a statement where a block was, so the note begins with an ellipsis.
    regex(r"(?:\.\.\.  )?(?:(?://|#|--|/\*+) ?)?\[… ?[^\]\n]*\](?: \*/| lines \d+-\d+)?|\[\[REWIND:[^\n]*")
});
/// A note that replaces lines of a report: their number, their range if it is known, and their results.
static TALLY: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\[… (\d+) lines(?: (\d+)-(\d+))?\](?: progress| \d+ [^\n]*)?$"));
static NUMBER: LazyLock<Regex> = LazyLock::new(|| regex(r"\d[\d.,:]*\d|https?://[^\s<>)\]`]+"));

/// Returns the claims of a restored output that are not in its input.
pub(crate) fn false_claims(class: &str, input: &str, output: &str) -> Vec<String> {
    if output == input {
        return Vec::new();
    }
    let mut found = false_tallies(input, output);
    let lines: Vec<&str> = output.lines().filter(|line| !TALLY.is_match(line)).collect();
    found.extend(false_words(class, input, &lines.join("\n")));
    found
}

/// Returns the tallies whose count contradicts the lines that they name: it must be at least the number of hidden lines
/// and at most the number of all.
fn false_tallies(input: &str, output: &str) -> Vec<String> {
    let tallies: Vec<_> = output.lines().filter_map(|line| TALLY.captures(line)).collect();
    if tallies.is_empty() {
        return Vec::new();
    }
    let input = on_screen(input);
    let lines: Vec<&str> = input.lines().map(str::trim).collect();
    let in_sight: HashSet<&str> = output.lines().map(str::trim).collect();
    let fits = |tally: &regex::Captures| {
        let number = |group| tally.get(group)?.as_str().parse::<usize>().ok();
        let count = number(1).unwrap_or(0);
        let named = match (number(2), number(3)) {
            (None, None) => Some(&*lines),
            (Some(first @ 1..), Some(last)) => lines.get(first - 1..last),
            _ => None,
        };
        let Some(named) = named else { return false };
        let out_of_sight = named.iter().filter(|line| !line.is_empty() && !in_sight.contains(*line)).count();
        if tally.get(2).is_some() {
            (out_of_sight..=named.len()).contains(&count)
        } else {
            (1..=out_of_sight).contains(&count)
        }
    };
    tallies.iter().filter(|tally| !fits(tally)).map(|tally| tally[0].to_owned()).collect()
}

/// Returns the words of an output that its input does not contain, neither verbatim nor as a terminal shows it.
fn false_words(class: &str, input: &str, output: &str) -> Vec<String> {
    if output.contains("[sampled: rows") && class == "shell" {
        let lines: HashSet<Vec<&str>> = input.lines().map(sorted_words).collect();
        let shown = sampled(output).into_iter().filter(|(_, record)| !record.to_string().contains("[… "));
        return shown
            .map(|(number, record)| (number, cells(&record)))
            .filter(|(_, cells)| !lines.contains(&sorted_words(cells)))
            .map(|(number, cells)| format!("{number}: {cells}"))
            .collect();
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
            let mut known = changes(input);
            known.extend(changes(&on_screen(input)));
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
        "shell" => {
            let (input, output) = (words_of(&on_screen(input)), on_screen(output));
            let pieces = output.lines().flat_map(|line| NOTE.split(line)).map(words_of);
            pieces.filter(|piece| says_something(piece) && !input.contains(piece.as_str())).collect()
        }
        _ => {
            let shown = on_screen(input);
            let pieces = output.lines().flat_map(|line| NOTE.split(line));
            pieces
                .map(str::trim)
                .filter(|piece| !input.contains(piece) && !shown.contains(piece))
                .map(str::to_owned)
                .collect()
        }
    }
}

/// Returns the values of a record without its names.
fn cells(record: &Value) -> String {
    let cells = record.as_object().into_iter().flatten().map(|(_, cell)| match cell {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    cells.collect::<Vec<_>>().join(" ")
}

/// Returns the words of a line, sorted, because a record does not preserve their order.
fn sorted_words(line: &str) -> Vec<&str> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    words.sort_unstable();
    words
}

/// Replaces every run of white space by one blank.
fn words_of(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns true if every pair of a record is in a text that cannot be parsed as a whole. In a table without names,
/// every value must be there.
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

/// Returns every record of a text: the objects of its JSON, or the rows of its table with its header's names.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_shows_is_no_claim_and_another_word_is() {
        let input = "\x1b[96mapp.js\x1b[0m:\x1b[93m16\x1b[0m - \x1b[91merror\x1b[0m: no module\n".repeat(2);
        for class in ["logs", "shell"] {
            assert_eq!(false_claims(class, &input, "app.js:16 - error: no module\n[… 1 line]"), [""; 0]);
            assert_eq!(false_claims(class, &input, "app.js:17 - error: no module").len(), 1);
        }
        let diff = "\x1b[1m--- a/x\x1b[m\n\x1b[1m+++ b/x\x1b[m\n\x1b[36m@@ -1 +1 @@\x1b[m\n\x1b[31m-old\x1b[m\n\x1b[32m+new\x1b[m\n";
        assert_eq!(false_claims("diffs", diff, "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n"), [""; 0]);
        assert_eq!(false_claims("diffs", diff, "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+newer\n").len(), 1);
    }

    #[test]
    fn a_tally_counts_what_is_out_of_sight_of_the_lines_it_names() {
        let input = "start\ntest a ... ok\ntest b ... ok\nwarning: slow\ntest c ... ok\nend\n";
        let output = |note: &str| format!("start\n{note}\nwarning: slow\nend\n");
        for note in ["[… 3 lines 2-5] 3 passed: a, b, c", "[… 4 lines 2-5] progress", "[… 3 lines] 3 passed: a"] {
            assert_eq!(false_claims("logs", input, &output(note)), [""; 0], "{note}");
        }
        for note in [
            "[… 2 lines 2-5] 3 passed: a, b, c",
            "[… 5 lines 2-5] 3 passed",
            "[… 4 lines] 3 passed",
            "[… 3 lines 5-9] 3 passed",
            "[… 3 lines 0-3] progress",
            "[… 3 lines 2-5] three passed",
        ] {
            assert_eq!(false_claims("logs", input, &output(note)).len(), 1, "{note}");
        }
    }
}
