//! Compares with other programs on the same text: `git apply` of a diff, the `csv` crate of a table, `serde_json` of a
//! document. `__test__/fusion.test.mjs` compares with `JSON.parse`, `__test__/tokens.test.mjs` with another tokenizer.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use concertina::config::Preset;
use concertina::content::{ContentType, Hints, Segment, detect};
use concertina::pipeline::FusionContext;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};

use crate::search_diff::{Change, crunched, diff_changes};
use crate::stages::stage;

/// Returns the output of git in a directory, with default settings. A diff that finds differences is not a failure.
fn git(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    let out = command.current_dir(dir).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let out = out.output().expect("git is on the path");
    assert!(out.stderr.is_empty(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("the files are text")
}

/// Returns the lines of a file after the changes that a reader of a diff sees: removed lines, and the positions of the
/// others.
fn changed(old: &str, changes: &[Change]) -> Vec<String> {
    let removed: HashMap<u64, &str> =
        changes.iter().filter_map(|(_, line, at)| Some((*at, line.strip_prefix('-')?))).collect();
    let added: HashMap<u64, &str> =
        changes.iter().filter_map(|(_, line, at)| Some((*at, line.strip_prefix('+')?))).collect();
    let mut kept = (1..).zip(old.lines()).filter(|(at, line)| {
        let gone = removed.get(at);
        assert!(gone.is_none_or(|gone| gone == line), "line {at} is {line:?}, not {gone:?}");
        gone.is_none()
    });
    let mut new = Vec::new();
    for at in 1.. {
        let Some(line) = added.get(&at).copied().or_else(|| kept.next().map(|(_, line)| line)) else { break };
        new.push(line.to_owned());
    }
    assert!(added.keys().all(|at| *at <= new.len() as u64), "a line stands behind the end");
    new
}

/// Generates a line of code, often one that occurs elsewhere in the file too.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        select(vec!["", "}", "    return;", "-", "+++ x", "@@ -1 +1 @@", "\\", "ü\t— 1"]).prop_map(str::to_owned),
        ("[a-z]{1,6}", 0..1000u32).prop_map(|(word, number)| format!("    let {word} = {number};")),
    ]
}

/// Removes lines from a file and inserts others.
fn edited(lines: &[String], edits: &[(Index, usize, Vec<String>)]) -> Vec<String> {
    edits.iter().fold(lines.to_vec(), |mut lines, (at, gone, put)| {
        let at = at.index(lines.len() + 1);
        let end = (at + gone).min(lines.len());
        lines.splice(at..end, put.iter().cloned());
        lines
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_changes_in_sight_are_those_that_git_applies(
        lines in vec(line(), 1..150),
        edits in vec((any::<Index>(), 0..4usize, vec(line(), 0..4)), 1..6),
        context in select(vec!["-U0", "-U1", "-U3", "-U20"]),
        (open, now_open) in any::<(bool, bool)>(),
    ) {
        let text = |lines: &[String], open: bool| lines.join("\n") + if open { "" } else { "\n" };
        let (old, new) = (text(&lines, open), text(&edited(&lines, &edits), now_open));
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        fs::create_dir(dir.path().join("new")).unwrap();
        write("file.rs", &old);
        write("new/file.rs", &new);
        let diff = git(dir.path(), &["diff", "--no-index", "--no-prefix", context, "file.rs", "new/file.rs"]);
        prop_assume!(!diff.is_empty());
        write("change", &diff.replace("new/file.rs", "file.rs"));
        git(dir.path(), &["apply", "-p0", "--unidiff-zero", "--whitespace=nowarn", "change"]);
        let applied = fs::read_to_string(dir.path().join("file.rs")).unwrap();
        prop_assert_eq!(&applied, &new);
        let applied: Vec<&str> = applied.lines().collect();
        for preset in [Preset::Lossless, Preset::Balanced, Preset::Max] {
            let shown = crunched(stage("diffCrunch"), &diff, preset);
            prop_assert_eq!(changed(&old, &diff_changes(&shown)), applied.clone(), "{}:\n{}", preset.as_str(), shown);
        }
    }
}

/// The rows that a sample leaves out: the first and the last row, and the first and the last line of both; 0 if the
/// lines are not stated.
struct Gap {
    rows: (usize, usize),
    lines: (usize, usize),
}

/// A parsed sample: rows by their numbers, and the notes for the other rows.
struct Sample {
    rows: HashMap<usize, Value>,
    gaps: Vec<Gap>,
}

impl Sample {
    fn of(text: &str, content_type: ContentType) -> Option<Self> {
        let segments = [Segment::whole(text, content_type, None)];
        let context = FusionContext { preset: Preset::Max, max_tokens: Some(10), ..FusionContext::of(text, &segments) };
        let edits = stage("ionizer").apply(&context);
        let sample = &edits.iter().find(|edit| !edit.lossless)?.text;
        let row = regex::Regex::new(r"(?m)^(\d+): (.*)$").unwrap();
        let rows = row.captures_iter(sample).map(|row| {
            let value = serde_json::from_str(&row[2]).unwrap_or_else(|error| panic!("{error}: {}", &row[0]));
            (row[1].parse().unwrap(), value)
        });
        let gap = regex::Regex::new(r"(?m)^\[… \d+ rows? (\d+)(?:-(\d+))?\](?: lines? (\d+)(?:-(\d+))?)?").unwrap();
        let gaps = gap.captures_iter(sample).map(|gap| {
            let number = |group: usize| gap.get(group).map(|digits| digits.as_str().parse().unwrap());
            let (row, line) = (number(1).unwrap(), number(3).unwrap_or(0));
            Gap { rows: (row, number(2).unwrap_or(row)), lines: (line, number(4).unwrap_or(line)) }
        });
        Some(Self { rows: rows.collect(), gaps: gaps.collect() })
    }

    /// Checks that the shown rows and the omitted rows together are all rows, each once.
    fn check(&self, count: usize) {
        let left_out = self.gaps.iter().flat_map(|Gap { rows: (first, last), .. }| *first..=*last);
        let mut numbers: Vec<usize> = self.rows.keys().copied().chain(left_out).collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(1..=count), "{:?}", self.rows.keys());
    }
}

proptest! {
    #[test]
    fn a_sample_of_a_table_has_the_cells_that_csv_reads(
        names in Just(["id", "name", "note"]),
        cells in vec(("[1-9][0-9]{0,8}", "[A-Z][a-z]{2,8}(, Jr\\.)?", "([a-z]{0,5}[\" ,;\n]?){0,4}"), 25..80),
        mark in select(b",;\t".as_slice()),
        quotes in select(vec![csv::QuoteStyle::Necessary, csv::QuoteStyle::Always, csv::QuoteStyle::NonNumeric]),
    ) {
        let mut writer = csv::WriterBuilder::new().delimiter(mark).quote_style(quotes).from_writer(Vec::new());
        writer.write_record(names).unwrap();
        for (id, name, note) in &cells {
            writer.write_record([id, name, note]).unwrap();
        }
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        let mut reader = csv::ReaderBuilder::new().delimiter(mark).from_reader(text.as_bytes());
        let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        let starts: Vec<usize> = records
            .iter()
            .map(|record| text[..record.position().unwrap().byte() as usize].matches('\n').count() + 1)
            .chain([text.lines().count() + 1])
            .collect();
        // A table whose cells contain line ends is not detected as a table.
        if cells.iter().any(|(_, _, note)| note.contains('\n')) {
            prop_assert_eq!(detect(&text, &Hints::default()).segments, vec![Segment::whole(&text, ContentType::Table, None)]);
        }
        let sample = Sample::of(&text, ContentType::Table).expect("many rows");
        sample.check(records.len());
        for (number, row) in &sample.rows {
            let fields = names.iter().zip(&records[number - 1]).filter(|(_, field)| !field.is_empty());
            let value = |field: &str| field.parse::<u64>().map_or_else(|_| json!(field), |number| json!(number));
            let expected: Map<String, Value> = fields.map(|(name, field)| ((*name).to_owned(), value(field))).collect();
            prop_assert_eq!(row, &Value::Object(expected));
        }
        for Gap { rows: (first, last), lines } in sample.gaps {
            prop_assert_eq!(lines, (starts[first - 1], starts[last] - 1));
        }
    }

    #[test]
    fn a_sample_of_json_has_the_items_that_serde_reads(
        items in vec(("[ -~é\n]{0,8}", any::<i64>(), any::<bool>(), vec("[a-z]{0,3}", 0..3)), 25..80),
        pretty in any::<bool>(),
    ) {
        let items: Vec<Value> = items
            .into_iter()
            .map(|(name, number, flag, tags)| json!({ "name": name, "n": number, "deep": { "flag": flag, "tags": tags } }))
            .collect();
        let print = if pretty { serde_json::to_string_pretty } else { serde_json::to_string };
        let sample = Sample::of(&print(&items).unwrap(), ContentType::Json).expect("many items");
        sample.check(items.len());
        for (number, row) in sample.rows {
            prop_assert_eq!(&row, &items[number - 1]);
        }
    }
}
