//! `a,b\n1,x\n2,x` -> the same rows as records of class A: CSV and TSV.
//!
//! A table becomes a tree of objects with the header's names, so it takes the same road as JSON. What a reader of the
//! code would get wrong: an empty field is an absent key, except in the first record, which has all keys and so gives
//! the header.

use std::borrow::Cow;

use concertina_format::ionizer::escapes::escape;
use concertina_format::ionizer::json::HOW_TO_READ;
use concertina_format::ionizer::table::{Ends, Fields, MARKS, needs_quotes, word_of};

use super::records::Plan;
use super::scan::{Node, Tree, is_literal, is_number};
use super::{sample, write};
use crate::tokens::Encoding;

/// A table, read.
#[derive(Debug)]
pub(super) struct Table {
    /// The separator of fields.
    mark: char,
    ends: Ends,
    /// True if exactly the fields that need quotes have them; other tables do not fold.
    is_plain: bool,
    /// True if the first line has names.
    has_header: bool,
    /// The fields of all lines.
    rows: Fields,
}

/// Fewest lines of a table.
const FEWEST_LINES: usize = 4;

impl Table {
    /// Reads a table: all lines of a text, which has no line end at its end.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let ends = ends_of(text);
        let lines = text.lines().count();
        if lines < FEWEST_LINES || text.is_empty() {
            return None;
        }
        let first = text.lines().next()?;
        let (mark, is_plain, rows) = MARKS.into_iter().filter(|mark| first.contains(*mark)).find_map(|mark| {
            let rows = split(text, mark)?;
            let quoted = quoted(text, &rows, mark, ends)?;
            let is_plain =
                quoted.iter().enumerate().all(|(at, is_quoted)| needs_quotes(rows.field(at), mark) == *is_quoted);
            Some((mark, is_plain, rows))
        })?;
        let mut names: Vec<&str> = rows.row(0).collect();
        names.sort_unstable();
        names.dedup();
        let has_header = names.len() == rows.width
            && names.iter().all(|name| !name.is_empty() && !is_number(name) && name.len() < 80);
        Some(Self { mark, ends, is_plain, has_header, rows })
    }

    /// Returns some records and statistics of all, with the line numbers of omitted rows if wanted.
    pub(super) fn sample(&self, first_line: usize, wants_lines: bool) -> Option<String> {
        let has_header = self.is_headed();
        let names = self.names(has_header);
        let tree = self.records(&names, has_header, false);
        let Node::Array(records) = &tree.nodes[tree.root] else { return None };
        let mut next = first_line;
        let rows = self.rows.rows().map(|row| {
            let first = next;
            next += 1 + row.map(|field| field.matches('\n').count()).sum::<usize>();
            (first, next - 1)
        });
        let rows: Vec<(usize, usize)> = rows.collect();
        let lines = |id| Some(rows[usize::from(has_header) + records.binary_search(&id).ok()?]);
        sample::sample(&tree, &names, &|id| lines(id).filter(|_| wants_lines))
    }

    /// Returns true if the first line is certainly a header. A fold reads back either way, but a sample would be wrong.
    /// A header stands above numbers or has no field that reads as a value, and its names do not recur in their
    /// columns.
    fn is_headed(&self) -> bool {
        let mut numbers = vec![0; self.rows.width];
        let mut again = vec![0; self.rows.width];
        for row in self.rows.rows().skip(1) {
            for (column, (name, field)) in self.rows.row(0).zip(row).enumerate() {
                numbers[column] += usize::from(is_number(field));
                again[column] += usize::from(name == field);
            }
        }
        let records = self.rows.line_count() - 1;
        let any = |counts: &[usize], tenths: usize| counts.iter().any(|count| count * 10 >= records * tenths);
        let is_named = any(&numbers, 5) || !self.rows.row(0).any(reads_as_value);
        self.has_header && is_named && !any(&again, 1)
    }

    fn names(&self, has_header: bool) -> Vec<Cow<'_, str>> {
        match has_header {
            true => self.rows.row(0).map(escape).collect(),
            false => (1..=self.rows.width).map(|number| format!("c{number}").into()).collect(),
        }
    }

    fn records<'t>(&'t self, names: &[Cow<'t, str>], has_header: bool, is_first_whole: bool) -> Tree<'t> {
        let mut tree = Tree::default();
        tree.nodes.reserve(self.rows.ends.len() + self.rows.line_count() + 1);
        let mut records = Vec::with_capacity(self.rows.line_count());
        for (index, row) in self.rows.rows().skip(usize::from(has_header)).enumerate() {
            let mut fields = Vec::with_capacity(names.len());
            for (name, field) in names.iter().zip(row) {
                if field.is_empty() && (index > 0 || !is_first_whole) {
                    continue;
                }
                let quoted = !is_literal(field);
                let text = if quoted { escape(field) } else { Cow::Borrowed(field) };
                fields.push((name.clone(), tree.push(Node::Scalar { quoted, text })));
            }
            records.push(tree.push(Node::Object(fields)));
        }
        tree.finish(Node::Array(records))
    }

    /// Returns the legend and body; `None` if the table does not fold.
    pub(super) fn fold(&self, encoding: Encoding) -> Option<(String, String)> {
        (self.is_plain && self.has_header).then_some(())?;
        let tree = self.records(&self.names(true), true, true);
        let plan = Plan::of(&tree, encoding);
        let body = write::write(&tree, &plan, encoding);
        let ends = Ends::WORDS.iter().find(|(ends, _)| *ends == self.ends).map_or("", |(_, word)| word);
        Some((format!("table {}{ends}{HOW_TO_READ}", word_of(self.mark)), body))
    }
}

/// Returns the line ends of a text.
fn ends_of(text: &str) -> Ends {
    match (text.contains("\r\n"), text.ends_with('\r')) {
        (false, _) => Ends::Lf,
        (true, true) => Ends::CrLf,
        (true, false) => Ends::OpenCrLf,
    }
}

/// Returns true if a field of a first line is not a name: a date, a size, a path, an address, a hash.
fn reads_as_value(field: &str) -> bool {
    let is_hash = |word: &str| {
        word.len() >= 20 && word.bytes().all(|c| c.is_ascii_alphanumeric()) && word.bytes().any(|c| c.is_ascii_digit())
    };
    field.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '/' | '.' | '~'))
        || field.matches('/').nth(1).is_some()
        || field.trim_start_matches('@').contains('@')
        || field.split(' ').any(is_hash)
}

/// Returns true for each quoted field; `None` if the text does not consist of exactly these fields.
fn quoted(text: &str, rows: &Fields, mark: char, ends: Ends) -> Option<Vec<bool>> {
    let mut rest = text;
    let mut quoted = Vec::with_capacity(rows.ends.len());
    for (index, row) in rows.rows().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix(ends.between())?;
        }
        for (column, field) in row.enumerate() {
            if column > 0 {
                rest = rest.strip_prefix(mark)?;
            }
            let inside = rest.strip_prefix('"');
            quoted.push(inside.is_some());
            rest = match inside {
                Some(inside) if field.contains('"') => {
                    inside.strip_prefix(&field.replace('"', "\"\""))?.strip_prefix('"')?
                }
                Some(inside) => inside.strip_prefix(field)?.strip_prefix('"')?,
                None if needs_quotes(field, mark) => return None,
                None => rest.strip_prefix(field)?,
            };
        }
    }
    (rest == if ends == Ends::CrLf { "\r" } else { "" }).then_some(quoted)
}

/// Splits all lines into fields; `None` unless all have the same number.
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
    (rows.width > 1 && rows.line_count() >= FEWEST_LINES).then_some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(text: &str) -> String {
        Table::parse(text).expect("a table").sample(1, true).expect("many rows")
    }

    #[test]
    fn a_sample_takes_no_value_for_a_name() {
        let of = |row: &dyn Fn(usize) -> String| sampled(&(0..40).map(row).collect::<Vec<_>>().join("\n"));
        for bare in [
            of(&|n| format!("{}.{n}K\t2026-01-01 00:{n:02}\t/usr/share/doc/{n}", n % 7)),
            of(&|n| format!("100644 blob 692f6c6a5a3c0a8135dca4e327dc86d88a2184{n:02}  {n}\tsrc/a{n}.rs")),
            of(&|n| format!("refs/heads/topic-{n}\tcommit\tsubject {n}")),
        ] {
            assert!(bare.contains("[40 rows\nc1: ") && bare.contains("\n1: {\"c1\":"), "{bare}");
        }
        let header = |n: usize| if n == 0 { "@time,user/host,2d area".to_owned() } else { format!("t{n},h{n},{n}") };
        assert!(of(&header).contains("[39 rows\n@time: 39 different\n"), "{}", of(&header));
        let words = |n: usize| if n == 0 { "city;land".to_owned() } else { format!("c{};l{}", n % 3, n % 7) };
        assert!(of(&words).contains("[39 rows\ncity: "), "{}", of(&words));
    }

    #[test]
    fn a_table_with_quotes_where_they_are_needed_comes_back_and_another_is_sampled() {
        let quote = |field: &str| format!("\"{}\"", field.replace('"', "\"\""));
        let row = |n: usize| match n {
            0 => ["id", "name", "open", "note"].map(str::to_owned),
            _ => [
                n.to_string(),
                format!("n{n}, Jr."),
                n.is_multiple_of(2).to_string(),
                ["", "two\nlines", "5\" disk"][n % 3].to_owned(),
            ],
        };
        let table = |rule: &dyn Fn(&str) -> bool, end: &str| {
            let field =
                |field: &String| if rule(field) || needs_quotes(field, ',') { quote(field) } else { field.clone() };
            (0..40).map(|n| row(n).iter().map(field).collect::<Vec<_>>().join(",")).collect::<Vec<_>>().join(end)
        };
        for (end, words) in [("\n", "table csv;"), ("\r\n", "table csv crlf open;")] {
            let text = table(&|_| false, end);
            let (legend, body) = Table::parse(&text).expect("a table").fold(Encoding::O200kBase).expect("a rule");
            assert!(legend.starts_with(words), "{legend}");
            let fold = crate::pipeline::fold::Fold::new("ionizer", legend, Some(body));
            assert_eq!(concertina_format::unfold(&fold).as_deref(), Some(&*text));
        }
        let mixed = table(&|field| field.ends_with('2'), "\n");
        assert!(Table::parse(&mixed).expect("a table").fold(Encoding::O200kBase).is_none());
        assert!(sampled(&mixed).contains("[39 rows\nid: 39 numbers"), "{}", sampled(&mixed));
        for not_these in ["a,b\n\"1\" ,2\n3,4\n5,6", "a,b\n1,2\n\n3,4\n5,6"] {
            assert!(Table::parse(not_these).is_none(), "{not_these}");
        }
    }

    #[test]
    fn a_sample_counts_empty_fields_and_lines_as_they_are() {
        let row = |n: usize| match n {
            0 => "id,note,none".to_owned(),
            1 => "1,,".to_owned(),
            _ if n.is_multiple_of(2) => format!("{n},\"two\nlines {n}\","),
            _ => format!("{n},,"),
        };
        let text = (0..61).map(row).collect::<Vec<_>>().join("\n");
        let sample = sampled(&text);
        assert!(sample.contains("\nnote: 30 different; absent 30\nnone: absent 60\n1: {\"id\":1}\n"), "{sample}");
        let line = |n: usize| text.lines().position(|line| line.starts_with(&format!("{n},"))).unwrap_or_default() + 1;
        let mut gaps = 0;
        for gap in sample.lines().filter_map(|line| line.strip_prefix("[… ")) {
            let numbers: Vec<usize> =
                gap.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
            let [_, first, last, from, to] = numbers[..] else { panic!("{gap}") };
            assert_eq!((from, to), (line(first), line(last + 1) - 1), "{gap}");
            gaps += 1;
        }
        assert!(gaps > 2, "{sample}");
    }
}
