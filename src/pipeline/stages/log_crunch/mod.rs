//! `many lines alike` -> `one template with marked places, then only what changes`.
//!
//! Lossless: stamps become gaps, lines of one kind become rows of values, steady counters and beats become a repeat count.
//! Lines that report an error stay as they are, stamp and all, in their place. See [`book`] for the notation.

mod alarm;
mod book;
mod column;
mod decode;
mod encode;
mod legend;
mod log;
mod repeat;
mod stamp;
mod template;
mod write;

use crate::config::{Encoding, Preset};
use crate::content::ContentType;
use crate::pipeline::fold::Fold;
use crate::pipeline::{Edit, FusionContext, Stage};

const NAME: &str = "logCrunch";
/// Shorter logs cannot pay for the legend.
const MIN_BYTES: usize = 400;

/// The stage.
#[derive(Debug)]
pub struct LogCrunch;

impl Stage for LogCrunch {
    fn name(&self) -> &'static str {
        NAME
    }

    fn order(&self) -> u32 {
        16
    }

    fn content_types(&self) -> &'static [ContentType] {
        &[ContentType::Log]
    }

    fn is_lossless(&self) -> bool {
        true
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        context.text.len() >= MIN_BYTES
            && context.segments.iter().any(|segment| segment.content_type == ContentType::Log)
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let mut edits = Vec::new();
        for (segment, text) in context.free_segments(ContentType::Log) {
            let body = text.strip_suffix('\n').unwrap_or(text);
            if body.len() < MIN_BYTES {
                continue;
            }
            if let Some(fold) = encode::fold(body, context.encoding, context.preset == Preset::Max) {
                edits.push(Edit::fold(segment.range.start..segment.range.start + body.len(), &fold));
            }
        }
        edits
    }

    fn unfold(&self, fold: &Fold) -> Option<String> {
        let text = decode::unfold(fold)?;
        let is_ours =
            |(encoding, errors_may_fold)| encode::fold(&text, encoding, errors_may_fold).as_ref() == Some(fold);
        let ways = [Encoding::O200kBase, Encoding::Cl100kBase]
            .into_iter()
            .flat_map(|encoding| [(encoding, false), (encoding, true)]);
        ways.into_iter().any(is_ours).then_some(text)
    }
}
