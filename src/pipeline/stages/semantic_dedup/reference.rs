//! What stands in the place of a repeat: which lines it repeats, and what differs.
//!
//! Text from outside may look the same: everything here refuses what it would not write.

use imara_diff::{Algorithm, Diff, InternedInput};

/// `repeats 12 lines above; line 1: "## Installation"`.
pub(super) struct Reference<'a> {
    pub(super) lines: usize,
    /// Which of those lines is quoted, from 1.
    pub(super) at: usize,
    pub(super) quote: &'a str,
    /// Whether a list of changes follows.
    pub(super) changed: bool,
}

impl std::fmt::Display for Reference<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let unit = if self.lines == 1 { "line" } else { "lines" };
        let changed = if self.changed { ", with changes" } else { "" };
        write!(f, "repeats {} {unit} above{changed}; line {}: \"{}\"", self.lines, self.at, self.quote)
    }
}

impl<'a> Reference<'a> {
    pub(super) fn parse(legend: &'a str) -> Option<Self> {
        let (head, quote) = legend.strip_suffix('"')?.split_once(": \"")?;
        let (head, at) = head.strip_prefix("repeats ")?.split_once("; line ")?;
        let (lines, unit) = head.split_once(' ')?;
        let reference =
            Self { lines: lines.parse().ok()?, at: at.parse().ok()?, quote, changed: unit.ends_with("changes") };
        (reference.at >= 1 && reference.at <= reference.lines && reference.to_string() == legend).then_some(reference)
    }

    /// The lines that it means, when the quoted one starts at `quoted`.
    pub(super) fn lines_at<'t>(&self, text: &'t str, quoted: usize) -> Option<&'t str> {
        lines_from(text, line_back(text, quoted, self.at)?, self.lines)
    }
}

/// Where the line starts that is `at - 1` lines before the one that starts at `start`.
fn line_back(text: &str, start: usize, at: usize) -> Option<usize> {
    let mut start = start;
    for _ in 1..at {
        let end = start.checked_sub(1)?;
        start = text[..end].rfind('\n').map_or(0, |end| end + 1);
    }
    Some(start)
}

/// So many lines from a line start on, without the last line end.
fn lines_from(text: &str, start: usize, lines: usize) -> Option<&str> {
    let text = &text[start..];
    let end = memchr::memchr_iter(b'\n', text.as_bytes()).nth(lines - 1)?;
    Some(&text[..end])
}

/// The differing lines: `@5,2` for two lines from line 5 of the earlier text on, then what stands there instead, each after `+`.
pub(super) fn delta(earlier: &str, later: &str) -> Option<String> {
    if earlier == later {
        return None;
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (earlier.split('\n').collect(), later.split('\n').collect());
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let mut lines = Vec::new();
    for hunk in Diff::compute(Algorithm::Histogram, &input).hunks() {
        lines.push(format!("@{},{}", hunk.before.start + 1, hunk.before.len()));
        lines.extend(new[hunk.after.start as usize..hunk.after.end as usize].iter().map(|line| format!("+{line}")));
    }
    Some(lines.join("\n"))
}

/// The inverse of [`delta`].
pub(super) fn patch(earlier: &str, delta: &str) -> Option<String> {
    let old: Vec<&str> = earlier.split('\n').collect();
    let (mut new, mut at) = (Vec::new(), 0);
    for line in delta.split('\n') {
        if let Some(line) = line.strip_prefix('+') {
            new.push(line);
        } else {
            let (start, len) = line.strip_prefix('@')?.split_once(',')?;
            let (start, len): (usize, usize) = (start.parse::<usize>().ok()?.checked_sub(1)?, len.parse().ok()?);
            new.extend(old.get(at..start)?);
            at = start.checked_add(len).filter(|&end| end <= old.len())?;
        }
    }
    new.extend(&old[at..]);
    Some(new.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::fold::Fold;
    use crate::pipeline::stages::semantic_dedup::SemanticDedup;
    use crate::pipeline::{Prior, Stage};

    #[test]
    fn deltas_patch_back() {
        let earlier = "a\nb\nc\nd";
        for later in [
            "a\nb\nc\nd",
            "a\nX\nc\nd",
            "b\nc\nd",
            "a\nb\nc\nd\ne\nf",
            "new\na\nb\nc\nd",
            "",
            "a\n\n+b\n@c",
            "d\nc\nb\na",
        ] {
            match delta(earlier, later) {
                Some(delta) => assert_eq!(patch(earlier, &delta).as_deref(), Some(later)),
                None => assert_eq!(earlier, later),
            }
        }
        for foreign in ["@9,1", "@1,9", "@2,1\n+x\n@1,1", "x", "@0,1", "@1"] {
            assert_eq!(patch(earlier, foreign), None, "{foreign}");
        }
    }

    #[test]
    fn foreign_references_do_not_resolve() {
        let mut before = Prior::of("one\ntwo\nthree\n");
        for legend in [
            "repeats 2 lines above; line 1: \"four\"",
            "repeats 9 lines above; line 1: \"one\"",
            "repeats 0 lines above; line 0: \"one\"",
            "repeats 3 lines above; line 3: \"two\"",
            "repeats 02 lines above; line 1: \"one\"",
            "repeats 1 lines above; line 1: \"one\"",
            "",
        ] {
            assert_eq!(
                SemanticDedup.unfold_after(&Fold::new("semanticDedup", legend, None), &mut before),
                None,
                "{legend}"
            );
        }
    }
}
