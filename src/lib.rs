//! Concertina folds stale and bulky context before a model is billed for it, and unfolds any of it, byte for byte, on demand.
//!
//! This crate is the pure core: no Node, no network, no clock, no environment, no randomness. Time and prices come in as
//! arguments. Data flows one way, and a module may use only the rows above its own (`tests/layering.rs` holds this list
//! against the imports):
//!
//! ```text
//! error, config, foreign, parallel, private   errors; options; calls into C, remembered where they end the process; threads; files for their owner
//! transcript, reference, tokens, content   what there is: messages, originals and ids, counts, kinds of text
//! prose, store, history              protected spans and short words; durable originals; what may leave a conversation
//! plan, pipeline, summarize, rules   what to do: decide, and propose text with its originals
//! squeeze, assemble                  the whole jobs; assemble is the only place where effects happen
//! ```

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
