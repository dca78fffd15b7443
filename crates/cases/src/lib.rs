//! Tests whose cases are read from the files in a folder of `fixtures/cases`.
//!
//! ```text
//! %%% what the case shows
//! the input
//! ---> an argument, if the test needs one
//! the expected output
//! ```
//!
//! An input may have several outputs, each after an arrow. Line ends at the end of an output are ignored. A line
//! `@1-20 case {n}` stands for 20 lines, with the numbers in place of `{n}`; `\n` in it is a line end. A line
//! `@< messages/a.txt` stands for that file of `fixtures`. With `CONCERTINA_WRITE=1`, the files are rewritten with the
//! actual outputs.
//!
//! The fixtures are those of the crate whose test calls [`check!`].

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Calls [`check_in`] with the fixtures of the calling crate.
#[macro_export]
macro_rules! check {
    ($folder:expr, $made:expr $(,)?) => {
        $crate::check_in(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures"), $folder, $made)
    };
}

/// Compares the results of `made` for each input and argument with the expected outputs in the files of a folder.
///
/// # Panics
/// If an output differs, or if there are no cases.
pub fn check_in(fixtures: &str, folder: &str, made: impl Fn(&str, &str) -> String) {
    let fixtures = Path::new(fixtures);
    let dir = fixtures.join("cases").join(folder);
    let mut paths: Vec<_> = fs::read_dir(&dir).expect("a folder of cases").map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let (mut count, mut failures) = (0, Vec::new());
    for path in &paths {
        let text = format!("\n{}", fs::read_to_string(path).expect("a file of cases"));
        let mut written = Vec::new();
        for case in text.split("\n%%% ").skip(1) {
            let (name, case) = case.split_once('\n').expect("a line with the name of the case");
            let mut parts = case.split("\n--->");
            let input = parts.next().unwrap_or_default();
            let mut outputs = Vec::new();
            for (argument, expected) in parts.map(|part| part.split_once('\n').unwrap_or((part, ""))) {
                let made = made(&repeated(fixtures, input), argument.trim());
                count += 1;
                if made.trim_end_matches('\n') == repeated(fixtures, expected).trim_end_matches('\n') {
                    outputs.push(format!("--->{argument}\n{}\n", expected.trim_end_matches('\n')));
                } else {
                    failures.push(format!("{}: {name}\n{made}", path.display()));
                    outputs.push(format!("--->{argument}\n{}\n", made.trim_end_matches('\n')));
                }
            }
            written.push(format!("%%% {name}\n{input}\n{}", outputs.concat()));
        }
        if std::env::var_os("CONCERTINA_WRITE").is_some() {
            fs::write(path, written.join("\n")).expect("a file of cases");
        }
    }
    assert!(count > 0, "no cases in {}", dir.display());
    assert!(failures.is_empty(), "these cases have other outputs:\n\n{}", failures.join("\n\n"));
}

/// Returns the text with each line `@1-20 …` and `@< …` expanded.
fn repeated(fixtures: &Path, text: &str) -> String {
    expanded(text, |line| {
        let path = line.strip_prefix("@< ")?;
        Some(fs::read_to_string(fixtures.join(path)).expect("a file of fixtures"))
    })
}

/// Returns the text with each line expanded that `included` knows, or that counts.
fn expanded(text: &str, included: impl Fn(&str) -> Option<String>) -> String {
    let written = |line| included(line).or_else(|| counted(line)).unwrap_or_else(|| format!("{line}\n"));
    text.split('\n').map(written).collect()
}

/// Returns the lines that a line `@1-20 …` stands for.
fn counted(line: &str) -> Option<String> {
    let (range, line) = line.strip_prefix('@')?.split_once(' ')?;
    let (first, last) = range.split_once('-')?;
    let numbers = first.parse::<usize>().ok()?..=last.parse::<usize>().ok()?;
    let line = line.replace("\\n", "\n") + "\n";
    Some(numbers.map(|number| line.replace("{n}", &number.to_string())).collect())
}

/// Returns the JSON values of an input, one per line. A string that begins with a line `@1-20 …` is expanded, too.
pub fn json_lines(input: &str) -> Vec<Value> {
    let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    input.lines().filter(|line| !line.is_empty()).map(|line| written_out(read(line))).collect()
}

fn written_out(value: Value) -> Value {
    match value {
        Value::String(text) if text.starts_with('@') => {
            let whole = expanded(&text, |_| None);
            let ends_repeated = text.rsplit('\n').next().is_some_and(|line| line.starts_with('@'));
            whole.strip_suffix('\n').filter(|_| !ends_repeated).unwrap_or(&whole).into()
        }
        Value::Array(items) => items.into_iter().map(written_out).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, field)| (key, written_out(field))).collect(),
        other => other,
    }
}
