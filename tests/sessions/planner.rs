//! Tests of the cache-aware schedule with a real store and real sessions: sent messages do not change, byte for byte,
//! until an epoch is logged, and epochs are opened when they cost nothing or have paid for themselves.

use std::collections::HashMap;

use concertina::assemble::{AssembleOptions, Engine, Reply};
use concertina::config::{Config, Schedule};
use concertina::plan::prices::StatedPrices;
use concertina::reference::ContentHash;
use concertina::store::Scope;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::corpus;
use crate::engines::{self, scope};

const HOUR_MS: i64 = 3_600_000;

fn open(dir: &TempDir) -> Engine {
    // With few names in a placeholder, folding pays off soon, although nothing was saved at birth.
    engines::open(dir, Config { schedule: Schedule::CacheAware, keep_names: 20, ..Config::default() })
}

fn options() -> AssembleOptions {
    AssembleOptions {
        available_tools: Some(vec!["exec".into(), "fetch_original_data".into()]),
        prices: Some(StatedPrices::relative(0.1, 1.25, 300_000)),
        ..AssembleOptions::default()
    }
}

fn reason(reply: &Reply) -> Option<&str> {
    assert_eq!(reply.report.warning, None);
    reply.report.epoch.as_ref().map(|epoch| epoch.reason.as_str())
}

/// Returns for each message the hash of it and of all messages before it.
fn chain(messages: &[Value]) -> Vec<ContentHash> {
    let mut links: Vec<ContentHash> = Vec::new();
    for message in messages {
        let before = links.last().map_or_else(String::new, |link| link.to_hex());
        links.push(ContentHash::of(format!("{before}{message}").as_bytes()));
    }
    links
}

#[test]
fn what_was_sent_stays_until_an_epoch_is_logged_over_restarts_and_in_every_process() {
    let (mut sessions, mut requests, mut epochs) = (0, 0, 0);
    for (name, messages) in corpus::sessions().chain([("made".to_owned(), session(100))]) {
        sessions += 1;
        let (dir, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let (mut engine, mut elsewhere) = (open(&dir), open(&other));
        let mut sent = Vec::new();
        let calls: Vec<usize> =
            (0..messages.len()).filter(|&at| messages[at]["role"] == "assistant" && at > 0).collect();
        // Long sessions are sampled. Pairs of successive calls show that one more message changes nothing.
        let step = calls.len().div_ceil(24);
        let sampled = calls.iter().enumerate().filter(|(index, _)| index % step < 2).map(|(_, &at)| at);
        for (nth, end) in sampled.enumerate() {
            let history = &messages[..end];
            let now = history.iter().filter_map(|message| message["timestamp"].as_i64()).max().unwrap_or(0) + 1;
            let reply = engine.assemble(&scope(), history, &options(), now);
            let shown = reply.rewrite.apply(history);
            let links = chain(&shown);
            if reason(&reply).is_none() {
                assert_eq!(links[..sent.len()], sent[..], "{} at {end}", name);
            } else {
                epochs += 1;
            }
            let there = elsewhere.assemble(&scope(), history, &options(), now);
            assert_eq!(chain(&there.rewrite.apply(history)), links, "{} at {end}", name);
            if nth % 3 == 0 {
                engine = open(&dir);
                let again = engine.assemble(&scope(), history, &options(), now);
                assert_eq!(reason(&again), None, "{} at {end}", name);
                assert_eq!(chain(&again.rewrite.apply(history)), links, "{} at {end}", name);
                elsewhere = open(&other);
            }
            sent = links;
            requests += 1;
        }
        assert_eq!(engine.store().stats(None).unwrap().epochs.len(), epochs_of(&elsewhere), "{}", name);
    }
    println!("{sessions} sessions, {requests} requests, {epochs} epochs");
    assert!(sessions > 1 && epochs > 0, "{sessions} sessions, {epochs} epochs");
}

fn epochs_of(engine: &Engine) -> usize {
    engine.store().stats(None).unwrap().epochs.len()
}

/// Returns a session with one call a minute and a long output each, and a very long output at its end that makes the
/// prefix expensive to rewrite.
fn session(calls: usize) -> Vec<Value> {
    let mut messages = vec![json!({ "role": "user", "content": "go", "timestamp": 0 })];
    for call in 0..calls {
        let at = call as i64 * 60_000;
        let id = format!("c{call}");
        messages.push(json!({ "role": "assistant", "timestamp": at, "model": "mock", "content": [
            { "type": "toolCall", "id": id, "name": "exec", "arguments": { "command": format!("step {call}") } }] }));
        let output: String =
            (0..90).map(|line| format!("step {call} goes on with its work{}\n", " and on".repeat(line % 9))).collect();
        messages.push(json!({ "role": "toolResult", "toolCallId": id, "toolName": "exec", "timestamp": at + 1,
            "content": [{ "type": "text", "text": output }] }));
    }
    messages
}

/// Returns the time of the next call after a session.
fn next(messages: &[Value]) -> i64 {
    messages.last().unwrap()["timestamp"].as_i64().unwrap() + 1
}

/// Returns an engine that was given a session call by call, and its last request.
fn played(dir: &TempDir, messages: &[Value]) -> (Engine, Vec<Value>) {
    let engine = open(dir);
    let mut sent = Vec::new();
    for end in (2..=messages.len()).filter(|&end| messages[end - 1]["role"] == "toolResult") {
        let history = &messages[..end];
        sent = engine.assemble(&scope(), history, &options(), next(history)).rewrite.apply(history);
    }
    (engine, sent)
}

#[test]
fn a_warm_session_is_folded_rarely_and_a_cold_one_at_once() {
    let messages = session(100);
    let dir = TempDir::new().unwrap();
    let (engine, sent) = played(&dir, &messages);
    let stats = engine.store().stats(None).unwrap();
    let warm = stats.epochs.len();
    assert!((1..=8).contains(&warm), "{warm} epochs in 100 calls: {:?}", stats.epochs);
    assert!(stats.epochs.iter().all(|(_, epoch)| epoch.reason == "ski-rental"), "{:?}", stats.epochs);

    let resumed = engine.assemble(&scope(), &messages, &options(), next(&messages) + HOUR_MS);
    assert_eq!(reason(&resumed), Some("cold: idle"));
    let shown = resumed.rewrite.apply(&messages);
    let folded =
        |messages: &[Value]| messages.iter().filter(|message| message.to_string().contains("[REF_ID: ")).count();
    assert!(folded(&shown) > folded(&sent));
    // Outputs with at most fourteen later calls stay: stale means more than eighteen later calls, and nearly stale
    // means four fewer.
    assert_eq!(folded(&shown), 100 - 15);
}

#[test]
fn compaction_makes_it_cold() {
    let mut messages = session(30);
    let now = next(&messages);
    let dir = TempDir::new().unwrap();
    let (engine, _) = played(&dir, &messages);
    messages.splice(1..9, [json!({ "role": "compactionSummary", "summary": "four steps", "timestamp": now })]);
    assert_eq!(reason(&engine.assemble(&scope(), &messages, &options(), now + 1)), Some("cold: compacted"));
}

/// The cost of requests with several models or tool lists, each with its own cache, in tokens of one price.
#[derive(Default)]
struct Bill {
    caches: HashMap<String, (Vec<ContentHash>, i64)>,
    total: f64,
}

impl Bill {
    fn add(&mut self, caller: &str, request: &[Value], now: i64) {
        let links = chain(request);
        let held = self.caches.get(caller).filter(|(_, at)| now - at <= 300_000);
        let same = held.map_or(0, |(held, _)| held.iter().zip(&links).take_while(|(a, b)| a == b).count());
        for (at, message) in request.iter().enumerate() {
            self.total += message.to_string().len() as f64 * if at < same { 0.1 } else { 1.25 };
        }
        self.caches.insert(caller.to_owned(), (links, now));
    }
}

/// Covers two and three models or tool lists, alternating at each call or at each third, at intervals within the
/// lifetime of each cache, of the last one's only, and of none; in the shapes of OpenClaw, Anthropic and OpenAI.
#[test]
fn alternating_models_pay_no_more_than_without_folding() {
    let mut epochs = 0;
    for (shape, by_model, callers, each, interval) in combinations(
        &["openclaw", "anthropic", "openai"],
        &[true, false],
        &[2usize, 3],
        &[1usize, 3],
        &[40_000i64, 130_000, 400_000],
    ) {
        let dir = TempDir::new().unwrap();
        let engine = open(&dir);
        let (mut ours, mut untouched) = (Bill::default(), Bill::default());
        let mut history = vec![json!({ "role": "user", "content": "go" })];
        for call in 0..40 {
            let now = 1_000_000 + call as i64 * interval;
            let caller = format!("caller-{}", call / each % callers);
            let tools = ["exec", "fetch_original_data", if by_model { "more" } else { &*caller }];
            let asked = AssembleOptions {
                model: Some(if by_model { caller.clone() } else { "mock".to_owned() }),
                available_tools: Some(tools.map(str::to_owned).to_vec()),
                ..options()
            };
            let reply = engine.assemble(&scope(), &history, &asked, now);
            epochs += usize::from(reason(&reply).is_some());
            ours.add(&caller, &reply.rewrite.apply(&history), now);
            untouched.add(&caller, &history, now);
            let (id, command) = (format!("c{call}"), json!({ "command": format!("step {call}") }));
            let output: String = (0..30).map(|line| format!("{call}.{line} took {} ms\n", line * 7919 % 997)).collect();
            history.extend(match shape {
                "openclaw" => [
                    json!({ "role": "assistant", "timestamp": now + 1, "model": asked.model, "content": [
                        { "type": "toolCall", "id": id, "name": "exec", "arguments": command }] }),
                    json!({ "role": "toolResult", "toolCallId": id, "timestamp": now + 2,
                        "content": [{ "type": "text", "text": output }] }),
                ],
                "anthropic" => [
                    json!({ "role": "assistant", "content": [
                        { "type": "tool_use", "id": id, "name": "exec", "input": command }] }),
                    json!({ "role": "user", "content": [
                        { "type": "tool_result", "tool_use_id": id, "content": output }] }),
                ],
                _ => [
                    json!({ "role": "assistant", "content": null, "tool_calls": [
                        { "id": id, "function": { "name": "exec", "arguments": command.to_string() } }] }),
                    json!({ "role": "tool", "tool_call_id": id, "content": output }),
                ],
            });
        }
        let share = ours.total / untouched.total;
        assert!(
            share < 1.02,
            "{shape}, by model {by_model}, {callers} in turn, {each} calls each, {interval}: {share}"
        );
        assert!(interval < 400_000 || share < 0.95, "what is cold is folded: {shape}, {by_model}, {callers}: {share}");
    }
    assert!(epochs > 0);
}

/// Returns all combinations of five lists.
fn combinations<A: Copy, B: Copy, C: Copy, D: Copy, E: Copy>(
    a: &[A],
    b: &[B],
    c: &[C],
    d: &[D],
    e: &[E],
) -> Vec<(A, B, C, D, E)> {
    let mut all = Vec::new();
    for &a in a {
        for &b in b {
            for &c in c {
                for &d in d {
                    all.extend(e.iter().map(|&e| (a, b, c, d, e)));
                }
            }
        }
    }
    all
}

#[test]
fn a_history_that_begins_anew_is_cold_at_its_first_call_only() {
    let dir = TempDir::new().unwrap();
    let before = session(30);
    let (engine, _) = played(&dir, &before);
    let later = next(&before) + HOUR_MS;
    assert_eq!(reason(&engine.assemble(&scope(), &before, &options(), later)), Some("cold: idle"));
    let mut anew: Vec<Value> =
        serde_json::from_str(&json!(session(60)).to_string().replace("step", "stage")).expect("a session");
    for message in &mut anew {
        message["timestamp"] = (message["timestamp"].as_i64().unwrap() + later).into();
    }
    let opened = (3..=anew.len()).step_by(2).filter_map(|end| {
        let history = &anew[..end];
        reason(&engine.assemble(&scope(), history, &options(), next(history))).map(str::to_owned)
    });
    let opened: Vec<String> = opened.collect();
    assert!(!opened.is_empty() && opened.iter().all(|reason| reason == "ski-rental"), "{opened:?}");
}

#[test]
fn a_full_context_is_folded_at_once_and_by_a_good_part() {
    let messages = session(10);
    let dir = TempDir::new().unwrap();
    let engine = open(&dir);
    let free = engine.assemble(&scope(), &messages, &options(), next(&messages));
    assert_eq!(reason(&free), None, "nothing is stale yet");
    let budget = AssembleOptions { token_budget: Some(free.report.tokens_after), ..options() };
    let full = engine.assemble(&scope(), &messages, &budget, next(&messages));
    assert_eq!(reason(&full), Some("limit"));
    assert!(full.report.tokens_after * 100 <= free.report.tokens_after * 85);
    let after = engine.assemble(&scope(), &messages, &budget, next(&messages));
    assert_eq!((reason(&after), after.report.tokens_after), (None, full.report.tokens_after));
}

#[test]
fn dear_cache_writes_make_epochs_rarer() {
    let epochs_at = |read: f64| {
        let dir = TempDir::new().unwrap();
        let engine = open(&dir);
        let messages = session(100);
        let prices = Some(StatedPrices::relative(read, 1.25, 300_000));
        for end in (3..=messages.len()).step_by(2) {
            let asked = AssembleOptions { prices, ..options() };
            engine.assemble(&scope(), &messages[..end], &asked, next(&messages[..end]));
        }
        epochs_of(&engine)
    };
    let [dear, usual, cheap] = [0.01, 0.1, 1.0].map(epochs_at);
    assert!(dear < usual && usual < cheap, "{dear}, {usual} and {cheap} epochs");
}

#[test]
fn a_sub_agent_sees_what_its_parent_was_sent() {
    let messages = session(40);
    let dir = TempDir::new().unwrap();
    let (engine, sent) = played(&dir, &messages);
    let child = Scope { session_id: "child".into(), ..scope() };
    engine.store().inherit(&scope(), &child, None, next(&messages)).unwrap();
    let forked = engine.assemble(&child, &messages, &options(), next(&messages));
    assert_eq!(forked.rewrite.apply(&messages), sent);
}
