//! Reports of tools in which rows of one form are many -> the totals that the tool states, the rows by what is said of
//! them, and what is said of each. A new report is a row of [`REPORTS`].

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::line_pattern;
use super::numbers::which_lines;
use super::sheet::{Sheet, quote};
use crate::content::head;

/// Bytes of a line that are parsed: the names of resources and packages are shorter.
const FRONT: usize = 600;

/// Rows and totals that are kept: no summary has room for more.
const KEPT: usize = 2_000;

/// A form of reports.
struct Report {
    title: &'static str,
    /// Words that each text of this form has, and those that none has.
    has: &'static str,
    has_not: Option<&'static str>,
    /// The lines that are quoted.
    totals: &'static str,
    /// How a row begins, and the lines that say more of it. The groups are the row's `name`, its `key`, and what is
    /// said of it: `more` in a word, `about` in a sentence. A figure at the end of a group's name does not count.
    begins: &'static str,
    goes_on: &'static str,
    /// Words of keys, the gravest first. Rows with other keys are told behind them.
    keys: &'static [&'static str],
    /// The key of rows that state none; without one, such a row is none.
    unkeyed: &'static str,
    /// Whether a row ends at a blank line.
    ends_blank: bool,
}

const REPORTS: &[Report] = &[
    // What terraform and OpenTofu plan to do. What is replaced or destroyed loses what it holds.
    Report {
        title: "plan of changes",
        has: "\nPlan: ",
        has_not: Some("```"),
        totals: "^(?:Plan: |Apply complete! |Destroy complete! )",
        begins: concat!(
            r"^  # (?<name>\S.*?) (?:is tainted, so )?(?<key>(?:will|must) be [a-z][a-z \-]*[a-z])|",
            r"^[│ ]*(?<key1>Error|Warning): (?<name1>.*)",
        ),
        goes_on: r"^[ ~+/-]*(?<more>[^ =]+).*# forces replacement|^│ +(?<more1>on [^,]*)",
        keys: &[
            "Error",
            "must be replaced",
            "will be replaced",
            "will be destroyed",
            "will be updated in-place",
            "will be created",
            "will be imported",
            "will be read during apply",
            "Warning",
        ],
        unkeyed: "",
        ends_blank: false,
    },
    // `npm audit` and `cargo audit`. An advisory that names no severity may be grave; that nobody maintains a package
    // is least.
    Report {
        title: "audit report",
        has: "advisories",
        has_not: None,
        totals: concat!(
            r"^(?:found |error: )?\d+ (?:[a-z]+ severity )?vulnerabilit(?:y|ies)\b|",
            r"^warning: \d+ allowed warnings? ",
        ),
        begins: r"^(?<name>[^\s:]+)  +(?<more>.*)|^Crate: +(?<name1>.*)",
        goes_on: concat!(
            r"^Version: +(?<more>.*)|^(?:Severity|Warning): +(?<key>.*)|^(?:Title|ID|Solution): +(?<about>.*)|",
            r"^(?<about1>fix available.*|No fix available)|^(?<about2>.*) - https://github\.com/advisories/(?<about3>.*)",
        ),
        keys: &["critical", "high", "unrated", "medium", "moderate", "low"],
        unkeyed: "unrated",
        ends_blank: true,
    },
];

struct Patterns {
    totals: Regex,
    begins: Regex,
    goes_on: Regex,
}

static PATTERNS: LazyLock<Vec<Patterns>> = LazyLock::new(|| {
    let of = |report: &Report| Patterns {
        totals: line_pattern(report.totals),
        begins: line_pattern(report.begins),
        goes_on: line_pattern(report.goes_on),
    };
    REPORTS.iter().map(of).collect()
});

/// What is said of one resource, package or problem.
#[derive(Default)]
struct Row<'t> {
    name: &'t str,
    key: &'t str,
    more: Vec<&'t str>,
    about: Vec<&'t str>,
}

impl<'t> Row<'t> {
    /// Takes in what the groups of a pattern found.
    fn add(&mut self, pattern: &Regex, found: &Captures<'t>) {
        for (name, group) in pattern.capture_names().zip(found.iter()) {
            let Some((name, group)) = name.zip(group) else { continue };
            let group = group.as_str().trim();
            match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
                "name" => self.name = group,
                "key" => self.key = group,
                "more" => self.more.push(group),
                _ => self.about.push(group),
            }
        }
    }

    /// `braces (<3.0.3)`.
    fn shown(&self) -> String {
        let more = if self.more.is_empty() { String::new() } else { format!(" ({})", self.more.join(", ")) };
        quote(&format!("{}{more}", self.name), 200)
    }
}

/// Writes the summary; false for a text that is no such report.
pub(super) fn summarize(text: &str, sheet: &mut Sheet) -> bool {
    REPORTS.iter().zip(&*PATTERNS).any(|(report, patterns)| report.tell(text, patterns, sheet))
}

impl Report {
    fn tell(&self, text: &str, patterns: &Patterns, sheet: &mut Sheet) -> bool {
        if !text.contains(self.has) || self.has_not.is_some_and(|words| text.contains(words)) {
            return false;
        }
        let (totals, mut rows) = self.read(text, patterns);
        if totals.is_empty() || rows.is_empty() {
            return false;
        }
        rows.sort_by_key(|row| self.rank(row.key));
        sheet.say(&format!("{}, {}", self.title, which_lines(text)));
        sheet.lines(&totals, sheet.share(50));
        for rows in rows.chunk_by(|one, other| self.rank(one.key) == self.rank(other.key)) {
            let (_, label) = self.rank(rows[0].key);
            sheet.list(&format!("{label}:"), &rows.iter().map(Row::shown).collect::<Vec<_>>(), sheet.share(70));
        }
        let about = rows.iter().filter(|row| !row.about.is_empty());
        let about: Vec<String> =
            about.map(|row| quote(&format!("{}: {}", row.name, row.about.join(", ")), 240)).collect();
        sheet.lines(&about, sheet.share(90));
        true
    }

    /// The place of a key among the others, and how it is called there.
    fn rank<'k>(&self, key: &'k str) -> (usize, &'k str) {
        let at = self.keys.iter().position(|word| key.contains(word));
        at.map_or((self.keys.len(), key), |at| (at, self.keys[at]))
    }

    /// The totals, and the rows.
    fn read<'t>(&self, text: &'t str, patterns: &Patterns) -> (Vec<&'t str>, Vec<Row<'t>>) {
        let (mut totals, mut rows) = (Vec::new(), Vec::<Row>::new());
        let mut is_open = false;
        for line in text.lines().map(|line| head(line, FRONT)) {
            if patterns.totals.is_match(line) {
                totals.push(line);
            } else if let Some(found) = patterns.begins.captures(line) {
                is_open = rows.len() < KEPT;
                if is_open {
                    let mut row = Row::default();
                    row.add(&patterns.begins, &found);
                    rows.push(row);
                }
            } else if let Some(row) = rows.last_mut().filter(|_| is_open) {
                is_open = !(self.ends_blank && line.trim().is_empty());
                if let Some(found) = patterns.goes_on.captures(line) {
                    row.add(&patterns.goes_on, &found);
                }
            }
        }
        totals.truncate(KEPT);
        for row in &mut rows {
            if row.key.is_empty() && !row.about.is_empty() {
                row.key = self.unkeyed;
            }
        }
        rows.retain(|row| !row.key.is_empty());
        (totals, rows)
    }
}
