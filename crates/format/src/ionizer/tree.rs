//! A JSON value as a tree of raw spans: scalars and keys keep their spelling, escapes and all.

use std::borrow::Cow;

/// Index of a node in its tree.
pub type Id = usize;

/// One value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node<'a> {
    /// A string, a number or a literal.
    Scalar {
        /// True for a string.
        quoted: bool,
        /// The spelling, without quotes.
        text: Cow<'a, str>,
    },
    /// Elements in order.
    Array(Vec<Id>),
    /// Keys as spelled, without their quotes, and values, in order; a key may occur twice.
    Object(Vec<(Cow<'a, str>, Id)>),
}

impl Node<'_> {
    /// Returns the values directly inside.
    pub fn children(&self) -> impl DoubleEndedIterator<Item = Id> + Clone {
        let (items, fields) = match self {
            Self::Scalar { .. } => (&[][..], &[][..]),
            Self::Array(items) => (&items[..], &[][..]),
            Self::Object(fields) => (&[][..], &fields[..]),
        };
        items.iter().copied().chain(fields.iter().map(|(_, item)| *item))
    }
}

/// A value with everything in it; children come before their parents.
#[derive(Debug, Default)]
pub struct Tree<'a> {
    /// All values.
    pub nodes: Vec<Node<'a>>,
    /// The outermost one.
    pub root: Id,
}

impl<'a> Node<'a> {
    /// Returns the same node for a tree where all ids are higher by `by`.
    fn shifted(self, by: Id) -> Self {
        match self {
            scalar @ Self::Scalar { .. } => scalar,
            Self::Array(items) => Self::Array(items.into_iter().map(|item| item + by).collect()),
            Self::Object(items) => Self::Object(items.into_iter().map(|(key, item)| (key, item + by)).collect()),
        }
    }
}

impl<'a> Tree<'a> {
    /// Adds the nodes of another tree; returns the id of its root here.
    pub fn append(&mut self, other: Tree<'a>) -> Id {
        let base = self.nodes.len();
        self.nodes.extend(other.nodes.into_iter().map(|node| node.shifted(base)));
        base + other.root
    }

    /// Adds a node; returns its id.
    pub fn push(&mut self, node: Node<'a>) -> Id {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Adds a node and makes it the root.
    pub fn finish(mut self, node: Node<'a>) -> Self {
        self.root = self.push(node);
        self
    }
}

/// Returns the end of the string that starts at a quote.
pub fn string_end(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Returns true if a text is a number, `true`, `false` or `null`.
pub fn is_literal(text: &str) -> bool {
    matches!(text, "true" | "false" | "null") || is_number(text)
}

/// Returns true if a text is a JSON number.
pub fn is_number(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let text = text.strip_prefix('-').unwrap_or(text);
    let whole = digits(text);
    if whole == 0 || (whole > 1 && text.starts_with('0')) {
        return false;
    }
    let mut rest = &text[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let length = digits(fraction);
        if length == 0 {
            return false;
        }
        rest = &fraction[length..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let length = digits(exponent);
        if length == 0 {
            return false;
        }
        rest = &exponent[length..];
    }
    rest.is_empty()
}
