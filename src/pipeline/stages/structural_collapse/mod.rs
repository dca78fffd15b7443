//! Lines of one shape, wherever they stand -> templates, and rows of what differs: listings, tables, compilers' messages, lists of
//! imports, records of several lines, whatever they are of. See [`lines`] for how, and its `book` for the notation.
//!
//! Of lines behind prefixes only these may go, of a listing the numbers ([`fold_prefixes`]), where that saves more.
//!
//! Lossless. What the lines mean does not matter, so it is weighed against the stages before it that know one type each: of the
//! folds that want the same lines, those stay that save most, and these only where they save a tenth more.
//!
//! A fold is not code, and hides what is in it from the stages that read code or take the markup of pages. Unless only lossless
//! rewrites are allowed, code and markup that shrink to less than half and by a lot are folded, pages whose markup would go of which
//! next to nothing is left, and no others.

use std::ops::Range;

use crate::config::Preset;
use crate::content::hints::expected;
use crate::content::html::{is_hypertext, is_page};
use crate::content::{ContentType, Segment};
use crate::pipeline::edits::free_lines;
use crate::pipeline::measure::{is_worth, saving};
use crate::pipeline::restore::before_marker;
use crate::pipeline::{Edit, FusionContext, Stage, fold_prefixes, lines};

/// Shorter texts cannot pay for the legend.
const MIN_BYTES: usize = 120;

/// What a fold leaves at most of code and of pages, in percent of the tokens, and the tokens that it saves at least.
const CODE_WORTH: (usize, usize) = (50, 150);
const PAGE_WORTH: (usize, usize) = (10, 150);

/// See the module's documentation.
#[derive(Debug)]
pub(super) struct StructuralCollapse;

impl Stage for StructuralCollapse {
    fn name(&self) -> &'static str {
        "structuralCollapse"
    }

    fn content_types(&self) -> &'static [ContentType] {
        ContentType::ALL
    }

    fn is_lossless(&self) -> bool {
        true
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        context.text.len() >= MIN_BYTES
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let saved =
            |edits: &[Edit]| edits.iter().map(|edit| saving(context.text, edit, context.encoding)).sum::<isize>();
        let best = |(range, worth): (Range<usize>, _)| {
            let mut bare = fold_prefixes::edits(context, self.name(), range.clone());
            bare.retain(|edit| is_worth(context, edit, worth));
            let shapes = lines::worthy_edits(context, self.name(), range, worth);
            if saved(&bare) > saved(&shapes) { bare } else { shapes }
        };
        stretches(context).into_iter().flat_map(best).collect()
    }

    fn is_codec(&self) -> bool {
        true
    }
}

/// Runs of segments of whole lines that may be folded together, between what is sealed, each with what a fold of it leaves at
/// most, in percent, and the tokens that it saves at least.
fn stretches(context: &FusionContext) -> Vec<(Range<usize>, (usize, usize))> {
    // What a command prints of code, such as a linter's report, is no source; what one reads is.
    let is_printed = context.hints.command.is_some()
        && expected(context.hints).is_none_or(|expected| expected.content_type != ContentType::Code);
    let worth = |segment: &Segment| match segment.content_type {
        _ if context.preset == Preset::Lossless => lines::WORTH,
        ContentType::Code if !is_printed => CODE_WORTH,
        ContentType::Html if is_page(&context.text[segment.range.clone()], context.hints) => PAGE_WORTH,
        ContentType::Html if is_hypertext(&context.text[segment.range.clone()]) => CODE_WORTH,
        _ => lines::WORTH,
    };
    let mut runs: Vec<(Range<usize>, (usize, usize))> = Vec::new();
    for segment in context.segments {
        let worth = worth(segment);
        match runs.last_mut() {
            Some((range, known)) if *known == worth && range.end == segment.range.start => {
                range.end = segment.range.end;
            }
            _ => runs.push((segment.range.clone(), worth)),
        }
    }
    let free = |(range, worth): (Range<usize>, (usize, usize))| {
        let free = free_lines(context.text, context.sealed, range).into_iter();
        free.map(move |range| (range, worth)).collect::<Vec<_>>()
    };
    let end = before_marker(context.text);
    runs.into_iter()
        .map(|(range, worth)| (range.start..range.end.min(end), worth))
        .filter(|(range, _)| !range.is_empty())
        .flat_map(free)
        .filter(|(range, _)| range.len() >= MIN_BYTES)
        .collect()
}

#[cfg(test)]
mod tests;
