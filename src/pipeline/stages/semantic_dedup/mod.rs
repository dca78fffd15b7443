//! A passage that stands earlier in the text -> `repeats 12 lines above; line 1: "…"`.
//!
//! The reference locates the earlier passage by a quoted line, for the reader and for the decoder. A passage with a
//! change in it becomes two repeats and the text between them.

use std::ops::Range;

use concertina_format::semantic_dedup::Reference;
use xxhash_rust::xxh3::xxh3_64;

use crate::config::Preset;
use crate::content::html::is_page;
use crate::content::{ContentType, Segment};
use crate::pipeline::fold::Fold;
use crate::pipeline::repeats::Lines;
use crate::pipeline::restore::quote;
use crate::pipeline::{Edit, FusionContext, Stage};
use concertina_base::hashing::FastSet;

/// The minimum length of a text in bytes. A shorter one has no room for a repeat that pays.
const TEXT_MIN_BYTES: usize = 256;

/// A repeat needs this many bytes in total, or [`LINE_MIN_BYTES`] for each of its lines. Smaller ones are left to the
/// codecs for lines, which need fewer tokens than a reference.
const REPEAT_MIN_BYTES: usize = 600;
const LINE_MIN_BYTES: usize = 120;

/// The stage's name, which is also the name in the header of its folds.
const NAME: &str = "semanticDedup";

const TYPES: &[ContentType] = &[ContentType::Text, ContentType::Html, ContentType::Unknown];

/// The stage `semanticDedup`.
pub(super) struct SemanticDedup;

impl Stage for SemanticDedup {
    fn name(&self) -> &'static str {
        NAME
    }

    fn content_types(&self) -> &'static [ContentType] {
        TYPES
    }

    fn is_lossless(&self) -> bool {
        true
    }

    fn is_codec(&self) -> bool {
        true
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        context.text.len() >= TEXT_MIN_BYTES && TYPES.contains(&context.content_type)
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let mut lines = Lines::default();
        let all = lines.add(context.text);
        let mut quotes: FastSet<u64> = FastSet::default();
        let is_first = all.clone().map(|line| {
            let quote = quote(lines.line(line));
            !quote.is_empty() && quotes.insert(xxh3_64(quote.as_bytes()))
        });
        // True for a line whose quote occurs on no earlier line.
        let is_first: Vec<bool> = is_first.collect();
        let left_alone = left_alone(context);
        let is_free = all.map(|line| {
            // The range includes the line end, so that an empty line inside a fold counts as not free.
            let range = lines.range(&(line..line + 1));
            let next = left_alone.partition_point(|segment| segment.end <= range.start);
            left_alone.get(next).is_none_or(|segment| range.start < segment.start)
                && context.is_free(&(range.start..(range.end + 1).min(context.text.len())))
        });
        let mut is_free: Vec<bool> = is_free.collect();
        let repeats = lines.repeats(|line| is_free[line]);
        let edits = repeats.into_iter().filter_map(|repeat| {
            let bytes = lines.range(&repeat.lines).len();
            (bytes >= REPEAT_MIN_BYTES || bytes >= LINE_MIN_BYTES * repeat.lines.len()).then_some(())?;
            // At least one earlier line has a unique quote, and all of them stay visible.
            let earlier = repeat.earlier..repeat.earlier + repeat.lines.len();
            is_free[earlier.clone()].iter().all(|&free| free).then_some(())?;
            let line = earlier.clone().find(|&line| is_first[line])?;
            let quote = quote(lines.line(line));
            // A repeat of a repeat would be looked up twice.
            is_free[repeat.lines.clone()].fill(false);
            let reference = Reference { lines: earlier.len(), at: line - earlier.start + 1, quote };
            Some(Edit::fold(lines.range(&repeat.lines), &Fold::new(NAME, reference.to_string(), None)))
        });
        edits.collect()
    }
}

/// Returns the segments that are left to a later stage: logs, whose lines repeat as templates, and pages, whose markup
/// is removed anyway, so that repeated tags would count as repeats.
fn left_alone(context: &FusionContext) -> Vec<Range<usize>> {
    let is_left_alone = |segment: &&Segment| match segment.content_type {
        ContentType::Log => true,
        ContentType::Html if context.preset != Preset::Lossless => {
            is_page(&context.text[segment.range.clone()], context.hints)
        }
        _ => false,
    };
    context.segments.iter().filter(is_left_alone).map(|segment| segment.range.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    use concertina_format::Prior;

    use crate::config::Preset;
    use crate::content::Segment;

    fn edits(text: &str, preset: Preset) -> Vec<Edit> {
        let content_type = ContentType::Text;
        let segments = [Segment::whole(text, content_type, None)];
        let context = FusionContext { preset, ..FusionContext::of(text, &segments) };
        assert!(SemanticDedup.should_apply(&context));
        SemanticDedup.apply(&context)
    }

    /// Returns the fold of the only edit of a text, after checking that it restores the text.
    fn folded(text: &str) -> Fold {
        let edits = edits(text, Preset::Lossless);
        assert_eq!(edits.len(), 1, "{edits:#?}");
        let (fold, _) = crate::pipeline::fold::parse(&edits[0].text).unwrap();
        let mut before = Prior::of(&text[..edits[0].range.start]);
        let undone = concertina_format::unfold_after(&fold, &mut before).unwrap();
        assert_eq!(undone, text[edits[0].range.clone()]);
        fold
    }

    fn manual(section: &str) -> String {
        let steps =
            (1..30).map(|n| format!("{n}. In step {n} of {section}, turn knob {} until the lamp is on.\n", n * 7));
        format!("## {section}\n\nFollow the steps below with care, one after the other.\n{}", steps.collect::<String>())
    }

    #[test]
    fn a_passage_that_comes_again_refers_to_the_first() {
        let text = format!("# Manual\n\n{}\nSomething else.\n\n{}", manual("Setup"), manual("Setup"));
        let fold = folded(&text);
        assert_eq!((fold.legend.as_str(), fold.body), ("repeats 32 lines above; line 1: \"## Setup\"", None));
    }

    #[test]
    fn a_paragraph_on_one_line_that_comes_again_refers_to_the_first() {
        let paragraph = "The store keeps every original that a marker stands for, and gives it back byte for byte when the agent \
            asks for it; nothing is thrown away before the host has deleted the session that was granted it, however long \
            that rested.";
        let text = format!("{paragraph}\n\nSomething else.\n\n{paragraph}\n");
        assert!(text.len() < 600 && paragraph.split(' ').count() <= 45);
        assert_eq!(folded(&text).body, None);
        let engine = crate::pipeline::FusionEngine::default();
        let options = crate::pipeline::CompressOptions { preset: Preset::Lossless, ..Default::default() };
        let short = engine.compress(&text, &options, &|| 0.0);
        assert!(short.text.contains("]] repeats 1 line above"), "{}", short.text);
        assert_eq!(crate::pipeline::restore(&short.text, &[]), text);
    }

    #[test]
    fn the_reference_quotes_a_line_that_stands_nowhere_before() {
        let fence = format!(
            "```sh\n{}```\n",
            (1..30).map(|n| format!("run --step {n} --wait {}\n", n * 3)).collect::<String>()
        );
        let text = format!(
            "```sh\nls\n```\n\n{fence}\nAnd again, after a while, the very same commands:\n\n{fence}{}",
            "x\n".repeat(9)
        );
        assert_eq!(folded(&text).legend, "repeats 31 lines above; line 2: \"run --step 1 --wait 3\"");
    }
}
