//! The stages, one file or folder each, and the slice that registers them. Two published stages are missing because the
//! engine runs them before all others: Cortex is [`crate::content`], and QuantumLock is `move_volatile_lines`.

mod bars;
mod drop_comments;
mod drop_unreadable;
mod fold_diffs;
mod fold_logs;
mod fold_search_results;
pub mod ionizer;
mod rle;
mod semantic_dedup;
mod shorten_prose;
mod structural_collapse;
mod token_opt;

use serde_json::{Map, Value};

use super::Stage;
use crate::error::{Error, Result};
use shorten_prose::{ABBREV, NEXUS, Shortening};

/// All built-in stages with their published order, in which they run: 1-9 is preparation, 10-19 structure, 20-29
/// syntax, 30-44 meaning, and polish from 45 on. Custom stages are inserted by their order.
pub const STAGES: &[(u32, &dyn Stage)] = &[
    (8, &drop_unreadable::Photon),
    (10, &rle::Rle),
    (12, &semantic_dedup::SemanticDedup),
    (15, &ionizer::Ionizer),
    (16, &fold_logs::LogCrunch),
    (17, &fold_search_results::SearchCrunch),
    (18, &fold_diffs::DiffCrunch),
    (19, &structural_collapse::StructuralCollapse),
    (25, &drop_comments::Neurosyntax),
    (35, &NEXUS),
    (40, &token_opt::TokenOpt),
    (45, &ABBREV),
];

/// The stages that have settings besides `enabled` and `order`.
const CONFIGURABLE: [&Shortening; 2] = [&NEXUS, &ABBREV];

/// Returns the settings of a stage, each with a description of its valid values.
pub(super) fn settings(stage: &str) -> &'static [(&'static str, &'static str)] {
    let found = CONFIGURABLE.into_iter().find(|shortening| shortening.name() == stage);
    found.map_or(&[], |shortening| shortening.settings)
}

/// Creates a stage with the settings in `stages.<name>` of the options.
///
/// # Errors
/// [`Error::BadArgument`] for an unknown setting or a bad value.
pub(super) fn with_settings(stage: &str, settings: &Map<String, Value>) -> Result<Box<dyn Stage>> {
    match CONFIGURABLE.into_iter().find(|shortening| shortening.name() == stage) {
        Some(shortening) => Ok(Box::new(shortening.with_settings(settings)?)),
        None => {
            let setting = settings.keys().next().map_or("", String::as_str);
            Err(Error::bad_argument(format!("stages.{stage}.{setting}"), "not a setting", "order or enabled"))
        }
    }
}
