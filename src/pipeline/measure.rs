//! Measures how many tokens an edit saves.
//!
//! A token may span the border between a changed piece and its neighbours, so the piece is counted together with a few
//! characters on both sides. [`tokens::count`] caches its counts; this module does not.

use super::{Edit, FusionContext};
use crate::config::Encoding;
use crate::tokens;

/// The tokens that a marker line is assumed to cost. Reversible edits that save no more than this do not pay. It is a
/// constant because the price of the digits in a marker varies and must not affect the decision.
pub(super) const MARKER_TOKENS: isize = 32;

/// The number of bytes on each side that are counted with a changed piece.
const NEIGHBOUR_BYTES: usize = 16;

/// Returns the number of tokens that an edit saves; negative if it costs tokens.
pub(super) fn saving(text: &str, edit: &Edit, encoding: Encoding) -> isize {
    // Tokens end at line ends. The lines of a fold can therefore be counted alone, and that count is cached.
    let is_end = |at: usize| text.as_bytes().get(at).is_none_or(|byte| *byte == b'\n');
    if edit.lossless && (edit.range.start == 0 || is_end(edit.range.start - 1)) && is_end(edit.range.end) {
        return tokens::count(&text[edit.range.clone()], encoding) as isize
            - tokens::count(&edit.text, encoding) as isize;
    }
    let start = text.floor_char_boundary(edit.range.start.saturating_sub(NEIGHBOUR_BYTES));
    let end = text.ceil_char_boundary(edit.range.end + NEIGHBOUR_BYTES);
    let after = [&text[start..edit.range.start], &edit.text, &text[edit.range.end..end]].concat();
    tokens::count(&text[start..end], encoding) as isize - tokens::count(&after, encoding) as isize
}

/// Returns true if an edit leaves at most `most` percent of the tokens and saves at least `least` tokens.
pub(super) fn is_worth(context: &FusionContext, edit: &Edit, (most, least): (usize, usize)) -> bool {
    let count = |text: &str| tokens::count(text, context.encoding);
    let (before, after) = (count(&context.text[edit.range.clone()]), count(&edit.text));
    after * 100 <= before * most && before >= after + least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shorter_text_saves_and_a_longer_one_costs() {
        let text = "one two three four five six seven eight nine ten ".repeat(20);
        let shorter = Edit::reversible(50..text.len() - 50, "…");
        assert!(saving(&text, &shorter, Encoding::O200kBase) > 100);
        let longer = Edit::reversible(0..3, "one hundred and eleven thousand times");
        assert!(saving(&text, &longer, Encoding::O200kBase) < 0);
    }
}
