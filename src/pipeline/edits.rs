//! Checks the form of edits before they are measured.
//!
//! If one edit of a stage is malformed, all of its edits are rejected. The pass decides later for each single edit
//! whether it saves tokens and can be undone.

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
/// A description of the first edit that is not valid.
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

/// Returns the ranges that look like markers or notes, sorted and without overlaps. The text alone does not show
/// whether this program wrote them.
pub(super) fn marker_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = find_markers(text).map(|(range, _)| range).collect();
    ranges.extend(NOTE.find_iter(text).map(|note| note.range()));
    ranges.sort_by_key(|range| range.start);
    ranges
}

/// Returns true if a range contains a part of a marker but not all of it.
pub(super) fn cuts_marker(markers: &[Range<usize>], range: &Range<usize>) -> bool {
    let first = markers.partition_point(|marker| marker.end <= range.start);
    markers[first..]
        .iter()
        .take_while(|marker| marker.start < range.end)
        .any(|marker| !(range.start <= marker.start && marker.end <= range.end))
}

/// Matches the notes that [`super::elided`] writes, including their ranges.
static NOTE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\[… ([0-9]{1,9}) ([^\]\n]{1,80})\]").expect("the note pattern is valid"));

/// Matches notes of [`super::elided`] that name a range of lines, up to the end of that range.
static LINES_NOTE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\[… ([0-9]{1,9}(?: of)?|[0-9]{1,9} rows [0-9]{1,9}-[0-9]{1,9}\]) lines ([0-9]{1,9})-([0-9]{1,9})")
        .expect("the note pattern is valid")
});

/// Returns true if an edit may contain notes of its own.
pub(super) fn has_notes(edit: &Edit) -> bool {
    !edit.lossless && edit.text.contains("[… ")
}

/// Maps the line ranges in an edit's notes with `translate`. A range without a translation is removed.
///
/// Notes that were already in the replaced text are not changed.
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
            None => format!("[… {} lines", note[1].trim_end_matches(" of")),
        }
    });
    edit.text = renumbered.into_owned();
}

/// Sorts changes by their ranges. If two overlap, the longer one is kept.
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

/// Returns the ranges of whole lines between sealed ranges, each without its last line end.
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

/// Returns lines without the line feeds at their end. The last line is dropped if the lines before it end in CRLF and
/// it does not.
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
