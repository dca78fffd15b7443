//! Tests of detection on real inputs, without hints.

#[path = "../detection/labels.rs"]
mod labels;

use concertina::content::{
    ContentType, Detection, Hints, Language, detect, diff_hunk, hints, hit_line, log, markup_block, numbered,
    time_stamp,
};
use proptest::prelude::*;

fn assert_accuracy(inputs: &[labels::Labelled]) {
    let mut misses = Vec::new();
    for input in inputs {
        let found = detect(&input.text, &Hints::default());
        if found.content_type != input.content_type || found.language != input.language {
            misses.push(format!(
                "{}: {:?} {:?}, not {:?} {:?}",
                input.name, input.content_type, input.language, found.content_type, found.language
            ));
        }
    }
    println!("{} of {} right; missed:\n{}", inputs.len() - misses.len(), inputs.len(), misses.join("\n"));
    assert!(misses.len() * 100 <= inputs.len() * 3, "more than 3 % of {} missed:\n{}", inputs.len(), misses.join("\n"));
}

#[test]
fn nearly_all_real_inputs_are_detected_without_hints() {
    assert_accuracy(&labels::all());
}

#[test]
fn nearly_all_own_inputs_are_detected_without_hints() {
    let own = labels::own();
    for content_type in ContentType::ALL {
        let count = own.iter().filter(|input| input.content_type == *content_type).count();
        assert!(count >= 3, "{count} inputs of type {}", content_type.as_str());
    }
    for language in Language::ALL {
        let count = own.iter().filter(|input| input.language == Some(*language)).count();
        assert!(count >= 2, "{count} inputs in {}", language.as_str());
    }
    assert_accuracy(&own);
}

/// Generates lines that are significant for some detector, in any order and truncated anywhere.
fn mixed_text() -> impl Strategy<Value = String> {
    const LINES: &[&str] = &[
        "",
        "Some words about nothing in particular.",
        "# Title",
        "```rust",
        "````",
        "```",
        "~~~",
        "fn main() {",
        "    let x = 1;",
        "}",
        "{",
        "  \"a\": [1, 2],",
        "  \"b\": {}",
        "[",
        "]",
        "{\"a\": 1}",
        "diff --git a/x b/x",
        "--- a/x",
        "+++ b/x",
        "@@ -1,2 +1,2 @@ fn",
        "-old",
        "+new",
        " same",
        "\\ No newline at end of file",
        "commit 08c7055d9187cdd5bac8ef3d26d0733709bd55b1",
        "Author: a",
        "From a",
        " a | 2 +-",
        "src/a.rs:12:text",
        "src/a.rs-13-text",
        "12:text",
        "--",
        "2024-01-02T03:04:05Z ERROR x",
        "Traceback (most recent call last):",
        "  File \"a.py\", line 1",
        "| a | b |",
        "|---|---|",
        "a,b,c",
        "a\tb",
        "<!DOCTYPE html>",
        "<p>",
        "</html>",
        "     1→x",
        "     2→x",
        "=== a.rs ===",
        "==========",
        "---",
        "$ git log",
        "+ ls -l",
        "# cat a.py",
        "Label:",
        "==> a.py <==",
        "web-1  | {\"a\": 1}",
        "> quoted",
        "\u{4e00}\u{4e8c}",
        "\u{1b}[31m\u{1b}",
        "\u{0}",
    ];
    let line = prop_oneof![4 => prop::sample::select(LINES).prop_map(str::to_owned), 1 => "\\PC{0,12}"];
    let end = prop::sample::select(&["\n", "\n", "\n", "\r\n", "\r", ""][..]);
    prop::collection::vec((line, end), 0..40)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect())
}

fn any_hints() -> impl Strategy<Value = Hints> {
    let path =
        prop::option::of(prop::sample::select(&["a.rs", "a.h", "a.json", "a.md", "a", ""][..]).prop_map(str::to_owned));
    let command = prop::option::of(
        prop::sample::select(&["cat a.py", "rg x", "git diff", "ls", "|", ""][..]).prop_map(str::to_owned),
    );
    let content_type = prop::option::weighted(0.2, prop::sample::select(ContentType::ALL));
    (path, command, content_type).prop_map(|(path, command, content_type)| Hints {
        path,
        command,
        content_type,
        ..Hints::default()
    })
}

/// Checks that the segments cover the text without gaps, that none is empty, and that each starts at a line start.
fn assert_segments(text: &str, found: &Detection) {
    let mut at = 0;
    for segment in &found.segments {
        assert_eq!(segment.range.start, at, "a gap or an overlap in {text:?}");
        assert!(segment.range.end > at, "an empty segment in {text:?}");
        assert!(at == 0 || text.as_bytes()[at - 1] == b'\n', "a segment starts inside a line of {text:?}");
        assert!(segment.language.is_none() || segment.content_type == ContentType::Code);
        at = segment.range.end;
    }
    assert_eq!(at, text.len(), "the segments end before {text:?} does");
}

proptest! {
    #[test]
    fn segments_cover_any_text(text in prop_oneof![mixed_text(), any::<String>()], hints in any_hints()) {
        let found = detect(&text, &hints);
        assert_segments(&text, &found);
        prop_assert_eq!(detect(&text, &hints), found);
    }

    #[test]
    fn helpers_never_panic(line in prop_oneof!["\\PC{0,40}", any::<String>(), "[0-9:\\-/. T\\[\\]()a-z]{0,40}"]) {
        if let Some(stamp) = time_stamp::Stamp::find(&line) {
            prop_assert!(line.is_char_boundary(stamp.range.start) && line.is_char_boundary(stamp.range.end));
        }
        if let Some((range, _)) = log::level(&line) {
            prop_assert!(!line[range].is_empty());
        }
        if let Some(numbered) = numbered::NumberedLine::parse(&line) {
            prop_assert_eq!(format!("{}{}", numbered.prefix, numbered.text), line.clone());
        }
        for (row, read) in hit_line::read_lines(&line).into_iter().chain([(line.as_str(), hit_line::read_line(&line))]) {
            if let hit_line::Row::Hit(hit) = read {
                prop_assert!(hit.is_headed || row.starts_with(hit.path));
                prop_assert!(row.ends_with(hit.text) && hit.place.ends_with(hit.text));
                let is_whole = hit.place_and_text().is_none_or(|(place, text)| hit.place.len() == place.len() + 1 + text.len());
                prop_assert!(is_whole);
            }
        }
        diff_hunk::HunkHeader::parse(&line);
        diff_hunk::StatRow::parse(&line);
        markup_block::Fence::parse(&line);
        hints::of_path(&line);
        hints::of_command(&line);
    }
}

#[test]
fn segments_cover_all_real_inputs() {
    for input in labels::all() {
        assert_segments(&input.text, &detect(&input.text, &Hints::default()));
    }
}

#[test]
fn segments_cover_hostile_texts() {
    for unit in [
        "\n",
        "a",
        " ",
        "[[\n",
        "{\"a\":\n",
        "```\n",
        "````a\n```\n",
        "diff a\n",
        "Index: a\n",
        "--- a\n+++ b\n",
        "From a\nDate: b\n\n",
        "a-1",
        "=== a ===\nb c\n",
        "===\na\n===\nb\n",
        "$ ls\na\n",
        "Label:\na\n",
        "     1\ta\n     2\tb\n",
        "web | a b\n",
        "[1/3] > x: a\n",
        "a\n\n",
        "\0",
    ] {
        let text = unit.repeat(50_000 / unit.len());
        assert_segments(&text, &detect(&text, &Hints::default()));
    }
}
