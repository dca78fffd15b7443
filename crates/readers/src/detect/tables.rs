//! Detects tables: values separated by commas, tabs, semicolons or bars, Markdown tables, and columns aligned with
//! blanks.
//!
//! Prose has commas and code has aligned columns. A table is recognised by nearly all lines having the same number of
//! them.

use super::page::{PageLine, Question, filled};
use crate::lines::head;
use crate::table::{MAX_TITLE, SEPARATORS, is_capital_header, is_column_rule, is_header, separated, separators};

/// The part of a line that is examined for aligned columns, in bytes.
const WIDTH: usize = 160;
/// The number of lines that are compared for alignment.
const ALIGNED_LINES: usize = 120;

/// Returns true if lines are a table.
pub(super) fn is_table<'p, 't: 'p>(lines: impl IntoIterator<Item = &'p PageLine<'t>>) -> bool {
    let rows: Vec<&PageLine> = filled(lines).collect();
    if rows.len() < 2 {
        return false;
    }
    is_drawn(&rows) || is_separated(&rows) || is_listing(&rows) || is_aligned(&rows) || is_aligned(&rows[1..])
}

/// The minimum number of blank columns. Fewer may be chance, or the assignments of a program.
const MIN_GUTTERS: usize = 3;

/// Returns true if at least `percent` of the rows pass. Stops as soon as the answer is known.
fn share(rows: &[&PageLine], percent: usize, pass: impl Fn(&PageLine) -> bool) -> bool {
    let needed = (rows.len() * percent).div_ceil(100);
    let mut passed = 0;
    for (index, row) in rows.iter().enumerate() {
        if passed >= needed || passed + rows.len() - index < needed {
            break;
        }
        passed += usize::from(pass(row));
    }
    passed >= needed
}

/// Returns true for Markdown tables and for the output of `psql` and `mysql`.
fn is_drawn(rows: &[&PageLine]) -> bool {
    let framed = |row: &PageLine| {
        let bare = row.bare;
        bare.starts_with(['|', '+', '│', '┌', '├', '└', '╔', '║', '╚', '╠']) && bare.len() > 2
    };
    let psql = rows.len() >= 3 && {
        let rule = rows[1].bare;
        rule.contains("-+-") && rule.bytes().all(|byte| matches!(byte, b'-' | b'+')) && rows[0].text.contains('|')
    };
    // Added lines of a diff begin with a plus, too, so there must be bars inside.
    psql || rows.len() >= 3
        && share(rows, 80, framed)
        && share(rows, 50, |row| row.text.matches(['|', '│', '║']).nth(1).is_some())
}

/// Returns true for values separated by commas, tabs, semicolons or bars.
fn is_separated(rows: &[&PageLine]) -> bool {
    let lines: Vec<&str> = rows.iter().map(|row| row.text).collect();
    separated(&lines).any(|table| are_rows(&rows[table.title..], table.separator, table.columns))
}

/// Returns true if rows that agree on a separator are not prose, code or a log.
fn are_rows(rows: &[&PageLine], separator: u8, columns: usize) -> bool {
    let is_bare = |row: &PageLine| {
        row.text.starts_with([' ', '\t', '{', '}', '(', '[', '/', '*', '#', '<', '>']) || row.text.starts_with("- ")
    };
    if rows.len() < 3
        || rows[0].is(Question::Stamped)
        || share(rows, 20, is_bare)
        || share(rows, 50, |row| row.text.ends_with([';', '{', '}', '(']))
        || share(rows, 50, |row| row.text.ends_with(','))
    {
        return false;
    }
    let is_named = is_header(rows[0].text, separator);
    match separator {
        // A comma in prose is followed by a blank. One comma per line is too little evidence without a header.
        b',' => (is_named || columns > 2) && share(rows, 95, |row| !has_spaced_comma(row.text)),
        // `840236<tab>/usr/share`, as `du` and `git diff --numstat` print it.
        b'\t' => columns > 2 || is_named || share(rows, 95, |row| row.text.starts_with(|c: char| c.is_ascii_digit())),
        _ => columns > 2 || is_named,
    }
}

/// The minimum number of rows of a table whose rows are not lines.
const MIN_ROWS: usize = 4;

/// Returns true if a text consists of rows of separated values, some with a line end between quotes, so that its lines
/// are not rows.
pub(super) fn has_broken_rows(text: &str) -> bool {
    let Some(header) = text.lines().next() else { return false };
    SEPARATORS.into_iter().any(|separator| {
        if separators(header, separator) < 2 || !is_header(header, separator) {
            return false;
        }
        // Ends at the first row with another number of cells than the header.
        let mut reader = csv::ReaderBuilder::new().has_headers(false).delimiter(separator).from_reader(text.as_bytes());
        let mut row = csv::ByteRecord::new();
        let (mut rows, mut is_broken) = (0, false);
        loop {
            match reader.read_byte_record(&mut row) {
                Ok(true) => {
                    rows += 1;
                    is_broken |= memchr::memchr(b'\n', row.as_slice()).is_some();
                }
                Ok(false) => return is_broken && rows >= MIN_ROWS,
                Err(_) => return false,
            }
        }
    })
}

/// Returns true if a comma outside of quotes is followed by a blank.
fn has_spaced_comma(row: &str) -> bool {
    let mut quoted = false;
    head(row, 4096).as_bytes().windows(2).any(|pair| {
        quoted ^= pair[0] == b'"';
        !quoted && pair == b", "
    })
}

/// Returns true for the output of `ls -l` and `git log --oneline`.
fn is_listing(rows: &[&PageLine]) -> bool {
    share(rows, 85, |row| row.is(Question::Mode))
        || rows.len() >= 3
            && share(rows, 90, |row| row.is(Question::Hash))
            && share(rows, 60, |row| row.text.bytes().take(7).any(|byte| byte.is_ascii_digit()))
}

/// Returns true if a line begins with a file mode, the first column of `ls -l`, or is the first line of its output.
pub(super) fn has_mode(row: &str) -> bool {
    // `ls -i` and `ls -s` print a number first.
    let row = row.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit());
    row.len() > 10
        && matches!(row.as_bytes()[0], b'-' | b'd' | b'l' | b'c' | b'b' | b'p' | b's')
        && row.bytes().skip(1).take(9).all(|byte| matches!(byte, b'r' | b'w' | b'x' | b's' | b'S' | b't' | b'T' | b'-'))
        || row.starts_with("total ")
}

/// Returns true if a line begins with the hash of a commit.
pub(super) fn has_hash(row: &str) -> bool {
    let digits = row.bytes().take_while(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).count();
    (7..=40).contains(&digits) && row[digits..].starts_with(' ')
}

/// Returns true if a word of a line begins with a digit.
pub(super) fn has_number(row: &str) -> bool {
    let is_start = |at: usize| at == 0 || row[..at].ends_with(char::is_whitespace);
    row.bytes().enumerate().any(|(at, byte)| byte.is_ascii_digit() && is_start(at))
}

/// Returns true if there are two adjacent blanks in the part that is examined for columns.
pub(super) fn has_gap(row: &str) -> bool {
    let bytes = head(row, WIDTH).as_bytes();
    memchr::memchr_iter(b' ', bytes).any(|at| bytes.get(at + 1) == Some(&b' '))
}

/// Returns true if columns start at the same position after two or more blanks, under a header or over numbers
/// (`kubectl get`, `ps`, `df`).
fn is_aligned(rows: &[&PageLine]) -> bool {
    let rows = &rows[..rows.len().min(ALIGNED_LINES)];
    if rows.len() < 3
        || share(rows, 50, |row| row.is(Question::Stamped))
        || share(rows, 30, |row| row.text.starts_with([' ', '\t'])) && !is_capital_header(rows[0].text)
    {
        return false;
    }
    let mut starts = [0usize; WIDTH];
    for row in rows.iter().filter(|row| row.is(Question::Gap)) {
        let bytes = head(row.text, WIDTH).as_bytes();
        for at in 2..bytes.len() {
            let gap = bytes[at - 1] == b' ' && bytes[at - 2] == b' ';
            starts[at] += usize::from(bytes[at] != b' ' && gap);
        }
    }
    let columns = starts.iter().filter(|&&count| count * 100 >= rows.len() * 80).count();
    // In `READY   STATUS`, a header in capitals may be wider than the gap of its column.
    let capitals = rows.iter().take(MAX_TITLE + 1).any(|row| is_capital_header(row.text));
    let ruled = rows.iter().take(MAX_TITLE + 1).any(|row| is_column_rule(row.text));
    let numbers = share(&rows[1..], 60, |row| row.is(Question::Numbers));
    let is_headed = !rows[0].text.bytes().any(|byte| byte.is_ascii_digit())
        && !share(rows, 20, |row| row.text.ends_with([';', '{', '(', ',']));
    columns >= 2 && (capitals || numbers)
        || columns >= 1 && (ruled || is_capital_header(rows[0].text))
        || ruled && has_cells(rows)
        || is_headed && numbers && gutters(rows) >= MIN_GUTTERS
}

/// Returns the number of columns of blanks that extend through nearly all lines, within the width of the first line.
fn gutters(rows: &[&PageLine]) -> usize {
    let width = head(rows[0].text, WIDTH).len();
    let mut blanks = [0usize; WIDTH];
    for row in rows {
        let bytes = head(row.text, WIDTH).as_bytes();
        for (at, blank) in blanks[..width].iter_mut().enumerate() {
            *blank += usize::from(bytes.get(at).is_none_or(|&byte| byte == b' '));
        }
    }
    let is_blank = |at: usize| blanks[at] * 100 >= rows.len() * 95;
    (1..width).filter(|&at| is_blank(at - 1) && !is_blank(at)).count()
}

/// Returns true if nearly all lines have at least two cells.
fn has_cells(rows: &[&PageLine]) -> bool {
    share(rows, 90, |row| row.text.split_whitespace().nth(1).is_some())
}
