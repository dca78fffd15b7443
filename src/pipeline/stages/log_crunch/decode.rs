//! fold -> log.

use std::ops::Range;

use super::book::{Book, Reading};
use super::{legend, log};
use crate::pipeline::fold::Fold;

/// The lines that a fold stands for; `None` when it is not written as a folded log.
pub(super) fn unfold(fold: &Fold) -> Option<String> {
    let facts = legend::read(&fold.legend)?;
    let text = fold.body.as_deref()?;
    let body = log::lines(text);
    let book = Book::new(facts.layout, facts.clock, facts.marks);
    let log = String::with_capacity(3 * text.len());
    let mut reader = Reader { body: &body, end: if facts.is_crlf { "\r\n" } else { "\n" }, book, log };
    reader.read(0..body.len())?;
    reader.log.pop();
    Some(reader.log)
}

struct Reader<'a> {
    body: &'a [&'a str],
    end: &'a str,
    book: Book,
    log: String,
}

impl Reader<'_> {
    /// Reads some lines of the body. Each repetition at least doubles what it repeats, so the limit of the log's length also
    /// limits how deep this goes.
    fn read(&mut self, lines: Range<usize>) -> Option<()> {
        for at in lines.clone() {
            match self.book.read(self.body[at], &mut self.log)? {
                Reading::Line => {
                    self.log.push_str(self.end);
                    (self.log.len() <= super::MAX_BYTES + 1).then_some(())?;
                }
                Reading::Again(repeated, times) => {
                    let first = at.checked_sub(repeated).filter(|&first| first >= lines.start)?;
                    // Each line takes a byte at least, so a claim too large is known before it is followed.
                    (repeated.saturating_mul(times) <= super::MAX_BYTES).then_some(())?;
                    (0..times).try_for_each(|_| self.read(first..at))?;
                }
            }
        }
        Some(())
    }
}
