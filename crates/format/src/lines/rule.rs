//! What a value is expected to be, by the value above.

use std::borrow::Cow;

/// What a value is expected to be, by the value above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The same.
    Above,
    /// More by so much; in hexadecimal with the same number of digits if the second is set.
    Step(i64, bool),
    /// Always more by so much, so that rows leave it out.
    Count(Count),
    /// Always that of another field, so that rows leave it out.
    Same(usize),
    /// The same, and what begins like it says so: up to this separator.
    Folder(char),
}

/// Numbers from the first row to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    first: i64,
    /// Digits of the first number.
    width: usize,
    /// What it grows by.
    pub step: i64,
    /// Whether it is hexadecimal, with the same number of digits.
    pub is_hex: bool,
}

impl Count {
    /// `None` where the first value is no number.
    pub fn from(first: &str, step: i64, is_hex: bool) -> Option<Self> {
        let count = Self { first: number(first, is_hex)?, width: first.len(), step, is_hex };
        (count.first() == first).then_some(count)
    }

    /// The first number, as it is written.
    pub fn first(self) -> String {
        digits(self.first, self.width, self.is_hex)
    }
}

fn digits(number: i64, width: usize, is_hex: bool) -> String {
    if is_hex { format!("{number:0width$x}") } else { format!("{number:0width$}") }
}

impl Rule {
    /// Whether rows do not mention the value.
    pub fn is_silent(self) -> bool {
        matches!(self, Self::Same(_) | Self::Count(_))
    }

    /// The first value that counts without being mentioned: some rows tell where it is.
    pub fn told(rules: &[Self]) -> Option<usize> {
        rules.iter().position(|rule| matches!(rule, Self::Count(_)))
    }

    /// Whether a value is the one that is [expected](Self::expected) below another.
    pub fn is_expected(self, above: &str, value: &str) -> bool {
        let (Self::Step(step, is_hex) | Self::Count(Count { step, is_hex, .. })) = self else { return above == value };
        let Some((next, width)) = next(above, step, is_hex) else { return above == value };
        let len = if is_hex { 16 - next.leading_zeros() / 4 } else { next.checked_ilog10().unwrap_or(0) + 1 } as usize;
        match value.len() == width.max(len.max(1)) {
            // Of one length, a number is written in one way.
            true if len < 15 => number(value, is_hex) == Some(next),
            is_as_long => is_as_long && digits(next, width, is_hex) == value,
        }
    }

    /// The value that is expected below another.
    pub fn expected(self, above: &str) -> Cow<'_, str> {
        let (Self::Step(step, is_hex) | Self::Count(Count { step, is_hex, .. })) = self else { return above.into() };
        next(above, step, is_hex).map_or_else(|| above.into(), |(next, width)| digits(next, width, is_hex).into())
    }
}

/// The number that is so much more than another, and how many digits it has at least.
fn next(above: &str, step: i64, is_hex: bool) -> Option<(i64, usize)> {
    let next = number(above, is_hex)?.checked_add(step).filter(|&at| at >= 0)?;
    Some((next, if is_hex || above.starts_with('0') { above.len() } else { 0 }))
}

/// The number that some digits are: decimal with at most 18 digits, or lower-case hexadecimal with at most 15.
pub fn number(text: &str, is_hex: bool) -> Option<i64> {
    let (radix, most) = if is_hex { (16, 15) } else { (10, 18) };
    let is_canonical = text.bytes().all(|byte| byte.is_ascii_digit() || is_hex && matches!(byte, b'a'..=b'f'));
    ((1..=most).contains(&text.len()) && is_canonical).then(|| i64::from_str_radix(text, radix).ok())?
}

/// What `up` folders above a value's own is.
pub fn folder(above: &str, up: usize, separator: char) -> Option<&str> {
    above.rmatch_indices(separator).nth(up).map(|(at, _)| &above[..at + separator.len_utf8()])
}
