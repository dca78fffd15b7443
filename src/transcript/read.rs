//! JSON messages -> [`Transcript`]. Only this module and `links` know the field names of the four shapes.
//!
//! Items of OpenAI's Responses API are messages without a role; their `type` determines their kind. One answer of the
//! model consists of several items: reasoning, words, and one per call.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::reference::wtf8;

use super::block::{Arguments, Block, BlockKind, Call, Image, ToolResult};
use super::message::{Message, Role, Transcript, set_ages};
use super::patch::{Path, Step};
use super::time;
use super::usage::Usage;

/// The keys of a call's id. Items of the Responses API also have an `id` that their result does not name.
pub(super) const CALL_IDS: [&str; 3] = ["call_id", "id", "toolCallId"];

/// The keys under which a result message names its call.
pub(super) const RESULT_IDS: [&str; 5] = ["toolCallId", "tool_call_id", "toolUseId", "tool_use_id", "call_id"];

/// The types of result blocks.
pub(super) const RESULT_TYPES: [&str; 2] = ["tool_result", "toolResult"];

/// The keys under which a result block names its call.
pub(super) const RESULT_BLOCK_IDS: [&str; 4] = ["tool_use_id", "toolUseId", "toolCallId", "id"];

/// The types of blocks that are calls of the caller's tools, in every spelling that hosts and providers use.
pub(super) const CALL_TYPES: [&str; 7] =
    ["toolCall", "toolUse", "tool_use", "tool-use", "functionCall", "function_call", "custom_tool_call"];

impl<'a> Transcript<'a> {
    /// Reads messages of any of the four shapes.
    pub fn read(messages: &'a [Value]) -> Self {
        read(messages, false)
    }

    /// Reads the messages before a user turn that is about to begin. Every message is one turn older than with
    /// [`Transcript::read`].
    pub fn before_turn(messages: &'a [Value]) -> Self {
        read(messages, true)
    }
}

fn read(messages: &[Value], turn_begins: bool) -> Transcript<'_> {
    let mut read: Vec<Message> = messages.iter().map(message).collect();
    mark_continuations(&mut read);
    pair_results_with_calls(&mut read);
    set_ages(&mut read, turn_begins);
    Transcript { messages: read, turn_begins }
}

pub(super) fn role(message: &Value) -> Role {
    match message["role"].as_str().unwrap_or_default() {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "toolResult" | "tool" | "tool_result" | "function" => Role::Tool,
        "" => match item_type(message) {
            Some(kind) if kind == "reasoning" || kind.ends_with("_call") => Role::Assistant,
            Some(_) if is_output_item(message) => Role::Tool,
            _ => Role::Other,
        },
        _ => Role::Other,
    }
}

/// Returns the type of a Responses API item; `None` for a message, which has a role.
pub(super) fn item_type(message: &Value) -> Option<&str> {
    message["type"].as_str().filter(|_| message["role"].is_null())
}

/// Returns true if an item of the Responses API is a call that requires an output: one with a `call_id`. Calls without
/// one were run by the provider and hold their own result.
pub(super) fn is_call_item(item: &Value) -> bool {
    item_type(item).is_some_and(|kind| kind.ends_with("_call")) && !id_of(item, &["call_id"]).is_empty()
}

/// Returns true if an item answers a call of any kind: `function_call_output`, `shell_call_output`,
/// `tool_search_output`, …
fn is_output_item(item: &Value) -> bool {
    item_type(item).is_some_and(|kind| kind.ends_with("_output")) && !id_of(item, &["call_id"]).is_empty()
}

/// Returns true if a call or its result states that a script of the model made the call.
fn is_of_script(part: &Value) -> bool {
    let caller = &part["caller"];
    caller["type"].as_str().or(caller.as_str()).is_some_and(|kind| kind != "direct")
}

fn message(raw: &Value) -> Message<'_> {
    let role = role(raw);
    let message_result = (role == Role::Tool).then(|| ToolResult {
        call_id: id_of(raw, &RESULT_IDS),
        tool_name: raw["toolName"].as_str().or(raw["name"].as_str()),
        is_error: is_error(raw),
        is_for_script: is_of_script(raw),
        ..ToolResult::default()
    });
    let mut blocks = Vec::new();
    match role {
        Role::Other => {}
        Role::Tool if item_type(raw).is_some() => {
            content(&raw["output"], &Path::new().key("output"), message_result, &mut blocks);
        }
        _ if item_type(raw).is_some() => block(raw, &Path::new(), None, &mut blocks),
        _ => {
            content(&raw["content"], &Path::new().key("content"), message_result, &mut blocks);
            calls(raw, &mut blocks);
        }
    }
    let starts_turn = role == Role::User
        && blocks.iter().all(|block| block.result.is_none())
        && blocks.iter().any(|block| matches!(block.kind, BlockKind::Text(_) | BlockKind::Image(_)));
    let timestamp = time::read(&raw["timestamp"]);
    let usage = raw.get("usage").and_then(Usage::read);
    let has_failed = || matches!(raw["stopReason"].as_str(), Some("error" | "aborted"));
    // Hosts write some answers themselves.
    let was_sent = || !(raw["provider"] == "openclaw" || raw["model"] == "<synthetic>" || has_failed());
    Message {
        raw,
        role,
        timestamp,
        blocks,
        starts_turn,
        is_continuation: false,
        is_call: role == Role::Assistant && (was_sent() || usage.is_some()),
        usage,
        turn_age: 0,
        calls_after: 0,
    }
}

/// Marks each item of an answer except the first as a continuation.
fn mark_continuations(messages: &mut [Message]) {
    // The words among the items may be written as a message.
    let is_one = |pair: &[Message]| {
        pair.iter().all(|message| message.role == Role::Assistant)
            && pair.iter().any(|message| message.raw["type"].is_string())
    };
    let is_continuation: Vec<bool> = messages.windows(2).map(is_one).collect();
    for (message, is_continuation) in messages.iter_mut().skip(1).zip(is_continuation) {
        message.is_continuation = is_continuation;
        message.is_call &= !is_continuation;
    }
}

fn content<'a>(value: &'a Value, path: &Path, result: Option<ToolResult<'a>>, blocks: &mut Vec<Block<'a>>) {
    match value {
        Value::String(_) | Value::Object(_) => blocks.extend(text(value, path.clone(), result)),
        Value::Array(parts) => {
            for (index, part) in parts.iter().enumerate() {
                block(part, &path.clone().index(index), result, blocks);
            }
        }
        _ => {}
    }
}

/// Returns the text block at a path, including texts with lone surrogates.
fn text<'a>(value: &'a Value, path: Path, result: Option<ToolResult<'a>>) -> Option<Block<'a>> {
    if let Value::String(text) = value {
        return Some(Block { path, kind: BlockKind::Text(text), result, exact: None });
    }
    let (text, units) = value.get(UTF16)?.as_array()?.split_first()?;
    let text = text.as_str()?;
    let exact = wtf8::encode(text, units.iter().filter_map(|unit| u16::try_from(unit.as_u64()?).ok()));
    Some(Block { path, kind: BlockKind::Text(text), result, exact: Some(exact) })
}

/// Returns a text in the form that crosses to JavaScript; `None` if the bytes are no text.
pub fn text_value(bytes: &[u8]) -> Option<Value> {
    let text = wtf8::stand_in(bytes)?;
    if matches!(text, Cow::Borrowed(_)) {
        return Some(json!(text));
    }
    let units = wtf8::units(bytes, &text).map(Value::from);
    Some(json!({ UTF16: std::iter::once(json!(text)).chain(units).collect::<Vec<_>>() }))
}

fn block<'a>(part: &'a Value, path: &Path, result: Option<ToolResult<'a>>, blocks: &mut Vec<Block<'a>>) {
    let kind = part["type"].as_str().unwrap_or_default();
    let mut push = |path: Path, kind| blocks.push(Block { path, kind, result, exact: None });
    match kind {
        "text" | "input_text" | "output_text" => match text(&part["text"], path.clone().key("text"), result) {
            Some(block) => blocks.push(block),
            None => push(path.clone(), BlockKind::Other(part)),
        },
        "thinking" | "redacted_thinking" | "reasoning" => push(path.clone(), BlockKind::Thinking(part)),
        "image" | "image_url" | "input_image" => match image(part) {
            Some(image) => push(path.clone(), BlockKind::Image(image)),
            None => push(path.clone(), BlockKind::Other(part)),
        },
        // Positions that its citations refer to must not change.
        "search_result" if part["citations"]["enabled"] != true && part["content"].is_array() => {
            content(&part["content"], &path.clone().key("content"), result, blocks);
        }
        _ if RESULT_TYPES.contains(&kind) => {
            let inner = ToolResult {
                call_id: id_of(part, &RESULT_BLOCK_IDS),
                tool_name: part["toolName"].as_str(),
                is_error: is_error(part),
                is_for_script: is_of_script(part),
                ..ToolResult::default()
            };
            content(&part["content"], &path.clone().key("content"), Some(inner), blocks);
        }
        _ if CALL_TYPES.contains(&kind) || is_call_item(part) => match call(part, path) {
            Some((path, call)) => push(path, BlockKind::Call(call)),
            None => push(path.clone(), BlockKind::Other(part)),
        },
        _ => push(path.clone(), BlockKind::Other(part)),
    }
}

/// Reads `toolCall.arguments`, `tool_use.input`, and the string form that some hosts keep. For items without a tool
/// name, such as `local_shell_call`, the arguments are their action.
fn call<'a>(part: &'a Value, path: &Path) -> Option<(Path, Call<'a>)> {
    let named = part["name"].as_str();
    let is_typed = named.is_none() || !part["type"].as_str().is_some_and(|kind| CALL_TYPES.contains(&kind));
    let keys: &[&str] =
        if is_typed { &["action", "actions", "operation", "arguments"] } else { &["arguments", "input", "args"] };
    let key = keys.iter().find(|key| part.get(**key).is_some());
    let name = named.or_else(|| part["type"].as_str()?.strip_suffix("_call").filter(|_| is_call_item(part)))?;
    let (path, given) = match key {
        Some(key) => (path.clone().key(key), &part[*key]),
        None if is_typed => (path.clone(), &Value::Null),
        None => return None,
    };
    let (id, is_of_script) = (id_of(part, &CALL_IDS), is_of_script(part));
    Some((path, Call { id, name, arguments: arguments(given), is_typed, is_of_script }))
}

/// Reads OpenAI's `tool_calls` beside the content.
fn calls<'a>(raw: &'a Value, blocks: &mut Vec<Block<'a>>) {
    for (index, part) in raw["tool_calls"].as_array().into_iter().flatten().enumerate() {
        // A custom tool takes a text.
        for (kind, key) in [("function", "arguments"), ("custom", "input")] {
            let called = &part[kind];
            let (Some(name), Some(given)) = (called["name"].as_str(), called.get(key)) else { continue };
            blocks.push(Block {
                path: Path::new().key("tool_calls").index(index).key(kind).key(key),
                kind: BlockKind::Call(Call {
                    id: id_of(part, &["id"]),
                    name,
                    arguments: arguments(given),
                    is_typed: false,
                    is_of_script: is_of_script(part),
                }),
                result: None,
                exact: None,
            });
        }
    }
}

fn arguments(value: &Value) -> Arguments<'_> {
    match value {
        Value::String(json) => Arguments::Json(json),
        value if has_opaque(value) => Arguments::Value(&Value::Null),
        other => Arguments::Value(other),
    }
}

/// The key of the numbered placeholder for a value that JSON cannot carry; see the addon's hand-over. A copy of it
/// stands for the same value, but only in changes to the messages that it crossed with: it must not be stored.
pub(super) const OPAQUE: &str = "\0opaque";

/// The key of the placeholder for a text with lone surrogates: its stand-in, and the UTF-16 unit of every U+FFFD in it.
const UTF16: &str = "\0utf16";

/// Returns true if a value contains a placeholder for something that JSON cannot carry. Such a value must not be
/// stored; as arguments it reads as null, and nothing in it is measured.
pub fn has_opaque(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_opaque),
        Value::Object(fields) => {
            fields.contains_key(OPAQUE) || fields.contains_key(UTF16) || fields.values().any(has_opaque)
        }
        _ => false,
    }
}

fn image(part: &Value) -> Option<Image<'_>> {
    if let Some(data) = part["data"].as_str() {
        return Some(Image { base64: Some(data), mime: part["mimeType"].as_str(), detail: None });
    }
    let source = &part["source"];
    if source.is_object() {
        return Some(Image { base64: source["data"].as_str(), mime: source["media_type"].as_str(), detail: None });
    }
    let url = part["image_url"]["url"].as_str().or(part["image_url"].as_str())?;
    let detail = part["image_url"]["detail"].as_str().or(part["detail"].as_str());
    let inline = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    Some(Image { base64: inline.map(|(_, data)| data), mime: inline.map(|(mime, _)| mime), detail })
}

/// Returns the same image block with another inline payload; all other fields stay. The MIME type is set if the block
/// states one, as a data URL does. Returns `None` for a block without a payload.
pub fn with_payload(part: &Value, mime: &str, base64: &str) -> Option<Value> {
    with_base64(part, Some(mime), base64)
}

/// Does the same as [`with_payload`]; keeps the block's own MIME type if none is given.
fn with_base64(part: &Value, mime: Option<&str>, base64: &str) -> Option<Value> {
    let mut changed = part.clone();
    let set = |place: &mut Value, type_key: &str| {
        place["data"] = base64.into();
        if let Some(mime) = mime.filter(|_| place[type_key].is_string()) {
            place[type_key] = mime.into();
        }
    };
    if part["data"].is_string() {
        set(&mut changed, "mimeType");
    } else if part["source"]["data"].is_string() {
        set(&mut changed["source"], "media_type");
    } else {
        let place = changed.get_mut("image_url")?;
        let url = if place.is_object() { place.get_mut("url")? } else { place };
        let (own, _) = url.as_str()?.strip_prefix("data:")?.split_once(";base64,")?;
        *url = format!("data:{};base64,{base64}", mime.unwrap_or(own)).into();
    }
    Some(changed)
}

/// The fields of an image block that are removed with the image: a text block has none of them, or its own.
const IMAGE_FIELDS: [&str; 7] = ["type", "text", "data", "mimeType", "source", "image_url", "detail"];

/// Returns the fields that leave with an image, without the payload. Other fields are kept by name only, for their
/// order. [`image_in_place`] rebuilds the block, with this MIME type or its own. Returns `None` for a block without a
/// payload, or one that JSON does not carry exactly.
pub fn image_frame(part: &Value, mime: Option<&str>) -> Option<Value> {
    let mut image_frame = if has_opaque(part) { None } else { with_base64(part, mime, "") }?;
    for (key, value) in image_frame.as_object_mut()? {
        if !IMAGE_FIELDS.contains(&key.as_str()) {
            *value = Value::Null;
        }
    }
    Some(image_frame)
}

/// Rebuilds the image block in whose place a text block stands. Fields that are not part of the image are taken from
/// the text block.
pub fn image_in_place(image_frame: &Value, text_block: &Value, base64: &str) -> Option<Value> {
    let is_own = |key: &str| IMAGE_FIELDS.contains(&key);
    let others = text_block.as_object()?;
    let framed = image_frame.as_object()?.iter().filter_map(|(key, value)| {
        let value = if is_own(key) { value } else { others.get(key)? };
        Some((key.clone(), value.clone()))
    });
    let mut fields: Map<String, Value> = framed.collect();
    for (key, value) in others.iter().filter(|(key, _)| !is_own(key)) {
        if !fields.contains_key(key) {
            fields.insert(key.clone(), value.clone());
        }
    }
    with_base64(&Value::Object(fields), None, base64)
}

/// Returns true if a caller has put a prompt-cache breakpoint (`cache_control`, `prompt_cache_breakpoint`) on a block
/// or on a value that contains it.
pub fn is_cache_point(message: &Value, path: &Path) -> bool {
    let is_marked = |value: &Value| {
        ["cache_control", "prompt_cache_breakpoint"]
            .iter()
            .any(|key| value.get(key).is_some_and(|mark| !mark.is_null()))
    };
    let mut steps = path.steps().iter();
    std::iter::successors(Some(message), |value| steps.next()?.follow(value)).any(is_marked)
}

/// Returns true if a breakpoint of the caller in the content of a message asks for a cache that lives for an hour,
/// false if for minutes; `None` if there is no breakpoint.
pub(super) fn asks_for_an_hour(message: &Value) -> Option<bool> {
    let marks = message["content"].as_array()?.iter().rev().map(|block| &block["cache_control"]);
    marks.filter(|mark| mark.is_object()).map(|mark| mark["ttl"] == "1h").next()
}

/// Returns the text block that replaces an image. It keeps the fields that are not part of the image.
pub fn text_in_place(part: &Value, text: &str) -> Value {
    let others = part.as_object().into_iter().flatten().filter(|(key, _)| !IMAGE_FIELDS.contains(&key.as_str()));
    let mut block = text_beside(part, text);
    if let Some(fields) = block.as_object_mut() {
        fields.extend(others.map(|(key, value)| (key.clone(), value.clone())));
    }
    block
}

/// Returns a text block that may stand beside this block of a message.
pub fn text_beside(part: &Value, text: &str) -> Value {
    let kind = if part["type"] == "input_image" { "input_text" } else { "text" };
    json!({ "type": kind, "text": text })
}

fn is_error(value: &Value) -> bool {
    value["isError"].as_bool().or(value["is_error"].as_bool()).unwrap_or(false)
}

/// Returns the id under the first of `keys` that holds one. Numbers are accepted, because some hosts number their
/// calls.
pub(super) fn id_of<'a>(value: &'a Value, keys: &[&str]) -> &'a str {
    let id = |value: &'a Value| value.as_str().or_else(|| Some(value.as_number()?.as_str()));
    keys.iter().find_map(|key| id(value.get(key)?)).unwrap_or_default()
}

/// The calls of one id in the newest answer that has such calls.
#[derive(Default)]
struct CallsWithId<'a> {
    /// The first message of the answer.
    message: usize,
    calls: Vec<((usize, usize), Call<'a>)>,
    /// The number of them that are answered.
    answered: usize,
    /// The last result: its message, and the block that carries it there. A result of several blocks answers one call.
    answered_by: Option<(usize, Option<usize>)>,
}

/// Gives each result the name and arguments of its call: the call with its id in the newest answer before it. If one
/// answer makes several calls with the same id, or without one, they are answered in order.
fn pair_results_with_calls(messages: &mut [Message]) {
    let mut by_id: HashMap<&str, CallsWithId> = HashMap::new();
    let mut answer = 0;
    for (message_index, message) in messages.iter_mut().enumerate() {
        if !message.is_continuation {
            answer = message_index;
        }
        for (block_index, block) in message.blocks.iter_mut().enumerate() {
            if let Some(result) = &mut block.result {
                let Some(calls) = by_id.get_mut(result.call_id) else { continue };
                let carrier = Some((message_index, result_block_index(&block.path)));
                if calls.answered_by != carrier {
                    calls.answered += usize::from(calls.answered_by.is_some());
                    calls.answered_by = carrier;
                }
                let Some((at, call)) = calls.calls.get(calls.answered.min(calls.calls.len() - 1)) else { continue };
                result.tool_name = result.tool_name.or(Some(call.name));
                result.arguments = Some(call.arguments);
                result.call = Some(*at);
                result.is_for_script |= call.is_of_script;
            } else if let BlockKind::Call(call) = block.kind {
                let known = by_id.entry(call.id).or_default();
                if known.message != answer {
                    *known = CallsWithId { message: answer, ..CallsWithId::default() };
                }
                known.calls.push(((message_index, block_index), call));
            }
        }
    }
}

/// Returns the index of the block that carries the result at a path; `None` if the message itself is the result.
fn result_block_index(path: &Path) -> Option<usize> {
    match path.steps() {
        [_, Step::Index(at), Step::Key("content"), ..] => Some(*at),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use concertina_cases::{check, json_lines};

    fn shapes() -> [Value; 4] {
        [
            json!([
                { "role": "user", "content": "go", "timestamp": 5 },
                { "role": "assistant", "content": [
                    { "type": "thinking", "thinking": "hm", "thinkingSignature": "s" },
                    { "type": "toolCall", "id": "c1", "name": "read", "arguments": { "path": "a.rs" } }] },
                { "role": "toolResult", "toolCallId": "c1", "toolName": "read", "isError": false,
                  "content": [{ "type": "text", "text": "fn a() {}" }, { "type": "image", "data": "AAAA", "mimeType": "image/png" }] },
            ]),
            json!([
                { "role": "user", "content": [{ "type": "text", "text": "go" }] },
                { "role": "assistant", "content": [
                    { "type": "thinking", "thinking": "hm", "signature": "s" },
                    { "type": "tool_use", "id": "c1", "name": "read", "input": { "path": "a.rs" } }] },
                { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c1", "content": [
                    { "type": "text", "text": "fn a() {}" },
                    { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AAAA" } }] }] },
            ]),
            json!([
                { "role": "user", "content": "go" },
                { "role": "assistant", "content": null, "tool_calls": [
                    { "id": "c1", "type": "function", "function": { "name": "read", "arguments": "{\"path\":\"a.rs\"}" } }] },
                { "role": "tool", "tool_call_id": "c1", "content": [
                    { "type": "text", "text": "fn a() {}" },
                    { "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA", "detail": "low" } }] },
            ]),
            json!([
                { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "go" }] },
                { "type": "function_call", "id": "fc_1", "call_id": "c1", "name": "read", "arguments": "{\"path\":\"a.rs\"}" },
                { "type": "function_call_output", "call_id": "c1", "output": [
                    { "type": "input_text", "text": "fn a() {}" },
                    { "type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "low" }] },
            ]),
        ]
    }

    #[test]
    fn every_path_leads_to_its_value() {
        for shape in shapes() {
            let messages = shape.as_array().unwrap();
            for (index, block) in Transcript::read(messages).blocks() {
                let value = block.path.follow(&messages[index]).unwrap();
                match block.kind {
                    BlockKind::Text(text) => assert_eq!(value, text),
                    BlockKind::Call(call) => {
                        assert_eq!(value.as_str().map_or(value.to_string(), str::to_owned), call.arguments.to_json())
                    }
                    _ => assert!(value["type"].is_string()),
                }
            }
        }
    }

    #[test]
    fn breakpoints_of_both_providers_are_known() {
        let path = Path::new().key("content").index(0);
        for key in ["cache_control", "prompt_cache_breakpoint"] {
            let marked =
                |mark: Value| json!({ "role": "user", "content": [{ "type": "input_text", "text": "x", key: mark }] });
            assert!(is_cache_point(&marked(json!({ "mode": "explicit" })), &path.clone().key("text")));
            assert!(!is_cache_point(&marked(Value::Null), &path.clone().key("text")));
        }
    }

    #[test]
    fn an_image_takes_another_payload_in_every_shape() {
        for shape in shapes() {
            let messages = shape.as_array().unwrap();
            let transcript = Transcript::read(messages);
            let block = &transcript.messages[2].blocks[1];
            let part = block.path.follow(&messages[2]).unwrap();
            let changed = with_payload(part, "image/jpeg", "BBBB").unwrap();
            let image = image(&changed).unwrap();
            assert_eq!((image.base64, image.mime), (Some("BBBB"), Some("image/jpeg")));
            let back = with_payload(&changed, "image/png", "AAAA").unwrap();
            assert_eq!(back, *part);
        }
        for part in
            [json!({ "source": { "url": "x" } }), json!({ "image_url": { "url": "https://a.b/c.png" } }), json!(7)]
        {
            assert_eq!(with_payload(&part, "image/png", "AAAA"), None);
        }
    }

    #[test]
    fn an_image_comes_back_into_its_own_frame() {
        for part in [
            json!({ "type": "image", "data": "AAAA", "mimeType": "image/png", "x": 1 }),
            json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AAAA" } }),
            json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA", "detail": "low" } }),
            json!({ "type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "high" }),
        ] {
            let image_frame = image_frame(&part, None).unwrap();
            assert!(!image_frame.to_string().contains("AAAA"));
            let shown = text_in_place(&part, "image");
            assert_eq!(image_in_place(&image_frame, &shown, "AAAA").unwrap().to_string(), part.to_string());
        }
    }

    #[test]
    fn forgotten_messages_age_nothing() {
        let messages = json!([
            { "role": "user", "content": "a" },
            { "role": "user", "content": "b" },
            { "role": "assistant", "content": "c" },
        ]);
        let mut transcript = Transcript::read(messages.as_array().unwrap());
        transcript.drop_messages([1, 2]);
        assert_eq!((transcript.messages[0].turn_age, transcript.messages[0].calls_after), (1, 0));
        assert_eq!(transcript.blocks().count(), 1);
    }

    /// Describes a message: its role, its age, and its blocks with the tools of their results.
    fn described(message: &Message) -> String {
        let block = |block: &Block| {
            let kind = match block.kind {
                BlockKind::Text(text) => format!("text {text:?}"),
                BlockKind::Image(image) => format!("image {:?} {:?}", image.mime, image.base64),
                BlockKind::Call(call) => format!("call {:?} of {} {}", call.id, call.name, call.arguments.to_json()),
                BlockKind::Thinking(_) => "thinking".to_owned(),
                BlockKind::Other(_) => "other".to_owned(),
            };
            let of_tool = |result: ToolResult| {
                let path = result.arguments.and_then(|arguments| arguments.file_path()).unwrap_or_default();
                format!(" from {} {path}", result.tool_name.unwrap_or("?")).trim_end().to_owned()
            };
            format!("; {kind}{}", block.result.map_or_else(String::new, of_tool))
        };
        let blocks: String = message.blocks.iter().map(block).collect();
        let is_continuation = if message.is_continuation { " goes on" } else { "" };
        format!(
            "{:?}{is_continuation}, turn {}, {} calls after{blocks}\n",
            message.role, message.turn_age, message.calls_after
        )
    }

    /// The lines of an input are the messages of a transcript, those of the output their descriptions.
    #[test]
    fn messages_of_every_shape_are_read() {
        check!("transcripts", |input, _| {
            let messages = json_lines(input);
            Transcript::read(&messages).messages.iter().map(described).collect()
        });
    }
}
