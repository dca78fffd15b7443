//! Rows and columns -> size, header, rows that failed, categories, extremes.
//!
//! Reads CSV, TSV, pipes (Markdown, psql) and aligned columns. A table is read once, row by row; its rows are never all
//! held.

use std::borrow::Cow;

use super::columns::{Column, MOST_COLUMNS, number};
use super::sheet::{Sheet, quote};
use crate::content::severity::{Severity, severity_of_state};
use crate::content::table::{
    Dialect, Row, below_figures, dialect_of, for_each_row, is_capital, is_header_cell, split_below,
};

/// The most failed rows that are quoted.
const QUOTED: usize = 6;

/// Writes the summary, and returns false if the text has no rows of similar cells.
pub(super) fn summarize(text: &str, sheet: &mut Sheet) -> bool {
    let text = below_figures(text);
    let Some(dialect) = dialect_of(text) else { return false };
    let mut table = Table::default();
    let parts = split_below(text, &dialect);
    for_each_row(parts, &dialect, |row| match row {
        Row::Cells(cells, line) => table.add(cells, line, &dialect),
        Row::Continued(_) => table.is_wrapped = true,
        Row::Gap(sign) => table.gap = Some(quote(sign, 40)),
        Row::Count(line) => table.counts.push(line.to_owned()),
        Row::Below(line) => table.below.push(quote(line, 160)),
    });
    // Only a separator keeps what is below a blank line apart from rows.
    let is_delimited = matches!(dialect, Dialect::Delimited(_) | Dialect::Bars(_));
    table.is_counted = is_delimited || parts.0.trim().lines().all(|line| !line.trim().is_empty());
    if table.rows == 0 || table.columns.len() < 2 {
        return false;
    }
    table.write(sheet);
    true
}

#[derive(Default)]
struct Table {
    header: Vec<String>,
    /// The first columns, at most [`MOST_COLUMNS`].
    columns: Vec<Column>,
    /// The number of cells of the first row.
    width: usize,
    rows: usize,
    /// The numbers of rows that the output states.
    counts: Vec<String>,
    /// The lines below the table.
    below: Vec<String>,
    /// The sign for rows that the output leaves out.
    gap: Option<String>,
    /// True if all lines are rows.
    is_counted: bool,
    /// True if rows differ in their numbers of cells, so that some cells cannot be assigned.
    is_ragged: bool,
    /// True if a cell has several lines, so that values are not known from one line.
    is_wrapped: bool,
    failed: Vec<String>,
    failures: usize,
    first: String,
}

impl Table {
    fn add(&mut self, cells: &[Cow<'_, str>], line: Option<&str>, dialect: &Dialect) {
        if self.columns.is_empty() {
            self.width = cells.len();
            self.columns.resize_with(cells.len().min(MOST_COLUMNS), Column::default);
            // A longer row may cover the blanks between two names.
            let is_divided = matches!(dialect, Dialect::Columns(_));
            self.is_ragged = is_divided && cells.iter().any(|cell| cell.contains("  "));
            let names: Vec<&str> = match self.is_ragged {
                true => cells.iter().flat_map(|cell| cell.split("  ")).filter(|name| !name.is_empty()).collect(),
                false => cells.iter().map(|cell| &**cell).collect(),
            };
            if is_header(&names, dialect) {
                self.header = names.iter().map(|name| quote(name, 40)).collect();
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

    fn add_row(&mut self, cells: &[Cow<'_, str>], line: Option<&str>, dialect: &Dialect) {
        self.rows += 1;
        // Below the header of a delimited table, the last cells of a row may be missing.
        let may_lack = matches!(dialect, Dialect::Delimited(_) | Dialect::Bars(_)) && !self.header.is_empty();
        self.is_ragged |= cells.len() > self.width || cells.len() < self.width && !may_lack;
        // Below a title over several columns, some columns are not divided.
        let is_joined = |cell: &Cow<'_, str>| matches!(dialect, Dialect::Columns(_)) && cell.contains("  ");
        self.is_ragged |= self.header.is_empty() && cells[..cells.len().saturating_sub(1)].iter().any(is_joined);
        let separator = if let Dialect::Delimited(by) = dialect { char::from(*by) } else { ',' }.to_string();
        let quoted = |most| match line {
            Some(line) => quote(line, most),
            None => quote(&cells.join(&separator), most),
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
        let label = || match cells.first() {
            Some(cell) if number(cell).is_none() || self.header.first().is_some_and(|name| is_key(name)) => {
                cell.to_string()
            }
            _ => format!("row {}", self.rows),
        };
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.add(cell, label);
        }
    }

    fn name(&self, index: usize) -> String {
        match self.header.get(index) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("column {}", index + 1),
        }
    }

    fn write(&self, sheet: &mut Sheet) {
        if let Some(gap) = &self.gap {
            sheet.cut(if self.counts.is_empty() { std::slice::from_ref(gap) } else { &self.counts });
        }
        // The number that the output states is right if a count of the lines is not.
        let states = |count: &String| count.trim_start_matches(['(', '[']).starts_with(&format!("{} ", self.rows));
        let is_stated = self.gap.is_some() || self.counts.len() < 2 && self.counts.iter().all(states);
        let rows = (self.is_counted && is_stated).then(|| format!("{} rows", self.rows));
        let columns = (!self.is_ragged).then(|| format!("{} columns", self.width));
        let size: Vec<String> = rows.into_iter().chain(columns).collect();
        sheet.say(format!("table, {}", size.join(" × ")).trim_end_matches(", "));
        if !is_stated {
            sheet.say(&self.counts.join("; "));
        }
        if self.header.is_empty() {
            sheet.line(&format!("first row: {}", self.first), sheet.share(40));
        } else {
            sheet.list("columns:", &self.header, sheet.share(50));
        }
        sheet.lines(&self.below, sheet.share(40));
        if self.failures > 0 && self.failures * 2 <= self.rows.max(2) {
            sheet.failures(self.failures, self.failed.clone(), sheet.share(70));
        }
        if self.is_ragged || self.is_wrapped {
            return;
        }
        let named = self.columns.iter().enumerate();
        let categories: Vec<String> =
            named.clone().filter_map(|(index, column)| column.categories(&self.name(index))).collect();
        let extremes: Vec<String> = named.filter_map(|(index, column)| column.extremes(&self.name(index))).collect();
        for facts in [extremes, categories] {
            if !facts.is_empty() {
                sheet.list("", &facts, sheet.share(70));
            }
        }
    }
}

/// Returns true if the numbers of a column of this name identify rows.
fn is_key(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with("id") || ["pid", "year", "key", "code", "number", "no", "#"].contains(&&*name)
}

fn is_header(cells: &[&str], dialect: &Dialect) -> bool {
    let words = cells.iter().filter(|cell| !cell.is_empty());
    let has_no_values = words.clone().all(|cell| is_header_cell(cell));
    has_no_values
        && words.clone().count() > 1
        && (!matches!(dialect, Dialect::Blanks(_)) || words.clone().all(|cell| is_capital(cell)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWN: [&str; 5] = ["psql", "cockroach", "mysql", "box", "Markdown"];
    const HEADER: [&str; 3] = ["NAME", "GROWS IN", "AGE"];

    fn told(text: &str) -> String {
        let mut sheet = Sheet::new(900);
        assert!(summarize(text, &mut sheet), "{text}");
        sheet.finish()
    }

    /// Returns rows, each as the lines that its cells take. Every `wrapped`th row has two more lines.
    fn rows(count: usize, wrapped: usize) -> Vec<Vec<[String; 3]>> {
        let row = |at: usize| {
            let mut lines =
                vec![[format!("tree-{}", at * 37), ["Bergen", "Porto Alegre"][at % 2].into(), at.to_string()]];
            for more in ["by the sea", ""].iter().filter(|_| at.is_multiple_of(wrapped)) {
                lines.push([String::new(), (*more).to_owned(), String::new()]);
            }
            lines
        };
        (1..=count).map(row).collect()
    }

    /// Draws a table in a dialect, with a line in place of left out rows if `gap` is not empty.
    fn drawn(dialect: &str, rows: &[Vec<[String; 3]>], gap: &str) -> String {
        let line = |cells: &[String; 3]| {
            let [a, b, c] = cells;
            match dialect {
                "psql" | "cockroach" => format!(" {a:<9} | {b:<14} | {c:>4}\n"),
                "mysql" | "Markdown" => format!("| {a:<9} | {b:<14} | {c:>4} |\n"),
                "box" => format!("│ {a:<9} │ {b:<14} │ {c:>4} │\n"),
                "commas" => format!("{a},{b},{c}\n"),
                "tabs" => format!("{a}\t{b}\t{c}\n"),
                "wide" => format!("{a:<9}   {b:<14}   {c}\n"),
                _ => format!("{a:<9} {b:<14} {c:>4}\n"),
            }
        };
        let (top, rule, bottom) = match dialect {
            "psql" => ("", "-----------+----------------+------\n", ""),
            "cockroach" => ("", "+----------+----------------+-----+\n", ""),
            "mysql" => ("+-----------+----------------+------+\n", "+-----------+----------------+------+\n", ""),
            "box" => ("┌──────┬──────┬────┐\n", "├──────┼──────┼────┤\n", "└──────┴──────┴────┘\n"),
            "Markdown" => ("", "|---|---|--:|\n", ""),
            _ => ("", "", ""),
        };
        let mut text = format!("{top}{}{rule}", line(&HEADER.map(str::to_owned)));
        for (at, cells) in rows.iter().enumerate() {
            text.extend(cells.iter().map(line));
            if at + 1 == rows.len() / 2 && !gap.is_empty() {
                text.push_str(&format!("{gap}\n"));
            }
        }
        text + bottom
    }

    #[test]
    fn the_size_of_a_table_is_told_in_each_dialect_with_wrapped_cells_gaps_and_notes() {
        for dialect in DRAWN.into_iter().chain(["commas", "tabs", "wide", "narrow"]) {
            let may_wrap = DRAWN.contains(&dialect) && dialect != "Markdown";
            for (count, wrapped) in [(8, 0), (21, 0), (9, 1), (9, 3), (14, 5)] {
                let rows = rows(count, if may_wrap { wrapped } else { 0 });
                let size = format!("table, {count} rows × 3 columns\ncolumns: NAME, GROWS IN, AGE");
                let [text, with_gap, cut] = ["", "...", "…"].map(|gap| drawn(dialect, &rows, gap));
                let note = "Planted by a friend of old trees";
                let noted = drawn(dialect, &rows, "[... 1,412 lines skipped ...]");
                for (text, begins) in [
                    (text.clone(), size.clone()),
                    (noted, size.clone()),
                    (format!("{text}({count} rows)\n"), size.clone()),
                    (format!("{text}(90 rows)\n"), "table, 3 columns; (90 rows)\ncolumns:".to_owned()),
                    (format!("{text}{note}\n"), format!("{size}\n{note}")),
                    (format!("{text}\n{note}\n"), format!("{size}\n{note}")),
                    (format!("{text}...\n"), format!("...\nof the part shown: {size}")),
                    (with_gap.clone(), format!("...\nof the part shown: {size}")),
                    (format!("{with_gap}(90 rows)\n"), format!("(90 rows)\nof the part shown: {size}")),
                    (
                        format!("{cut}[90 rows x 3 columns]\n"),
                        format!("[90 rows x 3 columns]\nof the part shown: {size}"),
                    ),
                ] {
                    let summary = told(&text);
                    assert!(summary.starts_with(&begins), "{dialect}\n{text}\n{summary}");
                }
            }
        }
    }

    #[test]
    fn no_number_of_columns_is_told_of_rows_that_differ() {
        let long = "oak\t7\t8\t9\tBergen\n".repeat(12);
        assert!(told(&format!("elm\t7\t8\n{long}")).starts_with("table, 13 rows\nfirst row: elm 7 8"));
        let row = "tcp    12     0      10.0.0.7:443      *\n";
        let longer = "tcp    120    0      a-name-that-is-as-long-as-two-columns:443     *\n";
        let text = format!("KIND   Recv-Q Send-Q Local Address     Peer Address\n{}", [row, longer].concat().repeat(5));
        let columns = "columns: KIND, Recv-Q, Send-Q, Local Address, Peer Address";
        assert_eq!(told(&text), format!("table, 10 rows\n{columns}"));
        let numbers = |from: usize| (from..from + 100).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
        let wide = format!("a{}\n{}\n{}\n", numbers(1).replace(',', ",a"), numbers(3), numbers(5));
        assert!(told(&wide).starts_with("table, 2 rows × 100 columns\n"), "{}", told(&wide));
    }

    #[test]
    fn a_name_of_two_words_is_one_column_and_an_empty_column_is_one() {
        let text = "ID   LAST SEEN   SIZE\n1    5m          12\n2    7m          9\n3    1m          8\n";
        assert!(told(text).starts_with("table, 3 rows × 3 columns\ncolumns: ID, LAST SEEN, SIZE\n"), "{}", told(text));
        let text = "ID RM SIZE MODEL LABEL\n 1  0  12M VM    12\n 2  0   9M\n 3  1   8M\n 4  1   8M VM    9\n";
        let size = "table, 4 rows × 5 columns\ncolumns: ID, RM, SIZE, MODEL, LABEL\n";
        assert!(told(text).starts_with(size), "{}", told(text));
    }
}
