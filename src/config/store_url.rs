//! The address of a database, or a reference that the host resolves to one. An address may hold a password, so it is
//! never printed.

use std::fmt;

use serde_json::{Value, json};

use super::value::OptionValue;

/// The text that is printed in place of an address.
const HIDDEN: &str = "***";

/// An address, a reference, or empty.
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
    use super::*;

    #[test]
    fn an_address_is_never_printed() {
        let reference = json!({ "source": "env", "provider": "default", "id": "secret" });
        for url in [json!("postgresql://me:secret@db/store"), reference] {
            assert_eq!(format!("{:?}", StoreUrl::read(&url).unwrap()), "\"***\"");
        }
    }
}
