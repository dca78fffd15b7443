//! Detects the shape of messages where a part has to be written again.

use serde_json::{Value, json};

use super::links::{Shape, call_links};
use super::patch::{Path, Step};

/// Returns the shape of a message's parts: determined by the message itself or, if that is ambiguous, by the calls of
/// the transcript.
pub fn shape_at(messages: &[Value], message: usize, path: &Path) -> Shape {
    let raw = &messages[message];
    // The placeholder of a Responses API part has its own type.
    if path.follow(raw).is_some_and(|part| part["type"] == "input_text") {
        return Shape::Responses;
    }
    let is_nested = path.steps().iter().filter(|step| **step == Step::Key("content")).count() > 1;
    match raw["role"].as_str() {
        Some("toolResult") => Shape::OpenClaw,
        Some("tool" | "function") => Shape::OpenAi,
        _ if is_nested => Shape::Anthropic,
        _ => messages
            .iter()
            .find_map(|message| call_links(message).first().map(|call| call.shape))
            .unwrap_or(Shape::OpenClaw),
    }
}

/// The MIME type of images that state none.
pub const UNSTATED_MIME: &str = "application/octet-stream";

/// Builds an image block without optional fields.
pub fn image_part(shape: Shape, mime: &str, base64: &str) -> Value {
    match shape {
        Shape::OpenClaw if mime == UNSTATED_MIME => json!({ "type": "image", "data": base64 }),
        Shape::Anthropic if mime == UNSTATED_MIME => {
            json!({ "type": "image", "source": { "type": "base64", "data": base64 } })
        }
        Shape::OpenClaw => json!({ "type": "image", "data": base64, "mimeType": mime }),
        Shape::Anthropic => {
            json!({ "type": "image", "source": { "type": "base64", "media_type": mime, "data": base64 } })
        }
        Shape::OpenAi => {
            json!({ "type": "image_url", "image_url": { "url": format!("data:{mime};base64,{base64}") } })
        }
        Shape::Responses => json!({ "type": "input_image", "image_url": format!("data:{mime};base64,{base64}") }),
    }
}
