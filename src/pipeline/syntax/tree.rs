//! Code -> its syntax tree, with the part of it that is an error, and the tokens in order.
//!
//! Walks never recurse: code may be nested as deep as it is long.

use std::ops::{ControlFlow, Range};

use tree_sitter::{Language as Grammar, Node, ParseOptions, ParseState, Parser, Tree};

use super::languages::{COMMENTS, Syntax};

/// Longer code is not parsed.
const PARSE_MAX_BYTES: usize = 256 << 10;

/// What a parse may cost: real code needs up to 18 of the parser's progress reports for 1,000 bytes.
const STEPS: usize = 500;
const STEPS_PER_KILOBYTE: usize = 40;

/// Above this share of errors, in percent, a tree says nothing.
const ERROR_MAX_PERCENT: usize = 10;

/// How many lines around an error are no safer than the error.
const ERROR_MARGIN_LINES: usize = 3;

/// A syntax tree that is worth looking at.
pub(in crate::pipeline) struct Parsed {
    tree: Tree,
    grammar: fn() -> Grammar,
    /// Rows of the errors with their margins, in order; both ends inclusive.
    errors: Vec<(usize, usize)>,
    error_bytes: usize,
}

/// A token, or something that counts as one: a comment, a string with all that is in it.
#[derive(Debug, PartialEq, Eq)]
struct Leaf<'a> {
    kind: u16,
    depth: usize,
    text: &'a str,
}

impl Parsed {
    /// Parses code in a language; `None` when it is too long, takes too many steps, or is mostly an error.
    pub(super) fn parse(code: &str, syntax: &Syntax) -> Option<Self> {
        let mut best: Option<Self> = None;
        for &grammar in syntax.grammars {
            let Some(parsed) = Self::with_grammar(code, grammar) else { continue };
            if best.as_ref().is_none_or(|best| parsed.error_bytes < best.error_bytes) {
                best = Some(parsed);
            }
            if best.as_ref().is_some_and(|best| best.errors.is_empty()) {
                break;
            }
        }
        best.filter(|parsed| parsed.error_bytes * 100 <= code.len() * ERROR_MAX_PERCENT)
    }

    fn with_grammar(code: &str, grammar: fn() -> Grammar) -> Option<Self> {
        if code.len() > PARSE_MAX_BYTES {
            return None;
        }
        let mut parser = Parser::new();
        parser.set_language(&grammar()).ok()?;
        let mut steps = STEPS + code.len() / 1000 * STEPS_PER_KILOBYTE;
        let mut watch = |_: &ParseState| match steps.checked_sub(1) {
            Some(left) => {
                steps = left;
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        };
        let options = ParseOptions::new().progress_callback(&mut watch);
        let tree = parser.parse_with_options(&mut |at, _| &code.as_bytes()[at..], None, Some(options))?;
        let mut errors = Vec::new();
        let mut error_bytes = 0;
        descend(tree.root_node(), |node, _| {
            if node.is_error() || node.is_missing() {
                let first = node.start_position().row.saturating_sub(ERROR_MARGIN_LINES);
                errors.push((first, node.end_position().row + ERROR_MARGIN_LINES));
                error_bytes += node.end_byte() - node.start_byte();
            }
            node.has_error() && !node.is_error()
        });
        Some(Self { tree, grammar, errors, error_bytes })
    }

    /// The root of the tree.
    pub(in crate::pipeline) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// Whether there are errors in the code.
    pub(in crate::pipeline) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Whether rows, both ends inclusive, are away from all errors.
    pub(in crate::pipeline) fn is_sound(&self, first: usize, last: usize) -> bool {
        // Errors are in order of their start, and none holds another: their ends are in order too.
        let at = self.errors.partition_point(|&(_, end)| end < first);
        self.errors.get(at).is_none_or(|&(start, _)| start > last)
    }

    /// Whether rewritten code is the same code but for what was replaced: all tokens outside `replaced` and `replacing` are
    /// the same, in the same places of the tree.
    pub(in crate::pipeline) fn is_same_but(
        &self,
        code: &str,
        replaced: &[Range<usize>],
        rewritten: &str,
        replacing: &[Range<usize>],
    ) -> bool {
        let Some(after) = Self::with_grammar(rewritten, self.grammar) else { return false };
        self.leaves(code, replaced) == after.leaves(rewritten, replacing)
    }

    /// All tokens but comments and those that touch one of the ranges, which are sorted.
    fn leaves<'a>(&self, code: &'a str, but: &[Range<usize>]) -> Vec<Leaf<'a>> {
        let mut leaves = Vec::new();
        descend(self.root(), |node, depth| {
            let range = node.byte_range();
            let at = but.partition_point(|but| but.end <= range.start);
            let touches = but.get(at).is_some_and(|but| but.start < range.end);
            let atomic = is_atomic(node);
            let text = &code[range];
            // Line ends are tokens of some grammars; how many there are says nothing.
            let is_blank = !text.is_empty() && text.trim().is_empty();
            if (atomic || node.child_count() == 0) && !touches && !is_blank && !is_comment(node) {
                leaves.push(Leaf { kind: node.kind_id(), depth, text });
            }
            !atomic
        });
        leaves
    }
}

/// Whether a node is a comment.
pub(super) fn is_comment(node: Node) -> bool {
    node.is_named() && COMMENTS.contains(&node.kind())
}

/// Whether a node is taken as a whole: what looks like a comment or a blank line in it is something else.
pub(super) fn is_atomic(node: Node) -> bool {
    let kind = node.kind();
    let is_text = ["string", "heredoc", "nowdoc", "regex"].iter().any(|word| kind.contains(word));
    is_comment(node) || (node.is_named() && is_text)
}

/// Visits a node and what is below it in order, with depths; `visit` says whether to go below a node.
pub(in crate::pipeline) fn descend<'t>(node: Node<'t>, mut visit: impl FnMut(Node<'t>, usize) -> bool) {
    let mut cursor = node.walk();
    let mut depth = 0;
    loop {
        if visit(cursor.node(), depth) && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            depth -= 1;
        }
    }
}

/// What stands between tokens, strings and comments: blanks and line ends.
pub(in crate::pipeline) fn gaps(root: Node) -> Vec<Range<usize>> {
    let mut gaps = Vec::new();
    let mut end = 0;
    descend(root, |node, _| {
        let atomic = is_atomic(node);
        if atomic || node.child_count() == 0 {
            let range = node.byte_range();
            if range.start > end {
                gaps.push(end..range.start);
            }
            end = end.max(range.end);
        }
        !atomic
    });
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Language;

    #[test]
    fn code_in_another_language_is_no_tree() {
        let rust = "fn main() {\n    let x: u32 = 1;\n    println!(\"{x}\");\n}\n".repeat(20);
        assert!(Parsed::parse(&rust, Syntax::of(Language::Rust)).is_some());
        assert!(Parsed::parse(&rust, Syntax::of(Language::Python)).is_none());
    }

    #[test]
    fn hostile_text_ends_early_in_every_grammar() {
        for text in ["[{".repeat(25_000), "a<b ".repeat(12_000), "(".repeat(100_000), "\0".repeat(1000), String::new()]
        {
            for &language in Language::ALL {
                let _ = Parsed::parse(&text, Syntax::of(language));
            }
        }
        assert!(Parsed::parse(&"x = 1\n".repeat(50_000), Syntax::of(Language::Python)).is_none());
    }

    #[test]
    fn a_moved_line_or_a_changed_token_is_not_the_same_code() {
        let code = "def f(a):\n    b = a\n    return b\n";
        let parsed = Parsed::parse(code, Syntax::of(Language::Python)).unwrap();
        assert!(parsed.is_same_but(code, &[], "def f(a): # note\n  b = a\n\n  return b", &[]));
        assert!(!parsed.is_same_but(code, &[], "def f(a):\n    b = a\nreturn b\n", &[]));
        assert!(!parsed.is_same_but(code, &[], "def f(a):\n    b = c\n    return b\n", &[]));
        assert!(parsed.is_same_but(code, &[18..19], "def f(a):\n    b = c\n    return b\n", &[18..19]));
    }
}
