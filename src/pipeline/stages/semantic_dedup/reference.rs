//! What stands in the place of a repeat: which lines it repeats.
//!
//! Text from outside may look the same: everything here refuses what it would not write.

/// `repeats 12 lines above; line 1: "## Installation"`.
pub(super) struct Reference<'a> {
    pub(super) lines: usize,
    /// Which of those lines is quoted, from 1.
    pub(super) at: usize,
    pub(super) quote: &'a str,
}

impl std::fmt::Display for Reference<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let unit = if self.lines == 1 { "line" } else { "lines" };
        write!(f, "repeats {} {unit} above; line {}: \"{}\"", self.lines, self.at, self.quote)
    }
}

impl<'a> Reference<'a> {
    pub(super) fn parse(legend: &'a str) -> Option<Self> {
        let (head, quote) = legend.strip_suffix('"')?.split_once(": \"")?;
        let (head, at) = head.strip_prefix("repeats ")?.split_once("; line ")?;
        let (lines, _) = head.split_once(' ')?;
        let reference = Self { lines: lines.parse().ok()?, at: at.parse().ok()?, quote };
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

#[cfg(test)]
mod tests {
    use crate::pipeline::fold::Fold;
    use crate::pipeline::stages::semantic_dedup::SemanticDedup;
    use crate::pipeline::{Prior, Stage};

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
