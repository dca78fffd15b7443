//! Tables: the division of lines into cells, rules, and headers.
//!
//! The dialect is decided once, from the first lines. A text whose lines do not agree has none.

use std::borrow::Cow;

use super::cut_note::is_note_between_lines;
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

/// The bars of drawn tables.
const BARS: [char; 4] = ['|', '│', '┃', '║'];

/// A dialect: how a line is divided into cells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// Divided at this byte outside of quotes.
    Delimited(u8),
    /// Divided at bars with blanks around them.
    Bars(Bars),
    /// Divided before these positions, which count characters and begin with 0: all lines are blank there.
    Columns(Vec<usize>),
    /// Divided at two or more blanks or a tab.
    Aligned,
    /// Divided at any blanks into this many cells; the last cell takes the rest.
    Blanks(usize),
}

/// A table that is drawn with bars.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bars {
    bar: char,
    /// True if a bar is before the first cell.
    is_framed: bool,
    /// True if a row without a first cell continues the row above it. A row of Markdown is always one line.
    may_wrap: bool,
}

/// A part of a table.
pub enum Row<'r> {
    /// The cells of a row and, if the row is one line, that line.
    Cells(&'r [Cow<'r, str>], Option<&'r str>),
    /// Further lines of the cells of the row above.
    Continued(&'r [Cow<'r, str>]),
    /// The place of rows that the table leaves out: `...`.
    Gap(&'r str),
    /// The number of rows according to the output: `(40 rows)`.
    Count(&'r str),
    /// A line below the table that has another form.
    Below(&'r str),
}

fn lines_of(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.lines().filter(|line| !is_beside_rows(line) && !is_rule(line) && !is_drawn_rule(line))
}

/// Returns true for a blank line, a row count, and a note that lines are missing.
fn is_beside_rows(line: &str) -> bool {
    line.trim().is_empty() || is_count(line) || is_note_between_lines(line)
}

/// Returns true for a rule of box-drawing characters: `├──┼──┤`.
fn is_drawn_rule(line: &str) -> bool {
    line.contains(['─', '━', '═', '╌']) && line.chars().all(|c| c.is_whitespace() || ('─'..='╿').contains(&c))
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

/// Returns true for the row count that psql, mysql and pandas print below a table: `(40 rows)`, `40 rows in set (0.01
/// sec)`, `[40 rows x 3 columns]`.
fn is_count(line: &str) -> bool {
    let line = line.trim();
    let rest = line.trim_start_matches(['(', '[']).trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len()
        && [" row)", " rows)", " row in set", " rows in set", " rows x "].iter().any(|end| rest.starts_with(end))
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
    let is_value = cell.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | ':'))
        || cell.contains('=')
        || cell.parse::<f64>().is_ok()
        || cell.split(' ').any(is_hash);
    cell.len() <= 60 && !is_value && !cell.ends_with(['.', ':'])
}

/// Returns true for a hash as git prints it, or a longer one.
fn is_hash(word: &str) -> bool {
    const SHORTEST: usize = 7;
    word.len() >= SHORTEST
        && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && word.bytes().any(|byte| byte.is_ascii_digit())
}

/// Returns the dialect of a text, if most of its first lines agree on one.
pub fn dialect_of(text: &str) -> Option<Dialect> {
    let mut probe: Vec<&str> = lines_of(text).filter(|line| !is_gap(line)).take(PROBED).collect();
    if probe.len() < 2 || probe.iter().any(|line| line.len() > LONGEST_ROW) {
        return None;
    }
    // The last line may be a note below the table.
    probe.truncate(probe.len().saturating_sub(1).max(3));
    let agree = |dialect: &Dialect| {
        let counts: Vec<usize> = probe.iter().map(|line| cells(line, dialect).len()).collect();
        let usual = *counts.iter().max_by_key(|count| counts.iter().filter(|other| other == count).count())?;
        let share = counts.iter().filter(|count| **count == usual).count();
        (usual > 1 && share * 10 >= counts.len() * 8).then_some(usual)
    };
    for bar in BARS {
        let is_divided = |line: &&&str| line.trim_start().starts_with(bar) || line.contains(&format!(" {bar} "));
        let is_framed = probe[0].trim_start().starts_with(bar);
        let is_markdown = || text.lines().take(PROBED).any(|line| is_rule(line) && line.contains('|'));
        let dialect = || Dialect::Bars(Bars { bar, is_framed, may_wrap: !is_markdown() });
        if probe.iter().filter(is_divided).count() * 10 >= probe.len() * 8 && agree(&dialect()).is_some() {
            return Some(dialect());
        }
    }
    // The candidate with the most columns wins: a comma in prose sometimes makes two.
    if let Some(table) = separated(&probe).max_by_key(|table| table.columns) {
        return Some(Dialect::Delimited(table.separator));
    }
    if is_capital_header(probe[0]) {
        return dialect_below_capitals(text, &probe);
    }
    if agree(&Dialect::Aligned).is_some() {
        return Some(aligned(text, probe[0]));
    }
    agree(&Dialect::Blanks(usize::MAX)).filter(|&columns| columns > 3).map(Dialect::Blanks)
}

/// Returns true if a line has at least three words and all of them are in capitals.
pub fn is_capital_header(line: &str) -> bool {
    line.split_whitespace().all(is_capital) && line.split_whitespace().nth(2).is_some()
}

/// Returns the dialect of rows below a header in capitals. Header words separated by one blank are one name, such as
/// `CONTAINER ID`, unless the column below that blank is empty, as below `PID %CPU`.
fn dialect_below_capitals(text: &str, probe: &[&str]) -> Option<Dialect> {
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
    let dialect = aligned(text, header);
    (is_aligned || matches!(&dialect, Dialect::Columns(starts) if starts.len() > 2)).then_some(dialect)
}

/// Returns the dialect of a text whose columns are aligned with blanks.
fn aligned(text: &str, first: &str) -> Dialect {
    let cells = aligned_cells(first).len();
    columns(text).filter(|starts| starts.len() >= cells).map_or(Dialect::Aligned, Dialect::Columns)
}

/// Returns the positions at which the columns of a text begin: at least two, with blanks before them in all lines.
fn columns(text: &str) -> Option<Vec<usize>> {
    let mut lines: Vec<&str> = text
        .lines()
        .filter(|line| !is_beside_rows(line) && !is_gap(line) && (!is_rule(line) || is_column_rule(line)))
        .collect();
    if lines.len() > 3 && lines.last().is_some_and(|line| !line.trim().contains("  ")) {
        lines.pop();
    }
    let (first, others) = lines.split_first()?;
    let marks = |lines: &[&str]| {
        let mut marks = Vec::new();
        for line in lines {
            for (at, c) in line.trim_end().chars().enumerate() {
                if at == marks.len() {
                    marks.push(false);
                }
                marks[at] |= c != ' ';
            }
        }
        marks
    };
    let (above, below) = (marks(&[first]), marks(others));
    let is_in = |marks: &[bool], at: usize| marks.get(at).is_some_and(|&mark| mark);
    let is_headed = first.split_whitespace().all(|word| word.bytes().any(|byte| !b"0123456789.,:-+%".contains(&byte)));
    /// Positions without a blank column among them.
    struct Word {
        start: usize,
        /// The number of blank columns before it.
        blanks: usize,
        /// True if the first line has something there.
        above: bool,
        /// True if another line has something there.
        below: bool,
    }
    let (mut words, mut end) = (Vec::new(), None);
    // Only the last cell of a row may be longer than the header.
    for at in 0..if is_headed { above.len() } else { above.len().max(below.len()) } {
        let (is_above, is_below) = (is_in(&above, at), is_in(&below, at));
        if !is_above && !is_below {
            continue;
        }
        if end != Some(at) {
            words.push(Word { start: at, blanks: end.map_or(2, |end| at - end), above: false, below: false });
        }
        let word = words.last_mut()?;
        word.above |= is_above;
        word.below |= is_below;
        end = Some(at + 1);
    }
    // One blank may be within a cell, unless the header and the rows have something on both sides of it.
    // Where it is between columns, a header in capitals has no names of several words.
    let is_dense = is_capital_header(first) && words.iter().any(|word| word.blanks == 1 && word.above && word.below);
    let is_start = |word: &&Word| {
        let has_gap = || word.start > 1 && !is_in(&above, word.start - 1) && !is_in(&above, word.start - 2);
        word.blanks > 1 || is_headed && word.above && (word.below || is_dense || has_gap())
    };
    let mut starts: Vec<usize> = words.iter().filter(is_start).map(|word| word.start).collect();
    *starts.first_mut()? = 0;
    (starts.len() > 1 && !text.contains('\t')).then_some(starts)
}

/// Returns true if a word is in capitals, as in the headers of `ps` and `kubectl`.
pub fn is_capital(word: &str) -> bool {
    !word.bytes().any(|byte| byte.is_ascii_lowercase()) && word.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// Returns the cells of a line.
fn cells<'t>(line: &'t str, dialect: &Dialect) -> Vec<Cow<'t, str>> {
    match dialect {
        // A CSV reader is slow to build, and only these lines need one.
        &Dialect::Delimited(delimiter) if !line.starts_with('\u{feff}') && !line.contains(['"', '\r']) => {
            line.split(char::from(delimiter)).map(Cow::Borrowed).collect()
        }
        &Dialect::Delimited(delimiter) => {
            let mut reader = csv::ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .delimiter(delimiter)
                .from_reader(line.as_bytes());
            let record = reader.records().next().and_then(Result::ok).unwrap_or_default();
            record.iter().map(|cell| Cow::Owned(cell.to_owned())).collect()
        }
        Dialect::Bars(Bars { bar, is_framed, .. }) => {
            let bare = line.trim();
            let inner = if *is_framed { bare.strip_prefix(*bar).unwrap_or(bare) } else { line };
            let inner = if *is_framed { inner.strip_suffix(*bar).unwrap_or(inner) } else { inner };
            inner.split(*bar).map(|cell| Cow::Borrowed(cell.trim())).collect()
        }
        Dialect::Columns(starts) => {
            let mut ends = line.char_indices().map(|(at, _)| at).enumerate().peekable();
            let mut found = Vec::new();
            let mut from = 0;
            for next in starts[1..].iter().chain([&usize::MAX]) {
                while ends.next_if(|(at, _)| at < next).is_some() {}
                let to = ends.peek().map_or(line.len(), |(_, to)| *to);
                found.push(Cow::Borrowed(line[from..to].trim()));
                from = to;
            }
            found
        }
        Dialect::Aligned => aligned_cells(line),
        &Dialect::Blanks(count) => {
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

/// Returns true if a line stands for rows that are left out: `...`.
fn is_gap(line: &str) -> bool {
    let cells = || line.split([' ', ',', '|', '│', '┆']).map(Cow::Borrowed).collect::<Vec<_>>();
    line.contains(['.', '…', '⋮']) && gap_in(&cells()).is_some()
}

/// Returns the sign for rows that are left out, if cells consist of such signs.
fn gap_in<'c>(cells: &'c [Cow<'_, str>]) -> Option<&'c str> {
    let is_gap = cells.iter().all(|cell| cell.trim().chars().all(|c| matches!(c, '.' | '…' | '⋮')));
    let sign = cells.iter().find(|cell| cell.contains("...") || cell.contains(['…', '⋮']));
    sign.filter(|_| is_gap).map(|sign| sign.trim())
}

/// The maximum number of lines below a table that are told apart from rows.
const MOST_BELOW: usize = 3;

/// Divides a text into a table and the lines below it that have another form.
pub fn split_below<'t>(text: &'t str, dialect: &Dialect) -> (&'t str, &'t str) {
    let Some(first) = lines_of(text).next() else { return (text, "") };
    let is_other = |line: &str| match dialect {
        &Dialect::Delimited(by) => !line.contains('"') && separators(line, by) * 2 < separators(first, by),
        Dialect::Bars(Bars { bar, .. }) => !line.contains(*bar),
        Dialect::Columns(starts) => {
            let blanks: Vec<bool> = line.chars().map(|c| c == ' ').collect();
            let is_filled = |at: &usize| blanks.get(at - 1) == Some(&false);
            !line.trim().contains("  ") && starts[1..].iter().any(is_filled)
        }
        Dialect::Aligned => line.trim().contains(' ') && aligned_cells(line).len() == 1,
        Dialect::Blanks(count) => line.split_whitespace().count() * 2 <= *count,
    };
    let mut end = text.len();
    for (index, line) in text.lines().rev().filter(|line| !line.trim().is_empty()).take(MOST_BELOW + 1).enumerate() {
        if !is_count(line) && !is_gap(line) && (is_rule(line) || is_drawn_rule(line) || !is_other(line)) {
            break;
        }
        // More lines are not a note, but another part of the text.
        end = if index < MOST_BELOW { line.as_ptr().addr() - text.as_ptr().addr() } else { text.len() };
    }
    text.split_at(end)
}

/// Calls `row` with each part of a table that [`split_below`] returned, and then with the lines below it.
pub fn for_each_row((table, below): (&str, &str), dialect: &Dialect, mut row: impl FnMut(Row<'_>)) {
    let mut one = |cells: &[Cow<'_, str>], line: Option<&str>| match (dialect, gap_in(cells)) {
        (_, Some(sign)) => row(Row::Gap(sign)),
        _ if line.is_none() && cells.len() < 3 && is_note_between_lines(&cells.join(",")) => {}
        // The notes of a tool between rows have no bars.
        (Dialect::Bars(_), _) if cells.len() < 2 => {}
        (Dialect::Bars(bars), _) if bars.may_wrap && cells.len() > 1 && cells[0].is_empty() => {
            row(Row::Continued(cells));
        }
        _ => row(Row::Cells(cells, line)),
    };
    if let &Dialect::Delimited(delimiter) = dialect {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .from_reader(table.as_bytes());
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).unwrap_or(false) {
            one(&record.iter().map(Cow::Borrowed).collect::<Vec<_>>(), None);
        }
    } else {
        lines_of(table).for_each(|line| one(&cells(line, dialect), Some(line)));
    }
    for line in table.lines().chain(below.lines()).filter(|line| is_count(line)) {
        row(Row::Count(line.trim()));
    }
    for line in lines_of(below) {
        row(if is_gap(line) { Row::Gap(line.trim()) } else { Row::Below(line.trim()) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_blanks_inside_cells_stay_whole() {
        assert_eq!(cells("1,\"x, y\"", &Dialect::Delimited(b',')), ["1", "x, y"]);
        assert_eq!(cells("web one    1/1", &Dialect::Aligned), ["web one", "1/1"]);
        assert_eq!(cells("1 ? 00:01 init --all", &Dialect::Blanks(4)), ["1", "?", "00:01", "init --all"]);
    }
}
