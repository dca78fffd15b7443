//! `usr_0099` -> `usr_0100`: the step between two texts of a sequence.
//!
//! A step works on spelling, not on values: `0099` is followed by `0100` but `99` by `100`, and `1.50` by `1.75`. A
//! sequence either restores every byte or is not a sequence.

use std::ops::Range;

use concertina_format::ionizer::tree::is_number;
use concertina_format::steps::{Step, value};

/// Returns the step that leads from one text to another; `None` if there is no simple one.
pub(in super::super) fn between(from: &str, to: &str) -> Option<Step> {
    if from == to || from.len() > 128 {
        return None;
    }
    let (mut runs_from, mut runs_to) = (runs(from), runs(to));
    // The first run that differs, and the number of runs after it.
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
    let step = Step { run: following, by: i64::try_from(by).ok()? };
    step.leads(from, to).then_some(step)
}

/// Returns the step that occurs in more than half of `of` places; `None` if there is none.
pub(in super::super) fn majority(steps: impl Iterator<Item = i64> + Clone, of: usize) -> Option<i64> {
    let (mut most, mut lead) = (0, 0usize);
    for step in steps.clone() {
        match lead {
            0 => (most, lead) = (step, 1),
            _ if step == most => lead += 1,
            _ => lead -= 1,
        }
    }
    (steps.filter(|step| *step == most).count() * 2 > of).then_some(most)
}

/// Returns the runs of digits. A text that is a number is one run, including its sign and decimals.
fn runs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let is_one = is_number(text) && !text.contains(['e', 'E']);
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
            let step = between(from, to).unwrap_or_else(|| panic!("{from} {to}"));
            assert_eq!(step.to_string(), printed, "{from} {to}");
            assert_eq!(Step::parse(printed), Some(step), "{printed}");
            assert_eq!(step.apply(from).as_deref(), Some(to));
        }
    }

    #[test]
    fn a_spelling_that_a_step_cannot_restore_is_no_sequence() {
        for (from, to) in
            [("1", "1"), ("1", "02"), ("1.5", "2"), ("a1b1", "a2b2"), ("1e5", "1e6"), ("x", "y"), ("a5", "a-1")]
        {
            assert_eq!(between(from, to).filter(|step| step.apply(from).as_deref() != Some(to)), None);
        }
        assert_eq!(between("a1b1", "a2b2"), None);
        assert_eq!(Step::parse("+"), None);
        assert_eq!(Step::parse("+99999999999999999999"), None);
    }
}
