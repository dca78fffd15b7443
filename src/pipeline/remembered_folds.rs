//! A cache of the folds that stages computed in earlier passes. Most of a text does not change between passes.

use std::cell::RefCell;
use std::ops::Range;

use concertina_base::hashing::FastMap;
use xxhash_rust::xxh3::xxh3_128;

use super::fold::Fold;

/// Byte ranges of a text with their folds. A range excludes its last line end.
pub(super) type Folds = Vec<(Range<usize>, Fold)>;

/// Folds by stage, text and minimum saving. All belong to one encoding.
#[derive(Debug, Default)]
pub struct RememberedFolds(RefCell<FastMap<(&'static str, u128, usize), Folds>>);

impl RememberedFolds {
    /// Returns the folds of a text. They are computed once for each stage, text and minimum saving.
    pub(super) fn get(&self, stage: &'static str, text: &str, least: usize, compute: impl FnOnce() -> Folds) -> Folds {
        let key = (stage, xxh3_128(text.as_bytes()), least);
        let known = self.0.borrow().get(&key).cloned();
        known.unwrap_or_else(|| {
            let folds = compute();
            self.0.borrow_mut().insert(key, folds.clone());
            folds
        })
    }
}
