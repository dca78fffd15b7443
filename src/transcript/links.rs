//! The calls that a message makes and the results that it carries, by id.
//!
//! A provider refuses a transcript whose calls and results do not pair up, even if a result is empty or a call has no
//! arguments. The blocks of a [`super::Transcript`] omit such parts; links do not.

use serde_json::Value;

use super::message::Role;
use super::read::{
    CALL_IDS, CALL_TYPES, OPAQUE, RESULT_BLOCK_IDS, RESULT_IDS, RESULT_TYPES, has_opaque, id_of, is_call_item,
    item_type, role,
};

/// The form that the result of a call must have.
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
    /// The id, never empty.
    pub id: &'a str,
    /// The tool's name, if stated.
    pub name: Option<&'a str>,
    /// The form in which it is written.
    pub shape: Shape,
}

/// A result that a message is or carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultLink<'a> {
    /// The id of the call that it answers; may be empty.
    pub id: &'a str,
    /// The index of the block in the content; `None` if the message itself is the result.
    pub block: Option<usize>,
}

/// Returns the calls of an assistant message, in order.
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

/// Returns the results of a message, in order. Results that cannot have an id are excluded: legacy `function` messages,
/// and items that name no call.
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

/// Returns true if a message holds an unreadable value or a reference to an absent item that may be, or name, a call or
/// a result.
pub fn hides_links(message: &Value) -> bool {
    let is_opaque = |value: &Value| value.get(OPAQUE).is_some();
    let is_hidden = |part: &Value| {
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
    // A part of a tool's message that names the call in a form of another library.
    let is_nameless = role(message) == Role::Tool && id_of(message, &RESULT_IDS).is_empty();
    let is_foreign = |part: &Value| is_nameless && !is_result(part) && !id_of(part, &RESULT_IDS).is_empty();
    let is_hidden = |part: &Value| is_hidden(part) || is_foreign(part);
    let mut lists = ["content", "tool_calls"].iter();
    let mut has_hidden_part =
        || lists.any(|key| message.get(key).is_some_and(is_opaque) || parts(message, key).any(is_hidden));
    // The content of a message that is itself a result is only text.
    let is_result = result_links(message).iter().any(|result| result.block.is_none() && !result.id.is_empty());
    is_reference || is_hidden(message) || !is_result && has_hidden_part()
}

/// Returns true if a block is a result that its message carries.
pub fn is_result(part: &Value) -> bool {
    part["type"].as_str().is_some_and(|kind| RESULT_TYPES.contains(&kind))
}

fn parts<'a>(message: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    message[key].as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use concertina_cases::{check, json_lines};

    fn described(message: &Value) -> String {
        let calls = call_links(message).into_iter();
        let calls = calls.map(|call| format!(" calls {} of {}, {:?};", call.id, call.name.unwrap_or("?"), call.shape));
        let results = result_links(message).into_iter().map(|result| match result.block {
            Some(block) => format!(" block {block} answers {:?};", result.id),
            None => format!(" answers {:?};", result.id),
        });
        let found: String = calls.chain(results).collect();
        let hidden = if hides_links(message) { " may hide a call or a result;" } else { "" };
        format!("-{found}{hidden}\n")
    }

    /// Each line of an input is a message; each line of the output lists its links.
    #[test]
    fn what_messages_link() {
        check!("links", |input, _| json_lines(input).iter().map(described).collect());
    }
}
