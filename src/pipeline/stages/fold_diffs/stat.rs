//! ` src/a.rs   | 12 ++++++------` -> `src/a.rs +6 -6`; another file in the same directory becomes `/b.rs`.
//!
//! git scales the bars of large changes. Scaled bars are kept, and only the columns are removed. The totals below are
//! removed only for a single file, whose line contains them.

use concertina_format::diff_crunch::number;
use concertina_format::diff_crunch::stat::{MAX_BAR, totals, unfold};

use crate::content::diff_hunk::StatRow;

/// Returns the short form of the files at the start of `lines`, and the number of lines that it replaces.
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

/// Returns true if a line is the row of a file.
pub(super) fn is_file(line: &str) -> bool {
    file(line).is_some()
}

/// Parses ` path | 12 ++--` with any number of blanks.
fn file(line: &str) -> Option<(&str, u64, &str)> {
    // Most lines do not end like a bar, so this is checked first.
    line.ends_with(['+', '-']).then_some(())?;
    let StatRow { path, change } = StatRow::parse(line)?;
    let (sum, bar) = number(change)?;
    let bar = bar.strip_prefix(' ')?;
    let is_bar = (1..=MAX_BAR).contains(&bar.len()) && bar.trim_start_matches('+').trim_start_matches('-').is_empty();
    is_bar.then_some((path, sum, bar))
}

#[cfg(test)]
mod tests {
    use concertina_format::diff_crunch::stat::is_short;

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
