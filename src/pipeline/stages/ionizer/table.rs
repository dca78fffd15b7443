//! `a,b\n1,x\n2,x` -> the same rows as records of class A: CSV, TSV and aligned columns.
//!
//! A table becomes a tree of objects with the header's names, so it takes the same road as JSON. What a reader of the code
//! would get wrong: an empty field is an absent key, except in the first record, which has all keys and so gives the header.

use std::borrow::Cow;
use std::ops::Range;

use super::escapes::{self, Escapes};
use super::json::HOW_TO_READ;
use super::records::Plan;
use super::scan::{Id, Node, Tree, is_literal, is_number};
use super::{read, write};
use crate::tokens::Encoding;

/// How the fields of a line are set.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    /// With a mark between them; a field with a mark, a quote or a line end is quoted.
    Delimited(char),
    /// In columns of spaces: start and end of each, in characters, and whether its fields end at its end.
    Aligned(Vec<Column>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Column {
    range: Range<usize>,
    right: bool,
}

/// A table, read.
#[derive(Debug)]
pub(super) struct Table {
    form: Form,
    ends: Ends,
    /// Whether the first line has names.
    has_header: bool,
    /// The fields of all lines.
    rows: Fields,
}

/// The fields of lines that have as many each, in one text.
#[derive(Debug)]
struct Fields {
    /// How many a line has.
    width: usize,
    text: String,
    /// Where each field ends in the text.
    ends: Vec<usize>,
}

impl Fields {
    fn new(width: usize) -> Self {
        Self { width, text: String::new(), ends: Vec::new() }
    }

    fn push(&mut self, field: &str) {
        self.text.push_str(field);
        self.ends.push(self.text.len());
    }

    fn field(&self, index: usize) -> &str {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[index]]
    }

    fn row(&self, row: usize) -> impl Iterator<Item = &str> + Clone {
        (row * self.width..(row + 1) * self.width).map(|index| self.field(index))
    }

    fn len(&self) -> usize {
        self.ends.len() / self.width
    }

    fn rows(&self) -> impl Iterator<Item = impl Iterator<Item = &str> + Clone> {
        (0..self.len()).map(|row| self.row(row))
    }
}

/// How lines end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    Lf,
    CrLf,
    /// `\r\n`, but the last line has no end.
    OpenCrLf,
}

impl Ends {
    const WORDS: [(Self, &'static str); 2] = [(Self::OpenCrLf, " crlf open"), (Self::CrLf, " crlf")];

    fn of(text: &str) -> Self {
        match (text.contains("\r\n"), text.ends_with('\r')) {
            (false, _) => Self::Lf,
            (true, true) => Self::CrLf,
            (true, false) => Self::OpenCrLf,
        }
    }
}

/// Fewest lines of a table.
const FEWEST_LINES: usize = 4;
/// Longest line of an aligned table, in characters.
const WIDEST: usize = 1000;

impl Table {
    /// Reads a table: all lines of a text, which has no line end at its end.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let ends = Ends::of(text);
        let lines = text.lines().count();
        if lines < FEWEST_LINES || text.is_empty() {
            return None;
        }
        let first = text.lines().next()?;
        let delimited = ['\t', ',', ';', '|'].into_iter().filter(|mark| first.contains(*mark)).find_map(|mark| {
            let rows = split(text, mark)?;
            let form = Form::Delimited(mark);
            (form.print(&rows, ends) == text).then_some((form, rows))
        });
        let (form, rows) = delimited.or_else(|| {
            let (columns, rows) = align(text)?;
            let form = Form::Aligned(columns);
            (form.print(&rows, ends) == text).then_some((form, rows))
        })?;
        let mut names: Vec<&str> = rows.row(0).collect();
        names.sort_unstable();
        names.dedup();
        let is_loud = |name: &str| !name.contains(char::is_lowercase);
        let has_header = names.len() == rows.width
            && names.iter().all(|name| !name.is_empty() && !is_number(name) && name.len() < 80)
            && (matches!(form, Form::Delimited(_)) || names.iter().all(|name| is_loud(name)));
        Some(Self { form, ends, has_header, rows })
    }

    /// The records, as a tree.
    pub(super) fn tree(&self) -> Tree<'_> {
        let escapes = Escapes::default();
        let names: Vec<Cow<'_, str>> = match self.has_header {
            true => self.rows.row(0).map(|name| escapes.spell(name)).collect(),
            false => (1..=self.rows.width).map(|number| format!("c{number}").into()).collect(),
        };
        let mut tree = Tree::default();
        tree.nodes.reserve(self.rows.ends.len() + self.rows.len() + 1);
        let mut records = Vec::with_capacity(self.rows.len());
        for (index, row) in self.rows.rows().skip(usize::from(self.has_header)).enumerate() {
            let mut fields = Vec::with_capacity(names.len());
            for (name, field) in names.iter().zip(row) {
                if field.is_empty() && index > 0 {
                    continue;
                }
                let quoted = !is_literal(field);
                let text = if quoted { escapes.spell(field) } else { Cow::Borrowed(field) };
                fields.push((name.clone(), tree.push(Node::Scalar { quoted, text })));
            }
            records.push(tree.push(Node::Object(fields)));
        }
        tree.finish(Node::Array(records))
    }

    /// Legend and body.
    pub(super) fn fold(&self, encoding: Encoding) -> (String, String) {
        let tree = self.tree();
        let plan = Plan::of(&tree, encoding);
        let body = write::write(&tree, &plan, Escapes::default(), encoding);
        let ends = Ends::WORDS.iter().find(|(ends, _)| *ends == self.ends).map_or("", |(_, word)| word);
        let header = if self.has_header { "" } else { " bare" };
        (format!("table {}{ends}{header}{HOW_TO_READ}", self.form.to_words()), body)
    }

    /// How many lines come before the first record.
    pub(super) fn head_lines(&self) -> usize {
        usize::from(self.has_header)
    }
}

/// Undoes [`Table::fold`].
pub(super) fn unfold(legend: &str, body: &str) -> Option<String> {
    let words = legend.strip_prefix("table ")?.strip_suffix(HOW_TO_READ)?;
    let (words, has_header) = words.strip_suffix(" bare").map_or((words, true), |words| (words, false));
    let ends = Ends::WORDS.iter().find_map(|(ends, word)| Some((words.strip_suffix(word)?, *ends)));
    let (words, ends) = ends.unwrap_or((words, Ends::Lf));
    let form = Form::parse(words)?;
    let tree = read::read(body, Escapes::default())?;
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
    if has_header {
        for name in &names {
            rows.push(&escapes::meaning(name)?);
        }
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
    if let Form::Aligned(columns) = &form
        && columns.len() != names.len()
    {
        return None;
    }
    Some(form.print(&rows, ends))
}

impl Form {
    fn to_words(&self) -> String {
        match self {
            Self::Delimited('\t') => "tsv".into(),
            Self::Delimited(',') => "csv".into(),
            Self::Delimited(mark) => format!("split={mark}"),
            Self::Aligned(columns) => {
                let words = columns.iter().map(|column| {
                    let side = if column.right { 'r' } else { 'l' };
                    format!("{side}{}-{}", column.range.start, column.range.end)
                });
                words.collect::<Vec<_>>().join(" ")
            }
        }
    }

    fn parse(words: &str) -> Option<Self> {
        if let Some(mark) = words.strip_prefix("split=") {
            return [';', '|'].into_iter().find(|own| mark.chars().eq([*own])).map(Self::Delimited);
        }
        match words {
            "tsv" => return Some(Self::Delimited('\t')),
            "csv" => return Some(Self::Delimited(',')),
            _ => {}
        }
        let columns = words.split(' ').map(|word| {
            let right = word.starts_with('r');
            let (start, end) = word.strip_prefix(['l', 'r'])?.split_once('-')?;
            let (start, end): (usize, usize) = (start.parse().ok()?, end.parse().ok()?);
            (start < end && end <= WIDEST).then_some(Column { range: start..end, right })
        });
        columns.collect::<Option<Vec<_>>>().map(Self::Aligned)
    }

    fn print(&self, rows: &Fields, ends: Ends) -> String {
        let mut out = String::with_capacity(rows.text.len() + rows.ends.len() + rows.len());
        for (index, row) in rows.rows().enumerate() {
            if index > 0 {
                out.push_str(if ends == Ends::Lf { "\n" } else { "\r\n" });
            }
            match self {
                Self::Delimited(mark) => print_delimited(&mut out, row, *mark),
                Self::Aligned(columns) => print_aligned(&mut out, row, columns),
            }
        }
        if ends == Ends::CrLf {
            // The second half of the last line's end is not part of a fold.
            out.push('\r');
        }
        out
    }
}

fn print_delimited<'f>(out: &mut String, row: impl Iterator<Item = &'f str>, mark: char) {
    for (column, field) in row.enumerate() {
        if column > 0 {
            out.push(mark);
        }
        if field.bytes().any(|byte| char::from(byte) == mark || matches!(byte, b'"' | b'\n' | b'\r')) {
            out.push('"');
            out.push_str(&field.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(field);
        }
    }
}

fn print_aligned<'f>(out: &mut String, row: impl Iterator<Item = &'f str>, columns: &[Column]) {
    let mut at = 0;
    let mut pending = 0;
    for (field, column) in row.zip(columns) {
        if field.is_empty() {
            continue;
        }
        let width = field.chars().count();
        let start = if column.right { column.range.end.saturating_sub(width) } else { column.range.start };
        pending += start.saturating_sub(at + pending);
        out.extend(std::iter::repeat_n(' ', pending));
        out.push_str(field);
        at = start.max(at) + width;
        pending = 0;
    }
}

/// The fields of all lines, with a mark between them; the same number on each.
fn split(text: &str, mark: char) -> Option<Fields> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).delimiter(u8::try_from(mark).ok()?).from_reader(text.as_bytes());
    let mut record = csv::StringRecord::new();
    let mut rows = Fields::new(0);
    rows.text.reserve(text.len());
    while reader.read_record(&mut record).ok()? {
        rows.width = record.len();
        record.iter().for_each(|field| rows.push(field));
    }
    (rows.width > 1 && rows.len() >= FEWEST_LINES).then_some(rows)
}

/// Columns that are blank in no line at all their places, and what is in them.
fn align(text: &str) -> Option<(Vec<Column>, Fields)> {
    let lines: Vec<Vec<char>> = text.lines().map(|line| line.chars().take(WIDEST + 1).collect()).collect();
    let width = lines.iter().map(Vec::len).max()?;
    if width > WIDEST || lines.iter().flatten().any(|c| c.is_control()) {
        return None;
    }
    let mut is_used = vec![false; width];
    for line in &lines {
        for (used, c) in is_used.iter_mut().zip(line) {
            *used |= *c != ' ';
        }
    }
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (at, used) in is_used.iter().enumerate() {
        match ranges.last_mut() {
            Some(last) if *used && last.end == at => last.end = at + 1,
            _ if *used => ranges.push(at..at + 1),
            _ => {}
        }
    }
    if ranges.len() < 2 {
        return None;
    }
    let mut columns: Vec<Column> = ranges.into_iter().map(|range| Column { range, right: false }).collect();
    let mut rows = Fields::new(columns.len());
    for line in &lines {
        for Column { range, right } in &mut columns {
            let slice: String = line[range.start.min(line.len())..range.end.min(line.len())].iter().collect();
            *right |= slice.starts_with(' ') && !slice.trim().is_empty();
            rows.push(slice.trim_matches(' '));
        }
    }
    Some((columns, rows))
}
