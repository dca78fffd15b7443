//! What is asked of the fetch tool, and what it answers.

use std::ops::RangeInclusive;

use super::report::Warning;
use crate::error::{Error, Result};

/// Characters of a wrong id or pattern that an answer quotes. Chosen by judgement.
pub(super) const QUOTED_CHARS: usize = 80;

/// What to fetch.
#[derive(Debug, Clone, Default)]
pub struct Fetch {
    /// Bare ids, or whole markers as a placeholder prints them; what of it is wanted may follow after a colon, and goes
    /// before what the other fields say: `id:41-80`, `id:c41-80` for characters, `id:/regex/`, `id:41-80:/regex/`.
    pub ref_ids: Vec<String>,
    /// 1-based inclusive line range; of a listing by the numbers that it prints, of a call's arguments in a rendering
    /// of them.
    pub lines: Option<RangeInclusive<usize>>,
    /// 1-based inclusive character range, for texts of few long lines.
    pub characters: Option<RangeInclusive<usize>>,
    /// Regular expression; only matching lines come back, numbered, with two lines around each.
    pub pattern: Option<String>,
    /// Most characters of the whole answer.
    pub max_chars: usize,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// In the order of the ids.
    pub blocks: Vec<FetchedBlock>,
    /// How many ids led to an original.
    pub found: usize,
    /// Set when the answer could not be recorded; it is right all the same.
    pub warning: Option<Warning>,
}

/// One part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchedBlock {
    /// Text.
    Text(String),
    /// A whole text that has lone surrogates, as its original's bytes ([`crate::reference::wtf8`]).
    Exact(Vec<u8>),
    /// An image: the decoded bytes and their MIME type.
    Image(Vec<u8>, String),
}

impl Fetch {
    /// Reads a range as a model writes it: `41-420`, `41-` or `41`.
    ///
    /// # Errors
    /// [`Error::BadArgument`] for anything else, for a first of 0, and for a last before the first.
    pub fn parse_range(name: &str, text: &str) -> Result<RangeInclusive<usize>> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let last = if last.trim().is_empty() { Ok(usize::MAX) } else { last.trim().parse() };
        match (first.trim().parse::<usize>(), last) {
            (Ok(first), Ok(last)) if first >= 1 && last >= first => Ok(first..=last),
            _ => Err(Error::bad_argument(
                name,
                format!("{:?}", text.chars().take(40).collect::<String>()),
                "a range such as \"41-420\", counted from 1",
            )),
        }
    }
}
