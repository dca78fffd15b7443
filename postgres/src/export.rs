//! Exports all rows of a database, and imports them into an empty one.

use std::sync::LazyLock;

use concertina_base::error::{Error, Result};
use concertina_store::copy::not_empty;
use concertina_store::row::Cell;
use concertina_store::tables::{ColumnType, ORIGINALS, RowSink, TABLES, Table};
use tokio_postgres::types::ToSql;

use crate::connection::{Call, call};
use crate::failure::{Failure, Outcome};
use crate::pool::WriteTransaction;
use crate::row::{cell, first};
use crate::text::{escaped, key};

/// The maximum number of rows in one step, and about how many bytes.
const STEP_ROWS: usize = 1000;
const STEP_BYTES: usize = 4 << 20;

/// Derived columns, as table, column and source: the SHA-256 of a text.
const DERIVED: [(&str, &str, &str); 3] = [
    ("sessions", "session", "session_id"),
    ("sessions", "agent", "agent_id"),
    ("turns", "advancement", "advancement_key"),
];

/// The statements for one table.
struct Statements {
    has_rows: String,
    empty: String,
    declare: String,
    fetch: String,
    close: String,
    insert: String,
    /// Makes the generated ids continue after those of the imported rows.
    reset_ids: Option<String>,
}

static STATEMENTS: LazyLock<Vec<(&'static Table, Statements)>> =
    LazyLock::new(|| TABLES.iter().map(|table| (*table, Statements::of(table))).collect());

fn derived(table: &Table) -> impl Iterator<Item = (&'static str, usize)> {
    let named = DERIVED.iter().filter(|(of, ..)| *of == table.name);
    named.filter_map(|(_, column, from)| Some((*column, table.columns.iter().position(|(name, _)| name == from)?)))
}

impl Statements {
    fn of(table: &Table) -> Self {
        let name = table.name;
        let (mut columns, mut types): (Vec<&str>, Vec<&str>) =
            table.columns.iter().map(|(name, kind)| (*name, type_of(*kind))).unzip();
        for (column, _) in derived(table) {
            columns.push(column);
            types.push("bytea");
        }
        let given: Vec<String> = types.iter().zip(1..).map(|(kind, at)| format!("${at}::{kind}[]")).collect();
        // A row of this table is as large as its original.
        let step = if name == ORIGINALS.name { 20 } else { STEP_ROWS };
        Self {
            has_rows: format!("SELECT EXISTS (SELECT 1 FROM {name})"),
            empty: format!("DELETE FROM {name}"),
            declare: format!("DECLARE {name}_rows NO SCROLL CURSOR FOR {}", table.select(" COLLATE \"C\"")),
            fetch: format!("FETCH {step} FROM {name}_rows"),
            close: format!("CLOSE {name}_rows"),
            insert: format!(
                "INSERT INTO {name} ({}) OVERRIDING SYSTEM VALUE SELECT * FROM unnest({})",
                columns.join(", "),
                given.join(", ")
            ),
            reset_ids: (columns[0] == "id").then(|| {
                format!(
                    "SELECT setval(pg_get_serial_sequence('{name}', 'id'), greatest(1, max(id)), max(id) IS NOT
                  NULL) FROM {name}"
                )
            }),
        }
    }
}

fn type_of(kind: ColumnType) -> &'static str {
    match kind {
        ColumnType::Integer => "bigint",
        ColumnType::Flag => "boolean",
        ColumnType::Real => "double precision",
        ColumnType::Text => "text",
        ColumnType::Bytes => "bytea",
    }
}

/// Reads every row of every table.
pub(crate) fn export(transaction: &mut WriteTransaction<'_>, take: &mut RowSink<'_>) -> Outcome<()> {
    for (table, statements) in &*STATEMENTS {
        transaction.connection.batch(&statements.declare)?;
        loop {
            let rows = transaction.run(&[call!(&statements.fetch)])?.remove(0);
            if rows.is_empty() {
                break;
            }
            for row in &rows {
                let cells = (0..table.columns.len()).map(|column| cell(row, column));
                take(table, cells.collect::<Outcome<_>>()?)?;
            }
        }
        transaction.connection.batch(&statements.close)?;
    }
    Ok(())
}

/// Fills the tables of an empty namespace. `to_error` converts a failure into an error.
pub(crate) fn import(
    transaction: &mut WriteTransaction<'_>,
    to_error: &dyn Fn(Failure) -> Error,
    fill: &mut dyn FnMut(&mut RowSink<'_>) -> Result<()>,
) -> Outcome<()> {
    // A session may refer to a later one.
    transaction.connection.batch("SET CONSTRAINTS ALL DEFERRED")?;
    for (table, statements) in &*STATEMENTS {
        let has_rows = first(&transaction.run(&[call!(&statements.has_rows)])?[0])?.unwrap_or(false);
        if has_rows && table.is_empty_in_new_store() {
            return Err(not_empty(table).into());
        }
        transaction.run(&[call!(&statements.empty)])?;
    }
    let mut buffer = RowBuffer::default();
    fill(&mut |table, row| {
        if buffer.is_full(table) {
            buffer.write(transaction).map_err(to_error)?;
        }
        buffer.take(table, row);
        Ok(())
    })?;
    buffer.write(transaction)?;
    for reset_ids in STATEMENTS.iter().filter_map(|(_, statements)| statements.reset_ids.as_ref()) {
        transaction.run(&[call!(reset_ids)])?;
    }
    const USAGE: &str = "INSERT INTO usage SELECT count(*), coalesce(sum(length(payload)), 0) FROM originals";
    transaction.run(&[call!("DELETE FROM usage"), call!(USAGE)]).map(drop)
}

/// Rows of one table that have not been written yet.
#[derive(Default)]
struct RowBuffer {
    table: Option<&'static Table>,
    rows: Vec<Vec<Cell>>,
    bytes: usize,
}

impl RowBuffer {
    fn is_full(&self, next: &'static Table) -> bool {
        self.rows.len() == STEP_ROWS
            || self.bytes >= STEP_BYTES
            || self.table.is_some_and(|table| !std::ptr::eq(table, next))
    }

    fn take(&mut self, table: &'static Table, row: Vec<Cell>) {
        self.table = Some(table);
        self.bytes += row.iter().map(weight).sum::<usize>();
        self.rows.push(row);
    }

    fn write(&mut self, transaction: &mut WriteTransaction<'_>) -> Outcome<()> {
        let (rows, Some(table)) = (std::mem::take(&mut self.rows), self.table.take()) else { return Ok(()) };
        self.bytes = 0;
        let insert = STATEMENTS.iter().find(|(other, _)| std::ptr::eq(*other, table)).map(|(_, all)| &all.insert);
        let Some(insert) = insert else { return Err(Failure::Damaged(format!("there is no table {}", table.name))) };
        let mut columns: Vec<_> = (0..table.columns.len()).map(|at| column(&rows, at, table.columns[at].1)).collect();
        columns.extend(derived(table).map(|(_, from)| -> Box<dyn ToSql + Sync> {
            let keys = rows.iter().map(|row| if let Cell::Text(text) = &row[from] { Some(key(text)) } else { None });
            Box::new(keys.collect::<Vec<_>>())
        }));
        transaction.run(&[Call { sql: insert, params: columns.iter().map(|column| &**column).collect() }]).map(drop)
    }
}

fn weight(cell: &Cell) -> usize {
    match cell {
        Cell::Text(text) => text.len(),
        Cell::Bytes(bytes) => bytes.len(),
        Cell::Null | Cell::Integer(_) | Cell::Flag(_) | Cell::Real(_) => 8,
    }
}

/// Converts one column of some rows into a parameter. A cell of another type becomes NULL, which the table rejects.
fn column(rows: &[Vec<Cell>], at: usize, kind: ColumnType) -> Box<dyn ToSql + Sync> {
    macro_rules! column {
        ($cell:pat => $value:expr) => {
            Box::new(rows.iter().map(|row| if let $cell = &row[at] { Some($value) } else { None }).collect::<Vec<_>>())
        };
    }
    match kind {
        ColumnType::Integer => column!(Cell::Integer(number) => *number),
        ColumnType::Flag => column!(Cell::Flag(flag) => *flag),
        ColumnType::Real => column!(Cell::Real(number) => *number),
        ColumnType::Text => column!(Cell::Text(text) => escaped(text).into_owned()),
        ColumnType::Bytes => column!(Cell::Bytes(bytes) => bytes.clone()),
    }
}
