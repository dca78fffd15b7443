//! Prose and rule files in fewer tokens: what may not be altered, and how to say the rest.
//!
//! Deterministic and offline. Every technical token survives [`compress_prose`] and [`expand`] byte for byte; only
//! listed fillers, hedges, pleasantries, articles and wordy phrases are lost. What one would get wrong: saving
//! characters is not saving tokens. None of the published abbreviations saves one, so they are used for character
//! budgets only.
//!
//! ```text
//! lexicon    the word lists as data, and what each entry saves
//! segment    text -> blocks of lines, protected spans and words
//! change     the changes that a text is to have
//! shorten    prose -> the changes that make it shorter
//! compress   prose -> shorter prose, and the receipt
//! expand     short forms -> the long ones they stand for
//! redact     <private>…</private> -> nothing
//! approx     the counter of the published receipts
//! rules      rule files -> one shorter text
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod approx;
mod change;
mod compress;
mod expand;
mod lexicon;
mod redact;
pub mod rules;
mod segment;
mod shorten;

pub use approx::approx_tokens;
pub use change::Change;
pub use compress::{Objective, Receipt, compress_prose, shortened};
pub use expand::{Substitution, expand, expand_listed};
pub use lexicon::is_emphatic;
pub use lexicon::{Category, Intensity, Profile, worth_table};
pub(crate) use lexicon::{Class, ShortForms, key, lexicon};
pub use redact::redact_private;
pub(crate) use segment::{Atom, atoms, inline_atoms};
pub use segment::{Kind, Token, blocks, tokenize, tokenize_inline};
pub use shorten::{Selection, Shortened, shorten};
