//! `<p class="x">word</p>` -> `word`, `| a    |  b  |` -> `| a | b |`: the last clean-up takes what costs tokens and tells a
//! reader nothing.

mod html;
mod prose;

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
        &[ContentType::Html, ContentType::Text]
    }

    fn is_lossless(&self) -> bool {
        false
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        context.preset != Preset::Lossless && (has_page(context) || prose::may_apply(context))
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let mut edits = if has_page(context) { html::edits(context) } else { Vec::new() };
        if prose::may_apply(context) {
            edits.extend(prose::edits(context));
        }
        edits.sort_by_key(|edit| edit.range.start);
        edits
    }
}

fn has_page(context: &FusionContext) -> bool {
    context.segments.iter().any(|segment| segment.content_type == ContentType::Html)
}
