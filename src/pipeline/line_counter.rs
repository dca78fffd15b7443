//! Bytes of a text -> the numbers of the lines that they are in, onwards only.

/// Counts lines from place to place.
pub(super) struct LineCounter<'t> {
    text: &'t str,
    at: usize,
    line: usize,
}

impl<'t> LineCounter<'t> {
    /// Counts in a text whose first line has this number.
    pub(super) fn new(text: &'t str, first: usize) -> Self {
        Self { text, at: 0, line: first }
    }

    /// The line of a byte, or of the one that was asked for last, where that stands after it.
    pub(super) fn line(&mut self, at: usize) -> usize {
        let at = at.min(self.text.len()).max(self.at);
        self.line += memchr::memchr_iter(b'\n', &self.text.as_bytes()[self.at..at]).count();
        self.at = at;
        self.line
    }
}
