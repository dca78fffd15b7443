//! `x y x y x y` -> `x y 2*2`: lines of a folded log that repeat as they are written, and such repetitions that repeat.
//!
//! Because a row says only what is new, a counter or a steady beat is a repeated row.

use std::borrow::Cow;

use xxhash_rust::xxh3::xxh3_64;

/// The longest pattern, in lines.
const MAX_PERIOD: usize = 64;
/// How deep repetitions nest.
const MAX_DEPTH: usize = 3;

/// Replaces repetitions of the lines before by `*times` or `lines*times`.
pub(super) fn shorten(body: Vec<&str>) -> Vec<Cow<'_, str>> {
    let mut body: Vec<Cow<str>> = body.into_iter().map(Cow::Borrowed).collect();
    for _ in 0..MAX_DEPTH {
        match shorten_once(&body) {
            Some(shorter) => body = shorter,
            None => break,
        }
    }
    body
}

/// What a line that repeats others says: how many lines, how often.
pub(super) fn parse(line: &str) -> Option<(usize, usize)> {
    let is_likely = line.starts_with(|c: char| c == '*' || c.is_ascii_digit());
    let (lines, times) = is_likely.then(|| line.split_once('*'))??;
    Some((if lines.is_empty() { 1 } else { canonical(lines)? }, canonical(times)?))
}

/// A number from one, written the one way it is written.
pub(super) fn canonical(digits: &str) -> Option<usize> {
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
    is_number.then(|| digits.parse().ok())?
}

fn shorten_once<'a>(body: &[Cow<'a, str>]) -> Option<Vec<Cow<'a, str>>> {
    let hashes: Vec<u64> = body.iter().map(|line| xxh3_64(line.as_bytes())).collect();
    let mut out: Vec<Cow<str>> = Vec::new();
    // Lines before `copied` are in `out`; lines before `floor` are a repetition's.
    let (mut at, mut floor, mut copied) = (0, 0, 0);
    while at < body.len() {
        let near = floor.max(at.saturating_sub(MAX_PERIOD));
        let is_same = |before: &usize| hashes[*before] == hashes[at] && body[*before] == body[at];
        let period = (near..at).rev().find(is_same).map(|before| at - before);
        let period = period.filter(|&period| at - floor >= period && is_closed(&body[at - period..at]));
        let times = period.map_or(0, |period| {
            let same = body[at..].iter().zip(&body[at - period..]).take_while(|(a, b)| a == b).count();
            same / period
        });
        let Some(period) = period.filter(|period| times * period > 1) else {
            at += 1;
            continue;
        };
        out.extend_from_slice(&body[copied..at]);
        out.push(Cow::Owned(if period == 1 { format!("*{times}") } else { format!("{period}*{times}") }));
        at += times * period;
        (floor, copied) = (at, at);
    }
    out.extend_from_slice(&body[copied..]);
    (out.len() < body.len()).then_some(out)
}

/// Whether all that the lines repeat is among them.
fn is_closed(lines: &[Cow<str>]) -> bool {
    lines.iter().enumerate().all(|(at, line)| parse(line).is_none_or(|(repeated, _)| repeated <= at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortened(body: &str) -> String {
        shorten(body.split(' ').collect()).join(" ")
    }

    #[test]
    fn repetitions_nest() {
        for (body, expected) in [
            ("x x x", "x *2"),
            ("x x", "x x"),
            ("x y x y z", "x y 2*1 z"),
            ("a x x x a x x x a x x x b", "a x *2 3*2 b"),
            ("x x x y x x x y x x x y", "x *2 y 3*2"),
        ] {
            assert_eq!(shortened(body), expected);
        }
    }
}
