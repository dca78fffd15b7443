//! The table of coverage.py and pytest-cov -> the total, what is said below it, and the files of which the least is
//! covered.

use std::sync::LazyLock;

use regex::Regex;

use super::line_pattern;
use super::sheet::{Sheet, quote};
use crate::content::head;

/// Bytes of a line that are parsed.
const FRONT: usize = 2_000;

/// Files that are kept.
const KEPT: usize = 20_000;

/// `src/shop/pay.py   52   7   12   3   84%   7-11, 31`: name, counts, percent, and the lines that are missing.
static ROW: LazyLock<Regex> =
    LazyLock::new(|| line_pattern(r"^(\S.*?)\s+\d+\s+\d+\s+(?:\d+\s+\d+\s+)?(\d+(?:\.\d+)?)%(?:\s+(\S.*))?$"));

struct File<'t> {
    name: &'t str,
    percent: f64,
    /// As printed, and the missing lines.
    shown: String,
}

/// Writes the summary; false for a text that is not such a table for the most part.
pub(super) fn summarize(text: &str, sheet: &mut Sheet) -> bool {
    if !text.contains("Stmts ") || !text.contains("TOTAL") {
        return false;
    }
    let mut files: Vec<File> = Vec::new();
    let (mut total, mut lines, mut endings) = (None, 0usize, Vec::new());
    for line in text.lines().filter(|line| line.contains(char::is_alphanumeric)) {
        lines += 1;
        match file(head(line, FRONT)) {
            Some(File { name: "TOTAL", .. }) => total = Some(line),
            Some(file) if files.len() < KEPT => files.push(file),
            None if total.is_some() => endings.push(quote(line, 160)),
            _ => {}
        }
    }
    let Some(total) = total.filter(|_| files.len() * 10 >= lines * 6) else { return false };
    sheet.say(&format!("coverage, {} files", files.len()));
    sheet.line(total, sheet.share(50));
    sheet.lines(&endings, sheet.share(50));
    files.sort_by(|one, other| one.percent.total_cmp(&other.percent));
    let least: Vec<String> =
        files.iter().filter(|file| file.percent < 100.0).map(|file| quote(&file.shown, 160)).collect();
    sheet.list("least covered:", &least, sheet.share(80));
    true
}

fn file(line: &str) -> Option<File<'_>> {
    let found = ROW.captures(line)?;
    let (name, percent) = (found.get(1)?.as_str(), found.get(2)?.as_str());
    let missing = found.get(3).map_or(String::new(), |missing| format!(" without {}", missing.as_str()));
    Some(File { name, percent: percent.parse().ok()?, shown: format!("{name} {percent}%{missing}") })
}
