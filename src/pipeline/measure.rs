//! Real tokens, each piece counted once.
//!
//! A token may span the border between a piece and its neighbours, so a changed piece is counted together with a few
//! characters of both.

use std::cell::RefCell;
use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_128;

use super::Edit;
use crate::config::Encoding;
use crate::tokens;

/// Bytes of each neighbour that are counted with a changed piece.
const NEIGHBOUR_BYTES: usize = 16;

/// Pieces shorter than this are counted again rather than remembered.
const REMEMBERED_BYTES: usize = 256;

/// Counts tokens and remembers what it counted.
pub(super) struct Counter {
    encoding: Encoding,
    counted: RefCell<HashMap<u128, usize>>,
}

impl Counter {
    pub(super) fn new(encoding: Encoding) -> Self {
        Self { encoding, counted: RefCell::default() }
    }

    pub(super) fn count(&self, text: &str) -> usize {
        if text.len() < REMEMBERED_BYTES {
            return tokens::count(text, self.encoding);
        }
        let key = xxh3_128(text.as_bytes());
        if let Some(&count) = self.counted.borrow().get(&key) {
            return count;
        }
        let count = tokens::count(text, self.encoding);
        self.counted.borrow_mut().insert(key, count);
        count
    }

    /// How many tokens an edit saves; negative when it costs some.
    pub(super) fn saving(&self, text: &str, edit: &Edit) -> isize {
        let start = text.floor_char_boundary(edit.range.start.saturating_sub(NEIGHBOUR_BYTES));
        let end = text.ceil_char_boundary((edit.range.end + NEIGHBOUR_BYTES).min(text.len()));
        let after = [&text[start..edit.range.start], &edit.text, &text[edit.range.end..end]].concat();
        self.count(&text[start..end]) as isize - self.count(&after) as isize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shorter_text_saves_and_a_longer_one_costs() {
        let counter = Counter::new(Encoding::O200kBase);
        let text = "one two three four five six seven eight nine ten ".repeat(20);
        let shorter = Edit::reversible(50..text.len() - 50, "…");
        assert!(counter.saving(&text, &shorter) > 100);
        let longer = Edit::reversible(0..3, "one hundred and eleven thousand times");
        assert!(counter.saving(&text, &longer) < 0);
        assert_eq!(counter.count(&text), tokens::count(&text, Encoding::O200kBase));
        assert_eq!(counter.count(&text), counter.count(&text));
    }
}
