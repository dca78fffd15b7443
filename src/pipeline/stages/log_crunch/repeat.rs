//! `x y x y x y` -> `x y 2*2`: lines of a folded log that repeat as they are written, and such repetitions that repeat.
//!
//! Because a row says only what is new, a counter or a steady beat is a repeated row.

use crate::pipeline::stages::hashing::FastMap;

/// The longest pattern, in lines.
const MAX_PERIOD: usize = 64;
/// How deep repetitions nest.
const MAX_DEPTH: usize = 3;

/// Replaces repetitions of the lines before by `*times` or `lines*times`.
pub(super) fn shorten(mut body: Vec<String>) -> Vec<String> {
    for _ in 0..MAX_DEPTH {
        let before = body.len();
        body = shorten_once(&body);
        if body.len() == before {
            break;
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

fn shorten_once(body: &[String]) -> Vec<String> {
    let mut last_seen: FastMap<&str, usize> = FastMap::default();
    let mut out: Vec<String> = Vec::new();
    let (mut at, mut floor) = (0, 0);
    while at < body.len() {
        let period = last_seen.get(body[at].as_str()).map(|&before| at - before);
        let period =
            period.filter(|&period| period <= MAX_PERIOD && at - floor >= period && is_closed(&body[at - period..at]));
        let times = period.map_or(0, |period| {
            let same = body[at..].iter().zip(&body[at - period..]).take_while(|(a, b)| a == b).count();
            same / period
        });
        let Some(period) = period.filter(|period| times * period > 1) else {
            last_seen.insert(&body[at], at);
            out.push(body[at].clone());
            at += 1;
            continue;
        };
        out.push(if period == 1 { format!("*{times}") } else { format!("{period}*{times}") });
        at += times * period;
        floor = at;
    }
    out
}

/// Whether all that the lines repeat is among them.
fn is_closed(lines: &[String]) -> bool {
    lines.iter().enumerate().all(|(at, line)| parse(line).is_none_or(|(repeated, _)| repeated <= at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortened(body: &str) -> String {
        shorten(body.split(' ').map(str::to_owned).collect()).join(" ")
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
