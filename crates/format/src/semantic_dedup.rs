//! `repeats 12 lines above; line 1: "…"` -> the lines that it repeats.
//!
//! The earlier place is found by words quoted from it. Text from outside may look the same, so everything that no
//! encoder writes is refused.

use crate::fold::Fold;
use crate::restore::Prior;

/// Returns the text that a fold stands for, found in the restored text before it.
pub fn unfold(fold: &Fold, before: &mut Prior) -> Option<String> {
    let reference = Reference::parse(&fold.legend).filter(|_| fold.body.is_none())?;
    let quoted = before.find_quoted(reference.quote)?;
    reference.lines_at(before.text(), quoted).map(str::to_owned)
}

/// `repeats 12 lines above; line 1: "## Installation"`.
pub struct Reference<'a> {
    /// The number of lines that it repeats.
    pub lines: usize,
    /// The position of the quoted line among those, from 1.
    pub at: usize,
    /// The words of that line.
    pub quote: &'a str,
}

impl std::fmt::Display for Reference<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let unit = if self.lines == 1 { "line" } else { "lines" };
        write!(f, "repeats {} {unit} above; line {}: \"{}\"", self.lines, self.at, self.quote)
    }
}

impl<'a> Reference<'a> {
    /// Reads a legend.
    pub fn parse(legend: &'a str) -> Option<Self> {
        let (head, quote) = legend.strip_suffix('"')?.split_once(": \"")?;
        let (head, at) = head.strip_prefix("repeats ")?.split_once("; line ")?;
        let (lines, _) = head.split_once(' ')?;
        let reference = Self { lines: lines.parse().ok()?, at: at.parse().ok()?, quote };
        (reference.at >= 1 && reference.at <= reference.lines && reference.to_string() == legend).then_some(reference)
    }

    /// Returns the repeated lines, given the byte where the quoted line starts.
    pub fn lines_at<'t>(&self, text: &'t str, quoted: usize) -> Option<&'t str> {
        lines_from(text, line_back(text, quoted, self.at)?, self.lines)
    }
}

/// Returns where the line starts that is `at - 1` lines before the one that starts at `start`.
fn line_back(text: &str, start: usize, at: usize) -> Option<usize> {
    let mut start = start;
    for _ in 1..at {
        let end = start.checked_sub(1)?;
        start = text[..end].rfind('\n').map_or(0, |end| end + 1);
    }
    Some(start)
}

/// Returns `lines` lines from a line start, without the last line end.
fn lines_from(text: &str, start: usize, lines: usize) -> Option<&str> {
    let text = &text[start..];
    let end = memchr::memchr_iter(b'\n', text.as_bytes()).nth(lines - 1)?;
    Some(&text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(unfold(&Fold::new("semanticDedup", legend, None), &mut before), None, "{legend}");
        }
    }
}
