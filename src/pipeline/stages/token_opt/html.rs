//! `<div class="a"><h2>Title</h2><p>Words.</p></div>` -> `## Title`, `Words.`
//!
//! Turns a web page into Markdown with every visible word, in order, and with headings, lists, tables, code and links.
//! Menus and footers that consist mostly of links become notes. Source code that is being worked on is left alone; see
//! [`crate::content::html::is_page`].

mod page;
mod tag;

use std::ops::Range;

use crate::config::Preset;
use crate::content::markup_block::Fence;
use crate::content::{ContentType, html};
use crate::pipeline::{Edit, FusionContext};

/// Returns the edits of all pages in a text. Returns none under the lossless preset.
pub(super) fn edits(context: &FusionContext) -> Vec<Edit> {
    if context.preset == Preset::Lossless {
        return Vec::new();
    }
    let (mut at, mut line, mut fence) = (0, 1, None::<Fence>);
    let mut edits = Vec::new();
    for segment in context.segments.iter().filter(|segment| segment.content_type == ContentType::Html) {
        for text in context.text[at..segment.range.start].lines() {
            line += 1;
            fence = match (Fence::parse(text), fence) {
                (Some(found), Some(first)) if found.closes(&first) => None,
                (found, open) => open.or(found),
            };
        }
        at = segment.range.start;
        // A page inside a code fence is an example.
        if fence.is_none() && html::is_page(&context.text[segment.range.clone()], context.hints) {
            edits.extend(rewrite(context, &segment.range, line));
        }
    }
    edits
}

/// Rewrites one page. Returns `None` if a part of it is sealed or nothing of it is visible.
fn rewrite(context: &FusionContext, range: &Range<usize>, first_line: usize) -> Option<Edit> {
    let source = context.is_free(range).then(|| &context.text[range.clone()])?;
    let text = page::render(source, first_line);
    if text.is_empty() {
        return None;
    }
    let text = text + if source.ends_with('\n') { "\n" } else { "" };
    (text != source).then(|| Edit::reversible(range.clone(), text))
}

#[cfg(test)]
mod tests;
