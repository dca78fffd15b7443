//! Tests of texts with several outputs, and of outputs with prefixes, from real commands: each part is detected by
//! itself.

use std::path::Path;

use concertina::config::Preset;
use concertina::content::ContentType::{self, Code, Diff, Json, Log, Search, Table, Text, Unknown};
use concertina::content::{Detection, Hints, Language, detect};
use concertina::pipeline::{CompressOptions, FusionEngine, restore};

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
    std::fs::read_to_string(path).expect("a fixture")
}

fn detected(text: &str) -> Detection {
    detect(text, &Hints::default())
}

/// Returns the types of the segments, each with the start of its first line.
fn parts(text: &str) -> Vec<(ContentType, &str)> {
    let first = |at: usize| text[at..].trim_start().lines().next().unwrap_or_default();
    detected(text).segments.iter().map(|part| (part.content_type, first(part.range.start))).collect()
}

/// Checks that a text is divided into parts of these types, whose first lines start as given.
fn assert_parts(name: &str, expected: &[(ContentType, &str)]) {
    let text = fixture(name);
    let found = parts(&text);
    let is_alike = |(found, expected): (&(ContentType, &str), &(ContentType, &str))| {
        found.0 == expected.0 && found.1.starts_with(expected.1)
    };
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(is_alike), "{name}: {found:#?}");
}

#[test]
fn headings_part_the_outputs_of_several_commands() {
    for (name, expected) in [
        (
            "rulers",
            &[
                (Unknown, "=== Sources"),
                (Search, "src/content/code.rs"),
                (Unknown, "=== Manifest"),
                (Json, "{"),
                (Unknown, "=== Functions"),
                (Search, "src/content/hints.rs:"),
                (Unknown, "=== Words"),
                (Code, "//! Many words"),
            ][..],
        ),
        (
            "prompts",
            &[
                (Unknown, "$ ls"),
                (Table, "total"),
                (Unknown, "$ git"),
                (Table, "e34ca1f"),
                (Unknown, "$ cat"),
                (Json, "{"),
                (Unknown, "$ sed"),
                (Code, "//! The line numbers"),
            ],
        ),
        (
            "head-of-files",
            &[
                (Unknown, "==> tsconfig.json"),
                (Json, "{"),
                (Unknown, "==> src/content/words.rs"),
                (Code, "//! Many words"),
                (Unknown, "==> fixtures/detection/table"),
                (Table, ""),
                (Unknown, "==> fixtures/detection/code"),
                (Code, ""),
            ],
        ),
        (
            "set-x",
            &[
                (Unknown, "+ git"),
                (Table, "e34ca1f"),
                (Unknown, "+ cat"),
                (Json, "{"),
                (Unknown, "+ find"),
                (Search, "src/history"),
            ],
        ),
        ("banners", &[(Unknown, "####"), (Search, "src/plan"), (Unknown, "####"), (Table, "e34ca1f")]),
        ("labels", &[(Unknown, "Files:"), (Search, "src/plan"), (Unknown, "Last commits:"), (Table, "e34ca1f")]),
        (
            "bare-rules",
            &[(Table, "e34ca1f"), (Unknown, "---"), (Search, "src/history"), (Unknown, "---"), (Log, "2024-03-02")],
        ),
        ("blank-lines", &[(Search, "src/history"), (Log, "2024-03-02"), (Table, "e34ca1f")]),
        ("numbered-files", &[(Code, "1\t//! Many words"), (Code, "1\t")]),
        (
            "a-diff-cut-short",
            &[
                (Unknown, "--- Change"),
                (Text, "Analyze: "),
                (Diff, "diff --git"),
                (Unknown, "--- Sizes"),
                (Unknown, "11754"),
                (Unknown, "--- Files"),
                (Search, "src/plan"),
            ],
        ),
    ] {
        assert_parts(&format!("sections/{name}.txt"), expected);
    }
}

#[test]
fn the_type_of_a_text_is_that_of_most_of_its_lines() {
    for (name, content_type) in [
        ("rulers", Unknown),
        ("prompts", Unknown),
        ("set-x", Json),
        ("banners", Table),
        ("blank-lines", Unknown),
        ("a-diff-cut-short", Diff),
    ] {
        assert_eq!(detected(&fixture(&format!("sections/{name}.txt"))).content_type, content_type, "{name}");
    }
    let language = |name| detected(&fixture(name)).segments.iter().filter_map(|part| part.language).collect::<Vec<_>>();
    assert_eq!(language("sections/numbered-files.txt"), [Language::Rust, Language::Python]);
    assert_eq!(language("sections/rulers.txt"), [Language::Rust]);
}

#[test]
fn one_output_with_rulers_in_it_stays_one() {
    for (name, content_type) in
        [("one-go-test", Log), ("one-unittest", Log), ("one-log-with-rulers", Log), ("one-script", Code)]
    {
        let text = fixture(&format!("sections/{name}.txt"));
        let found = detected(&text);
        let is_kept = |part: &&concertina::content::Segment| part.content_type == content_type;
        let kept: usize = found.segments.iter().filter(is_kept).map(|part| part.range.len()).sum();
        assert_eq!(found.content_type, content_type, "{name}");
        assert!(kept * 10 >= text.len() * 8, "{name}: {:#?}", parts(&text));
    }
    let manual = include_str!("../../CONTRIBUTING.md");
    let found = detected(manual);
    assert_eq!(found.content_type, Text);
    assert!(found.segments.iter().all(|part| matches!(part.content_type, Text | Table | Code)), "{:#?}", parts(manual));
}

#[test]
fn a_heading_says_what_stands_below() {
    let found = detected("$ cat lib.rs\npub mod a;\n$ cat main.py\nx = 1\n$ wc -l lib.rs\n1 lib.rs\n");
    let languages: Vec<_> = found.segments.iter().filter_map(|part| part.language).collect();
    assert_eq!(languages, [Language::Rust, Language::Python]);
}

/// The inputs are `fixtures/prefixes/<name>.<type>.txt`.
#[test]
fn texts_behind_prefixes_are_detected_by_themselves() {
    for (name, content_type) in [
        ("containers.json", Json),
        ("stamps.json", Json),
        ("pods.json", Json),
        ("tags.json", Json),
        ("quote.diff", Diff),
        ("quote.text", Text),
        ("stream.table", Table),
        ("marks.code", Code),
        ("steps.search", Search),
        ("none-levels.log", Log),
        ("none-settings.unknown", Unknown),
    ] {
        assert_eq!(detected(&fixture(&format!("prefixes/{name}.txt"))).content_type, content_type, "{name}");
    }
}

#[test]
fn records_of_containers_fold_as_a_log_and_come_back() {
    let records = fixture("prefixes/containers.json.txt");
    let text: String = (0..4).map(|n| records.replace("\"pid\":41", &format!("\"pid\":{}", 41 + n))).collect();
    assert!(detected(&text).segments.iter().all(|part| part.content_type == Log));
    let done = FusionEngine::default().compress(&text, &CompressOptions::default(), &|| 0.0);
    assert!(done.tokens_after * 10 < done.tokens_before * 8, "{} of {}", done.tokens_after, done.tokens_before);
    assert_eq!(restore(&done.text, &done.originals), text);
}

#[test]
fn texts_of_several_outputs_settle_and_come_back() {
    let engine = FusionEngine::default();
    let dirs = ["sections", "prefixes"].map(|dir| Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(dir));
    let files = dirs.iter().flat_map(|dir| std::fs::read_dir(dir).expect("fixtures"));
    let mut count = 0;
    for file in files.map(|file| file.expect("a fixture").path()) {
        let text = std::fs::read_to_string(&file).expect("a text").repeat(3);
        for preset in [Preset::Lossless, Preset::Balanced, Preset::Max] {
            let options = CompressOptions { preset, ..CompressOptions::default() };
            let once = engine.compress(&text, &options, &|| 0.0);
            assert_eq!(restore(&once.text, &once.originals), text, "{} {preset:?}", file.display());
            let twice = engine.compress(&once.text, &options, &|| 0.0);
            assert_eq!(twice.text, once.text, "{} {preset:?}", file.display());
        }
        count += 1;
    }
    assert!(count >= 20, "{count}");
}
