//! The request to the fetch tool and its answer.

use std::ops::RangeInclusive;

use super::report::Warning;
use crate::error::{Error, Result};

/// The number of characters of an invalid id or pattern that an answer quotes. Chosen by judgement.
pub(super) const QUOTED_CHARS: usize = 80;

/// A request to the fetch tool.
#[derive(Debug, Clone, Default)]
pub struct Fetch {
    /// Bare ids, or whole markers as a placeholder prints them. A part may follow after a colon and overrides the other
    /// fields: `id:41-80`, `id:c41-80` for characters, `id:/regex/`, `id:41-80:/regex/`.
    pub ref_ids: Vec<String>,
    /// A 1-based inclusive line range. For a listing it refers to the printed numbers, for a call's arguments to a text
    /// rendering of them.
    pub lines: Option<RangeInclusive<usize>>,
    /// 1-based inclusive character range, for texts of few long lines.
    pub characters: Option<RangeInclusive<usize>>,
    /// Regular expression; only matching lines come back, numbered, with two lines around each.
    pub pattern: Option<String>,
    /// Ids whose copies in the session's context the agent no longer needs. They count as stale from now on.
    pub done: Vec<String>,
    /// Words. With ids, only the lines with most of them come back, in the form of `pattern`. Without ids, such lines
    /// of the originals of the session that have all of them.
    pub query: Option<String>,
    /// The maximum number of characters of the whole answer.
    pub max_chars: usize,
}

/// The answer to a fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The blocks, in the order of the ids.
    pub blocks: Vec<FetchedBlock>,
    /// The number of ids that were resolved to an original.
    pub found: usize,
    /// Set if the answer could not be recorded; the answer itself is correct.
    pub warning: Option<Warning>,
}

/// One part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchedBlock {
    /// Text.
    Text(String),
    /// A whole text with lone surrogates, as the bytes of its original ([`crate::reference::wtf8`]).
    Exact(Vec<u8>),
    /// An image: the decoded bytes and their MIME type.
    Image(Vec<u8>, String),
}

impl Fetch {
    /// Reads a range as a model writes it: `41-420`, `41-` or `41`.
    ///
    /// # Errors
    /// [`Error::BadArgument`] for any other format, for a first of 0, and for a last before the first.
    pub fn parse_range(name: &str, text: &str) -> Result<RangeInclusive<usize>> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let last = if last.trim().is_empty() { Ok(usize::MAX) } else { last.trim().parse() };
        match (first.trim().parse::<usize>(), last) {
            (Ok(first), Ok(last)) if first >= 1 && last >= first => Ok(first..=last),
            _ => Err(Error::bad_argument(
                name,
                format!("{:?}", text.chars().take(QUOTED_CHARS).collect::<String>()),
                "a range such as \"41-420\", counted from 1",
            )),
        }
    }
}
