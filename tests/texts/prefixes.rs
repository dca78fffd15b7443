//! Tests of line prefixes: numbers are removed, the lines are folded as without them, and everything can be restored.

use concertina::config::Preset;
use concertina::pipeline::{CompressOptions, Compressed, FusionEngine};

use crate::properties::{Case, check};

/// A name, and a function that adds a prefix to a line with this number.
type Shape = (&'static str, fn(usize, &str) -> String);

/// Prefixes that are the same on each line.
const SAME: [Shape; 3] = [
    ("bar", |_, line| format!("web-1  | {line}")),
    ("mark", |_, line| format!(">> {line}")),
    ("tag", |_, line| format!("[pod/web-1/app] {line}")),
];

/// The numbers of `cat -n`.
const NUMBER: Shape = ("number", |at, line| format!("{:>6}\t{line}", at + 1));

/// Prefixes that count.
const COUNTED: [Shape; 4] = [
    ("counter", |at, line| format!("[{}/3] {line}", at % 3 + 1)),
    NUMBER,
    ("time", |at, line| format!("12:00:{:02}.{:03} {line}", at % 60, at * 10 % 1000)),
    ("stamp", |at, line| format!("2026-11-22T10:{:02}:{:02}.{:03}Z {line}", at / 60, at % 60, at * 10 % 1000)),
];

/// Prefixes that are harder to recognise or to remove.
const ODD: [Shape; 6] = [
    ("quote", |_, line| format!("> {line}").trim_end().to_owned()),
    ("two services", |at, line| format!("{}{line}", ["web-1  | ", "db-1   | "][at / 3 % 2])),
    ("stacked", |at, line| format!("2026-11-22T10:00:{:02}Z stdout F [pod/web-1/app] {line}", at % 60)),
    ("tabs", |at, line| format!("2026-11-22T10:00:{:02}Z\t{line}", at % 60)),
    ("again inside", |at, line| format!("{}>> {line}", if at % 3 == 0 { ">> " } else { "" })),
    ("now and then", |at, line| format!("{}{line}", if at % 7 == 3 { "" } else { "stdout: " })),
];

/// Variants of line ends, for texts whose lines do not all end alike.
const ENDS: [fn(String) -> String; 6] = [
    |text| text,
    |text| text.trim_end_matches('\n').to_owned(),
    |text| text.replace('\n', "\r\n"),
    |text| text + "the end\n",
    |text| {
        text.lines().enumerate().map(|(at, line)| format!("{}{line}\n", if at % 9 == 8 { "\n" } else { "" })).collect()
    },
    |text| "$ docker compose logs\n\n".to_owned() + &text + "\n",
];

fn document() -> String {
    let record = |n: usize| {
        let role = if n.is_multiple_of(3) { "writer" } else { "reader" };
        let ms = n * 37 % 400;
        format!(
            "  {{\n    \"id\": {n},\n    \"name\": \"user{n}\",\n    \"role\": \"{role}\",\n    \"ok\": true,\n    \"ms\": {ms}\n  }}"
        )
    };
    format!("[\n{}\n]\n", (0..40).map(record).collect::<Vec<_>>().join(",\n"))
}

fn records() -> String {
    let record = |n: usize| {
        let (route, ms) = (["/orders", "/users/7", "/health"][n % 3], n * 37 % 400);
        format!(
            "{{\"level\":\"info\",\"time\":{},\"route\":\"{route}\",\"ms\":{ms},\"msg\":\"done\"}}\n",
            1_763_840_000 + n
        )
    };
    (0..60).map(record).collect()
}

fn table() -> String {
    let row =
        |n: usize| format!("{},src/plan/file{n}.rs,plan,{}\n", 1000 + n * n * 37 % 9000, ["ann", "bob"][n * n % 3 % 2]);
    "bytes,path,module,owner\n".to_owned() + &(0..40).map(row).collect::<String>()
}

fn trace() -> String {
    let one = |n: usize| {
        format!(
            "Traceback (most recent call last):\n  File \"/app/server/handlers.py\", line {}, in handle\n    response = self.dispatch(request)\n  File \"/app/shop/orders.py\", line 412, in create\n    raise ValueError(\"no stock for item {n}\")\nValueError: no stock for item {n}\n",
            n + 10
        )
    };
    (0..6).map(one).collect()
}

/// Returns a diff of four files with ten lines of context on both sides of a change.
fn diff() -> String {
    let files = [
        include_str!("../../fixtures/code/c/notes.c"),
        include_str!("../../fixtures/code/go/notes.go"),
        include_str!("../../fixtures/code/java/Notes.java"),
        include_str!("../../fixtures/code/ruby/notes.rb"),
    ];
    let file = |(number, code): (usize, &str)| {
        let context: Vec<String> = code.lines().take(20).map(|line| format!(" {line}\n")).collect();
        let path = format!("notes/file{number}");
        format!(
            "diff --git a/{path} b/{path}\nindex 0123456..5678901 100644\n--- a/{path}\n+++ b/{path}\n@@ -1,21 +1,21 @@\n{}-the old words\n+the new words\n{}",
            context[..10].concat(),
            context[10..].concat()
        )
    };
    files.into_iter().enumerate().map(file).collect()
}

const CODE: &str = include_str!("../../fixtures/code/python/notes.py");

const REPORT: &str = include_str!("../../fixtures/reports/cargo_test_builds_first.txt");

/// Adds a prefix to all lines of a text.
fn behind(text: &str, (_, shape): Shape) -> String {
    text.lines().enumerate().map(|(at, line)| shape(at, line) + "\n").collect()
}

fn compressed(text: &str, preset: Preset) -> Compressed {
    let engine = FusionEngine::default();
    let done = engine.compress(text, &CompressOptions { preset, ..CompressOptions::default() }, &|| 0.0);
    assert_eq!(engine.restore(&done.text, &done.originals), text);
    done
}

fn takes_at_most(most: usize, found: &Compressed, name: &str) {
    let Compressed { tokens_before, tokens_after, text, .. } = found;
    assert!(*tokens_after <= most, "{name}: {tokens_after} of {tokens_before}, at most {most}\n{text}");
}

#[test]
fn lines_fold_behind_numbers_as_they_fold_alone() {
    for (name, text) in [("document", document()), ("records", records()), ("table", table()), ("trace", trace())] {
        let alone = compressed(&text, Preset::Lossless);
        takes_at_most(alone.tokens_after + 220, &compressed(&behind(&text, NUMBER), Preset::Lossless), name);
    }
}

#[test]
fn any_line_prefix_is_restored() {
    let engine = FusionEngine::default();
    let texts = [document(), records(), table(), trace(), diff(), CODE.to_owned(), REPORT.to_owned()];
    let shapes = SAME.into_iter().chain(COUNTED).chain(ODD);
    for (number, shape) in shapes.enumerate() {
        for (kind, text) in texts.iter().enumerate() {
            let ends = (number + kind) % ENDS.len();
            let text = ENDS[ends](behind(text, shape));
            for preset in [Preset::Lossless, Preset::Balanced, Preset::Max] {
                let name = format!("text {kind} behind {}, ends {ends}, {}", shape.0, preset.as_str());
                let options = CompressOptions { preset, ..CompressOptions::default() };
                check(&Case { name: &name, engine: &engine, options: &options, text: &text });
            }
        }
    }
}

#[test]
fn lines_of_a_prefix_alone_come_back() {
    for shape in SAME.into_iter().chain(COUNTED).chain(ODD) {
        for text in ["\n".repeat(60), "\n \n\t\n".repeat(30), format!("{}\n", document().replace(": ", ":\n\n"))] {
            compressed(&behind(&text, shape), Preset::Lossless);
            compressed(&behind(&text, shape), Preset::Balanced);
        }
    }
}
