//! Paths in order <-> indented lines, in which a directory that several paths share is written once.
//!
//! A line that ends with `/` is a directory; deeper lines are inside it. One blank is one level.

/// The deepest nesting. Deeper paths are written flat.
pub const MAX_DEPTH: usize = 12;

/// Reads indented lines back to paths.
#[derive(Debug, Default)]
pub struct Directories {
    stack: Vec<String>,
}

/// The meaning of a line of a tree of paths.
#[derive(Debug, PartialEq, Eq)]
pub enum Entry {
    /// A directory that contains the deeper lines below it.
    Directory,
    /// A file, by its whole path.
    Path(String),
}

impl Directories {
    /// Reads the next line; `None` if it is not valid.
    pub fn read(&mut self, line: &str) -> Option<Entry> {
        let text = line.trim_start_matches(' ');
        let depth = line.len() - text.len();
        let text = text.strip_prefix('>').unwrap_or(text);
        if depth > self.stack.len() {
            return None;
        }
        self.stack.truncate(depth);
        let path = format!("{}{text}", self.stack.last().map_or("", String::as_str));
        if !text.ends_with('/') {
            return Some(Entry::Path(path));
        }
        if depth >= MAX_DEPTH {
            return None;
        }
        self.stack.push(path);
        Some(Entry::Directory)
    }
}
