//! `  1→a`, `  2→b`, … -> the same lines without the numbers that follow from the line above; `web-1  | a`, `web-1  |
//! b`, … -> the lines without their prefixes, which are written once, or in as many rows as needed.
//!
//! Lossless. Lines without numbers are unchanged byte for byte, so that an edit can be made from them. Other prefixes
//! combine with any fold of the lines alone, or with none: the legend describes the prefixes first, then the lines.

use crate::fold::{self, Fold};
use crate::lines;
use crate::listing::{LEGEND, with_expected_numbers};
use crate::restore::UNFOLDED_MAX_BYTES;

/// The words that start the legend of lines with prefixes.
pub const EACH: &str = "each line begins ";

/// The legend words for prefixes that differ: the fold of the prefixes, one line each, ends the body.
pub const ROWS: &str = "as in the last ";

/// The longest prefix in a legend, in bytes. It bounds how much an outside text can expand to.
pub const MAX_QUOTED: usize = 120;

/// Returns true if a prefix can stand in a legend.
pub fn is_quotable(prefix: &str) -> bool {
    (1..=MAX_QUOTED).contains(&prefix.len()) && !prefix.contains('"')
}

/// Returns the text of a fold of a listing, or of prefixed lines that nothing else folds; `None` for any other fold.
pub fn unfold(fold: &Fold) -> Option<String> {
    let body = fold.body.as_ref()?;
    if fold.legend == LEGEND {
        return with_expected_numbers(body);
    }
    let (before, bare) = told(fold)?;
    before.put(bare.body.as_ref().filter(|_| bare.legend.is_empty())?)
}

/// The prefixes of the lines of a fold.
#[derive(Debug)]
pub enum Before {
    /// The same prefix for each line.
    Same(String),
    /// A fold of the prefixes, one line each.
    Rows(Fold),
}

/// Splits a fold into its prefixes and the fold of the lines alone; undoes [`behind`].
pub fn told(fold: &Fold) -> Option<(Before, Fold)> {
    let words = fold.legend.strip_prefix(EACH)?;
    let mut body = fold.body.as_deref()?;
    let (before, rest) = if let Some(words) = words.strip_prefix('"') {
        let (prefix, rest) = words.split_once('"').filter(|(prefix, _)| is_quotable(prefix))?;
        (Before::Same(prefix.to_owned()), rest)
    } else {
        let (count, rest) = words.strip_prefix(ROWS)?.split_once(" lines")?;
        let lines: usize = count.parse().ok().filter(|lines: &usize| lines.to_string() == count)?;
        let end = memchr::memrchr_iter(b'\n', body.as_bytes()).nth(lines.checked_sub(1)?)?;
        let (rows, len) = fold::parse(&body[end + 1..])?;
        let is_whole = end + 1 + len == body.len() && rows.stage == fold.stage;
        body = &body[..end];
        (Before::Rows(is_whole.then_some(rows)?), rest)
    };
    let legend = if rest.is_empty() { rest } else { rest.strip_prefix("; ").filter(|legend| !legend.is_empty())? };
    Some((before, Fold::new(&fold.stage, legend, Some(body.to_owned()))))
}

impl Before {
    /// Puts the prefixes before the lines; `None` if their numbers differ or the text exceeds `UNFOLDED_MAX_BYTES`.
    pub fn put(&self, bare: &str) -> Option<String> {
        let rows = if let Self::Rows(fold) = self { lines::unfold(fold)? } else { String::new() };
        let mut rows = rows.split('\n');
        let mut text = String::with_capacity(bare.len());
        for line in bare.split('\n') {
            let prefix = match self {
                Self::Same(prefix) => prefix.as_str(),
                Self::Rows(_) => rows.next()?,
            };
            if text.len() + prefix.len() + line.len() > UNFOLDED_MAX_BYTES {
                return None;
            }
            text.push_str(prefix);
            text.push_str(line);
            text.push('\n');
        }
        text.pop();
        let has_all = matches!(self, Self::Same(_)) || rows.next().is_none();
        has_all.then_some(text)
    }
}
