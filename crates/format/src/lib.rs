//! The format of folds: restores the text that a fold stands for from the fold alone.
//!
//! This crate depends on no encoder: the header of a fold names its stage, the stage's name selects the decoder, and
//! the seal verifies the restored text. Legend words, rules and escapes that an encoder and its decoder share are
//! defined here. `docs/format.md` specifies the format for decoders in other languages.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod diff_crunch;
pub mod fold;
pub mod ionizer;
pub mod letters;
pub mod lines;
pub mod listing;
pub mod naive;
pub mod photon;
pub mod phrases;
pub mod prefixes;
pub mod quantum_lock;
pub mod restore;
pub mod search_crunch;
pub mod semantic_dedup;
pub mod steps;

use fold::Fold;
pub use restore::{Prior, restore, restore_whole};

/// Returns the text that a fold stands for without checking the seal; `None` if the fold cannot be read. A fold may
/// refer to the restored text before it, the second argument.
pub type Decoder = fn(&Fold, &mut Prior) -> Option<String>;

/// The decoders by the names of their stages.
pub const DECODERS: [(&str, Decoder); 10] = [
    ("quantumLock", |fold, _| quantum_lock::unfold(fold)),
    ("photon", |fold, _| photon::unfold(fold)),
    ("rle", |fold, _| lines::unfold(fold)),
    ("semanticDedup", semantic_dedup::unfold),
    ("ionizer", |fold, _| ionizer::unfold(fold)),
    ("logCrunch", |fold, _| lines::unfold(fold)),
    ("searchCrunch", |fold, _| search_crunch::unfold(fold)),
    ("diffCrunch", |fold, _| diff_crunch::unfold(fold)),
    ("structuralCollapse", |fold, _| {
        prefixes::unfold(fold).or_else(|| phrases::unfold(fold)).or_else(|| lines::unfold(fold))
    }),
    ("neurosyntax", |fold, _| prefixes::unfold(fold)),
];

/// Returns the decoder of a stage's folds.
pub fn decoder(stage: &str) -> Option<Decoder> {
    DECODERS.iter().find(|(name, _)| *name == stage).map(|(_, decoder)| *decoder)
}

/// Returns the text that a fold stands for without checking the seal; see [`Decoder`].
pub fn unfold_after(fold: &Fold, before: &mut Prior) -> Option<String> {
    decoder(&fold.stage)?(fold, before)
}

/// Does the same as [`unfold_after`] for a fold with no text before it.
pub fn unfold(fold: &Fold) -> Option<String> {
    unfold_after(fold, &mut Prior::default())
}
