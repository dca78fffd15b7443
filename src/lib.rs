//! Concertina folds stale and bulky context before a model is billed for it, and unfolds any of it, byte for byte, on
//! demand.
//!
//! This crate is the pure core: no Node, no network, no clock, no environment, no randomness. Time and prices come in
//! as arguments. Data flows one way: a module uses only its own crates and the modules above it in the list of
//! ARCHITECTURE.md.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod assemble;
pub mod config;
pub mod history;
pub mod pipeline;
pub mod plan;
pub mod squeeze;
pub mod summarize;
pub mod transcript;

pub use concertina_base::{error, foreign, reference, tokens};
pub use concertina_prose as prose;
pub use concertina_prose::rules;
pub use concertina_readers as content;
pub use concertina_secrets as secrets;
pub use concertina_store as store;
