//! Properties of `squeeze()` for any transcript: generated ones, hostile ones, and all real sessions, in the four
//! shapes.
//!
//! `cargo test --test squeeze -- --nocapture` prints the savings of the defaults on the real sessions.

use std::collections::{BTreeMap, HashMap, HashSet};

use concertina::config::{Compat, Config, Encoding};
use concertina::history::message_tokens;
use concertina::squeeze::{repair_tool_pairing, squeeze};
use concertina::transcript::{BlockKind, MessageSource, Path, Rewrite, Role, Transcript, call_links, result_links};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::corpus;

fn tokens(messages: &[Value]) -> usize {
    message_tokens(messages, None, Encoding::O200kBase)
}

// --- the properties --------------------------------------------------------------------------------------------------

/// Checks all properties of one transcript.
fn check(messages: &[Value], config: &Config) {
    let (rewrite, stats) = squeeze(messages, config);
    let after = rewrite.apply(messages);
    assert_eq!(squeeze(messages, config), (rewrite.clone(), stats), "deterministic");
    assert_eq!(tokens(messages) - tokens(&after), stats.tokens_freed, "never longer, and exactly counted");
    let (again, stats_again) = squeeze(&after, config);
    assert!(again.is_empty(), "idempotent: {again:?}");
    assert_eq!(stats_again.tokens_freed, 0);
    assert_eq!(links(messages), links(&after), "calls and results pair as before");
    only_evictable_parts_change(messages, &after, &rewrite);
    assert!(messages.is_empty() || !after.is_empty());
    assert!(user_pairs(&after) <= user_pairs(messages), "no new neighbours of two user messages");
    assert_eq!(
        stats.blocks_evicted,
        stats.images_evicted + stats.tool_results_evicted + stats.tool_calls_evicted + stats.large_results_truncated
    );
}

fn links(messages: &[Value]) -> Vec<String> {
    messages
        .iter()
        .flat_map(|message| {
            let calls = call_links(message).into_iter().map(|call| format!("call {}", call.id));
            let results = result_links(message).into_iter().map(|result| format!("result {}", result.id));
            calls.chain(results).collect::<Vec<_>>()
        })
        .collect()
}

fn user_pairs(messages: &[Value]) -> usize {
    messages.windows(2).filter(|pair| pair.iter().all(|message| message["role"] == "user")).count()
}

fn kept(messages: &[Value], rewrite: &Rewrite) -> Vec<usize> {
    match &rewrite.sequence {
        None => (0..messages.len()).collect(),
        Some(slots) => slots
            .iter()
            .map(|slot| match slot {
                MessageSource::Keep(index) => *index,
                MessageSource::Insert(message) => panic!("squeeze inserted {message}"),
            })
            .collect(),
    }
}

/// Checks that patches change only results, arguments and images: without those, every kept message has the same bytes.
fn only_evictable_parts_change(messages: &[Value], after: &[Value], rewrite: &Rewrite) {
    let transcript = Transcript::read(messages);
    for patch in &rewrite.patches {
        let message = &transcript.messages[patch.message];
        let block = message.blocks.iter().find(|block| block.path == patch.path).expect("a patch belongs to a block");
        assert!(
            matches!(
                (&block.kind, block.result),
                (BlockKind::Text(_), Some(_)) | (BlockKind::Call(_), None) | (BlockKind::Image(_), _)
            ),
            "{block:?}"
        );
        assert_ne!(message.role, Role::System);
    }
    let kept = kept(messages, rewrite);
    assert_eq!(kept.len(), after.len());
    for (&index, after) in kept.iter().zip(after) {
        let patches: Vec<_> = rewrite.patches.iter().filter(|patch| patch.message == index).cloned().collect();
        let blanks = Rewrite {
            patches: patches
                .into_iter()
                .map(|patch| concertina::transcript::Patch { message: 0, value: Value::Null, ..patch })
                .collect(),
            ..Rewrite::default()
        };
        let blank = |message: &Value| blanks.apply(std::slice::from_ref(message))[0].to_string();
        assert_eq!(blank(&messages[index]), blank(after));
    }
}

/// Checks that what a model was shown in place of a block at one call is shown at every later call.
fn check_stable(messages: &[Value], config: &Config, ends: impl Iterator<Item = usize>) {
    let mut shown: HashMap<(usize, Path), Value> = HashMap::new();
    let mut dropped: HashSet<usize> = HashSet::new();
    for end in ends {
        let (rewrite, _) = squeeze(&messages[..end], config);
        let mut now: HashMap<(usize, Path), Value> =
            rewrite.patches.iter().map(|patch| ((patch.message, patch.path.clone()), patch.value.clone())).collect();
        let kept: HashSet<usize> = kept(&messages[..end], &rewrite).into_iter().collect();
        for (place, value) in &shown {
            assert_eq!(now.get(place), Some(value), "changed at {end}: {place:?}");
        }
        assert!(dropped.iter().all(|index| !kept.contains(index)), "came back at {end}");
        shown.extend(now.drain());
        dropped.extend((0..end).filter(|index| !kept.contains(index)));
    }
}

/// Returns the positions where a model call can happen: after a user message or a tool result.
fn call_ends(messages: &[Value]) -> impl Iterator<Item = usize> {
    (1..=messages.len())
        .filter(|&end| matches!(Transcript::read(&messages[end - 1..end]).messages[0].role, Role::User | Role::Tool))
}

// --- shapes ----------------------------------------------------------------------------------------------------------

/// Converts an OpenClaw transcript to Anthropic's API.
fn to_anthropic(messages: &[Value]) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    for message in messages {
        let parts = |message: &Value| match &message["content"] {
            Value::Array(parts) => parts.iter().map(anthropic_part).collect(),
            Value::String(text) => vec![json!({ "type": "text", "text": text })],
            _ => Vec::new(),
        };
        if message["role"] != "toolResult" {
            let mut message = message.clone();
            if message["content"].is_array() {
                message["content"] = parts(&message).into();
            }
            out.push(message);
            continue;
        }
        let block = json!({ "type": "tool_result", "tool_use_id": message["toolCallId"], "is_error": message["isError"],
            "content": parts(message) });
        match out.last_mut().filter(|last| !result_links(last).is_empty()) {
            Some(last) => last["content"].as_array_mut().expect("results stand in an array").push(block),
            None => out.push(json!({ "role": "user", "content": [block] })),
        }
    }
    out
}

fn anthropic_part(part: &Value) -> Value {
    match part["type"].as_str() {
        Some("toolCall") => {
            json!({ "type": "tool_use", "id": part["id"], "name": part["name"], "input": part["arguments"] })
        }
        Some("image") => json!({ "type": "image",
            "source": { "type": "base64", "media_type": part["mimeType"], "data": part["data"] } }),
        _ => part.clone(),
    }
}

/// Converts an OpenClaw transcript to OpenAI's chat API.
fn to_openai(messages: &[Value]) -> Vec<Value> {
    messages
        .iter()
        .map(|message| {
            let mut message = message.clone();
            let mut calls = Vec::new();
            if let Some(parts) = message["content"].as_array_mut() {
                parts.retain(|part| {
                    if part["type"] == "toolCall" {
                        calls.push(json!({ "id": part["id"], "type": "function",
                            "function": { "name": part["name"], "arguments": part["arguments"].to_string() } }));
                    }
                    part["type"] != "toolCall"
                });
                for part in parts.iter_mut().filter(|part| part["type"] == "image") {
                    let url = format!(
                        "data:{};base64,{}",
                        part["mimeType"].as_str().unwrap(),
                        part["data"].as_str().unwrap()
                    );
                    *part = json!({ "type": "image_url", "image_url": { "url": url } });
                }
            }
            if !calls.is_empty() {
                message["tool_calls"] = calls.into();
            }
            if message["role"] == "toolResult" {
                message["role"] = json!("tool");
                let id = message.as_object_mut().unwrap().remove("toolCallId").unwrap();
                message["tool_call_id"] = id;
            }
            message
        })
        .collect()
}

/// Converts an OpenClaw transcript to items of OpenAI's Responses API.
fn to_responses(messages: &[Value]) -> Vec<Value> {
    let text = |kind: &str, text: &Value| json!({ "type": kind, "text": text });
    let output_part = |part: &Value| match part["type"].as_str() {
        Some("text") => text("input_text", &part["text"]),
        Some("image") => {
            let url = format!("data:{};base64,{}", part["mimeType"].as_str().unwrap(), part["data"].as_str().unwrap());
            json!({ "type": "input_image", "image_url": url })
        }
        _ => part.clone(),
    };
    let answer_item = |part: &Value| match part["type"].as_str() {
        Some("thinking") => {
            json!({ "type": "reasoning", "id": "rs", "summary": [text("summary_text", &part["thinking"])] })
        }
        Some("toolCall") => json!({ "type": "function_call", "id": "fc", "call_id": part["id"], "name": part["name"],
            "arguments": part["arguments"].to_string() }),
        _ => json!({ "type": "message", "role": "assistant", "content": [text("output_text", &part["text"])] }),
    };
    let items = |message: &Value| match (message["role"].as_str(), message["content"].as_array()) {
        (Some("assistant"), Some(parts)) => parts.iter().map(answer_item).collect(),
        (Some("toolResult"), parts) => {
            let output = parts.map_or(message["content"].clone(), |parts| parts.iter().map(output_part).collect());
            vec![json!({ "type": "function_call_output", "call_id": message["toolCallId"], "output": output })]
        }
        (_, Some(parts)) => {
            let mut message = message.clone();
            message["content"] = parts.iter().map(output_part).collect();
            vec![message]
        }
        _ => vec![message.clone()],
    };
    messages.iter().flat_map(items).collect()
}

// --- generated transcripts -------------------------------------------------------------------------------------------

fn a_text() -> impl Strategy<Value = String> {
    let lines = prop::sample::select(vec![
        "a line of output with words\n",
        "error: it failed\r\n",
        "世界 こんにちは 😀\n",
        "\n",
        "x",
        "\0\u{1}\t",
        "[tool result squeezed — was 9,000 chars, ~900 tokens]\nPreview: ",
        "[large result truncated — was 60,000 chars]\nPreview: ",
        "[tool result: 1 chars, ~1 tokens — x]\nPreview: ",
        "<<4,210 chars elided by concertina, never reproduce this note; began: x…>>",
        "HEARTBEAT_OK",
        "{\"a\": [1, 2.50, null]}",
    ]);
    (prop::collection::vec(lines, 0..4), prop::sample::select(vec![1, 1, 3, 40, 400]))
        .prop_map(|(lines, times)| lines.concat().repeat(times))
}

fn an_image() -> Value {
    json!({ "type": "image", "mimeType": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAA+gAAAPoCAIAAADCwUOzAAAAAA" })
}

fn some_arguments() -> impl Strategy<Value = Value> {
    let path = prop::sample::select(vec!["a.rs", "b/c.txt"]);
    (path, a_text(), a_text(), any::<bool>()).prop_map(|(path, body, other, nested)| match nested {
        true => json!({ "path": path, "edits": [{ "old": body, "new": other, "n": 1.5 }, null] }),
        false => json!({ "path": path, "content": body, "count": 3 }),
    })
}

/// Generates messages that belong together, in OpenClaw's shape. Ids are assigned later.
fn a_step() -> impl Strategy<Value = Vec<Value>> {
    let text = |text: String| json!({ "type": "text", "text": text });
    let heartbeat = |answer: &str| {
        vec![
            json!({ "role": "user", "content": "Read HEARTBEAT.md if it exists. If nothing needs attention, reply HEARTBEAT_OK." }),
            json!({ "role": "assistant", "content": [{ "type": "text", "text": answer }] }),
        ]
    };
    let a_call = (
        prop::sample::select(vec!["exec", "read", "write", "edit"]),
        some_arguments(),
        prop::collection::vec(prop_oneof![3 => a_text().prop_map(text), 1 => Just(an_image())], 0..4),
        any::<(bool, bool)>(),
    )
        .prop_map(move |(name, arguments, blocks, (is_error, as_string))| {
            let content = match blocks.first() {
                Some(block) if as_string && block["text"].is_string() => block["text"].clone(),
                _ => blocks.into(),
            };
            vec![
                json!({ "role": "assistant", "content": [
                    { "type": "thinking", "thinking": "hm", "thinkingSignature": "sig==" },
                    { "type": "toolCall", "id": "", "name": name, "arguments": arguments, "extra": 1 }], "usage": { "x": 0.10 } }),
                json!({ "role": "toolResult", "toolCallId": "", "toolName": name, "content": content, "isError": is_error,
                    "details": { "y": [1] } }),
            ]
        });
    prop_oneof![
        3 => a_text().prop_map(|text| vec![json!({ "role": "user", "content": text, "timestamp": 5 })]),
        1 => Just(vec![json!({ "role": "user", "content": [{ "type": "text", "text": "look" }, an_image()] })]),
        2 => a_text().prop_map(move |body| vec![json!({ "role": "assistant", "content": [text(body)] })]),
        8 => a_call,
        1 => Just(heartbeat("HEARTBEAT_OK")),
        1 => Just(heartbeat("the disk is full")),
        1 => Just(vec![json!({ "role": "custom", "customType": "openclaw.runtime-context", "content": "c" })]),
        1 => Just(vec![json!({ "role": "assistant", "content": null }), json!({ "role": "user", "content": [] })]),
    ]
}

fn a_transcript() -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(a_step(), 0..25).prop_map(|steps| {
        let mut messages = Vec::new();
        for (step, mut added) in steps.into_iter().enumerate() {
            for message in &mut added {
                if message["role"] == "toolResult" {
                    message["toolCallId"] = json!(format!("call_{step}"));
                }
                for part in message["content"].as_array_mut().into_iter().flatten() {
                    if part["type"] == "toolCall" {
                        part["id"] = json!(format!("call_{step}"));
                    }
                }
            }
            messages.extend(added);
        }
        messages
    })
}

fn a_config() -> impl Strategy<Value = Config> {
    let preview = || prop::sample::select(vec![0, 1, 7, 200, 3000]);
    let sizes = (1u64..4, 1u64..6, 1u64..3, preview(), preview());
    (
        sizes,
        prop::sample::select(vec![50, 200]),
        prop::sample::select(vec![0, 500, 4000, 50_000]),
        any::<(bool, bool)>(),
    )
        .prop_map(|((turns, calls, images, keep, keep_large), least, large, (heartbeats, compat))| Config {
            stale_turns: turns,
            stale_calls: calls,
            image_age_turns: images,
            keep_preview_chars: keep,
            large_result_preview_chars: keep_large,
            min_tokens_to_squeeze: least,
            large_result_threshold: large,
            prune_heartbeats: heartbeats,
            compat: if compat { Compat::ClawSqueezer } else { Compat::None },
            ..Config::default()
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_transcripts_keep_every_property(messages in a_transcript(), config in a_config()) {
        for messages in [messages.clone(), to_anthropic(&messages), to_openai(&messages), to_responses(&messages)] {
            check(&messages, &config);
            check_stable(&messages, &config, call_ends(&messages));
        }
    }

    #[test]
    fn repair_makes_any_order_of_calls_and_results_pair(
        messages in a_transcript(), order in prop::collection::vec(any::<prop::sample::Index>(), 0..40)
    ) {
        for shape in [messages.clone(), to_anthropic(&messages), to_openai(&messages), to_responses(&messages)] {
            prop_assert!(repair_tool_pairing(&shape).0.is_empty(), "a valid transcript stays");
            if shape.is_empty() {
                continue;
            }
            let shuffled: Vec<Value> = order.iter().map(|index| index.get(&shape).clone()).collect();
            let after = repair_tool_pairing(&shuffled).0.apply(&shuffled);
            prop_assert!(repair_tool_pairing(&after).0.is_empty());
            let (mut open, mut answered) = (HashMap::<String, usize>::new(), 0);
            for message in &after {
                for call in call_links(message) {
                    *open.entry(call.id.to_owned()).or_default() += 1;
                }
                for result in result_links(message) {
                    let left = open.get_mut(result.id).filter(|left| **left > 0);
                    prop_assert!(left.is_some(), "{} answers no call before it", result.id);
                    *left.unwrap() -= 1;
                    answered += 1;
                }
            }
            prop_assert!(open.values().all(|&left| left == 0), "{answered} answered, open: {open:?}");
        }
    }
}

// --- hostile transcripts ---------------------------------------------------------------------------------------------

#[test]
fn hostile_contents_keep_every_property() {
    let nested = |depth: usize, inner: &str| (0..depth).fold(json!(inner), |inner, _| json!({ "a": [inner] }));
    let body = "fn main() {}\r\n".repeat(500);
    let texts = [
        "a".repeat(1_000_000),
        " ".repeat(1_000_000),
        "\n".repeat(40_000),
        "\r\n".repeat(40_000),
        "\0".repeat(100_000),
        "error\n".repeat(100_000),
        "error ".repeat(100_000),
        "世界😀".repeat(50_000),
        format!("{{\"data\": \"{}\"}}", "word and number 12, ".repeat(500_000)),
    ];
    for text in texts {
        let messages = [
            json!({ "role": "user", "content": "go" }),
            json!({ "role": "assistant", "content": [
                { "type": "toolCall", "id": "c", "name": "write", "arguments": { "path": "a", "content": text } }] }),
            json!({ "role": "toolResult", "toolCallId": "c", "content": [{ "type": "text", "text": text }] }),
            json!({ "role": "user", "content": "1" }),
            json!({ "role": "user", "content": "2" }),
        ];
        for large_result_threshold in [0, 50_000] {
            check(&messages, &Config { stale_turns: 1, large_result_threshold, ..Config::default() });
        }
    }
    let mut messages = vec![json!({ "role": "user", "content": "go" })];
    for arguments in
        [json!(null), json!(""), json!("{"), json!([]), nested(50, &body), json!(nested(50, &body).to_string())]
    {
        messages.push(json!({ "role": "assistant", "content": [
            { "type": "toolCall", "id": "c", "name": "exec", "arguments": arguments }] }));
        for content in [json!(null), json!(""), json!([]), json!([{}]), json!([null]), json!({ "type": "text" })] {
            messages.push(json!({ "role": "toolResult", "toolCallId": "c", "content": content }));
        }
    }
    messages.extend(["1", "2"].map(|text| json!({ "role": "user", "content": text })));
    let config = Config { stale_turns: 1, ..Config::default() };
    check(&messages, &config);
    assert_eq!(squeeze(&messages, &config).1.tool_calls_evicted, 2, "100 levels deep, as value and as string");
}

#[test]
fn forty_thousand_messages_with_nothing_stale_stay() {
    let messages: Vec<Value> = (0..10_000)
        .flat_map(|turn| {
            [
                json!({ "role": "user", "content": "heartbeat" }),
                json!({ "role": "assistant", "content": "HEARTBEAT_OK" }),
                json!({ "role": "assistant", "content": [
                    { "type": "toolCall", "id": "same", "name": "read", "arguments": { "path": "a", "turn": turn } }] }),
                json!({ "role": "toolResult", "toolCallId": "same", "content": "ok" }),
            ]
        })
        .collect();
    let (rewrite, stats) = squeeze(&messages, &Config::default());
    assert_eq!((rewrite.is_empty(), stats.messages_processed), (true, 40_000));
    assert!(repair_tool_pairing(&messages).0.is_empty());
}

// --- real sessions ---------------------------------------------------------------------------------------------------

#[test]
fn real_sessions_keep_every_property() {
    let config = Config::default();
    let mut classes: BTreeMap<String, [usize; 5]> = BTreeMap::new();
    for input in corpus::inputs("sessions").iter().filter(|input| input.name.ends_with(".messages.json")) {
        let messages: Vec<Value> = serde_json::from_slice(&input.bytes).expect("a session is an array of messages");
        for shape in [messages.clone(), to_anthropic(&messages), to_openai(&messages), to_responses(&messages)] {
            check(&shape, &config);
        }
        let ends: Vec<usize> = call_ends(&messages).collect();
        let sampled: Vec<usize> = ends.iter().copied().step_by(ends.len().div_ceil(12).max(1)).collect();
        check_stable(&messages, &config, sampled.iter().copied());

        let class: String = input.name.rsplit('/').next().unwrap().split('-').take(2).collect::<Vec<_>>().join("-");
        let sums = classes.entry(class).or_default();
        let squeezed = |messages: &[Value]| tokens(messages) - squeeze(messages, &config).1.tokens_freed;
        let sum = |count: &dyn Fn(&[Value]) -> usize| sampled.iter().map(|&end| count(&messages[..end])).sum::<usize>();
        let added = [1, tokens(&messages), squeezed(&messages), sum(&tokens), sum(&squeezed)];
        sums.iter_mut().zip(added).for_each(|(sum, more)| *sum += more);
    }
    println!("sessions, tokens of the last context before and after, mean over twelve points of the session");
    for (class, [sessions, before, after, all_before, all_after]) in classes {
        let saved = |before: usize, after: usize| 100.0 * (1.0 - after as f64 / before.max(1) as f64);
        println!(
            "{class:24} {sessions:3} {before:9} -> {after:9} (-{:.1} %), -{:.1} %",
            saved(before, after),
            saved(all_before, all_after)
        );
    }
}
