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
    text.lines().filter(|line| !line.trim().is_empty() && !is_rule(line))
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
    if agree(Form::Aligned).is_some() {
        return Some(Form::Aligned);
    }
    let header: Vec<&str> = probe[0].split_whitespace().collect();
    if header.len() > 2 && header.iter().all(|word| is_capital(word)) {
        let is_filled = probe.iter().all(|line| line.split_whitespace().count() >= header.len());
        return is_filled.then_some(Form::Blanks(header.len()));
    }
    agree(Form::Blanks(usize::MAX)).filter(|&columns| columns > 3).map(Form::Blanks)
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
        for line in lines_of(text) {
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
    fn quotes_and_blanks_inside_cells_stay_whole() {
        assert_eq!(cells("1,\"x, y\"", Form::Delimited(b',')), ["1", "x, y"]);
        assert_eq!(cells("web one    1/1", Form::Aligned), ["web one", "1/1"]);
        assert_eq!(cells("1 ? 00:01 init --all", Form::Blanks(4)), ["1", "?", "00:01", "init --all"]);
    }
}
