//! Legend and body -> a table in CSV or TSV.

use super::escapes;
use super::json::HOW_TO_READ;
use super::read;
use super::tree::{Id, Node};

/// The fields of lines of equal width, in one text.
#[derive(Debug)]
pub struct Fields {
    /// The number of fields per line.
    pub width: usize,
    /// The fields, one after another.
    pub text: String,
    /// The end of each field in the text, in bytes.
    pub ends: Vec<usize>,
}

impl Fields {
    /// Returns an empty table.
    pub fn new(width: usize) -> Self {
        Self { width, text: String::new(), ends: Vec::new() }
    }

    /// Adds a field.
    pub fn push(&mut self, field: &str) {
        self.text.push_str(field);
        self.ends.push(self.text.len());
    }

    /// Returns a field by its index over all lines.
    pub fn field(&self, index: usize) -> &str {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[index]]
    }

    /// Returns the fields of a line.
    pub fn row(&self, row: usize) -> impl Iterator<Item = &str> + Clone {
        (row * self.width..(row + 1) * self.width).map(|index| self.field(index))
    }

    /// Returns the number of lines.
    pub fn line_count(&self) -> usize {
        self.ends.len() / self.width
    }

    /// Returns all lines.
    pub fn rows(&self) -> impl Iterator<Item = impl Iterator<Item = &str> + Clone> {
        (0..self.line_count()).map(|row| self.row(row))
    }
}

/// The line ends of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// Lines end with `\n`.
    Lf,
    /// Lines end with `\r\n`.
    CrLf,
    /// Lines end with `\r\n`, except the last, which has no line end.
    OpenCrLf,
}

impl Ends {
    /// The words for line ends in a legend.
    pub const WORDS: [(Self, &'static str); 2] = [(Self::OpenCrLf, " crlf open"), (Self::CrLf, " crlf")];

    /// Returns the text between lines.
    pub fn between(self) -> &'static str {
        if self == Self::Lf { "\n" } else { "\r\n" }
    }
}

/// The characters that may separate fields.
pub const MARKS: [char; 4] = ['\t', ',', ';', '|'];

/// Returns the text of a fold with this legend and body.
pub(super) fn unfold(legend: &str, body: &str, is_naive: bool) -> Option<String> {
    let words = legend.strip_prefix("table ")?.strip_suffix(HOW_TO_READ)?;
    let ends = Ends::WORDS.iter().find_map(|(ends, word)| Some((words.strip_suffix(word)?, *ends)));
    let (words, ends) = ends.unwrap_or((words, Ends::Lf));
    let mark = MARKS.into_iter().find(|mark| word_of(*mark) == words)?;
    let tree = read::read(body, is_naive)?;
    let Node::Array(records) = &tree.nodes[tree.root] else { return None };
    let fields = |record: &Id| match &tree.nodes[*record] {
        Node::Object(fields) => Some(fields),
        _ => None,
    };
    let names: Vec<&str> = fields(records.first()?)?.iter().map(|(name, _)| &**name).collect();
    if names.is_empty() {
        return None;
    }
    let mut rows = Fields::new(names.len());
    for name in &names {
        rows.push(&escapes::meaning(name)?);
    }
    for record in records {
        let mut present = fields(record)?.iter().peekable();
        for name in &names {
            match present.next_if(|(own, _)| own == name) {
                None => rows.push(""),
                Some((_, value)) => match &tree.nodes[*value] {
                    Node::Scalar { quoted: true, text } => rows.push(&escapes::meaning(text)?),
                    Node::Scalar { text, .. } => rows.push(text),
                    _ => return None,
                },
            }
        }
        if present.next().is_some() {
            return None;
        }
    }
    Some(print(&rows, mark, ends))
}

/// Returns the legend word for a table with this separator.
pub fn word_of(mark: char) -> String {
    match mark {
        '\t' => "tsv".into(),
        ',' => "csv".into(),
        _ => format!("split={mark}"),
    }
}

fn print(rows: &Fields, mark: char, ends: Ends) -> String {
    let mut out = String::with_capacity(rows.text.len() + rows.ends.len() + rows.line_count());
    for (index, row) in rows.rows().enumerate() {
        if index > 0 {
            out.push_str(ends.between());
        }
        for (column, field) in row.enumerate() {
            if column > 0 {
                out.push(mark);
            }
            if needs_quotes(field, mark) {
                out.push('"');
                out.push_str(&field.replace('"', "\"\""));
                out.push('"');
            } else {
                out.push_str(field);
            }
        }
    }
    if ends == Ends::CrLf {
        // The `\n` of the last line's end is outside the fold.
        out.push('\r');
    }
    out
}

/// Returns true if a field must be quoted to read back unchanged.
pub fn needs_quotes(field: &str, mark: char) -> bool {
    field.bytes().any(|byte| char::from(byte) == mark || matches!(byte, b'"' | b'\n' | b'\r'))
}
