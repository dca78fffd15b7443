//! Byte offsets of a text, in ascending order -> line numbers.

/// Counts lines from one offset to the next.
pub(super) struct LineCounter<'t> {
    text: &'t str,
    at: usize,
    line: usize,
}

impl<'t> LineCounter<'t> {
    /// Creates a counter for a text whose first line has the number `first`.
    pub(super) fn new(text: &'t str, first: usize) -> Self {
        Self { text, at: 0, line: first }
    }

    /// Returns the line number of an offset. For an offset before the last requested one, returns the line of the last
    /// one.
    pub(super) fn line(&mut self, at: usize) -> usize {
        let at = at.min(self.text.len()).max(self.at);
        self.line += memchr::memchr_iter(b'\n', &self.text.as_bytes()[self.at..at]).count();
        self.at = at;
        self.line
    }
}
