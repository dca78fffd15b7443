//! `     1→a`, `     2→b`, … -> the same lines without the numbers that follow from the line above.
//! `web-1  | a`, `web-1  | b`, … -> the lines without their prefixes, which are stated once or in rows of their own.
//!
//! These folds are lossless. Unnumbered lines stay in the text byte for byte, so that they can be quoted in an edit.
//! Other prefixes can be combined with any fold of the lines alone; the legend then describes the prefixes before the
//! lines.

use std::ops::Range;

use super::fold::{self, Fold};
use super::prefixed_lines::PrefixedLines;
use super::restore::restore;
use super::{Edit, FusionContext};
use crate::config::Encoding;
use crate::content::numbered::{LEGEND, listings, without_expected_numbers};
use crate::tokens;

/// The stage that folds numbered listings.
const LISTING_STAGE: &str = "structuralCollapse";

fn fold(stage: &str, listing: &str) -> Option<Fold> {
    let inner = without_expected_numbers(listing).filter(|inner| inner.len() < listing.len())?;
    Some(Fold::new(stage, LEGEND, Some(inner)))
}

/// Returns the folds of the listings in a part of a text, as edits of a stage. If there are none, returns the fold that
/// only removes the prefixes of its lines.
pub(super) fn edits(context: &FusionContext, stage: &str, part: Range<usize>) -> Vec<Edit> {
    let listings = numbers(context.text, stage, part.clone());
    if !listings.is_empty() {
        return listings;
    }
    let lines = PrefixedLines::of(&context.text[part.clone()], part.start, 1).filter(|lines| !lines.are_numbered);
    let edit = lines.and_then(|lines| {
        let inner = lines.text.strip_suffix('\n').unwrap_or(&lines.text);
        let fold = Fold::new(stage, "", Some(inner.to_owned()));
        lines.to_edit(context, Edit::fold(0..inner.len(), &fold))
    });
    edit.into_iter().collect()
}

fn numbers(text: &str, stage: &str, part: Range<usize>) -> Vec<Edit> {
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
    for mut edit in numbers(text, LISTING_STAGE, 0..text.len()).into_iter().rev() {
        edit.seal(&text[edit.range.clone()]);
        short.replace_range(edit.range, &edit.text);
    }
    (tokens::count(&short, encoding) < tokens::count(text, encoding) && restore(&short, &[]) == text).then_some(short)
}
