//! The replacement of a block, as stored in a row of the ledger.
//!
//! A row stores only our own data. Other fields of the host's block, such as a cache breakpoint or a file name, are
//! taken from the current message each time.

use std::sync::Arc;

use quick_cache::sync::Cache;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::content_cache::{ContentCache, ContentKind};
use super::thinking_gap::ThinkingGap;
use crate::error::{Error, Result};
use crate::reference::ContentHash;
use crate::transcript::{Arguments, Block, BlockKind, Message, has_opaque, text_in_place};

/// The stored replacement, by the kind of its block. Its JSON is an object with one key, the kind, so its content (for
/// instance a tool's arguments) is never read as anything else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Replacement {
    /// The placeholder of a tool's output.
    Text(String),
    /// Shorter arguments of a call, in the call's own form: a JSON value, or JSON as a string.
    Arguments(Value),
    /// The placeholder of an image.
    Image {
        /// The text of the placeholder.
        text: String,
        /// The fields that leave with each of the row's images, in order: [`crate::transcript::image_frame`].
        frames: Vec<Value>,
    },
    /// Thinking that left, by its place.
    Thinking(ThinkingGap),
}

/// The change to a block.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    /// The value at its path becomes this one.
    Set(Value),
    /// The part is removed from its message.
    Remove,
}

impl Replacement {
    /// Returns the JSON of a row.
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("strings, numbers and JSON values are JSON")
    }

    /// Returns the change that shows the replacement in a block's place; `None` if it cannot stand there. A block of
    /// another kind may have the same content at the same time, and an image may have gained fields that JSON cannot
    /// carry: such a block stays.
    pub(super) fn change(&self, message: &Message, block: &Block) -> Option<Change> {
        match (self, block.kind) {
            (Self::Text(text), BlockKind::Text(_)) if block.result.is_some() => {
                Some(Change::Set(Value::String(text.clone())))
            }
            (Self::Arguments(value), BlockKind::Call(call))
                if matches!(call.arguments, Arguments::Json(_)) == value.is_string() =>
            {
                Some(Change::Set(value.clone()))
            }
            (Self::Image { text, .. }, BlockKind::Image(_)) => {
                let part = block.path.follow(message.raw).filter(|part| !has_opaque(part))?;
                Some(Change::Set(text_in_place(part, text)))
            }
            (Self::Thinking(_), BlockKind::Thinking(_)) => Some(Change::Remove),
            _ => None,
        }
    }

    /// Returns the hash of the shown value, as it comes back as a block, and its tokens as sent to a provider.
    pub(super) fn shown(&self, contents: &ContentCache) -> (Option<ContentHash>, u64) {
        let (hash, tokens) = match self {
            Self::Text(text) | Self::Image { text, .. } => contents.of_text(text),
            Self::Arguments(Value::String(json)) => contents.of_kind(ContentKind::Arguments, json),
            Self::Arguments(value) => contents.of_kind(ContentKind::Arguments, &value.to_string()),
            Self::Thinking(_) => return (None, 0),
        };
        (Some(hash), tokens)
    }
}

/// A parsed row with the hash and the tokens of its shown value.
#[derive(Debug)]
pub(super) struct StoredReplacement {
    pub(super) replacement: Replacement,
    /// The hash of the shown value; `None` if nothing is shown.
    pub(super) shown: Option<ContentHash>,
    /// Tokens of the shown value.
    pub(super) tokens: u64,
}

impl StoredReplacement {
    /// Reads the JSON of a row of the store at `location`.
    ///
    /// # Errors
    /// [`Error::StoreDamaged`].
    fn read(json: &str, location: impl FnOnce() -> String, contents: &ContentCache) -> Result<Self> {
        let replacement: Replacement = serde_json::from_str(json).map_err(|error| {
            let reason = format!("a projection cannot be read: {error}");
            Error::StoreDamaged { path: location(), reason }
        })?;
        let (shown, tokens) = replacement.shown(contents);
        Ok(Self { replacement, shown, tokens })
    }
}

/// The number of replacements cached, of about a kilobyte each. Chosen by judgement.
const MAX_REPLACEMENTS: usize = 1 << 14;

/// The parsed replacements of the ledger's rows.
pub(super) struct ReplacementCache(Cache<[u8; 32], Arc<StoredReplacement>>);

impl Default for ReplacementCache {
    fn default() -> Self {
        Self(Cache::new(MAX_REPLACEMENTS))
    }
}

impl ReplacementCache {
    /// Reads the JSON of a row of the store at `location`, from the cache if possible.
    ///
    /// # Errors
    /// [`Error::StoreDamaged`].
    pub(super) fn read(
        &self,
        json: &str,
        location: impl FnOnce() -> String,
        contents: &ContentCache,
    ) -> Result<Arc<StoredReplacement>> {
        let parse = || Ok(Arc::new(StoredReplacement::read(json, location, contents)?));
        self.0.get_or_insert_with(&ContentKind::Text.blake3(json), parse)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Values that look like the row of each kind, like a part of one, or like an older program's row.
    fn look_alikes() -> Vec<Value> {
        let gap = json!({ "index": 3, "beside": "aa" });
        let image = json!({ "text": "t", "frames": [{ "type": "image" }] });
        vec![
            json!({}),
            json!([]),
            json!(null),
            json!("text"),
            gap.clone(),
            image.clone(),
            json!({ "text": "t" }),
            json!({ "arguments": {} }),
            json!({ "image": image }),
            json!({ "thinking": gap }),
            json!({ "removedAt": 3, "beside": "aa" }),
            json!({ "shown": { "type": "text", "text": "t" }, "frame": { "type": "image" } }),
            json!({ "text": { "arguments": {} }, "more": [{ "text": "t" }] }),
        ]
    }

    #[test]
    fn a_row_is_read_as_what_was_written_whatever_its_arguments_look_like() {
        let contents = ContentCache::new(crate::config::Encoding::O200kBase);
        let read =
            |kept: &Replacement| StoredReplacement::read(&kept.to_json(), String::new, &contents).unwrap().replacement;
        for value in look_alikes() {
            for kept in [
                Replacement::Arguments(value.clone()),
                Replacement::Arguments(json!(value.to_string())),
                Replacement::Text(value.to_string()),
                Replacement::Image { text: value.to_string(), frames: vec![value.clone(), value.clone()] },
            ] {
                assert_eq!(read(&kept), kept);
            }
        }
        let number = r#"{"arguments":{"a":1.50,"b":12345678901234567890123,"c":1e+400}}"#;
        assert_eq!(StoredReplacement::read(number, String::new, &contents).unwrap().replacement.to_json(), number);
    }

    #[test]
    fn what_is_no_row_is_damage_of_the_store() {
        let contents = ContentCache::new(crate::config::Encoding::O200kBase);
        for json in ["", "\"text\"", "{}", "{\"other\":1}", "{\"text\":1}", "{\"text\":\"a\",\"image\":{}}", "null"] {
            let error = StoredReplacement::read(json, || "here".into(), &contents).unwrap_err();
            assert!(matches!(&error, Error::StoreDamaged { path, .. } if path == "here"), "{json}: {error}");
        }
    }
}
