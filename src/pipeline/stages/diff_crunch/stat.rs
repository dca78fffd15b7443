//! ` src/a.rs   | 12 ++++++------` -> `src/a.rs +6 -6`; a further file of the same directory is `/b.rs`.
//!
//! git scales the bars of large changes; then they stay, and only the columns go. The line below the files goes only where there
//! is one file: it says what the file's line says.

use super::hunk::number;
use crate::content::diff_hunk::StatRow;

/// A file and its change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry<'a> {
    path: &'a str,
    change: Change<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change<'a> {
    /// Added and removed lines.
    Counts(u64, u64),
    /// The sum, and the scaled bar.
    Scaled(u64, &'a str),
}

/// The longest bar that git prints, and then some.
const MAX_BAR: usize = 400;

/// The short form of the files that `lines` begin with, and how many lines they were.
pub(super) fn fold(lines: &[&str]) -> Option<(Vec<String>, usize)> {
    let files: Vec<(&str, u64, &str)> = lines.iter().map_while(|line| file(line)).collect();
    let below = *lines.get(files.len()).filter(|line| line.contains(" changed"))?;
    if files.is_empty() {
        return None;
    }
    let is_scaled = files.iter().any(|(_, sum, bar)| *sum != bar.len() as u64);
    let mut short = Vec::with_capacity(files.len());
    let mut directory = None;
    for &(path, sum, bar) in &files {
        let added = bar.bytes().take_while(|&byte| byte == b'+').count();
        let (parent, name) = path.rfind('/').map_or(("", path), |slash| path.split_at(slash));
        let shown = if directory == Some(parent) && !parent.is_empty() { name } else { path };
        directory = Some(parent);
        short.push(match (is_scaled, added as u64, (bar.len() - added) as u64) {
            (true, ..) => format!("{shown} {sum} {bar}"),
            (false, added, 0) => format!("{shown} +{added}"),
            (false, 0, removed) => format!("{shown} -{removed}"),
            (false, added, removed) => format!("{shown} +{added} -{removed}"),
        });
    }
    let is_alone = files.len() == 1 && !is_scaled;
    let taken = files.len() + usize::from(is_alone && totals(&short).as_deref() == Some(below));
    let read: Vec<&str> = short.iter().map(String::as_str).collect();
    (unfold(&read)? == (lines[..taken].iter().map(|line| (*line).to_owned()).collect(), short.len()))
        .then_some((short, taken))
}

/// Whether a line is a file's.
pub(super) fn is_file(line: &str) -> bool {
    file(line).is_some()
}

/// ` path | 12 ++--`, whatever the blanks.
fn file(line: &str) -> Option<(&str, u64, &str)> {
    // The end of the bar: what most lines lack.
    line.ends_with(['+', '-']).then_some(())?;
    let StatRow { path, change } = StatRow::parse(line)?;
    let (sum, bar) = number(change)?;
    let bar = bar.strip_prefix(' ')?;
    let is_bar = (1..=MAX_BAR).contains(&bar.len()) && bar.trim_start_matches('+').trim_start_matches('-').is_empty();
    is_bar.then_some((path, sum, bar))
}

/// The line below one file.
fn totals(short: &[String]) -> Option<String> {
    let Entry { change: Change::Counts(added, removed), .. } = read(short.first()?)? else { return None };
    let part = |count: u64, word: &str, sign: &str| match count {
        0 => String::new(),
        1 => format!(", 1 {word}({sign})"),
        _ => format!(", {count} {word}s({sign})"),
    };
    Some(format!(" 1 file changed{}{}", part(added, "insertion", "+"), part(removed, "deletion", "-")))
}

/// The lines that short ones stand for, and how many these were.
pub(super) fn unfold(lines: &[&str]) -> Option<(Vec<String>, usize)> {
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

/// Whether a line reads as a short one.
pub(super) fn is_short(line: &str) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn short(text: &str) -> Option<(String, usize)> {
        fold(&text.split('\n').collect::<Vec<_>>()).map(|(short, taken)| (short.join("\n"), taken))
    }

    #[test]
    fn bars_become_counts_where_git_did_not_scale_them() {
        let text = " src/a.rs      | 5 +++--\n src/long.rs   | 1 +\n src/x/b c.rs | 2 --\n 3 files changed";
        assert_eq!(short(text), None, "the columns are not git's");
        let text = text.replace("src/a.rs      |", "src/a.rs     |").replace("src/long.rs   |", "src/long.rs  |");
        assert_eq!(short(&text), Some(("src/a.rs +3 -2\n/long.rs +1\nsrc/x/b c.rs -2".into(), 3)));
    }

    #[test]
    fn scaled_bars_stay() {
        let text = " a | 1274 +++--\n b |    3 +\n 2 files changed, 1 insertion(+)";
        assert_eq!(short(text), Some(("a 1274 +++--\nb 3 +".into(), 2)));
    }

    #[test]
    fn the_line_below_a_single_file_goes_where_it_says_the_same() {
        let text = " a | 3 ++-\n 1 file changed, 2 insertions(+), 1 deletion(-)";
        assert_eq!(short(text), Some(("a +2 -1".into(), 2)));
        assert_eq!(short(" a | 3 ++-\n 1 file changed, 9 insertions(+)"), None);
        assert_eq!(short(" a | Bin 0 -> 3 bytes\n 1 file changed"), None);
    }

    #[test]
    fn what_one_line_stands_for_is_bounded() {
        assert!(!is_short("a +401"));
        assert!(!is_short("a -9999999999"));
        assert!(is_short("commit +0 -1"));
    }
}
