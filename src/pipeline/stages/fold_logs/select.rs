//! Shortens a log to a token limit by leaving out the middle of its frequent lines.
//!
//! Errors, rare lines, rows with outliers, and the first and last lines of each kind and of the log are kept. For each
//! kind, one line sums up what was left out: its text with the range of each value.

use std::collections::HashSet;

use crate::config::Encoding;
use crate::content::is_frame;
use crate::content::severity::{Severity, severity};
use crate::pipeline::elided;
use crate::pipeline::fold::Fold;
use crate::pipeline::lines::Flood;
use crate::tokens;
use concertina_base::hashing::FastMap;

/// The numbers of lines to keep at both ends of each kind, tried in turn.
const KEPT: [usize; 6] = [64, 32, 16, 8, 4, 2];
/// The number of lines that are kept at the end of the log.
const LAST_LINES: usize = 3;
/// The maximum number of repetitions of a failure that are all kept.
const MAX_FAILURES: usize = 8;
/// The maximum number of distinct values that are listed.
const MAX_SAID: usize = 4;
/// A value is rare if at most one line in this many has it.
const RARE: usize = 50;
/// Rare values are outliers if at most one line in this many has one.
const NEEDLES: usize = 20;
/// The minimum number of lines that a note replaces.
const MIN_RUN: usize = 6;

/// Returns true if a line reports an error or a warning, is part of a stack trace, or is a note about omitted lines.
pub(super) fn is_alarm(line: &str) -> bool {
    line.starts_with("[… ") || severity(line) >= Severity::Warning || is_frame(line)
}

/// Leaves out lines until the log fits or no more may be left out, and folds the rest. Line numbers start at
/// `first_line`.
pub(super) fn fold_within(
    text: &str,
    limit: usize,
    first_line: usize,
    fold: impl Fn(&str) -> Option<Fold>,
    encoding: Encoding,
) -> Option<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    let is_failure = |flood: &Flood| flood.lines().iter().any(|&line| severity(lines[line]) == Severity::Notice);
    let mut floods = Flood::all(text, is_alarm);
    floods.retain(|flood| flood.lines().len() > MAX_FAILURES || !is_failure(flood));
    let rare: HashSet<usize> = floods.iter().flat_map(outliers).collect();
    let mut best: Option<(usize, String)> = None;
    for kept in KEPT {
        let mut goes = vec![false; lines.len()];
        for flood in &floods {
            for &line in flood.lines().iter().skip(kept).rev().skip(kept) {
                goes[line] = !rare.contains(&line) && line + LAST_LINES < lines.len();
            }
        }
        let Some(shown) = without(&lines, &mut goes, &floods, first_line) else { continue };
        let folded = fold(&shown).map_or(shown, |fold| fold.to_string());
        let cost = tokens::count(&folded, encoding);
        if best.as_ref().is_none_or(|&(least, _)| cost < least) {
            best = Some((cost, folded));
        }
        if cost <= limit {
            break;
        }
    }
    best.map(|(_, folded)| folded)
}

/// Returns the log with a note in place of each run of omitted lines. Runs that are too short are kept.
fn without(lines: &[&str], goes: &mut [bool], floods: &[Flood], first_line: usize) -> Option<String> {
    let mut shown: Vec<String> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let run = goes[at..].iter().take_while(|&&goes| goes).count();
        if run >= MIN_RUN {
            shown.push(elided(run, "lines", Some((first_line + at, first_line + at + run - 1))));
            at += run;
            continue;
        }
        goes[at..at + run].fill(false);
        let end = at + run.max(1);
        shown.extend(lines[at..end].iter().map(|&line| line.to_owned()));
        at = end;
    }
    if !goes.contains(&true) {
        return None;
    }
    for flood in floods {
        let rows: Vec<usize> = (0..flood.lines().len()).filter(|&row| goes[flood.lines()[row]]).collect();
        if rows.len() >= MIN_RUN {
            shown.push(format!("{} like: {}", elided(rows.len(), "lines", None), flood.sum_up(&rows, ranged)));
        }
    }
    Some(shown.join("\n"))
}

/// Describes the values of a column: a few as a list, numbers as a range, and others by their number.
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

/// Returns the outliers: lines with a number far from the others of its column, or with a rare value in a column of few
/// values, such as a 302 among 200s.
fn outliers(flood: &Flood) -> Vec<usize> {
    let lines = flood.lines();
    let mut found = Vec::new();
    for column in flood.columns() {
        let mut seen: FastMap<&str, usize> = FastMap::default();
        column.iter().for_each(|value| *seen.entry(value).or_default() += 1);
        let is_rare = |value: &str| seen[value] * RARE <= lines.len();
        let rare = column.iter().filter(|value| is_rare(value)).count();
        let are_needles = rare * NEEDLES <= lines.len();
        let numbers: Option<Vec<f64>> = column.iter().map(|value| number(value)).collect();
        let mut sorted = numbers.clone().unwrap_or_default();
        sorted.sort_by(f64::total_cmp);
        let at = |share: usize| sorted.get(sorted.len() * share / 100).copied().unwrap_or_default();
        let (low, high) = (at(5), at(95));
        let reach = 3.0 * (high - low);
        let is_far = |row: usize| {
            numbers.as_ref().is_some_and(|numbers| numbers[row] < low - reach || numbers[row] > high + reach)
        };
        let row = |row: &usize| are_needles && is_rare(column[*row]) || is_far(*row);
        found.extend((0..lines.len()).filter(row).map(|row| lines[row]));
    }
    found
}

/// Parses a plain decimal number.
fn number(value: &str) -> Option<f64> {
    value.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'-').then(|| value.parse().ok())?
}
