//! The durable store: originals by content hash, and for each session the ledger of how each block is shown.
//!
//! When [`Store::commit`] returns, everything in the batch is on disk. A batch is one transaction, so a marker never
//! exists without its original. Protection against power loss is that of the operating system's fsync (SQLite, WAL,
//! `synchronous=FULL`). Every read is checked against its hash.
//!
//! Several processes may have one store open at the same time: the host's gateway, its command line, and our tools.
//!
//! The store has no clock: the caller passes the time to every call that depends on it.

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
pub mod signature;
pub mod sqlite;
mod store;
pub mod sums;
pub mod tables;
pub mod time;

pub use options::{Retention, StoreOptions};
pub use records::{
    AskedAgain, Batch, BlockKey, Candidates, Epoch, FAILED, FoldedKind, FoldedOriginal, Ledger, MAX_CANDIDATES,
    MAX_UNSIGNED, Mark, MarkKind, PrintedKind, PrintedText, Projection, RESTORED, Receipt, Removed, Scope, Searched,
    SessionState, Stats, TurnStatus,
};
pub use signature::{Probes, Signature};
pub use sqlite::SqliteStore;
pub use store::Store;
pub use time::Millis;
