//! A hit in a very long line (minified code, data) -> its beginning, its end, and the surroundings of the matches.
//!
//! If the pattern is known but matches nowhere or too often, the line is kept.

use std::iter::once;
use std::ops::Range;

use regex::Regex;

use super::pattern::patterns;
use crate::content::hit_line::{Row, read_lines};
use crate::pipeline::elided;

/// The maximum size in bytes of a line that is kept whole.
const MAX_LINE: usize = 1000;

/// The number of bytes that are kept at the beginning.
const HEAD: usize = 400;
const TAIL: usize = 100;

/// The number of bytes that are kept before and after a match.
const AROUND: usize = 100;

/// The number of bytes that are kept at each end of a longer match.
const MATCH: usize = 200;

/// The maximum number of matches of a pattern in a line that is shortened.
const MAX_MATCHES: usize = 20;

/// The minimum number of bytes that a note replaces.
const MIN_GAP: usize = 100;

/// Returns notes for parts of long lines. `command` is the command that found them.
pub(super) fn cuts(text: &str, command: Option<&str>) -> Vec<(Range<usize>, String)> {
    let mut start = 0;
    let mut cuts = Vec::new();
    if text.split('\n').all(|line| line.len() <= MAX_LINE) {
        return cuts;
    }
    let patterns = command.map(patterns).unwrap_or_default();
    for (line, row) in read_lines(text) {
        let found = match row {
            // A context line, or a hit of an unknown pattern.
            Row::Hit(hit) if line.len() > MAX_LINE && (patterns.is_empty() || hit.is_context()) => Some(Vec::new()),
            Row::Hit(hit) if line.len() > MAX_LINE => matches(line, line.len() - hit.place.len(), &patterns),
            _ => None,
        };
        for gap in found.iter().flat_map(|found| gaps(line, found)) {
            let note = elided(line[gap.clone()].chars().count(), "characters", None);
            cuts.push((start + gap.start..start + gap.end, note));
        }
        start += line.len() + 1;
    }
    cuts
}

/// Returns the matches in a line from byte `from` on, in order, only both ends of long ones. Returns `None` if there is
/// no match, or if there are too many.
fn matches(line: &str, from: usize, patterns: &[Regex]) -> Option<Vec<Range<usize>>> {
    let mut found = Vec::new();
    for pattern in patterns {
        for (count, one) in pattern.find_iter(&line[from..]).enumerate() {
            if count == MAX_MATCHES {
                return None;
            }
            let range = from + one.start()..from + one.end();
            found.push(range.start..range.end.min(range.start + MATCH));
            found.push(range.start.max(range.end.saturating_sub(MATCH))..range.end);
        }
    }
    found.sort_by_key(|range| range.start);
    (!found.is_empty()).then_some(found)
}

/// Returns the parts of a line that are neither at its ends nor near a match.
fn gaps(line: &str, found: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut gaps = Vec::new();
    let mut start = HEAD;
    let around = found.iter().map(|range| range.start.saturating_sub(AROUND)..range.end + AROUND);
    for kept in around.chain(once(line.len() - TAIL..line.len())) {
        if kept.start >= start + MIN_GAP {
            gaps.push(line.ceil_char_boundary(start)..line.floor_char_boundary(kept.start));
        }
        start = start.max(kept.end);
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, command: Option<&str>) -> String {
        let mut out = text.to_owned();
        for (range, note) in cuts(text, command).into_iter().rev() {
            assert!(note.starts_with(&format!("[… {} ", text[range.clone()].chars().count())));
            out.replace_range(range, &note);
        }
        out
    }

    #[test]
    fn a_long_line_keeps_its_ends_and_what_was_found() {
        let text = format!("a.js:1:{}fetch(`/v2/login`){}\na.js:2:login\n", "é".repeat(1000), "é".repeat(1000));
        let command = Some("grep -rn login dist");
        let out = cut(&text, command);
        assert!(out.starts_with("a.js:1:éé") && out.ends_with("éé\na.js:2:login\n") && out.len() < 900, "{out}");
        assert!(out.contains("éfetch(`/v2/login`)é"), "{out}");
        assert_eq!(cut(&out, command), out);
    }

    #[test]
    fn a_hit_that_is_found_nowhere_or_everywhere_stays() {
        let text = format!("a.js:1:{}\na.js:2:short\n", "é".repeat(1000));
        for command in ["grep -rn short .", "grep -rn é ."] {
            assert_eq!(cut(&text, Some(command)), text, "{command}");
        }
        assert!(cut(&text, None).len() < 600, "where nothing is known its ends stay");
    }

    #[test]
    fn lines_around_a_hit_keep_their_ends() {
        let text = format!("a.js-1-{}\na.js:2:short\n", "é".repeat(1000));
        assert!(cut(&text, None).len() < 600);
    }
}
