//! The durable store: originals by content hash, and per session the ledger of how each block is shown.
//!
//! The promise: when [`Store::commit`] returns, everything in the batch is on disk, and a batch is one transaction, so
//! a marker never exists without its original. Power loss is covered as far as the operating system's fsync is (SQLite,
//! WAL, `synchronous=FULL`). Every read is checked against its hash.
//!
//! Several processes may have one store open at once: the host's gateway, its command line, ours.
//!
//! The store has no clock: every call that depends on the time is told it.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod cache;
pub mod copy;
pub mod figures;
pub mod hosts;
pub mod id;
mod options;
pub mod payload;
pub mod queries;
mod records;
pub mod row;
pub mod sqlite;
mod store;
pub mod sums;
pub mod tables;
pub mod time;
pub mod version;

pub use options::{Retention, StoreOptions};
pub use records::{
    Batch, BlockKey, Epoch, FoldedKind, Ledger, Printed, PrintedText, Projection, Receipt, Removed, Scope,
    SessionState, Stats, TurnStatus,
};
pub use sqlite::SqliteStore;
pub use store::Store;
pub use time::Millis;
