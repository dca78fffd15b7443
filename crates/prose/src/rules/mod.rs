//! Rule files (AGENTS.md, SOUL.md, rules/*.md) -> one shorter text, to be repeated in a long session.
//!
//! Everything that a rule forbids, demands or names stays byte for byte: the protected spans are found in the original
//! text, and no transform may change them. The budget counts characters and the bill counts tokens, and most transforms
//! save one at the cost of the other. So each change is measured, and the result never has more tokens than the files.

mod files;
mod markdown;
mod preprocess;
mod protected;
mod table;
mod words;

pub use crate::Objective;
pub use crate::dictionary::Dictionary;
pub use files::{CompressedRules, FileRow, RuleFile, compress_rules};
pub use markdown::emphasized;
pub use preprocess::{RulesLevel, RulesOptions, Transform, apply_alone, preprocess};
pub use protected::{Span, protected_spans};
