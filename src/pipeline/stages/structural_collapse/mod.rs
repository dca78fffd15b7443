//! Lines of one shape, wherever they stand -> templates, and rows of the values that differ: listings, tables, compiler
//! messages, lists of imports, records of several lines. [`lines`] describes the method and the notation.
//!
//! Where it saves more, only the prefixes of lines are folded, such as the numbers of a listing ([`fold_prefixes`]), or
//! phrases that repeat in lines of no common shape ([`phrases`]).
//!
//! The folds are lossless. They ignore the meaning of the lines, so they compete with the stages before this one, each
//! of which knows one type: of the folds that claim the same lines, those that save most are kept, and a fold of this
//! stage has to save a tenth more.
//!
//! A fold is not code, and hides its lines from the stages that read code or remove the markup of pages. So code and
//! markup are folded only if they shrink to less than half and by many tokens, and pages whose markup would be removed
//! only if next to nothing is left of them.

use std::ops::Range;

use crate::config::Preset;
use crate::content::hints::expected;
use crate::content::html::{is_hypertext, is_page};
use crate::content::{ContentType, Segment};
use crate::pipeline::edits::free_lines;
use crate::pipeline::measure::{is_worth, saving};
use crate::pipeline::restore::before_marker;
use crate::pipeline::{Edit, FusionContext, Stage, fold_prefixes, lines, phrases};
use crate::tokens;

/// The minimum length of a text in bytes. A shorter one cannot pay for the legend.
const MIN_BYTES: usize = 120;

/// The most tokens that a fold of code or of a page may leave, in percent, and the fewest tokens that it has to save.
const CODE_WORTH: (usize, usize) = (50, 150);
const PAGE_WORTH: (usize, usize) = (10, 150);

/// The stage `structuralCollapse`.
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
        let with_saving = |edits: Vec<Edit>| {
            let saved = edits.iter().map(|edit| saving(context.text, edit, context.encoding)).sum::<isize>();
            (saved, edits)
        };
        let better = |one: (isize, Vec<Edit>), other: (isize, Vec<Edit>)| if other.0 > one.0 { other } else { one };
        let best = |Stretch { range, worth, has_hunks }| {
            let phrases = |range: Range<usize>| phrases::edit(context, self.name(), range, worth).into_iter().collect();
            if has_hunks {
                return phrases(range);
            }
            let mut bare = fold_prefixes::edits(context.text, self.name(), range.clone());
            bare.retain(|edit| is_worth(context, edit, worth));
            let shapes = lines::worthy_edits(context, self.name(), range.clone(), worth);
            let (saved, edits) = better(with_saving(shapes), with_saving(bare));
            // Phrases take long to find, and only lines without a shape need them.
            if saved * 2 >= tokens::count(&context.text[range.clone()], context.encoding) as isize {
                return edits;
            }
            better((saved, edits), with_saving(phrases(range))).1
        };
        stretches(context).into_iter().flat_map(best).collect()
    }

    fn is_codec(&self) -> bool {
        true
    }
}

/// A run of whole lines between sealed spans that may be folded together.
struct Stretch {
    range: Range<usize>,
    /// The most tokens that its fold may leave, in percent, and the fewest tokens that it has to save.
    worth: (usize, usize),
    /// True for a diff: its lines stay lines, with their signs.
    has_hunks: bool,
}

fn stretches(context: &FusionContext) -> Vec<Stretch> {
    // Code in the output of a program, such as a linter's report, is not source; code that a command reads from a file
    // is.
    let is_output = !matches!(context.content_type, ContentType::Code | ContentType::Text);
    let is_printed = (context.hints.command.is_some() || is_output)
        && expected(context.hints).is_none_or(|expected| expected.content_type != ContentType::Code);
    let loses_markup = context.preset != Preset::Lossless;
    let worth = |segment: &Segment| match segment.content_type {
        ContentType::Code if !is_printed => CODE_WORTH,
        ContentType::Html if loses_markup && is_page(&context.text[segment.range.clone()], context.hints) => PAGE_WORTH,
        ContentType::Html if is_hypertext(&context.text[segment.range.clone()]) => CODE_WORTH,
        _ => lines::WORTH,
    };
    let mut runs: Vec<Stretch> = Vec::new();
    for segment in context.segments {
        let worth = worth(segment);
        let text = &context.text[segment.range.clone()];
        let has_hunks = segment.content_type == ContentType::Diff && text.contains("\n@@ ");
        match runs.last_mut() {
            Some(run) if (run.worth, run.has_hunks, run.range.end) == (worth, has_hunks, segment.range.start) => {
                run.range.end = segment.range.end;
            }
            _ => runs.push(Stretch { range: segment.range.clone(), worth, has_hunks }),
        }
    }
    let end = before_marker(context.text);
    let free = |run: Stretch| {
        let range = run.range.start..run.range.end.min(end);
        let free = if range.is_empty() { Vec::new() } else { free_lines(context.text, context.sealed, range) };
        free.into_iter().map(move |range| Stretch { range, ..run })
    };
    runs.into_iter().flat_map(free).filter(|run| run.range.len() >= MIN_BYTES).collect()
}

#[cfg(test)]
mod tests;
