//! The facts of a command's output, whatever it is: fields in one line, first and last lines, error messages, extremes
//! of columns, and unusual lines. This code is independent of the engine's parsers.
//!
//! Facts describe what a terminal shows: without colours, and of an overwritten line only the final state.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::sets::{Fact, at_most, regex};

/// The number of random lines of which two fields are checked.
const RANDOM: usize = 60;
/// The maximum number of lines with errors and warnings.
const ALARMS: usize = 300;
/// The number of lines at either end that are checked as a whole.
const ENDS: usize = 3;
/// The minimum number of rows of a column, and the maximum number of columns.
const ROWS: usize = 8;
const COLUMNS: usize = 14;

static ALARM: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i)\b(?:errors?|warn(?:ings?)?|fail(?:s|ed|ures?|ing)?|fatal|panic(?:ked)?|denied|missing)\b")
});
static ESCAPE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-B0-2]|[=>78cM])"));
/// The text of a line before it was cleared from its start on.
static WIPED: LazyLock<Regex> = LazyLock::new(|| regex(r"(?m)^.*(?:\r|\x1b\[1?G)\x1b\[0?K"));
static DIGITS: LazyLock<Regex> = LazyLock::new(|| regex(r"[0-9a-fA-F]*[0-9][0-9a-fA-F]*"));
static LETTERS: LazyLock<Regex> = LazyLock::new(|| regex(r"[^\W\d_]+"));

/// Returns what a terminal shows of an output.
pub(crate) fn on_screen(text: &str) -> Cow<'_, str> {
    if !text.contains(['\x1b', '\r', '\x08']) {
        return Cow::Borrowed(text);
    }
    let text = WIPED.replace_all(text, "");
    let bare = ESCAPE.replace_all(&text, "");
    let last = |line: &str| line.split('\r').rev().find(|part| !part.trim().is_empty()).unwrap_or_default().to_owned();
    let mut lines: Vec<String> = bare.split('\n').map(last).collect();
    // A letter, a backspace, and the letter again are bold print.
    for line in &mut lines {
        while let Some(at) = line.find('\x08') {
            let before = line[..at].char_indices().next_back().map_or(at, |(start, _)| start);
            line.replace_range(before..=at, "");
        }
    }
    Cow::Owned(lines.join("\n"))
}

/// Returns true if a text has a letter or a digit. Frames and rulers have neither.
pub(crate) fn says_something(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// Returns the facts to check of an output.
pub(crate) fn facts(text: &str) -> Vec<Fact> {
    let screen = on_screen(text);
    let lines: Vec<&str> = screen.lines().map(str::trim).filter(|line| says_something(line)).collect();
    let fields: Vec<Vec<&str>> =
        lines.iter().map(|line| line.split_whitespace().filter(|field| says_something(field)).collect()).collect();
    let mut frequency: HashMap<&str, usize> = HashMap::new();
    fields.iter().flatten().for_each(|field| *frequency.entry(field).or_default() += 1);
    let name = |row: usize| fields[row].iter().copied().min_by_key(|field| frequency[field]).unwrap_or_default();
    let together = |row: usize, field: &str| Fact::Together([name(row).to_owned(), field.to_owned()]);

    let mut facts = Vec::new();
    let mut random = Random::new(text);
    for _ in 0..RANDOM.min(lines.len()) {
        let row = random.below(lines.len());
        facts.push(together(row, fields[row][random.below(fields[row].len())]));
    }
    let ends = lines.iter().take(ENDS).chain(lines.iter().rev().take(ENDS));
    let alarms = at_most(ALARMS, lines.iter().filter(|line| ALARM.is_match(line)).collect());
    facts.extend(ends.chain(alarms).chain(&rare(&lines)).map(|line| Fact::Line((*line).to_owned())));
    facts.extend(extremes(&fields).into_iter().map(|(row, field)| together(row, field)));
    facts
}

/// Returns lines of a rare form. The form is the line without its numbers and letters.
fn rare<'t>(lines: &[&'t str]) -> Vec<&'t str> {
    let mut shapes: HashMap<String, Vec<usize>> = HashMap::new();
    for (row, line) in lines.iter().enumerate() {
        let shape = LETTERS.replace_all(&DIGITS.replace_all(line, "0"), "a").into_owned();
        shapes.entry(shape).or_default().push(row);
    }
    let mut found: Vec<usize> = shapes.into_values().filter(|rows| rows.len() <= 2).map(|rows| rows[0]).collect();
    found.sort_unstable();
    // If every line is unusual, none is special.
    if found.len() * 4 > lines.len() {
        return Vec::new();
    }
    at_most(RANDOM, found).into_iter().map(|row| lines[row]).collect()
}

/// Returns the minimum and the maximum of each column, with the row. Lines with the same number of fields form one
/// table.
fn extremes<'t>(fields: &[Vec<&'t str>]) -> Vec<(usize, &'t str)> {
    let mut tables: HashMap<usize, Vec<usize>> = HashMap::new();
    for (row, line) in fields.iter().enumerate() {
        tables.entry(line.len()).or_default().push(row);
    }
    let mut tables: Vec<(usize, Vec<usize>)> = tables.into_iter().filter(|(_, rows)| rows.len() >= ROWS).collect();
    tables.sort_unstable();
    let mut found = Vec::new();
    for (_, rows) in tables {
        for (column, _) in fields[rows[0]].iter().enumerate().take(COLUMNS) {
            let mut known: Vec<(f64, usize)> =
                rows.iter().filter_map(|row| Some((number(fields[*row][column])?, *row))).collect();
            if known.len() * 2 <= rows.len() {
                continue;
            }
            known.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for (_, row) in known.first().into_iter().chain(known.last()) {
                found.push((*row, fields[*row][column]));
            }
        }
    }
    found
}

/// Parses a field as a number, also with a unit of bytes or a percent sign.
fn number(field: &str) -> Option<f64> {
    let bare = field.trim_end_matches([',', ';', ':', '%']);
    let (digits, factor) = match bare.char_indices().next_back()? {
        (at, 'K' | 'k') => (&bare[..at], 1e3),
        (at, 'M') => (&bare[..at], 1e6),
        (at, 'G') => (&bare[..at], 1e9),
        _ => (bare, 1.0),
    };
    digits
        .starts_with(|c: char| c.is_ascii_digit() || c == '-')
        .then(|| digits.parse::<f64>().ok())?
        .map(|n| n * factor)
}

/// Random numbers seeded by a text, so that it is checked in the same way every time.
struct Random(u64);

impl Random {
    fn new(text: &str) -> Self {
        // FNV-1a.
        Self(
            text.bytes()
                .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)),
        )
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a listing of forty files, one of them large, with an error message in the middle.
    fn listing() -> String {
        let mut lines: Vec<String> =
            (0..40).map(|row| format!("-rw-r--r-- 1 root root {} part-{row}.bin", 100 + row * 37 % 90)).collect();
        lines[17] = "-rw-r--r-- 1 root root 98765 huge.bin".to_owned();
        lines.insert(23, "ls: cannot open directory 'private': Permission denied".to_owned());
        lines.join("\n")
    }

    #[test]
    fn every_fact_of_an_output_is_in_it() {
        let text = listing();
        assert!(facts(&text).iter().all(|fact| fact.is_in(&text)));
    }

    #[test]
    fn what_is_cut_out_is_missed() {
        let text = listing();
        let without = |part: &str| text.lines().filter(|line| !line.contains(part)).collect::<Vec<_>>().join("\n");
        for part in ["huge.bin", "Permission denied", "part-0.bin", "part-39.bin"] {
            assert!(facts(&text).iter().any(|fact| !fact.is_in(&without(part))), "{part} is not asked for");
        }
    }

    #[test]
    fn a_field_that_moved_to_another_line_is_missed() {
        let text = listing();
        let moved = text.replace(" 98765 huge", " 100 huge").replace(" 100 part-0.", " 98765 part-0.");
        assert!(facts(&text).iter().any(|fact| !fact.is_in(&moved)));
    }

    #[test]
    fn a_terminal_shows_no_colours_and_what_was_written_last() {
        let text =
            "\x1b[1;31merror\x1b[0m: no file\r\n 10 %\r 50 %\r100 %\r\nb\x08bo\x08old\n/\x1b[1G\x1b[0K-\r\x1b[Kdone\n";
        assert_eq!(on_screen(text), "error: no file\n100 %\nbold\ndone\n");
    }
}
