//! Collects the tokens, comments and interesting nodes of a syntax tree in one walk.
//!
//! A walk costs a fifth of the time of parsing, so all users of the tree share one.

use std::ops::Range;

use tree_sitter::Node;

use super::tree::Parsed;

/// The result of one walk over a tree.
pub(in crate::pipeline) struct Survey<'t> {
    parsed: &'t Parsed,
    tokens: Vec<Token>,
    nodes: Vec<Node<'t>>,
}

/// A token. A comment or a whole string also counts as one.
struct Token {
    range: Range<usize>,
    /// The row in which the token starts.
    row: usize,
    kind: u16,
    depth: u32,
    is_comment: bool,
}

impl<'t> Survey<'t> {
    /// Collects the tokens and nodes of a tree.
    pub(in crate::pipeline) fn of(parsed: &'t Parsed) -> Self {
        let (mut tokens, mut nodes) = (Vec::new(), Vec::new());
        let mut cursor = parsed.root().walk();
        let mut depth = 0;
        loop {
            let node = cursor.node();
            let kind = parsed.grammar().kind(node);
            if kind.is_telling {
                nodes.push(node);
            }
            if !kind.is_atomic && cursor.goto_first_child() {
                depth += 1;
                continue;
            }
            let (range, row) = (node.byte_range(), node.start_position().row);
            tokens.push(Token { range, row, kind: node.kind_id(), depth, is_comment: kind.is_comment });
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return Self { parsed, tokens, nodes };
                }
                depth -= 1;
            }
        }
    }

    /// Returns the tree.
    pub(in crate::pipeline) fn parsed(&self) -> &'t Parsed {
        self.parsed
    }

    /// Visits the nodes that stages examine, outer nodes first. If `visit` returns false, the nodes inside are skipped.
    pub(in crate::pipeline) fn visit(&self, mut visit: impl FnMut(Node<'t>) -> bool) {
        let mut passed = 0;
        for &node in &self.nodes {
            if node.start_byte() >= passed && !visit(node) {
                passed = node.end_byte();
            }
        }
    }

    /// Returns the comments that are not near an error, in order.
    pub(super) fn comments(&self, code: &str) -> Vec<Range<usize>> {
        let comments = self.tokens.iter().filter(|token| token.is_comment);
        let sound = comments.filter(|comment| {
            let rows = code[comment.range.clone()].bytes().filter(|&byte| byte == b'\n').count();
            self.parsed.is_sound(comment.row, comment.row + rows)
        });
        sound.map(|comment| comment.range.clone()).collect()
    }

    /// Returns the blanks and line ends between tokens.
    pub(in crate::pipeline) fn gaps(&self) -> impl Iterator<Item = Range<usize>> {
        let ends = self.tokens.iter().scan(0, |end, token| {
            let before = *end;
            *end = token.range.end.max(before);
            Some(before..token.range.start)
        });
        ends.filter(|gap| !gap.is_empty())
    }

    /// Returns true if rewritten code differs only in what was replaced: all tokens outside `replaced` and `replacing`
    /// are equal and at the same depth of the tree.
    pub(super) fn is_same_but(
        &self,
        code: &str,
        replaced: &[Range<usize>],
        rewritten: &str,
        replacing: &[Range<usize>],
    ) -> bool {
        let Some(after) = Parsed::with_grammar(rewritten, self.parsed.grammar()) else { return false };
        let is_same = self.leaves(code, replaced).eq(Survey::of(&after).leaves(rewritten, replacing));
        if is_same {
            after.keep_for(rewritten.to_owned());
        }
        is_same
    }

    /// Returns kind, depth and text of all tokens except comments and tokens that touch one of the sorted ranges.
    fn leaves<'a>(&'a self, code: &'a str, but: &'a [Range<usize>]) -> impl Iterator<Item = (u16, u32, &'a str)> {
        self.tokens.iter().filter(|token| !token.is_comment).filter_map(move |token| {
            let range = &token.range;
            // The end is trimmed because a macro's body reaches up to the comment after it. Tokens of line ends, which
            // some grammars have, are skipped because their number has no meaning.
            let text = code[range.clone()].trim_end();
            let is_blank = text.is_empty() && !range.is_empty();
            let at = but.partition_point(|but| but.end <= range.start);
            let touches = but.get(at).is_some_and(|but| but.start < range.start + text.len());
            (!touches && !is_blank).then_some((token.kind, token.depth, text))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Language;
    use crate::pipeline::syntax::Syntax;

    #[test]
    fn a_moved_line_or_a_changed_token_is_not_the_same_code() {
        let code = "def f(a):\n    b = a\n    return b\n";
        let parsed = Parsed::parse(code, Syntax::of(Language::Python)).unwrap();
        let survey = Survey::of(&parsed);
        assert!(survey.is_same_but(code, &[], "def f(a): # note\n  b = a\n\n  return b", &[]));
        assert!(!survey.is_same_but(code, &[], "def f(a):\n    b = a\nreturn b\n", &[]));
        assert!(!survey.is_same_but(code, &[], "def f(a):\n    b = c\n    return b\n", &[]));
        let one = std::slice::from_ref(&(18..19));
        assert!(survey.is_same_but(code, one, "def f(a):\n    b = c\n    return b\n", one));
    }
}
