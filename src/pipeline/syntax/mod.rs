//! Parses code into comments and syntax trees for the stages that rewrite code, and describes each language.
//!
//! Parsing is bounded in bytes and in steps, because a parser may need seconds for text in another language. A tree
//! with a large share of errors is discarded: the code is in another language, or macros hide its syntax. Its comments
//! are then found by scanning ([`scan`]), in the few languages where that is possible.

mod grammar;
mod languages;
mod reading;
mod scan;
mod source;
mod survey;
mod tree;

use std::ops::Range;

use crate::content::Language;

pub(super) use languages::Syntax;
pub(super) use reading::{Comment, Reading};
pub(super) use source::{Source, pieces};
pub(super) use survey::Survey;
pub(super) use tree::{Parsed, descend};

/// Returns the comments of code, once for each grammar of the language that yields a tree. Only fuzzing uses this.
#[doc(hidden)]
pub fn comments(code: &str, language: Language) -> Vec<Vec<Range<usize>>> {
    let trees = Syntax::of(language).grammars.iter().filter_map(|grammar| Parsed::with_grammar(code, grammar));
    trees.map(|tree| Survey::of(&tree).comments(code)).collect()
}
