//! The proposed placeholder of a block, and its original.

use serde_json::Value;

use super::assembly::Assembly;
use super::blocks::KeyedBlock;
use super::labels::arguments_label;
use super::placeholder::{Placeholder, preview_chars, summary};
use super::report::LARGE;
use super::thinking_gap::ThinkingGap;
use crate::content::Hints;
use crate::history::reports_failure;
use crate::reference::{ContentHash, Media, Original};
use crate::summarize::totals_failures;
use crate::transcript::{BlockKind, UNSTATED_MIME, image_frame};

/// A fold that becomes a patch once its original is durable.
pub(super) struct Proposal<'e, 't, 'a> {
    pub(super) block: &'e KeyedBlock<'t, 'a>,
    pub(super) reason: &'static str,
    pub(super) original: Original,
    /// True if the store already has the original: the block is a copy of it.
    pub(super) is_stored: bool,
    pub(super) placeholder: Placeholder<'a>,
}

impl<'e, 't, 'a> Assembly<'e, 't, 'a> {
    /// Proposes a placeholder for a block. `copy_of` is the original that the block is a copy of, `masked` the text
    /// that a redactor left. Returns `None` if the block must not or need not be folded.
    pub(super) fn propose_fold(
        &self,
        block: &'e KeyedBlock<'t, 'a>,
        reason: &'static str,
        copy_of: Option<ContentHash>,
        masked: Option<&str>,
    ) -> Option<Proposal<'e, 't, 'a>> {
        let (config, secrets) = (&*self.engine.config, self.engine.secrets());
        // If the original has expired or cannot be read, the text in context is stored instead.
        let stored = copy_of.and_then(|original| {
            let found = self.engine.store.get(&original.to_ref_id(64), &self.scope.agent_id, self.now).ok()??;
            Some(found.1)
        });
        let is_stored = stored.is_some();
        let (original, placeholder) = match (block.block.kind, &block.block.result) {
            (BlockKind::Text(text), Some(result)) => {
                let label = || secrets.label(&Hints::from(result).label());
                let original = match (stored, masked) {
                    (Some(stored), _) => stored,
                    (None, Some(masked)) => Original::text(&secrets.text_to_store(masked)?, label()),
                    (None, None) => secrets
                        .original_to_store(text, block.key.hash, label())?
                        .exactly(text, block.block.exact.as_deref()),
                };
                let placeholder = {
                    let text = original.read_text()?;
                    let max_chars = match reason {
                        LARGE => config.sccs_summary_max_chars,
                        _ => preview_chars(result.is_error || reports_failure(&text) || totals_failures(&text), config),
                    };
                    Placeholder::output(&original, &text, &summary(&text, result, max_chars, config))
                };
                (original, placeholder)
            }
            (BlockKind::Call(call), _) => {
                let label = secrets.label(&arguments_label(call.name));
                let json = call.arguments.to_json();
                let original = secrets.original_to_store(&json, ContentHash::of(json.as_bytes()), label)?;
                (original, Placeholder::Arguments(call))
            }
            (BlockKind::Image(image), result) => {
                let original = match stored {
                    Some(stored) => stored,
                    None => {
                        let bytes = base64_simd::STANDARD.decode_to_vec(image.base64?).ok()?;
                        let label =
                            result.as_ref().map_or_else(|| "image".to_owned(), |result| Hints::from(result).label());
                        let mime = image.mime.unwrap_or(UNSTATED_MIME);
                        Original::image(bytes, mime, secrets.label(&label))
                    }
                };
                // A smaller copy may have a different type than the stored original.
                let mime = match &original.media {
                    Media::Image(mime) if is_stored => Some(mime.as_str()),
                    _ => None,
                };
                let frames = self.image_frames(block, mime);
                let fields = Value::from_iter(frames.iter().cloned()).to_string();
                // A masked field would not come back.
                if frames.is_empty() || secrets.text_to_store(&fields).as_deref() != Some(&fields) {
                    return None;
                }
                (original, Placeholder::Image { frames, tokens: block.tokens })
            }
            (BlockKind::Thinking(part), _) => {
                let json = part.to_string();
                let original =
                    secrets.original_to_store(&json, ContentHash::of(json.as_bytes()), "thinking".to_owned())?;
                (original, Placeholder::Nothing(ThinkingGap::of(block.message, block.block)?))
            }
            _ => return None,
        };
        Some(Proposal { block, reason, original, is_stored, placeholder })
    }

    /// Returns the fields of an image and of those with the same key, without their payload. They are stored with it.
    pub(super) fn image_frames(&self, image: &KeyedBlock, mime: Option<&str>) -> Vec<Value> {
        let same_key = self.blocks.iter().filter(|other| other.key == image.key);
        same_key.filter_map(|other| image_frame(other.block.path.follow(other.message.raw)?, mime)).collect()
    }
}
