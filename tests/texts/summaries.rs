//! Properties of summaries of real inputs, for every file of every kind, at every length.

#[path = "../summaries/claims.rs"]
mod claims;
#[path = "../summaries/runners.rs"]
mod runners;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use concertina::config::{NameScorer, Preset};
use concertina::content::{ContentType, Hints, Language};
use concertina::pipeline::{CompressOptions, FusionEngine};
use concertina::reference::find_markers;
use concertina::summarize::{Around, salient_identifiers, summarize};
use regex::Regex;

use crate::corpus;

const LENGTHS: [usize; 3] = [50, 300, 2000];

const KINDS: &[(&str, ContentType)] = &[
    ("json", ContentType::Json),
    ("logs", ContentType::Log),
    ("diffs", ContentType::Diff),
    ("search", ContentType::Search),
    ("tables", ContentType::Table),
    ("prose", ContentType::Text),
    ("rules", ContentType::Text),
    ("html", ContentType::Html),
    ("code", ContentType::Code),
    ("messages", ContentType::Search),
    ("browser", ContentType::Unknown),
];

fn hinted(content_type: ContentType, name: &str) -> Hints {
    let language = match name.rsplit('.').next() {
        Some("py") => Some(Language::Python),
        Some("js" | "mjs") => Some(Language::JavaScript),
        Some("ts" | "tsx") => Some(Language::TypeScript),
        Some("java") => Some(Language::Java),
        Some("c" | "h") => Some(Language::C),
        Some("cpp" | "cc" | "hpp") => Some(Language::Cpp),
        Some("cs") => Some(Language::CSharp),
        Some("go") => Some(Language::Go),
        Some("rs") => Some(Language::Rust),
        Some("rb") => Some(Language::Ruby),
        Some("php") => Some(Language::Php),
        Some("swift") => Some(Language::Swift),
        Some("kt") => Some(Language::Kotlin),
        Some("scala") => Some(Language::Scala),
        Some("sh") => Some(Language::Shell),
        Some("sql") => Some(Language::Sql),
        _ => None,
    };
    Hints {
        content_type: Some(content_type),
        language: language.filter(|_| content_type == ContentType::Code),
        path: Some(name.to_owned()),
        ..Hints::default()
    }
}

/// Checks the properties of the summaries of a text, and returns their claims that the text does not prove.
fn faults(name: &str, text: &str, hints: &Hints) -> Vec<String> {
    let mut faults = Vec::new();
    let page = claims::Page::of(text);
    for max_chars in LENGTHS {
        let summary = summarize(text, hints, max_chars, true);
        let chars = summary.encode_utf16().count();
        assert!(chars <= max_chars, "{name}: {chars} units where {max_chars} are allowed");
        assert!(chars <= text.encode_utf16().count(), "{name}: longer than the text");
        assert_eq!(find_markers(&summary).count(), 0, "{name}: {summary}");
        assert!(text.trim().is_empty() || !summary.is_empty(), "{name}: nothing said");
        let unproved = page.unproved(&summary).into_iter();
        faults.extend(unproved.map(|claim| format!("{name} at {max_chars}: {claim}")));
    }
    faults
}

/// Fails with all faults in one message.
fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "{} claims are not proved:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_file_of_every_kind_is_summarized_truly_within_the_limit() {
    let mut all = Vec::new();
    for &(kind, content_type) in KINDS {
        for input in corpus::inputs(kind) {
            let Some(text) = input.text() else { continue };
            all.extend(faults(&input.name, text, &hinted(content_type, &input.name)));
        }
    }
    assert_none(&all);
}

#[test]
fn a_file_called_by_another_type_is_still_summarized_truly() {
    let mut all = Vec::new();
    for &(kind, _) in KINDS {
        for input in corpus::inputs(kind).iter().step_by(9) {
            let Some(text) = input.text() else { continue };
            let page = claims::Page::of(text);
            for &content_type in ContentType::ALL {
                let hints = Hints { content_type: Some(content_type), ..Hints::default() };
                let summary = summarize(text, &hints, 300, true);
                assert_eq!(summary, summarize(text, &hints, 300, true), "{}: two answers", input.name);
                assert!(summary.encode_utf16().count() <= 300, "{} as {content_type:?}", input.name);
                let unproved = page.unproved(&summary).into_iter();
                all.extend(unproved.map(|claim| format!("{} as {content_type:?}: {claim}", input.name)));
            }
        }
    }
    assert_none(&all);
}

/// Returns the number in front of `words` in the first line of a summary.
fn count_before(summary: &str, words: &str) -> Option<usize> {
    let (before, _) = summary.lines().next()?.split_once(words)?;
    before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[test]
fn the_counts_of_headlines_are_those_of_the_text() {
    let mut checked = 0;
    for input in corpus::inputs("logs") {
        let text = input.text().expect("logs are text");
        let summary = summarize(text, &hinted(ContentType::Log, &input.name), 300, true);
        let lines = text.lines().count();
        if text.chars().count() > 300 && !summary.starts_with("messages") {
            assert_eq!(count_before(&summary, " lines"), Some(lines), "{}: {summary}", input.name);
            checked += 1;
        }
    }
    for input in corpus::inputs("json") {
        let text = input.text().expect("JSON is text");
        let summary = summarize(text, &hinted(ContentType::Json, &input.name), 300, true);
        let Ok(value) = serde_json::from_str::<serde_json::Value>(text) else { continue };
        if text.chars().count() <= 300 {
            continue;
        }
        match value {
            serde_json::Value::Array(items) => {
                assert!(summary.starts_with(&format!("JSON array of {}", items.len())), "{}: {summary}", input.name);
            }
            serde_json::Value::Object(fields) => {
                assert!(
                    summary.starts_with(&format!("JSON object, {} keys", fields.len())),
                    "{}: {summary}",
                    input.name
                );
            }
            _ => continue,
        }
        checked += 1;
    }
    for input in corpus::inputs("diffs") {
        let text = input.text().expect("diffs are text");
        let summary = summarize(text, &hinted(ContentType::Diff, &input.name), 300, true);
        let files = text.lines().filter(|line| line.starts_with("diff --git ")).collect::<BTreeSet<_>>().len();
        if files > 0 && text.chars().count() > 300 {
            assert_eq!(count_before(&summary, " files"), Some(files), "{}: {summary}", input.name);
            checked += 1;
        }
    }
    for input in corpus::inputs("tables").iter().filter(|input| input.name.ends_with(".csv")) {
        let text = input.text().expect("tables are text");
        let summary = summarize(text, &hinted(ContentType::Table, &input.name), 300, true);
        let rows = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes()).records().count();
        let said = count_before(&summary, " rows");
        assert!(said == Some(rows) || said == Some(rows + 1), "{}: {rows}, {summary}", input.name);
        checked += 1;
    }
    assert!(corpus::root().is_none() || checked > 100, "{checked} headlines checked");
}

#[test]
fn summaries_of_hostile_texts_keep_the_limit() {
    let texts = [
        "x".repeat(1_048_576),
        "7".repeat(1_000_000),
        "\n".repeat(40_000),
        " ".repeat(1_000_000),
        "\0".repeat(100_000),
        "a,b\r\n".repeat(60_000),
        "漢字かな".repeat(100_000),
        "{\"a\":[".repeat(100_000),
        format!("{}1{}", "[".repeat(100), "]".repeat(100)),
        format!("{}{{}}{}", "{\"k\":".repeat(100), "}".repeat(100)),
        format!("[{}]", "\"x\\\"y\",".repeat(100_000)),
        "<h1><h1 ".repeat(60_000),
        "|".repeat(300_000),
        "@@ -1,9999999 +1,9999999 @@\n".repeat(20_000),
        "a/b:1:".repeat(100_000),
        "# ".repeat(200_000),
        "# x\n".repeat(50_000),
        "def f(".repeat(100_000),
        "2026-01-01T00:00:00Z ERROR x\n".repeat(20_000),
        "a/b.c:1:2: error: x\n".repeat(50_000),
        (0..50_000).map(|i| format!("a/b{i}.c:{i}:2: warning: x{i}\n")).collect(),
        "a.js\n  1:2  error  x  y\n".repeat(30_000),
        "- button \"x\" [ref=e1]\n".repeat(50_000),
        format!("- link \"{}\" [ref=e1]\n- alert [ref=e2]:\n- link [ref=e3]\n", "\\\"".repeat(200_000)),
        format!("{{{}\"status\":\"failed\"}}", "\"data\":{\"error\":\"x\",\"message\":\"y\"},".repeat(50_000)),
        "[REF_ID: 0123456789abcdef] [[REWIND:sha256:0123456789abcdef]] [[FOLD:1]]\n".repeat(5_000),
        (0..500_000u64).map(|i| char::from(b'!' + (i * i % 89) as u8)).collect(),
        "word ".repeat(100_000),
    ];
    for text in &texts {
        for &content_type in ContentType::ALL {
            let hints = Hints { content_type: Some(content_type), ..Hints::default() };
            let summary = summarize(text, &hints, 300, true);
            let name: String = text.chars().take(12).collect();
            assert!(summary.chars().count() <= 300, "{name:?} as {content_type:?}");
            assert_eq!(find_markers(&summary).count(), 0);
            assert!(!summary.contains("[[REWIND") && !summary.contains("[[FOLD") && !summary.contains("[REF_ID"));
        }
    }
}

#[test]
fn ten_megabytes_on_one_line_are_summarized() {
    let words = "word ".repeat(2_000_000);
    let json = format!("[{}{{}}]", "{\"id\":1,\"state\":\"ok\"},".repeat(450_000));
    for (text, content_type) in [
        (&words, ContentType::Log),
        (&words, ContentType::Unknown),
        (&json, ContentType::Json),
        (&json, ContentType::Search),
    ] {
        let hints = Hints { content_type: Some(content_type), ..Hints::default() };
        let summary = summarize(text, &hints, 300, true);
        assert!((1..=300).contains(&summary.chars().count()), "{content_type:?}: {summary}");
    }
    let said = summarize(&json, &Hints { content_type: Some(ContentType::Json), ..Hints::default() }, 300, true);
    assert!(said.starts_with("JSON array of 450001 × {id, state}\nonly the first "), "{said}");
}

#[test]
fn a_summary_never_ends_inside_a_number() {
    let text = (0..400).map(|i| format!("{} ", 1_000_000 + i * 7919)).collect::<String>();
    let numbers: BTreeSet<&str> = text.split_whitespace().collect();
    for smart in [true, false] {
        for max_chars in 0..120 {
            let summary = summarize(&text, &Hints::default(), max_chars, smart);
            let said = summary.split(|c: char| !c.is_ascii_digit()).filter(|word| word.len() > 1);
            for number in said {
                assert!(numbers.contains(number), "{number} at {max_chars}: {summary}");
            }
        }
    }
}

#[test]
fn salient_identifiers_are_words_of_the_text_and_all_different() {
    for &(kind, _) in KINDS {
        for input in corpus::inputs(kind).iter().step_by(5) {
            let Some(text) = input.text() else { continue };
            let found = salient_identifiers(text, 60, &Around::default(), NameScorer::Rule);
            assert!(found.len() <= 60);
            assert!(found.iter().all(|word| text.contains(word)), "{}", input.name);
            assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), found.len(), "{}: {found:?}", input.name);
            assert_eq!(found, salient_identifiers(text, 60, &Around::default(), NameScorer::Rule));
        }
    }
}

/// Covers outputs without a hint of their kind, and further ones in the directory `CONCERTINA_OUTPUTS`, if it is set.
#[test]
fn every_claim_on_outputs_of_all_kinds_is_proved_by_the_text() {
    let (mut all, mut checked) = (Vec::new(), 0);
    let kinds = KINDS.iter().map(|(kind, _)| *kind);
    let others = ["outputs", "reports", "system", "terminal", "prefixes"];
    let inputs = kinds.chain(others).flat_map(corpus::inputs);
    for input in inputs.chain(corpus::below("CONCERTINA_OUTPUTS")) {
        let text = String::from_utf8_lossy(&input.bytes);
        if text.len() < 1 << 20 {
            all.extend(faults(&input.name, &text, &Hints::default()));
            checked += 1;
        }
    }
    assert_none(&all);
    assert!(checked > 60, "{checked} texts checked");
}

/// Covers fourteen runners with random suites, verdicts, retries, skips, names that contain words of verdicts, tasks,
/// colours and line ends, at three lengths. `CONCERTINA_TEXTS` is the number of reports.
#[test]
fn no_verdict_contradicts_the_totals_of_a_runner() {
    static TOLD: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(\d+) (?:failed|passed)|(?:--- FAIL|FAILED|--- PASS|PASSED) ×(\d+)").unwrap());
    let mut dice = runners::Dice(7);
    let mut told = 0;
    let texts = std::env::var("CONCERTINA_TEXTS").map_or(420, |texts| texts.parse().expect("a number of texts"));
    for round in 0..texts / runners::RUNNERS.len() {
        for runner in runners::RUNNERS {
            let report = runners::report(runner, &mut dice);
            let page = claims::Page::of(&report.text);
            for max_chars in [150, 300, 900] {
                let summary = summarize(&report.text, &Hints::default(), max_chars, true);
                let name = format!("{} {round} at {max_chars}: {summary}\n---\n{}", report.runner, report.text);
                if summary == report.text || summary.is_empty() {
                    continue;
                }
                assert_eq!(page.unproved(&summary), [""; 0], "{name}");
                let headline = summary.lines().next().unwrap();
                for found in TOLD.captures_iter(headline) {
                    let is_failure = found[0].contains("ail") || found[0].contains("FAIL");
                    let number = found.get(1).or_else(|| found.get(2)).unwrap().as_str().parse::<usize>().unwrap();
                    assert_eq!(number, if is_failure { report.failed } else { report.passed }, "{name}");
                }
                let is_told = |name: &String| summary.contains(&**name);
                let is_log = summary.starts_with("log, ") || summary.starts_with("output, ");
                assert!(
                    !is_log || max_chars < 900 || report.failed == 0 || report.failing.iter().any(is_told),
                    "no failed test\n{name}"
                );
                if max_chars >= 300 && is_log {
                    assert!(summary.contains(&report.total), "{} is not told\n{name}", report.total);
                    told += 1;
                }
            }
        }
    }
    assert!(told * 2 > texts, "{told} totals told");
}

/// Covers the notes of hosts and tools, at the end and in the middle of outputs of seven kinds: in the compressed text
/// at every preset, and in summaries.
#[test]
fn a_note_of_being_cut_stays_in_sight() {
    const NOTES: [&str; 9] = [
        "[Showing lines 1-420 of 3911. Full output: /tmp/pi-bash-8f2a.log]",
        "… 8,123 tokens truncated …",
        "[... 412 more lines truncated …]",
        "... [4211 lines omitted] ...",
        "[90 more lines in file. Use offset=92 to continue]",
        "(File has more lines. Use 'offset' parameter to read beyond line 120)",
        "(Results are truncated: showing first 100 results. Consider using a more specific path.)",
        "Output too large (57.3KB). Full output saved to: /home/ann/tool-results/b7.txt",
        "... and 2311 more results",
    ];
    type Line = fn(usize) -> String;
    const KINDS: [(&str, Line); 7] = [
        ("search", |at| format!("src/mod{}/file{at}.rs:{}:    let value = compute_{at}(input);", at % 9, at * 3 + 1)),
        ("paths", |at| format!("packages/api/src/file{at}.ts")),
        ("code", |at| {
            format!("export function step{at}(a: number): number {{\n  // adds {at}\n  return a + {at};\n}}")
        }),
        ("diff", |at| {
            format!("diff --git a/f{at}.go b/f{at}.go\n--- a/f{at}.go\n+++ b/f{at}.go\n@@ -1,2 +1,3 @@\n a\n+b{at}\n c")
        }),
        ("log", |at| format!("2026-03-01T10:00:{:02}Z INFO request {at} done in {}ms", at % 60, at * 7 % 90)),
        ("table", |at| format!("{at},name {at},{}", at * 7)),
        ("json", |at| format!("{{\"id\": {at}, \"name\": \"n{at}\", \"status\": \"ok\"}}")),
    ];
    let engine = FusionEngine::default();
    let mut lost = Vec::new();
    for (kind, line) in KINDS {
        for note in NOTES {
            let is_anywhere = note.contains("truncated …") || note.contains("omitted]");
            for end in [60, 30].into_iter().take(1 + usize::from(is_anywhere)) {
                let lines: Vec<String> =
                    (0..end).map(line).chain([note.to_owned()]).chain((end..60).map(line)).collect();
                let text = format!("{}\n", lines.join("\n"));
                let summary = summarize(&text, &Hints::default(), 300, true);
                if !summary.starts_with(&format!("{note}\nof the part shown: ")) {
                    lost.push(format!("{kind} at {end}, summary: {summary}"));
                }
                for preset in Preset::ALL {
                    let options = CompressOptions { preset, ..CompressOptions::default() };
                    if !engine.compress(&text, &options, &|| 0.0).text.contains(note) {
                        lost.push(format!("{kind} at {end}, {preset:?}: {note}"));
                    }
                }
            }
        }
    }
    assert!(lost.is_empty(), "{} notes are lost:\n{}", lost.len(), lost.join("\n"));
}

/// Covers a false claim of each kind.
#[test]
fn the_checker_finds_false_claims() {
    let hits = "src/a.rs:1:let x = 1;\nsrc/a.rs:2:let y = 2;\nsrc/b.rs:7:let z = 3;\n";
    let diff = "diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n@@ -1,2 +1,3 @@\n a\n+b\n c\n";
    let table = "id,name\n1,Ann\n2,Bob\n";
    let tap = "TAP version 13\n# Subtest: a\nok 1 - a\nnot ok 2 - b\n";
    let log = "2026-03-01 10:00:00 INFO a\n2026-03-01 10:00:01 ERROR b\n2026-03-01 10:00:02 INFO c\n";
    for (text, said) in [
        (log, "log, 4 lines"),
        (log, "log, 3 lines, error 2"),
        (log, "log, 3 lines, ERROR ×2"),
        (log, "first at 2026-03-01 10:00:01, last at 2026-03-01 10:00:00"),
        (log, "from 2026-03-01 10:00:00 to 2026-03-01 11:00:02"),
        (log, "2 like: 2026-03-01 10:00:01 ERROR b"),
        (log, "2026-03-01 10:00:01 ERROR c"),
        (log, "text, lines 101–130"),
        (log, "names: parse_row"),
        (hits, "search, 4 matches in 2 files under src/"),
        (hits, "search, 3 matches in 3 files under src/"),
        (hits, "4 places in 2 files under src/"),
        (hits, "search, 3 matches in 2 files under lib/"),
        (hits, "search, 3 matches in 2 files under src/\nfiles: a.rs ×2 from 1 …+4"),
        (hits, "files: a.rs ×2 from 9"),
        (hits, "files: a.rs ×9 from 1"),
        (hits, "b.rs:7 let x = 1;"),
        (hits, "30 paths"),
        (hits, "messages, 3 errors in 2 files"),
        (diff, "diff, 2 files, +1 -0"),
        (diff, "diff, 1 files, +2 -0"),
        (diff, "files: a.rs +2"),
        (diff, "1 commits"),
        (table, "table, 30 rows × 2 columns"),
        (table, "id 1 (Ann) to 9 (Bob)"),
        (table, "name Ann ×3 Bob ×1"),
        (tap, "Markdown, 4 lines"),
        (tap, "not ok ×2"),
        ("[{\"id\": 1}, {\"id\": 2}]", "JSON array of 3 × {id}"),
        ("[{\"id\": 1}, {\"id\": 2}]", "JSON array of 2 × {name}"),
        ("[{\"id\": 1}, {\"id\": 2}]", "1 naming a failure: [1] {id: 1}"),
        ("[{\"id\": 1}, {\"id\": 2, \"b\": 3}]", "JSON array of 2 × {id, b}"),
        ("{\"id\": 1}\n{\"id\": 2, \"b\": 3}\n", "2 lines of JSON, each {id, b}"),
        ("[{\"id\": 1, \"is\": \"failed\"}, {\"id\": 2}]", "is: \"failed\" 2×: 1, 2"),
        ("{\"a\": [1, 2], \"b\": 3}", "JSON object, 3 keys"),
        ("{\"a\": [1, 2], \"b\": 3}", "holds: a[7]"),
        ("{\"a\": [1, 2], \"b\": 3}", "values: b: 4"),
        ("apiVersion: v1\nkind: Pod\n", "YAML, 2 lines, 2 objects"),
    ] {
        assert!(!claims::Page::of(text).unproved(said).is_empty(), "{said}");
    }
}

/// Covers ticks of compose, of a builder, of an installer and of a to-do list, with and without failures.
#[test]
fn check_marks_outside_of_tests_are_not_verdicts() {
    for (good, bad, line) in [
        ("✔", "✘", "Container shop-db-# Healthy   0.#s"),
        ("✓", "✗", "Generating static pages (#/9)"),
        ("√", "×", "Installed # packages"),
        ("✔", "✖", "Checked the box of step #"),
    ] {
        let text: String = (0..40)
            .map(|at| format!(" {} {}\n", if at % 7 == 3 { bad } else { good }, line.replace('#', &at.to_string())))
            .collect();
        let summary = summarize(&text, &Hints::default(), 300, true);
        let headline = summary.lines().next().unwrap();
        assert!(!["passed", "failed", "×", "verdict"].iter().any(|word| headline.contains(word)), "{summary}");
    }
}

/// Covers reports of five sanitizers and of valgrind, each after C++ frames.
#[test]
fn findings_of_sanitizers_are_in_the_summary() {
    let frames: String = (0..30)
        .map(|at| {
            format!(
                "    #{at} 0x7efd4a2f{at:04x} in shop::Cart<int>::add(std::string const&, int) lib/Cart.cpp:{at}:3\n"
            )
        })
        .collect();
    let valgrind: String =
        (0..30).map(|at| format!("==812==    by 0x4C2{at:04x}: shop::Cart::add(int) (Cart.cpp:{at})\n")).collect();
    for (head, frames, tail, told) in [
        (
            "==812==ERROR: AddressSanitizer: heap-use-after-free on address 0x60f0",
            &frames,
            "SUMMARY: AddressSanitizer: heap-use-after-free lib/Cart.cpp:3 in add\n==812==ABORTING\n",
            "heap-use-after-free",
        ),
        (
            "WARNING: ThreadSanitizer: data race (pid=812)",
            &frames,
            "SUMMARY: ThreadSanitizer: data race lib/Cart.cpp:101 in add\nThreadSanitizer: reported 1 warnings\n",
            "data race",
        ),
        (
            "==812==WARNING: MemorySanitizer: use-of-uninitialized-value",
            &frames,
            "SUMMARY: MemorySanitizer: use-of-uninitialized-value lib/Cart.cpp:3 in add\nExiting\n",
            "use-of-uninitialized-value",
        ),
        (
            "==812==ERROR: LeakSanitizer: detected memory leaks",
            &frames,
            "SUMMARY: AddressSanitizer: 40 byte(s) leaked in 1 allocation(s).\n",
            "detected memory leaks",
        ),
        (
            "lib/Cart.cpp:12:5: runtime error: signed integer overflow: 2147483647 + 1",
            &frames,
            "SUMMARY: UndefinedBehaviorSanitizer: undefined-behavior lib/Cart.cpp:12:5\n",
            "signed integer overflow",
        ),
        (
            "==812== Invalid read of size 4",
            &valgrind,
            "==812== ERROR SUMMARY: 2 errors from 2 contexts (suppressed: 0 from 0)\n",
            "Invalid read of size 4",
        ),
    ] {
        let text = format!("{head}\n{frames}\n{tail}");
        let summary = summarize(&text, &Hints::default(), 300, true);
        assert!(summary.contains(told) && !summary.contains(" code, "), "{summary}");
    }
}
