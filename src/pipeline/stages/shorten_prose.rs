//! The stages that shorten prose by the word lists of [`crate::prose`]: `nexus` and `abbrev`.
//!
//! Negations, modals, numbers, names, paths, quotes, code and line structure are kept. [`crate::prose`] decides what
//! may be removed.

use serde_json::{Map, Value};

use crate::config::Preset;
use crate::content::{ContentType, Hints};
use crate::error::{Error, Result};
use crate::pipeline::{Edit, FusionContext, Role, Stage};
use crate::prose::{Category, Intensity, Profile, Selection, shortened_lines};

/// A stage that removes or shortens the words of some categories.
#[derive(Clone)]
pub(super) struct Shortening {
    name: &'static str,
    categories: &'static [Category],
    /// The stage's settings, each with a description of its valid values.
    pub(super) settings: &'static [(&'static str, &'static str)],
    /// The names of all settings, for error messages.
    known: &'static str,
    /// True if web pages are shortened at the balanced preset. Files are not, because their exact words may be needed
    /// for an edit.
    takes_web_pages: bool,
    profile: Option<Profile>,
    /// True if the assistant's text is shortened too.
    assistant: bool,
    /// The maximum share of a text that may be removed, in percent of its bytes. A text that would lose more is left
    /// unchanged.
    max_percent: usize,
}

/// `It is basically the default of the server.` -> `It is default of server.`: removes words that carry little
/// information.
pub(super) const NEXUS: Shortening = Shortening {
    name: "nexus",
    categories: &[Category::Article, Category::Filler, Category::Pleasantry],
    settings: &[("maxPercent", "a whole number from 1 to 100")],
    known: "order, enabled or maxPercent",
    takes_web_pages: true,
    profile: None,
    assistant: false,
    max_percent: 25,
};

/// `in order to make use of the map` -> `to use the map`: replaces wordy phrases by short ones.
///
/// Most abbreviations that save characters cost tokens. Only entries that are proved to save tokens are used. At
/// present these are phrases and none of the published abbreviations.
pub(super) const ABBREV: Shortening = Shortening {
    name: "abbrev",
    categories: &[Category::Phrase],
    settings: &[("profile", "technical, academic or conversational"), ("assistant", "a boolean")],
    known: "order, enabled, profile or assistant",
    takes_web_pages: false,
    profile: Some(Profile::Technical),
    assistant: false,
    max_percent: 100,
};

impl Stage for Shortening {
    fn name(&self) -> &'static str {
        self.name
    }

    fn content_types(&self) -> &'static [ContentType] {
        &[ContentType::Text]
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        let may = match context.preset {
            Preset::Lossless => false,
            Preset::Balanced => self.takes_web_pages && is_web_page(context.hints),
            Preset::Max => true,
        };
        let is_shortened = context.role == Role::Tool || self.assistant && context.role == Role::Assistant;
        may && is_shortened && context.has(self.content_types())
    }

    /// Proposes one edit per line.
    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let selection = Selection {
            intensity: Intensity::Full,
            categories: self.categories,
            profile: self.profile,
            spares_failures: true,
        };
        let mut edits = Vec::new();
        for segment in context.segments.iter().filter(|segment| segment.content_type == ContentType::Text) {
            let text = &context.text[segment.range.clone()];
            let changes = shortened_lines(text, &selection);
            let removed: usize = changes.iter().map(|change| change.range.len() - change.text.len()).sum();
            if removed * 100 > text.len() * self.max_percent {
                continue;
            }
            edits.extend(changes.into_iter().filter_map(|change| {
                let range = segment.range.start + change.range.start..segment.range.start + change.range.end;
                context.is_free(&range).then(|| Edit::reversible(range, change.text))
            }));
        }
        edits
    }
}

impl Shortening {
    /// Returns the stage with other settings.
    ///
    /// # Errors
    /// [`Error::BadArgument`] for an unknown setting or a bad value.
    pub(super) fn with_settings(&self, settings: &Map<String, Value>) -> Result<Self> {
        let mut stage = self.clone();
        for (name, value) in settings {
            let full = format!("stages.{}.{name}", self.name);
            let Some((_, expected)) = self.settings.iter().find(|(known, _)| known == name) else {
                return Err(Error::bad_argument(full, "not a setting", self.known));
            };
            let set = match name.as_str() {
                "maxPercent" => {
                    let percent = value.as_u64().filter(|percent| (1..=100).contains(percent));
                    percent.map(|percent| stage.max_percent = percent as usize)
                }
                "profile" => value.as_str().and_then(Profile::parse).map(|profile| stage.profile = Some(profile)),
                _ => value.as_bool().map(|assistant| stage.assistant = assistant),
            };
            set.ok_or_else(|| Error::bad_argument(full, value, *expected))?;
        }
        Ok(stage)
    }
}

/// Returns true if a text came from the web.
fn is_web_page(hints: &Hints) -> bool {
    let tool = hints.tool_name.as_deref().unwrap_or_default().to_ascii_lowercase();
    let from = [hints.path.as_deref(), hints.command.as_deref()];
    ["fetch", "browse", "crawl", "scrape", "web"].iter().any(|word| tool.contains(word))
        || from.into_iter().flatten().any(|from| from.contains("http://") || from.contains("https://"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::content::Segment;
    use crate::pipeline::{CompressOptions, FusionEngine, FusionPipeline, StageOption, StageOptions};

    fn edited(stage: &dyn Stage, text: &str, preset: Preset, tool: &str) -> String {
        let content_type = ContentType::Text;
        let hints = Hints { tool_name: Some(tool.to_owned()), ..Hints::default() };
        let segments = [Segment::whole(text, content_type, None)];
        let context = FusionContext { hints: &hints, preset, ..FusionContext::of(text, &segments) };
        let edits = if stage.should_apply(&context) { stage.apply(&context) } else { Vec::new() };
        crate::pipeline::check_edits(stage, &context, &edits).expect("valid edits");
        let mut text = text.to_owned();
        edits.into_iter().rev().for_each(|edit| text.replace_range(edit.range, &edit.text));
        text
    }

    const TEXT: &str = "Furthermore, ensure that the client retries the `GET` request up to 3 times.\n\
        It must not retry the POST request, and the error: the socket is closed, stays as it is.\n\
        - The value of `timeout` is also 30 seconds\n";

    #[test]
    fn words_that_say_little_go_and_the_rest_stays() {
        let expected = "ensure client retries `GET` request up to 3 times.\n\
            It must not retry the POST request, and the error: the socket is closed, stays as it is.\n\
            - value of `timeout` is 30 seconds\n";
        assert_eq!(edited(&NEXUS, TEXT, Preset::Max, "read"), expected);
        assert_eq!(edited(&NEXUS, TEXT, Preset::Balanced, "web_fetch"), expected);
        assert_eq!(edited(&NEXUS, expected, Preset::Max, "read"), expected);
    }

    #[test]
    fn files_stay_at_balanced_and_everything_stays_lossless() {
        assert_eq!(edited(&NEXUS, TEXT, Preset::Balanced, "read"), TEXT);
        assert_eq!(edited(&NEXUS, TEXT, Preset::Lossless, "web_fetch"), TEXT);
    }

    #[test]
    fn a_text_that_would_lose_too_much_stays() {
        let text = "The the an a really very the basically the actually the literally the thing.\n";
        assert_eq!(edited(&NEXUS, text, Preset::Max, "read"), text);
        let settings = json!({ "maxPercent": 100 });
        let eager = NEXUS.with_settings(settings.as_object().unwrap()).unwrap();
        assert!(edited(&eager, text, Preset::Max, "read").len() < text.len());
        let wrong = json!({ "maxPercent": 0 });
        let error = NEXUS.with_settings(wrong.as_object().unwrap()).err().unwrap();
        assert_eq!(error.to_string(), "stages.nexus.maxPercent is 0; it must be a whole number from 1 to 100");
    }

    const WORDY: &str = "The server is able to make use of the cache due to the fact that it is in close proximity to it. \
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
        let engine = FusionEngine::new(FusionPipeline::build(&stages).unwrap());
        engine.compress(WORDY, options, &|| 0.0).text
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
        assert_eq!(compressed(&json!({}), &balanced), WORDY);
        let assistant = CompressOptions { preset: Preset::Max, role: Role::Assistant, ..CompressOptions::default() };
        assert_eq!(compressed(&json!({}), &assistant), WORDY);
        assert!(compressed(&json!({ "assistant": true }), &assistant).len() < WORDY.len());
    }
}
