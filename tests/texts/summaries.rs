//! Properties of summaries of real inputs, for every file of every kind, at every length.

#[path = "../summaries/claims.rs"]
mod claims;
#[path = "../summaries/runners.rs"]
mod runners;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use concertina::config::NameScorer;
use concertina::content::{ContentType, Hints, Language};
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

/// The words that summaries use themselves.
const OWN_WORDS: &str = "JSON array object keys lines each incomplete failed only null rows others values holds ranges strings numbers booleans \
    arrays objects nulls string number boolean log fatal error warn notice info debug trace lines like from error types \
    diff files stat commits deleted renamed binary search matches under list paths directories table columns column first row text Markdown \
    code blocks outline HTML page title links headings names defines imports code only read python javascript typescript java csharp rust \
    ruby swift kotlin scala shell messages errors warnings notes snapshot fields buttons plan changes audit \
    report packages YAML images coverage covered least without";

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

/// Returns the text as a summary quotes it: without terminal colours and control characters.
fn printable(text: &str) -> String {
    static COLOUR: LazyLock<Regex> = LazyLock::new(|| Regex::new("\u{1b}\\[?[0-9;?]*[A-Za-z]?").unwrap());
    let text = COLOUR.replace_all(text, "");
    text.chars().filter(|&c| c.is_whitespace() || !c.is_control() && c != '\u{feff}').collect()
}

/// Returns the words of the summary that are neither in the text nor in [`OWN_WORDS`].
fn invented_words(summary: &str, text: &str) -> Vec<String> {
    static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[A-Za-z_][A-Za-z0-9_]{3,}").unwrap());
    let own: BTreeSet<&str> = OWN_WORDS.split_whitespace().collect();
    let text = printable(text);
    WORD.find_iter(summary)
        .map(|found| found.as_str())
        .filter(|word| !own.contains(word) && !text.contains(word))
        .map(str::to_owned)
        .collect()
}

/// Returns the numbers of the summary that are neither in the text nor counts of ours. Counts have their own forms;
/// those of the headlines are recomputed below.
fn invented_numbers(summary: &str, text: &str) -> Vec<String> {
    static COUNT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(concat!(
            r"…\+\d+|×\d+| \d+×|\d+ ×|× \d+ columns| \+\d+| -\d+|\[\d+\]|[A-Za-z_)}>]\w*[?!=]?:\d+\b|[A-Za-z][\w.\-]*:\d+\b|in \d+ of \d+ rows|first \d+ of \d+ read|lines \d+–\d+|column \d+|\(row \d+\)",
            r"|\b\d+ (?:lines|rows|like|not ok|keys|files|commits|matches|paths|links|imports|code blocks|errors|warnings|others|notes|fields|buttons|objects|of \d+)",
            r"|array of \d+|messages, \d+|\b(?:fatal|error|warn|notice|info|debug|trace) \d+|/ \d+",
        ))
        .unwrap()
    });
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\d+(?:\.\d+)?").unwrap());
    let quoted = COUNT.replace_all(summary, "");
    let text = printable(text);
    NUMBER.find_iter(&quoted).map(|found| found.as_str().to_owned()).filter(|number| !text.contains(number)).collect()
}

fn check(name: &str, text: &str, hints: &Hints) {
    for max_chars in LENGTHS {
        let summary = summarize(text, hints, max_chars, true);
        let chars = summary.encode_utf16().count();
        assert!(chars <= max_chars, "{name}: {chars} units where {max_chars} are allowed");
        assert!(chars <= text.encode_utf16().count(), "{name}: longer than the text");
        assert_eq!(summary, summarize(text, hints, max_chars, true), "{name}: two answers");
        assert_eq!(find_markers(&summary).count(), 0, "{name}: {summary}");
        assert_eq!(invented_words(&summary, text), [""; 0], "{name} at {max_chars}: {summary}");
        assert_eq!(invented_numbers(&summary, text), [""; 0], "{name} at {max_chars}: {summary}");
        assert_eq!(claims::unproved(&summary, text), [""; 0], "{name} at {max_chars}: {summary}");
        assert!(text.trim().is_empty() || !summary.is_empty(), "{name}: nothing said");
    }
}

#[test]
fn every_file_of_every_kind_is_summarized_truly_within_the_limit() {
    for &(kind, content_type) in KINDS {
        for input in corpus::inputs(kind) {
            let Some(text) = input.text() else { continue };
            check(&input.name, text, &hinted(content_type, &input.name));
        }
    }
}

#[test]
fn a_file_called_by_another_type_is_still_summarized_truly() {
    for &(kind, _) in KINDS {
        for input in corpus::inputs(kind).iter().step_by(9) {
            let Some(text) = input.text() else { continue };
            for &content_type in ContentType::ALL {
                let hints = Hints { content_type: Some(content_type), ..Hints::default() };
                let summary = summarize(text, &hints, 300, true);
                assert!(summary.chars().count() <= 300, "{} as {content_type:?}", input.name);
                let invented = (invented_words(&summary, text), invented_numbers(&summary, text));
                assert_eq!(invented, (vec![], vec![]), "{} as {content_type:?}: {summary}", input.name);
            }
        }
    }
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
        if text.chars().count() > 300 {
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
    assert!(said.starts_with("JSON array of 450001 × {id, state}; only the first "), "{said}");
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

#[test]
fn every_claim_on_outputs_of_all_kinds_is_proved_by_the_text() {
    let mut checked = 0;
    for kind in ["outputs", "logs", "reports", "system", "terminal", "messages", "prefixes", "tables"] {
        for input in corpus::inputs(kind) {
            let Some(text) = input.text().filter(|text| text.len() < 1 << 20) else { continue };
            for max_chars in LENGTHS {
                let summary = summarize(text, &Hints::default(), max_chars, true);
                assert_eq!(claims::unproved(&summary, text), [""; 0], "{} at {max_chars}: {summary}", input.name);
                checked += usize::from(!summary.is_empty());
            }
        }
    }
    assert!(checked > 60, "{checked} summaries checked");
}

/// Covers twelve runners with random suites, verdicts, retries, skips, names that contain words of verdicts, colours
/// and line ends: 150 reports of each, at three lengths.
#[test]
fn no_verdict_contradicts_the_totals_of_a_runner() {
    static TOLD: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(\d+) (?:failed|passed)|(?:--- FAIL|FAILED|--- PASS|PASSED) ×(\d+)").unwrap());
    let mut dice = runners::Dice(7);
    let mut told = 0;
    for round in 0..150 {
        for runner in runners::RUNNERS {
            let report = runners::report(runner, &mut dice);
            for max_chars in [150, 300, 900] {
                let summary = summarize(&report.text, &Hints::default(), max_chars, true);
                let name = format!("{} {round} at {max_chars}: {summary}\n---\n{}", report.runner, report.text);
                if summary == report.text || summary.is_empty() {
                    continue;
                }
                assert_eq!(claims::unproved(&summary, &report.text), [""; 0], "{name}");
                let headline = summary.lines().next().unwrap();
                for found in TOLD.captures_iter(headline) {
                    let is_failure = found[0].contains("ail") || found[0].contains("FAIL");
                    let number = found.get(1).or_else(|| found.get(2)).unwrap().as_str().parse::<usize>().unwrap();
                    assert_eq!(number, if is_failure { report.failed } else { report.passed }, "{name}");
                }
                if max_chars >= 300 && summary.starts_with("log, ") {
                    assert!(summary.contains(&report.total), "{} is not told\n{name}", report.total);
                    told += 1;
                }
            }
        }
    }
    assert!(told > 1_500, "{told} totals told");
}

/// Covers ticks of compose, of a builder, of an installer and of a to-do list, with and without failures.
#[test]
fn ticks_of_what_is_no_test_are_no_verdicts() {
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
fn what_a_sanitizer_found_is_told() {
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
