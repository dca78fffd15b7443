//! Code -> its comments and its syntax tree, for the stages that rewrite code; and what they have to know about each language.
//!
//! Parsing is bounded in bytes and in steps, because a parser may need seconds for text in another language. A tree in which
//! much is an error says nothing: such code is not in this language, or its macros hide that it is. Then only comments are
//! known, for the few languages where they can be told from strings without a tree ([`scan`]).

mod grammar;
mod languages;
mod reading;
mod scan;
mod source;
mod survey;
mod tree;
mod windows;

pub(super) use languages::Syntax;
pub(super) use reading::{Comment, Reading};
pub(super) use source::{Source, pieces};
pub(super) use survey::Survey;
pub(super) use tree::{Parsed, descend};
pub(super) use windows::{Window, Windows};
