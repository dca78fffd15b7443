//! The `secrets` option: the texts that may be stored and shown.

use std::borrow::Cow;

use serde_json::Value;

use super::labels::uncut_label;
use crate::config::Secrets;
use crate::reference::{ContentHash, Original};
use crate::secrets;

/// Applies the `secrets` option to texts that are about to be stored or shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct SecretPolicy(pub(super) Secrets);

/// The maximum number of characters of a label: one line of a list. Chosen by judgement.
const MAX_LABEL_CHARS: usize = 120;

impl SecretPolicy {
    /// Returns the text to store; `None` keeps the block inline and out of the store.
    pub(super) fn text_to_store<'t>(self, text: &'t str) -> Option<Cow<'t, str>> {
        if self.0 == Secrets::Store {
            return Some(Cow::Borrowed(text));
        }
        match secrets::find_secrets(text) {
            found if found.is_empty() => Some(Cow::Borrowed(text)),
            found => (self.0 == Secrets::Redact).then(|| Cow::Owned(secrets::redact(text, &found))),
        }
    }

    /// Returns the original of a text as it may be stored. `hash` is the hash of the unmasked text.
    pub(super) fn original_to_store(self, text: &str, hash: ContentHash, label: String) -> Option<Original> {
        Some(match self.text_to_store(text)? {
            Cow::Borrowed(text) => Original::hashed(hash, text, label),
            Cow::Owned(masked) => Original::text(&masked, label),
        })
    }

    /// Returns the label of an original. Secrets are removed, unless texts are stored with theirs, before it is cut to
    /// [`MAX_LABEL_CHARS`].
    pub(super) fn label(self, words: &str) -> String {
        let words = match self.0 {
            Secrets::Store => Cow::Borrowed(words),
            Secrets::KeepInline | Secrets::Redact => secrets::scrub(words),
        };
        uncut_label(words.chars().take(MAX_LABEL_CHARS).collect())
    }

    /// Returns shrunk arguments as they may be stored and shown; if texts are redacted, the remaining short strings are
    /// too. Returns `None` if the result is not valid JSON.
    pub(super) fn arguments_to_show(self, value: Value) -> Option<Value> {
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
