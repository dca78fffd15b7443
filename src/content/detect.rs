//! Text and hints -> [`Detection`].

use super::{ContentType, Detection, Hints, Segment};

/// Detects what a text is. Linear in its length.
pub fn detect(text: &str, hints: &Hints) -> Detection {
    let content_type = hints.content_type.unwrap_or(ContentType::Unknown);
    let segments = if text.is_empty() {
        Vec::new()
    } else {
        vec![Segment { range: 0..text.len(), content_type, language: hints.language }]
    };
    Detection { content_type, language: hints.language, segments }
}
