//! `assert_eq!(f(1), 2);` and `assert_eq!(f(3), 4);` -> `assert_eq!(f($1), $2);` with the rows `1 2` and `3 4`.
//!
//! Lines of one shape that follow each other, or blocks of several lines of one shape: imports, assertions, tables of constants,
//! functions written by template. The fold keeps each name and value, in order, and the template that they stand in; it is
//! lossless. See [`template`] for its form.
//!
//! A fold is not code, and hides what is in it from the stages that read code. Unless only lossless rewrites are allowed, what
//! shrinks to less than half and by a lot is folded, and nothing else.

mod shape;
mod template;

use std::ops::Range;

use shape::Shape;
use template::Template;

use crate::config::Preset;
use crate::content::ContentType;
use crate::pipeline::fold::Fold;
use crate::pipeline::{Edit, FusionContext, Stage};

/// The most lines that a repeated block has.
const BLOCK_MAX_LINES: usize = 8;

/// The least number of rows.
const MIN_ROWS: usize = 3;

/// What a fold must save in bytes, and what it may leave, in percent.
struct Worth {
    saved_bytes: usize,
    left_percent: usize,
}

const ANY_WORTH: Worth = Worth { saved_bytes: 24, left_percent: 90 };
const CODE_WORTH: Worth = Worth { saved_bytes: 512, left_percent: 50 };

/// See the module's documentation.
pub(super) struct StructuralCollapse;

impl Stage for StructuralCollapse {
    fn name(&self) -> &'static str {
        "structuralCollapse"
    }

    fn order(&self) -> u32 {
        20
    }

    fn content_types(&self) -> &'static [ContentType] {
        &[ContentType::Code]
    }

    fn is_lossless(&self) -> bool {
        true
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        context.segments.iter().any(|segment| segment.content_type == ContentType::Code)
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let worth = if context.preset == Preset::Lossless { ANY_WORTH } else { CODE_WORTH };
        let mut edits = Vec::new();
        for (segment, text) in context.free_segments(ContentType::Code) {
            for (range, template) in collapse(text, &worth) {
                let range = segment.range.start + range.start..segment.range.start + range.end;
                edits.push(Edit::fold(range, &template.to_fold(self.name())));
            }
        }
        edits
    }

    fn unfold(&self, fold: &Fold) -> Option<String> {
        template::unfold(fold)
    }
}

/// The runs of blocks in a text that are worth folding, with their byte ranges, without the last line end.
fn collapse<'t>(text: &'t str, worth: &Worth) -> Vec<(Range<usize>, Template<'t>)> {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let lines: Vec<Shape> = body.split('\n').map(Shape::of).collect();
    let runs: Vec<Vec<usize>> = (1..=BLOCK_MAX_LINES).map(|period| repeats(&lines, period)).collect();
    // Up to where the run of each period was looked at already.
    let mut seen = [0; BLOCK_MAX_LINES];
    let mut found = Vec::new();
    let mut at = 0;
    let starts = starts(body);
    while at < lines.len() {
        let mut best: Option<(usize, Template)> = None;
        for period in 1..=BLOCK_MAX_LINES {
            let rows = runs[period - 1][at] / period + 1;
            if rows < MIN_ROWS || at < seen[period - 1] || !is_block(&lines[at..at + period]) {
                continue;
            }
            let end = at + rows * period;
            seen[period - 1] = end;
            let original = starts[end] - 1 - starts[at];
            let Some(template) = Template::of(&lines[at..end], period) else { continue };
            let saved = original.saturating_sub(template.len());
            let is_worth = saved >= worth.saved_bytes && template.len() * 100 <= original * worth.left_percent;
            if is_worth && best.as_ref().is_none_or(|(most, _)| saved > *most) {
                best = Some((saved, template));
            }
        }
        match best {
            Some((_, template)) => {
                let end = at + template.lines();
                found.push((starts[at]..starts[end] - 1, template));
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

/// Whether lines can be a block: it starts with what sets it apart from the one before, an empty line or a line that is not
/// deeper than the others and closes nothing, and does not end with an empty one.
fn is_block(lines: &[Shape]) -> bool {
    let indent = |line: &Shape| line.line.len() - line.line.trim_start().len();
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return false };
    if last.is_blank() {
        return false;
    }
    if lines.iter().any(Shape::is_blank) {
        return first.is_blank();
    }
    let closes = first.line.trim_start().starts_with(['}', ')', ']']);
    !closes && lines.iter().all(|line| indent(line) >= indent(first))
}

/// For each line how many lines from it on have the shape of the line `period` further on.
fn repeats(lines: &[Shape], period: usize) -> Vec<usize> {
    let mut counts = vec![0; lines.len()];
    for at in (0..lines.len().saturating_sub(period)).rev() {
        if lines[at].is_like(&lines[at + period]) {
            counts[at] = counts[at + 1] + 1;
        }
    }
    counts
}

/// Where each line starts, and where one behind the last would.
fn starts(body: &str) -> Vec<usize> {
    let ends = memchr::memchr_iter(b'\n', body.as_bytes()).chain([body.len()]);
    std::iter::once(0).chain(ends.map(|end| end + 1)).collect()
}

#[cfg(test)]
mod tests;
