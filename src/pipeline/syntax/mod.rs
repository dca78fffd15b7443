//! Code -> its comments and its syntax tree, for the stages that rewrite code; and what they have to know about each
//! language.
//!
//! Parsing is bounded in bytes and in steps, because a parser may need seconds for text in another language. A tree in
//! which much is an error says nothing: such code is not in this language, or its macros hide that it is. Then only
//! comments are known, for the few languages where they can be told from strings without a tree ([`scan`]).

mod grammar;
mod languages;
mod reading;
mod scan;
mod source;
mod survey;
mod tree;
mod windows;

use std::ops::Range;

use crate::content::Language;

pub(super) use languages::Syntax;
pub(super) use reading::{Comment, Reading};
pub(super) use source::{Source, pieces};
pub(super) use survey::Survey;
pub(super) use tree::{Parsed, descend};
pub(super) use windows::{Window, Windows};

/// Where comments are, by each grammar of a language that gives a tree of the code. For fuzzing: nothing else asks them
/// all.
#[doc(hidden)]
pub fn comments(code: &str, language: Language) -> Vec<Vec<Range<usize>>> {
    let trees = Syntax::of(language).grammars.iter().filter_map(|grammar| Parsed::with_grammar(code, grammar));
    trees.map(|tree| Survey::of(&tree).comments(code)).collect()
}
