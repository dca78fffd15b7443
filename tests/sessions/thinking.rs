//! Tests of thinking in finished turns: it is removed only if the provider allows that, its removal never invalidates
//! what stays, and it can be restored.
//!
//! The simulated provider signs a model's thinking together with everything before it, and refuses a request as the
//! real ones do.

use concertina::assemble::{AssembleOptions, Engine};
use concertina::config::{Config, Schedule, Thinking};
use concertina::reference::ContentHash;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::engines::{self, scope};

const HOUR_MS: i64 = 3_600_000;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    OpenClaw,
    Anthropic,
}

fn open(dir: &TempDir, thinking: Thinking) -> Engine {
    let config =
        Config { schedule: Schedule::CacheAware, stale_calls: 3, keep_names: 10, thinking, ..Config::default() };
    engines::open(dir, config)
}

fn parts(message: &Value) -> impl Iterator<Item = &Value> {
    message["content"].as_array().into_iter().flatten()
}

fn is_thinking(part: &Value) -> bool {
    part["type"] == "thinking"
}

fn signature(part: &Value) -> &str {
    part["signature"].as_str().or(part["thinkingSignature"].as_str()).unwrap()
}

/// Returns the provider's signature of everything that it was sent before.
fn sign(request: &[Value]) -> String {
    ContentHash::of(json!(request).to_string().as_bytes()).to_hex()
}

/// Refuses what the provider would refuse. `is_bound` is true for models whose thinking is valid only after its exact
/// prefix.
fn check(request: &[Value], is_bound: bool) {
    let begins =
        |message: &Value| message["role"] == "user" && !parts(message).any(|part| part["type"] == "tool_result");
    let turn = request.iter().rposition(begins).unwrap_or(0);
    for (at, message) in request.iter().enumerate().filter(|(_, message)| message["role"] == "assistant") {
        let blocks: Vec<&Value> = parts(message).collect();
        assert!(blocks.iter().any(|part| !is_thinking(part)), "message {at} has nothing but thinking");
        if at > turn {
            assert!(is_thinking(blocks[0]), "message {at} of the turn that goes on has lost its thinking");
        }
        for part in blocks.into_iter().filter(|part| is_thinking(part)) {
            assert!(!is_bound || signature(part) == sign(&request[..at]), "message {at} is bound to another past");
        }
    }
}

/// A model that reads and thinks, with the history of its host.
struct Session {
    shape: Shape,
    history: Vec<Value>,
    now: i64,
}

impl Session {
    fn push(&mut self, mut message: Value) {
        self.now += 1000;
        if self.shape == Shape::OpenClaw {
            message["timestamp"] = json!(self.now);
        }
        self.history.push(message);
    }

    fn answer(&mut self, request: &[Value], model: &str, rest: &Value) {
        let thought = format!("Thought {} about what was read, {}.", self.history.len(), "word by word ".repeat(30));
        let key = if self.shape == Shape::OpenClaw { "thinkingSignature" } else { "signature" };
        let mut thinking = json!({ "type": "thinking", "thinking": thought });
        thinking[key] = json!(sign(request));
        self.push(json!({ "role": "assistant", "model": model, "content": [thinking, rest] }));
    }

    fn call(&mut self, request: &[Value], model: &str) {
        let id = format!("c{}", self.history.len());
        let arguments = json!({ "command": format!("step {id}") });
        let lines: String =
            (0..60).map(|line| format!("{id} line {line} of the output {}\n", line * 7919 % 1009)).collect();
        let content = json!([{ "type": "text", "text": lines }]);
        match self.shape {
            Shape::OpenClaw => {
                self.answer(
                    request,
                    model,
                    &json!({ "type": "toolCall", "id": id, "name": "exec", "arguments": arguments }),
                );
                self.push(json!({ "role": "toolResult", "toolCallId": id, "toolName": "exec", "content": content }));
            }
            Shape::Anthropic => {
                self.answer(
                    request,
                    model,
                    &json!({ "type": "tool_use", "id": id, "name": "exec", "input": arguments }),
                );
                self.push(json!({ "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": id, "content": content }] }));
            }
        }
    }
}

/// The results of a session.
struct Outcome {
    engine: Engine,
    session: Session,
    /// The last request.
    sent: Vec<Value>,
    /// The number of thinking blocks in the history, and of those that the last request left out.
    all: usize,
    left: usize,
    _dir: TempDir,
}

/// Plays ten turns of four calls, with a cold cache at every third turn, and checks each request.
fn play(shape: Shape, model: &str, thinking: Thinking, is_bound: bool) -> Outcome {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir, thinking);
    let mut session = Session { shape, history: Vec::new(), now: 1_000_000 };
    let mut sent = Vec::new();
    for turn in 0..10 {
        if turn % 3 == 2 {
            session.now += HOUR_MS;
        }
        session.push(json!({ "role": "user", "content": format!("Go on with part {turn}.") }));
        // If messages have no times, only a changed tool list shows that the cache is cold.
        let tools = ["exec".to_owned(), "fetch_original_data".to_owned(), format!("tool {}", turn / 3)];
        let options = AssembleOptions {
            available_tools: Some(tools.to_vec()),
            model: Some(model.to_owned()),
            ..AssembleOptions::default()
        };
        for call in 0..5 {
            let reply = engine.assemble(&scope(), &session.history, &options, session.now);
            assert_eq!(reply.report.warning, None);
            sent = reply.rewrite.apply(&session.history);
            check(&sent, is_bound);
            if call < 4 {
                session.call(&sent, model);
            } else {
                session.answer(&sent, model, &json!({ "type": "text", "text": "Done." }));
            }
        }
    }
    let count = |messages: &[Value]| messages.iter().flat_map(parts).filter(|part| is_thinking(part)).count();
    // The last answer was not in any request.
    let all = count(&session.history) - 1;
    Outcome { left: all - count(&sent), all, engine, session, sent, _dir: dir }
}

#[test]
fn thinking_is_removed_if_the_provider_allows_it_and_is_restored_byte_for_byte() {
    for shape in [Shape::OpenClaw, Shape::Anthropic] {
        for (model, is_bound) in [("claude-opus-4-6", false), ("claude-opus-5-5", true)] {
            let played = play(shape, model, Thinking::Auto, is_bound);
            let Outcome { engine, session, sent, all, left, .. } = &played;
            println!("{shape:?}, {model}: {left} of {all} left");
            assert!(left * 2 > *all, "{shape:?}, {model}: {left} of {all} left");
            let back = engine.unfold(Some(&scope()), "main", sent, session.now).unwrap();
            assert_eq!(back.missing, []);
            assert_eq!(back.rewrite.apply(sent), session.history[..sent.len()], "{shape:?}, {model}");
            let own = engine.unfold(Some(&scope()), "main", &session.history, session.now).unwrap();
            assert!(own.rewrite.is_empty(), "what the host holds in full stays");
        }
    }
}

#[test]
fn thinking_stays_if_the_provider_or_the_user_requires_it() {
    for shape in [Shape::OpenClaw, Shape::Anthropic] {
        for model in ["claude-sonnet-4-5", "gpt-5.4", "deepseek-v4", "somebody-elses"] {
            let Outcome { left, sent, session, .. } = play(shape, model, Thinking::Auto, false);
            assert_eq!(left, 0, "{model}");
            // DeepSeek's cached reads are so cheap that no epoch pays off while the cache is warm.
            let is_folded = sent != session.history[..sent.len()];
            assert!(is_folded || model == "deepseek-v4", "{model}: something else is folded");
        }
        assert_eq!(play(shape, "claude-opus-4-6", Thinking::Keep, false).left, 0);
        // Nothing before bound thinking changes while it stays.
        assert_eq!(play(shape, "claude-opus-5-5", Thinking::Keep, true).left, 0);
    }
}

#[test]
fn thinking_with_a_secret_stays() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir, Thinking::Auto);
    let secret = format!("{}{}", "ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let thought = |text: &str| json!({ "type": "thinking", "thinking": text, "thinkingSignature": "s" });
    let answer = |time: i64, text: &str| {
        json!({ "role": "assistant", "timestamp": time, "model": "claude-opus-4-6",
            "content": [thought(text), { "type": "text", "text": "Yes." }] })
    };
    let asked = |time: i64| json!({ "role": "user", "timestamp": time, "content": "And now?" });
    let told = format!("The token is {secret}, and it goes into the header.");
    let history = [asked(1), answer(2, &told), asked(3), answer(4, "It is a simple question."), asked(5)];
    let options = AssembleOptions { model: Some("claude-opus-4-6".into()), ..AssembleOptions::default() };
    let reply = engine.assemble(&scope(), &history, &options, HOUR_MS);
    let shown = reply.rewrite.apply(&history);
    assert_eq!(shown[1], history[1]);
    assert_eq!(shown[3]["content"], json!([{ "type": "text", "text": "Yes." }]));
    assert_eq!(reply.report.actions.len(), 1);
    assert_eq!(reply.report.actions[0].reason, "thinking");
}

/// Covers both shapes. The host stores what was shown of all messages, or of all from one on, and drops none or some of
/// the first ones.
#[test]
fn thinking_that_the_host_dropped_is_restored_or_named() {
    let (mut returned, mut named) = (0, 0);
    for shape in [Shape::OpenClaw, Shape::Anthropic] {
        let Outcome { engine, session, sent, _dir, .. } = play(shape, "claude-opus-4-6", Thinking::Auto, false);
        let truth = &session.history[..sent.len()];
        for kept_from in [0, 1, 9, 30] {
            let host = [&truth[..kept_from], &sent[kept_from..]].concat();
            for dropped in [0, 1, 2, 3, 9, 10, 40] {
                let options = AssembleOptions { model: Some("claude-opus-4-6".into()), ..AssembleOptions::default() };
                let reply = engine.assemble(&scope(), &host[dropped..], &options, session.now + 1);
                let shown = reply.rewrite.apply(&host[dropped..]);
                let done = engine.unfold(Some(&scope()), "main", &shown, session.now + 2).unwrap();
                let back = done.rewrite.apply(&shown);
                for (at, (back, was)) in back.iter().zip(&truth[dropped..]).enumerate() {
                    if back == was {
                        returned += usize::from(back != &shown[at]);
                        continue;
                    }
                    let left: Vec<&Value> = parts(was).filter(|part| is_thinking(part)).collect();
                    assert_eq!(parts(back).collect::<Vec<_>>(), parts(was).skip(left.len()).collect::<Vec<_>>());
                    for part in left {
                        let id = ContentHash::of(part.to_string().as_bytes()).to_ref_id(64);
                        assert!(done.missing.contains(&id), "{shape:?} {kept_from} {dropped}, message {at}: {was}");
                        named += 1;
                    }
                }
            }
        }
    }
    assert!(returned > 100 && named > 100, "{returned} came back, {named} are named");
}

/// Returns the messages of one call with its result, which the model answers if `is_finished`. All messages but the
/// first have the same time in every variant, and the same id.
fn calling(shape: Shape, id: &str, thoughts: &[(usize, usize)], is_finished: bool) -> Vec<Value> {
    let (kind, arguments, key) = match shape {
        Shape::OpenClaw => ("toolCall", "arguments", "thinkingSignature"),
        Shape::Anthropic => ("tool_use", "input", "signature"),
    };
    let mut parts = vec![json!({ "type": kind, "id": id, "name": "exec", arguments: { "command": "make" } })];
    for (index, number) in thoughts {
        let thought = format!("Thought {number} about what was read.");
        parts.insert(*index, json!({ "type": "thinking", "thinking": thought, key: format!("signed {number}") }));
    }
    let result = match shape {
        Shape::OpenClaw => json!({ "role": "toolResult", "toolCallId": id, "toolName": "exec", "content": "ok" }),
        Shape::Anthropic => {
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": "ok" }] })
        }
    };
    let mut messages = vec![
        json!({ "role": "user", "content": "Go on." }),
        json!({ "role": "assistant", "model": "claude-opus-4-6", "content": parts }),
        result,
    ];
    if is_finished {
        messages.push(json!({ "role": "assistant", "content": [{ "type": "text", "text": "Done." }] }));
        messages.push(json!({ "role": "user", "content": "And now?" }));
    }
    if shape == Shape::OpenClaw {
        messages.iter_mut().zip(1..).for_each(|(message, time)| message["timestamp"] = json!(time));
    }
    messages
}

/// Covers messages that differ in their thinking alone and take turns in one place: none, one, another one, both, both
/// around the call; with and without an id. The turn goes on or is finished.
#[test]
fn thinking_returns_only_to_a_message_that_had_it() {
    let variants: [&[(usize, usize)]; 5] = [&[], &[(0, 1)], &[(0, 2)], &[(0, 3), (1, 4)], &[(0, 5), (2, 6)]];
    let (mut complete, mut returned, mut named, mut alike) = (0, 0, 0, 0);
    for shape in [Shape::OpenClaw, Shape::Anthropic] {
        for number in 0..5 * 5 * 5 {
            let id = ["", "c"][number % 2];
            let dir = engines::directory();
            let engine = open(&dir, Thinking::Auto);
            // The messages that lost their thinking.
            let mut earlier: Vec<Value> = Vec::new();
            let order = [number / 25, number / 5 % 5, number % 5];
            for (nth, variant) in order.into_iter().enumerate() {
                for is_finished in [false, true] {
                    let history = calling(shape, id, variants[variant], is_finished);
                    let now = HOUR_MS * (2 * nth as i64 + i64::from(is_finished) + 1);
                    let options = AssembleOptions {
                        available_tools: Some(vec!["fetch_original_data".to_owned(), format!("tool {now}")]),
                        model: Some("claude-opus-4-6".into()),
                        ..AssembleOptions::default()
                    };
                    let reply = engine.assemble(&scope(), &history, &options, now);
                    assert_eq!(reply.report.warning, None);
                    let shown = reply.rewrite.apply(&history);
                    let (had, has) = (&history[1], &shown[1]);
                    let thoughts: Vec<&Value> = parts(had).filter(|part| is_thinking(part)).collect();
                    assert_eq!(has != had, is_finished && !thoughts.is_empty(), "{shape:?} {order:?}");
                    if has != had {
                        earlier.push(had.clone());
                    }
                    let done = engine.unfold(Some(&scope()), "main", &shown, now).unwrap();
                    let back = done.rewrite.apply(&shown);
                    assert!(back[0] == history[0] && back[2..] == history[2..]);
                    let is_missing = |part: &&Value| {
                        done.missing.contains(&ContentHash::of(part.to_string().as_bytes()).to_ref_id(64))
                    };
                    let context = format!("{shape:?} {order:?} {nth} {is_finished}: {}", back[1]);
                    if &back[1] == had {
                        complete += usize::from(has == had);
                        returned += usize::from(has != had);
                    } else if &back[1] == has {
                        assert!(has != had && thoughts.iter().all(is_missing), "{context}");
                        assert!(earlier.iter().any(|other| other != had), "{context}");
                        named += 1;
                    } else {
                        // What is shown of both is equal, so nobody can know that this message never had thinking.
                        assert!(thoughts.is_empty() && earlier.contains(&back[1]), "{context}");
                        alike += 1;
                    }
                }
            }
        }
    }
    println!("{complete} stay, {returned} come back, {named} are named, {alike} cannot be told apart");
    assert!([complete, returned, named, alike].iter().all(|&count| count > 50));
}
