//! A hit in a very long line (minified code, data) -> its beginning and its end.

use std::ops::Range;

use super::rows::{Row, read};
use crate::pipeline::elided;

/// Lines up to this many bytes stay whole.
const MAX_LINE: usize = 1000;

/// What stays of a longer one, in bytes.
const HEAD: usize = 400;
const TAIL: usize = 100;

/// Notes instead of the middle of long lines.
pub(super) fn cuts(text: &str) -> Vec<(Range<usize>, String)> {
    let mut start = 0;
    let mut cuts = Vec::new();
    if text.split('\n').all(|line| line.len() <= MAX_LINE) {
        return cuts;
    }
    for (line, row) in read(text) {
        if line.len() > MAX_LINE && matches!(row, Row::Hit(_)) {
            let range = line.ceil_char_boundary(HEAD)..line.floor_char_boundary(line.len() - TAIL);
            let note = elided(line[range.clone()].chars().count(), "characters", None);
            cuts.push((start + range.start..start + range.end, note));
        }
        start += line.len() + 1;
    }
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_keeps_its_ends() {
        let text = format!("a.js:1:{}\na.js:2:short\n", "é".repeat(1000));
        let cuts = cuts(&text);
        assert_eq!(cuts.len(), 1);
        let (range, note) = &cuts[0];
        assert_eq!(note, &format!("[… {} characters]", text[range.clone()].chars().count()));
        let mut out = text.clone();
        out.replace_range(range.clone(), note);
        assert!(out.starts_with("a.js:1:éé") && out.ends_with("éé\na.js:2:short\n") && out.len() < 600);
        assert_eq!(super::cuts(&out), []);
    }
}
