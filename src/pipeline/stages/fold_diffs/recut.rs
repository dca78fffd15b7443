//! A hunk with much context -> the hunks that `diff -U3` would print.
//!
//! The result is a valid diff. Every changed line keeps its sign, its text and, through the new headers, its line
//! numbers.

use std::ops::Range;

use concertina_format::diff_crunch::sizes;

use super::hunk::Hunk;
use crate::content::diff_hunk::HunkHeader;

/// The minimum size of a gap that splits a hunk. The second header costs about as much as a line or two.
const MIN_GAP_BYTES: usize = 60;

/// Returns the hunk with at most `context` unchanged lines around changes; `None` if it has no more than that.
pub(super) fn recut(hunk: &Hunk, context: usize) -> Option<String> {
    let is_kept = kept(hunk.lines, context)?;
    if is_kept.iter().all(|kept| *kept) || !are_counts_plausible(hunk) {
        return None;
    }
    let mut text = String::new();
    let (mut old, mut new) = (hunk.header.old_start, hunk.header.new_start);
    let mut at = 0;
    let mut section = hunk.header.section;
    while at < hunk.lines.len() {
        let end = (at..hunk.lines.len()).find(|&index| is_kept[index] != is_kept[at]).unwrap_or(hunk.lines.len());
        let run = &hunk.lines[at..end];
        let (old_lines, new_lines) = sizes(run);
        if is_kept[at] {
            let header = HunkHeader { parents: 1, old_start: old, old_lines, new_start: new, new_lines, section };
            text.push_str(&header.to_string());
            for line in run {
                text.push('\n');
                text.push_str(line);
            }
            text.push('\n');
            section = "";
        }
        (old, new) = (old.checked_add(old_lines)?, new.checked_add(new_lines)?);
        at = end;
    }
    text.pop();
    Some(text)
}

/// Returns true if the header's counts may be corrected. A hunk with fewer lines than its header says is truncated and
/// left alone.
fn are_counts_plausible(hunk: &Hunk) -> bool {
    let (old, new) = sizes(hunk.lines);
    hunk.is_exact
        || (old >= hunk.header.old_lines
            && new >= hunk.header.new_lines
            && hunk.header.old_lines * hunk.header.new_lines > 0)
}

/// Returns for each line whether it is kept; `None` if no line is changed.
fn kept(lines: &[&str], context: usize) -> Option<Vec<bool>> {
    let is_change = |index: usize| {
        let is_last = lines.get(index + 1).is_some_and(|next| next.starts_with('\\'));
        !lines[index].starts_with(' ') || is_last
    };
    let changes: Vec<usize> = (0..lines.len()).filter(|&index| is_change(index)).collect();
    let (first, last) = (*changes.first()?, *changes.last()?);
    let mut kept = vec![true; lines.len()];
    kept[..first.saturating_sub(context)].fill(false);
    kept[(last + 1 + context).min(lines.len())..].fill(false);
    for pair in changes.windows(2) {
        let gap: Range<usize> = pair[0] + 1 + context..pair[1].saturating_sub(context);
        if gap.start < gap.end && lines[gap.clone()].iter().map(|line| line.len() + 1).sum::<usize>() >= MIN_GAP_BYTES {
            kept[gap].fill(false);
        }
    }
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, context: usize) -> Option<String> {
        let lines: Vec<&str> = text.split('\n').collect();
        recut(&Hunk::read(&lines).expect("a hunk"), context)
    }

    #[test]
    fn edges_are_cut_and_positions_move_along() {
        let text = "@@ -10,9 +10,9 @@ fn x()\n a\n b\n c\n d\n-e\n+f\n g\n h\n i\n j";
        let cut = "@@ -11,7 +11,7 @@ fn x()\n b\n c\n d\n-e\n+f\n g\n h\n i";
        assert_eq!(shown(text, 3).as_deref(), Some(cut));
        assert_eq!(shown(cut, 3), None);
        assert_eq!(shown(text, 1).as_deref(), Some("@@ -13,3 +13,3 @@ fn x()\n d\n-e\n+f\n g"));
    }

    #[test]
    fn a_long_gap_splits_the_hunk() {
        let middle: String = (0..9).map(|n| format!(" unchanged line number {n}\n")).collect();
        let text = format!("@@ -1,11 +1,10 @@\n-a\n{middle}-b\n+c");
        let cut = shown(&text, 1).unwrap();
        assert_eq!(
            cut,
            "@@ -1,2 +1 @@\n-a\n unchanged line number 0\n@@ -10,2 +9,2 @@\n unchanged line number 8\n-b\n+c"
        );
        assert_eq!(shown(&text, 5), None);
    }

    #[test]
    fn a_line_without_a_line_end_stays() {
        let text = "@@ -1,4 +1,3 @@\n-a\n b\n c\n d\n\\ No newline at end of file";
        assert_eq!(shown(text, 1), None);
        assert_eq!(shown("@@ -1,2 +1,2 @@\n a\n b", 1), None);
    }

    #[test]
    fn a_hunk_that_is_cut_short_stays() {
        assert_eq!(shown("@@ -1,9 +1,9 @@\n a\n b\n c\n-d\n+e\n...", 1), None);
    }
}
