//! Code -> its comments, by its tree or, where there is none, by scanning.

use std::ops::Range;

use super::languages::Syntax;
use super::scan::Rules;
use super::tree::{Parsed, descend, is_atomic, is_comment};

/// What is known about a piece of code.
pub(in crate::pipeline) struct Reading {
    kind: Kind,
}

enum Kind {
    /// All of it is known.
    Tree(Parsed),
    /// Only where its comments are.
    Scan(&'static Rules, Vec<Range<usize>>),
}

/// One comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::pipeline) struct Comment {
    /// Its bytes, without the line end that may belong to it.
    pub range: Range<usize>,
    /// Its rows, from 0, both inclusive.
    pub rows: (usize, usize),
    /// Whether nothing stands before it on its first line.
    pub starts_line: bool,
    /// Whether nothing stands behind it on its last line.
    pub ends_line: bool,
}

impl Reading {
    /// Reads code; `None` when not even its comments can be told.
    pub(in crate::pipeline) fn of(code: &str, syntax: &'static Syntax) -> Option<Self> {
        let parsed = Parsed::parse(code, syntax);
        let is_clean = parsed.as_ref().is_some_and(|parsed| !parsed.has_errors());
        // Where the tree has errors, scanning finds more comments and stands by them better.
        if let Some(rules) = syntax.scan.as_ref().filter(|_| !is_clean)
            && let Some(comments) = rules.comments(code)
        {
            return Some(Self { kind: Kind::Scan(rules, comments) });
        }
        parsed.map(|parsed| Self { kind: Kind::Tree(parsed) })
    }

    /// The tree, where there is one.
    pub(in crate::pipeline) fn tree(&self) -> Option<&Parsed> {
        match &self.kind {
            Kind::Tree(parsed) => Some(parsed),
            Kind::Scan(..) => None,
        }
    }

    /// The comments that are away from all errors, in order.
    pub(in crate::pipeline) fn comments(&self, code: &str) -> Vec<Comment> {
        let mut ranges = Vec::new();
        match &self.kind {
            Kind::Scan(_, found) => ranges.clone_from(found),
            Kind::Tree(parsed) => descend(parsed.root(), |node, _| {
                if is_comment(node) && parsed.is_sound(node.start_position().row, node.end_position().row) {
                    ranges.push(node.byte_range());
                }
                !is_atomic(node)
            }),
        }
        let mut rows = Rows { code, at: 0, row: 0 };
        ranges.into_iter().map(|range| comment(code, range, &mut rows)).collect()
    }

    /// Whether rewritten code is the same code but for what was replaced.
    pub(in crate::pipeline) fn is_same_but(
        &self,
        code: &str,
        replaced: &[Range<usize>],
        rewritten: &str,
        replacing: &[Range<usize>],
    ) -> bool {
        match &self.kind {
            Kind::Tree(parsed) => parsed.is_same_but(code, replaced, rewritten, replacing),
            Kind::Scan(rules, comments) => {
                rules.comments(rewritten).is_some_and(|after| without(code, comments).eq(without(rewritten, &after)))
            }
        }
    }
}

fn comment(code: &str, range: Range<usize>, rows: &mut Rows) -> Comment {
    let text = code[range.clone()].trim_end_matches(['\n', '\r']);
    let range = range.start..range.start + text.len();
    let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r');
    let before = code.as_bytes()[..range.start].iter().rev().find(|byte| !blank(byte));
    let behind = code.as_bytes()[range.end..].iter().find(|byte| !blank(byte));
    Comment {
        rows: (rows.of(range.start), rows.of(range.end)),
        range,
        starts_line: before.is_none_or(|&byte| byte == b'\n'),
        ends_line: behind.is_none_or(|&byte| byte == b'\n'),
    }
}

/// Counts rows forward.
struct Rows<'a> {
    code: &'a str,
    at: usize,
    row: usize,
}

impl Rows<'_> {
    fn of(&mut self, offset: usize) -> usize {
        self.row += memchr::memchr_iter(b'\n', &self.code.as_bytes()[self.at..offset]).count();
        self.at = offset;
        self.row
    }
}

/// The visible characters outside of some ranges.
fn without<'a>(code: &'a str, ranges: &'a [Range<usize>]) -> impl Iterator<Item = char> + 'a {
    let starts = std::iter::once(0).chain(ranges.iter().map(|range| range.end));
    let ends = ranges.iter().map(|range| range.start).chain([code.len()]);
    starts.zip(ends).flat_map(|(start, end)| code[start..end].chars()).filter(|character| !character.is_whitespace())
}
