//! What an edit must be before it is worth measuring.
//!
//! A stage's edits are valid as a set or the stage did not fire; whether a single one pays, or is proved, is decided
//! one by one in the run.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::fold;
use super::{Edit, FusionContext, Stage};
use crate::config::Preset;
use crate::reference::find_markers;
use concertina_base::hashing::FastSet;

/// Checks the edits that a stage proposed.
///
/// # Errors
/// What is wrong with them, in words.
pub fn check(stage: &dyn Stage, context: &FusionContext, edits: &[Edit]) -> Result<(), String> {
    let text = context.text;
    let mut end = 0;
    for edit in edits {
        let Range { start, end: stop } = edit.range;
        let wrong = |what: &str| Err(format!("{}: the edit of bytes {start}..{stop} {what}", stage.name()));
        if start > stop || stop > text.len() {
            return wrong("is out of bounds");
        }
        if start < end {
            return wrong("overlaps the one before");
        }
        if !text.is_char_boundary(start) || !text.is_char_boundary(stop) {
            return wrong("cuts a character");
        }
        if !context.is_free(&edit.range) {
            return wrong("touches a sealed range");
        }
        if edit.lossless {
            if !(edit.sealed && is_whole_lines(text, &edit.range)) {
                return wrong("is lossless, but not a sealed fold of whole lines");
            }
            let Some((fold, _, end)) = fold::parse_extent(&edit.text) else {
                return wrong("is lossless, but not a fold");
            };
            if end != edit.text.len() || fold.stage != stage.name() {
                return wrong("is lossless, but not one fold of its stage");
            }
        } else if stage.is_lossless() || context.preset == Preset::Lossless {
            return wrong("is not lossless");
        }
        end = stop;
    }
    Ok(())
}

pub(super) fn is_whole_lines(text: &str, range: &Range<usize>) -> bool {
    let bytes = text.as_bytes();
    (range.start == 0 || bytes[range.start - 1] == b'\n') && bytes.get(range.end).is_none_or(|&byte| byte == b'\n')
}

/// What looks like one of our markers or notes: sorted, not overlapping. Whether it is ours cannot be told from the
/// text.
pub(super) fn marker_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = find_markers(text).map(|(range, _)| range).collect();
    ranges.extend(NOTE.find_iter(text).map(|note| note.range()));
    ranges.sort_by_key(|range| range.start);
    ranges
}

/// Whether a range takes a part of a marker but not all of it.
pub(super) fn cuts_marker(markers: &[Range<usize>], range: &Range<usize>) -> bool {
    let first = markers.partition_point(|marker| marker.end <= range.start);
    markers[first..]
        .iter()
        .take_while(|marker| marker.start < range.end)
        .any(|marker| !(range.start <= marker.start && marker.end <= range.end))
}

/// The shape of [`super::elided`], with its range where it has one.
static NOTE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\[… ([0-9]{1,9}) ([^\]\n]{1,80})\]").expect("the note pattern is valid"));

/// The shape of [`super::elided`] with a range of lines, of lines or of rows.
static LINES_NOTE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\[… ([0-9]{1,9}|[0-9]{1,9} rows [0-9]{1,9}-[0-9]{1,9}\]) lines ([0-9]{1,9})-([0-9]{1,9})")
        .expect("the note pattern is valid")
});

/// Whether an edit may hold notes of its own.
pub(super) fn has_notes(edit: &Edit) -> bool {
    !edit.lossless && edit.text.contains("[… ")
}

/// Rewrites the line ranges in an edit's notes by `translate`; a range without translation goes.
///
/// Notes that stood in the replaced text are left alone.
pub(super) fn renumber(
    edit: &mut Edit,
    replaced: &str,
    mut translate: impl FnMut(usize, usize) -> Option<(usize, usize)>,
) {
    if !has_notes(edit) {
        return;
    }
    let foreign: FastSet<&str> = LINES_NOTE.find_iter(replaced).map(|note| note.as_str()).collect();
    let renumbered = LINES_NOTE.replace_all(&edit.text, |note: &regex::Captures| {
        if foreign.contains(&note[0]) {
            return note[0].to_owned();
        }
        let number = |group: usize| note[group].parse().unwrap_or(0);
        match translate(number(2), number(3)) {
            Some((first, last)) => format!("[… {} lines {first}-{last}", &note[1]),
            None if note[1].contains("rows") => format!("[… {}", &note[1]),
            None => format!("[… {} lines", &note[1]),
        }
    });
    edit.text = renumbered.into_owned();
}

/// Sorts changes of a text by their ranges. Of two that overlap, the longer one stays.
pub(super) fn without_overlaps<T>(mut changes: Vec<T>, range: impl Fn(&T) -> &Range<usize>) -> Vec<T> {
    changes.sort_by_key(|change| (range(change).start, range(change).end));
    let mut kept: Vec<T> = Vec::with_capacity(changes.len());
    for change in changes {
        match kept.last_mut().filter(|last| range(&**last).end > range(&change).start) {
            Some(last) if range(last).len() < range(&change).len() => *last = change,
            Some(_) => {}
            None => kept.push(change),
        }
    }
    kept
}

/// The whole lines of a range between sealed ranges, without their last line end.
pub(super) fn free_lines(text: &str, sealed: &[Range<usize>], within: Range<usize>) -> Vec<Range<usize>> {
    let mut free = Vec::new();
    let mut start = within.start;
    let first = sealed.partition_point(|sealed| sealed.end <= within.start);
    for sealed in sealed[first..].iter().take_while(|sealed| sealed.start < within.end) {
        if sealed.end <= start {
            continue;
        }
        let line_start = text[..sealed.start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[sealed.end..].find('\n').map_or(text.len(), |at| sealed.end + at + 1);
        free.push(start..line_start.max(start));
        start = line_end.max(start);
    }
    free.push(start.min(within.end)..within.end);
    free.iter().map(|range| range.start..range.start + without_last_end(&text[range.clone()]).len()).collect()
}

/// Lines without the line ends after the last that is not empty; without the last line where it alone has no carriage
/// return.
fn without_last_end(text: &str) -> &str {
    let text = text.trim_end_matches('\n');
    match text.rfind('\n') {
        Some(end) if text[..end].ends_with('\r') && !text.ends_with('\r') => &text[..end],
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_cuts_a_marker_only_when_it_takes_a_part() {
        let text = "a [[REWIND:sha256:0123456789abcdef]] b [… 3 lines 4-6] c";
        let markers = marker_ranges(text);
        assert_eq!(markers.len(), 2);
        for (range, cuts) in
            [(0..2, false), (0..5, true), (4..6, true), (0..36, false), (30..40, true), (36..37, false)]
        {
            assert_eq!(cuts_marker(&markers, &range), cuts, "{range:?}");
        }
        assert!(cuts_marker(&markers, &(text.find("lines").unwrap()..text.find("lines").unwrap() + 6)));
    }

    #[test]
    fn line_ranges_are_renumbered_and_foreign_notes_are_not() {
        let mut edit = Edit::note(0..0, "[… 3 lines 4-6] and [… 9 lines 1-9] and [… 2 rows 4-5] lines 7-8");
        renumber(&mut edit, "x [… 9 lines 1-9] y", |first, last| Some((first + 10, last + 10)));
        assert_eq!(edit.text, "[… 3 lines 14-16] and [… 9 lines 1-9] and [… 2 rows 4-5] lines 17-18");
        renumber(&mut edit, "", |_, _| None);
        assert_eq!(edit.text, "[… 3 lines] and [… 9 lines] and [… 2 rows 4-5]");
    }
}
