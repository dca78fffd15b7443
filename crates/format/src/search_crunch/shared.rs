//! The text that many hits begin and end with, written once and replaced by `…`. Folds are no longer written so,
//! because a reader had to put the lines together; existing ones are read.

use std::borrow::Cow;

/// The sign that replaces the shared text.
const SIGN: char = '…';

/// The shared parts; empty if there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shared {
    /// The shared start.
    pub start: String,
    /// The shared end.
    pub end: String,
}

impl Shared {
    /// Replaces the signs by the shared parts.
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
