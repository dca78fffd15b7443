//! What many hits begin and end with, because the search asked for it: said once, `…` in its place.
//!
//! Both are cut where words begin or end, so that every name stays whole.

use std::borrow::Cow;

/// Stands for the shared part.
const SIGN: char = '…';

/// Shared parts; empty where there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shared {
    /// What they begin with.
    pub start: String,
    /// What they end with.
    pub end: String,
}

impl Shared {
    /// The text with signs.
    pub fn shorten<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let bare = text.strip_suffix(&*self.end).filter(|_| !self.end.is_empty());
        let (rest, end) = bare.map_or((text, ""), |bare| (bare, "…"));
        let bare = rest.strip_prefix(&*self.start).filter(|_| !self.start.is_empty());
        let (rest, start) = bare.map_or((rest, ""), |bare| (bare, "…"));
        joined(start, rest, end)
    }

    /// The text without signs.
    pub fn lengthen<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let bare = text.strip_suffix(SIGN).filter(|_| !self.end.is_empty());
        let (rest, end) = bare.map_or((text, ""), |bare| (bare, &*self.end));
        let bare = rest.strip_prefix(SIGN).filter(|_| !self.start.is_empty());
        let (rest, start) = bare.map_or((rest, ""), |bare| (bare, &*self.start));
        joined(start, rest, end)
    }
}

fn joined<'t>(start: &str, text: &'t str, end: &str) -> Cow<'t, str> {
    if start.is_empty() && end.is_empty() { Cow::Borrowed(text) } else { Cow::Owned([start, text, end].concat()) }
}
