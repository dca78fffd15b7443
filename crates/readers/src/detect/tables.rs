//! Tables: values separated by commas, tabs, semicolons or bars, Markdown tables, and columns aligned with blanks.
//!
//! Prose has commas and code has aligned columns: what makes a table is that (nearly) every line has the same number.

use super::page::{PageLine, Question, filled};
use crate::lines::head;
use crate::table::{MAX_TITLE, SEPARATORS, is_capital_header, is_column_rule, is_header, separated, separators};

/// How much of a line counts for columns aligned with blanks, in bytes.
const WIDTH: usize = 160;
/// How many lines are compared for alignment.
const ALIGNED_LINES: usize = 120;

/// Returns true if lines are a table.
pub(super) fn is_table<'p, 't: 'p>(lines: impl IntoIterator<Item = &'p PageLine<'t>>) -> bool {
    let rows: Vec<&PageLine> = filled(lines).collect();
    if rows.len() < 2 {
        return false;
    }
    is_drawn(&rows) || is_separated(&rows) || is_listing(&rows) || is_aligned(&rows) || is_aligned(&rows[1..])
}

/// Fewer columns of blanks may be chance, or the assignments of a program.
const MIN_GUTTERS: usize = 3;

/// Returns true if so many of a hundred rows pass; looks at no more than it takes.
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

/// Markdown tables, `psql` and `mysql` output.
fn is_drawn(rows: &[&PageLine]) -> bool {
    let framed = |row: &PageLine| {
        let bare = row.bare;
        bare.starts_with(['|', '+', '│', '┌', '├', '└', '╔', '║', '╚', '╠']) && bare.len() > 2
    };
    let psql = rows.len() >= 3 && {
        let rule = rows[1].bare;
        rule.contains("-+-") && rule.bytes().all(|byte| matches!(byte, b'-' | b'+')) && rows[0].text.contains('|')
    };
    // A diff's added lines begin with a plus, too: there must be bars inside.
    psql || rows.len() >= 3
        && share(rows, 80, framed)
        && share(rows, 50, |row| row.text.matches(['|', '│', '║']).nth(1).is_some())
}

/// Comma, tab, semicolon or bar separated values.
fn is_separated(rows: &[&PageLine]) -> bool {
    let lines: Vec<&str> = rows.iter().map(|row| row.text).collect();
    separated(&lines).any(|table| are_rows(&rows[table.title..], table.separator, table.columns))
}

/// Returns true if rows that agree on a separator are no prose, code or log.
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
        // A comma in prose has a blank behind it; one a line is too little without a header.
        b',' => (is_named || columns > 2) && share(rows, 95, |row| !has_spaced_comma(row.text)),
        // `840236<tab>/usr/share`, as `du` and `git diff --numstat` print.
        b'\t' => columns > 2 || is_named || share(rows, 95, |row| row.text.starts_with(|c: char| c.is_ascii_digit())),
        _ => columns > 2 || is_named,
    }
}

/// Fewest rows of a table that is told by its rows, not its lines.
const MIN_ROWS: usize = 4;

/// Returns true if a text is rows of separated values of which some have a line end between quotes, so that its lines
/// are no table.
pub(super) fn has_broken_rows(text: &str) -> bool {
    let Some(header) = text.lines().next() else { return false };
    SEPARATORS.into_iter().any(|separator| {
        if separators(header, separator) < 2 || !is_header(header, separator) {
            return false;
        }
        // Ends at the first row with more or fewer cells than the header.
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

/// Returns true if a comma outside of quotes has a blank behind it.
fn has_spaced_comma(row: &str) -> bool {
    let mut quoted = false;
    head(row, 4096).as_bytes().windows(2).any(|pair| {
        quoted ^= pair[0] == b'"';
        !quoted && pair == b", "
    })
}

/// `ls -l` and `git log --oneline`.
fn is_listing(rows: &[&PageLine]) -> bool {
    share(rows, 85, |row| row.is(Question::Mode))
        || rows.len() >= 3
            && share(rows, 90, |row| row.is(Question::Hash))
            && share(rows, 60, |row| row.text.bytes().take(7).any(|byte| byte.is_ascii_digit()))
}

/// Returns true if a line begins with a file's mode, `ls -l`'s first column, or is its first line.
pub(super) fn has_mode(row: &str) -> bool {
    // `ls -i` and `ls -s` print a number first.
    let row = row.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit());
    row.len() > 10
        && matches!(row.as_bytes()[0], b'-' | b'd' | b'l' | b'c' | b'b' | b'p' | b's')
        && row.bytes().skip(1).take(9).all(|byte| matches!(byte, b'r' | b'w' | b'x' | b's' | b'S' | b't' | b'T' | b'-'))
        || row.starts_with("total ")
}

/// Returns true if a line begins with a commit's hash.
pub(super) fn has_hash(row: &str) -> bool {
    let digits = row.bytes().take_while(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).count();
    (7..=40).contains(&digits) && row[digits..].starts_with(' ')
}

/// Returns true if a word of a line begins with a digit.
pub(super) fn has_number(row: &str) -> bool {
    let is_start = |at: usize| at == 0 || row[..at].ends_with(char::is_whitespace);
    row.bytes().enumerate().any(|(at, byte)| byte.is_ascii_digit() && is_start(at))
}

/// Returns true if there are two blanks side by side where columns are looked for.
pub(super) fn has_gap(row: &str) -> bool {
    let bytes = head(row, WIDTH).as_bytes();
    memchr::memchr_iter(b' ', bytes).any(|at| bytes.get(at + 1) == Some(&b' '))
}

/// Columns that start at the same place behind two blanks or more, under a header or over numbers (`kubectl get`, `ps`,
/// `df`).
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
    // `READY   STATUS`: a header in capitals may be wider than its column's gaps.
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

/// How many runs of blanks go down through nearly all lines, within the width of the first.
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

/// Returns true if nearly all lines have two cells or more.
fn has_cells(rows: &[&PageLine]) -> bool {
    share(rows, 90, |row| row.text.split_whitespace().nth(1).is_some())
}
