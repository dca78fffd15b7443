//! The options of a host's user. An invalid option is ignored with a warning; the others still apply.
//!
//! The option table checks everything except the pipeline stages, which the pipeline checks.

use serde_json::{Map, Value, json};

use crate::config::{Config, settings::SQUEEZE_ONLY};
use crate::error::{Error, Result};
use crate::pipeline::{CompressOptions, FusionPipeline};

/// Reads options over a host's own defaults. Each unknown key and each invalid value produces one warning and keeps its
/// default.
pub fn over_defaults(defaults: Config, options: &Map<String, Value>) -> (Config, Vec<String>) {
    let (known, of_squeeze): (Map<_, _>, Map<_, _>) =
        options.clone().into_iter().partition(|(name, _)| !SQUEEZE_ONLY.contains(&name.as_str()));
    let (mut config, mut warnings) = defaults.overlay(&known);
    warnings.extend(of_squeeze.keys().map(|name| format!("{name} is an option of squeeze() alone; it is ignored")));
    for (name, value) in std::mem::take(&mut config.fusion_stages) {
        let mut more = config.fusion_stages.clone();
        more.insert(name, value);
        match pipeline(&more) {
            Ok(_) => config.fusion_stages = more,
            Err(error) => warnings.push(format!("{error}; it is ignored")),
        }
    }
    (config, warnings)
}

/// Builds the pipeline that `fusion.stages` describes.
///
/// # Errors
/// [`Error::BadArgument`] for an unknown stage, or a value of the wrong type.
pub(super) fn pipeline(stages: &Map<String, Value>) -> Result<FusionPipeline> {
    let given = json!({ "stages": stages });
    let read = CompressOptions::from_json(given.as_object().expect("built as an object"));
    read.and_then(|(_, stages)| FusionPipeline::build(&stages)).map_err(|error| match error {
        Error::BadArgument { name, got, expected } => Error::bad_argument(format!("fusion.{name}"), got, expected),
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_stage_costs_itself_and_is_named() {
        let given = json!({
            "fusion": { "enabled": false, "stages": { "nope": false, "rle": false, "ionizer": { "order": "x" }, "logCrunch": { "order": 3 } } },
            "pruneHeartbeats": false, "staleTurns": 2
        });
        let (config, warnings) = over_defaults(Config::default(), given.as_object().unwrap());
        assert_eq!(Value::Object(config.fusion_stages), json!({ "rle": false, "logCrunch": { "order": 3 } }));
        assert_eq!((config.fusion_enabled, config.stale_turns, config.prune_heartbeats), (false, 2, true));
        let [squeeze, unknown, order] = &warnings[..] else { panic!("{warnings:?}") };
        assert_eq!(squeeze, "pruneHeartbeats is an option of squeeze() alone; it is ignored");
        assert!(unknown.starts_with("fusion.stages.nope is not a stage; it must be one of cortex, "), "{unknown}");
        assert!(unknown.ends_with("; it is ignored"), "{unknown}");
        assert_eq!(
            order,
            "fusion.stages.ionizer.order is \"x\"; it must be a whole number of at least 0; it is ignored"
        );
    }
}
