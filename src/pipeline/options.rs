//! The options of compression.
//!
//! [`StageOptions`] shape the pipeline and are read once, when it is built. [`CompressOptions`] apply to a single text.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::config::{Encoding, Preset};
use crate::content::{ContentType, Hints, Language};
use crate::error::{Error, Result};
use crate::tokens::vision::Provider;
use crate::transcript::Role;

/// The options for one text.
#[derive(Debug, Clone, PartialEq)]
pub struct CompressOptions {
    /// Facts that the host knows about the text.
    pub hints: Hints,
    /// The author of the text.
    pub role: Role,
    /// The limit on how much may be rewritten.
    pub preset: Preset,
    /// The tokenizer vocabulary that tokens are counted with.
    pub encoding: Encoding,
    /// The number of tokens that the result should not exceed, if the caller has such a limit.
    pub max_tokens: Option<usize>,
}

impl Default for CompressOptions {
    fn default() -> Self {
        Self {
            hints: Hints::default(),
            role: Role::Tool,
            preset: Preset::Balanced,
            encoding: Encoding::O200kBase,
            max_tokens: None,
        }
    }
}

/// The selection and order of stages.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StageOptions {
    /// Options by stage name. A stage without an entry runs with its defaults.
    pub stages: BTreeMap<String, StageOption>,
    /// Custom stages that the caller runs, by name and order; see [`super::FusionEngine::compress_asking`].
    pub custom: Vec<(String, u32)>,
}

/// The options of one stage.
#[derive(Debug, Clone, PartialEq)]
pub struct StageOption {
    /// True if the stage runs.
    pub enabled: bool,
    /// The position of the stage, if it differs from its default order.
    pub order: Option<u32>,
    /// Settings that only this stage knows.
    pub settings: Map<String, Value>,
}

impl Default for StageOption {
    fn default() -> Self {
        Self { enabled: true, order: None, settings: Map::new() }
    }
}

const ROLES: [(&str, Role); 4] =
    [("system", Role::System), ("user", Role::User), ("assistant", Role::Assistant), ("tool", Role::Tool)];

impl CompressOptions {
    /// Reads the options of `compress()` as JavaScript passes them.
    ///
    /// # Errors
    /// [`Error::BadArgument`] for an unknown key or a bad value. Names of stages are checked when the pipeline is
    /// built.
    pub fn from_json(options: &Map<String, Value>) -> Result<(Self, StageOptions)> {
        let (mut compress, mut stages) = (Self::default(), StageOptions::default());
        for (key, value) in options {
            match key.as_str() {
                "hints" => compress.hints = hints(object(key, value)?)?,
                "role" => compress.role = word(key, value, &ROLES)?,
                "preset" => compress.preset = word(key, value, &words(&Preset::ALL, Preset::as_str))?,
                "lossless" => {
                    value.as_bool().ok_or_else(|| refuse(key, value, "a boolean"))?;
                }
                "encoding" => compress.encoding = word(key, value, &words(&Encoding::ALL, Encoding::as_str))?,
                "maxTokens" => {
                    let limit = whole(value).filter(|&limit| limit > 0);
                    compress.max_tokens =
                        Some(limit.ok_or_else(|| refuse(key, value, "a whole number of at least 1"))?);
                }
                "stages" => {
                    for (name, value) in object(key, value)? {
                        stages.stages.insert(name.clone(), stage(&format!("stages.{name}"), value)?);
                    }
                }
                "custom" => stages.custom = custom(key, value)?,
                _ => {
                    let known = "one of hints, role, preset, lossless, stages, custom, encoding, maxTokens";
                    return Err(Error::bad_argument(key, "not an option", known));
                }
            }
        }
        // `lossless: true` is a promise about the result, so it overrides every preset.
        if options.get("lossless") == Some(&Value::Bool(true)) {
            compress.preset = Preset::Lossless;
        }
        Ok((compress, stages))
    }
}

fn hints(given: &Map<String, Value>) -> Result<Hints> {
    let mut hints = Hints::default();
    for (key, value) in given {
        let name = format!("hints.{key}");
        let text = || value.as_str().map(str::to_owned).ok_or_else(|| refuse(&name, value, "a string"));
        match key.as_str() {
            "toolName" => hints.tool_name = Some(text()?),
            "path" => hints.path = Some(text()?),
            "command" => hints.command = Some(text()?),
            "contentType" => {
                hints.content_type = Some(word(&name, value, &words(ContentType::ALL, ContentType::as_str))?)
            }
            "language" => hints.language = Some(word(&name, value, &words(Language::ALL, Language::as_str))?),
            _ => {
                let known = "one of toolName, path, command, contentType, language";
                return Err(Error::bad_argument(name, "not a hint", known));
            }
        }
    }
    Ok(hints)
}

fn stage(name: &str, value: &Value) -> Result<StageOption> {
    if let Some(enabled) = value.as_bool() {
        return Ok(StageOption { enabled, ..StageOption::default() });
    }
    let mut option = StageOption::default();
    for (key, value) in value.as_object().ok_or_else(|| refuse(name, value, "a boolean or an object"))? {
        match key.as_str() {
            "enabled" => {
                option.enabled =
                    value.as_bool().ok_or_else(|| refuse(&format!("{name}.enabled"), value, "a boolean"))?;
            }
            "order" => option.order = Some(order(&format!("{name}.order"), value)?),
            _ => {
                option.settings.insert(key.clone(), value.clone());
            }
        }
    }
    Ok(option)
}

fn custom(key: &str, value: &Value) -> Result<Vec<(String, u32)>> {
    let expected = "an array of { name, order, shouldApply, apply }";
    let items = value.as_array().ok_or_else(|| refuse(key, value, expected))?;
    let read = |(index, item): (usize, &Value)| {
        let name = item["name"].as_str().filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| refuse(&format!("{key}[{index}].name"), &item["name"], "a string"))?;
        Ok((name.to_owned(), order(&format!("{key}[{index}].order"), &item["order"])?))
    };
    items.iter().enumerate().map(read).collect()
}

fn order(name: &str, value: &Value) -> Result<u32> {
    let order = whole(value).and_then(|order| u32::try_from(order).ok());
    order.ok_or_else(|| refuse(name, value, "a whole number of at least 0"))
}

fn whole(value: &Value) -> Option<usize> {
    let float = value.as_f64()?;
    (float >= 0.0 && float.fract() == 0.0 && float < 9e15).then_some(float as usize)
}

fn object<'a>(name: &str, value: &'a Value) -> Result<&'a Map<String, Value>> {
    value.as_object().ok_or_else(|| refuse(name, value, "an object"))
}

fn words<T: Copy>(all: &[T], word: fn(T) -> &'static str) -> Vec<(&'static str, T)> {
    all.iter().map(|&item| (word(item), item)).collect()
}

fn word<T: Copy>(name: &str, value: &Value, all: &[(&str, T)]) -> Result<T> {
    let found = value.as_str().and_then(|given| all.iter().find(|(word, _)| *word == given));
    found.map(|(_, item)| *item).ok_or_else(|| {
        let known: Vec<String> = all.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        refuse(name, value, &format!("one of {}", known.join(", ")))
    })
}

fn refuse(name: &str, value: &Value, expected: &str) -> Error {
    let json = value.to_string();
    let got = match json.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &json[..end]),
        None => json,
    };
    Error::bad_argument(name, got, expected)
}

/// The options for a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct MessagesOptions {
    /// The options for each block. Hints and role are set from the message.
    pub compress: CompressOptions,
    /// The roles whose blocks are compressed.
    pub roles: Vec<Role>,
    /// The provider whose rule counts the tokens of images.
    pub provider: Provider,
}

impl Default for MessagesOptions {
    fn default() -> Self {
        Self { compress: CompressOptions::default(), roles: vec![Role::Tool], provider: Provider::default() }
    }
}

impl MessagesOptions {
    /// Reads the options of `compressMessages()` as JavaScript passes them: the options of `compress()`, `roles` and
    /// `model`.
    ///
    /// # Errors
    /// [`Error::BadArgument`] for an unknown key or a bad value.
    pub fn from_json(options: &Map<String, Value>) -> Result<(Self, StageOptions)> {
        let mut options = options.clone();
        let mut read = Self::default();
        if let Some(roles) = options.remove("roles") {
            let role = |word: &Value| match word.as_str() {
                Some("system") => Some(Role::System),
                Some("assistant") => Some(Role::Assistant),
                Some("tool") => Some(Role::Tool),
                _ => None,
            };
            let known = roles.as_array().and_then(|roles| roles.iter().map(role).collect());
            read.roles = known.ok_or_else(|| {
                Error::bad_argument("roles", &roles, "an array of \"system\", \"assistant\" and \"tool\"")
            })?;
        }
        if let Some(model) = options.remove("model") {
            let name = model.as_str().ok_or_else(|| Error::bad_argument("model", &model, "the name of a model"))?;
            read.provider = Provider::of_model(name);
        }
        let (compress, stages) = CompressOptions::from_json(&options)?;
        read.compress = compress;
        Ok((read, stages))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn given(options: &Value) -> Result<(CompressOptions, StageOptions)> {
        CompressOptions::from_json(options.as_object().unwrap())
    }

    #[test]
    fn options_read_as_javascript_writes_them() {
        let (compress, stages) = given(&json!({
            "hints": { "path": "a.rs", "language": "rust" }, "role": "system", "preset": "max", "maxTokens": 100.0,
            "stages": { "rle": false, "ionizer": { "order": 3, "sample": 5 } }, "custom": [{ "name": "mine", "order": 44 }]
        }))
        .unwrap();
        assert_eq!(compress.hints.path.as_deref(), Some("a.rs"));
        assert_eq!(compress.hints.language, Some(Language::Rust));
        assert_eq!((compress.role, compress.preset, compress.max_tokens), (Role::System, Preset::Max, Some(100)));
        assert!(!stages.stages["rle"].enabled);
        assert_eq!(stages.stages["ionizer"].order, Some(3));
        assert_eq!(stages.stages["ionizer"].settings["sample"], 5);
        assert_eq!(stages.custom, [("mine".to_owned(), 44)]);
    }

    #[test]
    fn lossless_wins_over_any_preset() {
        for options in [json!({ "lossless": true, "preset": "max" }), json!({ "preset": "max", "lossless": true })] {
            assert_eq!(given(&options).unwrap().0.preset, Preset::Lossless);
        }
        assert_eq!(given(&json!({ "lossless": false })).unwrap().0, CompressOptions::default());
    }

    #[test]
    fn a_bad_option_names_key_value_and_range() {
        for (options, words) in [
            (
                json!({ "role": "robot" }),
                "role is \"robot\"; it must be one of \"system\", \"user\", \"assistant\", \"tool\"",
            ),
            (json!({ "maxTokens": 0 }), "maxTokens is 0; it must be a whole number of at least 1"),
            (json!({ "stages": { "rle": 1 } }), "stages.rle is 1; it must be a boolean or an object"),
            (
                json!({ "stages": { "rle": { "order": -1 } } }),
                "stages.rle.order is -1; it must be a whole number of at least 0",
            ),
            (json!({ "custom": [{ "order": 1 }] }), "custom[0].name is null; it must be a string"),
            (
                json!({ "hints": { "tool": "x" } }),
                "hints.tool is not a hint; it must be one of toolName, path, command, contentType, language",
            ),
        ] {
            assert_eq!(given(&options).unwrap_err().to_string(), words);
        }
        assert!(given(&json!({ "presets": 1 })).unwrap_err().to_string().starts_with("presets is not an option"));
    }

    #[test]
    fn roles_are_read_and_users_cannot_be_asked_for() {
        let read = |options: Value| MessagesOptions::from_json(options.as_object().unwrap()).map(|(read, _)| read);
        let roles = read(json!({ "roles": ["tool", "system"], "preset": "max" })).unwrap();
        assert_eq!((roles.roles, roles.compress.preset), (vec![Role::Tool, Role::System], Preset::Max));
        assert!(
            read(json!({ "roles": ["user"] })).unwrap_err().to_string().starts_with("roles is [\"user\"]; it must be")
        );
    }
}
