//! Successful lines that stay visible because they differ from the rest, such as a slow test or an unusual command.

use std::collections::{BTreeMap, HashMap};

use super::build;
use super::sign::{Line, MIN_RUN, Sign, Tool};

/// A line is slow if it took more than `SLOW` seconds and at least `TIMES` times the median of its kind.
const SLOW: f64 = 1.0;
const TIMES: f64 = 10.0;

/// The maximum number of slow lines that are kept.
const MAX_SLOW: usize = 3;

/// The maximum number of odd lines. More would form a report that a second pass shortens.
const MAX_ODD: usize = MIN_RUN - 2;

/// At least `ALIKE` of the `NEAR` commands around an odd command must be equal in shape.
const NEAR: usize = 4;
const ALIKE: usize = 3;

/// A command is odd if at most one command in this many has its shape.
const RARE: usize = 10;

/// The minimum length of a file's stem. Shorter ones may occur in any option.
const MIN_STEM: usize = 3;

/// Returns the lines that stay visible.
pub(super) fn lines(lines: &[Line], signs: &[Option<Sign>]) -> Vec<usize> {
    let slow = slow(signs).into_iter().flat_map(|at| [subject(lines, at), Some(at)]).flatten();
    slow.chain(unlike(lines, signs)).take(MAX_ODD).collect()
}

/// Returns the slowest lines of those that are slow for their kind.
fn slow(signs: &[Option<Sign>]) -> Vec<usize> {
    let mut kinds: BTreeMap<(usize, &str), Vec<(f64, usize)>> = BTreeMap::new();
    for (at, sign) in signs.iter().enumerate() {
        if let Some((sign, seconds)) = sign.and_then(|sign| Some((sign, sign.seconds?))) {
            kinds.entry((sign.tool as usize, sign.label)).or_default().push((seconds, at));
        }
    }
    let mut slow = Vec::new();
    for mut times in kinds.into_values() {
        times.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let (median, _) = times[(times.len() - 1) / 2];
        slow.extend(times.into_iter().filter(|&(seconds, _)| seconds > SLOW && seconds >= TIMES * median));
    }
    slow.sort_by(|(a, first), (b, second)| b.total_cmp(a).then(first.cmp(second)));
    slow.into_iter().take(MAX_SLOW).map(|(_, at)| at).collect()
}

/// Returns the line above that names the subject of a duration.
fn subject(lines: &[Line], at: usize) -> Option<usize> {
    let trimmed = lines[at].trimmed;
    let start = match trimmed.strip_prefix('#').and_then(|rest| rest.split_once(' ')) {
        Some((number, _)) => format!("#{number} ["),
        None if trimmed.starts_with("duration_ms: ") => "ok ".to_owned(),
        None => return None,
    };
    (0..at).rev().find(|&above| lines[above].trimmed.starts_with(&start))
}

/// Returns the commands whose program, options or output folder differ from the commands around them.
fn unlike(lines: &[Line], signs: &[Option<Sign>]) -> Vec<usize> {
    let (mut compiling, mut others) = (Vec::new(), Vec::new());
    for (at, (line, sign)) in lines.iter().zip(signs).enumerate() {
        if !sign.is_some_and(|sign| sign.tool == Tool::Build) {
            continue;
        }
        if let Some(command) = build::command_of(line.trimmed) {
            if command.contains(" -c ") { &mut compiling } else { &mut others }.push((at, shape(command)));
        }
    }
    let mut odd: Vec<usize> = [compiling, others].iter().flat_map(|commands| rare(commands)).collect();
    odd.sort_unstable();
    odd
}

/// Returns the commands that are unlike the ones around them, given their shapes.
fn rare(commands: &[(usize, String)]) -> Vec<usize> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    commands.iter().for_each(|(_, shape)| *counts.entry(shape).or_default() += 1);
    let is_odd = |index: usize| {
        let shape = &commands[index].1;
        if counts[shape.as_str()] * RARE > commands.len() {
            return false;
        }
        let start = index.saturating_sub(NEAR / 2).min(commands.len() - NEAR - 1);
        let near = (start..=start + NEAR).map(|near| &commands[near].1).filter(|near| *near != shape);
        near.clone().any(|one| near.clone().filter(|near| *near == one).count() >= ALIKE)
    };
    (0..commands.len()).filter(|&index| is_odd(index)).map(|index| commands[index].0).collect()
}

/// Returns a command without the names of its input and output files.
fn shape(command: &str) -> String {
    let is_option = |word: &str| word.starts_with('-');
    let words: Vec<&str> = command.split_whitespace().collect();
    let stem = words.iter().rev().filter(|word| !is_option(word)).find_map(|word| stem(word));
    let without_stem = |text: &str| match stem.filter(|stem| stem.len() >= MIN_STEM) {
        Some(stem) if text.contains(['=', ',', '/', '.']) => text.replace(stem, "*"),
        _ => text.to_owned(),
    };
    let mut masked = vec![words[0].to_owned()];
    for (before, word) in words.iter().zip(&words[1..]) {
        let (folder, name) = word.rsplit_once('/').unwrap_or(("", word));
        let suffix = name.rsplit_once('.').map(|(_, suffix)| suffix);
        masked.push(match suffix {
            _ if is_option(word) => without_stem(word),
            _ if *before == "-o" => format!("{}/*.{}", without_stem(folder), suffix.unwrap_or_default()),
            Some(suffix) => format!("*.{suffix}"),
            None => (*word).to_owned(),
        });
    }
    masked.dedup();
    masked.join(" ")
}

/// Returns the stem of a path: `a` of `src/a.c.o`.
fn stem(path: &str) -> Option<&str> {
    path.rsplit('/').next()?.split_once('.').map(|(stem, _)| stem)
}
