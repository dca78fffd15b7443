//! `<div class="a"><h2>Title</h2><p>Words.</p></div>` -> `## Title`, `Words.`
//!
//! A web page becomes the Markdown that a reader needs of it: every visible word, in order, with headings, lists,
//! tables, code and links. Menus and footers that are little but links become notes. Source to be worked on is left
//! alone; see [`crate::content::html::is_page`].

mod frame;
mod page;
mod tag;

use std::ops::Range;

use crate::config::Preset;
use crate::content::markup_block::Fence;
use crate::content::{ContentType, html};
use crate::pipeline::{Edit, FusionContext};

/// The edits of all pages in a text; none when only lossless ones may be.
pub(super) fn edits(context: &FusionContext) -> Vec<Edit> {
    if context.preset == Preset::Lossless {
        return Vec::new();
    }
    let (mut at, mut lines, mut fence) = (0, 0, None);
    let mut edits = Vec::new();
    for segment in context.segments.iter().filter(|segment| segment.content_type == ContentType::Html) {
        for line in context.text[at..segment.range.start].lines() {
            lines += 1;
            follow(&mut fence, line);
        }
        at = segment.range.start;
        // What stands in a fence is an example.
        if fence.is_none() && html::is_page(&context.text[segment.range.clone()], context.hints) {
            edits.extend(rewrite(context, &segment.range, lines + 1));
        }
    }
    edits
}

/// One page, unless an earlier stage wrote a part of it, or a reader would see nothing.
fn rewrite(context: &FusionContext, range: &Range<usize>, first_line: usize) -> Option<Edit> {
    if !context.is_free(range) {
        return None;
    }
    let source = &context.text[range.clone()];
    let mut text = page::render(source, first_line);
    if text.is_empty() {
        return None;
    }
    if source.ends_with('\n') {
        text.push('\n');
    }
    (text != source).then(|| Edit::reversible(range.clone(), text))
}

/// Opens or closes a fence of Markdown with a line.
fn follow<'t>(open: &mut Option<Fence<'t>>, line: &'t str) {
    match (Fence::parse(line), *open) {
        (Some(fence), Some(first)) if fence.closes(&first) => *open = None,
        (Some(fence), None) => *open = Some(fence),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
