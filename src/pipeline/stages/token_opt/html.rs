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
use crate::content::text::Fence;
use crate::content::{ContentType, html};
use crate::pipeline::{Edit, FusionContext};

/// The edits of all pages in a text; none when only lossless ones may be.
pub(super) fn edits(context: &FusionContext) -> Vec<Edit> {
    if context.preset == Preset::Lossless {
        return Vec::new();
    }
    let mut fences = Fences { text: context.text, at: 0, open: None };
    let mut edits = Vec::new();
    for segment in context.segments.iter().filter(|segment| segment.content_type == ContentType::Html) {
        let is_page = html::is_page(&context.text[segment.range.clone()], context.hints);
        if is_page && !fences.is_open_at(segment.range.start) {
            rewrite(context, &segment.range, &mut edits);
        }
    }
    edits
}

/// One page, around what is sealed in it.
fn rewrite(context: &FusionContext, range: &Range<usize>, edits: &mut Vec<Edit>) {
    let source = &context.text[range.clone()];
    let inside = |sealed: &&Range<usize>| range.start < sealed.end && sealed.start < range.end;
    let sealed: Vec<Range<usize>> = context
        .sealed
        .iter()
        .filter(inside)
        .map(|sealed| sealed.start.saturating_sub(range.start)..(sealed.end - range.start).min(source.len()))
        .collect();
    let first_line = memchr::memchr_iter(b'\n', &context.text.as_bytes()[..range.start]).count() + 1;
    let (mut text, holes) = page::render(source, first_line, &sealed);
    if source.ends_with('\n') && !text.is_empty() {
        text.push('\n');
    }
    let starts = sealed.iter().map(|sealed| sealed.start).chain([source.len()]);
    let (mut old, mut new) = (0, 0);
    for ((start, next), hole) in starts
        .zip(sealed.iter().map(|sealed| sealed.end).chain([source.len()]))
        .zip(holes.into_iter().chain([text.len()]))
    {
        let place = range.start + old..range.start + start;
        if context.text[place.clone()] != text[new..hole] {
            edits.push(Edit::reversible(place, &text[new..hole]));
        }
        (old, new) = (next, hole);
    }
}

/// Whether a fence is open, onwards only: what stands in it is an example.
struct Fences<'a> {
    text: &'a str,
    at: usize,
    open: Option<Fence<'a>>,
}

impl Fences<'_> {
    fn is_open_at(&mut self, at: usize) -> bool {
        let text = self.text;
        for line in text[self.at..at].lines() {
            let Some(fence) = Fence::parse(line) else { continue };
            match self.open {
                Some(open) if fence.closes(&open) => self.open = None,
                Some(_) => {}
                None => self.open = Some(fence),
            }
        }
        self.at = at;
        self.open.is_some()
    }
}
