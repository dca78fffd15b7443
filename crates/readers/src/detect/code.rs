//! Detects source code and its language, one of sixteen.
//!
//! Lexical evidence is weak: a language needs several different clues, and more of them than any other language.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use indexmap::IndexMap;

use super::lexicon::{CAPITAL_CALL, DIALECTS, INTERPRETERS, TYPED_PARAMETER, clues as clue_rows};
use super::page::{PageLine, Question};
use crate::Language;
use crate::lines::{head, lines};
use crate::word_set::is_word_byte;

/// The minimum weight that identifies a language.
const MIN_SCORE: u32 = 9;
/// The minimum number of different strong clues.
const MIN_STRONG: u32 = 2;
/// The minimum weight of a strong clue, which does not occur in English.
const STRONG: u32 = 3;

/// Returns the language that a `#!` line names or that `<?php` opens.
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

/// Returns the language whose clues prevail in a [`skeleton`]: there are several of them, and they lead clearly.
pub(super) fn language_of(skeleton: &[&PageLine]) -> Option<Language> {
    let scores = Lexicon::get().score(skeleton);
    let mut ranked: Vec<(Language, Score)> =
        Language::ALL.iter().map(|&language| (language, scores[language as usize])).collect();
    for dialect in DIALECTS {
        let own = scores[dialect.language as usize];
        let base = scores[dialect.base as usize];
        // A large program has more chances to look like another language.
        let wins = own.weight >= dialect.needs + base.weight / 12 && own.strong >= 1;
        for (language, score) in &mut ranked {
            if *language == dialect.language {
                *score = own.and(base);
            }
            if *language == if wins { dialect.base } else { dialect.language } {
                *score = Score::default();
            }
        }
    }
    // The sort is stable: equally likely languages stay in documentation order.
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
    /// The number of different strong clues.
    strong: u32,
}

impl Score {
    fn add(&mut self, weight: u32, count: u32) {
        // 1, 2, 4, 8, ... occurrences count once, twice, three times, ...: variety weighs more than repetition.
        self.weight += weight * count.checked_ilog2().map_or(0, |log| log + 1);
        self.strong += u32::from(weight >= STRONG && count > 0);
    }

    fn and(self, other: Self) -> Self {
        Self { weight: self.weight + other.weight, strong: self.strong + other.strong }
    }
}

/// Returns the clues in a line of a [`skeleton`], one entry per occurrence.
pub(super) fn clues(bone: &str) -> Box<[u16]> {
    let lexicon = Lexicon::get();
    let text = ["\n", bone, "\n"].concat();
    let bytes = text.as_bytes();
    let word = |at: Option<&u8>| at.is_some_and(|&byte| is_word_byte(byte));
    let found = lexicon.automaton.find_overlapping_iter(bytes).filter(|found| {
        let (start, end) = (found.start(), found.end());
        let joined_before = start > 0 && word(bytes.get(start)) && word(bytes.get(start - 1));
        let joined_after = word(bytes.get(end - 1)) && word(bytes.get(end));
        !joined_before && !joined_after
    });
    let typed = std::iter::repeat_n(lexicon.typed_parameter, typed_parameters(bone));
    let calls = std::iter::repeat_n(lexicon.capital_call, capital_calls(bone));
    found.map(|found| found.pattern().as_u32() as u16).chain(typed).chain(calls).collect()
}

/// The lexicon as one automaton.
struct Lexicon {
    automaton: AhoCorasick,
    /// The languages and weights of each clue. The patterns of the automaton come first.
    votes: Vec<Vec<(Language, u32)>>,
    typed_parameter: u16,
    capital_call: u16,
}

impl Lexicon {
    fn get() -> &'static Self {
        static LEXICON_AUTOMATON: LazyLock<Lexicon> = LazyLock::new(Lexicon::build);
        &LEXICON_AUTOMATON
    }

    fn build() -> Self {
        let mut clues: IndexMap<String, Vec<(Language, u32)>> = IndexMap::new();
        let mut vote = |text: String, language: Language, weight: u32| {
            clues.entry(text).or_default().push((language, weight));
        };
        for (language, text, weight) in clue_rows() {
            let upper = text.to_ascii_uppercase();
            if language == Language::Sql && upper != text {
                vote(upper, language, weight + 1);
            }
            vote(text, language, weight);
        }
        // A DFA is no faster here and takes several times as long to build, which would delay the start of a process.
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(clues.keys())
            .expect("a fixed list of short clues");
        let typed_parameter = u16::try_from(clues.len()).expect("a thousand clues");
        let votes = clues.into_values().chain([TYPED_PARAMETER.to_vec(), CAPITAL_CALL.to_vec()]).collect();
        Self { automaton, votes, typed_parameter, capital_call: typed_parameter + 1 }
    }

    fn score(&self, skeleton: &[&PageLine]) -> [Score; Language::ALL.len()] {
        let mut counts = vec![0u32; self.votes.len()];
        skeleton.iter().flat_map(|line| line.clues()).for_each(|&clue| counts[usize::from(clue)] += 1);
        let mut scores = [Score::default(); Language::ALL.len()];
        for (votes, count) in self.votes.iter().zip(counts).filter(|(_, count)| *count > 0) {
            votes.iter().for_each(|&(language, weight)| scores[language as usize].add(weight, count));
        }
        scores
    }
}

/// Returns the number of brackets that are followed by a name, a colon and a blank: `(name: `.
fn typed_parameters(bone: &str) -> usize {
    let is_typed = |at: usize| {
        let rest = &bone.as_bytes()[at + 1..];
        let name = rest.iter().take_while(|&&byte| is_word_byte(byte)).count();
        let colon = name + usize::from(rest.get(name) == Some(&b'?'));
        name > 0 && rest[colon..].starts_with(b": ")
    };
    memchr::memchr_iter(b'(', bone.as_bytes()).filter(|&at| is_typed(at)).count()
}

/// Returns the number of calls of a capitalised member: `.Name(`.
fn capital_calls(bone: &str) -> usize {
    let is_call = |at: usize| {
        let rest = &bone.as_bytes()[at + 1..];
        let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        rest.first().is_some_and(u8::is_ascii_uppercase) && rest.get(name) == Some(&b'(')
    };
    memchr::memchr_iter(b'.', bone.as_bytes()).filter(|&at| is_call(at)).count()
}

/// Returns the lines of source that the lexicon describes: all but the inside of comments, each as its [`bone`].
pub(super) fn skeleton<'p, 't: 'p>(lines: impl IntoIterator<Item = &'p PageLine<'t>>) -> Vec<&'p PageLine<'t>> {
    let mut kept = Vec::new();
    let mut block: Option<&str> = None;
    for line in lines {
        if let Some(close) = block {
            if line.text.contains(close) {
                block = None;
            }
        } else if !line.is(Question::Blank) {
            kept.push(line);
            block = if line.is(Question::OpensBlock) { open_block(line.bare) } else { None };
        }
    }
    kept
}

/// Returns the closing mark of the block comment that a line opens and does not close.
fn open_block(text: &str) -> Option<&'static str> {
    let (marker, close) = opens_block(text)?;
    text.split_once(marker).is_none_or(|(_, rest)| !rest.contains(close)).then_some(close)
}

/// Returns a line without surrounding blanks, with its comment removed or reduced to the marker. The line must not be
/// inside a comment.
pub(super) fn bone(text: &str) -> Cow<'_, str> {
    if let Some(marker) = opens_block(text).map(|(marker, _)| marker).or_else(|| comment_marker(text)) {
        Cow::Borrowed(marker)
    } else if let Some(directive) = text.strip_prefix("# ") {
        // `#  define` looks like a comment, but comments were ruled out above.
        Cow::Owned(["#", without_trailing_comment(directive.trim_start())].concat())
    } else {
        Cow::Borrowed(without_trailing_comment(text))
    }
}

/// Returns true if a line of a [`skeleton`] is the marker of a comment.
pub(super) fn is_marker(line: &str) -> bool {
    matches!(line, "//" | "///" | "///<" | "//!" | "#" | "--" | "/*" | "\"\"\"" | "'''")
}

/// Returns the marker of a block comment or docstring that a line opens, and its closing mark.
pub(super) fn opens_block(text: &str) -> Option<(&'static str, &'static str)> {
    let bare = text.strip_prefix(['r', 'u', 'R']).unwrap_or(text);
    [("/*", "*/"), ("\"\"\"", "\"\"\""), ("'''", "'''")].into_iter().find(|(open, _)| bare.starts_with(open))
}

fn comment_marker(text: &str) -> Option<&'static str> {
    if text.starts_with("///") {
        return Some(if text.starts_with("/// <") || text.starts_with("///<") { "///<" } else { "///" });
    }
    if let Some(marker) = ["//!", "//"].into_iter().find(|marker| text.starts_with(marker)) {
        return Some(marker);
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
    // Only the start of a long line is read: the rest is data or minified code.
    let text = head(text, 2000);
    if memchr::memchr3(b'/', b'#', b'-', text.as_bytes()).is_none() {
        return text.trim_end();
    }
    // A later marker of this list counts only if the earlier ones do not occur.
    let mut cut = None;
    for at in memchr::memchr3_iter(b'/', b'#', b'-', text.as_bytes()).filter(|&at| at > 0) {
        let marks = [" // ", " # ", " /* ", " -- "];
        if let Some(mark) = marks.iter().position(|mark| text.as_bytes()[at - 1..].starts_with(mark.as_bytes()))
            && cut.is_none_or(|(least, _)| mark < least)
        {
            cut = Some((mark, at - 1));
        }
    }
    text[..cut.map_or(text.len(), |(_, at)| at)].trim_end()
}
