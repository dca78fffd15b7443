//! Every option once: name, default, minimum, meaning. The manifest's JSON schema, `index.d.cts` and the table of
//! `docs/options.md` are generated from [`option_table`], so they cannot drift.
//!
//! Options arrive as one JSON object ([`Config::from_json`]). An unknown key or a bad value is an error that names key,
//! value and range, except for the `sccs*` options, whose published contract is lenient: too small is lifted to the
//! minimum, a wrong type falls back to the default, and each leaves one warning. Where a mistake must not cost its user
//! the rest, [`Config::overlay`] treats all options so.

mod globs;
mod models;
mod nearest;
mod of_model;
mod read;
pub mod settings;
mod store_url;
mod table;
mod value;
mod words;

pub use crate::rules::RulesLevel;
pub use crate::tokens::Encoding;
pub use of_model::models_schema;
pub use store_url::StoreUrl;
pub use table::{Config, OptionRow, option_table};
pub use value::rules_level;
pub use words::{Compat, NameScorer, Preset, RulesScope, Schedule, Secrets, Thinking, Thrift};
