//! Parses JSON text into a tree of slices of it, as far as the text goes.
//!
//! The parser is tolerant, because tool output is often truncated: what was read before the break is kept, and the
//! break is reported. Numbers and strings are kept as written. The size of the tree is bounded; values beyond the bound
//! are counted, not kept.

use memchr::memchr2;

/// The maximum number of values in the tree.
const MOST_NODES: usize = 200_000;

/// The maximum depth. Deeper values are skipped.
const DEEPEST: usize = 64;

/// A JSON value.
#[derive(Debug)]
pub enum Node<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// The digits as written.
    Number(&'a str),
    /// The text between the quotes, with escapes as written.
    Text(&'a str),
    /// Items in order; the count includes items that are not kept.
    Array(Vec<Node<'a>>, usize),
    /// Fields in order; the count includes fields that are not kept.
    Object(Vec<(&'a str, Node<'a>)>, usize),
    /// A value that was not read: too deep, or beyond the bound.
    Skipped,
}

/// The JSON values of a text.
#[derive(Debug)]
pub struct Document<'a> {
    /// The values: one for a document, several for lines of JSON.
    pub roots: Vec<Node<'a>>,
    /// The number of values, kept or not.
    pub count: usize,
    /// The number of bytes that were read as JSON.
    pub read: usize,
    /// True if all values are whole and the text is JSON to its end or to the note behind it. Text of any kind behind a
    /// single value does not make it incomplete.
    pub complete: bool,
    /// The last line, if it is behind whole values and has another form.
    pub note: Option<&'a str>,
}

/// The maximum length of a note behind JSON, in bytes.
const LONGEST_NOTE: usize = 160;

/// Parses as much JSON as the text starts with. Linear.
pub fn read(text: &str) -> Document<'_> {
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, left: MOST_NODES, broken: false };
    let mut roots = Vec::new();
    let mut count = 0;
    let mut whole = 0;
    reader.skip_blanks();
    if reader.bytes[reader.at..].starts_with("\u{feff}".as_bytes()) {
        reader.at += 3;
        reader.skip_blanks();
    }
    while reader.at < text.len() && !reader.broken {
        let start = reader.at;
        let Some(root) = reader.value(0) else { break };
        // After a value, a break is a truncated row or a note of the tool that truncated it. Neither is counted.
        if reader.broken && (reader.at == start || count > 0) {
            break;
        }
        // A number or a word before a word begins a note, such as `120 rows`.
        let is_words = || text[reader.at..].trim_start_matches(' ').starts_with(char::is_alphabetic);
        if count > 0 && !matches!(root, Node::Object(..) | Node::Array(..)) && is_words() {
            reader.broken = true;
            break;
        }
        count += 1;
        if !matches!(root, Node::Skipped) {
            roots.push(root);
        }
        if !reader.broken {
            whole = reader.at;
        }
        reader.skip_blanks();
    }
    let last = text[whole..].trim();
    let is_note = whole > 0
        && last.len() <= LONGEST_NOTE
        && last.contains(char::is_alphabetic)
        && !last.contains(['\n', '{', '[', '"', '}', ']']);
    let complete = is_note || !reader.broken && reader.at >= text.len() || count == 1 && whole > 0;
    Document { roots, count, read: reader.at, complete, note: is_note.then_some(last) }
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    left: usize,
    broken: bool,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn fail<T>(&mut self) -> Option<T> {
        self.broken = true;
        None
    }

    /// Parses a value; returns `None` if there is none. If the value breaks off, sets `broken` and returns the part
    /// before the break.
    fn value(&mut self, depth: usize) -> Option<Node<'a>> {
        if self.left == 0 || depth > DEEPEST {
            return self.skip_value().then_some(Node::Skipped);
        }
        self.left -= 1;
        match self.peek() {
            Some(b'{') => Some(self.object(depth)),
            Some(b'[') => Some(self.array(depth)),
            Some(b'"') => self.string().map(Node::Text),
            Some(_) => self.scalar(),
            None => self.fail(),
        }
    }

    fn array(&mut self, depth: usize) -> Node<'a> {
        let mut items = Vec::new();
        let mut len = 0;
        self.at += 1;
        loop {
            self.skip_blanks();
            if self.peek() == Some(b']') {
                self.at += 1;
                break;
            }
            match self.value(depth + 1) {
                Some(Node::Skipped) if self.left == 0 => len += 1,
                // A truncated row says nothing about the kind of the rows; if it is the only one, it is kept.
                Some(_) if self.broken && !items.is_empty() => break,
                Some(item) => {
                    len += 1;
                    items.push(item);
                }
                None => break,
            }
            if !self.next_member(b']') {
                break;
            }
        }
        Node::Array(items, len)
    }

    fn object(&mut self, depth: usize) -> Node<'a> {
        let mut fields = Vec::new();
        let mut len = 0;
        self.at += 1;
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    break;
                }
                Some(b'"') => {}
                _ => {
                    self.broken = true;
                    break;
                }
            }
            let Some(key) = self.string() else { break };
            self.skip_blanks();
            if self.peek() != Some(b':') {
                self.broken = true;
                break;
            }
            self.at += 1;
            self.skip_blanks();
            match self.value(depth + 1) {
                Some(Node::Skipped) if self.left == 0 => len += 1,
                Some(value) => {
                    len += 1;
                    fields.push((key, value));
                }
                None => break,
            }
            if !self.next_member(b'}') {
                break;
            }
        }
        Node::Object(fields, len)
    }

    /// Skips a comma. Returns false at the end of the container or at a break.
    fn next_member(&mut self, close: u8) -> bool {
        if self.broken {
            return false;
        }
        self.skip_blanks();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                true
            }
            Some(byte) if byte == close => {
                self.at += 1;
                false
            }
            _ => {
                self.broken = true;
                false
            }
        }
    }

    fn string(&mut self) -> Option<&'a str> {
        let start = self.at + 1;
        let mut at = start;
        while let Some(found) = memchr2(b'"', b'\\', self.bytes.get(at..)?) {
            if self.bytes[at + found] == b'"' {
                self.at = at + found + 1;
                return Some(&self.text[start..at + found]);
            }
            at += found + 2;
            if at > self.bytes.len() {
                break;
            }
        }
        self.at = self.bytes.len();
        self.fail()
    }

    fn scalar(&mut self) -> Option<Node<'a>> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) {
            self.at += 1;
        }
        match &self.text[start..self.at] {
            "null" => Some(Node::Null),
            "true" => Some(Node::Bool(true)),
            "false" => Some(Node::Bool(false)),
            digits if digits.parse::<f64>().is_ok() && !digits.starts_with(|c: char| c.is_alphabetic()) => {
                Some(Node::Number(digits))
            }
            _ => {
                self.at = start;
                self.fail()
            }
        }
    }

    /// Skips a value of any depth.
    fn skip_value(&mut self) -> bool {
        let mut depth = 0usize;
        loop {
            match self.peek() {
                Some(b'"') => {
                    if self.string().is_none() {
                        return false;
                    }
                }
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') => {
                    let Some(outer) = depth.checked_sub(1) else {
                        self.broken = true;
                        return false;
                    };
                    depth = outer;
                    self.at += 1;
                }
                Some(b',' | b':' | b' ' | b'\t' | b'\r' | b'\n') if depth > 0 => self.at += 1,
                Some(_) => {
                    if self.scalar().is_none() {
                        return false;
                    }
                }
                None => {
                    self.broken = true;
                    return false;
                }
            }
            if depth == 0 {
                return true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_beyond_the_bound_are_counted() {
        let text = format!("[{}0]", "0,".repeat(300_000));
        let document = read(&text);
        let Node::Array(items, len) = &document.roots[0] else { panic!("an array") };
        assert_eq!(*len, 300_001);
        assert!(items.len() < MOST_NODES);
        assert!(document.complete);
    }

    #[test]
    fn any_depth_is_read_without_overflow() {
        let deep = format!("{}1{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert!(read(&deep).complete);
        assert!(!read(&"[".repeat(1_000_000)).complete);
        assert!(!read(&"{\"a\":".repeat(100)).complete);
    }

    #[test]
    fn a_note_behind_json_is_neither_a_row_nor_a_break() {
        for (body, rows) in [("[1, 2]\n", 1), ("{\"a\": 1}\n\n", 1), ("{\"a\": 1}\n{\"a\": 2}\n", 2)] {
            for note in ["120 rows", "Fetched by a friend", "3 errors, 2 warnings", "fatal error", "true story"] {
                let text = format!("{body}{note}\n");
                let document = read(&text);
                assert_eq!((document.count, document.complete, document.note), (rows, true, Some(note)), "{text}");
            }
            for rest in ["{\"a\":", "[3, 4", "\"x", ",", "one line\nand another", ""] {
                assert_eq!(read(&format!("{body}{rest}")).note, None, "{rest}");
            }
        }
    }
}
