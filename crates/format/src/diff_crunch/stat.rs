//! ` src/a.rs   | 12 ++++++------` -> `src/a.rs +6 -6`; another file of the same directory is `/b.rs`.
//!
//! git scales the bars of large changes; these bars are kept, and only the alignment is removed. The totals line is
//! removed only if there is one file, because it then repeats the file's counts.

use super::number;

/// A file and its change counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry<'a> {
    path: &'a str,
    change: Change<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change<'a> {
    /// The numbers of added and of removed lines.
    Counts(u64, u64),
    /// The sum, and the scaled bar.
    Scaled(u64, &'a str),
}

/// The longest bar that is accepted, above anything git prints.
pub const MAX_BAR: usize = 400;

/// Returns the totals line of a diffstat of one file.
pub fn totals(short: &[String]) -> Option<String> {
    let Entry { change: Change::Counts(added, removed), .. } = read(short.first()?)? else { return None };
    let part = |count: u64, word: &str, sign: &str| match count {
        0 => String::new(),
        1 => format!(", 1 {word}({sign})"),
        _ => format!(", {count} {word}s({sign})"),
    };
    Some(format!(" 1 file changed{}{}", part(added, "insertion", "+"), part(removed, "deletion", "-")))
}

/// Returns the lines that short ones stand for, and the number of short lines read.
pub fn unfold(lines: &[&str]) -> Option<(Vec<String>, usize)> {
    let entries: Vec<Entry> = lines.iter().map_while(|line| read(line)).collect();
    let mut paths: Vec<String> = Vec::with_capacity(entries.len());
    for entry in &entries {
        let parent = paths.last().and_then(|path| path.rfind('/').map(|slash| &path[..slash]));
        let path = match entry.path.strip_prefix('/') {
            Some(name) => format!("{}/{name}", parent?),
            None => entry.path.to_owned(),
        };
        paths.push(path);
    }
    let sum = |entry: &Entry| match entry.change {
        Change::Counts(added, removed) => added.saturating_add(removed),
        Change::Scaled(sum, _) => sum,
    };
    let width = paths.iter().map(|path| path.chars().count()).max()?;
    let digits = entries.iter().map(|entry| sum(entry).to_string().len()).max()?;
    let mut long = Vec::with_capacity(entries.len() + 1);
    for (entry, path) in entries.iter().zip(&paths) {
        let bar = match entry.change {
            Change::Counts(added, removed) => "+".repeat(added as usize) + &"-".repeat(removed as usize),
            Change::Scaled(_, bar) => bar.to_owned(),
        };
        long.push(format!(" {path:<width$} | {:>digits$} {bar}", sum(entry)));
    }
    if entries.len() == 1 {
        long.extend(totals(&[lines[0].to_owned()]));
    }
    Some((long, entries.len()))
}

/// Returns true if a line reads as a short diffstat line.
pub fn is_short(line: &str) -> bool {
    read(line).is_some()
}

fn read(line: &str) -> Option<Entry<'_>> {
    if line.starts_with([' ', '+', '-', '\\', '>']) {
        return None;
    }
    let signed = |word: &str, sign: char| {
        let (count, rest) = number(word.strip_prefix(sign)?)?;
        (rest.is_empty() && (1..=MAX_BAR as u64).contains(&count)).then_some(count)
    };
    let (rest, last) = line.rsplit_once(' ')?;
    let (path, change) = if let Some(removed) = signed(last, '-') {
        match rest.rsplit_once(' ').and_then(|(path, word)| Some((path, signed(word, '+')?))) {
            Some((path, added)) => (path, Change::Counts(added, removed)),
            None => (rest, Change::Counts(0, removed)),
        }
    } else if let Some(added) = signed(last, '+') {
        (rest, Change::Counts(added, 0))
    } else {
        let (path, sum) = rest.rsplit_once(' ')?;
        let (sum, "") = number(sum)? else { return None };
        let is_bar = (1..=MAX_BAR).contains(&last.len()) && last.bytes().all(|byte| matches!(byte, b'+' | b'-'));
        (path, Change::Scaled(sum, Some(last).filter(|_| is_bar)?))
    };
    (!path.is_empty()).then_some(Entry { path, change })
}
