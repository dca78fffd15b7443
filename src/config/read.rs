//! Reads options from a JSON object, and writes them back.

use serde_json::{Map, Value, json};

use super::models::{Models, OF_A_MODEL};
use super::table::{Config, OptionRow, option_table};
use super::value::{OptionValue, shorten};
use super::words::Thrift;
use crate::error::{Error, Result};

impl Config {
    /// Applies the thrift level before everything else, because options that are set explicitly override it.
    fn take_thrift(&mut self, options: &Map<String, Value>) {
        if let Some(level) = options.get("thrift").and_then(Thrift::read) {
            *self = self.clone().at(level);
        }
    }

    /// Reads options from a JSON object; absent keys keep their defaults. Options with a dot in their name are nested
    /// objects.
    ///
    /// Returns the configuration and one warning for each lenient option that was corrected.
    ///
    /// # Errors
    /// [`Error::BadArgument`] for an unknown key or a bad value of a strict option.
    pub fn from_json(options: &Map<String, Value>) -> Result<(Self, Vec<String>)> {
        let mut config = Self::default();
        let (options, mut warnings) = with_protect(options);
        config.take_thrift(&options);
        for (name, value) in by_name(&options) {
            config.set_known(&name, value, &mut warnings)?;
        }
        Ok((config, warnings))
    }

    /// Reads options over the present ones. An unknown key or an invalid value keeps the present value and produces one
    /// warning.
    pub fn overlay(mut self, options: &Map<String, Value>) -> (Self, Vec<String>) {
        let (options, mut warnings) = with_protect(options);
        self.take_thrift(&options);
        for (name, value) in by_name(&options) {
            if let Err(error) = self.set_known(&name, value, &mut warnings) {
                warnings.push(match self.value_of(&name) {
                    Some(stays) => format!("{error}; using the default {stays}"),
                    None if is_group(&name) || name.starts_with(MODELS) => format!("{error}; using the defaults"),
                    None if RENAMED.iter().any(|(old, ..)| *old == name) => format!("{error}; it is ignored"),
                    None => format!("{name} is not an option; it is ignored"),
                });
            }
        }
        (self, warnings)
    }

    /// Returns every option in the form that [`Config::from_json`] reads.
    pub fn to_json(&self) -> Map<String, Value> {
        let mut options = Map::new();
        for OptionRow { name, .. } in option_table() {
            let value = self.value_of(name).expect("every knob has a value");
            match name.split_once('.') {
                Some((group, inner)) => options.entry(group).or_insert_with(|| json!({}))[inner] = value,
                None => drop(options.insert(name.into(), value)),
            }
        }
        options
    }

    fn set_known(&mut self, name: &str, value: &Value, warnings: &mut Vec<String>) -> Result<()> {
        if name.starts_with(MODELS) {
            return self.set_for_models(name, value, warnings);
        }
        if self.set(name, value, warnings)? {
            return Ok(());
        }
        if is_group(name) {
            return Err(Error::bad_argument(name, shorten(value), "an object"));
        }
        if let Some((_, expected, _)) = RENAMED.iter().find(|(old, ..)| *old == name) {
            return Err(Error::bad_argument(name, "now a part of protect", *expected));
        }
        let known: Vec<&str> = option_table().iter().map(|row| row.name).collect();
        Err(Error::bad_argument(name, "not an option", format!("one of {}", known.join(", "))))
    }

    /// Sets one option for the models that match a pattern, by its dotted name.
    ///
    /// # Errors
    /// [`Error::BadArgument`] for an option that cannot depend on the model, or an invalid value.
    fn set_for_models(&mut self, name: &str, value: &Value, warnings: &mut Vec<String>) -> Result<()> {
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
        self.models.0.entry(pattern).or_insert_with(|| json!({}))[option] = value;
        Ok(())
    }
}

/// Options that `protect` has replaced, how it is written instead, and the beginning of a pattern of it if each value
/// of the option is one.
const RENAMED: [(&str, &str, Option<&str>); 3] = [
    ("skipTools", "written as protect: [\"tool:NAME\"]", Some("tool:")),
    ("skipCommands", "written as protect: [\"command:LINE\"]", Some("command:")),
    ("onlyTools", "written as protect: [\"tool:*\", \"!tool:NAME\"]", None),
];

/// Returns the options with the values of replaced ones as patterns of `protect`, and a warning for each of these.
fn with_protect(options: &Map<String, Value>) -> (Map<String, Value>, Vec<String>) {
    let (mut options, mut warnings) = (options.clone(), Vec::new());
    for (name, _, start) in RENAMED {
        let (Some(values), Some(start)) = (options.get(name).and_then(Vec::<String>::read), start) else { continue };
        let added: Vec<Value> = values.iter().map(|value| format!("{start}{value}").into()).collect();
        let protect = options.entry("protect").or_insert_with(|| json!([]));
        let Value::Array(patterns) = protect else { continue };
        warnings.push(format!("{name} is now a part of protect; it is read as protect: {}", json!(added)));
        patterns.extend(added);
        options.remove(name);
    }
    (options, warnings)
}

/// The prefix of the dotted names of `models` members.
const MODELS: &str = "models.";

/// Returns the values with the names of their options; members of a group have a dotted name.
fn by_name(options: &Map<String, Value>) -> Vec<(String, &Value)> {
    let mut named = Vec::new();
    for (name, value) in options {
        match value.as_object() {
            Some(models) if name == "models" => named.extend(Models::by_name(models)),
            Some(group) if is_group(name) => {
                named.extend(group.iter().map(|(inner, value)| (format!("{name}.{inner}"), value)));
            }
            _ => named.push((name.clone(), value)),
        }
    }
    named
}

fn is_group(name: &str) -> bool {
    option_table().iter().any(|row| row.name.split_once('.').is_some_and(|(group, _)| group == name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use concertina_cases::{check, json_lines};

    /// Reads the last line of an input strictly, or over the lines before it. The output lists the options that it
    /// changed, then the warnings.
    #[test]
    fn options_are_read_corrected_or_refused() {
        check!("options", |input, how| {
            let lines = json_lines(input);
            let (given, before) = lines.split_last().expect("a line of options");
            let options = |value: &Value| value.as_object().expect("an object of options").clone();
            let over = |config: Config, value: &Value| config.overlay(&options(value)).0;
            let base = before.iter().fold(Config::default(), over);
            let read = match how {
                "strict" => Config::from_json(&options(given)),
                _ => Ok(base.clone().overlay(&options(given))),
            };
            let (config, warnings) = match read {
                Ok(read) => read,
                Err(error) => return error.to_string(),
            };
            let (old, new) = (base.to_json(), config.to_json());
            if new["sccsStoreUrl"] == "" {
                assert_eq!(
                    Config::from_json(&new).unwrap(),
                    (config, Vec::new()),
                    "options written are the options read"
                );
            }
            let changed = new.iter().filter(|(name, value)| old.get(*name) != Some(value));
            let changed = changed.map(|(name, value)| format!("{name}: {value}\n"));
            changed.chain(warnings.into_iter().map(|line| line + "\n")).collect()
        });
    }

    #[test]
    fn thrift_decides_these_options() {
        let rows = option_table().into_iter().filter(|row| row.by_thrift.is_some());
        let names: Vec<_> = rows.map(|row| row.name).collect();
        assert_eq!(names, ["minTokensToFold", "staleCalls", "keepPreviewChars"]);
        assert_eq!(Config::default().at(Thrift::Careful), Config::default());
    }
}
