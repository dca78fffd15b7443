//! Calls without results, results without calls -> pairs that every provider accepts
//!
//! Ids repeat in long sessions, so a result belongs to the newest unanswered call with its id, not to any call that has it. A call
//! of an answer that ended in an error or abort takes none: hosts drop such calls when they send the transcript.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};

use crate::transcript::{
    CallLink, Patch, Path, ResultLink, Rewrite, Shape, Slot, call_links, has_opaque, result_links,
};

/// Text of a result that was inserted because none was there.
const MISSING: &str = "[concertina] missing tool result — synthetic error inserted for API compatibility.";

/// What `repairToolPairing()` did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RepairStats {
    /// Error results made up for calls that had none.
    pub synthetic_results_inserted: usize,
    /// Results dropped because no call has their id, or only calls of failed answers.
    pub orphan_results_dropped: usize,
    /// Results dropped because their call was answered before.
    pub duplicate_results_dropped: usize,
    /// Whether anything changed, moves included.
    pub repaired: bool,
}

/// Where a result stands: its message, and its block where the message only carries it.
type Place = (usize, Option<usize>);

struct Call<'a> {
    message: usize,
    link: CallLink<'a>,
    answered: bool,
    /// A result that did not stand behind its call, with nothing but results between, and moves there.
    displaced: Option<Place>,
}

/// Makes calls and results pair up: orphan and second results go, a result that stands elsewhere moves behind its call, a missing one is
/// replaced by a synthetic error, and in a user's message results stand first. Calls of a message that ended in an error or abort are
/// left alone, and their results are orphans.
pub fn repair_tool_pairing(messages: &[Value]) -> (Rewrite, RepairStats) {
    let mut stats = RepairStats::default();
    let (calls, dropped) = pair(messages, &mut stats);
    let mut edits: Vec<Edit> = messages.iter().map(|_| Edit::default()).collect();
    for &(message, block) in dropped.iter().chain(calls.iter().filter_map(|call| call.displaced.as_ref())) {
        match block {
            None => edits[message].is_removed = true,
            Some(block) => {
                edits[message].removed_blocks.insert(block);
            }
        }
    }
    let has_tool_messages =
        messages.iter().any(|message| result_links(message).iter().any(|result| result.block.is_none()));
    for call in &calls {
        let Some(result) = result_to_insert(messages, call, has_tool_messages, &mut stats) else { continue };
        let follower = call.message + 1;
        match result {
            Inserted::Block(block) if messages.get(follower).is_some_and(takes_blocks) => {
                edits[follower].first_blocks.push(block);
            }
            Inserted::Block(block) => edits[call.message].user_blocks_behind.push(block),
            Inserted::Message(slot) => edits[call.message].behind.push(slot),
        }
    }
    let rewrite = rewrite(messages, edits);
    stats.repaired = !rewrite.is_empty();
    (rewrite, stats)
}

/// Gives every call that did not fail its result; returns the calls, and the places of the results to drop.
fn pair<'a>(messages: &'a [Value], stats: &mut RepairStats) -> (Vec<Call<'a>>, Vec<Place>) {
    let mut calls: Vec<Call> = Vec::new();
    // The calls of each id that have no result yet; an id that was ever called keeps its entry.
    let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
    // Results met before any call with their id.
    let mut early: HashMap<&str, Vec<Place>> = HashMap::new();
    let mut dropped = Vec::new();
    // The last message without results.
    let mut plain = 0;
    for (message_index, message) in messages.iter().enumerate() {
        let links = if has_failed(message) { Vec::new() } else { call_links(message) };
        for link in links {
            open.entry(link.id).or_default().push(calls.len());
            calls.push(Call { message: message_index, link, answered: false, displaced: None });
        }
        let results = result_links(message);
        if results.is_empty() {
            plain = message_index;
        }
        for ResultLink { id, block } in results {
            let place = (message_index, block);
            match open.get_mut(id).map(Vec::pop) {
                Some(Some(call)) if calls[call].message == plain => calls[call].answered = true,
                Some(Some(call)) => calls[call].displaced = Some(place),
                Some(None) => {
                    stats.duplicate_results_dropped += 1;
                    dropped.push(place);
                }
                None => early.entry(id).or_default().push(place),
            }
        }
    }
    for (id, places) in early {
        let was_called = open.contains_key(id);
        let mut waiting = open.remove(id).unwrap_or_default().into_iter();
        for place in places {
            match waiting.next() {
                Some(call) => calls[call].displaced = Some(place),
                None => {
                    stats.duplicate_results_dropped += usize::from(was_called);
                    stats.orphan_results_dropped += usize::from(!was_called);
                    dropped.push(place);
                }
            }
        }
    }
    (calls, dropped)
}

fn has_failed(message: &Value) -> bool {
    let reason = message["stopReason"].as_str().or(message["stop_reason"].as_str());
    matches!(reason, Some("error" | "aborted"))
}

/// Whether a message can take a `tool_result` block at its front.
fn takes_blocks(message: &Value) -> bool {
    message["role"] == "user" && message["content"].is_array()
}

enum Inserted {
    /// For the front of the user message that follows the call.
    Block(Value),
    /// For the place behind the call's message.
    Message(Slot),
}

/// The moved or synthetic result of a call that needs one.
fn result_to_insert(
    messages: &[Value],
    call: &Call,
    has_tool_messages: bool,
    stats: &mut RepairStats,
) -> Option<Inserted> {
    if let Some((message, block)) = call.displaced {
        return Some(match block {
            None => Inserted::Message(Slot::Keep(message)),
            Some(block) => Inserted::Block(messages[message]["content"][block].clone()),
        });
    }
    if call.answered {
        return None;
    }
    stats.synthetic_results_inserted += 1;
    let CallLink { id, name, shape } = call.link;
    Some(match shape {
        // Hosts that keep Anthropic's calls may keep results as messages of their own.
        Shape::Anthropic if !has_tool_messages => Inserted::Block(json!({
            "type": "tool_result", "tool_use_id": id, "is_error": true, "content": [{ "type": "text", "text": MISSING }],
        })),
        Shape::OpenAi => {
            Inserted::Message(Slot::Insert(json!({ "role": "tool", "tool_call_id": id, "content": MISSING })))
        }
        Shape::Anthropic | Shape::OpenClaw => Inserted::Message(Slot::Insert(json!({
            "role": "toolResult", "toolCallId": id, "toolName": name.unwrap_or("unknown"),
            "content": [{ "type": "text", "text": MISSING }], "isError": true,
        }))),
    })
}

/// What happens to one message.
#[derive(Default)]
struct Edit {
    is_removed: bool,
    removed_blocks: BTreeSet<usize>,
    first_blocks: Vec<Value>,
    /// Blocks of a new user message behind this one.
    user_blocks_behind: Vec<Value>,
    behind: Vec<Slot>,
}

fn rewrite(messages: &[Value], edits: Vec<Edit>) -> Rewrite {
    let mut patches = Vec::new();
    let mut slots = Vec::with_capacity(messages.len());
    for (index, edit) in edits.into_iter().enumerate() {
        let mut is_empty = edit.is_removed;
        let is_unsorted = has_words_before_results(&messages[index]);
        if !edit.removed_blocks.is_empty() || !edit.first_blocks.is_empty() || is_unsorted {
            let blocks = messages[index]["content"].as_array().into_iter().flatten().enumerate();
            let kept = blocks.filter(|(at, _)| !edit.removed_blocks.contains(at)).map(|(_, block)| block.clone());
            let mut content: Vec<Value> = edit.first_blocks.into_iter().chain(kept).collect();
            content.sort_by_key(|block| is_unsorted && !is_result(block));
            is_empty |= content.is_empty();
            if !is_empty {
                patches.push(Patch { message: index, path: Path::new().key("content"), value: content.into() });
            }
        }
        if !is_empty {
            slots.push(Slot::Keep(index));
        }
        slots.extend(edit.behind);
        if !edit.user_blocks_behind.is_empty() {
            slots.push(Slot::Insert(json!({ "role": "user", "content": edit.user_blocks_behind })));
        }
    }
    let is_as_before =
        slots.len() == messages.len() && slots.iter().enumerate().all(|(index, slot)| *slot == Slot::Keep(index));
    Rewrite { patches, slots: (!is_as_before).then_some(slots), ..Rewrite::default() }
}

/// Whether something stands before a result in a user's message. Anthropic takes none that do not stand first.
fn has_words_before_results(message: &Value) -> bool {
    let blocks = message["content"].as_array().filter(|_| message["role"] == "user");
    let is_sorted = blocks.is_none_or(|blocks| blocks.iter().is_sorted_by_key(|block| !is_result(block)));
    !is_sorted && !has_opaque(&message["content"])
}

fn is_result(block: &Value) -> bool {
    matches!(block["type"].as_str(), Some("tool_result" | "toolResult"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repaired(messages: &[Value]) -> (Vec<Value>, RepairStats) {
        let (rewrite, stats) = repair_tool_pairing(messages);
        assert_eq!(rewrite.is_empty(), !stats.repaired);
        let after = rewrite.apply(messages);
        assert!(repair_tool_pairing(&after).0.is_empty(), "repairing twice: {after:#?}");
        (after, stats)
    }

    fn user(text: &str) -> Value {
        json!({ "role": "user", "content": text })
    }

    fn answers(ids: &[&str]) -> Value {
        let blocks: Vec<Value> =
            ids.iter().map(|id| json!({ "type": "tool_result", "tool_use_id": id, "content": "ok" })).collect();
        json!({ "role": "user", "content": blocks })
    }

    /// A call and its result in each shape.
    fn pairs(id: &str) -> [(Value, Value); 3] {
        [
            (
                json!({ "role": "assistant", "content": [{ "type": "toolCall", "id": id, "name": "exec", "arguments": {} }] }),
                json!({ "role": "toolResult", "toolCallId": id, "content": [{ "type": "text", "text": "ok" }] }),
            ),
            (
                json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": id, "name": "exec", "input": {} }] }),
                answers(&[id]),
            ),
            (
                json!({ "role": "assistant", "content": null, "tool_calls": [
                    { "id": id, "type": "function", "function": { "name": "exec", "arguments": "{}" } }] }),
                json!({ "role": "tool", "tool_call_id": id, "content": "ok" }),
            ),
        ]
    }

    #[test]
    fn a_valid_transcript_stays() {
        for (call, result) in pairs("c") {
            let messages = [user("go"), call.clone(), result.clone(), call, result, user("next")];
            assert_eq!(repaired(&messages), (messages.to_vec(), RepairStats::default()));
        }
        assert_eq!(repaired(&[]).0, [] as [Value; 0]);
    }

    #[test]
    fn a_result_that_stands_further_behind_moves_behind_its_call() {
        let words = json!({ "role": "assistant", "content": [{ "type": "text", "text": "hm" }] });
        for between in [user("wait"), words] {
            for (call, result) in pairs("c") {
                let messages = [user("go"), call.clone(), between.clone(), result.clone(), user("next")];
                let (after, stats) = repaired(&messages);
                assert_eq!(after, [user("go"), call, result, between.clone(), user("next")]);
                assert_eq!(stats, RepairStats { repaired: true, ..RepairStats::default() });
            }
        }
    }

    #[test]
    fn a_missing_result_becomes_a_synthetic_error() {
        let synthetic = [
            json!({ "role": "toolResult", "toolCallId": "c", "toolName": "exec",
                "content": [{ "type": "text", "text": MISSING }], "isError": true }),
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c", "is_error": true,
                "content": [{ "type": "text", "text": MISSING }] }] }),
            json!({ "role": "tool", "tool_call_id": "c", "content": MISSING }),
        ];
        for ((call, _), synthetic) in pairs("c").into_iter().zip(synthetic) {
            let (after, stats) = repaired(&[user("go"), call.clone(), user("next")]);
            assert_eq!(after, [user("go"), call, synthetic, user("next")]);
            let expected = RepairStats { synthetic_results_inserted: 1, repaired: true, ..RepairStats::default() };
            assert_eq!(stats, expected);
        }
    }

    #[test]
    fn a_call_without_arguments_needs_a_result_too() {
        let call = json!({ "role": "assistant", "content": [{ "type": "tool-use", "id": "c" }] });
        assert_eq!(repaired(&[call]).1.synthetic_results_inserted, 1);
    }

    #[test]
    fn missing_blocks_go_to_the_front_of_the_answer_that_is_there() {
        let call = json!({ "role": "assistant", "content": [
            { "type": "tool_use", "id": "a", "name": "exec", "input": {} },
            { "type": "tool_use", "id": "b", "name": "exec", "input": {} }] });
        let (after, stats) = repaired(&[call, answers(&["b"])]);
        assert_eq!(after.len(), 2);
        let ids: Vec<&str> = after[1]["content"]
            .as_array()
            .unwrap()
            .iter()
            .map(|block| block["tool_use_id"].as_str().unwrap())
            .collect();
        assert_eq!((ids, stats.synthetic_results_inserted), (vec!["a", "b"], 1));
    }

    #[test]
    fn results_stand_first_in_their_message() {
        let [_, (call, mut result), _] = pairs("c");
        let blocks = result["content"].as_array_mut().unwrap();
        blocks.insert(0, json!({ "type": "text", "text": "hello" }));
        blocks.push(json!({ "type": "text", "text": "and bye" }));
        let (after, stats) = repaired(&[user("go"), call, result.clone()]);
        result["content"].as_array_mut().unwrap().swap(0, 1);
        assert_eq!(after[2], result);
        assert_eq!(stats, RepairStats { repaired: true, ..RepairStats::default() });
    }

    #[test]
    fn ids_may_be_numbers() {
        let call =
            json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": 1, "name": "exec", "input": {} }] });
        let result =
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": 1, "content": "ok" }] });
        let messages = [user("go"), call, result];
        assert_eq!(repaired(&messages), (messages.to_vec(), RepairStats::default()));
    }

    #[test]
    fn orphans_go() {
        for (_, result) in pairs("ghost") {
            let (after, stats) = repaired(&[user("hi"), result, user("x")]);
            assert_eq!((after, stats.orphan_results_dropped), (vec![user("hi"), user("x")], 1));
        }
        let mut mixed = answers(&["ghost"]);
        mixed["content"].as_array_mut().unwrap().push(json!({ "type": "text", "text": "mine" }));
        mixed["id"] = json!("kept");
        let (after, _) = repaired(&[mixed]);
        assert_eq!(after, [json!({ "role": "user", "content": [{ "type": "text", "text": "mine" }], "id": "kept" })]);
        assert_eq!(repaired(&[user("a"), json!({ "role": "toolResult", "content": "x" })]).1.orphan_results_dropped, 1);
    }

    #[test]
    fn second_results_go_and_repeated_ids_stay() {
        for (call, result) in pairs("c") {
            let mut second = result.clone();
            second["second"] = json!(true);
            let (after, stats) = repaired(&[call.clone(), result.clone(), second]);
            assert_eq!((after, stats.duplicate_results_dropped), (vec![call, result], 1));
        }
    }

    #[test]
    fn an_early_result_moves_behind_its_call() {
        for (call, result) in pairs("c") {
            let (after, stats) =
                repaired(&[user("go"), result.clone(), call.clone(), json!({ "role": "assistant", "content": "x" })]);
            assert_eq!(after, [user("go"), call, result, json!({ "role": "assistant", "content": "x" })]);
            assert_eq!(stats, RepairStats { repaired: true, ..RepairStats::default() });
        }
    }

    #[test]
    fn results_of_a_failed_answer_are_orphans_and_its_calls_stay() {
        for reason in ["error", "aborted"] {
            for (mut call, result) in pairs("c") {
                call["stopReason"] = json!(reason);
                let unanswered = [call.clone(), user("x")];
                assert_eq!(repaired(&unanswered), (unanswered.to_vec(), RepairStats::default()));
                for messages in [[call.clone(), result.clone(), user("x")], [result, call.clone(), user("x")]] {
                    let (after, stats) = repaired(&messages);
                    assert_eq!(after, unanswered);
                    let expected = RepairStats { orphan_results_dropped: 1, repaired: true, ..RepairStats::default() };
                    assert_eq!(stats, expected);
                }
            }
        }
    }

    #[test]
    fn a_call_tried_again_under_its_id_keeps_its_own_result() {
        for (call, result) in pairs("c") {
            let mut failed = call.clone();
            failed["stopReason"] = json!("aborted");
            let messages = [failed, call, result];
            assert_eq!(repaired(&messages), (messages.to_vec(), RepairStats::default()));
        }
    }

    #[test]
    fn many_calls_with_one_id_are_paired() {
        let [(call, result), ..] = pairs("c");
        let messages: Vec<Value> =
            std::iter::repeat_n(call, 20_000).chain(std::iter::repeat_n(result, 20_000)).collect();
        let (after, stats) = repaired(&messages);
        assert_eq!((after.len(), stats), (40_000, RepairStats { repaired: true, ..RepairStats::default() }));
    }
}
