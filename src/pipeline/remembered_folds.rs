//! The folds that stages asked for in earlier passes: from pass to pass most of a text stays as it is.

use std::cell::RefCell;
use std::ops::Range;

use concertina_base::hashing::FastMap;
use xxhash_rust::xxh3::xxh3_128;

use super::fold::Fold;

/// Byte ranges of a text, without their last line end, each with its fold.
pub(super) type Folds = Vec<(Range<usize>, Fold)>;

/// Folds by stage, text and least saving, in one encoding.
#[derive(Debug, Default)]
pub struct RememberedFolds(RefCell<FastMap<(&'static str, u128, usize), Folds>>);

impl RememberedFolds {
    /// The folds of a text, which are computed once for each stage and least saving.
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
