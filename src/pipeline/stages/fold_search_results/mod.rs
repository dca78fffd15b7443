//! `path:12:text` lines, file listings and web results -> each path once, in its directory, and only the titles of low
//! results.
//!
//! Hits and listings are folded without loss. Only the texts of web results of low rank need the original.

mod hits;
mod listing;
mod long;
mod pattern;
mod root;
mod tree;
mod web;

use std::ops::Range;

use crate::config::Preset;
use crate::content::ContentType;
use crate::content::hit_line::{range, read_lines};
use crate::pipeline::fold::Fold;
use crate::pipeline::line_counter::LineCounter;
use crate::pipeline::{Edit, FusionContext, Stage};

const NAME: &str = "searchCrunch";

/// The stage `searchCrunch`, which folds search results.
pub(super) struct SearchCrunch;

impl Stage for SearchCrunch {
    fn name(&self) -> &'static str {
        NAME
    }

    fn content_types(&self) -> &'static [ContentType] {
        &[ContentType::Search]
    }

    fn is_codec(&self) -> bool {
        true
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        context.free_segments(ContentType::Search).next().is_some()
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let mut lines = LineCounter::new(context.text, 1);
        let mut edits = Vec::new();
        for (segment, text) in context.free_segments(ContentType::Search) {
            let start = segment.range.start;
            let line = lines.line(start);
            let at = |range: Range<usize>| start + range.start..start + range.end;
            let command = context.hints.command.as_deref();
            let cuts = if context.preset == Preset::Lossless { Vec::new() } else { long::cuts(text, command) };
            if !cuts.is_empty() {
                // The rest is folded in the next pass.
                edits.extend(cuts.into_iter().map(|(range, note)| Edit::note(at(range), note)));
            } else if let Some((range, fold)) = folded(text) {
                edits.push(Edit::fold(at(range), &fold));
            } else if context.preset != Preset::Lossless {
                let is_web = context.hints.tool_name.as_deref().is_some_and(web::is_web_search);
                edits.extend(web::edits(text, start, line, context.preset, is_web));
            }
        }
        edits
    }
}

/// Returns the lines of a segment that can be folded, and the fold.
fn folded(text: &str) -> Option<(Range<usize>, Fold)> {
    let rows = read_lines(text);
    let hits = range(&rows).and_then(|(range, lines)| {
        let inner = &text[range.clone()];
        // The lines around may have shown which paths are real. Blank lines show nothing.
        let is_alone = lines.start == 0 && rows[lines.end..].iter().all(|(line, _)| line.is_empty());
        let fold =
            if is_alone { hits::fold(NAME, inner, &rows[lines]) } else { hits::fold(NAME, inner, &read_lines(inner)) };
        fold.map(|fold| (range, fold))
    });
    hits.or_else(|| {
        listing::range(text).and_then(|range| listing::fold(NAME, &text[range.clone()]).map(|fold| (range, fold)))
    })
}
