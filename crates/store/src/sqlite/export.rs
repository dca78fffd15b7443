//! Exports all rows from the file, and imports them into an empty one.

use rusqlite::{Transaction, params_from_iter};

use super::failure::{Failure, Outcome};
use super::row::{cell, value};
use crate::copy::not_empty;
use crate::row::Cell;
use crate::tables::{ColumnType, RowSink, TABLES, Table};
use concertina_base::error::Error;

/// Reads every row of every table.
pub(super) fn export(transaction: &Transaction<'_>, take: &mut RowSink<'_>) -> Outcome<()> {
    for table in TABLES {
        let mut statement = transaction.prepare(&table.select(""))?;
        let mut rows = statement.query(())?;
        while let Some(row) = rows.next()? {
            let cells = table.columns.iter().enumerate().map(|(at, (name, of))| {
                let wrong = || Failure::Damaged(format!("{}.{name} has a value that is not {of:?}", table.name));
                typed(cell(row.get_ref(at)?)?, *of).ok_or_else(wrong)
            });
            take(table, cells.collect::<Outcome<_>>()?)?;
        }
    }
    Ok(())
}

/// Returns a cell of a column, converted to the column's type; `None` if it has another type.
fn typed(cell: Cell, of: ColumnType) -> Option<Cell> {
    match (&cell, of) {
        (Cell::Integer(number @ (0 | 1)), ColumnType::Flag) => Some(Cell::Flag(*number == 1)),
        (Cell::Null, _)
        | (Cell::Integer(_), ColumnType::Integer)
        | (Cell::Real(_), ColumnType::Real)
        | (Cell::Text(_), ColumnType::Text)
        | (Cell::Bytes(_), ColumnType::Bytes) => Some(cell),
        _ => None,
    }
}

/// Fills the tables of an empty store. `named` converts a failure into an error.
pub(super) fn import(
    transaction: &Transaction<'_>,
    named: &dyn Fn(Failure) -> Error,
    fill: &mut dyn FnMut(&mut RowSink<'_>) -> concertina_base::error::Result<()>,
) -> Outcome<()> {
    // A session may refer to a later one.
    transaction.pragma_update(None, "defer_foreign_keys", true)?;
    for table in TABLES {
        let look = format!("SELECT EXISTS (SELECT 1 FROM {})", table.name);
        if table.is_empty_in_new_store() && transaction.query_row(&look, (), |row| row.get(0))? {
            return Err(not_empty(table).into());
        }
        transaction.execute(&format!("DELETE FROM {}", table.name), ())?;
    }
    Ok(fill(&mut |table, row| insert(transaction, table, row).map_err(|error| named(error.into())))?)
}

fn insert(transaction: &Transaction<'_>, table: &Table, row: Vec<Cell>) -> rusqlite::Result<()> {
    let params = vec!["?"; table.columns.len()].join(", ");
    let columns: Vec<&str> = table.columns.iter().map(|(name, _)| *name).collect();
    let sql = format!("INSERT INTO {} ({}) VALUES ({params})", table.name, columns.join(", "));
    transaction.prepare_cached(&sql)?.execute(params_from_iter(row.into_iter().map(value))).map(drop)
}
