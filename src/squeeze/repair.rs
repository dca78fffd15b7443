//! Calls without results, results without calls -> pairs that every provider accepts
//!
//! Ids repeat in long sessions, so a result belongs to the newest unanswered call with its id. Calls of an answer that
//! ended in an error or abort take no results: hosts drop such calls when they send the transcript.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};

use crate::transcript::{
    CallLink, MessageSource, Patch, Path, ResultLink, Rewrite, Shape, call_links, hides_links, is_result, part_of,
    result_links,
};

/// The text of an inserted result.
const MISSING_RESULT: &str = "[concertina] missing tool result — synthetic error inserted for API compatibility.";

/// The statistics of one `repairToolPairing()` call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RepairStats {
    /// Error results inserted for calls that had none.
    pub synthetic_results_inserted: usize,
    /// Results dropped because no call has their id, or only calls of failed answers.
    pub orphan_results_dropped: usize,
    /// Results dropped because their call was already answered.
    pub duplicate_results_dropped: usize,
    /// True if anything changed, moves included.
    pub repaired: bool,
    /// The index of the first message with an unreadable value that may be, or hold, a call or a result; nothing is
    /// changed then.
    pub unreadable: Option<usize>,
}

/// The position of a result: its message, and its block if the message only carries it.
type ResultPosition = (usize, Option<usize>);

struct Call<'a> {
    message: usize,
    link: CallLink<'a>,
    answered: bool,
    /// A result in the wrong position, which is moved behind the call.
    displaced: Option<ResultPosition>,
}

/// A result without a call of its own.
struct UnmatchedResult {
    position: ResultPosition,
    /// True if there are calls with its id and all of them are answered.
    is_duplicate: bool,
}

/// Calls with their results.
struct Pairs<'a> {
    calls: Vec<Call<'a>>,
    unmatched: Vec<UnmatchedResult>,
    /// The first user message that carries results of a message's calls, keyed by the last message before the results.
    carriers: HashMap<usize, usize>,
}

/// Pairs calls and results. Orphan and duplicate results are dropped, a misplaced result is moved behind its call, a
/// missing one is replaced by a synthetic error. Results in user messages are collected in one message per answer,
/// before its words; an item of the Responses API may stand anywhere behind its call. Calls of a message that ended in
/// an error or abort are left alone, and their results are orphans. If an unreadable value may be a call or a result,
/// nothing is changed.
pub fn repair_tool_pairing(messages: &[Value]) -> (Rewrite, RepairStats) {
    if let Some(unreadable) = messages.iter().position(hides_links) {
        return (Rewrite::default(), RepairStats { unreadable: Some(unreadable), ..RepairStats::default() });
    }
    let Pairs { calls, unmatched, carriers } = pair(messages);
    let duplicates = unmatched.iter().filter(|unmatched| unmatched.is_duplicate).count();
    let mut stats = RepairStats {
        orphan_results_dropped: unmatched.len() - duplicates,
        duplicate_results_dropped: duplicates,
        ..RepairStats::default()
    };
    let mut edits: Vec<MessageEdit> = messages.iter().map(|_| MessageEdit::default()).collect();
    let moved = calls.iter().filter_map(|call| call.displaced);
    for (message, block) in unmatched.iter().map(|unmatched| unmatched.position).chain(moved) {
        match block {
            None => edits[message].is_removed = true,
            Some(block) => {
                edits[message].removed_blocks.insert(block);
            }
        }
    }
    for (message, edit) in messages.iter().zip(&mut edits) {
        // A message of another role without its results would itself be an orphan.
        let has_removed_blocks = !takes_blocks(message) && !edit.removed_blocks.is_empty();
        edit.is_removed |= has_removed_blocks && edit.removed_blocks.len() == result_links(message).len();
    }
    let has_tool_messages =
        messages.iter().any(|message| result_links(message).iter().any(|result| result.block.is_none()));
    let last_parallel_call = last_parallel_call(messages);
    for call in &calls {
        let Some(result) = result_to_insert(messages, call, has_tool_messages, &mut stats) else { continue };
        let result_carrier = carriers.get(&call.message).copied().unwrap_or(call.message + 1);
        match result {
            Inserted::Block(block) if messages.get(result_carrier).is_some_and(takes_blocks) => {
                let is_from_later_message = call.displaced.is_some_and(|(from, _)| from > result_carrier);
                let edit = &mut edits[result_carrier];
                let results = if is_from_later_message { &mut edit.last_results } else { &mut edit.first_results };
                results.push(block);
            }
            Inserted::Block(block) => edits[call.message].user_blocks_after.push(block),
            Inserted::Message(source) => edits[last_parallel_call[call.message]].after.push(source),
        }
    }
    let rewrite = rewrite(messages, edits);
    stats.repaired = !rewrite.is_empty();
    (rewrite, stats)
}

/// Assigns results to the calls that did not fail.
fn pair(messages: &[Value]) -> Pairs<'_> {
    let mut calls: Vec<Call> = Vec::new();
    // The calls of each id that have no result yet; an id that was ever called keeps its entry.
    let mut unanswered: HashMap<&str, Vec<usize>> = HashMap::new();
    // Results that come before any call with their id.
    let mut results_before_calls: HashMap<&str, Vec<ResultPosition>> = HashMap::new();
    let mut unmatched = Vec::new();
    let mut carriers = HashMap::new();
    // The last message without results.
    let mut last_without_results = 0;
    for (message_index, message) in messages.iter().enumerate() {
        let links = if has_failed(message) { Vec::new() } else { call_links(message) };
        for link in links {
            unanswered.entry(link.id).or_default().push(calls.len());
            calls.push(Call { message: message_index, link, answered: false, displaced: None });
        }
        let results = result_links(message);
        if results.is_empty() {
            last_without_results = message_index;
        } else if takes_blocks(message) {
            carriers.entry(last_without_results).or_insert(message_index);
        }
        let is_separate = takes_blocks(message) && carriers.get(&last_without_results) != Some(&message_index);
        for ResultLink { id, block } in results {
            let position = (message_index, block);
            let is_in_order = |call: &Call| {
                call.link.shape == Shape::Responses || call.message == last_without_results && !is_separate
            };
            match unanswered.get_mut(id).map(Vec::pop) {
                Some(Some(call)) if is_in_order(&calls[call]) => calls[call].answered = true,
                Some(Some(call)) => calls[call].displaced = Some(position),
                Some(None) => unmatched.push(UnmatchedResult { position, is_duplicate: true }),
                None => results_before_calls.entry(id).or_default().push(position),
            }
        }
    }
    for (id, places) in results_before_calls {
        let is_duplicate = unanswered.contains_key(id);
        let mut unanswered_calls = unanswered.remove(id).unwrap_or_default().into_iter();
        for position in places {
            match unanswered_calls.next() {
                Some(call) => calls[call].displaced = Some(position),
                None => unmatched.push(UnmatchedResult { position, is_duplicate }),
            }
        }
    }
    unmatched.retain(|orphan| orphan.is_duplicate || !can_answer_non_call(&messages[orphan.position.0]));
    Pairs { calls, unmatched, carriers }
}

/// Returns true if an item may be the output of something other than a call, for instance of a program.
fn can_answer_non_call(message: &Value) -> bool {
    let kind = message["type"].as_str().filter(|kind| message["role"].is_null() && kind.ends_with("_output"));
    kind.is_some_and(|kind| !kind.ends_with("_call_output") && kind != "tool_search_output")
}

fn has_failed(message: &Value) -> bool {
    let reason = message["stopReason"].as_str().or(message["stop_reason"].as_str());
    matches!(reason, Some("error" | "aborted"))
}

/// Returns true if a message can take a `tool_result` block at its front.
fn takes_blocks(message: &Value) -> bool {
    message["role"] == "user" && message["content"].is_array()
}

/// Returns for each message the index of the last parallel call in the Responses API; the message's own index
/// otherwise.
fn last_parallel_call(messages: &[Value]) -> Vec<usize> {
    let is_item = |index: usize| call_links(&messages[index]).iter().any(|call| call.shape == Shape::Responses);
    let mut last: Vec<usize> = (0..messages.len()).collect();
    for index in (1..messages.len()).rev() {
        if is_item(index) && is_item(index - 1) {
            last[index - 1] = last[index];
        }
    }
    last
}

enum Inserted {
    /// A block for the user message that follows the call.
    Block(Value),
    /// A message to insert behind the call's message.
    Message(MessageSource),
}

/// Returns the moved or synthetic result of a call that needs one.
fn result_to_insert(
    messages: &[Value],
    call: &Call,
    has_tool_messages: bool,
    stats: &mut RepairStats,
) -> Option<Inserted> {
    if let Some((message, block)) = call.displaced {
        return Some(match block {
            None => Inserted::Message(MessageSource::Keep(message)),
            Some(block) => Inserted::Block(part_of(message, &Path::new().key("content").index(block))),
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
            "type": "tool_result", "tool_use_id": id, "is_error": true, "content": [{ "type": "text", "text": MISSING_RESULT }],
        })),
        Shape::OpenAi => Inserted::Message(MessageSource::Insert(
            json!({ "role": "tool", "tool_call_id": id, "content": MISSING_RESULT }),
        )),
        Shape::Responses => {
            Inserted::Message(MessageSource::Insert(missing_output(messages[call.message]["type"].as_str(), id)))
        }
        Shape::Anthropic | Shape::OpenClaw => Inserted::Message(MessageSource::Insert(json!({
            "role": "toolResult", "toolCallId": id, "toolName": name.unwrap_or("unknown"),
            "content": [{ "type": "text", "text": MISSING_RESULT }], "isError": true,
        }))),
    })
}

/// Returns a synthetic output in the form of the call's kind. Kinds without a textual output get a
/// `function_call_output`, as Codex does for its shell.
fn missing_output(kind: Option<&str>, id: &str) -> Value {
    match kind {
        Some("custom_tool_call") => {
            json!({ "type": "custom_tool_call_output", "call_id": id, "output": MISSING_RESULT })
        }
        Some("shell_call") => json!({ "type": "shell_call_output", "call_id": id,
            "output": [{ "stdout": "", "stderr": MISSING_RESULT, "outcome": { "type": "exit", "exit_code": 1 } }] }),
        Some("apply_patch_call") => {
            json!({ "type": "apply_patch_call_output", "call_id": id, "status": "failed", "output": MISSING_RESULT })
        }
        Some("tool_search_call") => json!({ "type": "tool_search_output", "call_id": id, "status": "incomplete",
            "execution": "client", "tools": [] }),
        _ => json!({ "type": "function_call_output", "call_id": id, "output": MISSING_RESULT }),
    }
}

/// The changes to one message.
#[derive(Default)]
struct MessageEdit {
    is_removed: bool,
    removed_blocks: BTreeSet<usize>,
    /// Results for the front of a user message.
    first_results: Vec<Value>,
    /// Results to insert behind the message's own results and before its words.
    last_results: Vec<Value>,
    /// Blocks of a new user message behind this one.
    user_blocks_after: Vec<Value>,
    after: Vec<MessageSource>,
}

fn rewrite(messages: &[Value], edits: Vec<MessageEdit>) -> Rewrite {
    let path = Path::new().key("content");
    let mut patches = Vec::new();
    let mut sequence = Vec::with_capacity(messages.len());
    for (index, edit) in edits.into_iter().enumerate() {
        let mut is_empty = edit.is_removed;
        let is_unsorted = has_words_before_results(&messages[index]);
        let has_removed_blocks = !edit.removed_blocks.is_empty();
        if has_removed_blocks || is_unsorted || !edit.first_results.is_empty() || !edit.last_results.is_empty() {
            let results = |blocks: Vec<Value>| blocks.into_iter().map(|block| (true, block));
            let blocks = messages[index]["content"].as_array().into_iter().flatten().enumerate();
            let kept = blocks.filter(|(at, _)| !edit.removed_blocks.contains(at));
            let kept = kept.map(|(at, block)| (is_result(block), part_of(index, &path.clone().index(at))));
            let must_sort = is_unsorted || !edit.last_results.is_empty();
            let kept = results(edit.first_results).chain(kept);
            let mut content: Vec<(bool, Value)> = kept.chain(results(edit.last_results)).collect();
            content.sort_by_key(|(is_result, _)| must_sort && !is_result);
            is_empty |= content.is_empty();
            if !is_empty {
                let value = content.into_iter().map(|(_, block)| block).collect();
                patches.push(Patch { message: index, path: path.clone(), value });
            }
        }
        if !is_empty {
            sequence.push(MessageSource::Keep(index));
        }
        sequence.extend(edit.after);
        if !edit.user_blocks_after.is_empty() {
            sequence.push(MessageSource::Insert(json!({ "role": "user", "content": edit.user_blocks_after })));
        }
    }
    let is_as_before = sequence.len() == messages.len()
        && sequence.iter().enumerate().all(|(index, source)| *source == MessageSource::Keep(index));
    Rewrite { patches, sequence: (!is_as_before).then_some(sequence), ..Rewrite::default() }
}

/// Returns true if anything precedes a result in a user message, which Anthropic refuses.
fn has_words_before_results(message: &Value) -> bool {
    let blocks = message["content"].as_array().filter(|_| message["role"] == "user");
    blocks.is_some_and(|blocks| !blocks.iter().is_sorted_by_key(|block| !is_result(block)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use concertina_cases::{check, json_lines};

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

    /// Builds an assistant message with calls in Anthropic's shape.
    fn asks(ids: &[&str]) -> Value {
        let calls = ids.iter().map(|id| json!({ "type": "tool_use", "id": id, "name": "exec", "input": {} }));
        json!({ "role": "assistant", "content": calls.collect::<Vec<_>>() })
    }

    #[test]
    fn calls_and_results_pair_up() {
        check!("repair", |input, _| {
            let (after, stats) = repaired(&json_lines(input));
            let after: String = after.iter().map(|message| format!("{message}\n")).collect();
            let RepairStats {
                synthetic_results_inserted: inserted,
                orphan_results_dropped: orphans,
                duplicate_results_dropped: duplicates,
                repaired,
                unreadable,
            } = stats;
            let unreadable = unreadable.map_or_else(String::new, |at| format!(", message {at} unreadable"));
            let changed = if repaired { "repaired" } else { "unchanged" };
            format!("{after}{changed}: {inserted} inserted, {orphans} orphans, {duplicates} duplicates{unreadable}")
        });
    }

    #[test]
    fn a_part_that_cannot_cross_moves_and_stays_as_it_is() {
        let opaque = json!({ "\0opaque": 1 });
        let mut late = answers(&["a", "ghost"]);
        late["content"][0]["content"] = opaque.clone();
        late["content"].as_array_mut().unwrap().push(json!({ "type": "text", "text": "hi", "when": opaque }));
        let messages = [asks(&["a"]), user("wait"), late];
        let (rewrite, stats) = repair_tool_pairing(&messages);
        assert_eq!((stats.repaired, stats.orphan_results_dropped), (true, 1));
        let written = rewrite.patches.iter().map(|patch| patch.value.to_string()).collect::<String>();
        assert!(written.contains("part") && !written.contains("opaque"), "{written}");
    }

    /// Neighbours: seven kinds of call by nine kinds of output; each pair at once, with words between, early, twice,
    /// alone, and with an output that no call asked for.
    #[test]
    fn every_kind_of_call_may_be_answered_by_every_kind_of_output() {
        let calls = ["function", "custom_tool", "local_shell", "shell", "apply_patch", "computer", "tool_search"];
        let outputs = calls
            .map(|kind| format!("{kind}_call_output"))
            .into_iter()
            .chain(["tool_search_output", "some_new_call_output"].map(str::to_owned));
        let words =
            json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "so" }] });
        for output in outputs {
            for call in calls.map(|kind| format!("{kind}_call")) {
                let asked = |id: &str| {
                    json!({ "type": call, "id": format!("item_{id}"), "call_id": id, "name": "x",
                    "arguments": "{}", "action": { "type": "exec", "command": ["ls"] } })
                };
                let answer = |id: &str| json!({ "type": output, "call_id": id, "output": "ok" });
                let same = RepairStats::default();
                let repaired_once = RepairStats { repaired: true, ..same };
                for (messages, expected, stats) in [
                    (vec![asked("a"), answer("a")], vec![asked("a"), answer("a")], same),
                    (
                        vec![asked("a"), asked("b"), words.clone(), answer("b"), answer("a")],
                        vec![asked("a"), asked("b"), words.clone(), answer("b"), answer("a")],
                        same,
                    ),
                    (vec![answer("a"), asked("a")], vec![asked("a"), answer("a")], repaired_once),
                    (
                        vec![asked("a"), answer("a"), answer("a")],
                        vec![asked("a"), answer("a")],
                        RepairStats { duplicate_results_dropped: 1, ..repaired_once },
                    ),
                    (
                        vec![asked("a"), answer("a"), answer("ghost"), words.clone()],
                        vec![asked("a"), answer("a"), words.clone()],
                        RepairStats { orphan_results_dropped: 1, ..repaired_once },
                    ),
                ] {
                    assert_eq!(repaired(&messages), (expected, stats), "{call} {output}");
                }
                let (after, stats) = repaired(&[asked("a"), words.clone()]);
                assert_eq!((after.len(), stats.synthetic_results_inserted), (3, 1), "{call}");
                assert_eq!(after[1]["call_id"], "a");
            }
        }
    }

    #[test]
    fn many_calls_with_one_id_are_paired() {
        let call = json!({ "role": "assistant", "content": [
            { "type": "toolCall", "id": "c", "name": "exec", "arguments": {} }] });
        let result = json!({ "role": "toolResult", "toolCallId": "c", "content": [{ "type": "text", "text": "ok" }] });
        let messages: Vec<Value> =
            std::iter::repeat_n(call, 20_000).chain(std::iter::repeat_n(result, 20_000)).collect();
        let (after, stats) = repaired(&messages);
        assert_eq!((after.len(), stats), (40_000, RepairStats { repaired: true, ..RepairStats::default() }));
    }
}
