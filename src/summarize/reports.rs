//! Texts with many rows of one form -> the totals that the text states, the rows grouped by key, and the details of
//! each. A new report is a row of [`REPORTS`] and cases in `fixtures/cases/summaries`.

use std::borrow::Cow;
use std::sync::LazyLock;

use indexmap::IndexSet;
use regex::{Captures, Regex};

use super::line_pattern;
use super::numbers::{numbered_lines, which_lines};
use super::sheet::{Sheet, quote};
use crate::content::head;

/// The number of bytes of a line that are parsed. The names of resources and packages are shorter.
const FRONT: usize = 600;

/// The most rows and totals that are kept. No summary has room for more.
const KEPT: usize = 20_000;

/// A form of report.
struct Report {
    /// The title, empty for files that only their path identifies. Those get the name of their format.
    title: &'static str,
    /// Words that each text of this form has, and words that none has.
    has: &'static [&'static str],
    has_not: Option<&'static str>,
    /// The pattern of lines that are quoted, and true if all lines with words below the first of them are quoted, too.
    /// A report with a pattern here needs such a line.
    totals: &'static str,
    tells_below: bool,
    /// The patterns of the first line of a row and of the lines that continue it. The groups are the row's `name`, its
    /// `key`, and its details: `more` for words, `about` for sentences. A digit at the end of a group's name is
    /// ignored. `name_least_covered` is a name, and the key of its row is `least covered`.
    begins: &'static str,
    goes_on: &'static str,
    /// Words of keys, the gravest first. Rows with other keys follow.
    keys: &'static [&'static str],
    /// The key of rows that state none but have sentences. If it is empty, such rows are only counted.
    unkeyed: &'static str,
    /// True if a row ends at a blank line.
    ends_blank: bool,
    /// True if rows of one key are sorted by the number in their first word, ascending.
    is_by_figure: bool,
    /// The separator of the details of a row.
    joint: &'static str,
    /// True if only rows of the first key are reported.
    is_first_key_told: bool,
    /// The least share of lines with words that are rows, in percent.
    least_share: usize,
}

/// A pattern that matches no line.
const NEVER: &str = r"[^\s\S]";

/// The defaults of a report.
const PLAIN: Report = Report {
    title: "",
    has: &[],
    has_not: None,
    totals: NEVER,
    tells_below: false,
    begins: NEVER,
    goes_on: NEVER,
    keys: &[],
    unkeyed: "",
    ends_blank: false,
    is_by_figure: false,
    joint: ", ",
    is_first_key_told: false,
    least_share: 0,
};

/// The reports, tried in this order if a text has their words.
const REPORTS: &[Report] = &[
    // The plan of terraform and OpenTofu. Resources that are replaced or destroyed lose their data.
    Report {
        title: "plan of changes",
        has: &["\nPlan: "],
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
        ..PLAIN
    },
    // `npm audit` and `cargo audit`. An advisory without a severity may be grave; an unmaintained package is the least
    // grave.
    Report {
        title: "audit report",
        has: &["advisories"],
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
        ..PLAIN
    },
    // The table of coverage.py and pytest-cov: `src/shop/pay.py   52   7   12   3   84%   7-11, 31`.
    Report {
        title: "coverage",
        has: &["Stmts ", "TOTAL"],
        totals: r"^TOTAL\s+\d+\s.*\d%",
        tells_below: true,
        begins: concat!(
            r"^(?<name>\S.*?)\s+(?:\d+\s+){2}(?:(?:\d+\s+){2})?100(?:\.0+)?%$|",
            r"^(?<name_least_covered>\S.*?)\s+(?:\d+\s+){2}(?:(?:\d+\s+){2})?",
            r"(?<more>\d+(?:\.\d+)?%)(?:\s+(?<more1>\S.*))?$",
        ),
        is_by_figure: true,
        joint: " without ",
        least_share: 60,
        ..PLAIN
    },
    // Settings in YAML, TOML or of the form `key = value`: their sections, or their keys of the first level. By their
    // form only: what a `#` opens is a comment, whatever it looks like, and `a:hover {` is no key.
    Report {
        begins: concat!(
            r"^\[\[?(?<name_sections>[^\[\],]+)\]\]?\s*$|",
            r#"^["']?(?<name_keys>[\w./-]*\p{Alphabetic}[\w./-]*)["']?\s*(?:=|:\s|:$)"#,
        ),
        keys: &["sections", "keys"],
        is_first_key_told: true,
        ..PLAIN
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

/// The facts on one resource, package or problem.
#[derive(Default)]
struct Row<'t> {
    name: &'t str,
    key: Cow<'t, str>,
    more: Vec<&'t str>,
    about: Vec<&'t str>,
}

impl<'t> Row<'t> {
    /// Adds the groups of a match.
    fn add(&mut self, pattern: &Regex, found: &Captures<'t>) {
        for (name, group) in pattern.capture_names().zip(found.iter()) {
            let Some((name, group)) = name.zip(group) else { continue };
            let group = group.as_str().trim();
            match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
                "name" => self.name = group,
                "key" => self.key = Cow::Borrowed(group),
                "more" => self.more.push(group),
                "about" => self.about.push(group),
                name => {
                    self.name = group;
                    self.key = Cow::Owned(name.trim_start_matches("name_").replace('_', " "));
                }
            }
        }
    }

    /// Returns the name with its details: `braces (<3.0.3)`.
    fn shown(&self, joint: &str) -> String {
        let more = if self.more.is_empty() { String::new() } else { format!(" ({})", self.more.join(joint)) };
        quote(&format!("{}{more}", self.name), 200)
    }

    /// Returns the number in its first word, or infinity if that is not a number.
    fn figure(&self) -> f64 {
        self.more.first().and_then(|word| word.trim_end_matches('%').parse().ok()).unwrap_or(f64::INFINITY)
    }
}

/// The contents of a report.
#[derive(Default)]
struct Found<'t> {
    totals: Vec<&'t str>,
    rows: Vec<Row<'t>>,
    /// The number of lines with words, and of lines that begin a row.
    lines: usize,
    begun: usize,
}

/// Writes the summary, and returns false for a text that is not such a report. With a `format`, only reports without a
/// title are tried.
pub(super) fn summarize(text: &str, format: Option<&str>, sheet: &mut Sheet) -> bool {
    let mut reports = REPORTS.iter().zip(&*PATTERNS).filter(|(report, _)| report.title.is_empty() == format.is_some());
    reports.any(|(report, patterns)| report.tell(text, format.unwrap_or(report.title), patterns, sheet))
}

impl Report {
    fn tell(&self, text: &str, title: &str, patterns: &Patterns, sheet: &mut Sheet) -> bool {
        let has_words = self.has.iter().all(|words| text.contains(words));
        if !has_words || self.has_not.is_some_and(|words| text.contains(words)) {
            return false;
        }
        let Found { totals, mut rows, lines, begun } = self.read(text, patterns);
        let is_stated = self.totals == NEVER || !totals.is_empty() && (!rows.is_empty() || self.least_share > 0);
        if !is_stated || begun * 100 < lines * self.least_share {
            return false;
        }
        rows.sort_by_key(|row| self.rank(&row.key).0);
        sheet.say(&format!("{title}, {}", which_lines(text)));
        sheet.lines(&totals, sheet.share(50));
        let told = if self.is_first_key_told { 1 } else { usize::MAX };
        let groups = rows.chunk_by_mut(|one, other| self.rank(&one.key) == self.rank(&other.key));
        for rows in groups.take(told) {
            if self.is_by_figure {
                rows.sort_by(|one, other| one.figure().total_cmp(&other.figure()));
            }
            let shown: IndexSet<String> = rows.iter().map(|row| row.shown(self.joint)).collect();
            let (_, label) = self.rank(&rows[0].key);
            sheet.list(&format!("{label}:"), &shown.into_iter().collect::<Vec<_>>(), sheet.share(70));
        }
        let about = rows.iter().filter(|row| !row.about.is_empty());
        let about: Vec<String> =
            about.map(|row| quote(&format!("{}: {}", row.name, row.about.join(", ")), 240)).collect();
        sheet.lines(&about, sheet.share(90));
        true
    }

    /// Returns the index of a key among the known ones, and its name there.
    fn rank<'k>(&self, key: &'k str) -> (usize, &'k str) {
        let at = self.keys.iter().position(|word| key.contains(word));
        at.map_or((self.keys.len(), key), |at| (at, self.keys[at]))
    }

    fn read<'t>(&self, text: &'t str, patterns: &Patterns) -> Found<'t> {
        let mut found = Found::default();
        let mut is_open = false;
        for line in numbered_lines(text).map(|(_, line)| head(line, FRONT)) {
            let has_words = line.contains(char::is_alphanumeric);
            found.lines += usize::from(has_words);
            if patterns.totals.is_match(line) {
                found.totals.push(line);
            } else if let Some(groups) = patterns.begins.captures(line) {
                found.begun += 1;
                is_open = found.rows.len() < KEPT;
                if is_open {
                    let mut row = Row::default();
                    row.add(&patterns.begins, &groups);
                    found.rows.push(row);
                }
            } else if self.tells_below && !found.totals.is_empty() && has_words {
                found.totals.push(line);
            } else if let Some(row) = found.rows.last_mut().filter(|_| is_open) {
                is_open = !(self.ends_blank && line.trim().is_empty());
                if let Some(groups) = patterns.goes_on.captures(line) {
                    row.add(&patterns.goes_on, &groups);
                }
            }
        }
        found.totals.truncate(KEPT);
        for row in &mut found.rows {
            if row.key.is_empty() && !row.about.is_empty() {
                row.key = Cow::Borrowed(self.unkeyed);
            }
        }
        found.rows.retain(|row| !row.key.is_empty());
        found
    }
}
