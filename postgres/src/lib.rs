//! The durable store in PostgreSQL, for several machines at once: the promises of [`concertina_store::Store`], kept by
//! one database.
//!
//! A namespace is a schema. Several tenants can have their namespaces in one database without seeing each other. Access
//! is a row: a session is granted an original by putting or inheriting it. When a grant is removed, everything that the
//! session's ledger says about that original is removed with it.
//!
//! Acknowledged data is on the server's disk (`synchronous_commit`, which sessions switch on if it is off). It is on a
//! standby only if the server is configured to wait for it. A store needs dedicated sessions: a pooler must not
//! distribute the statements of one session over several server sessions. PostgreSQL 14 or newer is required.

#![forbid(unsafe_code)]

// Unit tests start their servers with the same code as the integration tests.
#[cfg(test)]
extern crate self as concertina_postgres;

mod address;
mod batch;
#[cfg(test)]
#[expect(dead_code, reason = "the tests of the store use the rest")]
#[path = "../tests/store/cluster.rs"]
mod cluster;
mod commit;
mod connection;
mod context;
mod export;
mod failure;
mod inherit;
mod options;
mod pool;
mod queries;
mod read;
mod refusal;
mod row;
mod schema;
mod scope;
mod search;
mod server;
mod session;
mod slots;
mod store;
mod sweep;
mod text;
mod version;

pub use options::{Clock, PostgresOptions};
pub use store::PostgresStore;
