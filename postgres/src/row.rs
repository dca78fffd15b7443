//! Converts columns to values and back. A column of an unexpected type is damage, not a panic.

use concertina_base::reference::ContentHash;
use concertina_store::row::{Cell, Row as StoreRow};
use tokio_postgres::Row;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::failure::{Failure, Outcome};
use crate::text::{escaped, unescaped};

/// Returns a column.
pub(crate) fn at<'a, T: FromSql<'a>>(row: &'a Row, column: usize) -> Outcome<T> {
    row.try_get(column).map_err(|error| Failure::Damaged(error.to_string()))
}

/// Returns a column of text.
pub(crate) fn text(row: &Row, column: usize) -> Outcome<String> {
    Ok(unescaped(at(row, column)?))
}

/// Returns a column of text, or `None` if it is NULL.
pub(crate) fn text_or_null(row: &Row, column: usize) -> Outcome<Option<String>> {
    Ok(at::<Option<String>>(row, column)?.map(unescaped))
}

/// Returns a column with a number that must not be negative.
pub(crate) fn count(row: &Row, column: usize) -> Outcome<u64> {
    let number: i64 = at(row, column)?;
    u64::try_from(number).map_err(|_| Failure::Damaged(format!("a count is {number}")))
}

/// Returns a column with a hash.
pub(crate) fn hash(row: &Row, column: usize) -> Outcome<ContentHash> {
    let bytes: &[u8] = at(row, column)?;
    let hash = bytes.try_into().map_err(|_| Failure::Damaged(format!("a hash has {} bytes", bytes.len())))?;
    Ok(ContentHash(hash))
}

/// Returns the first column of the first row, or `None` if there is no row.
pub(crate) fn first<'a, T: FromSql<'a>>(rows: &'a [Row]) -> Outcome<Option<T>> {
    rows.first().map(|row| at(row, 0)).transpose()
}

/// Converts hashes to a parameter.
pub(crate) fn hashes<'a>(hashes: impl IntoIterator<Item = &'a ContentHash>) -> Vec<&'a [u8]> {
    hashes.into_iter().map(|hash| hash.0.as_slice()).collect()
}

/// Converts rows to the form that all backends return.
pub(crate) fn store_rows(rows: &[Row]) -> Outcome<Vec<StoreRow>> {
    rows.iter()
        .map(|row| Ok(StoreRow((0..row.len()).map(|column| cell(row, column)).collect::<Outcome<_>>()?)))
        .collect()
}

/// Returns a column as a [`Cell`], by its type.
pub(crate) fn cell(row: &Row, column: usize) -> Outcome<Cell> {
    let cell = match *row.columns()[column].type_() {
        Type::INT4 => at::<Option<i32>>(row, column)?.map(|number| Cell::Integer(number.into())),
        Type::BOOL => at::<Option<bool>>(row, column)?.map(Cell::Flag),
        Type::FLOAT8 => at::<Option<f64>>(row, column)?.map(Cell::Real),
        Type::TEXT => text_or_null(row, column)?.map(Cell::Text),
        Type::BYTEA => at::<Option<Vec<u8>>>(row, column)?.map(Cell::Bytes),
        // Any other type is reported as an error by this conversion.
        _ => at::<Option<i64>>(row, column)?.map(Cell::Integer),
    };
    Ok(cell.unwrap_or(Cell::Null))
}

/// A cell as a parameter.
#[derive(Debug)]
pub(crate) struct Param(pub(crate) Cell);

impl ToSql for Param {
    fn to_sql(&self, of: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match &self.0 {
            Cell::Null => Ok(IsNull::Yes),
            Cell::Integer(number) => number.to_sql_checked(of, out),
            Cell::Flag(flag) => flag.to_sql_checked(of, out),
            Cell::Real(number) => number.to_sql_checked(of, out),
            Cell::Text(text) => escaped(text).to_sql_checked(of, out),
            Cell::Bytes(bytes) => bytes.to_sql_checked(of, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
