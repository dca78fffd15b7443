//! Code -> its syntax tree, with the rows that contain errors.
//!
//! Walks do not recurse, because code may be nested as deeply as it is long.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::time::Duration;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::grammar::Grammar;
use super::languages::Syntax;
use crate::content::head;
use crate::foreign::{call_foreign, run_with_timeout};

/// The maximum size of code that is parsed.
const PARSE_MAX_BYTES: usize = 256 << 10;

/// The limits of a parse, in the parser's progress reports. Real code needs up to 18 reports per 1,000 bytes. After an
/// error each report may take long; real code needs up to 5 of these.
const STEPS: Budget = Budget { base: 100, for_kilobyte: 25 };
const STEPS_IN_ERROR: Budget = Budget { base: 50, for_kilobyte: 6 };

/// The size of the chunks that the parser reads, and the limit on reads. After an error the parser may search for the
/// end of a string from every token. Real code is read up to seven times.
const CHUNK_BYTES: usize = 4 << 10;
const READS: Budget = Budget { base: 30, for_kilobyte: 2 };

/// The time limit of a parse, a hundred times what the longest code takes. It only ends parses that neither report
/// progress nor read.
const PATIENCE: Duration = Duration::from_secs(30);

/// A limit that grows with the length of the code.
struct Budget {
    base: usize,
    for_kilobyte: usize,
}

impl Budget {
    fn of(&self, code: &str) -> usize {
        self.base + code.len() * self.for_kilobyte / 1000
    }
}

/// The maximum share of errors in a usable tree, in percent of the bytes.
const ERROR_MAX_PERCENT: usize = 10;

/// Text that is not code takes ten times as long to parse. For code of at least [`TRIED_FROM_BYTES`], the first
/// [`TRIED_BYTES`] are therefore parsed first, and must contain less than one error per [`TRIED_BYTES_PER_ERROR`]. Real
/// code has fewer than one error in 70 bytes there, output that looks like code one in 40.
const TRIED_BYTES: usize = 2 << 10;
const TRIED_FROM_BYTES: usize = 3 * TRIED_BYTES;
const TRIED_BYTES_PER_ERROR: usize = 50;

/// The number of lines around an error that count as unreliable too.
const ERROR_MARGIN_LINES: usize = 3;

/// A syntax tree with its errors.
pub(in crate::pipeline) struct Parsed {
    tree: Tree,
    grammar: &'static Grammar,
    /// The row ranges of the errors with their margins, in order. Both ends are inclusive.
    errors: Vec<(usize, usize)>,
    error_bytes: usize,
}

thread_local! {
    /// The last rewritten code with its tree. The next round, which checks whether the text settles, parses the same
    /// code.
    static REWRITTEN: RefCell<Option<(String, Parsed)>> = const { RefCell::new(None) };
}

impl Parsed {
    /// Parses code. Returns `None` if it is too long, exceeds a limit, or has too many errors.
    pub(in crate::pipeline) fn parse(code: &str, syntax: &Syntax) -> Option<Self> {
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

    /// Caches the tree for the next parse of the same code.
    pub(super) fn keep_for(self, code: String) {
        REWRITTEN.set(Some((code, self)));
    }

    /// Returns the tree by one grammar, regardless of its errors.
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

    /// Returns the root of the tree.
    pub(in crate::pipeline) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// Returns the grammar of the tree.
    pub(super) fn grammar(&self) -> &'static Grammar {
        self.grammar
    }

    /// Returns true if the tree contains errors.
    pub(in crate::pipeline) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Returns true if rows `first` to `last` (inclusive) are not near an error.
    pub(in crate::pipeline) fn is_sound(&self, first: usize, last: usize) -> bool {
        // Errors are sorted by start and not nested, so their ends are sorted too.
        let at = self.errors.partition_point(|&(_, end)| end < first);
        self.errors.get(at).is_none_or(|&(start, _)| start > last)
    }
}

/// Returns true if long code has too many errors at its beginning.
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

/// Parses within the limits, on a thread with a large enough stack for any code within them.
fn parse(code: &str, grammar: &'static Grammar) -> Option<Tree> {
    if code.len() > PARSE_MAX_BYTES {
        return None;
    }
    let harmless = grammar.harmless(code).into_owned();
    let tree = call_foreign(grammar.name, code.as_bytes(), || {
        run_with_timeout(PATIENCE, move || parse_here(&harmless, grammar))
    });
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
        // No reads are left: report a line end and then the end of the code, so that a scanner that waits for either
        // stops.
        if std::mem::take(&mut has_line_end) { b"\n" } else { b"" }
    };
    let options = ParseOptions::new().progress_callback(&mut watch);
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    tree.filter(|_| reads.get() > 0)
}

/// Visits a node and its descendants in order. If `visit` returns false, the node's children are skipped.
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
