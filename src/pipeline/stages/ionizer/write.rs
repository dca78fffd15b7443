//! A planned tree -> the body of a fold.
//!
//! ```text
//! &1=https://api.example.com/users        a shared beginning of strings
//! A:id=^+1,name,url="&…/{name}",ok=true   a record class: its columns; those with a rule are not shown
//! {total:3 items:[A                       objects and arrays without commas; records as rows
//! ann;id=1                                what the rules do not predict follows a semicolon
//! bob
//! "c,d";ok=false
//! ]}
//! ```

use std::borrow::Cow;

use concertina_format::ionizer::escapes::unescape;
use concertina_format::ionizer::notation::{Around, class_name, index_of, short_names};

use super::cells::{Cell, Rule};
use super::fit::Outcome;
use super::matrix;
use super::path::{Step, follow};
use super::records::Plan;
use super::scan::{Id, Node, Tree, is_literal};
use super::shared_text::SharedText;
use crate::tokens::Encoding;

/// The characters that a key without quotes must not contain.
const KEY_MARKS: [char; 9] = [' ', ':', '"', '{', '}', '[', ']', '(', '\\'];

/// Prints the body of a fold.
pub(super) fn write(tree: &Tree<'_>, plan: &Plan<'_>, encoding: Encoding) -> String {
    let names = plan.classes.iter().map(|class| class.names.iter().map(String::as_str).collect::<Vec<_>>());
    let short: Vec<Vec<&str>> = names.map(|names| short_names(&names)).collect();
    let packed = matrix::is_packed(tree);
    let print = |shared: &SharedText| {
        let mut writer = Writer { tree, plan, shared, short: &short, packed, out: String::new(), strings: Vec::new() };
        writer.all();
        (writer.out, writer.strings)
    };
    let (plain, strings) = print(&SharedText::default());
    let shared = SharedText::of(&strings, encoding);
    if shared.texts.is_empty() { plain } else { print(&shared).0 }
}

struct Writer<'w, 's, 'a> {
    tree: &'w Tree<'a>,
    plan: &'w Plan<'a>,
    shared: &'s SharedText,
    /// The names of each class's columns in rows.
    short: &'w [Vec<&'w str>],
    /// True if long lists of points are packed.
    packed: bool,
    out: String,
    /// The strings printed so far, without quotes.
    strings: Vec<Cow<'w, str>>,
}

impl<'w> Writer<'w, '_, '_> {
    fn all(&mut self) {
        for (number, text) in self.shared.texts.iter().enumerate() {
            self.out.push_str(&format!("&{}={text}\n", number + 1));
        }
        for number in 0..self.plan.classes.len() {
            self.header(number);
            self.out.push('\n');
        }
        self.value(self.tree.root, Around::Line);
    }

    fn header(&mut self, number: usize) {
        let class = &self.plan.classes[number];
        let index = index_of(&class.names);
        self.out.push_str(&class_name(number));
        if class.mark != ',' {
            self.out.push(class.mark);
        }
        self.out.push(':');
        for (column, (name, rule)) in class.names.iter().zip(&class.rules).enumerate() {
            if column > 0 {
                self.out.push(',');
            }
            self.out.push_str(name);
            match rule {
                Rule::Shown => {}
                Rule::Fixed(Cell::Absent) => self.out.push('?'),
                Rule::Fixed(cell) => {
                    self.out.push('=');
                    self.cell(cell, Around::Header);
                }
                Rule::Above { step, .. } => {
                    self.out.push_str("=^");
                    if let Some(step) = step {
                        self.out.push_str(&step.to_string());
                    }
                }
                Rule::Made(template) => {
                    self.out.push('=');
                    self.out.push_str(&template.to_text(&class.names, &index).expect("only printable templates fit"));
                }
            }
        }
    }

    fn cell(&mut self, cell: &'w Cell<'_>, around: Around) {
        match cell {
            Cell::Text { quoted: false, text } => self.out.push_str(text),
            Cell::Text { quoted: true, text } => self.string(text, around),
            Cell::Absent | Cell::Node(_) => {}
        }
    }

    fn value(&mut self, id: Id, around: Around) {
        let tree = self.tree;
        match &tree.nodes[id] {
            Node::Scalar { quoted: true, text } => self.string(text, around),
            Node::Scalar { text, .. } => self.out.push_str(text),
            Node::Array(items) => {
                if let Some(class) = self.plan.blocks.get(&id) {
                    return self.block(*class, items.iter().map(|item| (None, *item)), ['[', ']']);
                }
                if let Some(points) = Some(items).filter(|_| self.packed).and_then(|items| matrix::write(tree, items)) {
                    return self.out.push_str(&points);
                }
                self.out.push('[');
                for (index, item) in items.iter().enumerate() {
                    let start = self.out.len();
                    self.value(*item, Around::Array);
                    if index > 0 {
                        // The usual `],[` is one token.
                        let nested = self.out[..start].ends_with(']') && self.out[start..].starts_with('[');
                        self.out.insert(start, if nested { ',' } else { ' ' });
                    }
                }
                self.out.push(']');
            }
            Node::Object(items) => {
                if let Some((class, _)) = self.plan.rows.get(&id).filter(|(class, _)| !self.plan.classes[*class].keyed)
                {
                    self.out.push('(');
                    self.out.push_str(&class_name(*class));
                    self.out.push(' ');
                    self.row(id, Around::Tuple(self.plan.classes[*class].mark));
                    self.out.push(')');
                    return;
                }
                if let Some(class) = self.plan.blocks.get(&id) {
                    return self.block(*class, items.iter().map(|(key, item)| (Some(&**key), *item)), ['{', '}']);
                }
                self.out.push('{');
                for (index, (key, item)) in items.iter().enumerate() {
                    if index > 0 {
                        self.out.push(' ');
                    }
                    self.key(key);
                    self.value(*item, Around::Object);
                }
                self.out.push('}');
            }
        }
    }

    fn block(&mut self, class: usize, items: impl Iterator<Item = (Option<&'w str>, Id)>, brackets: [char; 2]) {
        self.out.push(brackets[0]);
        self.out.push_str(&class_name(class));
        self.out.push('\n');
        for (key, item) in items {
            match self.plan.rows.get(&item) {
                Some((own, _)) => {
                    if *own != class {
                        self.out.push_str(&format!("|{} ", class_name(*own)));
                    }
                    self.row(item, Around::Row(self.plan.classes[*own].mark));
                }
                None => {
                    self.out.push('|');
                    if let Some(key) = key {
                        self.out.push_str(&format!("\"{key}\""));
                    }
                    self.out.push(':');
                    self.value(item, Around::Line);
                }
            }
            self.out.push('\n');
        }
        self.out.push(brackets[1]);
    }

    fn row(&mut self, id: Id, around: Around) {
        let plan = self.plan;
        let (number, row) = plan.rows[&id];
        let class = &plan.classes[number];
        let grid = class.grid();
        let (mut overrides, mut is_first) = (Vec::new(), true);
        let start = self.out.len();
        for (column, rule) in class.rules.iter().enumerate() {
            let cell = &class.columns[column][row];
            if rule.is_shown() {
                if !std::mem::take(&mut is_first) {
                    self.out.push(around.mark());
                }
                match rule {
                    Rule::Shown => self.shown(id, &class.paths[column], cell, around),
                    _ => match grid.outcome(rule, column, row) {
                        Outcome::Residual(text) => self.residual(text, around),
                        _ => overrides.push(column),
                    },
                }
            } else if class.stated[column][row] {
                overrides.push(column);
            }
        }
        // A blank line is no row to a reader.
        if self.out.len() == start && overrides.is_empty() {
            overrides.push(0);
        }
        let short = &self.short[number];
        for column in overrides {
            self.out.push(';');
            self.out.push_str(short[column]);
            match &class.columns[column][row] {
                Cell::Absent => self.out.push('?'),
                cell => {
                    self.out.push('=');
                    self.shown(id, &class.paths[column], cell, around);
                }
            }
        }
    }

    fn shown(&mut self, record: Id, path: &[Step<'_>], cell: &'w Cell<'_>, around: Around) {
        match cell {
            Cell::Node(_) => {
                let node = follow(self.tree, record, path).expect("a cell with a node has its path");
                self.value(node, around);
            }
            _ => self.cell(cell, around),
        }
    }

    fn key(&mut self, key: &'w str) {
        let rest = self.reference(key);
        let bare = if rest.len() < key.len() {
            !rest.starts_with(|c: char| c.is_ascii_digit())
        } else {
            !key.is_empty() && !key.starts_with('&')
        };
        let bare = bare && !rest.contains(KEY_MARKS);
        let quote = if bare { "" } else { "\"" };
        self.out.extend([quote, rest, quote, ":"]);
    }

    /// Prints a reference to the shared beginning of a text, if it has one; returns the rest.
    fn reference(&mut self, text: &'w str) -> &'w str {
        self.strings.push(Cow::Borrowed(text));
        match self.shared.find(text) {
            Some((number, cut)) => {
                self.out.push_str(&format!("&{}", number + 1));
                &text[cut..]
            }
            None => text,
        }
    }

    fn residual(&mut self, text: &str, around: Around) {
        let bare = !text.starts_with(['"', ']', '}', '|']) && around.is_bare(text);
        let quote = if bare { "" } else { "\"" };
        self.out.extend([quote, text, quote]);
    }

    fn string(&mut self, text: &'w str, around: Around) {
        if let Some(block) = Self::text_block(text) {
            self.out.extend(["\"\"\"", &block, "\"\"\""]);
            return;
        }
        let rest = self.reference(text);
        let is_whole = rest.len() == text.len();
        if !is_whole && rest.is_empty() {
            return;
        }
        let is_mark = rest.starts_with(['"', '[', '{', '(', '&', ']', '}', '|', '`', ' ']) || rest.ends_with(' ');
        let is_taken = match around {
            Around::Header => rest.starts_with('^'),
            Around::Array => rest.starts_with('='),
            _ => false,
        };
        let is_value = if is_whole { is_literal(rest) } else { rest.starts_with(|c: char| c.is_ascii_digit()) };
        let bare = !(rest.is_empty() || is_mark || is_taken || is_value) && around.is_bare(rest);
        let quote = if bare { "" } else { "\"" };
        self.out.extend([quote, rest, quote]);
    }

    /// Returns the unescaped text of a string if it is easier to read so.
    fn text_block(text: &str) -> Option<String> {
        if text.len() < 24 || !text.contains('\\') {
            return None;
        }
        let block = unescape(text)?;
        let fits = block.len() + 4 < text.len()
            && !block.ends_with('"')
            && !block.contains("\"\"\"")
            && !block.chars().any(|c| c < ' ' && c != '\n' && c != '\t');
        fits.then_some(block)
    }
}
