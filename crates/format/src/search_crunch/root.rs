//! Which directory some paths have in front and others lack: some tools print hits relative and the lines around them
//! absolute.

/// The directory, and who has it by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Root<'a> {
    /// Ends with a separator; empty when there is none.
    pub directory: &'a str,
    /// Whether hits have it, unless marked.
    pub hits: bool,
    /// Whether lines of context have it, unless marked.
    pub context: bool,
}

impl<'a> Root<'a> {
    /// The path without the directory, and whether that is not as expected of such a line.
    pub fn strip(&self, path: &'a str, is_context: bool) -> (&'a str, bool) {
        let rest = path.strip_prefix(self.directory).filter(|rest| !rest.is_empty() && !self.directory.is_empty());
        (rest.unwrap_or(path), rest.is_some() != self.expected(is_context))
    }

    /// Whether such a line has the directory in front.
    pub fn expected(&self, is_context: bool) -> bool {
        if is_context { self.context } else { self.hits }
    }
}
