//! The base of all crates of Concertina: the error type, ids and originals, token counts, parallel work, private files,
//! and calls into C.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod error;
pub mod foreign;
pub mod hashing;
pub mod parallel;
pub mod private;
pub mod reference;
pub mod tokens;
