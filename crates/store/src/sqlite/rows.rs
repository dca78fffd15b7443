//! All rows out of the file, and into an empty one.

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Transaction, params_from_iter};

use super::failure::{Failure, Outcome};
use crate::copy::not_empty;
use crate::tables::{Cell, Kind, Sink, TABLES, Table};
use concertina_base::error::Error;

/// Reads every row of every table.
pub(super) fn export(transaction: &Transaction<'_>, take: &mut Sink<'_>) -> Outcome<()> {
    for table in TABLES {
        let mut statement = transaction.prepare(&table.select(""))?;
        let mut rows = statement.query(())?;
        while let Some(row) = rows.next()? {
            let cells = table.columns.iter().enumerate().map(|(at, (name, kind))| {
                cell(row.get_ref(at)?, *kind).ok_or_else(|| {
                    Failure::Damaged(format!("{}.{name} holds something else than {kind:?}", table.name))
                })
            });
            take(table, cells.collect::<Outcome<_>>()?)?;
        }
    }
    Ok(())
}

fn cell(value: ValueRef<'_>, kind: Kind) -> Option<Cell> {
    Some(match (value, kind) {
        (ValueRef::Null, _) => Cell::Null,
        (ValueRef::Integer(number), Kind::Integer) => Cell::Integer(number),
        (ValueRef::Integer(number @ (0 | 1)), Kind::Flag) => Cell::Integer(number),
        (ValueRef::Real(number), Kind::Real) => Cell::Real(number),
        (ValueRef::Text(text), Kind::Text) => Cell::Text(String::from_utf8(text.to_vec()).ok()?),
        (ValueRef::Blob(bytes), Kind::Bytes) => Cell::Bytes(bytes.to_vec()),
        _ => return None,
    })
}

/// Fills the tables of an empty store. `named` makes an error of a failure.
pub(super) fn import(
    transaction: &Transaction<'_>,
    named: &dyn Fn(Failure) -> Error,
    fill: &mut dyn FnMut(&mut Sink<'_>) -> concertina_base::error::Result<()>,
) -> Outcome<()> {
    // A session may refer to a later one.
    transaction.pragma_update(None, "defer_foreign_keys", true)?;
    for table in TABLES {
        let look = format!("SELECT EXISTS (SELECT 1 FROM {})", table.name);
        if table.begins_empty() && transaction.query_row(&look, (), |row| row.get(0))? {
            return Err(not_empty(table).into());
        }
        transaction.execute(&format!("DELETE FROM {}", table.name), ())?;
    }
    Ok(fill(&mut |table, row| insert(transaction, table, row).map_err(|error| named(error.into())))?)
}

fn insert(transaction: &Transaction<'_>, table: &Table, row: Vec<Cell>) -> rusqlite::Result<()> {
    let places = vec!["?"; table.columns.len()].join(", ");
    let columns: Vec<&str> = table.columns.iter().map(|(name, _)| *name).collect();
    let sql = format!("INSERT INTO {} ({}) VALUES ({places})", table.name, columns.join(", "));
    let values = row.into_iter().map(|cell| match cell {
        Cell::Null => Value::Null,
        Cell::Integer(number) => Value::Integer(number),
        Cell::Real(number) => Value::Real(number),
        Cell::Text(text) => Value::Text(text),
        Cell::Bytes(bytes) => Value::Blob(bytes),
    });
    transaction.prepare_cached(&sql)?.execute(params_from_iter(values)).map(drop)
}
