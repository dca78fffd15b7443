//! The rule of a column: the value of a cell that its row does not show.
//!
//! Every column has a rule, and a row shows only what its rules do not predict. A rule works on spelling: a prediction
//! is equal byte for byte, or it is wrong.

use std::borrow::Cow;

use super::tree::{Id, string_end};
use crate::steps::Step;
use concertina_base::hashing::FastMap;

/// One value of a column.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Cell<'a> {
    /// The key is not there.
    Absent,
    /// A scalar as spelled, a string without its quotes.
    Text {
        /// True for a string.
        quoted: bool,
        /// The spelling.
        text: Cow<'a, str>,
    },
    /// An array or an object, by its node; equal ones have the same node.
    Node(Id),
}

impl Cell<'_> {
    /// Returns a cell that is not a string.
    pub fn literal(text: &'static str) -> Self {
        Self::Text { quoted: false, text: Cow::Borrowed(text) }
    }

    /// Returns its spelling, without quotes; `None` if it is not a scalar.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            _ => None,
        }
    }
}

/// A part of the template of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A constant text.
    Literal(String),
    /// The part that the row shows. A template has at most one.
    Hole,
    /// The text of another cell.
    Ref {
        /// The column of the other cell.
        column: usize,
        /// True if the cell is in the row above instead of in this one.
        above: bool,
        /// True if only the text after its last slash is used.
        tail: bool,
    },
}

/// The longest name of a column that templates can refer to, in bytes.
const LONGEST_NAME: usize = 128;

/// A text with references to other cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// True if it makes a string.
    pub quoted: bool,
    /// The parts, in order. Two literals are never neighbours.
    pub parts: Vec<Part>,
}

/// A rule that gives the cells of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule<'a> {
    /// Each row shows the cell.
    Shown,
    /// All cells are equal.
    Fixed(Cell<'a>),
    /// The cell of an earlier row, or that cell advanced by a step.
    Above {
        /// The number of rows to go up.
        back: usize,
        /// The step, if any.
        step: Option<Step>,
    },
    /// Made of other cells, and of the text that the row shows if the template has a hole.
    Made(Template),
}

impl Rule<'_> {
    /// Returns true if rows have a place for the column.
    pub fn is_shown(&self) -> bool {
        match self {
            Self::Shown => true,
            Self::Made(template) => template.has_hole(),
            _ => false,
        }
    }

    /// Returns the columns of the same row that the rule refers to.
    pub fn needs(&self) -> impl Iterator<Item = usize> {
        let parts = if let Self::Made(template) = self { &template.parts[..] } else { &[] };
        parts.iter().filter_map(|part| match part {
            Part::Ref { column, above: false, .. } => Some(*column),
            _ => None,
        })
    }

    /// Returns true if rows show only a part of the cell.
    pub fn has_hole(&self) -> bool {
        matches!(self, Self::Made(template) if template.has_hole())
    }
}

/// Gives access to other cells by column and number of rows above.
pub trait Lookup<'a> {
    /// Returns the cell; `None` if there is no such row.
    fn cell(&self, column: usize, back: usize) -> Option<&Cell<'a>>;
}

/// Returns the existing cell that a rule predicts; `None` if the rule makes a new cell or predicts none.
pub fn copied<'c, 'a>(rule: &'c Rule<'a>, column: usize, cells: &'c impl Lookup<'a>) -> Option<&'c Cell<'a>> {
    match rule {
        Rule::Fixed(cell) => Some(cell),
        Rule::Above { back, step: None } => cells.cell(column, *back),
        Rule::Shown | Rule::Above { step: Some(_), .. } | Rule::Made(_) => None,
    }
}

/// Returns the cell that a rule predicts; `None` if it predicts none. `column` is the rule's own.
pub fn predict<'a>(rule: &Rule<'a>, column: usize, hole: Option<&str>, cells: &impl Lookup<'a>) -> Option<Cell<'a>> {
    match rule {
        Rule::Shown | Rule::Fixed(_) | Rule::Above { step: None, .. } => copied(rule, column, cells).cloned(),
        Rule::Above { back, step: Some(step) } => match cells.cell(column, *back)? {
            Cell::Text { quoted, text } => Some(Cell::Text { quoted: *quoted, text: Cow::Owned(step.apply(text)?) }),
            _ => None,
        },
        Rule::Made(template) => {
            let parts = || template.parts.iter().map(|part| part.text(hole, cells));
            let mut text = String::with_capacity(parts().map(|part| part.map(str::len)).sum::<Option<usize>>()?);
            text.extend(parts().flatten());
            Some(Cell::Text { quoted: template.quoted, text: Cow::Owned(text) })
        }
    }
}

impl Part {
    /// Returns the text of the part; `None` if it is not available.
    pub fn text<'s, 'a>(&'s self, hole: Option<&'s str>, cells: &'s impl Lookup<'a>) -> Option<&'s str>
    where
        'a: 's,
    {
        match self {
            Self::Literal(text) => Some(text),
            Self::Hole => hole,
            Self::Ref { column, above, tail } => {
                let text = cells.cell(*column, usize::from(*above))?.text()?;
                Some(if *tail { after_slash(text) } else { text })
            }
        }
    }
}

/// Returns the text after the last slash, or all of it if there is none.
pub fn after_slash(text: &str) -> &str {
    text.rfind('/').map_or(text, |slash| &text[slash + 1..])
}

impl Template {
    /// Returns true if a row must show a part of the cell.
    pub fn has_hole(&self) -> bool {
        self.parts.contains(&Part::Hole)
    }

    /// Prints the template: `https://host/{name}/{}`, with quotes if it makes a string.
    ///
    /// `None` if it would not read back, because its text has braces of its own, or a name in it has a quote or a
    /// comma.
    pub fn to_text(&self, names: &[String], index: &FastMap<&str, usize>) -> Option<String> {
        let mut inner = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(text) => inner.push_str(text),
                Part::Hole => inner.push_str("{}"),
                Part::Ref { column, above, tail } => {
                    inner.push('{');
                    inner.push_str(if *above { "^" } else { "" });
                    inner.push_str(&names[*column]);
                    inner.push_str(if *tail { "/}" } else { "}" });
                }
            }
        }
        // Without quotes, only a leading reference distinguishes a template from a constant.
        if !self.quoted && (self.has_hole() || !matches!(self.parts[0], Part::Ref { .. })) {
            return None;
        }
        let quotes = if self.quoted { "\"" } else { "" };
        let text = format!("{quotes}{inner}{quotes}");
        let is_one = if self.quoted { string_end(&text, 0) == Some(text.len()) } else { !text.contains(',') };
        let is_made = self.parts.iter().any(|part| !matches!(part, Part::Literal(_)));
        (is_one && is_made && Self::parse_parts(&inner, index) == self.parts).then_some(text)
    }

    /// Reads the inner text of a printed template.
    pub fn parse_parts(text: &str, index: &FastMap<&str, usize>) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let window = &rest.as_bytes()[open + 1..rest.len().min(open + 1 + LONGEST_NAME)];
            let part = memchr::memchr(b'}', window).and_then(|length| {
                let inner = &rest[open + 1..open + 1 + length];
                if inner.is_empty() {
                    return Some((Part::Hole, length));
                }
                let (above, name) = inner.strip_prefix('^').map_or((false, inner), |name| (true, name));
                let whole = index.get(name).map(|column| (*column, false));
                let (column, tail) = whole.or_else(|| Some((*index.get(name.strip_suffix('/')?)?, true)))?;
                Some((Part::Ref { column, above, tail }, length))
            });
            let (before, after) = match &part {
                Some((_, length)) => (&rest[..open], &rest[open + length + 2..]),
                None => (&rest[..=open], &rest[open + 1..]),
            };
            literal.push_str(before);
            rest = after;
            if let Some((part, _)) = part {
                if !literal.is_empty() {
                    parts.push(Part::Literal(std::mem::take(&mut literal)));
                }
                parts.push(part);
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        parts
    }
}
