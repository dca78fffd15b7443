//! Concertina folds stale and bulky context before a model is billed for it, and unfolds any of it, byte for byte, on demand.
//!
//! This crate is the pure core: no Node, no network, no clock, no environment, no randomness. Time and prices come in as
//! arguments. Data flows one way, and a module may use only those of its own row of the map in ARCHITECTURE.md and of the rows above it.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod assemble;
pub mod config;
pub mod content;
pub mod error;
pub mod foreign;
pub mod history;
mod parallel;
pub mod pipeline;
pub mod plan;
mod private;
pub mod prose;
pub mod reference;
pub mod rules;
pub mod squeeze;
pub mod store;
pub mod summarize;
pub mod tokens;
pub mod transcript;
