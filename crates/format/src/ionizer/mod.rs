//! Columns, rows and rules -> the JSON text or the table that they stand for.

pub mod cells;
pub mod escapes;
pub mod json;
pub mod layout;
pub mod matrix;
pub mod notation;
pub mod path;
mod read;
pub mod table;
pub mod tree;

use crate::fold::Fold;

/// Returns the text that a fold stands for.
pub fn unfold(fold: &Fold) -> Option<String> {
    unfold_as(fold, false)
}

/// Does the same as [`unfold`], or as the naive reader does.
pub(crate) fn unfold_as(fold: &Fold, is_naive: bool) -> Option<String> {
    let body = fold.body.as_deref()?;
    json::unfold(&fold.legend, body, is_naive).or_else(|| table::unfold(&fold.legend, body, is_naive))
}
