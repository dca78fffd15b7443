//! The rules that predict a value from the value above.

use std::borrow::Cow;
use std::fmt;

use crate::naive::{MOST_ADDED, MOST_ROWS};
use crate::steps::Step;

/// A rule that predicts a value from the value above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The value above.
    Above,
    /// The value above, advanced by a step.
    Step(Step),
    /// The value of another field of the row. Rows leave it out.
    Same(usize),
    /// The value above. A value that begins with the same folders can refer to them; this character separates folders.
    Folder(char),
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Above => Ok(()),
            Self::Step(step) => write!(f, "{step}"),
            Self::Same(other) => write!(f, "={}", other + 1),
            Self::Folder(separator) => write!(f, "{separator}"),
        }
    }
}

impl Rule {
    /// Reads a printed rule back.
    pub fn parse(text: &str) -> Option<Self> {
        let mut characters = text.chars();
        match (characters.next(), characters.as_str()) {
            (None, _) => Some(Self::Above),
            (Some(separator), "") => Some(Self::Folder(separator)),
            (Some('='), other) => Some(Self::Same(other.parse::<usize>().ok()?.checked_sub(1)?)),
            _ => Step::parse(text).map(Self::Step),
        }
    }

    /// Returns true if rows do not mention the value.
    pub fn is_silent(self) -> bool {
        matches!(self, Self::Same(_))
    }

    /// Returns the steps that a reader adds for a row that does not state its value, but goes up `up` folders.
    pub fn added(self, up: usize) -> usize {
        if matches!(self, Self::Step(_)) { 1 } else { up.saturating_sub(1) }
    }

    /// Returns true if a value is the [expected](Self::expected) one.
    pub fn is_expected(self, above: &str, value: &str) -> bool {
        match self {
            Self::Step(step) if above == value => step.apply(above).is_none_or(|next| next == value),
            Self::Step(step) => step.leads(above, value),
            _ => above == value,
        }
    }

    /// Returns the value that is expected below another.
    pub fn expected(self, above: &str) -> Cow<'_, str> {
        let Self::Step(step) = self else { return above.into() };
        step.apply(above).map_or_else(|| above.into(), Into::into)
    }
}

/// Returns the folder `up` levels above the folder of a value, with its separator.
pub fn folder(above: &str, up: usize, separator: char) -> Option<&str> {
    above.rmatch_indices(separator).nth(up).map(|(at, _)| &above[..at + separator.len_utf8()])
}

/// The row that stated a value last, and the steps that a naive reader has added since.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stated {
    row: usize,
    added: usize,
}

impl Stated {
    /// Returns the state of a value in the row that states it.
    pub fn at(row: usize) -> Self {
        Self { row, added: 0 }
    }

    /// Returns the state after a row for which a reader adds some [steps](Rule::added).
    pub fn after(self, added: usize) -> Self {
        Self { added: self.added + added, ..self }
    }

    /// Returns true if a naive reader gets the value of a row right.
    pub fn is_near(self, row: usize) -> bool {
        row - self.row <= MOST_ROWS && self.added <= MOST_ADDED
    }
}
