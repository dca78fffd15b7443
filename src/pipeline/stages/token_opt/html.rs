//! `<div class="a"><h2>Title</h2><p>Words.</p></div>` -> `## Title`, `Words.`
//!
//! A web page becomes the Markdown that a reader needs of it: every visible word, in order, with headings, lists, tables, code and
//! links. Menus and footers that are little but links become notes. Source to be worked on is left alone; see
//! [`crate::content::html::is_page`].

mod attributes;
mod flow;
mod page;
mod scopes;
mod table;

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
    let mut before = Before { text: context.text, at: 0, lines: 0, fence: None };
    let mut edits = Vec::new();
    for segment in context.segments.iter().filter(|segment| segment.content_type == ContentType::Html) {
        before.read_to(segment.range.start);
        // What stands in a fence is an example.
        if before.fence.is_none() && html::is_page(&context.text[segment.range.clone()], context.hints) {
            edits.extend(rewrite(context, &segment.range, before.lines + 1));
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

/// What stands before a place, onwards only.
struct Before<'a> {
    text: &'a str,
    at: usize,
    lines: usize,
    /// The fence that is open.
    fence: Option<Fence<'a>>,
}

impl Before<'_> {
    fn read_to(&mut self, at: usize) {
        let text = self.text;
        for line in text[self.at..at].lines() {
            self.lines += 1;
            let Some(fence) = Fence::parse(line) else { continue };
            match self.fence {
                Some(open) if fence.closes(&open) => self.fence = None,
                Some(_) => {}
                None => self.fence = Some(fence),
            }
        }
        self.at = at;
    }
}

#[cfg(test)]
mod tests;
