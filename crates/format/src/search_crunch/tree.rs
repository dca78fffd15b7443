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

impl Directories {
    /// The path that a line stands for, or `None` for a directory; `Err` where the line is not one of ours.
    pub fn read(&mut self, line: &str) -> Result<Option<String>, ()> {
        let text = line.trim_start_matches(' ');
        let depth = line.len() - text.len();
        let text = text.strip_prefix('>').unwrap_or(text);
        if depth > self.stack.len() {
            return Err(());
        }
        self.stack.truncate(depth);
        let path = format!("{}{text}", self.stack.last().map_or("", String::as_str));
        if !text.ends_with('/') {
            return Ok(Some(path));
        }
        if depth >= MAX_DEPTH {
            return Err(());
        }
        self.stack.push(path);
        Ok(None)
    }
}
