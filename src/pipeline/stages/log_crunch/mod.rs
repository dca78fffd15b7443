//! `many lines alike` -> `one template with marked places, then only what changes`.
//!
//! Lossless: stamps become gaps, lines of one kind become rows of values, steady counters and beats become a repeat count.
//! Lines that report an error stay as they are, stamp and all, in their place. See [`book`] for the notation.
//!
//! Only where a token limit is given and folding misses it, lines of which there are many are left out ([`select`]). The fold
//! then stands for the shortened log, and the edit is not lossless.

mod alarm;
mod book;
mod column;
mod decode;
mod encode;
mod legend;
mod log;
mod repeat;
mod select;
mod stamp;
mod template;
mod write;

use std::ops::Range;

use crate::config::Preset;
use crate::content::{ContentType, Segment};
use crate::pipeline::fold::Fold;
use crate::pipeline::{Edit, FusionContext, Stage};
use crate::tokens;

const NAME: &str = "logCrunch";
/// Shorter logs cannot pay for the legend.
const MIN_BYTES: usize = 400;
/// Longer logs are left alone: nothing that unfolds to more can be ours.
const MAX_BYTES: usize = 1 << 24;

/// The stage.
#[derive(Debug)]
pub(super) struct LogCrunch;

impl Stage for LogCrunch {
    fn name(&self) -> &'static str {
        NAME
    }

    fn order(&self) -> u32 {
        16
    }

    fn content_types(&self) -> &'static [ContentType] {
        &[ContentType::Log]
    }

    fn is_lossless(&self) -> bool {
        false
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        context.text.len() >= MIN_BYTES
            && context.segments.iter().any(|segment| segment.content_type == ContentType::Log)
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let is_log = |segment: &&Segment| segment.content_type == ContentType::Log;
        context
            .segments
            .iter()
            .filter(is_log)
            .flat_map(|segment| free_lines(context, segment))
            .filter_map(|range| fold(context, range))
            .collect()
    }

    fn folds_alike_alone(&self, _: &FusionContext, _: &Edit) -> bool {
        true
    }

    fn unfold(&self, fold: &Fold) -> Option<String> {
        decode::unfold(fold)
    }
}

/// The whole lines of a segment between sealed ranges, without their last line end.
fn free_lines(context: &FusionContext, segment: &Segment) -> Vec<Range<usize>> {
    let mut free = Vec::new();
    let mut start = segment.range.start;
    let first = context.sealed.partition_point(|sealed| sealed.end <= segment.range.start);
    for sealed in context.sealed[first..].iter().take_while(|sealed| sealed.start < segment.range.end) {
        if sealed.end <= start {
            continue;
        }
        let line_start = context.text[..sealed.start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = context.text[sealed.end..].find('\n').map_or(context.text.len(), |at| sealed.end + at + 1);
        free.push(start..line_start.max(start));
        start = line_end.max(start);
    }
    free.push(start.min(segment.range.end)..segment.range.end);
    free.iter().map(|range| range.start..range.start + without_last_end(&context.text[range.clone()]).len()).collect()
}

/// Lines without the line ends behind the last that is not empty; without the last line where it alone has no carriage return.
fn without_last_end(text: &str) -> &str {
    let text = text.trim_end_matches('\n');
    match text.rfind('\n') {
        Some(end) if text[..end].ends_with('\r') && !text.ends_with('\r') => &text[..end],
        _ => text,
    }
}

fn fold(context: &FusionContext, range: Range<usize>) -> Option<Edit> {
    let text = &context.text[range.clone()];
    if !(MIN_BYTES..=MAX_BYTES).contains(&text.len()) {
        return None;
    }
    let errors_may_fold = context.preset == Preset::Max;
    let comes_undone = |fold: &Fold, text: &str| decode::unfold(fold).as_deref() == Some(text);
    let fold =
        |text: &str| encode::fold(text, context.encoding, errors_may_fold).filter(|fold| comes_undone(fold, text));
    let folded = fold(text)?;
    let limit = context.max_tokens.filter(|_| context.preset != Preset::Lossless);
    if let Some(limit) = limit.filter(|&limit| !tokens::fits(&folded.to_string(), limit, context.encoding)) {
        let first_line = context.text[..range.start].matches('\n').count() + 1;
        let within = select::fold_within(text, limit, first_line, fold, context.encoding);
        let cost = |fold: &Fold| tokens::count(&fold.to_string(), context.encoding);
        if let Some(within) = within.filter(|within| cost(within) < cost(&folded)) {
            return Some(Edit::note(range, within.to_string()));
        }
    }
    Some(Edit::fold(range, &folded))
}

#[cfg(test)]
mod tests;
