//! Splits long code into windows that are parsed separately. Each begins and ends between top-level declarations.
//!
//! Candidates for a window's end are found by their lines. A candidate is accepted if the tree of the code before it
//! has no error there: an unclosed string, comment or block would show as an error. The code after the last accepted
//! end has no tree.

use std::ops::Range;

use super::languages::Syntax;
use super::tree::{PARSE_MAX_BYTES, Parsed, WINDOW_MAX_BYTES};

/// The sizes of a window to try, in quarters of [`PARSE_MAX_BYTES`].
const TRIED_QUARTERS: [usize; 3] = [4, 3, 2];

/// A part of the code.
pub(in crate::pipeline) struct Window {
    /// The bytes of the window, which starts at a line start.
    pub range: Range<usize>,
    /// The 0-based row in which the window starts.
    pub row: usize,
    /// The tree, if there is one.
    pub parsed: Option<Parsed>,
}

/// Splits code into windows. Code that is short enough becomes one window.
pub(in crate::pipeline) struct Windows<'a> {
    code: &'a str,
    syntax: &'static Syntax,
    start: usize,
    row: usize,
}

impl<'a> Windows<'a> {
    /// Returns the windows of code in a language.
    pub(in crate::pipeline) fn of(code: &'a str, syntax: &'static Syntax) -> Self {
        Self { code, syntax, start: 0, row: 0 }
    }

    fn window(&mut self, end: usize, parsed: Option<Parsed>) -> Window {
        let range = std::mem::replace(&mut self.start, end)..end;
        let row = self.row;
        self.row += memchr::memchr_iter(b'\n', &self.code.as_bytes()[range.clone()]).count();
        Window { range, row, parsed }
    }

    /// Returns the first candidate end at which the tree is complete, with that tree.
    fn proved(&self) -> Option<(usize, Parsed)> {
        let ends = TRIED_QUARTERS.map(|quarters| self.top_level(PARSE_MAX_BYTES / 4 * quarters));
        let mut ends: Vec<usize> = ends.into_iter().flatten().collect();
        ends.dedup();
        if ends.is_empty() {
            // A single class may take up the whole file.
            ends.extend(self.top_level(WINDOW_MAX_BYTES));
        }
        ends.into_iter().find_map(|end| {
            let parsed = Parsed::parse_window(&self.code[self.start..end], self.syntax)?;
            (end == self.code.len() || parsed.is_whole_at_end()).then_some((end, parsed))
        })
    }

    /// Returns the end of the code if it is within `max_bytes`, or else the last line within them at which a top-level
    /// declaration may start. Prefers a line below an empty line in the last half; otherwise any line that is not
    /// indented and closes nothing.
    fn top_level(&self, max_bytes: usize) -> Option<usize> {
        let limit = self.start + max_bytes;
        if self.code.len() <= limit {
            return Some(self.code.len());
        }
        let bytes = &self.code.as_bytes()[..limit];
        let half = self.start + max_bytes / 2;
        let opens = |at: usize| {
            let closing =
                matches!(bytes.get(at), None | Some(b' ' | b'\t' | b'\r' | b'\n' | b'}' | b')' | b']' | b'*'));
            !closing
        };
        let line_starts = || memchr::memrchr_iter(b'\n', &bytes[self.start..]).map(|at| self.start + at + 1);
        let is_below_blank = |at: usize| bytes[..at - 1].ends_with(b"\n") || bytes[..at - 1].ends_with(b"\n\r");
        let below_blank = line_starts().take_while(|at| *at > half).find(|at| opens(*at) && is_below_blank(*at));
        below_blank.or_else(|| line_starts().find(|at| opens(*at)))
    }
}

impl Iterator for Windows<'_> {
    type Item = Window;

    fn next(&mut self) -> Option<Window> {
        let left = self.code.len() - self.start;
        if left == 0 && self.start > 0 {
            return None;
        }
        if left <= PARSE_MAX_BYTES {
            let parsed = Parsed::parse(&self.code[self.start..], self.syntax);
            let end = self.code.len();
            return Some(self.window(end, parsed)).filter(|window| !window.range.is_empty());
        }
        // Whether a fragment of PHP starts as HTML or as code is known only for the first window.
        let proved = if self.syntax.prelude.is_empty() { self.proved() } else { None };
        let (end, parsed) = proved.map_or((self.code.len(), None), |(end, parsed)| (end, Some(parsed)));
        Some(self.window(end, parsed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Language;

    fn function(n: usize) -> String {
        format!("/* What function {n} is\n\nfor. */\nint f{n}(int a) {{\n\n    // one\n    return a + {n};\n}}\n\n")
    }

    fn windows(code: &str, language: Language) -> Vec<Window> {
        let windows: Vec<Window> = Windows::of(code, Syntax::of(language)).collect();
        let mut end = 0;
        for window in &windows {
            assert_eq!(window.range.start, end);
            assert_eq!(window.row, code[..end].matches('\n').count());
            end = window.range.end;
        }
        assert_eq!(end, code.len());
        windows
    }

    #[test]
    fn long_code_has_a_tree_in_each_window() {
        let code: String = (0..9_000).map(function).collect();
        assert!(code.len() > 2 * PARSE_MAX_BYTES);
        let windows = windows(&code, Language::C);
        assert!(windows.len() > 2);
        for window in windows {
            assert!(
                code[window.range.clone()].starts_with("/* What")
                    && window.parsed.is_some_and(|parsed| !parsed.has_errors())
            );
        }
    }

    #[test]
    fn no_window_begins_inside_a_text() {
        let open = |quote: &str| format!("{}x = {quote}\n\n", "a = 1\n\n".repeat(35_000));
        let lines = "# no comment\n\n".repeat(9_000);
        let code = format!("{}{lines}\"\"\"\n\nb = 1\n", open("\"\"\""));
        for window in windows(&code, Language::Python) {
            let starts_inside = window.range.start > 35_000 * 7 + 4 && window.range.start < code.len() - 12;
            assert!(!(starts_inside && window.parsed.is_some()), "{:?}", window.range);
        }
        let code = format!("{}cat <<END\n\n{lines}END\n\nls\n", "a=1\n\n".repeat(50_000));
        let inside = 50_000 * 5 + 11..code.len() - 8;
        for window in windows(&code, Language::Shell) {
            assert!(!(inside.contains(&window.range.start) && window.parsed.is_some()), "{:?}", window.range);
        }
    }

    #[test]
    fn one_class_of_half_a_megabyte_is_one_window_and_other_languages_are_none() {
        let methods: String =
            (0..9_000).map(|n| format!("    int f{n}(int a) {{\n        return a + {n};\n    }}\n\n")).collect();
        let code = format!("class A {{\n\n{methods}}}\n");
        let whole = windows(&code, Language::Java);
        assert!(whole.len() == 1 && whole[0].parsed.is_some());
        let prose = "It is what it is, and nobody said anything (else) about it.\n\n".repeat(6_000);
        assert!(windows(&prose, Language::Java).iter().all(|window| window.parsed.is_none()));
    }
}
