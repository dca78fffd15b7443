//! Source code: which of the sixteen languages it is.
//!
//! Lexical evidence is the weakest kind: a language needs several different clues, and more of them than any other.

use std::collections::HashMap;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::Language;
use super::lexicon::{CAPITAL_CALL, DIALECTS, INTERPRETERS, LEXICON, TYPED_PARAMETER};
use super::lines::{head, lines};

/// The least weight that names a language.
const MIN_SCORE: u32 = 9;
/// The least number of different clues that English does not share.
const MIN_STRONG: u32 = 2;
/// The weight from which a clue is such a one.
const STRONG: u32 = 3;

/// The language named in a `#!` line or opened by `<?php`.
pub(super) fn declared(text: &str) -> Option<Language> {
    let first = head(lines(text).map(|line| line.text.trim()).find(|line| !line.is_empty())?, 200);
    if first.starts_with("<?php") {
        return Some(Language::Php);
    }
    let command = first.strip_prefix("#!")?;
    let program = command
        .split(|c: char| c.is_whitespace() || c == '/')
        .filter(|word| !word.is_empty() && !word.starts_with('-') && *word != "env")
        .rfind(|word| INTERPRETERS.iter().any(|(name, _)| word.starts_with(name)))?;
    INTERPRETERS.iter().find(|(name, _)| program.starts_with(name)).map(|&(_, language)| language)
}

/// The language whose clues prevail in a [`skeleton`]: several of them, and with a lead.
pub(super) fn language_of(skeleton: &str) -> Option<Language> {
    let scores = Lexicon::get().score(skeleton);
    let mut ranked: Vec<(Language, Score)> =
        Language::ALL.iter().map(|&language| (language, scores[language as usize])).collect();
    for dialect in DIALECTS {
        let own = scores[dialect.language as usize];
        let base = scores[dialect.base as usize];
        // A large program has more chances to look like what it is not.
        let wins = own.weight >= dialect.needs + base.weight / 12 && own.strong >= 1;
        for (language, score) in &mut ranked {
            if *language == dialect.language {
                *score = Score { weight: own.weight + base.weight, strong: own.strong + base.strong };
            }
            if *language == if wins { dialect.base } else { dialect.language } {
                *score = Score::default();
            }
        }
    }
    // A stable sort: languages that are equally likely stay in documentation order.
    ranked.sort_by_key(|(_, score)| std::cmp::Reverse(score.weight));
    let (language, best) = ranked[0];
    let second = ranked[1].1.weight;
    let leads = best.weight * 100 >= second * 108 && best.weight > second + 1;
    let known = best.weight >= MIN_SCORE && best.strong >= MIN_STRONG && leads;
    known.then_some(language)
}

#[derive(Debug, Clone, Copy, Default)]
struct Score {
    weight: u32,
    strong: u32,
}

impl Score {
    fn add(&mut self, weight: u32, count: u32) {
        // 1, 2, 4, 8, ... occurrences count once, twice, three times, ...: breadth weighs more than repetition.
        self.weight += weight * count.checked_ilog2().map_or(0, |log| log + 1);
        self.strong += u32::from(count > 0 && weight >= STRONG);
    }
}

/// The lexicon as one automaton.
struct Lexicon {
    automaton: AhoCorasick,
    clues: Vec<Clue>,
}

struct Clue {
    text: String,
    votes: Vec<(Language, u32)>,
}

impl Lexicon {
    fn get() -> &'static Self {
        static LEXICON_AUTOMATON: LazyLock<Lexicon> = LazyLock::new(Lexicon::build);
        &LEXICON_AUTOMATON
    }

    fn build() -> Self {
        let mut clues: Vec<Clue> = Vec::new();
        let mut index: HashMap<String, usize> = HashMap::new();
        let mut vote = |text: String, language: Language, weight: u32| {
            let at = *index.entry(text.clone()).or_insert_with(|| {
                clues.push(Clue { text, votes: Vec::new() });
                clues.len() - 1
            });
            clues[at].votes.push((language, weight));
        };
        for entry in LEXICON {
            for &(text, weight) in entry.clues {
                vote(text.to_owned(), entry.language, weight);
                let upper = text.to_ascii_uppercase();
                if entry.language == Language::Sql && upper != text {
                    vote(upper, entry.language, weight + 1);
                }
            }
        }
        let automaton = AhoCorasick::new(clues.iter().map(|clue| &clue.text)).expect("a fixed list of short clues");
        Self { automaton, clues }
    }

    fn score(&self, skeleton: &str) -> [Score; Language::ALL.len()] {
        let bytes = skeleton.as_bytes();
        let word = |at: Option<&u8>| at.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let mut counts = vec![0u32; self.clues.len()];
        for found in self.automaton.find_overlapping_iter(bytes) {
            let (start, end) = (found.start(), found.end());
            let joined_before = start > 0 && word(bytes.get(start)) && word(bytes.get(start - 1));
            let joined_after = word(bytes.get(end - 1)) && word(bytes.get(end));
            if !joined_before && !joined_after {
                counts[found.pattern().as_usize()] += 1;
            }
        }
        let mut scores = [Score::default(); Language::ALL.len()];
        for (clue, &count) in self.clues.iter().zip(&counts) {
            clue.votes.iter().for_each(|&(language, weight)| scores[language as usize].add(weight, count));
        }
        for (votes, count) in [(TYPED_PARAMETER, typed_parameters(skeleton)), (CAPITAL_CALL, capital_calls(skeleton))] {
            votes.iter().for_each(|&(language, weight)| scores[language as usize].add(weight, count));
        }
        scores
    }
}

/// How often a bracket is followed by a name, a colon and a blank: `(name: `.
fn typed_parameters(skeleton: &str) -> u32 {
    let is_typed = |at: usize| {
        let rest = &skeleton.as_bytes()[at + 1..];
        let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let colon = name + usize::from(rest.get(name) == Some(&b'?'));
        name > 0 && rest[colon..].starts_with(b": ")
    };
    memchr::memchr_iter(b'(', skeleton.as_bytes()).filter(|&at| is_typed(at)).count().try_into().unwrap_or(u32::MAX)
}

/// How often a capitalised member is called: `.Name(`.
fn capital_calls(skeleton: &str) -> u32 {
    let is_call = |at: usize| {
        let rest = &skeleton.as_bytes()[at + 1..];
        let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        rest.first().is_some_and(u8::is_ascii_uppercase) && rest.get(name) == Some(&b'(')
    };
    memchr::memchr_iter(b'.', skeleton.as_bytes()).filter(|&at| is_call(at)).count().try_into().unwrap_or(u32::MAX)
}

/// Source reduced to what the lexicon describes: trimmed lines, comments cut down to their markers.
pub(super) fn skeleton(source: &str) -> String {
    let mut bare = String::with_capacity(source.len() + 2);
    bare.push('\n');
    let mut block: Option<&str> = None;
    for line in lines(source) {
        let text = line.text.trim();
        if let Some(close) = block {
            if text.contains(close) {
                block = None;
            }
        } else if let Some((marker, close)) = opens_block(text) {
            push(&mut bare, marker);
            block = text.split_once(marker).is_none_or(|(_, rest)| !rest.contains(close)).then_some(close);
        } else if let Some(marker) = comment_marker(text) {
            push(&mut bare, marker);
        } else if let Some(directive) = text.strip_prefix("# ") {
            // `#  define`: the comment it looks like was ruled out above.
            bare.push('#');
            push(&mut bare, without_trailing_comment(directive.trim_start()));
        } else {
            push(&mut bare, without_trailing_comment(text));
        }
    }
    bare
}

/// Whether a line of a [`skeleton`] is the marker of a comment.
pub(super) fn is_marker(line: &str) -> bool {
    matches!(line, "//" | "///" | "///<" | "//!" | "#" | "--" | "/*" | "\"\"\"" | "'''")
}

fn push(bare: &mut String, line: &str) {
    if !line.is_empty() {
        bare.push_str(line);
        bare.push('\n');
    }
}

/// The marker of a block comment or docstring that a line opens, and how it closes.
fn opens_block(text: &str) -> Option<(&'static str, &'static str)> {
    let bare = text.strip_prefix(['r', 'u', 'R']).unwrap_or(text);
    [("/*", "*/"), ("\"\"\"", "\"\"\""), ("'''", "'''")].into_iter().find(|(open, _)| bare.starts_with(open))
}

fn comment_marker(text: &str) -> Option<&'static str> {
    if text.starts_with("///") {
        return Some(if text.starts_with("/// <") || text.starts_with("///<") { "///<" } else { "///" });
    }
    if text.starts_with("//!") {
        return Some("//!");
    }
    if text.starts_with("//") {
        return Some("//");
    }
    if let Some(rest) = text.strip_prefix('#') {
        let directive = ["define", "if", "ifdef", "ifndef", "endif", "include", "else", "undef", "pragma"];
        let word = rest.trim_start().split(|c: char| !c.is_ascii_lowercase()).next().unwrap_or_default();
        let is_comment = rest.is_empty() || rest.starts_with([' ', '#', '!']) && !directive.contains(&word);
        return is_comment.then_some("#");
    }
    (text == "--" || text.starts_with("-- ") || text.starts_with("---")).then_some("--")
}

fn without_trailing_comment(text: &str) -> &str {
    // Only the head of a long line: what lies behind is data or minified.
    let text = head(text, 2000);
    if memchr::memchr3(b'/', b'#', b'-', text.as_bytes()).is_none() {
        return text.trim_end();
    }
    let cut =
        text.find(" // ").or_else(|| text.find(" # ")).or_else(|| text.find(" /* ")).or_else(|| text.find(" -- "));
    text[..cut.unwrap_or(text.len())].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(text: &str) -> Option<Language> {
        language_of(&skeleton(text))
    }

    #[test]
    fn the_first_line_can_declare_the_language() {
        assert_eq!(declared("#!/usr/bin/env -S python3 -u\nx"), Some(Language::Python));
        assert_eq!(declared("#!/bin/sh\n"), Some(Language::Shell));
        assert_eq!(declared("\n<?php\necho 1;"), Some(Language::Php));
        assert_eq!(declared("#!/usr/bin/make -f"), None);
        assert_eq!(declared(""), None);
    }

    #[test]
    fn one_clue_is_not_enough() {
        assert_eq!(language("import things"), None);
        assert_eq!(language("return"), None);
    }

    #[test]
    fn comments_in_another_language_do_not_count() {
        let rust =
            "/// import os\n/// def f(self):\n///     return None\npub fn f(&self) -> Option<u32> {\n    None\n}\n";
        assert_eq!(language(rust), Some(Language::Rust));
    }

    #[test]
    fn a_dialect_needs_clues_of_its_own() {
        let plain = "const fs = require('fs');\nmodule.exports = function (a) {\n  return a === undefined;\n};\n";
        assert_eq!(language(plain), Some(Language::JavaScript));
        let typed = "import { a } from './a';\nexport function f(x: string, y: number): boolean {\n  return x === undefined;\n}\n";
        assert_eq!(language(typed), Some(Language::TypeScript));
        let c = "#include <stdio.h>\nint main(void) {\n  char *p = NULL;\n  printf(\"%s\", p);\n  return 0;\n}\n";
        assert_eq!(language(c), Some(Language::C));
    }
}
