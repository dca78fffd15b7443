//! Parses code with the grammar that the first byte selects, without the preparation by our own code. Texts with a
//! known flaw are skipped.

use std::ops::ControlFlow;

use concertina_grammars::{self as grammars, Grammar};
use tree_sitter::{ParseOptions, Parser};

use super::{chosen, parse};

/// The grammars, each with a filter for texts that its scanner can parse, as in `src/pipeline/syntax/grammar.rs`.
static GRAMMARS: [(&Grammar, fn(&str) -> bool); 17] = [
    (&grammars::PYTHON, sound),
    (&grammars::JAVASCRIPT, sound),
    (&grammars::TYPESCRIPT, sound),
    (&grammars::JAVA, sound),
    (&grammars::C, sound),
    (&grammars::CPP, sound),
    (&grammars::C_SHARP, sound),
    (&grammars::GO, sound),
    (&grammars::RUST, sound),
    (&grammars::RUBY, |code| !code.contains("<<")),
    (&grammars::PHP, sound),
    (&grammars::SWIFT, sound),
    (&grammars::KOTLIN, |code| !code.contains('@')),
    (&grammars::SCALA, sound),
    (&grammars::BASH, |code| code.chars().all(|c| c <= '\u{ff}')),
    (&grammars::SQL, sound),
    (&grammars::TSX, sound),
];

fn sound(_: &str) -> bool {
    true
}

pub(super) fn run(data: &[u8]) {
    let Some(([grammar], code)) = chosen(data) else { return };
    let (grammar, bears) = &GRAMMARS[usize::from(grammar) % GRAMMARS.len()];
    if !bears(&code) {
        return;
    }
    let mut parser = Parser::new();
    parser.set_language(grammar.language()).expect("a compatible grammar");
    // Our own limit is far lower. With sanitizers, more steps would take longer than a target may.
    let mut left = 2000;
    let mut watch = |_: &_| {
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut read = |at: usize, _| code.as_bytes().get(at..).unwrap_or_default();
    parser.parse_with_options(&mut read, None, Some(ParseOptions::new().progress_callback(&mut watch)));
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    parse::seeds()
}

/// Returns the keywords and signs of every language.
pub(super) fn words() -> Vec<String> {
    let kinds = GRAMMARS.iter().flat_map(|(grammar, _)| {
        let language = grammar.language();
        let numbers = 0..language.node_kind_count() as u16;
        numbers.filter(|&kind| !language.node_kind_is_named(kind)).filter_map(|kind| language.node_kind_for_id(kind))
    });
    let mut words: Vec<String> = kinds.filter(|word| (1..=24).contains(&word.len())).map(str::to_owned).collect();
    words.sort();
    words.dedup();
    words
}
