//! Which calls a message makes and which results it carries, by id.
//!
//! A provider refuses a transcript whose calls and results do not pair up, even where a result is empty or a call has no arguments.
//! The blocks of a [`super::Transcript`] leave such parts out; links do not.

use serde_json::Value;

use super::Role;
use super::read::{CALL_TYPES, id_of, role};

/// How a result of a call must look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// A `toolResult` message.
    OpenClaw,
    /// A `tool_result` block of a user message.
    Anthropic,
    /// A `tool` message.
    OpenAi,
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
    let blocks = parts(message, "content").filter_map(|part| {
        let kind = part["type"].as_str().filter(|kind| CALL_TYPES.contains(kind))?;
        let shape = if matches!(kind, "tool_use" | "tool-use") { Shape::Anthropic } else { Shape::OpenClaw };
        Some(CallLink { id: id_of(part, &["id", "call_id", "toolCallId"]), name: part["name"].as_str(), shape })
    });
    let tool_calls = parts(message, "tool_calls").map(|part| CallLink {
        id: id_of(part, &["id"]),
        name: part["function"]["name"].as_str().or(part["custom"]["name"].as_str()),
        shape: Shape::OpenAi,
    });
    blocks.chain(tool_calls).filter(|call| !call.id.is_empty()).collect()
}

/// The results of a message, in order. Legacy `function` messages have no ids and are no results.
pub fn result_links(message: &Value) -> Vec<ResultLink<'_>> {
    let nested = || {
        let blocks = parts(message, "content").enumerate();
        let results = blocks.filter(|(_, part)| matches!(part["type"].as_str(), Some("tool_result" | "toolResult")));
        results.map(|(index, part)| ResultLink {
            id: id_of(part, &["tool_use_id", "toolUseId", "toolCallId", "id"]),
            block: Some(index),
        })
    };
    match role(message) {
        Role::Tool if message["role"] != "function" => {
            let id = id_of(message, &["toolCallId", "tool_call_id", "toolUseId", "tool_use_id"]);
            match nested().next() {
                Some(_) if id.is_empty() => nested().collect(),
                _ => vec![ResultLink { id, block: None }],
            }
        }
        Role::User => nested().collect(),
        _ => Vec::new(),
    }
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
    }

    #[test]
    fn empty_results_link_too() {
        for (message, block) in [
            (json!({ "role": "toolResult", "toolCallId": "c" }), None),
            (json!({ "role": "tool", "tool_call_id": "c", "content": null }), None),
            (json!({ "role": "user", "content": [7, { "type": "tool_result", "tool_use_id": "c" }] }), Some(1)),
            (json!({ "role": "tool_result", "content": [{ "type": "tool_result", "tool_use_id": "c" }] }), Some(0)),
        ] {
            assert_eq!(result_links(&message), [ResultLink { id: "c", block }]);
        }
        assert!(result_links(&json!({ "role": "function", "name": "x", "content": "y" })).is_empty());
        assert_eq!(result_links(&json!({ "role": "toolResult" })), [ResultLink { id: "", block: None }]);
    }
}
