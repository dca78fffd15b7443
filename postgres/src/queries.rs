//! The queries that all backends share, in PostgreSQL's dialect.

use std::sync::LazyLock;

use concertina_store::queries::{Dialect, Queries};
use concertina_store::row::{Cell, Query, Row};
use tokio_postgres::types::ToSql;

use crate::connection::{Call, Connection};
use crate::failure::Outcome;
use crate::row::{Param, store_rows};
use crate::text::key;

/// The queries.
pub(crate) static QUERIES: LazyLock<Queries> = LazyLock::new(|| {
    Queries::new(Dialect { parameter: '$', session: ["session", "agent"], key: |name| Cell::Bytes(key(name)) })
});

/// Statements that own their parameters, so that [`Prepared::calls`] can borrow them.
pub(crate) struct Prepared(Vec<(&'static str, Vec<Param>)>);

impl Prepared {
    pub(crate) fn new(queries: impl IntoIterator<Item = Query>) -> Self {
        let prepared = |query: Query| (query.sql, query.params.into_iter().map(Param).collect());
        Self(queries.into_iter().map(prepared).collect())
    }

    pub(crate) fn calls(&self) -> impl Iterator<Item = Call<'_>> {
        self.0.iter().map(|(sql, params)| Call {
            sql,
            params: params.iter().map(|param| param as &(dyn ToSql + Sync)).collect(),
        })
    }
}

/// Runs statements of every turn on one consistent snapshot.
pub(crate) fn read(connection: &mut Connection, queries: Vec<Query>) -> Outcome<Vec<Vec<Row>>> {
    let prepared = Prepared::new(queries);
    connection.read(prepared.calls().collect())?.iter().map(|rows| store_rows(rows)).collect()
}

/// Runs statements that read whole tables on one consistent snapshot.
pub(crate) fn read_with_scans(connection: &mut Connection, queries: Vec<Query>) -> Outcome<Vec<Vec<Row>>> {
    let prepared = Prepared::new(queries);
    connection.read_with_scans(prepared.calls().collect())?.iter().map(|rows| store_rows(rows)).collect()
}
