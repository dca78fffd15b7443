//! Checks the universal properties on generated texts and on difficult shapes.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use concertina::config::Preset;
use concertina::content::{Hints, detect};
use concertina::pipeline::fold::{self, Fold};
use concertina::pipeline::stages::STAGES;
use concertina::pipeline::{
    CompressOptions, FusionContext, FusionEngine, FusionPipeline, Role, StageOption, StageOptions, restore,
    restore_whole,
};
use proptest::prelude::*;

use crate::corpus;
use crate::properties::{Case, check, engines};

static ENGINES: LazyLock<Vec<(String, FusionEngine)>> = LazyLock::new(engines);

/// Checks all stages together with every preset and as a system message, and each stage alone with its defaults.
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

/// Generates lines that are significant for stages and the runner.
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
        "[[FOLD:semanticDedup 0 awgabg]] repeats 1 line above; line 1: \"## Installation\"",
        "[[FOLD:semanticDedup 0 aaaaaa]] repeats 1 line above; line 1: \"## Installation\"",
        "[[FOLD:semanticDedup 0]] repeats 1 line above; line 1: \"## Installation\"",
        "[[FOLD:quantumLock 3 abcdef]]",
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
    let is_old = prop::sample::select(vec![false, false, false, true]);
    let before = prop::sample::select(vec!["", "", "", "web-1  | ", ">> ", "2026-11-21T10:00:00Z "]);
    let parts = (prop::collection::vec(block, 0..6), joint, any::<bool>(), before, is_old);
    parts.prop_map(|(blocks, joint, again, before, is_old)| {
        let text = if again { [&blocks[..], &blocks[..]].concat() } else { blocks }.join(joint);
        let text: String = text.split_inclusive('\n').flat_map(|line| [before, line]).collect();
        if is_old { text.replace('\n', "\r") } else { text }
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
        ("look-alikes", "[[FOLD:semanticDedup 9000 abcdef]] x\n".repeat(10_000)),
        ("openings", "[[FOLD:".repeat(20_000)),
        ("repeated paragraphs", format!("{paragraph}\n").repeat(3_000)),
        ("crlf", paragraph.replace('\n', "\r\n").repeat(200)),
        ("cr", paragraph.replace('\n', "\r").repeat(200)),
        ("progress", "fetching 10%\rfetching 50%\rfetching 100%, done.".into()),
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
    let (mut bomb, mut unfolded) = (paragraph.to_owned(), paragraph.to_owned());
    for n in 0..60 {
        let legend = format!("repeats {} lines above; line 1: \"One line of the paragraph.\"", 3_usize << n.min(40));
        let replaced = unfolded.trim_end();
        bomb += &format!("{}\n", Fold::new("semanticDedup", legend, None).sealed(replaced));
        // Text beyond the limit is not restored, so its seal is irrelevant.
        if unfolded.len() < 16 << 20 {
            unfolded = format!("{unfolded}{replaced}\n");
        }
    }
    let restored = restore(&bomb, &[]);
    assert!(restored.len() > bomb.len() * 100, "they are genuine: {}", restored.len());
    assert!(restored.len() <= 16 << 20, "{}", restored.len());
    assert!(restored.ends_with("One line of the paragraph.\"\n"), "what is beyond the limit stays as it came");
    let tail = bomb + &"A line behind them.\n".repeat(600_000);
    let restored = restore(&tail, &[]);
    assert!(
        restored.len() > tail.len() && restored.len() <= 16 << 20,
        "what stands behind folds counts: {}",
        restored.len()
    );
}

/// Covers tables with three delimiters, aligned columns and a log, each with bare carriage returns as line ends.
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
        assert_eq!(restore(&without.text, &without.originals), old);
    }
}

fn compressed(engine: &FusionEngine, text: &str) -> concertina::pipeline::Compressed {
    engine.compress(text, &CompressOptions::default(), &|| 0.0)
}

/// Covers blocks of 24 similar lines that occur 4 to 7 times with other numbers, one of them exactly as before, at each
/// place.
#[test]
fn an_exact_copy_is_weighed_against_the_whole() {
    let without = StageOptions {
        stages: [("semanticDedup".to_owned(), StageOption { enabled: false, ..StageOption::default() })].into(),
        ..StageOptions::default()
    };
    let without = FusionEngine::new(FusionPipeline::build(&without).unwrap());
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

/// Replaces, removes, inserts or swaps characters at a random place.
fn mutated(text: &str, dice: &mut u64) -> String {
    let mut roll = |most: usize| {
        *dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*dice >> 33) as usize % most.max(1)
    };
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..=roll(3) {
        let (at, other) = (roll(characters.len()), roll(characters.len()));
        match roll(5) {
            0 => characters[at] = ['0', '9', 'a', '^', '.', ' ', '\n', '"'][roll(8)],
            1 => drop(characters.remove(at)),
            2 => characters.insert(at, ['1', 'x', ',', '\n', '{', '*'][roll(6)]),
            3 => characters.swap(at, other),
            _ => characters.truncate(at.max(1)),
        }
        if characters.is_empty() {
            break;
        }
    }
    characters.into_iter().collect()
}

/// Returns the sealed folds that each stage makes of real texts, with the text of each.
fn sealed_folds() -> BTreeMap<&'static str, Vec<(Fold, String)>> {
    let corpus = ["code", "diffs", "json", "logs", "search", "tables", "prose"];
    let labelled = ["detection/diff", "detection/json", "detection/log", "detection/search", "detection/table"];
    // The texts of the golden folds have folds of every stage.
    let kinds = corpus.into_iter().chain(labelled).chain(["format"]);
    let is_text = |input: &corpus::Input| input.bytes.len() < 20_000 && !input.name.ends_with(".fold");
    let inputs = kinds.flat_map(corpus::inputs).filter(is_text);
    let mut folds: BTreeMap<&str, Vec<(Fold, String)>> = BTreeMap::new();
    for input in inputs {
        let Some(text) = input.text() else { continue };
        let hints = Hints::default();
        let detection = detect(text, &hints);
        let context = FusionContext {
            content_type: detection.content_type,
            language: detection.language,
            hints: &hints,
            preset: Preset::Lossless,
            ..FusionContext::of(text, &detection.segments)
        };
        for (_, stage) in STAGES.iter().filter(|(_, stage)| stage.should_apply(&context)) {
            for edit in stage.apply(&context) {
                let (fold, _) = fold::parse(&edit.text).expect("an edit without loss is a fold");
                let replaced = &text[edit.range];
                if concertina_format::unfold(&fold).as_deref() == Some(replaced) {
                    folds.entry(stage.name()).or_default().push((fold.sealed(replaced), replaced.to_owned()));
                }
            }
        }
    }
    folds
}

/// Makes one to three changes anywhere in the header, legend or body of folds: 2,000 changed folds of each stage. A
/// header that has lost its seal is ordinary text.
#[test]
fn a_changed_fold_is_restored_exactly_or_said_to_be_damaged() {
    let folds = sealed_folds();
    assert!(folds.len() >= 5, "stages with folds: {:?}", folds.keys());
    let mut dice = 1;
    for (name, folds) in &folds {
        let mut damaged = 0;
        for (fold, replaced) in folds.iter().cycle().take(2_000) {
            let changed = mutated(&fold.to_string(), &mut dice);
            let header = changed.split('\n').next().and_then(fold::parse_header);
            if header.is_none_or(|(header, _)| !header.claims_a_seal()) {
                continue;
            }
            match restore_whole(&changed, &[]) {
                Ok(restored) => assert!(restored.starts_with(replaced), "{name}: {changed:.300}"),
                Err(error) => {
                    assert_eq!(error.code(), "CONCERTINA_FOLD_DAMAGED");
                    damaged += 1;
                }
            }
        }
        assert!(damaged > 500, "{name}: {damaged}");
    }
}
