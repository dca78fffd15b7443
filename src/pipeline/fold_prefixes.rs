//! `     1→a`, `     2→b`, … -> the same lines without the numbers that follow from the line above.
//!
//! The folds are lossless. The lines stay in the text byte for byte, so that they can be quoted in an edit.

use std::ops::Range;

use super::Edit;
use super::fold::{self, Fold};
use super::restore::restore;
use crate::config::Encoding;
use crate::content::numbered::{LEGEND, listings, without_expected_numbers};
use crate::tokens;

/// The stage that folds numbered listings.
const LISTING_STAGE: &str = "structuralCollapse";

fn fold(stage: &str, listing: &str) -> Option<Fold> {
    let inner = without_expected_numbers(listing).filter(|inner| inner.len() < listing.len())?;
    Some(Fold::new(stage, LEGEND, Some(inner)))
}

/// Returns the folds of the listings in a part of a text, as edits of a stage.
pub(super) fn edits(text: &str, stage: &str, part: Range<usize>) -> Vec<Edit> {
    let text = &text[part.clone()];
    let edit = |listing: Range<usize>| {
        let fold = fold(stage, &text[listing.clone()])?;
        Some(Edit::fold(part.start + listing.start..part.start + listing.end, &fold))
    };
    listings(text).into_iter().filter_map(edit).collect()
}

/// Returns the text without consecutive line numbers if that saves tokens. The lines themselves are unchanged.
pub fn unnumbered(text: &str, encoding: Encoding) -> Option<String> {
    // Folds that the text contains itself must not be undone.
    if text.contains(fold::OPENING) {
        return None;
    }
    let mut short = text.to_owned();
    for mut edit in edits(text, LISTING_STAGE, 0..text.len()).into_iter().rev() {
        edit.seal(&text[edit.range.clone()]);
        short.replace_range(edit.range, &edit.text);
    }
    (tokens::count(&short, encoding) < tokens::count(text, encoding) && restore(&short, &[]) == text).then_some(short)
}
