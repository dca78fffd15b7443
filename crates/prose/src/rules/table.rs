//! A table -> `Header: cell; Header: cell` for each row.
//!
//! A cell under an empty header is the row's label and is written without one, and so is a cell beyond the last header.
//! Escaped pipes stay escaped.

use std::ops::Range;

use super::markdown::is_indented;
use crate::draft::{Change, Proposal};
use crate::{Kind, blocks};

struct Table {
    header: Range<usize>,
    rows: Vec<Range<usize>>,
}

/// Proposes for each table to write its rows as lines.
pub(super) fn tables(text: &str) -> Vec<Proposal> {
    let ends_indented = |table: &&Table| {
        table
            .rows
            .last()
            .is_none_or(|row| is_indented(text, text[row.end..].find('\n').map_or(text.len(), |at| row.end + at + 1)))
    };
    find(text)
        .iter()
        .filter(|table| !table.rows.is_empty())
        .filter(|table| !ends_indented(table))
        // In code, the backslash of an escape would be visible without the table around it.
        .filter(|table| !table.rows.iter().any(|row| has_escape_in_code(&text[row.clone()])))
        .map(|table| flattened(text, table))
        .collect()
}

fn has_escape_in_code(row: &str) -> bool {
    row.contains("\\|") && row.contains('`')
}

fn find(text: &str) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    let mut before: Option<Range<usize>> = None;
    let mut last_end = None;
    // Runs of prose may consist of blank lines, so they are skipped, and the text between rows is checked below.
    for block in blocks(text).filter(|block| block.kind != Kind::Prose) {
        let line = content(text, &block.range);
        if block.kind != Kind::TableRow || !text[line.clone()].starts_with('|') {
            (before, last_end) = (None, None);
            continue;
        }
        if last_end == Some(block.range.start)
            && let Some(table) = tables.last_mut()
        {
            table.rows.push(line);
            last_end = Some(block.range.end);
            continue;
        }
        match before.take() {
            Some(header) if is_separator(&text[line.clone()]) && text[header.end..line.start].trim().is_empty() => {
                tables.push(Table { header, rows: Vec::new() });
                last_end = Some(block.range.end);
            }
            _ => before = Some(line),
        }
    }
    tables
}

/// Returns the range of a line without indentation and line end.
fn content(text: &str, line: &Range<usize>) -> Range<usize> {
    let written = &text[line.clone()];
    let bare = written.trim();
    let start = line.start + written.len() - written.trim_start().len();
    start..start + bare.len()
}

fn is_separator(line: &str) -> bool {
    line.contains('-') && line.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' '))
}

/// Returns the cells of a row without the blanks around them.
fn cells(text: &str, line: &Range<usize>) -> Vec<Range<usize>> {
    let bytes = &text.as_bytes()[line.clone()];
    let mut cells = Vec::new();
    let mut start = 1;
    for at in memchr::memchr_iter(b'|', bytes).skip(1).chain([bytes.len()]) {
        let is_escaped =
            at < bytes.len() && bytes[..at].iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1;
        if !is_escaped && start <= at {
            cells.push(content(text, &(line.start + start..line.start + at)));
            start = at + 1;
        }
    }
    // An empty text after the last pipe is not a cell.
    if cells.len() > 1 && cells.last().is_some_and(Range::is_empty) {
        cells.pop();
    }
    cells
}

fn flattened(text: &str, table: &Table) -> Proposal {
    let headers: Vec<&str> = cells(text, &table.header).into_iter().map(|cell| &text[cell]).collect();
    let first = table.rows[0].start;
    let line_start = text[..table.header.start].rfind('\n').map_or(0, |at| at + 1);
    let mut edits = vec![Change::structural(line_start..first, "")];
    for row in &table.rows {
        let mut at = if row.start == first { first } else { row.start };
        let mut mark = "";
        for (index, cell) in cells(text, row).into_iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            let label = headers.get(index).filter(|header| !header.is_empty()).map(|header| format!("{header}: "));
            edits.push(Change::new(at..cell.start, format!("{mark}{}", label.unwrap_or_default())));
            (at, mark) = (cell.end, "; ");
        }
        edits.push(Change::new(at..row.end, ""));
    }
    edits.retain(|edit| !(edit.range.is_empty() && edit.text.is_empty()));
    edits
}
