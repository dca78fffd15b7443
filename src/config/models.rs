//! The option `models`: an object of patterns, each with the options of the models that match it.

use serde_json::{Map, Value, json};

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
