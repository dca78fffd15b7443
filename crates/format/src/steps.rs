//! `usr_0099` -> `usr_0100`: the next text of a sequence, by counting one of its numbers.
//!
//! A step works on spelling, not on values: `0099` is followed by `0100` but `99` by `100`, and `1.50` by `1.75`. A
//! sequence either restores every byte or is not a sequence.

use std::fmt::Write as _;

use crate::ionizer::tree::is_number;

/// The difference between a text and the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Step {
    /// The number of digit runs after the one that counts. A text that is a number is one run.
    pub run: usize,
    /// The amount added, in units of the last digit.
    pub by: i64,
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.run {
            0 => write!(f, "{:+}", self.by),
            run => write!(f, "{:+}#{run}", self.by),
        }
    }
}

impl Step {
    /// Reads a printed step back.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(['+', '-'])?.bytes().take_while(u8::is_ascii_digit).count();
        let by: i64 = text[..=digits].parse().ok()?;
        let run = match &text[digits + 1..] {
            "" => 0,
            rest => rest.strip_prefix('#')?.parse().ok()?,
        };
        Some(Self { run, by })
    }

    /// Returns true if the step leads from one text to the other.
    pub fn leads(&self, from: &str, to: &str) -> bool {
        self.may_lead(from, to) && self.apply(from).is_some_and(|next| next == to)
    }

    /// Returns false if the numbers or the rest of the texts cannot fit; a check without allocation.
    fn may_lead(&self, from: &str, to: &str) -> bool {
        let Some((start, end)) = run_from_end(from, self.run) else { return false };
        let rest = to.strip_prefix(&from[..start]).and_then(|rest| rest.strip_suffix(&from[end..]));
        let Some(own) = rest else { return false };
        let sum = value(&from[start..end]).and_then(|number| number.checked_add(i128::from(self.by)));
        own.len() > LONGEST || sum == value(own)
    }

    /// Returns the next text; `None` if the step does not apply.
    pub fn apply(&self, text: &str) -> Option<String> {
        let (start, end) = run_from_end(text, self.run)?;
        let digits = &text[start..end];
        let sum = value(digits)?.checked_add(i128::from(self.by))?;
        let whole = digits.strip_prefix('-').unwrap_or(digits);
        let places = whole.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let wide = whole.len() - usize::from(places > 0);
        // A leading zero means a fixed width. A decimal has at least one digit before its point.
        let width = if whole.starts_with('0') && places == 0 { wide } else { places + 1 };
        let mut next = String::with_capacity(text.len() + 2);
        next.push_str(&text[..start]);
        if sum < 0 {
            // Only a whole number may turn negative; inside a word the sign would be a new character.
            if start != 0 || end != text.len() {
                return None;
            }
            next.push('-');
        }
        push_number(&mut next, sum.unsigned_abs(), width);
        if places > 0 {
            next.insert(next.len() - places, '.');
        }
        next.push_str(&text[end..]);
        Some(next)
    }
}

/// Appends a number, padded with zeros to `width` digits.
fn push_number(out: &mut String, number: u128, width: usize) {
    let Ok(mut number) = u64::try_from(number) else {
        return write!(out, "{number:0width$}").expect("a string takes everything");
    };
    // Filled from the end; a 64-bit number has at most 20 digits.
    let mut digits = ['0'; 20];
    let mut start = digits.len();
    while number > 0 || start == digits.len() {
        start -= 1;
        digits[start] = char::from(b'0' + u8::try_from(number % 10).expect("a digit"));
        number /= 10;
    }
    out.extend(std::iter::repeat_n('0', width.saturating_sub(digits.len() - start)));
    out.extend(&digits[start..]);
}

/// Returns the digit run that is followed by `following` others; see [`runs`].
fn run_from_end(text: &str, following: usize) -> Option<(usize, usize)> {
    if is_number(text) && !text.contains(['e', 'E']) {
        return (following == 0).then_some((0, text.len()));
    }
    let bytes = text.as_bytes();
    let mut end = bytes.iter().rposition(u8::is_ascii_digit)? + 1;
    for run in 0.. {
        let start = bytes[..end].iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |at| at + 1);
        if run == following {
            return Some((start, end));
        }
        end = bytes[..start].iter().rposition(u8::is_ascii_digit)? + 1;
    }
    None
}

/// The longest number that can count, in bytes.
const LONGEST: usize = 30;

/// Returns the digits as one number, ignoring the decimal point.
pub fn value(digits: &str) -> Option<i128> {
    let whole = digits.strip_prefix('-').unwrap_or(digits);
    if whole.is_empty() || digits.len() > LONGEST || !whole.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let figures = whole.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0');
    let number = match whole.len() {
        0..19 => i128::from(figures.fold(0_i64, |number, digit| number * 10 + i64::from(digit))),
        _ => figures.fold(0, |number, digit| number * 10 + i128::from(digit)),
    };
    Some(if whole.len() < digits.len() { -number } else { number })
}
