//! The analysis of a column of cells, for every codec that writes rows: lines ([`super::lines`]), tables and JSON
//! (`ionizer`).
//!
//! Each codec cuts its text into cells and has its own row syntax. They share the search for prefixes and suffixes
//! ([`affixes`]), steps ([`steps`]) and the estimated tokens of a value ([`cost()`]). Rules that an encoder and its
//! decoder share are in `concertina_format`.

mod affixes;
mod cost;
pub(super) mod steps;
mod verdict;

pub(super) use affixes::{is_constant, split_affixes};
pub(super) use cost::cost;
pub(super) use verdict::tells_verdict;

/// The fewest tokens of a text that gets a name in a fold. A shorter one is easier to read in place.
pub(super) const LEAST_NAMED: usize = 4;
