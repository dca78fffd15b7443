//! Tables: the division of lines into cells, rules, and headers.
//!
//! The dialect is decided once, from the first lines. A text whose lines do not agree has none.

use std::borrow::Cow;

use super::lines::head;

/// The number of lines from which the dialect is decided.
const PROBED: usize = 40;

/// The maximum length of a row, in bytes.
const LONGEST_ROW: usize = 65_536;

/// The maximum number of lines above a header that say what the table is.
pub(crate) const MAX_TITLE: usize = 3;

/// The minimum share of rows with as many cells as the first, in percent; tuned on the labelled texts of
/// `tests/texts/detection.rs`.
const SHARE: usize = 92;

/// The separators of values.
pub(crate) const SEPARATORS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// A dialect: how a line is divided into cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// Divided at this byte outside of quotes.
    Delimited(u8),
    /// Divided at bars with blanks around them.
    Pipes,
    /// Divided at two or more blanks or a tab.
    Aligned,
    /// Divided at any blanks into this many cells; the last cell takes the rest.
    Blanks(usize),
}

fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim().is_empty() && !is_rule(line) && !is_count(line))
}

/// Returns the table below the figures that `top` prints above its header, or the whole text.
pub fn below_figures(text: &str) -> &str {
    const MOST_FIGURES: usize = 10;
    let (mut start, mut is_behind_blank) = (0, false);
    for line in text.split_inclusive('\n').take(MOST_FIGURES) {
        match is_capital_header(line) {
            true if is_behind_blank => return &text[start..],
            true => break,
            false => {}
        }
        is_behind_blank = line.trim().is_empty();
        start += line.len();
    }
    text
}

/// Returns true for the row count that psql and mysql print below a table: `(40 rows)`, `40 rows in set (0.01 sec)`.
fn is_count(line: &str) -> bool {
    let line = line.trim();
    let rest = line.trim_start_matches('(').trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len()
        && [" row)", " rows)", " row in set", " rows in set"].iter().any(|end| rest.starts_with(end))
}

/// Returns true if a line is a rule: `|---|:-:|`, `----+----`, `-----  ---`, `=====`.
pub fn is_rule(line: &str) -> bool {
    (line.contains("--") || line.contains("==")) && line.bytes().all(|byte| b"-=+| :\t\r".contains(&byte))
}

/// Returns true if a line underlines a header column by column: `-------  -----`.
pub(crate) fn is_column_rule(row: &str) -> bool {
    let is_line = |word: &str| {
        word.len() >= 2 && (word.bytes().all(|byte| byte == b'-') || word.bytes().all(|byte| byte == b'='))
    };
    row.split_whitespace().nth(1).is_some() && row.split_whitespace().all(is_line)
}

/// Lines of separated values, optionally below a title, a comment, or a header without a cell above the row names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Separated {
    pub(crate) separator: u8,
    /// The number of cells of the first row.
    pub(crate) columns: usize,
    /// The number of lines above the first row.
    pub(crate) title: usize,
}

/// Returns the possible divisions of lines, one for each separator on which nearly all lines agree.
pub(crate) fn separated(lines: &[&str]) -> impl Iterator<Item = Separated> {
    let fits = |separator: u8, title: usize| {
        let rows = &lines[title..];
        let header = separators(rows.first()?, separator);
        // Trailing cells may be missing below a header of several cells.
        let is_row = |count: usize| count == header || header >= 3 && count < header && count * 2 >= header;
        let others = rows.len() - (rows.len() * SHARE).div_ceil(100);
        let is_other = |row: &&&str| !is_row(separators(row, separator));
        let agrees = header > 0 && rows.iter().filter(is_other).nth(others).is_none();
        agrees.then_some(Separated { separator, columns: header + 1, title })
    };
    SEPARATORS.into_iter().filter_map(move |separator| {
        fits(separator, 0).or_else(|| {
            let last = separators(lines.last()?, separator);
            let title = lines.iter().take_while(|line| separators(line, separator) != last).count();
            let is_titled = last >= 2 && (1..=MAX_TITLE).contains(&title) && lines.len() >= title + 4;
            fits(separator, is_titled.then_some(title)?)
        })
    })
}

/// Returns the number of separators outside of quotes in the first 4 KB.
pub(crate) fn separators(row: &str, separator: u8) -> usize {
    let mut quoted = false;
    head(row, 4096)
        .bytes()
        .filter(|&byte| {
            quoted ^= byte == b'"';
            byte == separator && !quoted
        })
        .count()
}

/// Returns true if a line names the columns below it.
pub(crate) fn is_header(row: &str, separator: u8) -> bool {
    head(row, 4096).split(separator as char).all(|cell| is_header_cell(cell.trim().trim_matches('"')))
}

/// Returns true if a cell may name a column: it is short and neither a value nor a sentence.
pub fn is_header_cell(cell: &str) -> bool {
    let is_value = cell.starts_with(|c: char| c.is_ascii_digit() || c == '-') || cell.parse::<f64>().is_ok();
    cell.len() <= 60 && !is_value && !cell.ends_with(['.', ':'])
}

/// Returns the dialect of a text, if most of its first lines agree on one.
pub fn dialect_of(text: &str) -> Option<Dialect> {
    let probe: Vec<&str> = lines_of(text).take(PROBED).collect();
    let agree = |dialect: Dialect| {
        let counts: Vec<usize> = probe.iter().map(|line| cells(line, dialect).len()).collect();
        let usual = *counts.iter().max_by_key(|count| counts.iter().filter(|other| other == count).count())?;
        let share = counts.iter().filter(|count| **count == usual).count();
        (usual > 1 && share * 10 >= counts.len() * 8).then_some(usual)
    };
    if probe.len() < 2 || probe.iter().any(|line| line.len() > LONGEST_ROW) {
        return None;
    }
    if probe.iter().filter(|line| line.trim_start().starts_with('|') || line.contains(" | ")).count() * 10
        >= probe.len() * 8
        && agree(Dialect::Pipes).is_some()
    {
        return Some(Dialect::Pipes);
    }
    // The candidate with the most columns wins: a comma in prose sometimes makes two.
    if let Some(table) = separated(&probe).max_by_key(|table| table.columns) {
        return Some(Dialect::Delimited(table.separator));
    }
    if is_capital_header(probe[0]) {
        return dialect_below_capitals(&probe);
    }
    if agree(Dialect::Aligned).is_some() {
        return Some(Dialect::Aligned);
    }
    agree(Dialect::Blanks(usize::MAX)).filter(|&columns| columns > 3).map(Dialect::Blanks)
}

/// Returns true if a line has at least three words and all of them are in capitals.
pub fn is_capital_header(line: &str) -> bool {
    line.split_whitespace().all(is_capital) && line.split_whitespace().nth(2).is_some()
}

/// Returns the dialect of rows below a header in capitals. Header words separated by one blank are one name, such as
/// `CONTAINER ID`, unless the column below that blank is empty, as below `PID %CPU`.
fn dialect_below_capitals(probe: &[&str]) -> Option<Dialect> {
    let (header, rows) = probe.split_first()?;
    let most = |is_so: &dyn Fn(&str) -> bool| rows.iter().filter(|row| is_so(row)).count() * 10 >= rows.len() * 8;
    let names = header.split_whitespace().count();
    let is_filled = most(&|row| row.split_whitespace().count() >= names);
    let is_aligned = aligned_cells(header).len() > 2;
    let threes = header.as_bytes().windows(3).enumerate();
    let mut blanks = threes
        .filter(|(_, three)| three.split(|&byte| byte == b' ').all(|part| part.len() == 1))
        .map(|(at, _)| at + 1)
        .peekable();
    let is_free = |at: usize| most(&|row| row.as_bytes().get(at) == Some(&b' '));
    if is_filled && (!is_aligned || blanks.peek().is_some() && blanks.all(is_free)) {
        return Some(Dialect::Blanks(names));
    }
    is_aligned.then_some(Dialect::Aligned)
}

/// Returns true if a word is in capitals, as in the headers of `ps` and `kubectl`.
pub fn is_capital(word: &str) -> bool {
    !word.bytes().any(|byte| byte.is_ascii_lowercase()) && word.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// Returns the cells of a line.
fn cells(line: &str, dialect: Dialect) -> Vec<Cow<'_, str>> {
    match dialect {
        // A CSV reader is slow to build, and only these lines need one.
        Dialect::Delimited(delimiter) if !line.starts_with('\u{feff}') && !line.contains(['"', '\r']) => {
            line.split(char::from(delimiter)).map(Cow::Borrowed).collect()
        }
        Dialect::Delimited(delimiter) => {
            let mut reader = csv::ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .delimiter(delimiter)
                .from_reader(line.as_bytes());
            let record = reader.records().next().and_then(Result::ok).unwrap_or_default();
            record.iter().map(|cell| Cow::Owned(cell.to_owned())).collect()
        }
        Dialect::Pipes => {
            let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
            inner.split('|').map(|cell| Cow::Borrowed(cell.trim())).collect()
        }
        Dialect::Aligned => aligned_cells(line),
        Dialect::Blanks(count) => {
            let mut rest = line.trim_start();
            let mut found = Vec::new();
            while found.len() + 1 < count {
                let Some(end) = rest.find(char::is_whitespace) else { break };
                found.push(Cow::Borrowed(&rest[..end]));
                rest = rest[end..].trim_start();
            }
            if !rest.is_empty() {
                found.push(Cow::Borrowed(rest.trim_end()));
            }
            found
        }
    }
}

fn aligned_cells(line: &str) -> Vec<Cow<'_, str>> {
    let line = line.trim();
    let bytes = line.as_bytes();
    let mut found = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < bytes.len() {
        let gap = bytes[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        if gap > 1 || (gap == 1 && bytes[at] == b'\t') {
            found.push(Cow::Borrowed(&line[start..at]));
            start = at + gap;
        }
        at += gap.max(1);
    }
    found.push(Cow::Borrowed(&line[start..]));
    found
}

/// Calls `row` with the cells of each row and, if the row is one line, with that line.
pub fn for_each_row<'t>(text: &'t str, dialect: Dialect, mut row: impl FnMut(&[Cow<'_, str>], Option<&'t str>)) {
    let Dialect::Delimited(delimiter) = dialect else {
        // The notes of psql below a table, such as the time it took, are not rows.
        for line in lines_of(text).filter(|line| dialect != Dialect::Pipes || line.contains('|')) {
            row(&cells(line, dialect), Some(line));
        }
        return;
    };
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text.as_bytes());
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).unwrap_or(false) {
        let cells: Vec<Cow<'_, str>> = record.iter().map(Cow::Borrowed).collect();
        row(&cells, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_blanks_inside_cells_stay_whole() {
        assert_eq!(cells("1,\"x, y\"", Dialect::Delimited(b',')), ["1", "x, y"]);
        assert_eq!(cells("web one    1/1", Dialect::Aligned), ["web one", "1/1"]);
        assert_eq!(cells("1 ? 00:01 init --all", Dialect::Blanks(4)), ["1", "?", "00:01", "init --all"]);
    }
}
