//! Which blocks are stale: old tool results, old tool-call arguments, old images.
//!
//! Only what was already worked through may go. User text, assistant text and thinking are never selected, whatever their age.

use super::Meter;
use super::superseded::superseded;
use crate::config::Config;
use crate::transcript::{Block, Kind, Message, Role, Transcript};

/// A block that may leave the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Index of the message.
    pub message: usize,
    /// Index of the block in the message's blocks.
    pub block: usize,
    /// What it is.
    pub kind: Part,
    /// Why it may go.
    pub reason: Reason,
    /// What it costs.
    pub tokens: usize,
}

/// What kind of block may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// A text of a tool result.
    Result,
    /// The arguments of a tool call.
    Arguments,
    /// An image, of a person or of a tool.
    Image,
}

/// Why a block may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Too many turns or model calls ago.
    Stale,
    /// Something later shows the same or newer content of a file.
    Superseded,
    /// The same text stands in a later result.
    Duplicate,
}

impl Reason {
    /// The word for reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Superseded => "superseded",
            Self::Duplicate => "duplicate",
        }
    }
}

/// Selects the stale blocks, oldest first.
///
/// Age counts in user turns, the newest being 1, and in model calls made since. A tool result or the arguments of a call are stale
/// when older than `staleTurns` turns or followed by more than `staleCalls` calls. Images go after `imageAgeTurns` turns, and those
/// that a tool returned after `staleCalls` calls as well. Without any user message nothing is stale.
///
/// What a write or edit was given is superseded, at any age, once a later call read the whole of the same file.
///
/// Blocks of fewer than `minTokensToSqueeze` tokens stay, and so do those of tools that `skipTools` or `onlyTools` exclude and those
/// that `is_ours` recognizes as placeholders.
pub fn stale(
    transcript: &Transcript,
    config: &Config,
    meter: &Meter,
    is_ours: &dyn Fn(&Block) -> bool,
) -> Vec<Candidate> {
    let superseded = superseded(transcript, config);
    let is_body_read_later = |at: (usize, usize)| superseded.get(&at).is_some_and(|later| later.by_read);
    let mut candidates = Vec::new();
    for (message_index, message) in transcript.messages.iter().enumerate() {
        for (block_index, block) in message.blocks.iter().enumerate() {
            let Some(part) = part(message, block) else { continue };
            let reason = if is_old(message, block, part, config) {
                Reason::Stale
            } else if part == Part::Arguments && is_body_read_later((message_index, block_index)) {
                Reason::Superseded
            } else {
                continue;
            };
            if !may_touch(block, config) || is_ours(block) {
                continue;
            }
            let tokens = meter.block(block);
            if tokens as u64 >= config.min_tokens_to_squeeze {
                candidates.push(Candidate { message: message_index, block: block_index, kind: part, reason, tokens });
            }
        }
    }
    candidates
}

/// Whether the options allow a block of this tool to be replaced. A result without a known tool is one of no listed tool.
pub fn may_touch(block: &Block, config: &Config) -> bool {
    let tool_name = match (&block.kind, block.result) {
        (_, Some(result)) => result.tool_name,
        (Kind::Call(call), None) => Some(call.name),
        _ => None,
    };
    tool_name.map_or(config.only_tools.is_empty(), |name| config.may_touch_tool(name))
}

/// What kind of block may go; `None` for one that never may.
pub fn part(message: &Message, block: &Block) -> Option<Part> {
    if matches!(message.role, Role::System | Role::Other) {
        return None;
    }
    match block.kind {
        Kind::Text(_) if block.result.is_some() => Some(Part::Result),
        Kind::Call(_) if block.result.is_none() => Some(Part::Arguments),
        Kind::Image(_) => Some(Part::Image),
        _ => None,
    }
}

fn is_old(message: &Message, block: &Block, part: Part, config: &Config) -> bool {
    let turns = if part == Part::Image { config.image_age_turns } else { config.stale_turns };
    // A picture that a person sent is the task of the turn, however many calls it takes.
    let counts_calls = part != Part::Image || block.result.is_some();
    // The age is 0 without any user turn.
    message.turn_age > turns || (counts_calls && message.turn_age > 0 && message.calls_after > config.stale_calls)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn candidates(messages: &Value, options: &Value) -> Vec<(usize, Part, Reason)> {
        let (config, _) = Config::from_json(options.as_object().unwrap()).unwrap();
        let transcript = Transcript::read(messages.as_array().unwrap());
        stale(&transcript, &config, &Meter::new(None, config.encoding), &|_| false)
            .into_iter()
            .map(|candidate| (candidate.message, candidate.kind, candidate.reason))
            .collect()
    }

    fn long() -> String {
        "a line of output with some words\n".repeat(100)
    }

    /// One call and its long result in the oldest turn, then `turns - 1` turns of talk.
    fn aged(turns: usize) -> Value {
        let mut messages = vec![
            json!({ "role": "user", "content": "go" }),
            json!({ "role": "assistant", "content": [
                { "type": "toolCall", "id": "c", "name": "exec", "arguments": { "command": "ls" } }] }),
            json!({ "role": "toolResult", "toolCallId": "c", "content": [{ "type": "text", "text": long() }] }),
        ];
        for _ in 1..turns {
            messages.push(json!({ "role": "user", "content": "and" }));
        }
        messages.into()
    }

    #[test]
    fn a_result_goes_when_older_than_stale_turns() {
        assert_eq!(candidates(&aged(4), &json!({})), []);
        assert_eq!(candidates(&aged(5), &json!({})), [(2, Part::Result, Reason::Stale)]);
        assert_eq!(candidates(&aged(2), &json!({ "staleTurns": 1 })), [(2, Part::Result, Reason::Stale)]);
    }

    #[test]
    fn one_long_turn_ages_by_model_calls() {
        let mut messages = aged(1);
        for calls in 1..=13 {
            messages.as_array_mut().unwrap().push(json!({ "role": "assistant", "content": "hm" }));
            assert_eq!(candidates(&messages, &json!({})).len(), usize::from(calls > 12), "{calls} calls");
        }
    }

    #[test]
    fn without_a_user_message_nothing_is_stale() {
        let mut messages = aged(1);
        messages.as_array_mut().unwrap().remove(0);
        for _ in 0..50 {
            messages.as_array_mut().unwrap().push(json!({ "role": "assistant", "content": "hm" }));
        }
        assert_eq!(candidates(&messages, &json!({})), []);
    }

    #[test]
    fn skipped_and_unlisted_tools_stay() {
        for (options, found) in [
            (json!({ "skipTools": ["ex*"] }), 0),
            (json!({ "skipTools": ["read"] }), 1),
            (json!({ "onlyTools": ["read"] }), 0),
            (json!({ "onlyTools": ["exec"] }), 1),
        ] {
            assert_eq!(candidates(&aged(9), &options).len(), found, "{options}");
        }
        let mut nameless = aged(9);
        nameless[2]["toolCallId"] = json!("other");
        assert_eq!(candidates(&nameless, &json!({ "onlyTools": ["exec"] })), []);
        assert_eq!(candidates(&nameless, &json!({ "skipTools": ["exec"] })).len(), 1);
    }

    #[test]
    fn small_blocks_and_words_of_people_stay() {
        let messages = json!([
            { "role": "user", "content": long() },
            { "role": "assistant", "content": [{ "type": "text", "text": long() },
                { "type": "thinking", "thinking": long() },
                { "type": "toolCall", "id": "c", "name": "exec", "arguments": { "command": "ls" } }] },
            { "role": "toolResult", "toolCallId": "c", "content": "short" },
            { "role": "user", "content": "1" }, { "role": "user", "content": "2" },
            { "role": "user", "content": "3" }, { "role": "user", "content": "4" },
        ]);
        assert_eq!(candidates(&messages, &json!({ "staleTurns": 1 })), []);
    }

    #[test]
    fn a_persons_image_ages_by_turns_and_a_tools_image_also_by_calls() {
        let image = json!({ "type": "image", "data": "unreadable", "mimeType": "image/png" });
        let mut messages = vec![
            json!({ "role": "user", "content": [{ "type": "text", "text": "look" }, image] }),
            json!({ "role": "toolResult", "toolCallId": "c", "content": [image] }),
        ];
        messages.extend((0..20).map(|_| json!({ "role": "assistant", "content": "hm" })));
        assert_eq!(candidates(&json!(messages), &json!({})), [(1, Part::Image, Reason::Stale)]);
        messages.push(json!({ "role": "user", "content": "2" }));
        messages.push(json!({ "role": "user", "content": "3" }));
        assert_eq!(candidates(&json!(messages), &json!({})).len(), 2);
    }

    #[test]
    fn a_written_body_goes_once_the_file_was_read_back() {
        let conversation = |read_path: &str, read_arguments: Value, is_error: bool| {
            let mut arguments = read_arguments;
            arguments["path"] = json!(read_path);
            json!([
                { "role": "user", "content": "go" },
                { "role": "assistant", "content": [{ "type": "toolCall", "id": "w", "name": "write",
                    "arguments": { "path": "a.rs", "content": long() } }] },
                { "role": "toolResult", "toolCallId": "w", "content": "ok" },
                { "role": "assistant", "content": [
                    { "type": "toolCall", "id": "r", "name": "read", "arguments": arguments }] },
                { "role": "toolResult", "toolCallId": "r", "isError": is_error, "content": long() },
            ])
        };
        let superseded = [(1, Part::Arguments, Reason::Superseded)];
        assert_eq!(candidates(&conversation("a.rs", json!({}), false), &json!({})), superseded);
        assert_eq!(candidates(&conversation("b.rs", json!({}), false), &json!({})), []);
        assert_eq!(candidates(&conversation("a.rs", json!({ "offset": 10 }), false), &json!({})), []);
        assert_eq!(candidates(&conversation("a.rs", json!({}), true), &json!({})), []);

        let in_order = conversation("a.rs", json!({}), false);
        let read_first: Vec<&Value> = [0, 3, 4, 1, 2].iter().map(|&at| &in_order[at]).collect();
        assert_eq!(candidates(&json!(read_first), &json!({})), [], "a read shows nothing of a later write");
    }
}
