//! `the same again and again` -> `it once, and how often`: runs of equal or counting lines, lists of paths, repeated prefixes.
//!
//! Lossless. It works on plain text only, and only on the lines that repeat: a fold is sealed, so wherever a later stage
//! knows the kind of text better (logs, JSON, hits of a search, diffs, code), or would shorten the words around, it must stay
//! away. Prefixes inside logs are LogCrunch's columns.

mod groups;
mod runs;
mod sigils;

use std::ops::Range;

use crate::config::Encoding;
use crate::content::ContentType;
use crate::pipeline::fold::Fold;
use crate::pipeline::{Edit, FusionContext, Stage};
use crate::tokens;

const NAME: &str = "rle";
/// Less text cannot pay for a header.
const MIN_BYTES: usize = 120;
/// Fewer lines with paths are no list.
const MIN_PATHS: usize = 6;

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
        &[ContentType::Search, ContentType::Text, ContentType::Unknown]
    }

    fn is_lossless(&self) -> bool {
        true
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        context.text.len() >= MIN_BYTES
            && context.segments.iter().any(|segment| self.content_types().contains(&segment.content_type))
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let mut edits = Vec::new();
        for segment in context.segments.iter().filter(|segment| context.is_free(&segment.range)) {
            let text = &context.text[segment.range.clone()];
            let found = match segment.content_type {
                ContentType::Text | ContentType::Unknown => folds(text, context.encoding),
                ContentType::Search if is_listing(text) => folds(text, context.encoding),
                _ => Vec::new(),
            };
            for (range, fold) in found {
                edits.push(Edit::fold(segment.range.start + range.start..segment.range.start + range.end, &fold));
            }
        }
        edits
    }

    fn unfold(&self, fold: &Fold) -> Option<String> {
        let text = runs::unfold(fold).or_else(|| groups::unfold(fold)).or_else(|| sigils::unfold(fold))?;
        let lines: Vec<&str> = text.split('\n').collect();
        let is_run =
            || matches!(runs::find(&lines).as_slice(), [run] if run.lines == (0..lines.len()) && run.fold == *fold);
        let is_ours = |&encoding: &Encoding| {
            pays(&text, fold, encoding)
                && (is_run()
                    || groups::fold(&lines).as_ref() == Some(fold)
                    || sigils::fold(&text, encoding).as_ref() == Some(fold))
        };
        [Encoding::O200kBase, Encoding::Cl100kBase].iter().any(is_ours).then_some(text)
    }
}

/// Whether every line is one path: hits with text behind them are for SearchCrunch.
fn is_listing(text: &str) -> bool {
    !text.contains([' ', '\t', ':'])
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
    let bytes = |range: &Range<usize>| starts[range.start]..starts[range.end] - 1;
    let mut found = Vec::new();
    let mut start = 0;
    let runs = runs::find(&lines)
        .into_iter()
        .filter(|run| pays(&text[bytes(&run.lines)], &run.fold, encoding))
        .map(|run| (run.lines, Some(run.fold)));
    for (range, fold) in runs.chain([(lines.len()..lines.len(), None)]) {
        for block in path_blocks(&lines, start..range.start) {
            let (text, lines) = (&text[bytes(&block)], &lines[block.clone()]);
            let ways = [groups::fold(lines), sigils::fold(text, encoding)].into_iter().flatten();
            let best = ways.min_by_key(|fold| tokens::count(&fold.to_string(), encoding));
            found.extend(best.filter(|fold| pays(text, fold, encoding)).map(|fold| (bytes(&block), fold)));
        }
        start = range.end;
        found.extend(fold.map(|fold| (bytes(&range), fold)));
    }
    found
}

/// Runs of lines that all hold a path.
fn path_blocks(lines: &[&str], within: Range<usize>) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut start = within.start;
    for at in within.start..=within.end {
        if at == within.end || !sigils::has_path(lines[at]) {
            if at - start >= MIN_PATHS {
                blocks.push(start..at);
            }
            start = at + 1;
        }
    }
    blocks
}
