//! What the stages that shorten prose share: from changes in the text segments to edits of the whole.

use crate::content::ContentType;
use crate::pipeline::{Edit, FusionContext};
use crate::prose::{Selection, shorten};

/// Whether any part is prose.
pub(super) fn has_prose(context: &FusionContext) -> bool {
    context.segments.iter().any(|segment| segment.content_type == ContentType::Text)
}

/// Shortens the text segments, one edit a line. A segment that would lose more than `max_percent` of its bytes stays.
pub(super) fn shortening(context: &FusionContext, selection: &Selection, max_percent: usize) -> Vec<Edit> {
    let mut edits = Vec::new();
    for segment in context.segments.iter().filter(|segment| segment.content_type == ContentType::Text) {
        let text = &context.text[segment.range.clone()];
        let shortened = shorten(text, selection);
        if shortened.removed_bytes() * 100 > text.len() * max_percent {
            continue;
        }
        edits.extend(shortened.by_line(text).into_iter().filter_map(|change| {
            let range = segment.range.start + change.range.start..segment.range.start + change.range.end;
            context.is_free(&range).then(|| Edit::reversible(range, change.text))
        }));
    }
    edits
}
