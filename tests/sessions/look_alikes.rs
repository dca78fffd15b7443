//! Tests with content that looks like ours but belongs to a host, a tool or a person: arguments like rows of the
//! ledger, texts like placeholders, last lines like notes, and images whose blocks contain more than the image.
//!
//! Each test generates variants of a known fault, in the four shapes of messages: OpenClaw's, Anthropic's, and OpenAI's
//! two.

use concertina::assemble::{AssembleOptions, Engine, Fetch, FetchedBlock};
use concertina::config::{Config, Schedule, Secrets};
use concertina::store::Scope;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::engines::{self, directory, scope};

pub(crate) const SHAPES: [&str; 4] = ["openclaw", "anthropic", "openai", "responses"];

fn open(dir: &TempDir, schedule: Schedule) -> Engine {
    let config = Config {
        schedule,
        secrets: Secrets::Store,
        min_tokens_to_squeeze: 50,
        min_tokens_to_fold: 50,
        keep_names: 0,
        ..Config::default()
    };
    engines::open(dir, config)
}

pub(crate) fn noise(lines: usize, seed: usize) -> String {
    (0..lines).map(|line| format!("{line} unit_{seed} took {} ms\n", (line * 7919 + seed * 104_729) % 977)).collect()
}

/// Returns a call and its result in a shape. In OpenClaw's shape both have the time.
pub(crate) fn exchange(shape: &str, id: &str, name: &str, arguments: &Value, output: &Value, time: i64) -> Vec<Value> {
    match shape {
        "openclaw" => vec![
            json!({ "role": "assistant", "timestamp": time,
                "content": [{ "type": "toolCall", "id": id, "name": name, "arguments": arguments }] }),
            json!({ "role": "toolResult", "toolCallId": id, "toolName": name, "isError": false, "timestamp": time,
                "content": output }),
        ],
        "anthropic" => vec![
            json!({ "role": "assistant",
                "content": [{ "type": "tool_use", "id": id, "name": name, "input": arguments }] }),
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": output }] }),
        ],
        "openai" => vec![
            json!({ "role": "assistant", "content": null, "tool_calls": [
                { "id": id, "type": "function",
                    "function": { "name": name, "arguments": arguments.to_string() } }] }),
            json!({ "role": "tool", "tool_call_id": id, "content": output }),
        ],
        _ => vec![
            json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments.to_string() }),
            json!({ "type": "function_call_output", "call_id": id, "output": output }),
        ],
    }
}

pub(crate) fn user(words: &str) -> Value {
    json!({ "role": "user", "content": words })
}

pub(crate) fn talk(turns: usize) -> Vec<Value> {
    let turn = |turn| [user(&format!("and then {turn}?")), json!({ "role": "assistant", "content": "done" })];
    (0..turns).flat_map(turn).collect()
}

fn shown(engine: &Engine, messages: &[Value], now: i64) -> (Vec<Value>, bool) {
    let reply = engine.assemble(&scope(), messages, &AssembleOptions::default(), now);
    assert_eq!(reply.report.warning, None);
    (reply.rewrite.apply(messages), reply.report.epoch.is_some())
}

fn unfolded(engine: &Engine, by: Option<&Scope>, messages: &[Value]) -> Vec<Value> {
    engine.unfold(by, "main", messages, 9).unwrap().rewrite.apply(messages)
}

/// Returns the arguments of the first call.
fn arguments_in(shape: &str, messages: &[Value]) -> Value {
    let written = |value: &Value| serde_json::from_str(value.as_str().unwrap()).expect("arguments are JSON");
    match shape {
        "openclaw" => messages[1]["content"][0]["arguments"].clone(),
        "anthropic" => messages[1]["content"][0]["input"].clone(),
        "openai" => written(&messages[1]["tool_calls"][0]["function"]["arguments"]),
        _ => written(&messages[1]["arguments"]),
    }
}

/// Returns true if a value equals another one except for strings, which may be shorter.
fn is_formed_as(value: &Value, of: &Value) -> bool {
    match (value, of) {
        (Value::String(_), Value::String(_)) => true,
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_formed_as(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.keys().eq(other.keys()) && one.iter().all(|(key, value)| is_formed_as(value, &other[key]))
        }
        _ => value == of,
    }
}

/// Returns arguments that look like rows of the ledger, current and earlier ones, with all names that the ledger has:
/// alone, nested, in lists, and as JSON strings; each with a text that is long enough to be folded.
fn arguments_like_rows() -> Vec<Value> {
    let (body, hex) = (noise(60, 1), "ab".repeat(32));
    let plain = vec![
        json!({ "removedAt": 3, "neighbour_hash": body }),
        json!({ "removedAt": 3, "neighbour_hash": hex }),
        json!({ "index": 0, "neighbour_hash": hex }),
        json!({ "shown": { "type": "text", "text": body }, "frame": { "type": "image" } }),
        json!({ "shown": { "type": "x" }, "frame": null }),
        json!({ "text": body }),
        json!({ "text": body, "frames": [] }),
        json!({ "type": "text", "text": body }),
        json!({ "arguments": { "a": body } }),
        json!({ "image": { "text": body, "frames": [{ "type": "image", "data": "" }] } }),
        json!({ "thinking": { "index": 1, "neighbour_hash": hex, "thinking_hash": hex } }),
        json!({ "type": "thinking", "thinking": body }),
    ];
    let with = |key: &str, value: Value| json!({ key: value, "body": body });
    let tags =
        ["text", "arguments", "image", "thinking", "shown", "frame", "removedAt", "index", "neighbour_hash", "frames"];
    let mut all = plain.clone();
    for (number, inner) in plain.iter().enumerate() {
        all.push(with("body2", inner.clone()));
        all.push(with("json", json!(inner.to_string())));
        all.push(with(tags[number % tags.len()], json!([inner, inner])));
        all.extend(tags.iter().map(|tag| with(tag, inner.clone())));
    }
    all
}

#[test]
fn arguments_that_look_like_rows_are_folded_and_come_back_as_what_they_are() {
    let mut folded = 0;
    for (number, arguments) in arguments_like_rows().iter().enumerate() {
        // One shape with arguments as values, and one with arguments as a JSON string.
        for shape in SHAPES.into_iter().skip(number % 2).step_by(2) {
            let call = exchange(shape, "c", "note", arguments, &json!("ok"), 5);
            let messages = [vec![user("go")], call, talk(8)].concat();
            let dir = directory();
            let first = shown(&open(&dir, Schedule::EveryTurn), &messages, 1).0;
            let engine = open(&dir, Schedule::EveryTurn);
            let (again, opened) = shown(&engine, &messages, 2);
            assert!(again == first && !opened, "{shape} {number}: a restart changes nothing");
            assert!(is_formed_as(&arguments_in(shape, &first), arguments), "{shape} {number}: {first:?}");
            folded += usize::from(first != messages);
            for by in [Some(scope()), None] {
                assert_eq!(unfolded(&engine, by.as_ref(), &first), messages, "{shape} {number} by {by:?}");
            }
        }
    }
    assert!(folded > 300, "{folded}");
}

/// Covers a tool that prints its arguments, in every shape, with a breakpoint on the call, on the result, or on
/// neither.
#[test]
fn an_output_that_equals_the_arguments_of_its_call_is_another_block() {
    for shape in SHAPES {
        for mark in [None, Some(1), Some(2)] {
            let arguments = json!({ "text": noise(100, 2) });
            let mut call = exchange(shape, "c", "echo", &arguments, &json!(arguments.to_string()), 5);
            for message in &mut call {
                message["timestamp"] = json!(5);
            }
            if let Some(at) = mark {
                call[at - 1]["cache_control"] = json!({ "type": "ephemeral" });
            }
            let messages = [vec![user("go")], call, talk(8)].concat();
            let dir = directory();
            let engine = open(&dir, Schedule::EveryTurn);
            let first = shown(&engine, &messages, 1).0;
            assert!(is_formed_as(&arguments_in(shape, &first), &arguments), "{shape} {mark:?}: {first:?}");
            assert_ne!(first[2], messages[2], "{shape} {mark:?}: the output is folded");
            assert_eq!(first[1] == messages[1], mark == Some(1), "{shape} {mark:?}: the call is folded");
            assert_eq!(shown(&engine, &messages, 2).0, first);
            assert_eq!(unfolded(&engine, Some(&scope()), &first), messages, "{shape} {mark:?}");
        }
    }
}

fn picture(seed: u32) -> String {
    let mut png = std::io::Cursor::new(Vec::new());
    image::RgbImage::from_fn(400, 300, |x, y| image::Rgb([(x * seed) as u8, (x + y) as u8, y as u8]))
        .write_to(&mut png, image::ImageFormat::Png)
        .unwrap();
    base64_simd::STANDARD.encode_to_string(png.into_inner())
}

/// Returns the blocks of an image in a shape, with each additional field of hosts and providers. Images that cannot be
/// fetched stay.
fn image_blocks(shape: &str, data: &str) -> Vec<Value> {
    let url = format!("data:image/png;base64,{data}");
    let mark = json!({ "type": "ephemeral" });
    match shape {
        "openclaw" => vec![
            json!({ "type": "image", "data": data, "mimeType": "image/png", "fileName": "a.png" }),
            json!({ "fileName": "b.png", "type": "image", "mimeType": "image/png", "data": data, "more": [1, null] }),
            json!({ "type": "image", "data": data }),
            json!({ "type": "image", "data": data, "mimeType": "image/png", "cache_control": mark }),
            json!({ "type": "image", "data": data, "mimeType": "image/png", "detail": "low", "text": "alt" }),
        ],
        "anthropic" => vec![
            json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } }),
            json!({ "type": "image", "cache_control": mark,
                "source": { "type": "base64", "media_type": "image/png", "data": data } }),
            json!({ "type": "image", "source": { "type": "base64", "data": data }, "title": "t" }),
            json!({ "type": "image", "source": { "type": "url", "url": "https://a.b/c.png" }, "cache_control": mark }),
            json!({ "type": "image", "source": { "type": "file", "file_id": "f" } }),
        ],
        "openai" => vec![
            json!({ "type": "image_url", "image_url": { "url": url } }),
            json!({ "type": "image_url", "image_url": { "url": url, "detail": "low" }, "name": "a" }),
            json!({ "type": "image_url", "image_url": { "detail": "high", "url": url }, "cache_control": mark }),
            json!({ "type": "image_url", "image_url": { "url": "https://a.b/c.png", "detail": "low" } }),
        ],
        _ => vec![
            json!({ "type": "input_image", "image_url": url }),
            json!({ "type": "input_image", "detail": "high", "image_url": url, "name": "a" }),
            json!({ "type": "input_image", "image_url": url, "prompt_cache_breakpoint": true }),
            json!({ "type": "input_image", "file_id": "f", "detail": "low" }),
        ],
    }
}

/// Changes the host's other fields of a block: a breakpoint that moved or was added, a new name.
fn moved(block: &Value) -> Value {
    let mut moved = block.clone();
    let fields = moved.as_object_mut().unwrap();
    if fields.remove("cache_control").is_none() {
        fields.insert("cache_control".into(), json!({ "type": "ephemeral", "ttl": "1h" }));
    }
    fields.insert("fileName".into(), json!("new.png"));
    moved
}

/// Returns a value without the fields that no text block can hold.
fn without_detail(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_detail).collect(),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, _)| !["detail", "text", "media_type"].contains(&key.as_str()));
            kept.map(|(key, value)| (key.clone(), without_detail(value))).collect()
        }
        other => other.clone(),
    }
}

/// Combines every block with every other one of the same picture, in a user message and in a result, with changing
/// fields.
#[test]
fn an_image_keeps_the_other_fields_of_its_host_as_they_are_now() {
    let data = picture(3);
    let own = ["type", "text", "data", "mimeType", "source", "image_url", "detail"];
    let others = |block: &Value| -> Vec<(String, Value)> {
        let fields = block.as_object().unwrap().iter().filter(|(key, _)| !own.contains(&key.as_str()));
        fields.map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    let mut folded = 0;
    for shape in SHAPES {
        let blocks = image_blocks(shape, &data);
        for one in &blocks {
            for other in &blocks {
                for (is_result, has_time) in [(false, true), (false, false), (true, true)] {
                    let of = |parts: [Value; 2]| {
                        let call = if is_result {
                            exchange(shape, "c", "look", &json!({}), &json!(parts), 5)
                        } else {
                            vec![user("look"), json!({ "role": "user", "content": parts })]
                        };
                        // Without a session, the calls of a conversation show its shape.
                        let later = exchange(shape, "later", "exec", &json!({}), &json!("ok"), 6);
                        let mut messages = [vec![user("go")], call, later, talk(8)].concat();
                        if has_time && shape == "openclaw" {
                            messages[2]["timestamp"] = json!(5);
                        }
                        messages
                    };
                    let dir = directory();
                    let engine = open(&dir, Schedule::EveryTurn);
                    let kept = of([one.clone(), other.clone()]);
                    for (now, messages) in [kept.clone(), of([moved(one), moved(other)]), kept].iter().enumerate() {
                        let (first, opened) = shown(&engine, messages, now as i64 + 1);
                        assert!(now == 0 || !opened);
                        let parts = |messages: &[Value]| -> Vec<Value> {
                            let inner = [&messages[2]["content"][0]["content"], &messages[2]["output"]];
                            let nested = inner.into_iter().find(|parts| parts.is_array());
                            nested.unwrap_or(&messages[2]["content"]).as_array().unwrap().clone()
                        };
                        for (shown, block) in parts(&first).iter().zip(parts(messages)) {
                            assert_eq!(others(shown), others(&block), "{shape}: {shown}");
                            folded += usize::from(*shown != block);
                        }
                        let back = unfolded(&engine, Some(&scope()), &first);
                        assert_eq!(json!(back).to_string(), json!(messages).to_string(), "{shape}");
                        let back = unfolded(&engine, None, &first);
                        let plain = |messages: &[Value]| without_detail(&parts(messages).into());
                        assert!(has_no_type(one) || has_no_type(other) || plain(&back) == plain(messages), "{shape}");
                    }
                }
            }
        }
    }
    assert!(folded > 300, "{folded}");
}

/// Returns true if an image has inline bytes and no type. Without a session, the missing type cannot be known.
fn has_no_type(block: &Value) -> bool {
    block["data"].is_string() && block["mimeType"].is_null()
        || block["source"]["data"].is_string() && block["source"]["media_type"].is_null()
}

/// Covers texts of users, of the model and of the system that equal the placeholder of an output, of an image and of
/// arguments, as a message's content and as a part of it, and a tool's output that equals them and follows the block
/// that they stand for.
#[test]
fn texts_of_others_that_equal_a_placeholder_are_not_ours() {
    let data = picture(5);
    for shape in SHAPES {
        let output = exchange(shape, "c1", "exec", &json!({ "command": "one" }), &json!(noise(100, 4)), 5);
        let arguments = json!({ "path": "x", "content": noise(100, 6) });
        let written = exchange(shape, "c2", "note", &arguments, &json!("ok"), 6);
        let image =
            json!({ "role": "user", "content": [{ "type": "text", "text": "look" }, image_blocks(shape, &data)[0]] });
        let messages = [vec![user("go")], output, written, vec![image], talk(8)].concat();
        let dir = directory();
        let engine = open(&dir, Schedule::EveryTurn);
        let first = shown(&engine, &messages, 1).0;
        let of_image = first[5]["content"][1]["text"].as_str().expect("the image is folded").to_owned();
        let of_output = [&first[2]["content"][0]["content"], &first[2]["content"], &first[2]["output"]]
            .into_iter()
            .find_map(Value::as_str)
            .expect("the output is folded")
            .to_owned();
        let of_arguments = arguments_in(shape, &first[2..]).to_string();
        for quoted in [of_output, of_image, of_arguments] {
            let part = |role: &str| {
                let kind = match (shape, role) {
                    ("responses", "assistant") => "output_text",
                    ("responses", _) => "input_text",
                    _ => "text",
                };
                json!({ "role": role, "content": [{ "type": kind, "text": quoted }] })
            };
            let whole = |role: &str| json!({ "role": role, "content": quoted });
            let echoed = exchange(shape, "q", "exec", &json!({ "command": "echo" }), &json!(quoted), 99);
            let own =
                [vec![whole("user"), whole("assistant"), whole("system"), part("user"), part("assistant")], echoed];
            for number in 0..6 {
                let quoting = if number < 5 { own[0][number..=number].to_vec() } else { own[1].clone() };
                let all = [messages.clone(), quoting, talk(8)].concat();
                let (sent, _) = shown(&engine, &all, 2);
                assert_eq!(unfolded(&engine, Some(&scope()), &sent), all, "{shape} {number}: {quoted}");
                // Without a session, a part and an output may be ours.
                if number < 3 {
                    let back = unfolded(&engine, None, &sent);
                    assert_eq!(back[messages.len()..], all[messages.len()..], "{shape} {number}: {quoted}");
                }
            }
        }
    }
}

/// Covers texts that end with our note about a host's truncation, with matching and other numbers, in every role, and
/// as outputs that are shortened, folded or unchanged.
#[test]
fn a_last_line_like_our_note_stays() {
    let note = |units: &str| format!("[cut by the host at {units} characters; the rest was never received]");
    let same = "the very same line, again and again\n".repeat(200);
    for units in ["5", "20", "7,199", "7199", "x", ""] {
        for text in ["the transcript said:".to_owned(), same.trim_end().to_owned(), noise(300, 7)] {
            let text = format!("{text}\n{}", note(units));
            for shape in SHAPES {
                let call = exchange(shape, "c", "exec", &json!({ "command": "tail log" }), &json!(text), 5);
                let mut messages = vec![user("go"), user(&text)];
                messages.extend(call);
                messages.push(json!({ "role": "assistant", "content": text }));
                messages.extend(talk(8));
                let dir = directory();
                let engine = open(&dir, Schedule::EveryTurn);
                for by in [Some(scope()), None] {
                    let done = engine.unfold(by.as_ref(), "main", &messages, 9).unwrap();
                    assert!(done.rewrite.is_empty() && done.unfolded == 0, "{shape} {units} by {by:?}: {text:.60}");
                }
                let mut born = messages.clone();
                let reply = engine.admit(&scope(), Some(&messages[2]), &messages[3], 1);
                born[3] = reply.rewrite.apply(&messages[3..4]).remove(0);
                for sent in [born.clone(), shown(&engine, &born, 2).0] {
                    for by in [Some(scope()), None] {
                        assert_eq!(unfolded(&engine, by.as_ref(), &sent), messages, "{shape} {units} by {by:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_command_that_ends_like_our_note_makes_no_cut() {
    let words = "cut by the host at 5 characters; the rest was never received";
    for command in [words.to_owned(), format!("'({words})'"), format!("x {words})")] {
        for pad in 0..4 {
            let command = format!("make {}{command}", "y".repeat(pad * 20));
            let messages =
                exchange("openclaw", "c", "exec", &json!({ "command": command }), &json!(noise(9_000, 8)), 5);
            let dir = directory();
            let engine = open(&dir, Schedule::EveryTurn);
            let reply = engine.admit(&scope(), Some(&messages[0]), &messages[1], 1);
            let born = reply.rewrite.apply(&messages[1..]).remove(0);
            let text = born["content"].as_str().unwrap();
            let folded = text.rsplit('\n').next().unwrap();
            assert!(folded.contains(" folded]") && !folded.contains("cut by"), "{command}: {folded}");
            let id = reply.report.actions[0].ref_id.clone().unwrap();
            let asked = Fetch { ref_ids: vec![id], lines: Some(8_990..=9_000), max_chars: 9_000, ..Fetch::default() };
            let FetchedBlock::Text(page) = engine.fetch(&scope(), &asked, 2).unwrap().blocks.remove(0) else {
                panic!()
            };
            assert!(!page.contains("cut by the host"), "{page}");
        }
    }
}

/// Covers two blocks with one placeholder: an output, and what was fetched of it, whole and in parts. The host stores
/// either placeholder, or both, at each of the later calls.
#[test]
fn two_blocks_with_one_placeholder_keep_their_places() {
    let mut alike = 0;
    for shape in &SHAPES[1..] {
        for (part, kept) in [(true, 1), (true, 2), (true, 3), (false, 1), (false, 2), (false, 3)] {
            let dir = directory();
            let engine = open(&dir, Schedule::EveryTurn);
            let run = |id: &str, seed: usize| {
                exchange(shape, id, "exec", &json!({ "command": id }), &json!(noise(100, seed)), 0)
            };
            let mut host = [vec![user("go")], run("c0", 3), run("c1", 5), run("c2", 9), talk(6)].concat();
            let truth = host.clone();
            let first = shown(&engine, &host, 1).0;
            let text_of = |message: &Value| {
                let places = [&message["content"][0]["content"], &message["content"], &message["output"]];
                places.into_iter().find_map(Value::as_str).unwrap().to_owned()
            };
            let id = text_of(&first[4])["[REF_ID: ".len()..][..16].to_owned();
            if kept & 1 > 0 {
                host[4] = first[4].clone();
            }
            let lines = part.then_some(1..=60);
            let asked = Fetch { ref_ids: vec![id.clone()], lines, max_chars: usize::MAX, ..Fetch::default() };
            let FetchedBlock::Text(page) = engine.fetch(&scope(), &asked, 2).unwrap().blocks.remove(0) else {
                panic!()
            };
            let answer = exchange(shape, "f", "fetch_original_data", &json!({ "ref_ids": [id] }), &json!(page), 0);
            let at = host.len() + 1;
            host.extend([answer, talk(1), run("c3", 11)].concat());
            for now in 3..12 {
                host.extend(talk(2));
                let (sent, _) = shown(&engine, &host, now * 10);
                let (again, opened) = shown(&engine, &host, now * 10 + 1);
                assert!(again == sent && !opened, "{shape} {part} {kept} {now}: the second call shows something else");
                if text_of(&sent[at]) == text_of(&sent[4]) {
                    alike += 1;
                    if kept & 2 > 0 {
                        host[at] = sent[at].clone();
                    }
                }
                assert_eq!(unfolded(&engine, Some(&scope()), &sent)[..at - 1], truth[..], "{shape} {part} {kept}");
            }
        }
    }
    assert!(alike > 20, "{alike}");
}
