//! What of a text may be stored and shown, by the `secrets` option.

use std::borrow::Cow;

use serde_json::Value;

use super::labels::uncut_label;
use crate::config::Secrets;
use crate::reference::{ContentHash, Original};
use crate::secrets;

/// Applies the `secrets` option to what is about to be stored or shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct SecretPolicy(pub(super) Secrets);

/// Most characters of a label: a line of a list, chosen by judgement.
const LABEL_CHARS: usize = 120;

impl SecretPolicy {
    /// The text to store, by the `secrets` option: `None` keeps the block inline, and so out of the store.
    pub(super) fn storable<'t>(self, text: &'t str) -> Option<Cow<'t, str>> {
        if self.0 == Secrets::Store {
            return Some(Cow::Borrowed(text));
        }
        match secrets::find_secrets(text) {
            found if found.is_empty() => Some(Cow::Borrowed(text)),
            found => (self.0 == Secrets::Redact).then(|| Cow::Owned(secrets::redact(text, &found))),
        }
    }

    /// The original of a text as it may be stored; `hash` is what the text itself is known by.
    pub(super) fn original_of(self, text: &str, hash: ContentHash, label: String) -> Option<Original> {
        Some(match self.storable(text)? {
            Cow::Borrowed(text) => Original::hashed(hash, text, label),
            Cow::Owned(masked) => Original::text(&masked, label),
        })
    }

    /// The words for an original in lists: without secrets unless texts are stored with theirs, and cut to
    /// [`LABEL_CHARS`] only after that.
    pub(super) fn label(self, words: &str) -> String {
        let words = match self.0 {
            Secrets::Store => Cow::Borrowed(words),
            Secrets::KeepInline | Secrets::Redact => secrets::scrub(words),
        };
        uncut_label(words.chars().take(LABEL_CHARS).collect())
    }

    /// Shrunk arguments as they may be stored and shown: where texts are redacted, so are the short strings that stay.
    /// `None` when what is left is no JSON.
    pub(super) fn showable(self, value: Value) -> Option<Value> {
        if self.0 != Secrets::Redact {
            return Some(value);
        }
        let json = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match secrets::scrub(&json) {
            Cow::Borrowed(_) => Some(value),
            Cow::Owned(json) => {
                let parsed = serde_json::from_str(&json).ok()?;
                Some(if value.is_string() { Value::String(json) } else { parsed })
            }
        }
    }
}
