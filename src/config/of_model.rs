//! The effective options for one model.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::globs::matches_glob;
use super::models::OF_A_MODEL;
use super::table::{Config, option_table};

/// Returns the JSON schema of the `models` option and its members, as [`Config::from_json`] accepts them.
pub fn models_schema() -> Value {
    let mut options = Map::new();
    for row in option_table().into_iter().filter(|row| OF_A_MODEL.contains(&row.name)) {
        let minimum = row.minimum.map(|minimum| ("minimum".to_owned(), json!(minimum)));
        let schema = row.schema.as_object().cloned().unwrap_or_default();
        options.insert(row.name.into(), schema.into_iter().chain(minimum).collect());
    }
    let of_a_model = json!({ "type": "object", "properties": options });
    json!({ "type": "object", "additionalProperties": of_a_model })
}

impl Config {
    /// Returns the effective options for a model: the options of every matching pattern are applied in order, later
    /// ones win.
    pub fn of_model(&self, model: Option<&str>) -> Cow<'_, Self> {
        let mut config = Cow::Borrowed(self);
        for (pattern, options) in &self.models.0 {
            if let (Some(options), true) =
                (options.as_object(), model.is_some_and(|model| matches_glob(pattern, model)))
            {
                let (changed, wrong) = config.into_owned().overlay(options);
                debug_assert!(wrong.is_empty(), "they were checked when they were set: {wrong:?}");
                config = Cow::Owned(changed);
            }
        }
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Thrift;

    #[test]
    fn a_model_has_the_options_of_every_pattern_that_fits_it() {
        let given = json!({ "staleCalls": 7, "models": {
            "*haiku*": { "thrift": "high", "keepNames": 5 },
            "claude-haiku-4.5": { "staleCalls": 3 },
            "small": { "sccsCompressThreshold": 10 },
        } });
        let (config, _) = Config::from_json(given.as_object().unwrap()).unwrap();
        let of = |model: &str| config.of_model(Some(model)).into_owned();
        let haiku = of("Claude-Haiku-4.5");
        assert_eq!((haiku.stale_calls, haiku.keep_names, haiku.thrift), (3, 5, Thrift::High));
        assert_eq!(of("claude-haiku-3").stale_calls, 4, "of its thrift");
        assert_eq!(of("small").sccs_compress_threshold, 2000, "raised to the minimum");
        assert_eq!((of("gpt-5"), config.of_model(None).into_owned()), (config.clone(), config.clone()));
    }
}
