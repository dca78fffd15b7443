//! Finds thinking that is no longer needed.
//!
//! Providers require a model's thinking while the turn it belongs to goes on, calls and results included, and permit to
//! omit it afterwards: <https://platform.claude.com/docs/en/build-with-claude/extended-thinking> (preserving thinking
//! blocks).

use crate::transcript::{Block, BlockKind, Message, Role, Transcript, call_links, has_opaque};

/// Returns the index before which all turns are finished: the end of the last answer with words and without a call that
/// the model did not continue from. A person's words do not finish a turn: after tool results, providers treat both as
/// one message of it.
pub(super) fn finished_until(transcript: &Transcript) -> usize {
    let messages = &transcript.messages;
    let starts =
        (0..messages.len()).rev().filter(|&at| messages[at].role == Role::Assistant && !messages[at].is_continuation);
    let mut follows = None;
    for start in starts {
        let answer = transcript.answer_at(start);
        let end = start + answer.len();
        let spoke = messages[end..follows.unwrap_or(messages.len())]
            .iter()
            .any(|message| matches!(message.role, Role::User | Role::Tool));
        if ends_turn(answer) && (follows.is_none() || spoke) {
            return end;
        }
        follows = Some(start);
    }
    0
}

/// Returns true if an answer, of one message or several items, has words and no call. Failed answers do not count,
/// because hosts omit them when they send the history.
fn ends_turn(answer: &[Message]) -> bool {
    let has_failed = |message: &Message| matches!(message.raw["stopReason"].as_str(), Some("error" | "aborted"));
    let is_word = |block: &Block| matches!(block.kind, BlockKind::Text(text) if !text.trim().is_empty());
    answer.iter().any(|message| message.blocks.iter().any(is_word))
        && !answer.iter().any(|message| has_failed(message) || !call_links(message.raw).is_empty())
}

/// Returns true if a message has words or calls beside its thinking: providers refuse an empty one.
pub(super) fn says_more_than_thinking(message: &Message) -> bool {
    message.role == Role::Assistant
        && message.blocks.iter().any(|block| match block.kind {
            BlockKind::Text(text) => !text.trim().is_empty(),
            BlockKind::Call(_) => true,
            _ => false,
        })
}

/// Returns true if a block is thinking that can be stored and restored byte for byte.
pub(super) fn is_whole_thinking(block: &Block) -> bool {
    matches!(block.kind, BlockKind::Thinking(part) if !has_opaque(part)) && block.path.last_index().is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Words, a call, its result and thinking in one of the four shapes.
    struct Shape {
        call: Vec<Value>,
        result: Value,
        answer: Vec<Value>,
        image: Value,
    }

    fn shapes() -> [Shape; 4] {
        let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
        let thinking = json!({ "type": "thinking", "thinking": "hm", "signature": "s" });
        let call = |kind: &str, key: &str| {
            let mut call = json!({ "type": kind, "id": "c", "name": "exec" });
            call[key] = json!({ "command": "ls" });
            vec![json!({ "role": "assistant", "content": [thinking, call] })]
        };
        let answer = vec![json!({ "role": "assistant", "content": [thinking, { "type": "text", "text": "done" }] })];
        let reasoning = json!({ "type": "reasoning", "id": "r", "summary": [] });
        [
            Shape {
                call: call("toolCall", "arguments"),
                result: json!({ "role": "toolResult", "toolCallId": "c", "content": [{ "type": "text", "text": "ok" }] }),
                answer: answer.clone(),
                image: image.clone(),
            },
            Shape {
                call: call("tool_use", "input"),
                result: json!({ "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "c", "content": "ok" }] }),
                answer,
                image: json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AAAA" } }),
            },
            Shape {
                call: vec![json!({ "role": "assistant", "content": null, "tool_calls": [
                    { "id": "c", "function": { "name": "exec", "arguments": "{}" } }] })],
                result: json!({ "role": "tool", "tool_call_id": "c", "content": "ok" }),
                answer: vec![json!({ "role": "assistant", "content": "done" })],
                image: json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } }),
            },
            Shape {
                call: vec![
                    reasoning.clone(),
                    json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "I look" }] }),
                    json!({ "type": "local_shell_call", "call_id": "c", "action": { "command": ["ls"] } }),
                ],
                result: json!({ "type": "function_call_output", "call_id": "c", "output": "ok" }),
                answer: vec![
                    reasoning,
                    json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "done" }] }),
                ],
                image: json!({ "type": "input_image", "image_url": "data:image/png;base64,AAAA" }),
            },
        ]
    }

    /// Neighbours: the four shapes; behind the result nothing, words, an image, both, two messages, or words beside the
    /// result; then nothing, a failed or empty answer, a further call, or an answer that ends the turn, with and
    /// without a further question.
    #[test]
    fn a_turn_ends_with_an_answer_and_not_with_words_behind_a_result() {
        let words = json!({ "role": "user", "content": "also check the tests" });
        let mut tried = 0;
        for shape in shapes() {
            let image = json!({ "role": "user", "content": [shape.image] });
            let both = json!({ "role": "user", "content": [{ "type": "text", "text": "look" }, shape.image] });
            let failed =
                json!({ "role": "assistant", "content": [{ "type": "text", "text": "I" }], "stopReason": "aborted" });
            let empty = json!({ "role": "assistant", "content": [] });
            let more = [&shape.call[..], std::slice::from_ref(&shape.result)].concat();
            let done = [vec![words.clone()], shape.answer.clone()].concat();
            let begun = [vec![words.clone()], shape.call.clone(), vec![shape.result.clone()]].concat();
            for behind in [vec![], vec![words.clone()], vec![image], vec![both], vec![words.clone(), words.clone()]] {
                for (then, ends) in [
                    (vec![], None),
                    (vec![failed.clone()], None),
                    (vec![failed.clone(), words.clone()], None),
                    (vec![empty.clone(), words.clone()], None),
                    (more.clone(), None),
                    (shape.answer.clone(), Some(0)),
                    ([shape.answer.clone(), vec![words.clone()]].concat(), Some(1)),
                ] {
                    let messages = [&done[..], &begun, &behind, &then].concat();
                    let expected = ends.map_or(done.len(), |back| messages.len() - back);
                    assert_eq!(finished_until(&Transcript::read(&messages)), expected, "{messages:#?}");
                    tried += 1;
                }
            }
        }
        assert_eq!(tried, 4 * 5 * 7);
    }
}
