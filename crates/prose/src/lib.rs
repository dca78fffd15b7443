//! Prose and rule files in fewer tokens: what may not be altered, and how to say the rest.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod prose;
pub mod rules;
