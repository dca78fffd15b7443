//! `the same again and again` -> `it once, and how often`: runs of equal or counting lines.
//!
//! Lossless. It works on plain text only, and only on the lines that repeat: a fold is sealed, so wherever a later stage
//! knows the kind of text better (logs, JSON, search results, diffs, code), or would shorten the words around, it must stay
//! away. What lines share but for their numbers, paths and addresses among it, is for the codecs after it.

mod runs;

use std::ops::Range;

use crate::config::Encoding;
use crate::content::ContentType;
use crate::pipeline::fold::Fold;
use crate::pipeline::{Edit, FusionContext, Stage};
use crate::tokens;

const NAME: &str = "rle";
/// Less text cannot pay for a header.
const MIN_BYTES: usize = 120;

/// The stage.
#[derive(Debug)]
pub(super) struct Rle;

impl Stage for Rle {
    fn name(&self) -> &'static str {
        NAME
    }

    fn order(&self) -> u32 {
        10
    }

    fn content_types(&self) -> &'static [ContentType] {
        &[ContentType::Text, ContentType::Unknown]
    }

    fn is_lossless(&self) -> bool {
        true
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        context.text.len() >= MIN_BYTES
            && context.segments.iter().any(|segment| self.content_types().contains(&segment.content_type))
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let segments = context
            .segments
            .iter()
            .filter(|segment| self.content_types().contains(&segment.content_type) && context.is_free(&segment.range));
        let at = |start: usize, range: Range<usize>| start + range.start..start + range.end;
        let edits = segments.flat_map(|segment| {
            let found = folds(&context.text[segment.range.clone()], context.encoding);
            found.into_iter().map(move |(range, fold)| Edit::fold(at(segment.range.start, range), &fold))
        });
        edits.collect()
    }

    fn unfold(&self, fold: &Fold) -> Option<String> {
        runs::unfold(fold)
    }
}

/// Whether a fold saves at least a quarter: for less it would only keep later stages away.
fn pays(text: &str, fold: &Fold, encoding: Encoding) -> bool {
    text.len() >= MIN_BYTES && tokens::count(&fold.to_string(), encoding) * 4 <= tokens::count(text, encoding) * 3
}

/// The folds of a text that pay, with their byte ranges, in order.
fn folds(text: &str, encoding: Encoding) -> Vec<(Range<usize>, Fold)> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    if text.contains("[[FOLD:") {
        return Vec::new();
    }
    let lines: Vec<&str> = text.split('\n').collect();
    let mut starts = Vec::with_capacity(lines.len() + 1);
    let mut end = 0;
    for line in &lines {
        starts.push(end);
        end += line.len() + 1;
    }
    starts.push(end);
    let found =
        runs::find(&lines).into_iter().map(|run| (starts[run.lines.start]..starts[run.lines.end] - 1, run.fold));
    found.filter(|(range, fold)| pays(&text[range.clone()], fold, encoding)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round_trip(text: &str) {
        for (range, fold) in folds(text, Encoding::O200kBase) {
            assert_eq!(Rle.unfold(&fold).as_deref(), Some(&text[range.clone()]), "{fold}");
            assert!(!text[range].ends_with('\n'));
        }
        assert_eq!(folds(text, Encoding::O200kBase), folds(text, Encoding::O200kBase));
    }

    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => (0..40_u32).prop_map(|n| format!("step {n:02} of the long way to the end")),
            3 => (0..3_u32, 0..30_u32).prop_map(|(a, b)| format!("/home/user/project/source/part{a}/file{b}.rs")),
            2 => (0..4_u32).prop_map(|n| format!("C:\\Users\\me\\AppData\\Local\\thing{n} 10.251.73.{n}")),
            2 => Just("the very same line as above and below".to_owned()),
            1 => prop::sample::select(vec![
                "", " ", "[[FOLD:rle 1]] 3 times", "\\x", "a/", " a/b", "日本/語/テ", "\r", "99999999999999999999", "00",
            ]).prop_map(str::to_owned),
            1 => "\\PC{0,30}",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn every_text_comes_back(lines in prop::collection::vec(line(), 0..40), times in 1..4_usize, end in prop::sample::select(vec!["\n", "\r\n"])) {
            round_trip(&vec![lines.join(end); times].join(end));
        }
    }

    #[test]
    fn hostile_texts_come_back() {
        for text in [
            "x".repeat(1_000_000),
            "\n".repeat(40_000),
            "/a".repeat(300_000),
            "/a/b/c/d/e/f\n".repeat(5_000),
            (0..5_000).map(|n| format!("{}/f\n", "/dir".repeat(n % 40))).collect(),
            (0..20_000).map(|n| format!("{}\n", n * n)).collect(),
            "ab\ncd\n".repeat(20_000),
        ] {
            round_trip(&text);
        }
    }

    #[test]
    fn a_fold_is_found_again_in_what_it_stands_for() {
        let count: String = (0..40).map(|n| format!("module {n:02} of 40 was built\n")).collect();
        let text = format!("{}words\n{count}{}", "one of these\n\n".repeat(20), "two of those\n".repeat(20));
        let found = folds(&text, Encoding::O200kBase);
        assert_eq!(found.len(), 3);
        for (range, fold) in found {
            let alone = &text[range];
            assert_eq!(folds(alone, Encoding::O200kBase), [(0..alone.len(), fold)]);
        }
    }
}
