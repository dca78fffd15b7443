//! The option `models`: an object of patterns, each with the options of the models that match it, and the effective
//! options for one model.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::globs::matches_glob;
use super::table::{Config, option_table};
use super::value::OptionValue;

/// The options that may depend on the model: when content is folded, and how much of it stays in context.
pub(super) const OF_A_MODEL: &[&str] = &[
    "thrift",
    "contextThresholdPercent",
    "maxDeferredTurns",
    "minTokensToFold",
    "minTokensToSqueeze",
    "thinking",
    "keepNames",
    "keepPreviewChars",
    "staleTurns",
    "staleCalls",
    "imageAgeTurns",
    "sccsCompressThreshold",
    "sccsSummaryMaxChars",
];

/// Checked options by pattern, in the order in which they were written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Models(pub(super) Map<String, Value>);

impl OptionValue for Models {
    fn schema() -> Value {
        json!({ "type": "object" })
    }
    fn type_script() -> String {
        let names: Vec<String> = OF_A_MODEL.iter().map(|name| format!("\"{name}\"")).collect();
        format!("Record<string, Pick<Options, {}>>", names.join(" | "))
    }
    /// Accepts only the empty object; its members are set one by one (`Config::set_for_models`).
    fn read(value: &Value) -> Option<Self> {
        value.as_object().filter(|object| object.is_empty()).map(|_| Self::default())
    }
    fn write(&self) -> Value {
        json!(self.0)
    }
}

impl Models {
    /// Returns every member of the object with its dotted name.
    pub(super) fn by_name(models: &Map<String, Value>) -> impl Iterator<Item = (String, &Value)> {
        models.iter().flat_map(|(pattern, given)| match given.as_object() {
            Some(options) => options.iter().map(|(name, value)| (format!("models.{pattern}.{name}"), value)).collect(),
            None => vec![(format!("models.{pattern}"), given)],
        })
    }
}

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
