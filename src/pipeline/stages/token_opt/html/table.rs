//! Rows and columns -> which cell of a row stands in which column, spans counted.
//!
//! A cell that spans rows stands in each of them (as a ditto mark), or every cell after it would move to another column.

use super::flow::Place;

/// Wider spans than this are mistakes, or attacks.
const SPAN_MAX: usize = 64;

/// Spans over rows are followed in the first so many columns.
const COLUMNS_MAX: usize = 256;

/// A table that is open.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// For each column, how many more rows the cell above reaches into.
    reach: Vec<usize>,
    column: usize,
    /// How many more columns the last cell reaches into.
    spanned: usize,
    /// Where the row began that is open.
    row: Option<Place>,
    /// Whether a cell is open.
    pub(super) in_cell: bool,
}

/// What stands in a column of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    /// The cell above reaches down to here.
    Ditto,
    /// The cell that starts here.
    Own,
    /// The cell to the left reaches to here; it stays empty.
    Spanned,
}

impl Table {
    pub(super) fn start_row(&mut self, place: Place) {
        self.row = Some(place);
        self.column = 0;
        self.spanned = 0;
        self.in_cell = false;
    }

    pub(super) fn row(&self) -> Option<&Place> {
        self.row.as_ref()
    }

    /// Ends the open row: the columns that cells above reach into and that no cell of the row came to.
    pub(super) fn end_row(&mut self) -> Option<Place> {
        for reach in self.reach.iter_mut().skip(self.column) {
            *reach = reach.saturating_sub(1);
        }
        self.in_cell = false;
        self.row.take()
    }

    /// The columns from behind the last cell up to the next one, and whether the first of them is the first of its row.
    pub(super) fn next_cell(&mut self, columns: usize, rows: usize) -> (Vec<Column>, bool) {
        let is_first = self.column == 0;
        let mut found = vec![Column::Spanned; std::mem::take(&mut self.spanned)];
        while let Some(reach) = self.reach.get_mut(self.column).filter(|reach| **reach > 0) {
            *reach -= 1;
            self.column += 1;
            found.push(Column::Ditto);
        }
        found.push(Column::Own);
        let columns = columns.clamp(1, SPAN_MAX);
        self.spanned = columns - 1;
        let end = self.column + columns;
        if rows > 1 && end <= COLUMNS_MAX {
            self.reach.resize(self.reach.len().max(end), 0);
            self.reach[self.column..end].fill(rows.min(u16::MAX.into()) - 1);
        }
        self.column = end;
        (found, is_first)
    }
}

#[cfg(test)]
mod tests {
    use super::super::flow::Flow;
    use super::Column::{Ditto, Own, Spanned};
    use super::*;

    fn place() -> Place {
        Flow::new().place()
    }

    #[test]
    fn cells_below_a_span_keep_their_columns() {
        let mut table = Table::default();
        assert_eq!(table.next_cell(1, 2), (vec![Own], true));
        assert_eq!(table.next_cell(2, 1), (vec![Own], false));
        assert_eq!(table.next_cell(1, 1), (vec![Spanned, Own], false));
        table.start_row(place());
        assert_eq!(table.next_cell(1, 1), (vec![Ditto, Own], true));
        table.start_row(place());
        assert_eq!(table.next_cell(1, 1), (vec![Own], true));
    }
}
