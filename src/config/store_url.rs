//! The address of a database, which may hold a password: it is read, and never printed. Or a host's reference to one, which it resolves.

use std::fmt;

use serde_json::{Value, json};

use super::OptionValue;

/// What is printed in place of an address.
const HIDDEN: &str = "***";

/// An address, a reference, or none.
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
        let is_reference = ["source", "provider", "id"].iter().all(|name| value[name].is_string());
        let reference = || is_reference.then(|| Self(value.to_string()));
        value.as_str().map(|url| Self(url.to_owned())).or_else(reference)
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
        for url in [
            json!("postgresql://me:secret@db/store"),
            json!({ "source": "env", "provider": "default", "id": "secret" }),
        ] {
            let given = json!({ "sccsStoreUrl": url });
            let (config, warnings) = Config::from_json(given.as_object().unwrap()).unwrap();
            assert!(warnings.is_empty());
            assert!(!format!("{config:?}").contains("me:secret"));
            assert_eq!(config.to_json()["sccsStoreUrl"], "***");
        }
        assert!(Config::from_json(json!({ "sccsStoreUrl": { "id": "x" } }).as_object().unwrap()).is_err());
        assert_eq!(Config::default().to_json()["sccsStoreUrl"], "");
    }
}
