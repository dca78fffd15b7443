//! Prose: what in a text may not be altered, and how to say the rest in fewer tokens.
//!
//! Deterministic and offline. Every technical token survives [`compress_prose`] and [`expand`] byte for byte; only listed fillers,
//! hedges, pleasantries, articles and wordy phrases are lost. What one would get wrong: saving characters is not saving tokens.
//! None of the published abbreviations saves one, so they are used for character budgets only.

mod approx;
mod compress;
mod expand;
mod lexicon;
mod redact;
mod segment;
mod shorten;

pub use approx::approx_tokens;
pub use compress::{Objective, Receipt, compress_prose, shortened};
pub use expand::{Substitution, expand, expand_listed};
pub use lexicon::is_emphatic;
pub use lexicon::{Category, Intensity, Profile, worth_table};
pub(crate) use lexicon::{Class, ShortForms, key, lexicon};
pub use redact::redact_private;
pub(crate) use segment::{Atom, atoms, inline_atoms};
pub use segment::{Kind, Token, blocks, tokenize, tokenize_inline};
pub use shorten::{Change, Selection, Shortened, shorten};
