//! Code -> its comments, from its tree or, without a tree, by scanning.

use std::ops::Range;

use super::languages::Syntax;
use super::scan::Rules;
use super::survey::Survey;
use super::tree::Parsed;
use crate::pipeline::line_counter::LineCounter;

/// The result of reading a piece of code.
pub(in crate::pipeline) enum Reading<'t> {
    /// The code was parsed.
    Tree(Survey<'t>),
    /// Only the comments are known, by scanning.
    Scan(&'static Rules, Vec<Range<usize>>),
}

/// A comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::pipeline) struct Comment {
    /// The bytes of the comment, without a line end.
    pub range: Range<usize>,
    /// The 0-based rows of the comment, both inclusive.
    pub rows: (usize, usize),
    /// True if only blanks precede the comment on its first line.
    pub starts_line: bool,
    /// True if only blanks follow the comment on its last line.
    pub ends_line: bool,
}

impl<'t> Reading<'t> {
    /// Reads code with its tree, if it has one. Returns `None` if its comments cannot be found.
    pub(in crate::pipeline) fn of(code: &str, syntax: &'static Syntax, parsed: Option<&'t Parsed>) -> Option<Self> {
        let is_clean = parsed.is_some_and(|parsed| !parsed.has_errors());
        // If the tree has errors, scanning finds more comments and is more reliable.
        if let Some(rules) = syntax.scan.as_ref().filter(|_| !is_clean)
            && let Some(comments) = rules.comments(code)
        {
            return Some(Self::Scan(rules, comments));
        }
        parsed.map(|parsed| Self::Tree(Survey::of(parsed)))
    }

    /// Returns the comments that are not near an error, in order.
    pub(in crate::pipeline) fn comments(&self, code: &str) -> Vec<Comment> {
        let ranges = match self {
            Self::Scan(_, found) => found.clone(),
            Self::Tree(survey) => survey.comments(code),
        };
        let mut rows = LineCounter::new(code, 0);
        ranges.into_iter().map(|range| comment(code, range, &mut rows)).collect()
    }

    /// Returns true if rewritten code differs only in what was replaced.
    pub(in crate::pipeline) fn is_same_but(
        &self,
        code: &str,
        replaced: &[Range<usize>],
        rewritten: &str,
        replacing: &[Range<usize>],
    ) -> bool {
        match self {
            Self::Tree(survey) => survey.is_same_but(code, replaced, rewritten, replacing),
            Self::Scan(rules, comments) => {
                rules.comments(rewritten).is_some_and(|after| without(code, comments).eq(without(rewritten, &after)))
            }
        }
    }
}

fn comment(code: &str, range: Range<usize>, rows: &mut LineCounter) -> Comment {
    let text = code[range.clone()].trim_end_matches(['\n', '\r']);
    let range = range.start..range.start + text.len();
    let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r');
    let before = code.as_bytes()[..range.start].iter().rev().find(|byte| !blank(byte));
    let following = code.as_bytes()[range.end..].iter().find(|byte| !blank(byte));
    Comment {
        rows: (rows.line(range.start), rows.line(range.end)),
        range,
        starts_line: before.is_none_or(|&byte| byte == b'\n'),
        ends_line: following.is_none_or(|&byte| byte == b'\n'),
    }
}

/// Returns the characters outside the ranges that are not white space.
fn without<'a>(code: &'a str, ranges: &'a [Range<usize>]) -> impl Iterator<Item = char> + 'a {
    let starts = std::iter::once(0).chain(ranges.iter().map(|range| range.end));
    let ends = ranges.iter().map(|range| range.start).chain([code.len()]);
    starts.zip(ends).flat_map(|(start, end)| code[start..end].chars()).filter(|character| !character.is_whitespace())
}
