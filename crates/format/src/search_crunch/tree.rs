//! Paths in their order <-> indented lines, in which a directory that several share stands once.
//!
//! A line that ends with `/` is a directory; lines that are indented deeper continue it. One blank is one level.

/// Deeper trees go on flat.
pub const MAX_DEPTH: usize = 12;

/// Reads the lines back.
#[derive(Debug, Default)]
pub struct Directories {
    stack: Vec<String>,
}

/// What a line of a tree of paths is.
#[derive(Debug, PartialEq, Eq)]
pub enum Entry {
    /// A directory, which the deeper lines below it are in.
    Directory,
    /// A file, with its whole path.
    Path(String),
}

impl Directories {
    /// Reads the next line; `None` where it is not one of ours.
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
