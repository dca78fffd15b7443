//! `     1→a`, `     2→b`, … -> the same lines without the numbers that follow from the line above, for the stages that meet listings.
//!
//! Lossless, and gentle: each line still stands there byte for byte, so that an edit can be made from it.

use std::ops::Range;

use super::fold::{self, Fold};
use super::restore::restore;
use super::stages::LISTINGS;
use super::{Edit, FusionContext};
use crate::config::Encoding;
use crate::content::numbered::{LEGEND, listings, with_expected_numbers, without_expected_numbers};
use crate::tokens;

fn fold(stage: &str, listing: &str) -> Option<Fold> {
    let bare = without_expected_numbers(listing).filter(|bare| bare.len() < listing.len())?;
    Some(Fold::new(stage, LEGEND, Some(bare)))
}

/// What a fold of a listing stands for; `None` for any other fold.
pub(super) fn unfold(fold: &Fold) -> Option<String> {
    with_expected_numbers(fold.body.as_ref().filter(|_| fold.legend == LEGEND)?)
}

/// Whether a fold is the one of this listing.
pub(super) fn is_canonical(fold: &Fold, listing: &str) -> bool {
    self::fold(&fold.stage, listing).as_ref() == Some(fold)
}

/// The folds of the listings in a part of a text, as edits of a stage.
pub(super) fn edits(context: &FusionContext, stage: &str, part: Range<usize>) -> Vec<Edit> {
    let text = &context.text[part.clone()];
    let edit = |listing: Range<usize>| {
        let fold = fold(stage, &text[listing.clone()])?;
        Some(Edit::fold(part.start + listing.start..part.start + listing.end, &fold))
    };
    listings(text).into_iter().filter_map(edit).collect()
}

/// A text that has to stay as it is line by line, without numbers that count on, where that saves tokens.
pub fn unnumbered(text: &str, encoding: Encoding) -> Option<String> {
    // What folds a text has of its own nobody must undo.
    if text.contains(fold::OPENING) {
        return None;
    }
    let mut short = text.to_owned();
    let edits = edits(&FusionContext::of(text, &[]), LISTINGS.name(), 0..text.len());
    for edit in edits.into_iter().rev() {
        short.replace_range(edit.range, &edit.text);
    }
    (tokens::count(&short, encoding) < tokens::count(text, encoding) && restore(&short, &[]) == text).then_some(short)
}
