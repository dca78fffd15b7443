//! The body of a fold -> the tree that it was written from.

mod rows;

use std::borrow::Cow;

use super::cells::{Cell, Part, Rule, Template};
use super::escapes::escape;
use super::layout::{Setting, Start};
use super::notation::{Around, MARKS, class_name, index_of, short_names};
use super::path::{Step, path_of};
use super::tree::{Id, Node, Tree, is_literal, string_end};
use crate::letters;
use crate::naive::{Price, unread};
use crate::steps;
use concertina_base::hashing::FastMap;

/// The deepest nesting, well above what is ever written.
const DEEPEST: usize = 300;
/// The most values and bytes of a body. Implied values repeat, and a body from outside must not do so without limit.
const MOST_VALUES: usize = 20_000_000;
pub(super) const MOST_BYTES: usize = 1 << 28;

/// Reads the body of a fold, or as much as the naive reader does.
pub(super) fn read(body: &str, is_naive: bool) -> Option<Tree<'_>> {
    let mut reader = Reader {
        text: body,
        at: 0,
        tree: Tree::default(),
        texts: Vec::new(),
        entries: Vec::new(),
        classes: Vec::new(),
        depth: 0,
        values: 0,
        bytes: 0,
        is_naive,
        in_entry: false,
        names: 0,
    };
    reader.tree.nodes.reserve(body.len() / 8);
    reader.all()?;
    // Entries may contain entries, so a few lines could make an unbounded text.
    let mut sizes: Vec<usize> = Vec::with_capacity(reader.tree.nodes.len());
    for node in &reader.tree.nodes {
        let own = match node {
            Node::Scalar { quoted, text } => text.len() + 2 * usize::from(*quoted),
            _ => 1,
        };
        sizes.push(node.children().fold(own, |sum, child| sum.saturating_add(sizes[child])));
    }
    (sizes[reader.tree.root] <= MOST_BYTES).then_some(reader.tree)
}

struct Class<'r> {
    keyed: bool,
    paths: Vec<Vec<Step<'r>>>,
    mark: char,
    /// The names of the columns in rows.
    short: Vec<&'r str>,
    rules: Vec<Rule<'r>>,
    /// For each column, whether rows show it, and whether only a part of it.
    shown: Vec<(bool, bool)>,
    rows: Vec<Vec<Cell<'r>>>,
    /// The price of each cell of the rows.
    prices: Vec<Vec<Price>>,
}

struct Reader<'r> {
    text: &'r str,
    at: usize,
    tree: Tree<'r>,
    texts: Vec<String>,
    entries: Vec<Id>,
    classes: Vec<Class<'r>>,
    depth: usize,
    values: usize,
    bytes: usize,
    is_naive: bool,
    /// True within what a name stands for.
    in_entry: bool,
    /// The names that were followed.
    names: usize,
}

impl<'r> Reader<'r> {
    fn rest(&self) -> &'r str {
        &self.text[self.at..]
    }

    fn take(&mut self, expected: &str) -> Option<()> {
        self.rest().starts_with(expected).then(|| self.at += expected.len())
    }

    fn until(&mut self, is_end: impl Fn(char) -> bool) -> &'r str {
        let rest = self.rest();
        let length = rest.find(is_end).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn bare(&mut self, around: Around) -> &'r str {
        let rest = self.rest();
        let (length, _) = around.bare_length(rest);
        self.at += length;
        &rest[..length]
    }

    fn all(&mut self) -> Option<()> {
        loop {
            let rest = self.rest();
            if rest.starts_with('&') {
                self.at += 1;
                let number = self.number()?;
                if self.take("=").is_some() {
                    let text = self.until(|c| c == '\n').to_owned();
                    self.spend(text.len())?;
                    self.texts.push(text);
                } else {
                    self.take(":")?;
                    self.in_entry = true;
                    let id = self.value(Around::Line)?;
                    self.in_entry = false;
                    self.entries.push(id);
                }
                if number != self.texts.len() + self.entries.len() {
                    return None;
                }
            } else if rest.starts_with(|c: char| c.is_ascii_uppercase()) {
                self.header()?;
            } else {
                break;
            }
            self.take("\n")?;
        }
        self.tree.root = self.value(Around::Line)?;
        (self.at == self.text.len()).then_some(())
    }

    fn number(&mut self) -> Option<usize> {
        self.until(|c| !c.is_ascii_digit()).parse().ok()
    }

    fn header(&mut self) -> Option<()> {
        if self.until(|c| !c.is_ascii_uppercase()) != class_name(self.classes.len()) {
            return None;
        }
        let mark = MARKS.into_iter().find(|mark| self.rest().starts_with(*mark));
        if mark.is_some() {
            self.at += 1;
        }
        let mark = mark.unwrap_or(',');
        self.take(":")?;
        // Names are read first, because a template may refer to any column.
        let mut names = Vec::new();
        let mut spans = Vec::new();
        loop {
            names.push(self.name()?);
            let start = self.at;
            if self.take("=").is_some() {
                self.skip_rule()?;
            } else {
                let _ = self.take("?");
            }
            spans.push((start, self.at));
            if self.take(",").is_none() {
                break;
            }
        }
        let end = self.at;
        let index = index_of(&names);
        let mut rules = Vec::new();
        for (start, end) in spans {
            self.at = start;
            rules.push(self.rule(end, &index)?);
        }
        self.at = end;
        let paths = names.iter().map(|name| path_of(name)).collect::<Option<Vec<_>>>()?;
        let keyed = paths[0] == [Step::Own];
        if paths[1..].iter().any(|path| path[0] == Step::Own) {
            return None;
        }
        let short = short_names(&names);
        let shown = rules.iter().map(|rule| (rule.is_shown(), rule.has_hole())).collect();
        self.classes.push(Class { keyed, mark, paths, short, shown, rules, rows: Vec::new(), prices: Vec::new() });
        Some(())
    }

    /// Reads a column's name, up to a mark that is not inside quotes.
    fn name(&mut self) -> Option<&'r str> {
        let start = self.at;
        loop {
            match self.rest().chars().next() {
                Some('"') => self.at = string_end(self.text, self.at)?,
                Some('=' | '?' | ',' | ';' | '\n' | '~') | None => break,
                Some(c) => self.at += c.len_utf8(),
            }
        }
        (self.at > start).then(|| &self.text[start..self.at])
    }

    fn skip_rule(&mut self) -> Option<()> {
        if self.take("\"\"\"").is_some() {
            self.at += self.rest().find("\"\"\"")? + 3;
            return Some(());
        }
        if self.take("&").is_some() {
            self.number()?;
        }
        self.quoted_or_bare(Around::Header)?;
        Some(())
    }

    fn rule(&mut self, end: usize, index: &FastMap<&str, usize>) -> Option<Rule<'r>> {
        let text = &self.text[self.at..end];
        if text.is_empty() {
            return Some(Rule::Shown);
        }
        if text == "?" {
            return Some(Rule::Fixed(Cell::Absent));
        }
        let text = text.strip_prefix('=')?;
        if let Some(above) = text.strip_prefix('^') {
            let digits = above.bytes().take_while(u8::is_ascii_digit).count();
            let back = if digits == 0 { 1 } else { above[..digits].parse().ok().filter(|back| *back > 0)? };
            let step = match &above[digits..] {
                "" => None,
                step => Some(steps::Step::parse(step)?),
            };
            return Some(Rule::Above { back, step });
        }
        let inner = text.strip_prefix('"').and_then(|inner| inner.strip_suffix('"'));
        let parts = Template::parse_parts(inner.unwrap_or(text), index);
        let is_template = parts.iter().any(|part| !matches!(part, Part::Literal(_)));
        if is_template && (inner.is_some() || (text.starts_with('{') && text != "{}")) && !text.starts_with("\"\"\"") {
            return Some(Rule::Made(Template { quoted: inner.is_some(), parts }));
        }
        self.at += 1;
        let cell = self.scalar(Around::Header)?;
        (self.at == end).then_some(Rule::Fixed(cell))
    }

    /// Reads a string, number, literal or empty container.
    fn scalar(&mut self, around: Around) -> Option<Cell<'r>> {
        let rest = self.rest();
        let quoted = |text: Cow<'r, str>| Some(Cell::Text { quoted: true, text });
        if let Some(inner) = rest.strip_prefix("\"\"\"") {
            let length = inner.find("\"\"\"")?;
            self.at += length + 6;
            return quoted(escape(&inner[..length]));
        }
        if rest.starts_with('"') {
            return quoted(Cow::Borrowed(self.quoted()?));
        }
        if self.take("&").is_some() {
            let number = self.number()?;
            let mut text = self.texts.get(number.checked_sub(1)?)?.clone();
            text.push_str(self.quoted_or_bare(around)?);
            self.names += 1;
            return quoted(Cow::Owned(if self.is_naive && self.in_entry { unread(&text) } else { text }));
        }
        let text = self.bare(around);
        if is_literal(text) || matches!(text, "[]" | "{}") {
            return Some(Cell::Text { quoted: false, text: Cow::Borrowed(text) });
        }
        if text.is_empty() { None } else { quoted(Cow::Borrowed(text)) }
    }

    /// Reads a quoted string; returns its inside.
    fn quoted(&mut self) -> Option<&'r str> {
        let start = self.at;
        self.at = string_end(self.text, start)?;
        Some(&self.text[start + 1..self.at - 1])
    }

    fn quoted_or_bare(&mut self, around: Around) -> Option<&'r str> {
        if self.rest().starts_with('"') { self.quoted() } else { Some(self.bare(around)) }
    }

    fn value(&mut self, around: Around) -> Option<Id> {
        let cell = self.cell_value(around)?;
        self.node(cell)
    }

    fn cell_value(&mut self, around: Around) -> Option<Cell<'r>> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let cell = self.inner_value(around)?;
        self.depth -= 1;
        Some(cell)
    }

    /// Counts a value of this many bytes; `None` if a limit is exceeded.
    fn spend(&mut self, bytes: usize) -> Option<()> {
        self.values += 1;
        self.bytes += bytes;
        (self.values <= MOST_VALUES && self.bytes <= MOST_BYTES).then_some(())
    }

    fn node(&mut self, cell: Cell<'r>) -> Option<Id> {
        self.spend(cell.text().map_or(0, str::len))?;
        match cell {
            Cell::Absent => None,
            Cell::Node(id) => Some(id),
            Cell::Text { quoted, text } => Some(self.tree.push(match &*text {
                "[]" if !quoted => Node::Array(Vec::new()),
                "{}" if !quoted => Node::Object(Vec::new()),
                _ => Node::Scalar { quoted, text },
            })),
        }
    }

    fn inner_value(&mut self, around: Around) -> Option<Cell<'r>> {
        let rest = self.rest();
        let node = match rest.bytes().next() {
            Some(b'[') if !rest.starts_with("[]") => {
                self.at += 1;
                self.array()?
            }
            Some(b'{') if !rest.starts_with("{}") => {
                self.at += 1;
                self.object()?
            }
            Some(b'[' | b'{') => {
                self.at += 2;
                return Some(Cell::Text { quoted: false, text: Cow::Borrowed(&rest[..2]) });
            }
            Some(b'(') => {
                self.at += 1;
                let name = self.until(|c| !c.is_ascii_uppercase());
                let class = self.class(name)?;
                if self.classes[class].keyed {
                    return None;
                }
                self.take(" ")?;
                let (_, id) = self.row(class, Around::Tuple(self.classes[class].mark))?;
                self.take(")")?;
                return Some(Cell::Node(id));
            }
            Some(b'`') => {
                self.at += 1;
                let line_end = if self.take("n").is_some() { "\n" } else { "" };
                let root = self.value(around)?;
                let text = Setting::new(Start::Minified).print_from(&self.tree, root, MOST_BYTES)? + line_end;
                self.spend(text.len())?;
                return Some(Cell::Text { quoted: true, text: Cow::Owned(escape(&text).into_owned()) });
            }
            Some(b'&') => {
                let start = self.at;
                self.at += 1;
                let number = self.number()?.checked_sub(1)?;
                if let Some(entry) = number.checked_sub(self.texts.len()) {
                    let id = *self.entries.get(entry)?;
                    return Some(Cell::Node(if self.in_entry { self.as_read(id) } else { id }));
                }
                self.at = start;
                return self.scalar(around);
            }
            _ => return self.scalar(around),
        };
        Some(Cell::Node(self.tree.push(node)))
    }

    /// Returns a value that the naive reader does not read.
    fn as_read(&mut self, id: Id) -> Id {
        if !self.is_naive {
            return id;
        }
        let node = match self.tree.nodes[id].clone() {
            Node::Scalar { quoted, text } => Node::Scalar { quoted, text: Cow::Owned(unread(&text)) },
            Node::Array(items) => Node::Array(items.into_iter().map(|item| self.as_read(item)).collect()),
            Node::Object(items) => {
                Node::Object(items.into_iter().map(|(key, item)| (key, self.as_read(item))).collect())
            }
        };
        self.tree.push(node)
    }

    fn class(&self, name: &str) -> Option<usize> {
        letters::number(&name.to_ascii_lowercase()).filter(|number| *number < self.classes.len())
    }

    /// Returns the class of a block if one starts here.
    fn block(&mut self, keyed: bool) -> Option<usize> {
        let letters = self.rest().bytes().take_while(u8::is_ascii_uppercase).count();
        let name = &self.rest()[..letters];
        if letters == 0 || !self.rest()[letters..].starts_with('\n') {
            return None;
        }
        let class = self.class(name).filter(|class| self.classes[*class].keyed == keyed)?;
        self.at += letters + 1;
        Some(class)
    }

    fn array(&mut self) -> Option<Node<'r>> {
        let mut items = Vec::new();
        if let Some(class) = self.block(false) {
            while self.take("]").is_none() {
                items.push(self.line(class)?.1);
                self.take("\n")?;
            }
            return Some(Node::Array(items));
        }
        if self.take("=").is_some() {
            let text = self.until(|c| c == ']');
            self.take("]")?;
            return Some(Node::Array(super::matrix::read(&mut self.tree, text)?));
        }
        loop {
            items.push(self.value(Around::Array)?);
            if self.take("]").is_some() {
                return Some(Node::Array(items));
            }
            if !self.rest().starts_with(",[") || self.take(",").is_none() {
                self.take(" ")?;
            }
        }
    }

    fn object(&mut self) -> Option<Node<'r>> {
        let mut items = Vec::new();
        if let Some(class) = self.block(true) {
            while self.take("}").is_none() {
                let (key, id) = self.line(class)?;
                items.push((key?, id));
                self.take("\n")?;
            }
            return Some(Node::Object(items));
        }
        loop {
            let mut shared = None;
            if self.take("&").is_some() {
                let number = self.number()?;
                shared = Some(self.texts.get(number.checked_sub(1)?)?.clone());
            }
            let rest =
                if self.rest().starts_with('"') { self.quoted()? } else { self.until(|c| matches!(c, ':' | '\n')) };
            let key = shared.map_or(Cow::Borrowed(rest), |shared| Cow::Owned(shared + rest));
            self.take(":")?;
            items.push((key, self.value(Around::Object)?));
            if self.take("}").is_some() {
                return Some(Node::Object(items));
            }
            self.take(" ")?;
        }
    }
}
