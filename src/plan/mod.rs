//! Decides what leaves the context, why, and when it pays. Pure: it reads a transcript, a configuration, prices and the time,
//! and returns decisions.
//!
//! ```text
//! stale, superseded ─► candidates (what may go, since when) ─► economics (when it pays) ─► chosen blocks
//! ```

pub mod arguments;
pub mod balance;
pub mod cache;
pub mod candidates;
pub mod economics;
pub mod exempt;
pub mod files;
pub mod measure;
pub mod prices;
pub mod stale;
pub mod superseded;
pub mod utf16;

pub use measure::{Meter, message_tokens};
pub use stale::{Candidate, Part, Reason, stale};
