//! How the lines of a table are divided into cells.
//!
//! The form is decided once, from the first lines; a text whose lines do not agree is no table.

use std::borrow::Cow;

/// Lines that decide how rows are divided.
const PROBED: usize = 40;

/// Bytes; a longer line is no row.
const LONGEST_ROW: usize = 65_536;

/// How a line is divided into cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    Delimited(u8),
    Pipes,
    /// Two blanks or a tab between cells.
    Aligned,
    /// Any blanks between this many cells; the last cell takes the rest.
    Blanks(usize),
}

fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim().is_empty() && !is_rule(line) && !is_count(line))
}

/// The table below the figures that `top` prints above its header, else the whole text.
pub(super) fn below_figures(text: &str) -> &str {
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

/// `(40 rows)`, `40 rows in set (0.01 sec)`: what psql and mysql say of a table.
fn is_count(line: &str) -> bool {
    let line = line.trim();
    let rest = line.trim_start_matches('(').trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len()
        && [" row)", " rows)", " row in set", " rows in set"].iter().any(|end| rest.starts_with(end))
}

/// `|---|---|`, `----+----`, `=====`.
fn is_rule(line: &str) -> bool {
    line.bytes().all(|byte| b"-=+| :\t\r".contains(&byte))
}

/// How the rows of a text are divided, when most of its first lines agree.
pub(super) fn form_of(text: &str) -> Option<Form> {
    let probe: Vec<&str> = lines_of(text).take(PROBED).collect();
    let agree = |form: Form| {
        let counts: Vec<usize> = probe.iter().map(|line| cells(line, form).len()).collect();
        let usual = *counts.iter().max_by_key(|count| counts.iter().filter(|other| other == count).count())?;
        let share = counts.iter().filter(|count| **count == usual).count();
        (usual > 1 && share * 10 >= counts.len() * 8).then_some(usual)
    };
    if probe.len() < 2 || probe.iter().any(|line| line.len() > LONGEST_ROW) {
        return None;
    }
    if probe.iter().filter(|line| line.trim_start().starts_with('|') || line.contains(" | ")).count() * 10
        >= probe.len() * 8
        && agree(Form::Pipes).is_some()
    {
        return Some(Form::Pipes);
    }
    // More columns speak for a delimiter: a comma inside prose makes two now and then.
    let delimited = [b'\t', b',', b';']
        .into_iter()
        .filter_map(|delimiter| Some((agree(Form::Delimited(delimiter))?, Form::Delimited(delimiter))))
        .max_by_key(|(columns, _)| *columns);
    if let Some((_, form)) = delimited {
        return Some(form);
    }
    if is_capital_header(probe[0]) {
        return form_below_capitals(&probe);
    }
    if agree(Form::Aligned).is_some() {
        return Some(Form::Aligned);
    }
    agree(Form::Blanks(usize::MAX)).filter(|&columns| columns > 3).map(Form::Blanks)
}

/// Whether a line has three words or more and all of them are capital.
fn is_capital_header(line: &str) -> bool {
    line.split_whitespace().all(is_capital) && line.split_whitespace().nth(2).is_some()
}

/// How rows below a header in capitals are divided. Words of it with one blank between them are one name, as
/// `CONTAINER ID`, unless nothing stands below that blank, as below that of `PID %CPU`.
fn form_below_capitals(probe: &[&str]) -> Option<Form> {
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
        return Some(Form::Blanks(names));
    }
    is_aligned.then_some(Form::Aligned)
}

/// Whether a word is written in capitals, as `ps` and `kubectl` write their headers.
pub(super) fn is_capital(word: &str) -> bool {
    !word.bytes().any(|byte| byte.is_ascii_lowercase()) && word.bytes().any(|byte| byte.is_ascii_uppercase())
}

fn cells(line: &str, form: Form) -> Vec<Cow<'_, str>> {
    match form {
        // A reader takes long to build, and only these need one.
        Form::Delimited(delimiter) if !line.starts_with('\u{feff}') && !line.contains(['"', '\r']) => {
            line.split(char::from(delimiter)).map(Cow::Borrowed).collect()
        }
        Form::Delimited(delimiter) => {
            let mut reader = csv::ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .delimiter(delimiter)
                .from_reader(line.as_bytes());
            let record = reader.records().next().and_then(Result::ok).unwrap_or_default();
            record.iter().map(|cell| Cow::Owned(cell.to_owned())).collect()
        }
        Form::Pipes => {
            let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
            inner.split('|').map(|cell| Cow::Borrowed(cell.trim())).collect()
        }
        Form::Aligned => aligned_cells(line),
        Form::Blanks(count) => {
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

/// Calls `row` with the cells of each row and, where a row is a line, the line.
pub(super) fn for_each_row<'t>(text: &'t str, form: Form, mut row: impl FnMut(&[Cow<'_, str>], Option<&'t str>)) {
    let Form::Delimited(delimiter) = form else {
        // What psql says below a table, as how long it took, is no row of it.
        for line in lines_of(text).filter(|line| form != Form::Pipes || line.contains('|')) {
            row(&cells(line, form), Some(line));
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
    fn the_form_is_the_one_that_most_lines_agree_on() {
        for (text, expected) in [
            ("a,b\n1,2\n3,\"x, y\"\n", Some(Form::Delimited(b','))),
            ("a\tb\n1\t2\n", Some(Form::Delimited(b'\t'))),
            ("| a | b |\n|---|---|\n| 1 | 2 |\n", Some(Form::Pipes)),
            ("NAME       READY\nweb one    1/1\n", Some(Form::Aligned)),
            ("PID TTY TIME CMD\n1 ? 00:00:01 init --all\n", Some(Form::Blanks(4))),
            ("-rw-r--r-- 1 a staff 12 x.rs\n-rw-r--r-- 1 a staff 9 y.rs\n", Some(Form::Blanks(6))),
            ("5f1c2aa Fix the store\n77ab01c Merge branch of the other team\n09cc1fe Add\n", None),
            ("one line only\n", None),
        ] {
            assert_eq!(form_of(text), expected, "{text}");
        }
    }

    #[test]
    fn a_blank_below_which_nothing_stands_divides_columns() {
        let ps = "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n\
                  root           1  0.0  0.1 168936 13012 ?        Ss   Nov25   0:10 /sbin/init splash\n\
                  www-data   20411 12.5  3.0 988120 98012 ?        Sl   Nov25  11:02 node server.js\n";
        assert_eq!(form_of(ps), Some(Form::Blanks(11)));
        let ps = "UID          PID    PPID  C STIME TTY          TIME CMD\n\
                  root           1       0  0 Nov25 ?        00:00:10 /sbin/init\n\
                  root       20411       1  3 Nov25 pts/0    00:11:02 node server.js\n";
        assert_eq!(form_of(ps), Some(Form::Blanks(8)));
        let docker = "CONTAINER ID   IMAGE         COMMAND       STATUS         NAMES\n\
                      0a1b2c3d4e5f   postgres:15   \"docker-en…\"   Up 3 hours     acme-db\n";
        assert_eq!(form_of(docker), Some(Form::Aligned));
    }

    #[test]
    fn quotes_and_blanks_inside_cells_stay_whole() {
        assert_eq!(cells("1,\"x, y\"", Form::Delimited(b',')), ["1", "x, y"]);
        assert_eq!(cells("web one    1/1", Form::Aligned), ["web one", "1/1"]);
        assert_eq!(cells("1 ? 00:01 init --all", Form::Blanks(4)), ["1", "?", "00:01", "init --all"]);
    }
}
