//! Runs statements, and converts their values from and to SQLite's types.

use std::sync::LazyLock;

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, Params, params_from_iter};

use super::failure::Outcome;
use crate::queries::{Dialect, Queries};
use crate::row::{BadColumn, Cell, Query, Row};

/// The queries in SQLite's dialect.
pub(super) static QUERIES: LazyLock<Queries> = LazyLock::new(|| {
    Queries::new(Dialect { parameter: '?', session: ["session_id", "agent_id"], key: |name| Cell::from(name) })
});

/// Runs a statement. Returns the number of rows that it changed.
pub(super) fn execute(connection: &Connection, sql: &str, params: impl Params) -> Outcome<usize> {
    Ok(connection.prepare_cached(sql)?.execute(params)?)
}

/// Returns true if a query finds a row.
pub(super) fn exists(connection: &Connection, sql: &str, params: impl Params) -> Outcome<bool> {
    Ok(connection.prepare_cached(sql)?.exists(params)?)
}

/// Reads the first row that a query finds.
pub(super) fn first<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Outcome<Option<T>> {
    Ok(connection.prepare_cached(sql)?.query_row(params, read).optional()?)
}

/// Reads all rows that a query finds.
pub(super) fn all<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Outcome<Vec<T>> {
    Ok(connection.prepare_cached(sql)?.query_map(params, read)?.collect::<rusqlite::Result<_>>()?)
}

/// Runs statements and returns the rows of each.
pub(super) fn run(connection: &Connection, queries: Vec<Query>) -> Outcome<Vec<Vec<Row>>> {
    queries.into_iter().map(|Query { sql, params }| rows(connection, sql, params)).collect()
}

/// Returns the rows of one statement.
pub(super) fn rows(connection: &Connection, sql: &str, params: Vec<Cell>) -> Outcome<Vec<Row>> {
    let mut statement = connection.prepare_cached(sql)?;
    let width = statement.column_count();
    let mut rows = statement.query(params_from_iter(params.into_iter().map(value)))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let cells = (0..width).map(|column| cell(row.get_ref(column)?));
        found.push(Row(cells.collect::<Outcome<_>>()?));
    }
    Ok(found)
}

/// Returns a cell as a parameter of a statement.
pub(super) fn value(cell: Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Integer(number) => Value::Integer(number),
        Cell::Flag(flag) => Value::Integer(flag.into()),
        Cell::Real(number) => Value::Real(number),
        Cell::Text(text) => Value::Text(text),
        Cell::Bytes(bytes) => Value::Blob(bytes),
    }
}

/// Returns a value of a row as a cell. SQLite has no booleans: they are the numbers 0 and 1.
pub(super) fn cell(value: ValueRef<'_>) -> Outcome<Cell> {
    Ok(match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(text) => {
            let text = String::from_utf8(text.to_vec());
            Cell::Text(text.map_err(|_| BadColumn("a text is not UTF-8".to_owned()))?)
        }
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
    })
}

/// Returns the count in a column.
pub(super) fn count(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let count: i64 = row.get(column)?;
    u64::try_from(count).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, count))
}
