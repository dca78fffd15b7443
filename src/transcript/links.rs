//! Which calls a message makes and which results it carries, by id.
//!
//! A provider refuses a transcript whose calls and results do not pair up, even where a result is empty or a call has no arguments.
//! The blocks of a [`super::Transcript`] leave such parts out; links do not.

use serde_json::Value;

use super::message::Role;
use super::read::{
    CALL_IDS, CALL_TYPES, OPAQUE, RESULT_BLOCK_IDS, RESULT_IDS, RESULT_TYPES, has_opaque, id_of, is_call_item,
    item_type, role,
};

/// How a result of a call must look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// A `toolResult` message.
    OpenClaw,
    /// A `tool_result` block of a user message.
    Anthropic,
    /// A `tool` message.
    OpenAi,
    /// An item that names the call by its `call_id`: `function_call_output` and others.
    Responses,
}

/// A call that an assistant message makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLink<'a> {
    /// Its id, never empty.
    pub id: &'a str,
    /// The tool's name, where stated.
    pub name: Option<&'a str>,
    /// How it is written.
    pub shape: Shape,
}

/// A result that a message is or carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultLink<'a> {
    /// The id of the call that it answers; may be empty.
    pub id: &'a str,
    /// Index of the block in the content, or `None` where the message itself is the result.
    pub block: Option<usize>,
}

/// The calls of an assistant message, in order.
pub fn call_links(message: &Value) -> Vec<CallLink<'_>> {
    if role(message) != Role::Assistant {
        return Vec::new();
    }
    let item = item_type(message).map(|_| message);
    let blocks = item.into_iter().chain(parts(message, "content")).filter_map(|part| {
        let kind = part["type"].as_str().filter(|kind| CALL_TYPES.contains(kind) || is_call_item(part))?;
        let shape = match kind {
            _ if item.is_some() => Shape::Responses,
            "tool_use" | "tool-use" => Shape::Anthropic,
            _ => Shape::OpenClaw,
        };
        Some(CallLink { id: id_of(part, &CALL_IDS), name: part["name"].as_str(), shape })
    });
    let tool_calls = parts(message, "tool_calls").map(|part| CallLink {
        id: id_of(part, &["id"]),
        name: part["function"]["name"].as_str().or(part["custom"]["name"].as_str()),
        shape: Shape::OpenAi,
    });
    blocks.chain(tool_calls).filter(|call| !call.id.is_empty()).collect()
}

/// The results of a message, in order. What can have no id is no result: legacy `function` messages, and items that name no call.
pub fn result_links(message: &Value) -> Vec<ResultLink<'_>> {
    let nested = || {
        let blocks = parts(message, "content").enumerate();
        let results = blocks.filter(|(_, part)| is_result(part));
        results.map(|(index, part)| ResultLink { id: id_of(part, &RESULT_BLOCK_IDS), block: Some(index) })
    };
    match role(message) {
        Role::Tool if message["role"] != "function" => {
            let id = id_of(message, &RESULT_IDS);
            match nested().next() {
                _ if id.is_empty() && item_type(message).is_some() => Vec::new(),
                Some(_) if id.is_empty() => nested().collect(),
                _ => vec![ResultLink { id, block: None }],
            }
        }
        Role::User => nested().collect(),
        _ => Vec::new(),
    }
}

/// Whether a message holds something that could not cross, or stands for something that is not here, and that may be, or name, a call or a
/// result.
pub fn hides_links(message: &Value) -> bool {
    let is_opaque = |value: &Value| value.get(OPAQUE).is_some();
    let hides = |part: &Value| {
        let mut keys = ["role", "type"].iter().chain(&CALL_IDS).chain(&RESULT_IDS).chain(&RESULT_BLOCK_IDS);
        is_opaque(part) || keys.any(|key| part.get(key).is_some_and(has_opaque))
    };
    let is_reference = match item_type(message) {
        Some("item_reference") => true,
        // Some hosts name the call by the item's id here.
        Some("local_shell_call_output") => message["call_id"].is_null(),
        Some(_) => false,
        None => message["role"].is_null() && message["id"].is_string(),
    };
    let mut lists = ["content", "tool_calls"].iter();
    let mut holds_hidden =
        || lists.any(|key| message.get(key).is_some_and(is_opaque) || parts(message, key).any(hides));
    // What a message holds that is a result itself is only its text.
    let is_result = result_links(message).iter().any(|result| result.block.is_none() && !result.id.is_empty());
    is_reference || hides(message) || !is_result && holds_hidden()
}

/// Whether a block is a result that its message carries.
pub fn is_result(part: &Value) -> bool {
    part["type"].as_str().is_some_and(|kind| RESULT_TYPES.contains(&kind))
}

fn parts<'a>(message: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    message[key].as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_spelling_of_a_call_links() {
        for (kind, shape) in [
            ("toolCall", Shape::OpenClaw),
            ("toolUse", Shape::OpenClaw),
            ("functionCall", Shape::OpenClaw),
            ("function_call", Shape::OpenClaw),
            ("tool_use", Shape::Anthropic),
            ("tool-use", Shape::Anthropic),
        ] {
            let message = json!({ "role": "assistant", "content": [{ "type": kind, "id": "c", "name": "x" }] });
            assert_eq!(call_links(&message), [CallLink { id: "c", name: Some("x"), shape }]);
        }
        let message = json!({ "role": "assistant", "tool_calls": [{ "id": "c", "function": { "name": "x" } }] });
        assert_eq!(call_links(&message), [CallLink { id: "c", name: Some("x"), shape: Shape::OpenAi }]);
        for kind in ["function_call", "custom_tool_call", "local_shell_call", "some_new_call"] {
            let item = json!({ "type": kind, "id": "fc", "call_id": "c", "name": "x" });
            assert_eq!(call_links(&item), [CallLink { id: "c", name: Some("x"), shape: Shape::Responses }]);
        }
        assert!(call_links(&json!({ "type": "web_search_call", "id": "ws" })).is_empty());
    }

    #[test]
    fn what_cannot_be_read_may_hide_a_call_or_a_result() {
        let opaque = json!({ "\0opaque": 1 });
        for message in [
            opaque.clone(),
            json!({ "role": "user", "content": opaque }),
            json!({ "role": "user", "content": [{ "type": "text" }, opaque] }),
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": opaque }] }),
            json!({ "role": "tool", "tool_call_id": opaque }),
            json!({ "role": "assistant", "content": null, "tool_calls": [opaque] }),
            json!({ "type": "item_reference", "id": "fc_1" }),
            json!({ "id": "fc_1" }),
        ] {
            assert!(hides_links(&message), "{message}");
        }
        for message in [
            json!({ "role": "tool", "tool_call_id": "c", "content": opaque, "extra": opaque }),
            json!({ "role": "user", "content": { "\0utf16": ["\u{fffd}", 0xd800] } }),
            json!({ "role": "tool", "tool_call_id": "c", "content": [{ "type": "text", "text": opaque }] }),
            json!({ "type": "function_call_output", "id": "fco", "call_id": "c", "output": opaque }),
            json!({ "role": "user", "content": null }),
            json!(null),
            json!({}),
        ] {
            assert!(!hides_links(&message), "{message}");
        }
    }

    #[test]
    fn empty_results_link_too() {
        for (message, block) in [
            (json!({ "role": "toolResult", "toolCallId": "c" }), None),
            (json!({ "role": "tool", "tool_call_id": "c", "content": null }), None),
            (json!({ "type": "function_call_output", "call_id": "c", "output": "" }), None),
            (json!({ "type": "custom_tool_call_output", "id": "x", "call_id": "c" }), None),
            (json!({ "role": "user", "content": [7, { "type": "tool_result", "tool_use_id": "c" }] }), Some(1)),
            (json!({ "role": "tool_result", "content": [{ "type": "tool_result", "tool_use_id": "c" }] }), Some(0)),
        ] {
            assert_eq!(result_links(&message), [ResultLink { id: "c", block }]);
        }
        for message in [
            json!({ "role": "function", "name": "x", "content": "y" }),
            json!({ "type": "function_call_output", "call_id": null, "output": "y" }),
        ] {
            assert!(result_links(&message).is_empty());
        }
        assert_eq!(result_links(&json!({ "role": "toolResult" })), [ResultLink { id: "", block: None }]);
    }
}
