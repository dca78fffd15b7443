//! log -> the same log with the middle of its floods left out, for a reader who asked for fewer tokens than folding gives.
//!
//! Only lines of which there are many go. What stays: errors, rare lines, the first and last lines of each kind and of the
//! log, rows with an outlier, and for each kind one line that sums up what went: its text with the range of each value.

use std::collections::HashSet;

use super::column::{Template, template};
use super::log::Log;
use crate::config::Encoding;
use crate::pipeline::elided;
use crate::pipeline::fold::Fold;
use crate::tokens;

/// Lines kept at both ends of each kind, tried in turn.
const KEPT: [usize; 6] = [64, 32, 16, 8, 4, 2];
/// Lines kept at the end of the log.
const LAST_LINES: usize = 3;
/// More different values are only counted.
const MAX_SAID: usize = 4;
/// A note replaces at least this many lines.
const MIN_RUN: usize = 6;

/// The fold of the log without as many of its lines as it takes to fit, or without as many as may go. Line numbers start at
/// `first_line`.
pub(super) fn fold_within(
    text: &str,
    limit: usize,
    first_line: usize,
    fold: impl Fn(&str) -> Option<Fold>,
    encoding: Encoding,
) -> Option<Fold> {
    let log = Log::read(text, false);
    let floods: Vec<(Template, &[usize])> =
        log.groups.iter().map(|group| (template(group, &log.words), group.lines.as_slice())).collect();
    let outliers: HashSet<usize> = floods.iter().flat_map(|(template, lines)| outliers(template, lines)).collect();
    let mut best: Option<(usize, Fold)> = None;
    for kept in KEPT {
        let mut goes = vec![false; log.lines.len()];
        for (_, lines) in &floods {
            for &line in lines.iter().skip(kept).rev().skip(kept) {
                goes[line] = !outliers.contains(&line) && line + LAST_LINES < log.lines.len();
            }
        }
        let Some(shown) = without(&log, &mut goes, &floods, first_line) else { continue };
        let Some(folded) = fold(&shown) else { continue };
        let cost = tokens::count(&folded.to_string(), encoding);
        if best.as_ref().is_none_or(|&(least, _)| cost < least) {
            best = Some((cost, folded));
        }
        if cost <= limit {
            break;
        }
    }
    best.map(|(_, fold)| fold)
}

/// The log with a note in place of each run of lines that go; runs too short to be worth a note stay.
fn without(log: &Log, goes: &mut [bool], floods: &[(Template, &[usize])], first_line: usize) -> Option<String> {
    let end = if log.is_crlf { "\r" } else { "" };
    let mut shown = Vec::new();
    let mut at = 0;
    while at < log.lines.len() {
        let run = goes[at..].iter().take_while(|&&goes| goes).count();
        if run >= MIN_RUN {
            shown.push(elided(run, "lines", Some((first_line + at, first_line + at + run - 1))));
            at += run;
            continue;
        }
        goes[at..at + run].fill(false);
        for line in &log.lines[at..(at + run.max(1))] {
            shown.push(line.text.to_owned());
        }
        at += run.max(1);
    }
    if !goes.contains(&true) {
        return None;
    }
    for (template, lines) in floods {
        let rows: Vec<usize> = (0..lines.len()).filter(|&row| goes[lines[row]]).collect();
        if rows.len() >= MIN_RUN {
            shown.push(format!("{} like: {}", elided(rows.len(), "lines", None), template.sum_up(&rows, ranged)));
        }
    }
    Some(shown.join(&format!("{end}\n")) + end)
}

/// What the values of a column are: all of a few, the range of numbers, or how many.
fn ranged(values: &[&str]) -> String {
    let mut different = Vec::new();
    for value in values {
        if !different.contains(value) {
            different.push(*value);
        }
        if different.len() > MAX_SAID {
            break;
        }
    }
    if different.len() <= MAX_SAID {
        return different.join("|");
    }
    let numbers: Option<Vec<f64>> = values.iter().map(|value| number(value)).collect();
    let Some(numbers) = numbers else {
        return format!("{} values", values.iter().collect::<HashSet<_>>().len());
    };
    let by = |a: &usize, b: &usize| numbers[*a].total_cmp(&numbers[*b]);
    let (least, most) = ((0..values.len()).min_by(by), (0..values.len()).max_by(by));
    least.zip(most).map_or_else(String::new, |(least, most)| format!("{}..{}", values[least], values[most]))
}

/// The lines with a number far from the others of its column.
fn outliers<'a>(template: &'a Template, lines: &'a [usize]) -> impl Iterator<Item = usize> + 'a {
    (0..template.slots.len()).flat_map(move |column| {
        let numbers: Vec<f64> = template.columns[column].iter().map_while(|value| number(value)).collect();
        let mut sorted = numbers.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |share: usize| sorted.get(sorted.len() * share / 100).copied().unwrap_or_default();
        let (low, high) = (at(5), at(95));
        let reach = 3.0 * (high - low);
        let is_far = move |number: f64| number < low - reach || number > high + reach;
        let is_column = numbers.len() == lines.len();
        numbers.into_iter().zip(lines).filter(move |&(number, _)| is_column && is_far(number)).map(|(_, &line)| line)
    })
}

/// A plain decimal number.
fn number(value: &str) -> Option<f64> {
    value.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'-').then(|| value.parse().ok())?
}
