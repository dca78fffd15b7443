//! Columns -> values. A column of another type than ours is damage, not a panic.

use concertina::reference::ContentHash;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use crate::failure::{Failure, Outcome};
use crate::text::unescaped;

/// A column.
pub(crate) fn at<'a, T: FromSql<'a>>(row: &'a Row, column: usize) -> Outcome<T> {
    row.try_get(column).map_err(|error| Failure::Damaged(error.to_string()))
}

/// A column of text.
pub(crate) fn text(row: &Row, column: usize) -> Outcome<String> {
    Ok(unescaped(at(row, column)?))
}

/// A column of text that may be NULL.
pub(crate) fn text_or_null(row: &Row, column: usize) -> Outcome<Option<String>> {
    Ok(at::<Option<String>>(row, column)?.map(unescaped))
}

/// A column with a list of texts.
pub(crate) fn texts(row: &Row, column: usize) -> Outcome<Vec<String>> {
    Ok(at::<Vec<String>>(row, column)?.into_iter().map(unescaped).collect())
}

/// A column with a number that is not negative.
pub(crate) fn count(row: &Row, column: usize) -> Outcome<u64> {
    let number: i64 = at(row, column)?;
    u64::try_from(number).map_err(|_| Failure::Damaged(format!("a count is {number}")))
}

/// A column with a hash.
pub(crate) fn hash(row: &Row, column: usize) -> Outcome<ContentHash> {
    let bytes: &[u8] = at(row, column)?;
    let hash = bytes.try_into().map_err(|_| Failure::Damaged(format!("a hash has {} bytes", bytes.len())))?;
    Ok(ContentHash(hash))
}

/// A count as SQL has it, which has no unsigned integers.
pub(crate) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The first column of the only row, where there is one.
pub(crate) fn first<'a, T: FromSql<'a>>(rows: &'a [Row]) -> Outcome<Option<T>> {
    rows.first().map(|row| at(row, 0)).transpose()
}
