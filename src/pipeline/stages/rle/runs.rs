//! `item 1`, `item 2`, … `item 900` -> `item 1`, `item 900` and how many; a block said 40 times -> the block, 40 times.

use std::ops::Range;

use crate::pipeline::fold::Fold;
use crate::pipeline::hashing::FastMap;

const COUNTING: &str = " lines; all numbers count evenly from the first line to the last";
const TIMES: &str = " times";

/// The longest block that repeats, in lines.
const MAX_BLOCK: usize = 64;
/// A shorter line is not looked into.
const LONG_LINE: usize = 256;
/// Nothing unfolds to more bytes than this.
const MAX_BYTES: usize = 1 << 24;

/// A run of lines and its fold.
pub(super) struct Run {
    pub(super) lines: Range<usize>,
    pub(super) fold: Fold,
}

/// The runs of a text's lines, in order. Whether they pay is for the caller.
pub(super) fn find(lines: &[&str]) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut last_seen: FastMap<&str, usize> = FastMap::default();
    let (mut at, mut floor) = (0, 0);
    while at < lines.len() {
        let found = counting(&lines[at..])
            .map(|(len, fold)| Run { lines: at..at + len, fold })
            .or_else(|| repeating(lines, at, floor, &last_seen));
        match found {
            Some(run) => {
                at = run.lines.end;
                floor = at;
                runs.push(run);
            }
            None => {
                last_seen.insert(lines[at], at);
                at += 1;
            }
        }
    }
    runs
}

/// Undoes [`find`]'s folds.
pub(super) fn unfold(fold: &Fold) -> Option<String> {
    let body = fold.body.as_deref()?;
    let (times, form) = fold.legend.split_at(fold.legend.bytes().position(|b| !b.is_ascii_digit())?);
    let times: usize = times.parse().ok()?;
    (times.checked_mul(body.len() + 1)? <= MAX_BYTES).then_some(())?;
    match form {
        COUNTING => {
            let (first, last) = body.split_once('\n')?;
            let (first, last) = (Counters::of(first), Counters::of(last));
            let steps = first.steps_to(&last, i64::try_from(times.checked_sub(1)?).ok()?)?;
            let lines: Option<Vec<String>> = (0..times).map(|at| first.line(&steps, i64::try_from(at).ok()?)).collect();
            Some(lines?.join("\n"))
        }
        TIMES => Some(vec![body; times].join("\n")),
        _ => None,
    }
}

/// Lines that differ only in numbers, each with a constant step; the number of lines.
fn counting(lines: &[&str]) -> Option<(usize, Fold)> {
    let (&first, &second) = (lines.first()?, lines.get(1)?);
    if first.is_empty() || first.len() > LONG_LINE || second.len() > LONG_LINE || !may_count(first, second) {
        return None;
    }
    let start = Counters::of(first);
    let steps = start.steps_to(&Counters::of(second), 1)?;
    let is_next = |&(at, line): &(i64, &&str)| start.line(&steps, at).as_deref() == Some(*line);
    let len = (0_i64..).zip(lines).take_while(is_next).count();
    let legend = format!("{len}{}", if steps.iter().all(|&step| step == 0) { TIMES } else { COUNTING });
    let body = if legend.ends_with(TIMES) { first.to_owned() } else { format!("{first}\n{}", lines[len - 1]) };
    (len > 2).then(|| (len, Fold::new(super::NAME, legend, Some(body))))
}

/// Whether two lines begin alike up to their first digits.
fn may_count(one: &str, other: &str) -> bool {
    let alike = one.bytes().zip(other.bytes()).find(|(a, b)| a != b || a.is_ascii_digit());
    alike.map_or(one.len() == other.len(), |(a, b)| a.is_ascii_digit() && b.is_ascii_digit())
}

/// A block of lines that comes again and again, the first time just above.
fn repeating(lines: &[&str], at: usize, floor: usize, last_seen: &FastMap<&str, usize>) -> Option<Run> {
    let start = *last_seen.get(lines[at])?;
    let period = at - start;
    if start < floor || period > MAX_BLOCK {
        return None;
    }
    // A block ends with a line that is not empty, so that a fold never ends at an empty line.
    let shift = lines[start..at].iter().rev().take_while(|line| line.is_empty()).count();
    if shift == period || lines[at..].len() < shift || lines[start..start + shift] != lines[at..at + shift] {
        return None;
    }
    let (start, at) = (start + shift, at + shift);
    let block = lines[start..at].join("\n");
    let same = lines[at..].iter().zip(&lines[start..]).take_while(|(a, b)| a == b).count();
    let times = same / period + 1;
    (times > 1).then(|| Run {
        lines: start..start + times * period,
        fold: Fold::new(super::NAME, format!("{times}{TIMES}"), Some(block)),
    })
}

/// A line as texts and the numbers between them.
struct Counters<'a> {
    texts: Vec<&'a str>,
    numbers: Vec<&'a str>,
}

impl<'a> Counters<'a> {
    fn of(line: &'a str) -> Self {
        let mut found = Self { texts: Vec::new(), numbers: Vec::new() };
        let mut rest = line;
        while let Some(start) = rest.bytes().position(|b| b.is_ascii_digit()) {
            let len = rest[start..].bytes().take_while(u8::is_ascii_digit).count();
            found.texts.push(&rest[..start]);
            found.numbers.push(&rest[start..start + len]);
            rest = &rest[start + len..];
        }
        found.texts.push(rest);
        found
    }

    /// What each number grows by on each of so many lines, when that is the same on each.
    fn steps_to(&self, last: &Self, lines: i64) -> Option<Vec<i64>> {
        if self.texts != last.texts || lines < 1 {
            return None;
        }
        let step = |(first, last): (&&str, &&str)| {
            if first == last {
                return Some(0);
            }
            let gap = number(last)? - number(first)?;
            (gap % lines == 0).then_some(gap / lines)
        };
        self.numbers.iter().zip(&last.numbers).map(step).collect()
    }

    /// The line so many steps on; numbers with leading zeros keep their width.
    fn line(&self, steps: &[i64], at: i64) -> Option<String> {
        let mut line = self.texts[0].to_owned();
        for ((&first, &step), text) in self.numbers.iter().zip(steps).zip(&self.texts[1..]) {
            if step == 0 {
                line += first;
            } else {
                let value = number(first)?.checked_add(step.checked_mul(at)?).filter(|&value| value >= 0)?;
                let width = if first.starts_with('0') { first.len() } else { 0 };
                line += &format!("{value:0width$}");
            }
            line += text;
        }
        Some(line)
    }
}

fn number(digits: &str) -> Option<i64> {
    (digits.len() <= 18).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(Range<usize>, String, String)> {
        let lines: Vec<&str> = text.split('\n').collect();
        let runs = find(&lines);
        for run in &runs {
            assert_eq!(unfold(&run.fold).as_deref(), Some(lines[run.lines.clone()].join("\n").as_str()));
        }
        runs.into_iter().map(|run| (run.lines, run.fold.legend, run.fold.body.unwrap())).collect()
    }

    #[test]
    fn counters_and_repeats_are_found() {
        let counting = "4 lines; all numbers count evenly from the first line to the last";
        for (text, range, legend, body) in [
            (
                "x\nitem 08 of 9\nitem 09 of 9\nitem 10 of 9\nitem 11 of 9\ny",
                1..5,
                counting,
                "item 08 of 9\nitem 11 of 9",
            ),
            ("1 5\n2 4\n3 3\n4 2", 0..4, counting, "1 5\n4 2"),
            ("a\na\na\nb", 0..3, "3 times", "a"),
            ("q\na\nb\na\nb\na\nb\nc", 1..7, "3 times", "a\nb"),
            ("a\n\na\n\na\n\nb", 1..5, "2 times", "\na"),
        ] {
            assert_eq!(found(text), [(range, legend.to_owned(), body.to_owned())], "{text}");
        }
    }

    #[test]
    fn uneven_numbers_are_no_run() {
        for text in ["1\n2\n4\n8", "a 1\nb 2\nc 3", "0\n99999999999999999999\n5", "\n\n\n\n", "08\n9\n10"] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    #[test]
    fn a_claim_too_large_is_refused() {
        for (legend, body) in [
            ("99999999999 times", "x"),
            ("0 lines; all numbers count evenly from the first line to the last", "1\n2"),
            ("x times", "y"),
        ] {
            assert_eq!(unfold(&Fold::new("rle", legend, Some(body.into()))), None);
        }
    }
}
