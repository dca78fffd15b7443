//! `many lines alike` -> `one template with marked places, then only what changes`.
//!
//! Lossless: stamps become gaps, lines of one kind become rows of values, steady counters and beats become a repeat count.
//! Lines that report an error stay as they are, stamp and all, in their place. See [`book`] for the notation.
//!
//! What test runners, build tools and installers say of all that went well is left out first, unless only lossless rewrites
//! are allowed ([`report`]); what is left is folded. So is a log without such lines.
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
mod report;
mod select;
mod stamp;
mod template;
mod write;

use std::ops::Range;

use crate::config::{Encoding, Preset};
use crate::content::{ContentType, Segment};
use crate::pipeline::edits::{free_lines, without_last_end};
use crate::pipeline::fold::Fold;
use crate::pipeline::{Edit, FusionContext, Prior, Stage};
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

    fn is_codec(&self) -> bool {
        true
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        let reports = may_report(context);
        context.text.len() >= MIN_BYTES
            && context
                .segments
                .iter()
                .any(|part| part.content_type == ContentType::Log || reports && report::may_hold(part))
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let reports = if may_report(context) { reports(context) } else { Vec::new() };
        let is_log = |segment: &&Segment| segment.content_type == ContentType::Log;
        let logs = context.segments.iter().filter(is_log).map(|segment| segment.range.clone());
        let sealed = merged(context.sealed, reports.iter().map(|report| report.range.clone()));
        let folds = logs
            .flat_map(|log| free_lines(context.text, &sealed, log))
            .filter_map(|range| fold(context, range))
            .collect::<Vec<_>>();
        let mut edits: Vec<Edit> = reports.into_iter().chain(folds).collect();
        edits.sort_by_key(|edit| edit.range.start);
        edits
    }

    fn folds_alike_alone(&self, _: &FusionContext, _: &Edit) -> bool {
        true
    }

    fn unfold(&self, fold: &Fold) -> Option<String> {
        decode::unfold(fold)
    }

    fn is_canonical(&self, fold: &Fold, text: &str, _: &mut Prior) -> bool {
        let is_whole = (MIN_BYTES..=MAX_BYTES).contains(&text.len()) && without_last_end(text).len() == text.len();
        let is_same = |encoding, errors_may_fold| encode::fold(text, encoding, errors_may_fold).as_ref() == Some(fold);
        is_whole
            && [Encoding::O200kBase, Encoding::Cl100kBase]
                .into_iter()
                .any(|encoding| is_same(encoding, false) || is_same(encoding, true))
    }
}

/// Whether lines may be left out of reports.
fn may_report(context: &FusionContext) -> bool {
    context.preset != Preset::Lossless && context.text.len() >= MIN_BYTES && report::is_printed(context)
}

/// The reports in a text: they may go across segments, since each tool's lines are another kind to whoever tells kinds apart.
fn reports(context: &FusionContext) -> Vec<Edit> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for segment in context.segments.iter().filter(|segment| report::may_hold(segment)) {
        match ranges.last_mut() {
            Some(last) if last.end == segment.range.start => last.end = segment.range.end,
            _ => ranges.push(segment.range.clone()),
        }
    }
    let free = ranges.into_iter().flat_map(|range| free_lines(context.text, context.sealed, range));
    free.filter(|range| range.len() >= MIN_BYTES).flat_map(|range| report::find(context, range)).collect()
}

/// Ranges in order.
fn merged(sealed: &[Range<usize>], more: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = sealed.iter().cloned().chain(more).collect();
    ranges.sort_by_key(|range| range.start);
    ranges
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
