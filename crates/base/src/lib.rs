//! What every crate of Concertina shares: the error type, ids and originals, counts of tokens, work on all cores, files
//! for their owner, and calls into C.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod error;
pub mod foreign;
pub mod hashing;
pub mod parallel;
pub mod private;
pub mod reference;
pub mod tokens;
