//! How counts look in SQL: signed 64-bit integers.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Row, ToSql};

/// A count; SQL has no unsigned integers.
pub(super) struct Count(pub(super) u64);

impl ToSql for Count {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(i64::try_from(self.0).unwrap_or(i64::MAX)))
    }
}

impl FromSql for Count {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let count = i64::column_result(value)?;
        u64::try_from(count).map(Self).map_err(|_| FromSqlError::OutOfRange(count))
    }
}

/// The count in a column.
pub(super) fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(row.get::<_, Count>(column)?.0)
}

/// A row of three counts.
pub(super) fn counts(row: &Row<'_>) -> rusqlite::Result<[u64; 3]> {
    Ok([count(row, 0)?, count(row, 1)?, count(row, 2)?])
}
