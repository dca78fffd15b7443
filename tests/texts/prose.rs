//! Checks what prose shortening must never do, on every real text. The checks use plain patterns of this file, not the
//! segmenter.

use concertina::config::Encoding;
use concertina::prose::{Intensity, Kind, Objective, Receipt, compress_prose, expand, expand_listed, tokenize};
use concertina::tokens;
use proptest::prelude::*;
use regex::Regex;

use crate::shortening::lost;
use crate::{corpus, shortening};

/// The maximum number of bytes of one session text that are checked.
const SESSION_TEXT_BYTES: usize = 6000;

/// The sampling step for texts of sessions.
const SESSION_TEXT_STEP: usize = 7;

/// Returns a pattern for technical tokens: fences, code spans, URLs, mail, paths, flags, assignments, numbers,
/// identifiers.
fn technical() -> Regex {
    Regex::new(concat!(
        r"(?ms)^[ \t>]*```.*?^[ \t>]*```",
        r"|``[^\n]+?``|`[^`\n]+`",
        r"|[a-z]+://[^\s)>\]]+",
        r"|[\w.+-]+@[\w-]+\.[\w.]+",
        r"|(?:~|\.{1,2})?(?:/[\w.@+-]+){1,}/?|[A-Za-z]:\\[\w.\\-]+|\w+(?:/[\w.@+-]+)+",
        r"|(?:^|\s)--?[A-Za-z][\w-]*(?:=\S+)?",
        r"|\b[A-Z_]{2,}=\S+",
        r"|\bv?\d[\d.,:/-]*(?:[KMGT]i?B|[a-z]{1,3}|%)?",
        r"|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*\b|\b\w+(?:\.\w+)+\b|\b\w+(?:-\w+)+\b|\b[A-Z]{3,}\b|\b\w+\(\)",
    ))
    .expect("the pattern is valid")
}

/// Returns the number of bytes that the listed substitutions save.
fn put_in(receipt: &Receipt) -> usize {
    receipt.substitutions.iter().map(|one| one.count * (one.long.len() - one.short.len())).sum()
}

fn cases() -> impl Iterator<Item = (Intensity, Objective)> {
    Intensity::ALL.into_iter().flat_map(|intensity| Objective::ALL.map(|objective| (intensity, objective)))
}

#[test]
fn no_technical_token_is_altered_on_real_text() {
    let pattern = technical();
    let mut looked_at = 0;
    let (mut before, mut after) = ([0; 6], [0; 6]);
    for (name, text) in shortening::texts(SESSION_TEXT_STEP, SESSION_TEXT_BYTES) {
        let expected: Vec<&str> = pattern.find_iter(&text).map(|found| found.as_str()).collect();
        looked_at += expected.len();
        for (index, (intensity, objective)) in cases().enumerate() {
            let case = format!("{name} ({}, {})", intensity.as_str(), objective.as_str());
            let (shorter, receipt) = compress_prose(&text, intensity, objective);
            assert_eq!(lost(&expected, &shorter), None, "{case}");
            assert_eq!(lost(&expected, &expand(&shorter)), None, "{case}, expanded");
            let long = expand_listed(&shorter, &receipt.substitutions);
            assert_eq!(lost(&expected, &long), None, "{case}, expanded");
            assert_eq!(long.len(), shorter.len() + put_in(&receipt), "{case}: not all that is listed came back");
            assert_eq!(shorter.lines().count(), text.lines().count(), "{case}: a line is gone");
            assert!(shorter.len() <= text.len(), "{case}");
            let (again, _) = compress_prose(&shorter, intensity, objective);
            assert!(again == shorter, "{case}: twice is not once: {:?}", difference(&shorter, &again));
            let count = |text: &str| tokens::count(text, Encoding::O200kBase);
            assert_eq!((receipt.tokens_before, receipt.tokens_after), (count(&text), count(&shorter)), "{case}");
            assert!(objective == Objective::Chars || receipt.tokens_after <= receipt.tokens_before, "{case}");
            before[index] += receipt.tokens_before;
            after[index] += receipt.tokens_after;
        }
    }
    assert!(looked_at > 50, "{looked_at} technical tokens");
    for (index, (intensity, objective)) in cases().enumerate() {
        let saved = 100.0 - 100.0 * after[index] as f64 / before[index] as f64;
        println!(
            "{} {}: {} -> {} tokens, {saved:.1} % saved",
            intensity.as_str(),
            objective.as_str(),
            before[index],
            after[index]
        );
    }
}

fn difference<'a>(first: &'a str, second: &'a str) -> Option<(&'a str, &'a str)> {
    first.lines().zip(second.lines()).find(|(first, second)| first != second)
}

#[test]
fn the_parts_of_a_text_are_the_text() {
    for (name, text) in shortening::texts(SESSION_TEXT_STEP, SESSION_TEXT_BYTES) {
        let mut end = 0;
        for token in tokenize(&text) {
            assert_eq!(token.range.start, end, "{name}");
            assert!(token.range.end > end && text.is_char_boundary(token.range.end), "{name}");
            end = token.range.end;
        }
        assert_eq!(end, text.len(), "{name}");
    }
}

#[test]
fn the_kind_of_a_line_does_not_depend_on_removed_words() {
    for text in [
        "the SELECT really the; the. FROM I think that, please ",
        "it seems that,\nshould probably. = the ",
        "is kind of. = ` the.\nit seems that ",
        "it seems that,\ngit",
        "it seems that,\ngit it seems that the cache",
        "it seems that,\nis kind of: the cache",
        "it seems that,\nmake use of a::b",
        "the git with please = with ",
        "please ```sh\nthe a\n```\n the a\n",
    ] {
        for (intensity, objective) in cases() {
            let (once, _) = compress_prose(text, intensity, objective);
            let (twice, _) = compress_prose(&once, intensity, objective);
            assert_eq!(twice, once, "{text:?} {} {}", intensity.as_str(), objective.as_str());
        }
    }
}

#[test]
fn filler_costs_at_least_thirty_percent() {
    let mut totals = [[0; 2]; 3];
    for input in corpus::inputs("prose_filler") {
        let text = input.text().expect("the fixtures are text");
        for (total, intensity) in totals.iter_mut().zip(Intensity::ALL) {
            let (_, receipt) = compress_prose(text, intensity, Objective::Tokens);
            println!("{} {}: {:.1} %", input.name, intensity.as_str(), receipt.saved_ratio * 100.0);
            total[0] += receipt.tokens_before;
            total[1] += receipt.tokens_after;
        }
    }
    let saved = totals.map(|[before, after]| 1.0 - after as f64 / before as f64);
    println!("lite, full, ultra: {saved:.3?}");
    assert!(saved[1] >= 0.30, "{saved:.3?}");
}

/// Generates everything that entries, guards and the segmenter examine, in any order.
fn prose() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "the",
        "a",
        "an",
        "The",
        "A",
        "I",
        "really",
        "just",
        "very",
        "kind of",
        "is kind of",
        "in order to",
        "order",
        "in",
        "to",
        "it seems that",
        "it",
        "I think that",
        "I think",
        "that",
        "might want to",
        "might",
        "want",
        "probably",
        "should probably",
        "we",
        "not",
        "never",
        "please",
        "Please",
        "sure",
        "Sure",
        "thanks",
        "of course",
        "happy to help",
        "as a matter of fact",
        "please note that",
        "note",
        "configuration",
        "Configuration",
        "implementation",
        "environment",
        "asynchronous",
        "may possibly",
        "with",
        "and",
        "because",
        "max",
        "maximum",
        "w/",
        "b/c",
        "git",
        "git push",
        "--force",
        "delete",
        "safe",
        "config.json",
        "`the a`",
        "\"the name\"",
        "5",
        "min",
        "May",
        "x",
        "=",
        "error",
        "few",
        "number",
        "a number of",
        "due to the fact that",
        "is able to",
        "SELECT",
        "FROM",
        "node",
        "README",
        "don't",
        "don’t",
        "name:",
        "Note:",
        "same",
        "é",
        "日本",
        "(",
        ")",
        "[",
        "**",
        "'",
        "\"",
        "`",
        "---",
        "|",
    ]);
    let gap = prop::sample::select(vec![
        " ", " ", " ", " ", " ", "  ", ", ", ". ", "! ", "? ", "\n", "\n\n", "\n- ", "\n> ", "; ", " — ", ".\n", ",\n",
        ": ", " = ",
    ]);
    prop::collection::vec((word, gap), 0..40)
        .prop_map(|parts| parts.into_iter().flat_map(|(word, gap)| [word, gap]).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn shortening_any_words_is_idempotent_and_keeps_lines(text in prose()) {
        for (intensity, objective) in cases() {
            let (shorter, receipt) = compress_prose(&text, intensity, objective);
            let (again, _) = compress_prose(&shorter, intensity, objective);
            prop_assert_eq!(&again, &shorter, "{} {}", intensity.as_str(), objective.as_str());
            prop_assert_eq!(shorter.matches('\n').count(), text.matches('\n').count());
            prop_assert!(objective == Objective::Chars || receipt.tokens_after <= receipt.tokens_before);
            let long = expand_listed(&shorter, &receipt.substitutions);
            prop_assert_eq!(long.len(), shorter.len() + put_in(&receipt), "{}: {:?}", &shorter, &receipt.substitutions);
            let stays = |kind: Kind| matches!(kind, Kind::InlineCode | Kind::Quoted | Kind::Fence | Kind::BlockQuote);
            for token in tokenize(&text).iter().filter(|token| stays(token.kind)) {
                prop_assert!(shorter.contains(&text[token.range.clone()]));
            }
        }
    }
}
