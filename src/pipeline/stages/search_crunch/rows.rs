//! The lines of grep-like output, each told by its own form.
//!
//! A context line (`path-12-text`) has no separator that could not stand in a path, so its path is believed only when a hit
//! names it too or it ends with a suffix.

use std::ops::Range;

use concertina_format::search_crunch::place::split_place;

use crate::content::head;
use crate::pipeline::hashing::{FastMap, FastSet};

/// The longest path that is believed, in bytes.
const MAX_PATH: usize = 400;

/// A path and its place end within so many bytes. Looking further would not be linear.
const REACH: usize = MAX_PATH + 24;

/// How many numbers between dashes may be a context line's.
const MAX_PLACES: usize = 16;

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Row<'a> {
    /// A line that names a file.
    Hit(Hit<'a>),
    /// `--` between groups.
    Separator,
    /// The path of the lines below it, as `rg --heading` prints.
    Heading(&'a str),
    /// Anything else.
    Other,
}

/// A line of a file that was searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit<'a> {
    /// The file.
    pub(super) path: &'a str,
    /// Whether the path stands above, not in the line.
    pub(super) is_headed: bool,
    pub(super) form: Form,
    /// The line from its number on, or from what follows the path where there is none.
    pub(super) place: &'a str,
}

impl<'a> Hit<'a> {
    /// Its place (`12` or `12:5`) and its text, where it has a number.
    pub(super) fn line(&self) -> Option<(&'a str, &'a str)> {
        match self.form {
            Form::Numbered(_) => split_place(self.place),
            Form::Context(_) => self.place.split_once('-'),
            Form::Parenthesized | Form::Bare => None,
        }
    }
}

/// How a line gives its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `path:12:text` and `path:12:5:text`; the value is the line.
    Numbered(u64),
    /// `path-12-text`, a line around a hit.
    Context(u64),
    /// `path(12,5): text`.
    Parenthesized,
    /// `path:text`.
    Bare,
}

/// Reads every line of a text that has no final line end.
pub(super) fn read(text: &str) -> Vec<(&str, Row<'_>)> {
    let lines: Vec<&str> = text.split('\n').collect();
    let numbered: Vec<Option<(&str, u64)>> = lines.iter().map(|line| numbered(line)).collect();
    let known = known_paths(&lines, &numbered);
    let mut heading = None;
    let mut rows = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        let row = match (row(line, numbered[index], &known), heading) {
            (Row::Other, Some(path)) if place(line).is_some() => headed(path, line),
            (Row::Other, _) if is_path(line) && lines.get(index + 1).is_some_and(|next| place(next).is_some()) => {
                Row::Heading(line)
            }
            (row, _) => row,
        };
        heading = match row {
            Row::Heading(path) => Some(path),
            Row::Hit(Hit { is_headed: true, .. }) | Row::Separator => heading,
            _ => None,
        };
        rows.push((*line, row));
    }
    rows
}

/// From the first line that names a file to the last, where there are any: their bytes, and which of the lines.
pub(super) fn range(rows: &[(&str, Row)]) -> Option<(Range<usize>, Range<usize>)> {
    let names_file = |(_, row): &(&str, Row)| matches!(row, Row::Hit(_) | Row::Heading(_));
    let lines = rows.iter().position(names_file)?..rows.iter().rposition(names_file)? + 1;
    let len = |rows: &[(&str, Row)]| rows.iter().map(|(line, _)| line.len() + 1).sum::<usize>();
    let start = len(&rows[..lines.start]);
    Some((start..start + len(&rows[lines.clone()]) - 1, lines))
}

fn row<'a>(line: &'a str, numbered: Option<(&'a str, u64)>, known: &FastSet<&str>) -> Row<'a> {
    if line == "--" {
        return Row::Separator;
    }
    let (path, form, from) = if let Some((path, number)) = context(line, known) {
        (path, Form::Context(number), path.len() + 1)
    } else if let Some((path, number)) = numbered.filter(|(path, _)| !path.contains(' ') || known.contains(path)) {
        (path, Form::Numbered(number), path.len() + 1)
    } else if let Some(path) = parenthesized(line) {
        (path, Form::Parenthesized, path.len())
    } else if let Some(path) = bare(line).filter(|path| known.contains(path)) {
        (path, Form::Bare, path.len())
    } else {
        return Row::Other;
    };
    Row::Hit(Hit { path, is_headed: false, form, place: &line[from..] })
}

fn headed<'a>(path: &'a str, line: &'a str) -> Row<'a> {
    let form = match place(line) {
        Some((number, b':')) => Form::Numbered(number),
        Some((number, _)) => Form::Context(number),
        None => return Row::Other,
    };
    Row::Hit(Hit { path, is_headed: true, form, place: line })
}

/// Paths of hits. One with a blank in it, or of a hit without a number, must come twice, be it before a context line.
fn known_paths<'a>(lines: &[&'a str], numbered: &[Option<(&'a str, u64)>]) -> FastSet<&'a str> {
    let mut known = FastSet::default();
    let mut weak: FastMap<&str, usize> = FastMap::default();
    let mut last = "";
    for (line, numbered) in lines.iter().zip(numbered) {
        match *numbered {
            Some((path, _)) if path == last => {}
            Some((path, _)) if !path.contains(' ') => {
                known.insert(path);
                last = path;
            }
            Some((path, _)) => *weak.entry(path).or_default() += 1,
            None => {
                if let Some(path) = bare(line) {
                    *weak.entry(path).or_default() += 1;
                }
            }
        }
    }
    if !weak.is_empty() {
        for (path, _) in lines.iter().flat_map(|line| context_places(line)) {
            if let Some(count) = weak.get_mut(path) {
                *count += 1;
            }
        }
    }
    known.extend(weak.into_iter().filter(|&(_, count)| count > 1).map(|(path, _)| path));
    known
}

/// `path:12:`, with the first such number.
fn numbered(line: &str) -> Option<(&str, u64)> {
    for at in memchr::memchr_iter(b':', head(line, REACH).as_bytes()) {
        if let Some((number, b':')) = place(&line[at + 1..]) {
            let path = &line[..at];
            return is_path(path).then_some((path, number));
        }
    }
    None
}

/// `path-12-`, where the path is known, or ends with a suffix.
fn context<'a>(line: &'a str, known: &FastSet<&str>) -> Option<(&'a str, u64)> {
    let mut likely = None;
    for (path, number) in context_places(line) {
        if known.contains(path) {
            return Some((path, number));
        }
        if likely.is_none() && has_suffix(path) && is_path(path) && !path.contains(' ') {
            likely = Some((path, number));
        }
    }
    likely
}

/// Where a context line may be cut: what stands before `-12-`, and the number.
fn context_places(line: &str) -> impl Iterator<Item = (&str, u64)> {
    let dashes = memchr::memchr_iter(b'-', head(line, REACH).as_bytes());
    let places = dashes.filter_map(|at| match place(&line[at + 1..]) {
        Some((number, b'-')) => Some((&line[..at], number)),
        _ => None,
    });
    places.take(MAX_PLACES)
}

fn parenthesized(line: &str) -> Option<&str> {
    let (path, rest) = head(line, REACH).split_once('(')?;
    let (place, rest) = rest.split_once(')')?;
    let is_place = !place.is_empty() && place.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
    (is_place && rest.starts_with(':') && is_path(path) && has_suffix(path)).then_some(path)
}

fn bare(line: &str) -> Option<&str> {
    let head = head(line, REACH);
    // The colon of a drive is part of the path.
    let drive = if head.as_bytes().get(1) == Some(&b':') && head[2..].starts_with(['\\', '/']) { 2 } else { 0 };
    let (path, _) = head[drive..].split_once(':')?;
    let path = &line[..drive + path.len()];
    (is_path(path) && !path.contains(' ') && (has_suffix(path) || path.contains('/'))).then_some(path)
}

/// The number at the start and what follows it. A number with leading zeros would not print back.
pub(super) fn place(text: &str) -> Option<(u64, u8)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 18 || text.starts_with('0') {
        return None;
    }
    let next = *text.as_bytes().get(digits)?;
    Some((text[..digits].parse().ok()?, next)).filter(|_| matches!(next, b':' | b'-'))
}

/// Whether something may be a path at all. Nothing is lost where this errs.
pub(super) fn is_path(path: &str) -> bool {
    (1..=MAX_PATH).contains(&path.len())
        && !path.starts_with(' ')
        && !path.ends_with('/')
        && has_path_characters(path.as_bytes())
        && !(memchr::memchr(b':', path.as_bytes()).is_some() && path.contains("://"))
}

/// A letter, and nothing that a shell would take for something else; blanks only where there is a dot or a slash.
fn has_path_characters(path: &[u8]) -> bool {
    let (mut letter, mut blank, mut mark) = (false, false, false);
    for byte in path {
        match byte {
            b'"' | b'\'' | b'<' | b'>' | b'|' | b';' | b'*' | b'?' | b'=' | b',' | b'`' => return false,
            b' ' => blank = true,
            b'/' | b'\\' | b'.' => mark = true,
            _ if byte.is_ascii_control() => return false,
            _ => letter |= byte.is_ascii_alphabetic() || !byte.is_ascii(),
        }
    }
    letter && (mark || !blank)
}

fn has_suffix(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(_, suffix)| {
        (1..=16).contains(&suffix.len()) && suffix.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<(&str, Form)> {
        let rows = read(text).into_iter();
        rows.filter_map(|(_, row)| match row {
            Row::Hit(hit) => Some((hit.path, hit.form)),
            _ => None,
        })
        .collect()
    }

    #[test]
    fn the_forms_of_hits_are_told() {
        assert_eq!(
            told("a/b.rs:12:x\na/b.rs-13-y\nC:\\c.cs:7:5:z\nD.cs(1,2): error\na/b.rs:bare\n--\n"),
            [
                ("a/b.rs", Form::Numbered(12)),
                ("a/b.rs", Form::Context(13)),
                ("C:\\c.cs", Form::Numbered(7)),
                ("D.cs", Form::Parenthesized),
                ("a/b.rs", Form::Bare),
            ]
        );
    }

    #[test]
    fn a_known_path_decides_where_a_context_line_is_cut() {
        let text = "a-1-b:3:x\na-1-b-4-y:12:z\nq-1-w.rs-9-t";
        let expected = [Form::Numbered(3), Form::Context(4), Form::Context(9)];
        assert_eq!(told(text).iter().map(|(_, form)| *form).collect::<Vec<_>>(), expected);
        assert_eq!(told(text)[1].0, "a-1-b");
        assert_eq!(told(text)[2].0, "q-1-w.rs");
    }

    #[test]
    fn a_path_with_a_blank_is_believed_when_context_names_it_too() {
        assert_eq!(told("b c.rs-1-x\nb c.rs:2:y"), [("b c.rs", Form::Context(1)), ("b c.rs", Form::Numbered(2))]);
        assert_eq!(told("b c.rs:2:y\nwords-1-x"), []);
    }

    #[test]
    fn lines_below_a_heading_belong_to_it() {
        let rows: Vec<Row> = read("src/a.rs\n1:use x;\n2-\n--\n9:y\n\nnote").into_iter().map(|(_, row)| row).collect();
        assert_eq!(rows[0], Row::Heading("src/a.rs"));
        assert!(rows[1..5].iter().all(|row| matches!(row, Row::Hit(Hit { is_headed: true, .. }) | Row::Separator)));
        assert_eq!(rows[5..], [Row::Other, Row::Other]);
    }

    #[test]
    fn times_numbers_with_zeros_and_addresses_are_no_places() {
        assert_eq!(told("12:30:45 up\nhttp://a:80:x\na.rs:007:x\nb.rs:99999999999999999999:x\nsome words: 12"), []);
    }
}
