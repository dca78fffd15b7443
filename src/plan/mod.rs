//! Decides when foldable content leaves the context, and which part of arguments stays. Pure: it reads decisions,
//! prices and the time, and returns decisions.
//!
//! ```text
//! history (what may go, since when) ─► economics (when it pays) ─► chosen blocks
//! ```

pub mod arguments;
pub mod bill;
pub mod cache;
pub mod economics;
pub mod host_compaction;
pub mod model_name;
pub mod price_list;
pub mod prices;
pub mod prompt_cache;
pub mod provider;
