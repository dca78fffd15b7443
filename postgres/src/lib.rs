//! The durable store in PostgreSQL, for several machines at once: the promises of [`concertina_store::Store`], kept by
//! one database.
//!
//! A namespace is a schema; several tenants may have theirs in one database and do not see each other. Access is a row:
//! a session is granted an original by putting or inheriting it, and all that the session's ledger says about that
//! original falls with the grant.
//!
//! What is acknowledged is on the server's disk (`synchronous_commit`, which sessions switch on where it is off); on a
//! standby too only where the server is told to wait for it. A store needs sessions of its own: a pooler must not give
//! one session's statements to several of the server's. PostgreSQL 14 or newer.

#![forbid(unsafe_code)]

// The tests inside start their servers as those outside do.
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
mod server;
mod session;
mod slots;
mod store;
mod sweep;
mod text;
mod version;

pub use options::{Clock, PostgresOptions};
pub use store::PostgresStore;
