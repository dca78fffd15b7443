//! Shortens prose and rule files, and leaves everything technical unchanged.
//!
//! The result depends on the input only. Every technical token survives [`compress_prose`] and [`expand`] byte for
//! byte; only listed fillers, hedges, pleasantries, articles and wordy phrases are lost. Saving characters is not
//! saving tokens: none of the published abbreviations saves a token, so they are used for character budgets only.
//!
//! ```text
//! lexicon    the word lists as data
//! segment    text -> protected spans and words
//! draft      a text with the changes that are made to it; used for prose and for rules
//! shorten    prose -> shorter prose
//! compress   prose -> shorter prose, and the receipt
//! dictionary long words -> short forms, and back
//! redact     <private>…</private> -> nothing
//! approx     the counter of the published receipts
//! rules      rule files -> one shorter text
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

macro_rules! named {
    ($(#[$meta:meta])* $vis:vis $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name { $($(#[$doc])* $variant),+ }

        impl $name {
            /// All values, in order.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Returns the name as JavaScript sees it.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// Parses the name.
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

mod approx;
mod compress;
mod dictionary;
mod draft;
mod lexicon;
mod redact;
pub mod rules;
mod segment;
mod shorten;

pub use approx::approx_tokens;
pub use compress::{Objective, Receipt, compress_prose, shortened};
pub use dictionary::{Substitution, expand, expand_listed};
pub use draft::{Change, Proposal};
pub use lexicon::is_emphatic;
pub use lexicon::{Category, Intensity, Profile, Selection};
pub(crate) use lexicon::{Class, lexicon};
pub use redact::redact_private;
pub(crate) use segment::{Atom, atoms, blocks, inline_atoms};
pub use segment::{Kind, Token, tokenize, tokenize_inline};
pub use shorten::{shorten, shortened_lines};

use concertina_base::tokens::{self, Encoding};

/// Returns the o200k tokens of a text.
pub(crate) fn count(text: &str) -> usize {
    tokens::count(text, Encoding::O200kBase)
}
