//! Rows and columns -> size, header, rows that failed, categories, extremes.
//!
//! Reads CSV, TSV, pipes (Markdown, psql) and aligned columns. A table is read once, row by row; its rows are never all
//! held.

use std::borrow::Cow;

use indexmap::IndexMap;

use super::sheet::{Sheet, quote};
use crate::content::severity::{Severity, severity_of_state};
use crate::content::table::{Dialect, below_figures, dialect_of, for_each_row, is_capital, is_header_cell};

/// The most different words of a column that is a category.
const MOST_CATEGORIES: usize = 8;

/// The most columns that are read.
const MOST_COLUMNS: usize = 64;

/// The most failed rows that are quoted.
const QUOTED: usize = 6;

/// Writes the summary, and returns false if the text has no rows of similar cells.
pub(super) fn summarize(text: &str, sheet: &mut Sheet) -> bool {
    let text = below_figures(text);
    let Some(dialect) = dialect_of(text) else { return false };
    let mut table = Table::default();
    for_each_row(text, dialect, |cells, line| table.add(cells, line, dialect));
    // Only a separator keeps what is below a blank line apart from rows.
    let is_delimited = matches!(dialect, Dialect::Delimited(_) | Dialect::Pipes);
    table.is_counted = is_delimited || text.trim().lines().all(|line| !line.trim().is_empty());
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
    /// True if all lines are rows.
    is_counted: bool,
    /// True if a row that is divided at blanks has more or fewer cells than there are columns, so that some cells
    /// cannot be assigned.
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
        // If half of the cells have the names of their columns, these are values, unless the header is repeated.
        let named = self.header.iter().zip(cells).filter(|(name, cell)| !name.is_empty() && **name == **cell).count();
        if named == self.header.len() && named > 0 {
            return;
        }
        if named * 2 >= self.header.len() && named > 0 && self.rows == 0 {
            let first = std::mem::take(&mut self.header);
            self.add_row(&first.iter().map(|cell| Cow::Borrowed(&**cell)).collect::<Vec<_>>(), None, dialect);
        }
        self.add_row(cells, line, dialect);
    }

    fn add_row(&mut self, cells: &[Cow<'_, str>], line: Option<&str>, dialect: Dialect) {
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
        let rows = if self.is_counted { format!("{} rows × ", self.rows) } else { String::new() };
        sheet.say(&format!("table, {rows}{} columns", self.columns.len()));
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

    /// Returns `status Running ×40 Failed ×1` for a column of few words.
    fn categories(&self, name: &str, rows: usize) -> Option<String> {
        if !self.is_category || self.numbers > 0 || self.words.len() < 2 || rows < self.words.len() * 2 {
            return None;
        }
        let mut words: Vec<(&String, &usize)> = self.words.iter().collect();
        words.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let words: Vec<String> = words.iter().map(|(word, count)| format!("{} ×{count}", quote(word, 40))).collect();
        Some(format!("{name} {}", words.join(" ")))
    }

    /// Returns `price 3 (MSFT) to 707 (GOOG)` for a column of numbers.
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

/// Returns true if the numbers of a column of this name identify rows.
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
