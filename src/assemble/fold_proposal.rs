//! The proposed placeholder of a block, and the source of its original.

use serde_json::Value;

use super::assembly::Assembly;
use super::blocks::KeyedBlock;
use super::labels::{arguments_label, split_cut_note};
use super::placeholder::{Placeholder, preview_chars, summary};
use super::replacement::Replacement;
use super::report::LARGE;
use super::thinking_gap::ThinkingGap;
use crate::content::Hints;
use crate::history::{Meter, reports_failure};
use crate::pipeline::restore;
use crate::reference::{ContentHash, Media, Original, SHORT_ID_DIGITS};
use crate::summarize::totals_failures;
use crate::transcript::{BlockKind, UNSTATED_MIME, image_frame};

/// A fold that becomes a patch once its original is durable.
pub(super) struct Proposal<'e, 't, 'a> {
    pub(super) block: &'e KeyedBlock<'t, 'a>,
    pub(super) reason: &'static str,
    pub(super) source: OriginalSource,
    pub(super) placeholder: Placeholder<'a>,
}

/// The source of a fold's original.
pub(super) enum OriginalSource {
    /// A new original, to be stored.
    New(Original),
    /// An original that the store already has; the block is a copy of it.
    Stored(Original),
}

impl OriginalSource {
    pub(super) fn original(&self) -> &Original {
        match self {
            Self::New(original) | Self::Stored(original) => original,
        }
    }
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
        // If the original has expired or cannot be read, the text in context is stored instead; a fold is stored as the
        // text that it restores.
        let stored = || {
            let found = self.engine.store.get(&copy_of?.to_ref_id(64), &self.scope.agent_id, self.now).ok()??;
            Some(found.1)
        };
        let (source, placeholder) = match (block.block.kind, &block.block.result) {
            (BlockKind::Text(text), Some(result)) => {
                let source = match stored().filter(|stored| stored.media == Media::Text) {
                    Some(stored) => OriginalSource::Stored(stored),
                    None => {
                        let label = secrets.label(&Hints::from(result).label());
                        let copied = copy_of.and_then(|original| Some((restored(text, original)?, original)));
                        OriginalSource::New(match (masked, &copied) {
                            (Some(masked), _) => Original::text(&secrets.text_to_store(masked)?, label),
                            (None, Some((copied, hash))) => secrets.original_to_store(copied, *hash, label)?,
                            (None, None) => secrets
                                .original_to_store(text, block.key.hash, label)?
                                .exactly(text, block.block.exact.as_deref()),
                        })
                    }
                };
                let text = source.original().read_text()?;
                let max_chars = match reason {
                    LARGE => config.sccs_summary_max_chars,
                    _ => preview_chars(result.is_error || reports_failure(&text) || totals_failures(&text), config),
                };
                let placeholder =
                    Placeholder::output(source.original(), &text, &summary(&text, result, max_chars, config));
                if !self.can_pay(&placeholder, source.original(), block.tokens) {
                    return None;
                }
                (source, placeholder)
            }
            (BlockKind::Call(call), _) => {
                let label = secrets.label(&arguments_label(call.name));
                let json = call.arguments.to_json();
                let original = secrets.original_to_store(&json, ContentHash::of(json.as_bytes()), label)?;
                (OriginalSource::New(original), Placeholder::Arguments(call))
            }
            (BlockKind::Image(image), result) => {
                let source = match stored() {
                    Some(stored) => OriginalSource::Stored(stored),
                    None => {
                        let bytes = base64_simd::STANDARD.decode_to_vec(image.base64?).ok()?;
                        let label =
                            result.as_ref().map_or_else(|| "image".to_owned(), |result| Hints::from(result).label());
                        let mime = image.mime.unwrap_or(UNSTATED_MIME);
                        OriginalSource::New(Original::image(bytes, mime, secrets.label(&label)))
                    }
                };
                // A smaller copy may have a different type than the stored original.
                let mime = match &source {
                    OriginalSource::Stored(Original { media: Media::Image(mime), .. }) => Some(mime.as_str()),
                    _ => None,
                };
                let frames = self.image_frames(block, mime);
                let fields = Value::from_iter(frames.iter().cloned()).to_string();
                // A masked field would not come back.
                if frames.is_empty() || secrets.text_to_store(&fields).as_deref() != Some(&fields) {
                    return None;
                }
                (source, Placeholder::Image { frames, tokens: block.tokens })
            }
            (BlockKind::Thinking(part), _) => {
                let json = part.to_string();
                let original =
                    secrets.original_to_store(&json, ContentHash::of(json.as_bytes()), "thinking".to_owned())?;
                (OriginalSource::New(original), Placeholder::Nothing(ThinkingGap::of(block.message, block.block)?))
            }
            _ => return None,
        };
        Some(Proposal { block, reason, source, placeholder })
    }

    /// Returns the fields of an image and of those with the same key, without their payload. They are stored with it.
    pub(super) fn image_frames(&self, image: &KeyedBlock, mime: Option<&str>) -> Vec<Value> {
        let same_key = self.blocks.iter().filter(|other| other.key == image.key);
        same_key.filter_map(|other| image_frame(other.block.path.follow(other.message.raw)?, mime)).collect()
    }

    /// Returns true if an output's placeholder without names costs less than `tokens`.
    fn can_pay(&self, placeholder: &Placeholder, original: &Original, tokens: u64) -> bool {
        let id = original.hash.to_ref_id(SHORT_ID_DIGITS);
        let shown = placeholder.render(&id, &self.engine.config, &Meter::new(None, self.engine.config.encoding), false);
        // No token is shorter than a byte.
        let is_short = |shown: &Replacement| matches!(shown, Replacement::Text(text) if (text.len() as u64) < tokens);
        shown.is_some_and(|shown| is_short(&shown) || shown.shown(&self.engine.contents).1 < tokens)
    }
}

/// Returns the text that a fold restores without the store, if that is the original.
fn restored(fold: &str, original: ContentHash) -> Option<String> {
    let without = split_cut_note(fold).map(|(without, _)| without);
    let mut texts = [Some(fold), without].into_iter().flatten().map(|fold| restore(fold, &[]));
    texts.find(|text| ContentHash::of(text.as_bytes()) == original)
}
