//! The universal properties over generated texts, and over the shapes that break things.

mod corpus;
mod properties;

use std::sync::LazyLock;

use concertina::config::Preset;
use concertina::pipeline::{CompressOptions, FusionEngine, FusionPipeline, Role, StageOption, StageOptions};
use properties::{Case, check, engines};
use proptest::prelude::*;

static ENGINES: LazyLock<Vec<(String, FusionEngine)>> = LazyLock::new(engines);

/// All stages together in every preset and as a system message; each alone as it is by default.
fn hold(name: &str, text: &str) {
    for (index, (engine_name, engine)) in ENGINES.iter().enumerate() {
        let mut cases = vec![(Preset::Balanced, Role::Tool)];
        if index == 0 {
            cases.extend([(Preset::Lossless, Role::Tool), (Preset::Max, Role::Tool), (Preset::Balanced, Role::System)]);
        }
        for (preset, role) in cases {
            let options = CompressOptions { preset, role, ..CompressOptions::default() };
            let name = format!("{name} ({engine_name}, {}, {role:?})", preset.as_str());
            check(&Case { name: &name, engine, options: &options, text });
        }
    }
}

/// Lines that stages and the runner care about.
fn line() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "",
        "  ",
        "## Installation",
        "```",
        "A paragraph that is long enough to be worth a reference when it comes again, word for word.",
        "同じ段落がもう一度現れるとき、参照で置き換えられるだけの長さがあるはずです。同じ段落がもう一度現れるとき。",
        "Current date: 2026-11-21",
        "Session ID: 7f9c2ba4e88f827d",
        "[[changes with each call: 1,3]]",
        "[[FOLD:semanticDedup 0]] repeats 1 line above; line 1: \"## Installation\"",
        "[[FOLD:quantumLock 3]]",
        "[[FOLD:rle 1]] x",
        "[[REWIND:sha256:0123456789abcdef]] original: 5 lines",
        "[… 3 lines 4-6]",
        "[[DEDUP_REF:1:0]] same as read a.rs",
        "2026-11-21T10:00:00Z INFO server started on port 8080",
        "2026-11-21T10:00:01Z ERROR connection to 10.0.0.1 refused",
        "{\"id\": 1, \"name\": \"a\"}",
        "src/main.rs:12:    let x = 1;",
        "@@ -1,3 +1,3 @@",
        "+added",
        "-removed",
        "fn main() {",
        "}",
        "with carriage return\r",
        "\x1b[1;32mok\x1b[0m \x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\",
        "fetching 10%\rfetching 50%\rfetching 100%, done.",
        "\x1b[2A\x1b[2Kone row up, and \x1b[999Cfar to the right",
        "N\x08NA\x08A _\x08o _\x08p\x08\x08",
        "==================================================   ",
        "\x1b]0;a title that never ends",
        "nul \0 and odd \u{200b} spaces \u{a0} and 🦀",
    ]);
    prop_oneof![8 => known.prop_map(str::to_owned), 1 => ".{0,40}"]
}

fn text() -> impl Strategy<Value = String> {
    let block = (prop::collection::vec(line(), 0..12), 1..4_usize)
        .prop_map(|(lines, times)| vec![lines.join("\n"); times].join("\n"));
    let joint = prop::sample::select(vec!["\n", "\n\n", "\r\n"]);
    let before = prop::sample::select(vec!["", "", "", "web-1  | ", ">> ", "2026-11-21T10:00:00Z "]);
    (prop::collection::vec(block, 0..6), joint, any::<bool>(), before).prop_map(|(blocks, joint, again, before)| {
        let text = if again { [&blocks[..], &blocks[..]].concat() } else { blocks }.join(joint);
        text.split_inclusive('\n').flat_map(|line| [before, line]).collect::<String>()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn the_properties_hold_for_generated_texts(text in text()) {
        hold("generated", &text);
    }
}

#[test]
fn the_properties_hold_for_what_fuzzing_found() {
    for input in corpus::inputs("fuzz") {
        hold(&input.name, input.text().expect("fuzzing tries texts"));
    }
}

#[test]
fn the_properties_hold_for_shapes_that_break_things() {
    let paragraph =
        "One line of the paragraph.\nAnother line of the paragraph, and some.\nThe last line of it, at last.\n";
    for (name, text) in [
        ("empty", String::new()),
        ("one newline", "\n".into()),
        ("40,000 newlines", "\n".repeat(40_000)),
        ("one character", "a".repeat(200_000)),
        ("blanks", " ".repeat(100_000)),
        ("one line", "word ".repeat(40_000)),
        ("look-alikes", "[[FOLD:semanticDedup 9000]] x\n".repeat(10_000)),
        ("openings", "[[FOLD:".repeat(20_000)),
        ("repeated paragraphs", format!("{paragraph}\n").repeat(3_000)),
        ("crlf", paragraph.replace('\n', "\r\n").repeat(200)),
        ("nul", "a\0b\n".repeat(5_000)),
        ("cjk", "同じ段落がもう一度現れる。\n".repeat(5_000)),
    ] {
        hold(name, &text);
    }
}

#[test]
fn folds_that_double_the_text_before_them_stop_at_the_limit() {
    let paragraph =
        "One line of the paragraph.\nAnother line of the paragraph, and some.\nThe last line of it, at last.\n";
    let doubling = |n: usize| {
        let lines = 3_usize << n.min(40);
        format!("[[FOLD:semanticDedup 0]] repeats {lines} lines above; line 1: \"One line of the paragraph.\"\n")
    };
    let bomb = paragraph.to_owned() + &(0..60).map(doubling).collect::<String>();
    let restored = concertina::pipeline::restore(&bomb, &[]);
    assert!(restored.len() > bomb.len() * 100, "they are genuine: {}", restored.len());
    assert!(restored.len() <= 16 << 20, "{}", restored.len());
    assert!(restored.ends_with("One line of the paragraph.\"\n"), "what is beyond the limit stays as it came");
    let tail = bomb + &"A line behind them.\n".repeat(600_000);
    let restored = concertina::pipeline::restore(&tail, &[]);
    assert!(
        restored.len() > tail.len() && restored.len() <= 16 << 20,
        "what stands behind folds counts: {}",
        restored.len()
    );
}

/// Neighbours: tables with three delimiters, aligned columns and a log, each with line ends that are carriage returns alone.
#[test]
fn lines_that_end_in_carriage_returns_are_lines() {
    let engine = &ENGINES[0].1;
    let rows = |row: &dyn Fn(usize) -> String| (0..200).map(row).collect::<Vec<_>>().join("\n");
    for text in [
        rows(&|at| format!("{at},customer {},{}.50", at % 9, at * 3)),
        rows(&|at| format!("{at};customer {};{}.50", at % 9, at * 3)),
        rows(&|at| format!("{at}\tcustomer {}\t{}.50", at % 9, at * 3)),
        rows(&|at| format!("{at:>5}  customer {:<4}  {:>7}.50", at % 9, at * 3)),
        rows(&|at| format!("2026-01-01T10:{:02}:{:02}Z INFO request {at} took {} ms", at / 60, at % 60, at * 7 % 90)),
    ] {
        let old = text.replace('\n', "\r");
        hold("old line ends", &old);
        let (with, without) = (compressed(engine, &text), compressed(engine, &old));
        assert!(without.tokens_after * 10 < without.tokens_before * 7, "{}", without.text);
        assert!(without.tokens_after <= with.tokens_after + 40, "{}", without.text);
        assert_eq!(concertina::pipeline::restore(&without.text, &without.originals), old);
    }
}

fn compressed(engine: &FusionEngine, text: &str) -> concertina::pipeline::Compressed {
    engine.compress(text, &CompressOptions::default(), &|| 0.0)
}

/// Neighbours: blocks of 24 like lines that come 4 to 7 times with other numbers, one of them exactly as before, at each place.
#[test]
fn an_exact_copy_is_weighed_against_the_whole() {
    let without = StageOptions {
        stages: [("semanticDedup".to_owned(), StageOption { enabled: false, ..StageOption::default() })].into(),
        ..StageOptions::default()
    };
    let without = FusionEngine::new(FusionPipeline::build(&without, Vec::new()).unwrap());
    let names =
        ["state kept for", "queue size", "opens sent", "keepalives received", "prefixes current", "used as bestpath"];
    let block = |seed: usize| {
        let line = |at: usize| {
            format!(
                "  {} {}: {} of {}\n",
                names[at % 6],
                ["in", "out", "all", "max"][at / 6],
                seed * 31 % 97 + at,
                seed * 7
            )
        };
        (0..24).map(line).collect::<String>() + "\n"
    };
    for blocks in 4..8 {
        for copy in 1..blocks {
            let text: String = (0..blocks).map(|at| block(if at == copy { copy } else { at + 1 })).collect();
            let (all, fewer) = (compressed(&ENGINES[0].1, &text), compressed(&without, &text));
            assert!(
                all.tokens_after * 100 <= fewer.tokens_after * 105,
                "{blocks} {copy}: {}\n{}",
                all.text,
                fewer.text
            );
        }
    }
}
