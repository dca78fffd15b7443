//! Options that depend on the model: `models`, an object of patterns, each with the options of the models that it fits.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::{Config, MODELS, OptionValue, knobs, matches_glob, shorten};
use crate::error::{Error, Result};

/// What may depend on the model: when content goes, and how much of it stays in sight.
const OF_A_MODEL: &[&str] = &[
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

/// Checked options by pattern, in the order of their writing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Models(Map<String, Value>);

impl OptionValue for Models {
    fn schema() -> Value {
        json!({ "type": "object" })
    }
    fn type_script() -> String {
        let names: Vec<String> = OF_A_MODEL.iter().map(|name| format!("\"{name}\"")).collect();
        format!("Record<string, Pick<Options, {}>>", names.join(" | "))
    }
    /// Only the object itself: what stands in it is set one by one ([`Models::set`]).
    fn read(value: &Value) -> Option<Self> {
        value.as_object().filter(|object| object.is_empty()).map(|_| Self::default())
    }
    fn write(&self) -> Value {
        json!(self.0)
    }
}

/// JSON schema of the option with its members, as [`Models::set`] takes them.
pub fn schema() -> Value {
    let mut options = Map::new();
    for knob in knobs().into_iter().filter(|knob| OF_A_MODEL.contains(&knob.name)) {
        let minimum = knob.minimum.map(|minimum| ("minimum".to_owned(), json!(minimum)));
        let schema = knob.schema.as_object().cloned().unwrap_or_default();
        options.insert(knob.name.into(), schema.into_iter().chain(minimum).collect());
    }
    let of_a_model = json!({ "type": "object", "properties": options });
    json!({ "type": "object", "additionalProperties": of_a_model })
}

impl Models {
    /// Every member of the object by its dotted name, as [`Models::set`] takes it.
    pub(super) fn by_name(models: &Map<String, Value>) -> impl Iterator<Item = (String, &Value)> {
        models.iter().flat_map(|(pattern, given)| match given.as_object() {
            Some(options) => options.iter().map(|(name, value)| (format!("models.{pattern}.{name}"), value)).collect(),
            None => vec![(format!("models.{pattern}"), given)],
        })
    }

    /// Sets one option for the models that a pattern fits, by the name of both.
    ///
    /// # Errors
    /// [`Error::BadArgument`] for an option that cannot depend on the model, or a bad value of one that can.
    pub(super) fn set(&mut self, name: &str, value: &Value, warnings: &mut Vec<String>) -> Result<()> {
        let member = name.strip_prefix(MODELS).unwrap_or(name);
        let Some((pattern, option)) = member.rsplit_once('.') else {
            return Err(Error::bad_argument(name, shorten(value), "an object of options for the models that it fits"));
        };
        if !OF_A_MODEL.contains(&option) {
            return Err(Error::bad_argument(
                name,
                "not an option of a model",
                format!("one of {}", OF_A_MODEL.join(", ")),
            ));
        }
        let mut checked = Config::default();
        let mut corrected = Vec::new();
        checked.set(option, value, &mut corrected).map_err(|error| match error {
            Error::BadArgument { got, expected, .. } => Error::bad_argument(name, got, expected),
            other => other,
        })?;
        warnings.extend(corrected.into_iter().map(|line| format!("models.{pattern}.{line}")));
        let value = checked.value_of(option).expect("it was just set");
        self.0.entry(pattern).or_insert_with(|| json!({}))[option] = value;
        Ok(())
    }
}

impl Config {
    /// These options as they are for a model: those of every pattern that fits its name over them, a later one over an earlier one.
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

    fn given(models: &Value) -> Map<String, Value> {
        json!({ "staleCalls": 7, "models": models }).as_object().unwrap().clone()
    }

    #[test]
    fn a_model_has_the_options_of_every_pattern_that_fits_it() {
        let models =
            json!({ "*haiku*": { "thrift": "high", "keepNames": 5 }, "claude-haiku-4.5": { "staleCalls": 3 } });
        let (config, warnings) = Config::from_json(&given(&models)).unwrap();
        assert!(warnings.is_empty());
        let of = |model: &str| config.of_model(Some(model)).into_owned();
        let haiku = of("Claude-Haiku-4.5");
        assert_eq!((haiku.stale_calls, haiku.keep_names, haiku.thrift), (3, 5, crate::config::Thrift::High));
        assert_eq!(of("claude-haiku-3").stale_calls, 4, "of its thrift");
        assert_eq!((of("gpt-5"), config.of_model(None).into_owned()), (config.clone(), config.clone()));
        assert_eq!(Config::from_json(&config.to_json()).unwrap().0, config);
    }

    #[test]
    fn a_mistake_is_named_by_pattern_and_option_and_costs_only_itself() {
        for (models, name) in [
            (json!({ "gpt-4.1*": { "encoding": "o200k_base" } }), "models.gpt-4.1*.encoding"),
            (json!({ "gpt-4.1*": { "staleCalls": 0 } }), "models.gpt-4.1*.staleCalls"),
            (json!({ "haiku": 5 }), "models.haiku"),
            (json!(5), "models"),
        ] {
            let error = Config::from_json(&given(&models)).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{name} ")), "{error}");
            let (config, warnings) = Config::default().overlay(&given(&models));
            assert_eq!((config.stale_calls, config.models), (7, Models::default()));
            let [warning] = &warnings[..] else { panic!("{warnings:?}") };
            assert!(warning.starts_with(&format!("{error}; using the default")), "{warning}");
        }
        let lifted = json!({ "haiku": { "sccsCompressThreshold": 10 } });
        let (config, warnings) = Config::from_json(&given(&lifted)).unwrap();
        assert_eq!(config.of_model(Some("haiku")).sccs_compress_threshold, 2000);
        assert_eq!(warnings, ["models.haiku.sccsCompressThreshold is 10; lifted to the minimum 2000"]);
    }
}
