//! The address of a database, which may hold a password: it is read, and never printed.

use std::fmt;

use serde_json::{Value, json};

use super::OptionValue;

/// What is printed in place of an address.
const HIDDEN: &str = "***";

/// An address, or none.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct StoreUrl(String);

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.write())
    }
}

impl OptionValue for StoreUrl {
    fn schema() -> Value {
        let words = json!({ "type": "string" });
        json!({ "anyOf": [words, {
            "type": "object",
            "additionalProperties": false,
            "properties": { "source": { "enum": ["env", "file", "exec", "store"] }, "provider": words, "id": words },
            "required": ["source", "provider", "id"],
        }] })
    }
    fn type_script() -> String {
        "string".into()
    }
    fn read(value: &Value) -> Option<Self> {
        value.as_str().map(|url| Self(url.to_owned()))
    }
    fn write(&self) -> Value {
        json!(if self.0.is_empty() { "" } else { HIDDEN })
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use serde_json::json;

    #[test]
    fn an_address_is_read_and_never_printed() {
        let given = json!({ "sccsStoreUrl": "postgresql://me:secret@db/store" });
        let (config, warnings) = Config::from_json(given.as_object().unwrap()).unwrap();
        assert!(warnings.is_empty());
        assert!(!format!("{config:?}").contains("secret"));
        assert_eq!(config.to_json()["sccsStoreUrl"], "***");
        assert_eq!(Config::default().to_json()["sccsStoreUrl"], "");
    }
}
