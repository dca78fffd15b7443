//! Parses the lines that grep, ripgrep and compilers print into the file, the line number and the text.
//!
//! A line is read alone ([`read_line`]) or among the others of its output ([`read_lines`]). The separator of a context
//! line (`path-12-text`) may also occur in a path. If the line is read alone, the path must end with a suffix; among
//! other lines, it is enough that a hit names the path. Compiler messages (`src/a.rs:1:2: error`) have the form of hits
//! and are read as such.

use std::ops::Range;

use concertina_base::hashing::{FastMap, FastSet};

use super::lines::head;
use super::time_stamp::Stamp;

/// The maximum length of a path, in bytes.
const MAX_PATH: usize = 400;

/// The number of bytes within which a path and its position must end. A longer search would not be linear.
const REACH: usize = MAX_PATH + 24;

/// The maximum number of numbers between separators that are tried as the line number.
const MAX_PLACES: usize = 16;

/// The result of reading one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Row<'a> {
    /// A line of a file that was searched, or a message about one.
    Hit(Hit<'a>),
    /// `--` between groups.
    Separator,
    /// The path of the lines below it, as `rg --heading` prints it.
    Heading(&'a str),
    /// Anything else.
    Other,
}

/// The parts of a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit<'a> {
    /// The path of the file.
    pub path: &'a str,
    /// True if the path stands above the line, not in it.
    pub is_headed: bool,
    /// The form in which the line gives its position.
    pub form: Form,
    /// The column, if one is printed.
    pub column: Option<u64>,
    /// The line from its number on, or from the text after the path if the number is not between two separators.
    pub place: &'a str,
    /// The text after the last separator.
    pub text: &'a str,
}

/// The form of a line's position, with the line number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `path:12:text` and `path:12:5:text`.
    Numbered(u64),
    /// `path-12-text`, a line around a hit.
    Context(u64),
    /// `path(12,5): text`.
    Parenthesized(u64),
    /// `  12: text` and `Line 12: text` below a heading.
    Labelled(u64),
    /// `path:text`.
    Unnumbered,
}

impl<'a> Hit<'a> {
    /// Returns the line number in the file.
    pub fn line(&self) -> Option<u64> {
        match self.form {
            Form::Numbered(line) | Form::Context(line) | Form::Parenthesized(line) | Form::Labelled(line) => Some(line),
            Form::Unnumbered => None,
        }
    }

    /// Returns true if it is a context line.
    pub fn is_context(&self) -> bool {
        matches!(self.form, Form::Context(_))
    }

    /// Returns the position as printed (`12` or `12:5`) and the text, if one separator is between them.
    pub fn place_and_text(&self) -> Option<(&'a str, &'a str)> {
        let is_plain = matches!(self.form, Form::Numbered(_) | Form::Context(_));
        is_plain.then(|| (&self.place[..self.place.len() - self.text.len() - 1], self.text))
    }

    fn numbered(path: &'a str, number: Number<'a>) -> Self {
        let (column, text) = match column(number.text).filter(|_| !number.is_context) {
            Some((column, text)) => (Some(column), text),
            None => (None, number.text),
        };
        let form = if number.is_context { Form::Context(number.line) } else { Form::Numbered(number.line) };
        Self { path, is_headed: path.is_empty(), form, column, place: number.place, text }
    }
}

/// Parses a line by itself. The path must look like one: a `/`, a suffix or a well-known name, and no blanks.
pub fn read_line(line: &str) -> Row<'_> {
    if line == "--" {
        return Row::Separator;
    }
    if line.starts_with([' ', '\t']) {
        return Row::Other;
    }
    let is_believed = |path: &str, number: &Number| is_believed_alone(path, number.is_context);
    let hit = numbered(line, is_believed).or_else(|| parenthesized(line));
    hit.map_or(Row::Other, Row::Hit)
}

/// Parses `12:text` and `12-text`, as printed below a heading or for a search in one file. The path is empty.
pub fn read_headed(line: &str) -> Row<'_> {
    let Some(number) = Number::read(line) else { return if line == "--" { Row::Separator } else { Row::Other } };
    // A date such as `2012-01-31`.
    let is_date = number.is_context && number.text.get(2..3) == Some("-");
    if is_date || Stamp::find(line).is_some() { Row::Other } else { Row::Hit(Hit::numbered("", number)) }
}

/// Parses every line of a text without a final line end, most of whose lines are known to be search results.
pub fn read_lines(text: &str) -> Vec<(&str, Row<'_>)> {
    let lines: Vec<&str> = text.split('\n').collect();
    let known = known_paths(&lines);
    let mut heading = None;
    let mut rows = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        let below = lines.get(index + 1);
        let row = match (row(line, &known), heading) {
            (Row::Other, Some(path)) if below_heading(path, line).is_some() => {
                below_heading(path, line).map_or(Row::Other, Row::Hit)
            }
            (Row::Other, _) => match heading_of(line) {
                Some(path) if below.is_some_and(|below| below_heading(path, below).is_some()) => Row::Heading(path),
                _ => Row::Other,
            },
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

/// Returns the range from the first line that names a file to the last one, in bytes and in lines; `None` if there is
/// none.
pub fn range(rows: &[(&str, Row)]) -> Option<(Range<usize>, Range<usize>)> {
    let names_file = |(_, row): &(&str, Row)| matches!(row, Row::Hit(_) | Row::Heading(_));
    let lines = rows.iter().position(names_file)?..rows.iter().rposition(names_file)? + 1;
    let len = |rows: &[(&str, Row)]| rows.iter().map(|(line, _)| line.len() + 1).sum::<usize>();
    let start = len(&rows[..lines.start]);
    Some((start..start + len(&rows[lines.clone()]) - 1, lines))
}

fn row<'a>(line: &'a str, known: &FastSet<&str>) -> Row<'a> {
    if line == "--" {
        return Row::Separator;
    }
    // A path that another line names decides, wherever the line is split.
    let is_known = |path: &str, _: &Number| known.contains(path);
    let is_likely =
        |path: &str, number: &Number| !path.contains(' ') && is_path(path) && (!number.is_context || has_suffix(path));
    numbered(line, is_known)
        .or_else(|| numbered(line, is_likely))
        .or_else(|| parenthesized(line))
        .or_else(|| unnumbered(line).filter(|hit| known.contains(hit.path)))
        .map_or(Row::Other, Row::Hit)
}

/// Returns the path in a line that may be the heading of the lines of its file.
fn heading_of(line: &str) -> Option<&str> {
    let path = line.strip_suffix(':').filter(|path| !path.contains(' ')).unwrap_or(line);
    is_path(path).then_some(path)
}

/// Parses a line below the heading of its file.
fn below_heading<'a>(path: &'a str, line: &'a str) -> Option<Hit<'a>> {
    if let Some(number) = Number::read(line) {
        return Some(Hit { path, is_headed: true, ..Hit::numbered("", number) });
    }
    let bare = line.trim_start_matches([' ', '\t']);
    let bare = bare.strip_prefix("Line ").unwrap_or(bare);
    let number = Number::read(bare).filter(|number| bare.len() < line.len() && !number.is_context)?;
    let form = Form::Labelled(number.line);
    Some(Hit { path, is_headed: true, form, column: None, place: line, text: number.text })
}

/// Returns the paths by which other lines may be read. A path that contains a blank, or that belongs to a hit without a
/// number, must occur twice.
fn known_paths<'a>(lines: &[&'a str]) -> FastSet<&'a str> {
    let mut known = FastSet::default();
    let mut weak: FastMap<&str, usize> = FastMap::default();
    let mut last = "";
    for line in lines {
        match numbered(line, |path, number| !number.is_context && is_path(path)) {
            Some(hit) if hit.path == last => {}
            Some(hit) if !hit.path.contains(' ') => {
                known.insert(hit.path);
                last = hit.path;
            }
            Some(hit) => *weak.entry(hit.path).or_default() += 1,
            None => {
                if let Some(hit) = unnumbered(line) {
                    *weak.entry(hit.path).or_default() += 1;
                }
            }
        }
    }
    known.extend(weak.into_iter().filter(|&(_, count)| count > 1).map(|(path, _)| path));
    known
}

/// A number and the separator after it.
#[derive(Clone, Copy)]
struct Number<'a> {
    line: u64,
    is_context: bool,
    /// The text from the number on, and the text after the separator.
    place: &'a str,
    text: &'a str,
}

impl<'a> Number<'a> {
    /// Parses `12:` and `12-`. A number with leading zeros belongs to a date or a time, and would not be printed back
    /// exactly.
    fn read(place: &'a str) -> Option<Self> {
        let (line, rest) = number(place)?;
        let separator = *rest.as_bytes().first().filter(|byte| matches!(byte, b':' | b'-'))?;
        Some(Self { line, is_context: separator == b'-', place, text: &rest[1..] })
    }
}

/// Returns a number of at most 18 digits without leading zeros, and the text after it.
fn number(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let is_plain = (1..=18).contains(&digits) && !text.starts_with('0');
    is_plain.then(|| text[..digits].parse().ok().map(|number| (number, &text[digits..])))?
}

/// Parses the column in `5:text`. A text that itself begins with `12:34` reads the same.
fn column(text: &str) -> Option<(u64, &str)> {
    let (column, rest) = text.strip_prefix('0').map(|rest| (0, rest)).or_else(|| number(text))?;
    Some((column, rest.strip_prefix(':')?))
}

/// Returns the positions at which a line may be split: the text before `:12:` or `-12-`, and the number.
fn places(line: &str) -> impl Iterator<Item = (&str, Number<'_>)> {
    let bytes = head(line, REACH).as_bytes();
    let places = memchr::memchr2_iter(b':', b'-', bytes).filter_map(|at| {
        let number = Number::read(&line[at + 1..])?;
        (number.is_context == (bytes[at] == b'-')).then_some((&line[..at], number))
    });
    places.take(MAX_PLACES)
}

/// Returns the first split of a line whose path is accepted. No path continues after `:12:`.
fn numbered<'a>(line: &'a str, is_believed: impl Fn(&str, &Number) -> bool) -> Option<Hit<'a>> {
    for (path, number) in places(line) {
        if is_believed(path, &number) {
            return Some(Hit::numbered(path, number));
        }
        if !number.is_context {
            return None;
        }
    }
    None
}

/// Parses `path(12,34): text` or `path(12): text`.
fn parenthesized(line: &str) -> Option<Hit<'_>> {
    memchr::memchr_iter(b'(', head(line, REACH).as_bytes()).find_map(|at| {
        let (path, place) = line.split_at(at);
        let (line, rest) = number(&place[1..])?;
        let (column, rest) = match rest.strip_prefix(',') {
            Some(rest) => number(rest).map(|(column, rest)| (Some(column), rest))?,
            None => (None, rest),
        };
        let text = rest.strip_prefix("):")?;
        let is_sure = has_suffix(path) && is_path(path) && !path.contains(' ');
        is_sure.then_some(Hit { path, is_headed: false, form: Form::Parenthesized(line), column, place, text })
    })
}

/// Parses a hit without its line number, such as `packages/tui/src/utils.ts:export function ...`. This is weak
/// evidence.
pub fn unnumbered(line: &str) -> Option<Hit<'_>> {
    let bytes = head(line, REACH).as_bytes();
    // The colon after a drive letter is part of the path.
    let drive = if bytes.get(1) == Some(&b':') && matches!(bytes.get(2), Some(b'\\' | b'/')) { 2 } else { 0 };
    let at = drive + memchr::memchr(b':', &bytes[drive..])?;
    let (path, place) = line.split_at(at);
    let is_sure = is_path(path) && !path.contains(' ') && (has_suffix(path) || path.contains('/'));
    let hit = Hit { path, is_headed: false, form: Form::Unnumbered, column: None, place, text: &place[1..] };
    is_sure.then_some(hit)
}

fn is_believed_alone(path: &str, is_context: bool) -> bool {
    const BARE: &[&str] = &["Makefile", "Dockerfile", "LICENSE", "Rakefile", "Gemfile", "README"];
    let is_likely = || !is_context && (path.contains(['/', '\\']) || BARE.contains(&path));
    is_path(path) && !path.contains(' ') && (has_suffix(path) || is_likely())
}

/// Returns true if a word may be the path of a file: it has a letter and no characters that a shell would interpret,
/// and blanks only together with a dot or a slash.
pub fn is_path(path: &str) -> bool {
    !path.ends_with('/') && is_name(path) && (!path.contains(' ') || path.contains(['/', '\\', '.']))
}

/// Returns true if words may name a file or a directory.
pub fn is_name(path: &str) -> bool {
    let is_foreign = |byte: u8| {
        matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'|' | b';' | b'*' | b'?' | b'=' | b',' | b'`' | b'{' | b'}')
            || byte.is_ascii_control()
    };
    (1..=MAX_PATH).contains(&path.len())
        && !path.starts_with(' ')
        && path.bytes().any(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii())
        && !path.bytes().any(is_foreign)
        && !(path.contains(':') && (path.contains("://") || path.contains("::")))
        // `HEAD:src/a.rs` is a file of a revision; `src/a.rs:name` is a position in a file.
        && path.rsplit_once(':').is_none_or(|(before, _)| !has_suffix(before))
        // `app/(shop)/page.tsx` is a group of routes. Any other bracket opens an argument or a remark.
        && path.match_indices('(').all(|(at, _)| (at == 0 || path[..at].ends_with('/')) && path[at..].contains(')'))
}

/// Returns true if the last part of a path has a suffix like `.rs` (a dot and up to 16 letters and digits), or is a dot
/// file.
pub fn has_suffix(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(_, suffix)| {
        (1..=16).contains(&suffix.len())
            && suffix.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && suffix.bytes().any(|byte| byte.is_ascii_alphabetic())
    })
}
