//! Code -> its syntax tree, with the part of it that is an error, and the tokens in order.
//!
//! Walks never recurse: code may be nested as deep as it is long.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::{ControlFlow, Range};

use tree_sitter::{Language as Grammar, Node, ParseOptions, ParseState, Parser, Tree};

use super::languages::{COMMENTS, Syntax};

/// Longer code is not parsed.
const PARSE_MAX_BYTES: usize = 256 << 10;

/// What a parse may cost, in the parser's progress reports: real code needs up to 18 for 1,000 bytes, and up to 5 after an
/// error, where each of them may take long.
const STEPS: Budget = Budget { base: 100, for_kilobyte: 25 };
const STEPS_IN_ERROR: Budget = Budget { base: 50, for_kilobyte: 6 };

/// How much of the code is handed to the parser at once, and how often it may ask: after an error it may look for the end of a
/// string from each token on. Of real code each part is asked for up to seven times.
const CHUNK_BYTES: usize = 4 << 10;
const READS: Budget = Budget { base: 30, for_kilobyte: 2 };

/// The parser recurses as deep as code is nested where code is ambiguous. A stack is not touched before it is used.
const STACK_BYTES: usize = 64 << 20;

/// Grammars whose scanner looks characters up in C's table of them, which ends at U+00FF; beyond it is other memory, or none.
const NARROW_GRAMMARS: &[&str] = &["bash"];

/// Whether a grammar's scanner looks for a blank behind an `@` and never sees that the code ends before one: Kotlin's, which is one of
/// the older ones that do not tell their name.
fn is_endless(grammar: &Grammar) -> bool {
    grammar.name().is_none()
}

/// A limit that grows with the code.
struct Budget {
    base: usize,
    for_kilobyte: usize,
}

impl Budget {
    fn of(&self, code: &str) -> usize {
        self.base + code.len() * self.for_kilobyte / 1000
    }
}

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
        let tree = parse(code, grammar)?;
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
            // A macro's body reaches up to the comment behind it. Line ends are tokens of some grammars; how many there are says
            // nothing.
            let text = code[range.clone()].trim_end();
            let is_blank = text.is_empty() && !range.is_empty();
            let at = but.partition_point(|but| but.end <= range.start);
            let touches = but.get(at).is_some_and(|but| but.start < range.start + text.len());
            let atomic = is_atomic(node);
            if (atomic || node.child_count() == 0) && !touches && !is_blank && !is_comment(node) {
                leaves.push(Leaf { kind: node.kind_id(), depth, text });
            }
            !atomic
        });
        leaves
    }
}

/// Parses within the limits, on a thread whose stack is deep enough for any code within them.
fn parse(code: &str, grammar: fn() -> Grammar) -> Option<Tree> {
    if code.len() > PARSE_MAX_BYTES {
        return None;
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        thread.spawn_scoped(scope, || parse_here(code, &grammar())).ok()?.join().ok()?
    })
}

fn parse_here(code: &str, grammar: &Grammar) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(grammar).ok()?;
    let code = &*harmless(code, grammar);
    let reads = Cell::new(READS.of(code));
    let (mut steps, mut steps_in_error) = (STEPS.of(code), STEPS_IN_ERROR.of(code));
    let mut watch = |state: &ParseState| {
        steps = steps.saturating_sub(1);
        steps_in_error = steps_in_error.saturating_sub(usize::from(state.has_error()));
        match steps.min(steps_in_error).min(reads.get()) {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    };
    let mut has_line_end = true;
    let mut read = |at: usize, _| -> &[u8] {
        reads.set(reads.get().saturating_sub(1));
        if reads.get() > 0 {
            let end = code.len().min(at + CHUNK_BYTES);
            return &code.as_bytes()[at.min(end)..end];
        }
        // Without reads left, the code ends here, with its line: a scanner on its way to the end of either gets there.
        if std::mem::take(&mut has_line_end) { b"\n" } else { b"" }
    };
    let options = ParseOptions::new().progress_callback(&mut watch);
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    tree.filter(|_| reads.get() > 0)
}

/// The code with letters, as many as there are bytes, for the characters that a grammar's scanner does not bear.
fn harmless<'a>(code: &'a str, grammar: &Grammar) -> Cow<'a, str> {
    let narrow = grammar.name().is_some_and(|name| NARROW_GRAMMARS.contains(&name));
    let last_line = code.rfind('\n').map_or(0, |at| at + 1);
    let endless = is_endless(grammar);
    let is_harmful = |(at, c): (usize, char)| narrow && c > '\u{ff}' || endless && c == '@' && at >= last_line;
    if !code.char_indices().any(is_harmful) {
        return Cow::Borrowed(code);
    }
    let mut harmless = String::with_capacity(code.len());
    for (at, c) in code.char_indices() {
        if is_harmful((at, c)) {
            harmless.extend(std::iter::repeat_n('x', c.len_utf8()));
        } else {
            harmless.push(c);
        }
    }
    Cow::Owned(harmless)
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
    fn no_scanner_reads_past_a_table_of_characters() {
        for c in ['\u{e9}', '\u{4e2d}', '\u{1f680}', '\u{10ffff}'] {
            let text = format!("for x in {{{c}..{c}}}; do echo {{1{c}; echo {{1..{c}}}; done # {c}\n").repeat(3);
            for &language in Language::ALL {
                if let Some(parsed) = Parsed::parse(&text, Syntax::of(language)) {
                    assert_eq!(parsed.root().end_byte(), text.len(), "{}: {c:?}", language.as_str());
                }
            }
        }
    }

    #[test]
    fn every_scanner_sees_the_end_of_the_code() {
        // One that does not never comes back.
        for end in ["@A", "@get:A(1, 2", "\n@A", "\n    @A(", "`a", "$a", "\"a", "#a", "/*a", "@"] {
            for before in
                ["", "class A", "class A\n", "val a: Int", "var a = 1\n", "class A {\n    val a = 1\n", "object A {\n"]
            {
                for &language in Language::ALL {
                    let _ = Parsed::parse(&format!("{before}{end}"), Syntax::of(language));
                    let _ = Parsed::parse(&format!("{before} {end}"), Syntax::of(language));
                }
            }
        }
    }

    #[test]
    fn hostile_text_ends_early_in_every_grammar() {
        let bits =
            ["[{", "a<b ", "a<", "(", "if(0){", "!", "-", "a?b:", "a=>", "f(a,", "\"", "/*", "<a>", "\0", "if x:\n"];
        let texts = bits.map(|bit| bit.repeat(12_000 / bit.len()));
        for text in texts.iter().chain([&String::new(), &"[{".repeat(30_000)]) {
            for &language in Language::ALL {
                let _ = Parsed::parse(text, Syntax::of(language));
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
        let one = std::slice::from_ref(&(18..19));
        assert!(parsed.is_same_but(code, one, "def f(a):\n    b = c\n    return b\n", one));
    }
}
