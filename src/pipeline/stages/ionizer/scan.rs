//! JSON text -> a tree of raw spans, and the blank space between its tokens.
//!
//! Why not `serde_json` alone: its values forget how a number or a string was spelt, and which keys came twice, and its
//! raw values must be parsed again at each level. So `serde_json` decides what *is* JSON, and this scanner only finds
//! the spans. Scalars and keys keep their spelling, escapes and all. Values nested deeper than [`DEEPEST`] are not
//! scanned, which bounds every recursion of this stage.

use std::borrow::Cow;

use crate::content::json_span::value_end;

pub(super) use concertina_format::ionizer::tree::{Id, Node, Tree, is_literal, is_number, string_end};

/// Most containers around a value.
pub(super) const DEEPEST: usize = 128;

/// The usual bytes per token and tokens per value, for the initial capacity.
const BYTES_PER_TOKEN: usize = 4;
const TOKENS_PER_VALUE: usize = 4;

/// The result of scanning a text.
#[derive(Debug)]
pub(super) struct Scan<'a> {
    /// The value.
    pub(super) tree: Tree<'a>,
    /// The blank space before each token, in order, without that of the missing closers.
    pub(super) gaps: Vec<&'a str>,
    /// The closing brackets that a cut text lacks, in order.
    pub(super) closers: String,
    /// The end of the last token, in bytes.
    pub(super) end: usize,
}

/// Scans a text that is one value, an array or an object.
pub(super) fn scan(text: &str) -> Option<Scan<'_>> {
    let mut scanner = Scanner::new(text);
    scanner.gaps.reserve(text.len() / BYTES_PER_TOKEN);
    scanner.tree.nodes.reserve(text.len() / BYTES_PER_TOKEN / TOKENS_PER_VALUE);
    let scan = scanner.run()?;
    scan.closers.is_empty().then_some(scan)
}

/// Scans as much of a cut or damaged value as is whole: ends after the last complete element.
pub(super) fn scan_cut(text: &str) -> Option<Scan<'_>> {
    let scan = Scanner::new(text).run()?;
    let repaired = text[..scan.end].to_owned() + &scan.closers;
    (!scan.closers.is_empty() && value_end(&repaired) == Ok(repaired.len())).then_some(scan)
}

/// An open container, with the number of items or fields before it.
#[derive(Clone, Copy)]
enum Open<'a> {
    Array(usize),
    Object(usize, Option<&'a str>),
}

/// The tokens that may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    ValueOrClose,
    Key,
    KeyOrClose,
    Colon,
    CommaOrClose,
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    gaps: Vec<&'a str>,
    tree: Tree<'a>,
    stack: Vec<Open<'a>>,
    /// The elements of all open arrays.
    items: Vec<Id>,
    /// The fields of all open objects.
    fields: Vec<(Cow<'a, str>, Id)>,
    /// End, open containers and gaps after the last complete element.
    good: Option<(usize, usize, usize)>,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            gaps: Vec::new(),
            tree: Tree::default(),
            stack: Vec::new(),
            items: Vec::new(),
            fields: Vec::new(),
            good: None,
        }
    }

    fn run(mut self) -> Option<Scan<'a>> {
        let mut expect = Expect::Value;
        loop {
            let Some(next) = self.step(expect) else { return self.close_cut() };
            if self.stack.is_empty() && next == Expect::CommaOrClose {
                self.tree.root = self.tree.nodes.len() - 1;
                return Some(Scan { tree: self.tree, gaps: self.gaps, closers: String::new(), end: self.at });
            }
            expect = next;
        }
    }

    /// Takes one token; `None` if the text stops being JSON.
    fn step(&mut self, expect: Expect) -> Option<Expect> {
        let blank =
            self.text[self.at..].bytes().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
        let start = self.at + blank;
        let byte = *self.text.as_bytes().get(start)?;
        let gap = &self.text[self.at..start];
        let value = matches!(expect, Expect::Value | Expect::ValueOrClose);
        let closes = matches!(expect, Expect::ValueOrClose | Expect::KeyOrClose | Expect::CommaOrClose);
        let is_deepest = self.stack.len() == DEEPEST;
        let mut end = start + 1;
        let next = match (byte, self.stack.last_mut()) {
            (b'[' | b'{', _) if value && is_deepest => return None,
            (b'[', _) if value => {
                self.stack.push(Open::Array(self.items.len()));
                Expect::ValueOrClose
            }
            (b'{', _) if value => {
                self.stack.push(Open::Object(self.fields.len(), None));
                Expect::KeyOrClose
            }
            (b']', Some(Open::Array(_))) | (b'}', Some(Open::Object(..))) if closes => {
                self.gaps.push(gap);
                self.at = end;
                let open = self.stack.pop()?;
                self.close(open);
                return Some(Expect::CommaOrClose);
            }
            (b',', Some(open)) if expect == Expect::CommaOrClose => match open {
                Open::Array(_) => Expect::Value,
                Open::Object(..) => Expect::Key,
            },
            (b':', _) if expect == Expect::Colon => Expect::Value,
            (b'"', Some(Open::Object(_, key))) if matches!(expect, Expect::Key | Expect::KeyOrClose) => {
                end = string_end(self.text, start)?;
                *key = Some(&self.text[start + 1..end - 1]);
                Expect::Colon
            }
            _ if value => {
                end = match byte {
                    b'"' => string_end(self.text, start)?,
                    _ => literal_end(self.text, start)?,
                };
                self.gaps.push(gap);
                self.at = end;
                let raw = &self.text[start..end];
                let (quoted, text) = if byte == b'"' { (true, &raw[1..raw.len() - 1]) } else { (false, raw) };
                self.add(Node::Scalar { quoted, text: Cow::Borrowed(text) });
                return Some(Expect::CommaOrClose);
            }
            _ => return None,
        };
        self.gaps.push(gap);
        self.at = end;
        Some(next)
    }

    fn add(&mut self, node: Node<'a>) {
        let id = self.tree.push(node);
        match self.stack.last_mut() {
            Some(Open::Array(_)) => self.items.push(id),
            Some(Open::Object(_, key)) => {
                self.fields.push((Cow::Borrowed(key.take().expect("a key comes before its value")), id));
            }
            None => return,
        }
        self.good = Some((self.at, self.stack.len(), self.gaps.len()));
    }

    fn close(&mut self, open: Open<'a>) {
        let node = match open {
            Open::Array(start) => Node::Array(self.items.split_off(start)),
            Open::Object(start, _) => Node::Object(self.fields.split_off(start)),
        };
        self.add(node);
    }

    fn close_cut(mut self) -> Option<Scan<'a>> {
        let (end, open, gaps) = self.good?;
        self.stack.truncate(open);
        self.gaps.truncate(gaps);
        let mut closers = String::with_capacity(open);
        while let Some(open) = self.stack.pop() {
            closers.push(if matches!(open, Open::Array(_)) { ']' } else { '}' });
            self.close(open);
        }
        self.tree.root = self.tree.nodes.len() - 1;
        Some(Scan { tree: self.tree, gaps: self.gaps, closers, end })
    }
}

/// End of the number or literal that starts here. A run that ends with the text may be cut, so it does not count.
fn literal_end(text: &str, start: usize) -> Option<usize> {
    let length = text[start..]
        .bytes()
        .take_while(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'+' | b'.' | b'E'))
        .count();
    let literal = &text[start..start + length];
    is_literal(literal).then_some(start + length)
}
