//! A page of HTML -> its text.
//!
//! The last clean-up: what costs tokens and tells a reader nothing.

mod html;

use crate::config::Preset;
use crate::content::ContentType;
use crate::pipeline::{Edit, FusionContext, Stage};

/// The stage.
#[derive(Debug)]
pub(super) struct TokenOpt;

impl Stage for TokenOpt {
    fn name(&self) -> &'static str {
        "tokenOpt"
    }

    fn order(&self) -> u32 {
        40
    }

    fn content_types(&self) -> &'static [ContentType] {
        &[ContentType::Html]
    }

    fn is_lossless(&self) -> bool {
        false
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        context.preset != Preset::Lossless
            && context.segments.iter().any(|segment| self.content_types().contains(&segment.content_type))
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        html::edits(context)
    }
}
