//! `<p class="x">word</p>` -> `word`, `| a    |  b  |` -> `| a | b |`: the last clean-up takes what costs tokens and tells a
//! reader nothing.

mod html;
mod prose;

use crate::config::Preset;
use crate::content::ContentType;
use crate::pipeline::{Edit, FusionContext, Stage};

/// The stage `tokenOpt`.
#[derive(Debug)]
pub(super) struct TokenOpt;

impl Stage for TokenOpt {
    fn name(&self) -> &'static str {
        "tokenOpt"
    }

    fn content_types(&self) -> &'static [ContentType] {
        &[ContentType::Html, ContentType::Text]
    }

    fn should_apply(&self, context: &FusionContext) -> bool {
        context.preset != Preset::Lossless && (context.has(&[ContentType::Html]) || prose::may_apply(context))
    }

    fn apply(&self, context: &FusionContext) -> Vec<Edit> {
        let mut edits = html::edits(context);
        if prose::may_apply(context) {
            edits.extend(prose::edits(context));
        }
        edits.sort_by_key(|edit| edit.range.start);
        edits
    }
}
