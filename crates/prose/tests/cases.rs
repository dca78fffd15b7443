//! Prose and what becomes of it: each line of the files in `cases/`, which are named for how much goes.
//!
//! A line is a test: `text ⇒ expected`, or a text alone that stays as it is; `⏎` and `␉` are line ends and tabs. At the
//! level `ultra` characters are counted, at the others tokens. In `spans.txt` each protected span stands as
//! `⟨kind:span⟩`. A line that begins with `# ` is a comment.

use concertina_prose::{Intensity, Kind, Objective, Token, compress_prose, tokenize};

/// The lines of a file that are no comments.
fn lines(file: &str) -> impl Iterator<Item = &str> {
    file.lines().filter(|line| !line.is_empty() && !line.starts_with("# "))
}

fn written(part: &str) -> String {
    part.replace('⏎', "\n").replace('␉', "\t")
}

#[test]
fn of_each_case_what_is_expected_is_left() {
    let files = [
        (Intensity::Lite, Objective::Tokens, include_str!("cases/lite.txt")),
        (Intensity::Full, Objective::Tokens, include_str!("cases/full.txt")),
        (Intensity::Ultra, Objective::Chars, include_str!("cases/ultra.txt")),
    ];
    for (intensity, objective, file) in files {
        for line in lines(file) {
            let (text, expected) = line.split_once(" ⇒ ").unwrap_or((line, line));
            let (shorter, _) = compress_prose(&written(text), intensity, objective);
            assert_eq!(shorter, written(expected), "{text}");
        }
    }
}

#[test]
fn in_each_text_the_spans_are_protected_that_are_marked() {
    for line in lines(include_str!("cases/spans.txt")) {
        let text: String = written(line)
            .split('⟨')
            .enumerate()
            .map(|(index, part)| if index == 0 { part } else { part.split_once(':').expect("a kind").1 })
            .collect::<String>()
            .replace('⟩', "");
        let marked = |token: &Token| match (token.kind, &text[token.range.clone()]) {
            (Kind::Prose, part) => part.to_owned(),
            (kind, part) => format!("⟨{}:{part}⟩", kind.as_str()),
        };
        assert_eq!(tokenize(&text).iter().map(marked).collect::<String>(), written(line));
    }
}

#[test]
fn a_quotation_may_be_long() {
    let long = format!("\"{}\"", "the word ".repeat(100).trim_end());
    let tokens = tokenize(&long);
    assert_eq!((tokens.len(), tokens[0].kind, tokens[0].range.clone()), (1, Kind::Quoted, 0..long.len()));
}
