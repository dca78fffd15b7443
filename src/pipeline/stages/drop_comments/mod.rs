//! `/* nine lines about f */ int f();` -> `// [… 9 lines 1-9]` and `int f();`: removes comments without changing the
//! code.
//!
//! At `balanced` each comment and docstring is replaced by a note, so that a reader who wants to edit the lines around
//! it sees that something is missing. Branches that never run are replaced too. At `max` comments are removed
//! altogether, after one note about all of them. Annotations without meaning at run time are removed, and long files
//! become an outline. Comments that tools read ([`directives`]) and all strings are kept.
//!
//! If no change is proposed, the numbers of listings are folded ([`fold_prefixes`]). This comes last because a fold
//! hides the code from the next pass.
//!
//! A rewrite is accepted only if the result parses to the same tokens at the same depth, except for what was elided.
//! Code in an unknown language, or with many parse errors, is left unchanged.

mod annotations;
mod blanks;
mod branches;
mod change;
mod comments;
mod directives;
mod docstrings;
mod outline;
mod view;

use change::Change;
use view::View;

use crate::config::Preset;
use crate::content::{ContentType, Language};
use crate::pipeline::edits::{free_lines, without_overlaps};
use crate::pipeline::line_counter::LineCounter;
use crate::pipeline::syntax::{Parsed, Reading, Source, Syntax, pieces};
use crate::pipeline::{Edit, FusionContext, Stage, fold_prefixes};

/// The minimum size of code that becomes an outline at `max`.
const OUTLINE_FROM_BYTES: usize = 16 << 10;

/// The stage `neurosyntax`; see the module's documentation.
pub(super) struct Neurosyntax;

impl Stage for Neurosyntax {
    fn name(&self) -> &'static str {
        "neurosyntax"
    }

    fn content_types(&self) -> &'static [ContentType] {
        &[ContentType::Code]
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        context.preset != Preset::Lossless && context.has(self.content_types())
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let mut edits = Vec::new();
        let mut lines = LineCounter::new(context.text, 1);
        for (range, language) in pieces(context) {
            let syntax = Syntax::of(language);
            let source = Source::of(context, range.clone(), lines.line(range.start), syntax);
            let free = |change: &Change| context.is_free(&source.to_text(&change.range));
            let changes = rewrite(&source, syntax, context.preset, &free);
            if changes.is_empty() {
                let parts = free_lines(context.text, context.sealed, range).into_iter();
                edits.extend(parts.flat_map(|part| fold_prefixes::edits(context.text, self.name(), part)));
            }
            edits.extend(changes.into_iter().map(|change| change.into_edit(&source)));
        }
        edits
    }
}

/// Returns the changes of a piece of code. Returns none if it cannot be read, or if the rewritten code would not be the
/// same.
fn rewrite(source: &Source, syntax: &'static Syntax, preset: Preset, is_free: &dyn Fn(&Change) -> bool) -> Vec<Change> {
    let code = &*source.code;
    let view = View { code, source, syntax, max: preset == Preset::Max };
    let parsed = Parsed::parse(code, syntax);
    let Some(reading) = Reading::of(code, syntax, parsed.as_ref()) else { return Vec::new() };
    let mut changes = propose(&view, &reading);
    changes.retain(|change| is_free(change));
    let mut changes = without_overlaps(changes, |change| &change.range);
    if view.max {
        view.note_removals(&mut changes);
    }
    let (rewritten, replacing) = change::apply(code, &changes);
    let replaced: Vec<_> = changes.iter().map(|change| change.range.clone()).collect();
    if changes.is_empty() || !reading.is_same_but(code, &replaced, &rewritten, &replacing) {
        return Vec::new();
    }
    changes
}

fn propose(view: &View, reading: &Reading) -> Vec<Change> {
    let mut changes = Vec::new();
    if let Reading::Tree(survey) = reading {
        if view.max && view.code.len() >= OUTLINE_FROM_BYTES {
            outline::elide_bodies(view, survey, &mut changes);
        }
        branches::elide_dead(view, survey, &mut changes);
        if view.syntax.language == Language::Python {
            docstrings::elide(view, survey, &mut changes);
            if view.max {
                annotations::remove_redundant(view, survey, &mut changes);
            }
        }
        blanks::normalise(view, survey, &mut changes);
    }
    comments::elide(view, reading, &mut changes);
    changes
}

#[cfg(test)]
mod tests;
