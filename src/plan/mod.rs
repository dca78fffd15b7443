//! Decides what leaves the context, and why. Pure: it reads a transcript and a configuration and returns actions.

pub mod arguments;
pub mod exempt;
pub mod measure;
pub mod stale;
pub mod utf16;

pub use measure::{Meter, message_tokens};
pub use stale::{Candidate, Part, Reason, stale};
