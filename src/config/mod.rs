//! All options, each declared once with name, default, minimum and meaning. The manifest's JSON schema, `index.d.cts`
//! and the table of `docs/options.md` are generated from [`option_table`], so they cannot drift.
//!
//! Options arrive as one JSON object ([`Config::from_json`]). An unknown key or a bad value is an error that names the
//! key, the value and the range. The `sccs*` options are lenient, because their published contract is: a value that is
//! too small is raised to the minimum, a value of the wrong type becomes the default, each with one warning.
//! [`Config::overlay`] treats all options this way, for hosts in which one mistake must not discard the other options.

mod globs;
mod models;
mod of_model;
mod protect;
mod read;
pub mod settings;
mod store_url;
mod table;
mod value;
mod words;

pub use crate::rules::RulesLevel;
pub use crate::tokens::Encoding;
pub use of_model::models_schema;
pub use protect::{Protect, Subject, Verdict};
pub use store_url::StoreUrl;
pub use table::{Config, OptionRow, option_table};
pub use value::{Share, rules_level};
pub use words::{Compat, Enabled, NameScorer, Preset, RulesScope, Schedule, Secrets, Thinking, Thrift};
