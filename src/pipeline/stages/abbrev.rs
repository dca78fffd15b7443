//! `in order to make use of the map` -> `to use the map`: wordy phrases become their short forms.
//!
//! An abbreviation that saves characters costs tokens more often than not, so only entries that the lexicon proves to save real
//! tokens are put in: today those are phrases, and not one of the published abbreviations.

use serde_json::{Map, Value};

use super::prose_edits::{has_prose, shortening};
use crate::config::Preset;
use crate::content::ContentType;
use crate::error::{Error, Result};
use crate::pipeline::{Edit, FusionContext, Role, Stage};
use crate::prose::{Category, Intensity, Profile, Selection};

const CATEGORIES: &[Category] = &[Category::Phrase, Category::Abbreviation];

/// See the module.
pub(super) struct Abbrev {
    profile: Profile,
    /// Whether what assistants say is shortened too.
    assistant: bool,
}

impl Abbrev {
    pub(super) const fn with_defaults() -> Self {
        Self { profile: Profile::Technical, assistant: false }
    }
}

impl Stage for Abbrev {
    fn name(&self) -> &'static str {
        "abbrev"
    }

    fn order(&self) -> u32 {
        45
    }

    fn content_types(&self) -> &'static [ContentType] {
        &[ContentType::Text]
    }

    fn is_lossless(&self) -> bool {
        false
    }

    fn roles(&self) -> &'static [Role] {
        if self.assistant { &[Role::Assistant, Role::Tool] } else { &[Role::Tool] }
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        context.preset == Preset::Max && has_prose(context)
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let selection = Selection {
            intensity: Intensity::Full,
            categories: CATEGORIES,
            only_saving: true,
            profile: Some(self.profile),
            spares_failures: true,
        };
        shortening(context, &selection, 100)
    }

    fn with_settings(&self, settings: &Map<String, Value>) -> Result<Box<dyn Stage>> {
        let mut abbrev = Self { ..*self };
        for (name, value) in settings {
            let full = format!("stages.abbrev.{name}");
            match name.as_str() {
                "profile" => {
                    let profile = value.as_str().and_then(Profile::parse);
                    abbrev.profile = profile
                        .ok_or_else(|| Error::bad_argument(full, value, "technical, academic or conversational"))?;
                }
                "assistant" => {
                    let assistant = value.as_bool();
                    abbrev.assistant = assistant.ok_or_else(|| Error::bad_argument(full, value, "a boolean"))?;
                }
                _ => return Err(Error::bad_argument(full, "not a setting", "order, enabled, profile or assistant")),
            }
        }
        Ok(Box::new(abbrev))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::pipeline::{CompressOptions, FusionEngine, FusionPipeline, StageOption, StageOptions};

    const TEXT: &str = "The server is able to make use of the cache due to the fact that it is in close proximity to it. \
        Prior to the start, take into consideration the size with respect to `max_size`. For the purpose of a test it has \
        the ability to run a large number of jobs at this point in time. In spite of the fact that the error: denied \
        occurs in order to stop it, nothing is lost. In the event that it is full, it is able to wait until such time as \
        it is empty, in such a way that a wide variety of the jobs is run. It makes use of the disk on a daily basis.\n";

    fn compressed(settings: &Value, options: &CompressOptions) -> String {
        let option = StageOption { settings: settings.as_object().unwrap().clone(), ..StageOption::default() };
        let mut stages = StageOptions::default();
        stages.stages.insert("abbrev".to_owned(), option);
        for other in ["nexus", "tokenOpt"] {
            stages.stages.insert(other.to_owned(), StageOption { enabled: false, ..StageOption::default() });
        }
        let engine = FusionEngine::new(FusionPipeline::build(&stages, Vec::new()).unwrap());
        engine.compress(TEXT, options, &|| 0.0).text
    }

    #[test]
    fn wordy_phrases_get_short_and_sentences_of_failures_stay() {
        let max = CompressOptions { preset: Preset::Max, ..CompressOptions::default() };
        let text = compressed(&json!({}), &max);
        assert!(
            text.starts_with("The server can use the cache because it is near it. Before the start, consider the size"),
            "{text}"
        );
        assert!(text.contains("In spite of the fact that the error: denied occurs in order to stop it"), "{text}");
        assert!(text.contains("with respect to `max_size`"), "{text}");
        let casual = compressed(&json!({ "profile": "conversational" }), &max);
        assert!(casual.contains("the size about `max_size`"), "{casual}");
    }

    #[test]
    fn only_tools_at_max_unless_asked() {
        let balanced = CompressOptions::default();
        assert_eq!(compressed(&json!({}), &balanced), TEXT);
        let assistant = CompressOptions { preset: Preset::Max, role: Role::Assistant, ..CompressOptions::default() };
        assert_eq!(compressed(&json!({}), &assistant), TEXT);
        assert!(compressed(&json!({ "assistant": true }), &assistant).len() < TEXT.len());
    }
}
