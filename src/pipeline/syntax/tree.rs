//! Code -> its syntax tree, with the part of it that is an error.
//!
//! Walks never recurse: code may be nested as deep as it is long.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::time::Duration;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::grammar::Grammar;
use super::languages::Syntax;
use crate::content::head;
use crate::foreign::{apart, calling};

/// Longer code is parsed in windows.
pub(super) const PARSE_MAX_BYTES: usize = 256 << 10;

/// No window is longer.
pub(super) const WINDOW_MAX_BYTES: usize = 4 * PARSE_MAX_BYTES;

/// What a parse may cost, in the parser's progress reports: real code needs up to 18 for 1,000 bytes, and up to 5 after
/// an error, where each of them may take long.
const STEPS: Budget = Budget { base: 100, for_kilobyte: 25 };
const STEPS_IN_ERROR: Budget = Budget { base: 50, for_kilobyte: 6 };

/// How much of the code is handed to the parser at once, and how often it may ask: after an error it may look for the
/// end of a string from each token on. Of real code each part is asked for up to seven times.
const CHUNK_BYTES: usize = 4 << 10;
const READS: Budget = Budget { base: 30, for_kilobyte: 2 };

/// How long a parse may take: a hundred times what the longest code takes. The budgets above end every parse but those
/// that never ask.
const PATIENCE: Duration = Duration::from_secs(30);

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

/// Longer code is tried first, because what is no code costs the parser ten times as much: its first bytes may hold an
/// error in so many. Of real code that has a tree they hold fewer than one in 70, output that looks like code one in
/// 40.
const TRIED_BYTES: usize = 2 << 10;
const TRIED_FROM_BYTES: usize = 3 * TRIED_BYTES;
const TRIED_BYTES_PER_ERROR: usize = 50;

/// Parts of the names of nodes that may reach up to the end of the code without an error, whatever they are.
const OPEN_ENDED: &[&str] = &["heredoc", "uninterpreted", "ERROR"];

/// How many lines around an error are no safer than the error.
const ERROR_MARGIN_LINES: usize = 3;

/// A syntax tree that is worth looking at.
pub(in crate::pipeline) struct Parsed {
    tree: Tree,
    grammar: &'static Grammar,
    /// Rows of the errors with their margins, in order; both ends inclusive.
    errors: Vec<(usize, usize)>,
    error_bytes: usize,
}

thread_local! {
    /// The last code that a rewrite gave, with its tree: the round that looks whether it settles asks for it again.
    static REWRITTEN: RefCell<Option<(String, Parsed)>> = const { RefCell::new(None) };
}

impl Parsed {
    /// Parses code in a language; `None` when it is too long, takes too many steps, or is mostly an error.
    pub(in crate::pipeline) fn parse(code: &str, syntax: &Syntax) -> Option<Self> {
        if code.len() > PARSE_MAX_BYTES { None } else { Self::parse_window(code, syntax) }
    }

    /// The same for code of up to [`WINDOW_MAX_BYTES`].
    pub(super) fn parse_window(code: &str, syntax: &Syntax) -> Option<Self> {
        let mut best: Option<Self> = None;
        for &grammar in syntax.grammars {
            if begins_in_error(code, grammar) {
                continue;
            }
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

    /// Has the tree ready for when the same code comes again.
    pub(super) fn keep_for(self, code: String) {
        REWRITTEN.set(Some((code, self)));
    }

    /// The tree by one grammar, however much of it is an error.
    pub(super) fn with_grammar(code: &str, grammar: &'static Grammar) -> Option<Self> {
        let is_it = |kept: &mut (String, Self)| kept.0 == code && std::ptr::eq(kept.1.grammar, grammar);
        if let Some((_, parsed)) = REWRITTEN.with_borrow_mut(|kept| kept.take_if(is_it)) {
            return Some(parsed);
        }
        let tree = parse(code, grammar)?;
        let mut errors = Vec::new();
        let mut error_bytes = 0;
        descend(tree.root_node(), |node| {
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

    /// What its kinds of node mean.
    pub(super) fn grammar(&self) -> &'static Grammar {
        self.grammar
    }

    /// Whether there are errors in the code.
    pub(in crate::pipeline) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Whether nothing is open where the code ends, so that what follows starts anew.
    pub(super) fn is_whole_at_end(&self) -> bool {
        let root = self.root();
        let last_row = root.end_position().row;
        let mut node = root;
        while let Some(last) = node.child_count().checked_sub(1).and_then(|at| node.child(at)) {
            node = last;
            // Some scanners take the end of the code for the end of a text.
            if OPEN_ENDED.iter().any(|kind| node.kind().contains(kind)) {
                return false;
            }
        }
        !root.is_error() && self.is_sound(last_row.saturating_sub(1), last_row)
    }

    /// Whether rows, both ends inclusive, are away from all errors.
    pub(in crate::pipeline) fn is_sound(&self, first: usize, last: usize) -> bool {
        // Errors are in order of their start, and none holds another: their ends are in order too.
        let at = self.errors.partition_point(|&(_, end)| end < first);
        self.errors.get(at).is_none_or(|&(start, _)| start > last)
    }
}

/// Whether long code is full of errors where it begins.
fn begins_in_error(code: &str, grammar: &'static Grammar) -> bool {
    if code.len() < TRIED_FROM_BYTES {
        return false;
    }
    let start = head(code, TRIED_BYTES);
    let start = &start[..start.rfind('\n').map_or(start.len(), |at| at + 1)];
    let mut errors = 0;
    if let Some(tree) = parse(start, grammar) {
        descend(tree.root_node(), |node| {
            errors += usize::from(node.is_error() || node.is_missing());
            node.has_error()
        });
    }
    errors * TRIED_BYTES_PER_ERROR >= start.len()
}

/// Parses within the limits, on a thread with room for any code within them.
fn parse(code: &str, grammar: &'static Grammar) -> Option<Tree> {
    if code.len() > WINDOW_MAX_BYTES {
        return None;
    }
    let harmless = grammar.harmless(code).into_owned();
    let tree = calling(grammar.name, code.as_bytes(), || apart(PATIENCE, move || parse_here(&harmless, grammar)));
    tree??
}

fn parse_here(code: &str, grammar: &Grammar) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(grammar.loaded).ok()?;
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

/// Visits a node and what is below it in order; `visit` says whether to go below a node.
pub(in crate::pipeline) fn descend<'t>(node: Node<'t>, mut visit: impl FnMut(Node<'t>) -> bool) {
    let mut cursor = node.walk();
    loop {
        if visit(cursor.node()) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Language;

    #[test]
    fn a_kept_tree_serves_its_own_code_and_grammar_once() {
        let (python, go) = (Syntax::of(Language::Python), Syntax::of(Language::Go));
        let parsed = Parsed::parse("a = 1\n", python).unwrap();
        let id = |parsed: &Parsed| parsed.root().id();
        let kept = id(&parsed);
        parsed.keep_for("a = 1\n".to_owned());
        assert_ne!(Parsed::parse("a = 2\n", python).map(|parsed| id(&parsed)), Some(kept));
        assert_ne!(Parsed::parse("a = 1\n", go).map(|parsed| id(&parsed)), Some(kept));
        let again = Parsed::parse("a = 1\n", python).unwrap();
        assert_eq!(id(&again), kept);
        assert_ne!(id(&Parsed::parse("a = 1\n", python).unwrap()), kept);
    }

    #[test]
    fn code_in_another_language_is_no_tree() {
        let rust = "fn main() {\n    let x: u32 = 1;\n    println!(\"{x}\");\n}\n".repeat(20);
        assert!(Parsed::parse(&rust, Syntax::of(Language::Rust)).is_some());
        assert!(Parsed::parse(&rust, Syntax::of(Language::Python)).is_none());
    }

    #[test]
    fn what_commands_print_about_code_is_told_by_how_it_begins() {
        let code = "fn main() {\n    let x: u32 = 1;\n    println!(\"{x}\");\n}\n".repeat(150);
        let lines = || code.lines().enumerate();
        let blame: String = lines().map(|(n, line)| format!("7ddc4f4a1 (Ann Lee 2026-11-23 {n:3}) {line}\n")).collect();
        let hits: String = lines().map(|(n, line)| format!("src/main.rs={n}={line}\n")).collect();
        let rust = Syntax::of(Language::Rust).grammars[0];
        assert!(code.len() >= TRIED_FROM_BYTES && !begins_in_error(&code, rust));
        for text in [blame, hits] {
            assert!(
                begins_in_error(&text, rust) && Parsed::parse(&text, Syntax::of(Language::Rust)).is_none(),
                "{text}"
            );
        }
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
    fn every_scanner_bears_long_words() {
        for word in ["a".repeat(300), format!("\"{}\"", "a b ".repeat(100)), format!("'{}", "long ".repeat(80))] {
            for opens in ["<<", "<<-", "<<~", "<<<"] {
                for &language in Language::ALL {
                    let _ = Parsed::parse(&format!("x = {opens}{word}\nand more\n{word}\n"), Syntax::of(language));
                    let line = format!("{opens}{word}, ").repeat(9);
                    let _ = Parsed::parse(&format!("puts {line}\nand more\n{word}\n"), Syntax::of(language));
                }
            }
        }
    }

    #[test]
    fn no_scanner_writes_more_of_its_state_than_there_is_room_for() {
        // Python's keeps two bytes for each block, Ruby's 64 for each of the first of these words.
        let indent = |depth: usize| "\t".repeat(depth / 8) + &" ".repeat(depth % 8);
        let blocks: String = (0..511).map(|depth| format!("{}if x:\n", indent(depth))).collect();
        let words: Vec<String> =
            (0..16).map(|n| format!("<<{:a<1$}", char::from(b'b' + n), 60 - usize::from(n / 15))).collect();
        let heredocs = format!("puts {}\n", words.join(", "));
        for text in [format!("{blocks}{}y = 'a'\n", indent(511)), heredocs] {
            for &language in Language::ALL {
                let _ = Parsed::parse(&text, Syntax::of(language));
            }
        }
    }

    #[test]
    fn every_grammar_bears_hostile_text_and_none_parses_what_is_too_long() {
        let bits =
            ["[{", "a<b ", "a<", "(", "if(0){", "!", "-", "a?b:", "a=>", "f(a,", "\"", "/*", "<a>", "\0", "if x:\n"];
        let texts = [TRIED_BYTES, 12_000].map(|len| bits.map(|bit| bit.repeat(len / bit.len())));
        for text in texts.iter().flatten().chain([&String::new(), &"[{".repeat(30_000)]) {
            for &language in Language::ALL {
                let _ = Parsed::parse(text, Syntax::of(language));
            }
        }
        assert!(Parsed::parse(&"x = 1\n".repeat(50_000), Syntax::of(Language::Python)).is_none());
    }
}
