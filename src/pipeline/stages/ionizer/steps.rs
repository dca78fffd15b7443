//! `usr_0099` -> `usr_0100`: the next text of a sequence, counted by number.
//!
//! A step works on spelling, not on values: `0099` is followed by `0100` but `99` by `100`, and `1.50` by `1.75`, so that a
//! sequence restores every byte or is no sequence.

use std::fmt::Write as _;
use std::ops::Range;

/// From one text to the next.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Step {
    /// How many runs of digits follow the one that counts; a text that is a number is one run.
    run: usize,
    /// How much is added, in units of the last digit.
    by: i64,
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
    pub(super) fn parse(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix('+').or_else(|| text.starts_with('-').then_some(text))?;
        let length = unsigned.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'-').count();
        let by: i64 = unsigned[..length].parse().ok()?;
        let run = match &unsigned[length..] {
            "" => 0,
            rest => rest.strip_prefix('#')?.parse().ok()?,
        };
        Some(Self { run, by })
    }

    /// The step that leads from one text to another, if there is a simple one.
    pub(super) fn between(from: &str, to: &str) -> Option<Self> {
        if from == to || from.len() > 128 {
            return None;
        }
        let (mut runs_from, mut runs_to) = (runs(from), runs(to));
        // The first run that differs, and how many follow it.
        let mut different = None;
        let mut following = 0;
        loop {
            match (runs_from.next(), runs_to.next()) {
                (Some(a), Some(b)) if different.is_none() => {
                    different = (from[a.clone()] != to[b.clone()]).then_some((a, b));
                }
                (Some(_), Some(_)) => following += 1,
                (None, None) => break,
                _ => return None,
            }
        }
        let (a, b) = different?;
        if from[..a.start] != to[..b.start] || from[a.end..] != to[b.end..] {
            return None;
        }
        let by = value(&to[b])?.checked_sub(value(&from[a])?)?;
        let step = Self { run: following, by: i64::try_from(by).ok()? };
        step.leads(from, to).then_some(step)
    }

    /// Whether it leads from one text to another.
    pub(super) fn leads(&self, from: &str, to: &str) -> bool {
        self.may_lead(from, to) && self.apply(from).is_some_and(|next| next == to)
    }

    /// Whether the number that counts is the right one and the rest the same; a look that makes no text.
    fn may_lead(&self, from: &str, to: &str) -> bool {
        let Some((start, end)) = run_from_end(from, self.run) else { return false };
        let rest = to.strip_prefix(&from[..start]).and_then(|rest| rest.strip_suffix(&from[end..]));
        let Some(own) = rest else { return false };
        let sum = value(&from[start..end]).and_then(|number| number.checked_add(i128::from(self.by)));
        own.len() > LONGEST || sum == value(own)
    }

    /// The next text.
    pub(super) fn apply(&self, text: &str) -> Option<String> {
        let (start, end) = run_from_end(text, self.run)?;
        let digits = &text[start..end];
        let sum = value(digits)?.checked_add(i128::from(self.by))?;
        let whole = digits.strip_prefix('-').unwrap_or(digits);
        let places = whole.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let wide = whole.len() - usize::from(places > 0);
        // A leading zero means that the width is fixed; a decimal has at least one digit before its point.
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

/// Appends a number, with zeros before it up to a width.
fn push_number(out: &mut String, number: u128, width: usize) {
    let Ok(mut number) = u64::try_from(number) else {
        return write!(out, "{number:0width$}").expect("a string takes everything");
    };
    // From behind: no such number has more digits.
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

/// The runs of digits; a text that is a number is one run, sign and decimals included.
fn runs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let is_one = super::scan::is_number(text) && !text.contains(['e', 'E']);
    let mut at = 0;
    std::iter::from_fn(move || {
        if is_one {
            return (std::mem::replace(&mut at, text.len()) == 0).then_some(0..text.len());
        }
        let start = at + bytes[at..].iter().position(u8::is_ascii_digit)?;
        at = start + bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        Some(start..at)
    })
}

/// The last of the [`runs`] that so many follow.
fn run_from_end(text: &str, following: usize) -> Option<(usize, usize)> {
    if super::scan::is_number(text) && !text.contains(['e', 'E']) {
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

/// Longest number that counts, in bytes.
const LONGEST: usize = 30;

/// The digits as one number, without their point.
fn value(digits: &str) -> Option<i128> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_leads_from_each_text_to_the_next_and_back_from_print() {
        for (from, to, printed) in [
            ("1", "2", "+1"),
            ("9", "10", "+1"),
            ("-1", "0", "+1"),
            ("0", "-5", "-5"),
            ("0099", "0100", "+1"),
            ("usr_10009", "usr_10010", "+1"),
            ("user0009@x.com", "user0010@x.com", "+1"),
            ("v1.9-rc2", "v1.10-rc2", "+1#1"),
            ("1.50", "1.75", "+25"),
            ("-0.25", "0.00", "+25"),
            ("2024-02-28T10:00:00Z", "2024-02-29T10:00:00Z", "+1#3"),
        ] {
            let step = Step::between(from, to).unwrap_or_else(|| panic!("{from} {to}"));
            assert_eq!(step.to_string(), printed, "{from} {to}");
            assert_eq!(Step::parse(printed), Some(step.clone()), "{printed}");
            assert_eq!(step.apply(from).as_deref(), Some(to));
        }
    }

    #[test]
    fn a_spelling_that_a_step_cannot_restore_is_no_sequence() {
        for (from, to) in
            [("1", "1"), ("1", "02"), ("1.5", "2"), ("a1b1", "a2b2"), ("1e5", "1e6"), ("x", "y"), ("a5", "a-1")]
        {
            assert_eq!(Step::between(from, to).filter(|step| step.apply(from).as_deref() != Some(to)), None);
        }
        assert_eq!(Step::between("a1b1", "a2b2"), None);
        assert_eq!(Step::parse("+"), None);
        assert_eq!(Step::parse("+99999999999999999999"), None);
    }
}
