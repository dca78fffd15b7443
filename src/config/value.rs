//! Conversion of option values from and to JSON, by type.

use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::rules::RulesLevel;
use crate::tokens::Encoding;

/// An option type that can be read from and written to JSON.
pub(super) trait OptionValue: Sized + Clone {
    /// Returns the JSON schema of the type.
    fn schema() -> Value;
    /// Returns the TypeScript type.
    fn type_script() -> String;
    /// Reads a value; `None` if the type does not fit.
    fn read(value: &Value) -> Option<Self>;
    /// Returns the wrong part of a value that does not fit, and the expected form of it, if the type can tell more than
    /// its schema.
    fn fault(_: &Value) -> Option<(String, &'static str)> {
        None
    }
    /// Writes a value.
    fn write(&self) -> Value;
    /// Returns the value as a number, if it has a range.
    fn number(&self) -> Option<u64> {
        None
    }
    /// Creates the value from a number, if the type has a range.
    fn from_number(_: u64) -> Option<Self> {
        None
    }
}

/// Implements [`OptionValue`] for a type that JSON has.
macro_rules! json_values {
    ($($type:ty, $schema:tt, $type_script:literal, $read:expr;)+) => {$(
        impl OptionValue for $type {
            fn schema() -> Value {
                json!($schema)
            }
            fn type_script() -> String {
                $type_script.into()
            }
            fn read(value: &Value) -> Option<Self> {
                $read(value)
            }
            fn write(&self) -> Value {
                json!(self)
            }
        }
    )+};
}

/// A record of pipeline stages.
type Stages = Map<String, Value>;

json_values! {
    bool, { "type": "boolean" }, "boolean", Value::as_bool;
    String, { "type": "string" }, "string", |value: &Value| value.as_str().map(str::to_owned);
    Vec<String>, { "type": "array", "items": { "type": "string" } }, "string[]",
        |value: &Value| value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect();
    Stages, { "type": "object" }, "Record<string, boolean | ({ order?: number } & Record<string, unknown>)>",
        |value: &Value| value.as_object().cloned();
}

impl OptionValue for u64 {
    fn schema() -> Value {
        json!({ "type": "integer" })
    }
    fn type_script() -> String {
        "number".into()
    }
    fn read(value: &Value) -> Option<Self> {
        value.as_u64().or_else(|| {
            let float = value.as_f64()?;
            (float >= 0.0 && float.fract() == 0.0 && float < 9e15).then_some(float as u64)
        })
    }
    fn write(&self) -> Value {
        json!(self)
    }
    fn number(&self) -> Option<u64> {
        Some(*self)
    }
    fn from_number(number: u64) -> Option<Self> {
        Some(number)
    }
}

/// A share from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Share(pub f64);

impl OptionValue for Share {
    fn schema() -> Value {
        json!({ "type": "number", "minimum": 0, "maximum": 1 })
    }
    fn type_script() -> String {
        "number".into()
    }
    fn read(value: &Value) -> Option<Self> {
        value.as_f64().filter(|share| (0.0..=1.0).contains(share)).map(Self)
    }
    fn write(&self) -> Value {
        // A whole number is written like the others, without a point.
        if self.0.fract() == 0.0 { json!(self.0 as u64) } else { json!(self.0) }
    }
}

/// Accepts a number or a word.
impl OptionValue for RulesLevel {
    fn schema() -> Value {
        let numbers = Self::ALL.map(|level| json!(level as u8));
        json!({ "enum": numbers.into_iter().chain(Self::ALL.map(|level| json!(level.as_str()))).collect::<Vec<_>>() })
    }
    fn type_script() -> String {
        "0 | 1 | 2 | 3 | \"off\" | \"light\" | \"standard\" | \"aggressive\"".into()
    }
    fn read(value: &Value) -> Option<Self> {
        match value.as_str() {
            Some(word) => Self::ALL.into_iter().find(|level| level.as_str() == word),
            None => Self::ALL.get(usize::try_from(u64::read(value)?).ok()?).copied(),
        }
    }
    fn write(&self) -> Value {
        json!(*self as u8)
    }
}

impl OptionValue for Encoding {
    fn schema() -> Value {
        json!({ "type": "string", "enum": Self::ALL.map(Self::as_str) })
    }
    fn type_script() -> String {
        Self::ALL.map(|encoding| format!("\"{}\"", encoding.as_str())).join(" | ")
    }
    fn read(value: &Value) -> Option<Self> {
        Self::parse(value.as_str()?)
    }
    fn write(&self) -> Value {
        json!(self.as_str())
    }
}

/// Reads a value. An invalid one is corrected with a warning if the option is lenient, and refused otherwise.
pub(super) fn accept<T: OptionValue>(
    name: &str,
    value: &Value,
    default: &T,
    minimum: Option<u64>,
    lenient: bool,
    warnings: &mut Vec<String>,
) -> Result<T> {
    let refused = || match T::fault(value) {
        Some((got, expected)) => Error::bad_argument(name, got, expected),
        None => Error::bad_argument(name, shorten(value), expectation::<T>(minimum)),
    };
    // A lenient number may be negative or fractional before it is raised to the minimum.
    let lifted = value.as_f64().filter(|_| lenient).and_then(|float| {
        let rounded = if float.is_finite() {
            float.max(0.0).round() as u64
        } else {
            return None;
        };
        T::from_number(rounded)
    });
    let Some(read) = T::read(value).or(lifted) else {
        if !lenient {
            return Err(refused());
        }
        warnings.push(format!(
            "{name} is {}; it must be {}; using the default {}",
            shorten(value),
            expectation::<T>(minimum),
            default.write()
        ));
        return Ok(default.clone());
    };
    match (read.number(), minimum) {
        (Some(number), Some(minimum)) if number < minimum => {
            let Some(lifted) = T::from_number(minimum).filter(|_| lenient) else {
                return Err(refused());
            };
            warnings.push(format!("{name} is {}; raised to the minimum {minimum}", shorten(value)));
            Ok(lifted)
        }
        _ => Ok(read),
    }
}

/// Reads a level for rule files.
///
/// # Errors
/// [`Error::BadArgument`] if the value is not a level.
pub fn rules_level(value: &Value) -> Result<RulesLevel> {
    RulesLevel::read(value).ok_or_else(|| Error::bad_argument("level", value, expectation::<RulesLevel>(None)))
}

fn expectation<T: OptionValue>(minimum: Option<u64>) -> String {
    let schema = T::schema();
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().map(Value::to_string).collect();
        return format!("one of {}", words.join(", "));
    }
    match (schema["type"].as_str(), minimum) {
        (Some("integer"), Some(minimum)) => format!("a whole number of at least {minimum}"),
        (Some("integer"), None) => "a whole number".into(),
        (Some("number"), _) => "a number from 0 to 1".into(),
        (Some("array"), _) => "an array of strings".into(),
        (Some("object"), _) => "an object".into(),
        (Some(kind), _) => format!("a {kind}"),
        (None, _) => "text, or a secret reference: source, provider and id".into(),
    }
}

/// The maximum number of characters of a value that a message quotes: one line. Chosen by judgement.
const MESSAGE_CHARS: usize = 80;

/// Returns the JSON of a value for messages, cut to [`MESSAGE_CHARS`].
pub(super) fn shorten(value: &Value) -> String {
    let json = value.to_string();
    match json.char_indices().nth(MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &json[..end]),
        None => json,
    }
}
