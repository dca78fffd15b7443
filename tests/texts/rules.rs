//! Checks what rule-file shortening must never do, on every real text. The checks use plain patterns of this file, not
//! the segmenter.

use std::sync::atomic::{AtomicUsize, Ordering};

use concertina::config::Encoding;
use concertina::rules::{
    Dictionary, Objective, RuleFile, RulesLevel, RulesOptions, Transform, apply_alone, compress_rules, preprocess,
    protected_spans,
};
use concertina::tokens;
use proptest::prelude::*;
use regex::Regex;

use crate::{corpus, shortening};

/// The maximum number of bytes of one session text that are checked.
const SESSION_TEXT_BYTES: usize = 4000;

/// The sampling step for texts of sessions.
const SESSION_TEXT_STEP: usize = 29;

/// Returns a pattern for technical tokens, prohibitions and orders.
fn technical() -> Regex {
    Regex::new(concat!(
        r"(?ms)^```.*?^```[ \t]*$",
        r"|``[^\n]+?``|`[^`\n]+`",
        r"|[a-z]+://[^\s)>\]*|]+",
        r"|[\w.+-]+@[\w-]+\.\w+",
        r"|(?:~|\.{1,2})?(?:/[\w.@+-]+){1,}/?|[A-Za-z]:\\[\w.\\-]+|\w+(?:/[\w.@+-]+)+",
        r"|\s--[A-Za-z][\w-]*(?:=[^\s|*]+)?",
        r"|\b[A-Z_]{2,}=[^\s|*]+",
        r"|\bv?\d[\d.,:/-]*(?:[KMGT]i?B|[a-z]{1,3}\b|%)?",
        r"|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*\b|\b\w+(?:\.\w+)+\b|\b\w+(?:-\w+)+\b|\b[A-Z]{3,}\b|\b\w+\(\)",
        r"|(?i:\b(?:never|don't|not|without|cannot|can't|won't|shouldn't|unless|always|must|required|only|exactly)\b)",
        r"|(?i:\b(?:push|delete|commit|deploy|block|destroy|drop|truncate|kill|revert|reset|force|override|disable|remove|purge|wipe)\b)",
    ))
    .expect("the pattern is valid")
}

/// Returns a text without Mermaid diagrams, which shortening removes by design.
fn without_diagrams(text: &str) -> String {
    let diagram = Regex::new(r"(?ms)^```mermaid.*?^```[ \t]*\n?").expect("the pattern is valid");
    diagram.replace_all(text, "").into_owned()
}

/// Returns the first of these tokens that is missing. A table's header moves into its rows, so the order may differ
/// there.
fn missing<'a>(tokens: &[&'a str], text: &str) -> Option<&'a str> {
    shortening::lost(tokens, text).filter(|token| !text.contains(token.trim()))
}

fn options(level: RulesLevel, objective: Objective, max_chars: Option<usize>) -> RulesOptions {
    RulesOptions { level, objective, max_chars, dictionary: Dictionary::default() }
}

fn cases() -> Vec<RulesOptions> {
    let levels = [RulesLevel::Light, RulesLevel::Standard, RulesLevel::Aggressive];
    let mut cases: Vec<RulesOptions> =
        levels.into_iter().flat_map(|level| Objective::ALL.map(|objective| options(level, objective, None))).collect();
    cases.push(options(RulesLevel::Aggressive, Objective::Chars, Some(0)));
    cases
}

fn name(case: &RulesOptions) -> String {
    format!("{} {} {:?}", case.level.as_str(), case.objective.as_str(), case.max_chars)
}

/// Runs a check for every text on all cores.
fn for_each_text(check: impl Fn(&str, &str) + Sync) {
    let texts = shortening::texts(SESSION_TEXT_STEP, SESSION_TEXT_BYTES);
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((name, text)) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(name, text);
                }
            });
        }
    });
}

#[test]
fn no_technical_token_is_altered_and_no_token_is_added_on_real_text() {
    let pattern = technical();
    let looked_at = AtomicUsize::new(0);
    for_each_text(|file, text| {
        let bare = without_diagrams(text);
        let expected: Vec<&str> = pattern.find_iter(&bare).map(|found| found.as_str()).collect();
        looked_at.fetch_add(expected.len(), Ordering::Relaxed);
        let count = |text: &str| tokens::count(text, Encoding::O200kBase);
        let before = count(text);
        for case in cases() {
            let shorter = preprocess(text, &case);
            let label = format!("{file} ({})", name(&case));
            assert_eq!(missing(&expected, &shorter), None, "{label}");
            assert!(count(&shorter) <= before, "{label}: {before} tokens became {}", count(&shorter));
            assert!(shorter.encode_utf16().count() <= text.encode_utf16().count(), "{label}: longer");
            if case.max_chars.is_none() {
                let again = preprocess(&shorter, &case);
                let difference = shorter.lines().zip(again.lines()).find(|(first, second)| first != second);
                assert!(again == shorter, "{label}: twice is not once: {difference:?}");
            }
        }
    });
    assert!(looked_at.load(Ordering::Relaxed) > 50, "{looked_at:?} technical tokens");
}

#[test]
fn protected_spans_are_in_order_apart_and_on_character_boundaries() {
    for_each_text(|file, text| {
        let mut end = 0;
        for span in protected_spans(text) {
            assert!(span.range.start >= end && span.range.end > span.range.start, "{file}: {span:?}");
            assert!(text.get(span.range.clone()).is_some(), "{file}: {span:?}");
            end = span.range.end;
        }
    });
}

#[test]
fn rule_files_lose_the_published_share_of_characters_where_protection_allows() {
    let files: Vec<String> =
        corpus::inputs("rules").iter().filter_map(|input| input.text().map(str::to_owned)).collect();
    let chars =
        |texts: &mut dyn Iterator<Item = String>| texts.map(|text| text.encode_utf16().count()).sum::<usize>() as f64;
    let before = chars(&mut files.iter().cloned());
    let saved =
        |case: &RulesOptions| 100.0 - 100.0 * chars(&mut files.iter().map(|text| preprocess(text, case))) / before;
    let shares: Vec<f64> = cases()
        .iter()
        .map(|case| {
            let share = saved(case);
            println!("{}: {share:.1} % of the characters of {} rule files", name(case), files.len());
            share
        })
        .collect();
    let (light, standard, squeezed) = (shares[0], shares[2], shares[6]);
    assert!(light > 0.0 && standard > light && squeezed >= standard, "{shares:?}");
}

#[test]
fn joined_files_keep_the_budget_and_name_what_is_left_out() {
    let files: Vec<RuleFile> = corpus::inputs("rules")
        .iter()
        .filter_map(|input| Some(RuleFile { name: input.name.clone(), text: input.text()?.to_owned() }))
        .collect();
    for max in [0, 500, 8000, 60_000] {
        for objective in Objective::ALL {
            let done = compress_rules(&files, &options(RulesLevel::Aggressive, objective, Some(max)));
            assert!(done.text.encode_utf16().count() <= max, "{max}");
            assert!(done.tokens_after <= done.tokens_before, "{max} {}", objective.as_str());
            assert_eq!(done.files.len(), files.len());
            assert_eq!(done, compress_rules(&files, &options(RulesLevel::Aggressive, objective, Some(max))));
        }
    }
}

#[test]
fn shortening_returns_for_any_text() {
    for part in [
        " ",
        "\n",
        "a",
        "*",
        "**a** ",
        "| a ",
        "| a |\n",
        "|-|\n",
        "# a\n",
        "`",
        "---\n\n",
        "[a]\n",
        "```mermaid\n",
        "the ",
        "never ",
        "configuration ",
        "é\r\n",
        "\0",
        "a\n=\n",
    ] {
        let text = part.repeat(40_000 / part.len());
        let shorter = preprocess(&text, &options(RulesLevel::Aggressive, Objective::Chars, Some(0)));
        assert!(shorter.len() <= text.len(), "{part:?}");
        for transform in Transform::ALL {
            apply_alone(&text, transform);
        }
    }
}

/// Generates everything that transforms examine, in any order.
fn rules() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "the",
        "The",
        "a",
        "of",
        "to",
        "need",
        "is",
        "stored",
        "which is",
        "that are",
        "not",
        "never",
        "must",
        "NOT",
        "please",
        "configuration",
        "Configuration",
        "database",
        "authorization",
        "documentation",
        "deployment",
        "understanding",
        "responsibility",
        "wandering",
        "wondering",
        "make sure to",
        "such as",
        "git push",
        "`the a`",
        "**bold**",
        "**the bold**",
        "*it*",
        "__x__",
        "**",
        "*",
        "| a | the |\n|---|---|\n| `b` | configuration |\n",
        "|  a |\n| -- |\n",
        "## Title the\n",
        "# T\n",
        "---",
        "[the title]\n",
        "```mermaid\ngraph\n```\n",
        "```sh\nthe a\n```\n",
        "key: value\n",
        "Key: the value\n",
        "    code the\n",
        "- the item",
        "1. the",
        "(",
        ")",
        "\"the name\"",
        "5 GB",
        "config.json",
        "--force",
        "é",
        "really",
        "very",
        "in order to",
        "<!-- the -->",
        "====",
    ]);
    let gap = prop::sample::select(vec![
        " ", " ", " ", " ", "  ", ", ", ". ", "? ", "\n", "\n", "\n\n", "\n\n\n", " \n", ": ", "; ",
    ]);
    prop::collection::vec((word, gap), 0..30)
        .prop_map(|parts| parts.into_iter().flat_map(|(word, gap)| [word, gap]).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn shortening_any_rules_is_idempotent_and_adds_no_tokens(text in rules()) {
        let count = |text: &str| tokens::count(text, Encoding::O200kBase);
        for case in cases() {
            let shorter = preprocess(&text, &case);
            prop_assert!(count(&shorter) <= count(&text), "{}: {shorter:?}", name(&case));
            prop_assert_eq!(shorter.matches("never").count(), text.matches("never").count());
            prop_assert!(text.matches("`the a`").count() <= shorter.matches("`the a`").count());
            if case.max_chars.is_none() {
                prop_assert_eq!(preprocess(&shorter, &case), shorter, "{}", name(&case));
            }
        }
    }
}
