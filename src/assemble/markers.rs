//! Finds the id that one of our blocks names, by the form in which placeholders of its kind print it.

use serde_json::Value;

use super::fetch_answers::is_output;
use super::labels::split_cut_note;
use crate::reference::{Marker, RefId, find_markers};
use crate::transcript::{Block, BlockKind, Step};

/// The beginning of an image placeholder.
pub(super) const IMAGE_PLACEHOLDER_START: &str = "[image was here";

/// Returns true if a text begins like the placeholder of a whole output.
pub(super) fn is_reference(text: &str) -> bool {
    marker_at_start(text).is_some()
}

fn marker_at_start(text: &str) -> Option<RefId> {
    let (range, marker) = text.starts_with("[REF_ID: ").then(|| find_markers(text).next())??;
    match marker {
        Marker::Reference(id) if range.start == 0 => Some(id),
        _ => None,
    }
}

/// Returns true if a text block is an element of a message's content, which another element may replace.
pub(super) fn is_content_element(block: &Block) -> bool {
    matches!(block.path.steps(), [.., Step::Index(_), Step::Key("text")])
}

/// Returns the id that one of our blocks names.
pub(super) fn named_original(block: &Block) -> Option<RefId> {
    match block.kind {
        BlockKind::Text(text) if text.starts_with(IMAGE_PLACEHOLDER_START) && is_content_element(block) => {
            let (range, marker) = find_markers(text).next()?;
            match marker {
                Marker::Reference(id) if range.end == text.len() => Some(id),
                _ => None,
            }
        }
        BlockKind::Text(text) if is_output(block) => marker_at_start(text).or_else(|| {
            let last = split_cut_note(text).map_or(text, |(text, _)| text).rsplit('\n').next()?;
            let (range, marker) = find_markers(last).next()?;
            match marker {
                Marker::Rewind(id) if range.start == 0 && last[range.end..].starts_with(" original: ") => Some(id),
                _ => None,
            }
        }),
        BlockKind::Call(call) => id_in_arguments(&call.arguments.to_value()?),
        _ => None,
    }
}

/// Returns the id in the first note of shrunken arguments.
fn id_in_arguments(value: &Value) -> Option<RefId> {
    match value {
        Value::String(text) => {
            let (_, rest) = text.strip_prefix("<<")?.split_once(" chars elided by concertina ")?;
            marker_at_start(rest)
        }
        Value::Array(items) => items.iter().find_map(id_in_arguments),
        Value::Object(fields) => fields.values().find_map(id_in_arguments),
        _ => None,
    }
}
