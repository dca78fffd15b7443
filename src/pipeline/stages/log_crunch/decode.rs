//! fold -> log.

use super::book::{Book, Reading};
use super::legend;
use crate::pipeline::fold::Fold;

/// The lines that a fold stands for; `None` when it is not written as a folded log.
pub(super) fn unfold(fold: &Fold) -> Option<String> {
    let facts = legend::read(&fold.legend)?;
    let end = if facts.is_crlf { "\r" } else { "" };
    let body: Vec<&str> = fold.body.as_ref()?.split('\n').collect();
    let mut book = Book::new(facts.layout, facts.clock, facts.marks);
    let mut log = String::new();
    let mut read = |book: &mut Book, line: &str| -> Option<(usize, usize)> {
        match book.read(line)? {
            Reading::Line(line) => {
                log.push_str(&line);
                log.push_str(end);
                log.push('\n');
                (log.len() <= super::MAX_BYTES + 1).then_some((0, 0))
            }
            // Each line takes a byte at least, so a claim too large is known before it is followed.
            Reading::Again(lines, times) => (lines.saturating_mul(times) <= super::MAX_BYTES).then_some((lines, times)),
        }
    };
    let mut floor = 0;
    for (at, line) in body.iter().enumerate() {
        let (lines, times) = read(&mut book, line)?;
        if lines > 0 {
            let first = at.checked_sub(lines).filter(|&first| first >= floor)?;
            floor = at + 1;
            for line in (0..times).flat_map(|_| &body[first..at]) {
                (read(&mut book, line)? == (0, 0)).then_some(())?;
            }
        }
    }
    log.pop();
    Some(log)
}
