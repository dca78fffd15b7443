//! `It is basically the default of the server.` -> `It is default of server.`: words that carry little information go, by a list.
//!
//! Negations, modals, numbers, names, paths, quotes, code and line structure stay: what may go is decided in [`crate::prose`]. Only
//! web pages at the balanced preset: whoever reads a file may want to edit it, word for word.

use serde_json::{Map, Value};

use super::prose_edits::{has_prose, shortening};
use crate::config::Preset;
use crate::content::{ContentType, Hints};
use crate::error::{Error, Result};
use crate::pipeline::{Edit, FusionContext, Role, Stage};
use crate::prose::{Category, Intensity, Selection};

const CATEGORIES: &[Category] = &[Category::Article, Category::Filler, Category::Pleasantry, Category::LowInformation];

/// See the module.
pub(super) struct Nexus {
    /// How much of a text may go at most, in percent of its bytes; a text that would lose more stays as it is.
    max_percent: usize,
}

impl Nexus {
    pub(super) const fn with_defaults() -> Self {
        Self { max_percent: 25 }
    }
}

impl Stage for Nexus {
    fn name(&self) -> &'static str {
        "nexus"
    }

    fn order(&self) -> u32 {
        35
    }

    fn content_types(&self) -> &'static [ContentType] {
        &[ContentType::Text]
    }

    fn is_lossless(&self) -> bool {
        false
    }

    fn roles(&self) -> &'static [Role] {
        &[Role::Tool]
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        let may = match context.preset {
            Preset::Lossless => false,
            Preset::Balanced => is_web_page(context.hints),
            Preset::Max => true,
        };
        may && has_prose(context)
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let selection = Selection {
            intensity: Intensity::Full,
            categories: CATEGORIES,
            only_saving: true,
            profile: None,
            spares_failures: true,
        };
        shortening(context, &selection, self.max_percent)
    }

    fn with_settings(&self, settings: &Map<String, Value>) -> Result<Box<dyn Stage>> {
        let mut nexus = Self { ..*self };
        for (name, value) in settings {
            let full = format!("stages.nexus.{name}");
            match name.as_str() {
                "maxPercent" => {
                    let percent = value.as_u64().filter(|percent| (1..=100).contains(percent));
                    nexus.max_percent = percent
                        .map(|percent| percent as usize)
                        .ok_or_else(|| Error::bad_argument(full, value, "a whole number from 1 to 100"))?;
                }
                _ => return Err(Error::bad_argument(full, "not a setting", "order, enabled or maxPercent")),
            }
        }
        Ok(Box::new(nexus))
    }
}

/// Whether a text came from the web.
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
        assert_eq!(edited(&Nexus::with_defaults(), TEXT, Preset::Max, "read"), expected);
        assert_eq!(edited(&Nexus::with_defaults(), TEXT, Preset::Balanced, "web_fetch"), expected);
        assert_eq!(edited(&Nexus::with_defaults(), expected, Preset::Max, "read"), expected);
    }

    #[test]
    fn files_stay_at_balanced_and_everything_stays_lossless() {
        assert_eq!(edited(&Nexus::with_defaults(), TEXT, Preset::Balanced, "read"), TEXT);
        assert_eq!(edited(&Nexus::with_defaults(), TEXT, Preset::Lossless, "web_fetch"), TEXT);
    }

    #[test]
    fn a_text_that_would_lose_too_much_stays() {
        let text = "The the an a really very the basically the actually the literally the thing.\n";
        assert_eq!(edited(&Nexus::with_defaults(), text, Preset::Max, "read"), text);
        let settings = json!({ "maxPercent": 100 });
        let eager = Nexus::with_defaults().with_settings(settings.as_object().unwrap()).unwrap();
        assert!(edited(&*eager, text, Preset::Max, "read").len() < text.len());
        let wrong = json!({ "maxPercent": 0 });
        let error = Nexus::with_defaults().with_settings(wrong.as_object().unwrap()).err().unwrap();
        assert_eq!(error.to_string(), "stages.nexus.maxPercent is 0; it must be a whole number from 1 to 100");
    }
}
