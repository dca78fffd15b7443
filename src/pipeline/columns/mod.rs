//! What is said once of a column of cells, for every codec that writes rows: lines ([`super::lines`]), tables and JSON
//! (`ionizer`).
//!
//! Each codec cuts its text into cells, and has a row syntax of its own. Here is what they look for in a column: what
//! all values share at both ends ([`affixes`]), by what they grow ([`steps`]), and about how many tokens a value costs
//! where a row writes it ([`cost()`]). What encoder and decoder share of a rule is in `concertina_format`.

mod affixes;
mod cost;
pub(super) mod steps;

pub(super) use affixes::{is_constant, split_affixes};
pub(super) use cost::cost;
