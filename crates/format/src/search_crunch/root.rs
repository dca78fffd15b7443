//! The directory that some paths begin with and others lack: some tools print hits relative and context lines absolute.

/// The directory, and the kinds of lines that have it by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Root<'a> {
    /// The directory with its final separator; empty if there is none.
    pub directory: &'a str,
    /// True if hits have it, unless marked.
    pub hits: bool,
    /// True if context lines have it, unless marked.
    pub context: bool,
}

impl<'a> Root<'a> {
    /// Returns the path without the directory, and true if that is not the default of such a line.
    pub fn strip(&self, path: &'a str, is_context: bool) -> (&'a str, bool) {
        let rest = path.strip_prefix(self.directory).filter(|rest| !rest.is_empty() && !self.directory.is_empty());
        (rest.unwrap_or(path), rest.is_some() != self.expected(is_context))
    }

    /// Returns true if such a line has the directory by default.
    pub fn expected(&self, is_context: bool) -> bool {
        if is_context { self.context } else { self.hits }
    }
}
