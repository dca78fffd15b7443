//! Rows and columns -> size, header, rows that failed, categories, extremes.
//!
//! CSV, TSV, pipes (Markdown, psql) and aligned columns. A table is read once, column by column; its rows are never all held.

use std::borrow::Cow;

use indexmap::IndexMap;

use super::sheet::{Sheet, quote};
use crate::content::severity::{Severity, severity_of_state};
use crate::content::table::{Dialect, below_figures, dialect_of, for_each_row, is_capital, is_header_cell};

/// A column with more different words is no category.
const MOST_CATEGORIES: usize = 8;

/// Columns that are looked at.
const MOST_COLUMNS: usize = 64;

/// Failed rows that are quoted.
const QUOTED: usize = 6;

/// Writes the summary; false when the text has no rows of like cells.
pub(super) fn summarize(text: &str, sheet: &mut Sheet) -> bool {
    let text = below_figures(text);
    let Some(dialect) = dialect_of(text) else { return false };
    let mut table = Table::default();
    for_each_row(text, dialect, |cells, line| table.add(cells, line, dialect));
    if table.rows == 0 || table.columns.len() < 2 {
        return false;
    }
    table.write(sheet);
    true
}

#[derive(Default)]
struct Table {
    header: Vec<String>,
    columns: Vec<Column>,
    rows: usize,
    /// Whether a row that is divided at blanks has more or fewer cells than there are columns, so that some are not
    /// known.
    is_ragged: bool,
    failed: Vec<String>,
    failures: usize,
    first: String,
}

#[derive(Default)]
struct Column {
    filled: usize,
    numbers: usize,
    low: Option<Extreme>,
    high: Option<Extreme>,
    words: IndexMap<String, usize>,
    is_category: bool,
}

struct Extreme {
    value: f64,
    cell: String,
    row: String,
}

impl Table {
    fn add(&mut self, cells: &[Cow<'_, str>], line: Option<&str>, dialect: Dialect) {
        if self.columns.is_empty() {
            self.columns =
                cells.iter().take(MOST_COLUMNS).map(|_| Column { is_category: true, ..Column::default() }).collect();
            if is_header(cells, dialect) {
                self.header = cells.iter().map(|cell| quote(cell, 40)).collect();
                return;
            }
        }
        self.rows += 1;
        self.is_ragged |= matches!(dialect, Dialect::Aligned | Dialect::Blanks(_)) && cells.len() != self.columns.len();
        let quoted = |most| match line {
            Some(line) => quote(line, most),
            None => quote(&cells.join(","), most),
        };
        if self.rows == 1 {
            self.first = quoted(160);
        }
        // A program may be called `timeout`.
        let is_command = |at: usize| self.header.get(at).is_some_and(|name| matches!(&**name, "CMD" | "COMMAND"));
        if cells.iter().enumerate().any(|(at, cell)| severity_of_state(cell) >= Severity::Error && !is_command(at)) {
            self.failures += 1;
            if self.failed.len() < QUOTED {
                self.failed.push(quoted(160));
            }
        }
        let label = match cells.first() {
            Some(cell) if number(cell).is_none() || self.header.first().is_some_and(|name| is_key(name)) => {
                cell.to_string()
            }
            _ => format!("row {}", self.rows),
        };
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.add(cell, &label);
        }
    }

    fn name(&self, index: usize) -> String {
        match self.header.get(index) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("column {}", index + 1),
        }
    }

    fn write(&self, sheet: &mut Sheet) {
        sheet.say(&format!("table, {} rows × {} columns", self.rows, self.columns.len()));
        if self.header.is_empty() {
            sheet.line(&format!("first row: {}", self.first), sheet.share(40));
        } else {
            sheet.list("columns:", &self.header, sheet.share(50));
        }
        if self.failures > 0 && self.failures * 2 <= self.rows.max(2) {
            let mut rows = self.failed.clone();
            rows[0] = format!("{} not ok: {}", self.failures, rows[0]);
            sheet.lines(&rows, sheet.share(70));
        }
        if self.is_ragged {
            return;
        }
        let named = self.columns.iter().enumerate();
        let categories: Vec<String> =
            named.clone().filter_map(|(index, column)| column.categories(&self.name(index), self.rows)).collect();
        let extremes: Vec<String> = named.filter_map(|(index, column)| column.extremes(&self.name(index))).collect();
        for facts in [extremes, categories] {
            if !facts.is_empty() {
                sheet.list("", &facts, sheet.share(70));
            }
        }
    }
}

impl Column {
    fn add(&mut self, cell: &str, label: &str) {
        let cell = cell.trim();
        if cell.is_empty() {
            return;
        }
        self.filled += 1;
        if let Some(value) = number(cell) {
            self.numbers += 1;
            let is_beyond = |extreme: &Option<Extreme>, lower: bool| {
                extreme.as_ref().is_none_or(|extreme| if lower { value < extreme.value } else { value > extreme.value })
            };
            let new = || Some(Extreme { value, cell: quote(cell, 24), row: quote(label, 32) });
            if is_beyond(&self.low, true) {
                self.low = new();
            }
            if is_beyond(&self.high, false) {
                self.high = new();
            }
        } else if self.is_category {
            if let Some(count) = self.words.get_mut(cell) {
                *count += 1;
            } else if self.words.len() < MOST_CATEGORIES && cell.len() <= 40 {
                self.words.insert(cell.to_owned(), 1);
            } else {
                self.is_category = false;
            }
        }
    }

    /// `status: Running 40, Failed 1` for a column of few words.
    fn categories(&self, name: &str, rows: usize) -> Option<String> {
        if !self.is_category || self.numbers > 0 || self.words.len() < 2 || rows < self.words.len() * 2 {
            return None;
        }
        let mut words: Vec<(&String, &usize)> = self.words.iter().collect();
        words.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let words: Vec<String> = words.iter().map(|(word, count)| format!("{} ×{count}", quote(word, 40))).collect();
        Some(format!("{name} {}", words.join(" ")))
    }

    /// `price 3 (MSFT) to 707 (GOOG)` for a column of numbers.
    fn extremes(&self, name: &str) -> Option<String> {
        let (low, high) = (self.low.as_ref()?, self.high.as_ref()?);
        if self.numbers * 10 < self.filled * 8 || low.value >= high.value || name.eq_ignore_ascii_case("id") {
            return None;
        }
        let at = |extreme: &Extreme| {
            if extreme.row == extreme.cell {
                extreme.cell.clone()
            } else {
                format!("{} ({})", extreme.cell, extreme.row)
            }
        };
        Some(format!("{name} {} to {}", at(low), at(high)))
    }
}

fn number(cell: &str) -> Option<f64> {
    let digits = cell.strip_suffix('%').unwrap_or(cell);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    is_number.then(|| digits.parse().ok()).flatten().filter(|value: &f64| value.is_finite())
}

/// Whether the numbers of a column of this name tell rows apart.
fn is_key(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with("id") || ["pid", "year", "key", "code", "number", "no", "#"].contains(&&*name)
}

fn is_header(cells: &[Cow<'_, str>], dialect: Dialect) -> bool {
    let words = cells.iter().filter(|cell| !cell.is_empty());
    let has_no_values = words.clone().all(|cell| is_header_cell(cell));
    has_no_values
        && words.clone().count() > 1
        && (!matches!(dialect, Dialect::Blanks(_)) || words.clone().all(|cell| is_capital(cell)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(text: &str, max_chars: usize) -> String {
        let mut sheet = Sheet::new(max_chars);
        assert!(summarize(text, &mut sheet), "not read as a table");
        sheet.finish()
    }

    #[test]
    fn csv_says_rows_columns_and_extremes_with_the_row_they_are_in() {
        let mut text = String::from("city,population,note\n");
        for (city, population) in [("Oslo", 709_037), ("Bergen", 291_940), ("Hamar", 28_535), ("Molde", 32_002)] {
            text += &format!("{city},{population},\"a, b\"\n");
        }
        assert_eq!(
            summary(&text, 300),
            "table, 4 rows × 3 columns\ncolumns: city, population, note\npopulation 28535 (Hamar) to 709037 (Oslo)"
        );
    }

    #[test]
    fn the_failed_row_of_an_aligned_table_is_quoted() {
        let mut text = String::from("NAME                 READY   STATUS             RESTARTS   AGE\n");
        for i in 0..9 {
            text += &format!("web-7d4b9c-{i}x2kp      1/1     Running            0          3d\n");
        }
        text += "queue-5f6d8-zz9p1    0/1     CrashLoopBackOff   17         3d\n";
        let summary = summary(&text, 300);
        assert!(
            summary.starts_with("table, 10 rows × 5 columns\ncolumns: NAME, READY, STATUS, RESTARTS, AGE\n"),
            "{summary}"
        );
        assert!(summary.contains("1 not ok: queue-5f6d8-zz9p1 0/1 CrashLoopBackOff 17 3d"), "{summary}");
        assert!(summary.contains("STATUS Running ×9 CrashLoopBackOff ×1"), "{summary}");
        assert!(summary.contains("RESTARTS 0 (web-7d4b9c-0x2kp) to 17 (queue-5f6d8-zz9p1)"), "{summary}");
    }

    #[test]
    fn columns_of_processes_are_told_apart() {
        let mut text = String::from(
            "top - 10:22:01 up 3 days,  1:02,  1 user,  load average: 0.10, 0.20, 0.30\n\
             Tasks: 120 total,   1 running, 119 sleeping\n\n\
             \x20   PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n",
        );
        for i in 0..20 {
            text += &format!(
                "   20{i:02} root      20   0  1689{i:02}  13012   8404 S   0.0  0.{i:02}   0:10.23 timeout\n"
            );
        }
        let summary = summary(&text, 400);
        assert!(
            summary.starts_with(
                "table, 20 rows × 12 columns\n\
                 columns: PID, USER, PR, NI, VIRT, RES, SHR, S, %CPU, %MEM, TIME+, COMMAND\n"
            ),
            "{summary}"
        );
        assert!(summary.contains("VIRT 168900 (2000) to 168919 (2019)"), "{summary}");
        assert!(!summary.contains("not ok"), "{summary}");
    }

    #[test]
    fn the_container_that_failed_is_named() {
        let mut text = String::from(
            "CONTAINER ID   IMAGE         COMMAND       CREATED       STATUS                      PORTS      NAMES\n",
        );
        for i in 0..9 {
            text += &format!(
                "0a1b2c3d4e5{i}   node:20       \"node a.js\"   3 hours ago   Up 3 hours                  80/tcp     acme-web-{i}\n"
            );
        }
        text += "0a1b2c3d4e5f   postgres:15   \"docker-e…\"   3 hours ago   Exited (137) 2 hours ago               acme-db\n\
                 0a1b2c3d4e5a   node:20       \"node b.js\"   3 hours ago   Exited (0) 2 hours ago                 acme-seed\n";
        let summary = summary(&text, 300);
        assert!(
            summary.contains(
                "1 not ok: 0a1b2c3d4e5f postgres:15 \"docker-e…\" 3 hours ago Exited (137) 2 hours ago acme-db"
            ),
            "{summary}"
        );
        assert!(!summary.contains("PORTS 80/tcp"), "{summary}");
    }

    #[test]
    fn pipes_and_rules_are_read() {
        let text = "| name | ms |\n|------|----|\n| a | 12 |\n| b | 340 |\n";
        assert_eq!(summary(text, 200), "table, 2 rows × 2 columns\ncolumns: name, ms\nms 12 (a) to 340 (b)");
        let rows: String = (1..31).map(|n| format!("{n:>3} | a{n}@x.org\n")).collect();
        let psql = format!(" id | email \n----+-------\n{rows}(30 rows)\n\nTime: 1.402 ms\n");
        assert!(summary(&psql, 200).starts_with("table, 30 rows × 2 columns\ncolumns: id, email"));
    }

    #[test]
    fn prose_is_no_table() {
        assert!(!summarize("One line.\nAnother, with a comma.\n\nAnd a third.", &mut Sheet::new(300)));
        assert!(!summarize("x", &mut Sheet::new(300)));
    }
}
