//! The request to the fetch tool and its answer.
//!
//! A part may be requested after an id: `id`, `id:41-80` (lines), `id:c41-80` (characters), `id:/regex/` (matching
//! lines), `id:41-80:/regex/`. It overrides the part given by the call, so several ids of one call may have different
//! parts.

use std::ops::RangeInclusive;

use super::line_matcher::{LineMatcher, Words};
use super::report::Warning;
use crate::error::{Error, Result};
use crate::reference::{RefId, parse_ref};

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

/// The requested part of an original; the whole by default.
#[derive(Debug, Clone, Default)]
pub(super) struct RequestedPart {
    /// 1-based inclusive line range.
    pub(super) lines: Option<RangeInclusive<usize>>,
    /// 1-based inclusive character range.
    pub(super) characters: Option<RangeInclusive<usize>>,
    /// A pattern or a query that selects matching lines.
    pub(super) matcher: Option<LineMatcher>,
}

impl RequestedPart {
    /// Returns the part that a call requests for every id that names none of its own.
    ///
    /// # Errors
    /// [`Error::BadPattern`]; [`Error::BadArgument`] for a bad query, and for one beside a pattern.
    pub(super) fn of(fetch: &Fetch) -> Result<Self> {
        let matcher = match (&fetch.pattern, &fetch.query) {
            (Some(_), Some(query)) => {
                return Err(Error::bad_argument("query", format!("{query:?}"), "absent beside a pattern"));
            }
            (Some(pattern), None) => Some(LineMatcher::of_pattern(pattern)?),
            (None, query) => query.as_deref().map(Words::parse).transpose()?.map(LineMatcher::Words),
        };
        Ok(Self { lines: fetch.lines.clone(), characters: fetch.characters.clone(), matcher })
    }

    /// Returns the lines that a query selects.
    pub(super) fn of_words(words: Words) -> Self {
        Self { matcher: Some(LineMatcher::Words(words)), ..Self::default() }
    }

    /// Returns the part that the words after an id name, or this part if there are no words. Returns `None` if the
    /// words are invalid.
    ///
    /// # Errors
    /// [`Error::BadPattern`].
    pub(super) fn override_with(&self, part_words: &str) -> Result<Option<Self>> {
        if part_words.is_empty() {
            return Ok(Some(self.clone()));
        }
        let (range, pattern) = match part_words.split_once('/') {
            Some((range, pattern)) => (range.strip_suffix(':').unwrap_or(range), Some(pattern)),
            None => (part_words, None),
        };
        let mut part = Self { matcher: self.matcher.clone(), ..Self::default() };
        if let Some(pattern) = pattern {
            part.matcher = Some(LineMatcher::of_pattern(pattern.strip_suffix('/').unwrap_or(pattern))?);
        }
        let parse_range = |range: &str| Fetch::parse_range("ref_ids", range).ok();
        match range.strip_prefix('c') {
            _ if range.is_empty() => {}
            Some(characters) => part.characters = parse_range(characters),
            None => part.lines = parse_range(range),
        }
        let is_valid = range.is_empty() || part.lines.is_some() || part.characters.is_some();
        Ok(is_valid.then_some(part))
    }

    /// Returns true if the whole original is requested.
    pub(super) fn is_whole(&self) -> bool {
        self.lines.is_none() && self.characters.is_none() && self.matcher.is_none()
    }
}

/// Splits a bare id or a marker from the words that follow it after a colon.
pub(super) fn read_id(written: &str) -> Option<(RefId, &str)> {
    if let Ok(id) = parse_ref(written) {
        return Some((id, ""));
    }
    let inner = written.strip_prefix("[REF_ID: ").and_then(|rest| rest.strip_suffix(']')).unwrap_or(written);
    inner.match_indices(':').find_map(|(at, _)| Some((parse_ref(&inner[..at]).ok()?, &inner[at + 1..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef";

    #[test]
    fn an_id_is_read_in_every_form_that_a_placeholder_prints() {
        for (written, part_words) in [
            (ID.to_owned(), ""),
            (format!("[REF_ID: {ID}]"), ""),
            (format!("[[REWIND:sha256:{ID}]]"), ""),
            (format!("{ID}:41-80"), "41-80"),
            (format!("{}:/Case/", ID.to_uppercase()), "/Case/"),
            (format!("[REF_ID: {ID}]:41-80"), "41-80"),
            (format!("[REF_ID: {ID}:41-80]"), "41-80"),
            (format!("[[REWIND:sha256:{ID}]]:/a:b/"), "/a:b/"),
        ] {
            let (id, after) = read_id(&written).unwrap();
            assert_eq!((id.as_str(), after), (ID, part_words), "{written}");
        }
        for bad in ["", ":", "41-80", "0123:41-80", "[REF_ID:  0123456789abcdef]", &format!(" {ID}:41")] {
            assert_eq!(read_id(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_words_after_an_id_go_before_those_of_the_call() {
        let call = RequestedPart {
            lines: Some(1..=2),
            matcher: LineMatcher::of_pattern("x").ok(),
            ..RequestedPart::default()
        };
        let read = |part_words| {
            let part = call.override_with(part_words).unwrap()?;
            let pattern = part.matcher.map(|matcher| match matcher {
                LineMatcher::Pattern(pattern) => pattern.to_string(),
                LineMatcher::Words(words) => words.to_string(),
            });
            Some((part.lines, part.characters, pattern))
        };
        let x = Some("x".to_owned());
        assert_eq!(read(""), Some((Some(1..=2), None, x.clone())));
        assert_eq!(read("41-80"), Some((Some(41..=80), None, x.clone())));
        assert_eq!(read("41"), Some((Some(41..=41), None, x.clone())));
        assert_eq!(read("c41-"), Some((None, Some(41..=usize::MAX), x)));
        assert_eq!(read("/a/b:c/"), Some((None, None, Some("a/b:c".to_owned()))));
        assert_eq!(read("7-:/y/"), Some((Some(7..=usize::MAX), None, Some("y".to_owned()))));
        for bad in ["0", "9-3", "lines 41-80", "c", "41-80:", "x/y/"] {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert!(matches!(call.override_with("/(/"), Err(Error::BadPattern { .. })));
    }
}
