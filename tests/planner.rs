//! The cache-aware schedule over a real store and real sessions: what was sent stays, byte for byte, until an epoch is logged, and
//! epochs are opened when they cost nothing or have paid.

mod corpus;
mod engines;

use concertina::assemble::{AssembleOptions, Engine, Reply};
use concertina::config::{Config, Schedule};
use concertina::plan::prices::Prices;
use concertina::reference::ContentHash;
use concertina::store::Scope;
use engines::scope;
use serde_json::{Value, json};
use tempfile::TempDir;

const HOUR_MS: i64 = 3_600_000;

fn open(dir: &TempDir) -> Engine {
    // With few names in a placeholder folding pays soon, though nothing was saved at birth.
    engines::open(dir, Config { schedule: Schedule::CacheAware, keep_names: 20, ..Config::default() })
}

fn options() -> AssembleOptions {
    AssembleOptions {
        available_tools: Some(vec!["exec".into(), "fetch_original_data".into()]),
        prices: Some(Prices { read: 0.1, write: 1.25, cache_ttl_ms: 300_000 }),
        ..AssembleOptions::default()
    }
}

fn reason(reply: &Reply) -> Option<&str> {
    assert_eq!(reply.report.warning, None);
    reply.report.epoch.as_ref().map(|epoch| epoch.reason.as_str())
}

/// Hash of a message and of all before it.
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
        // Long sessions are sampled; runs of neighbours show that one more message changes nothing.
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
        assert_eq!(engine.stats(None).unwrap().epochs.len(), epochs_of(&elsewhere), "{}", name);
    }
    println!("{sessions} sessions, {requests} requests, {epochs} epochs");
    assert!(sessions > 1 && epochs > 0, "{sessions} sessions, {epochs} epochs");
}

fn epochs_of(engine: &Engine) -> usize {
    engine.stats(None).unwrap().epochs.len()
}

/// A session of one call a minute with a long output each, and a long one at its end that keeps the prefix dear.
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

/// The time of the next call after a session.
fn next(messages: &[Value]) -> i64 {
    messages.last().unwrap()["timestamp"].as_i64().unwrap() + 1
}

/// An engine that has seen a session call by call, and what it sent last.
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
    let stats = engine.stats(None).unwrap();
    let warm = stats.epochs.len();
    assert!((1..=8).contains(&warm), "{warm} epochs in 100 calls: {:?}", stats.epochs);
    assert!(stats.epochs.iter().all(|(_, epoch)| epoch.reason == "ski-rental"), "{:?}", stats.epochs);

    let resumed = engine.assemble(&scope(), &messages, &options(), next(&messages) + HOUR_MS);
    assert_eq!(reason(&resumed), Some("cold: idle"));
    let shown = resumed.rewrite.apply(&messages);
    let folded =
        |messages: &[Value]| messages.iter().filter(|message| message.to_string().contains("[REF_ID: ")).count();
    assert!(folded(&shown) > folded(&sent));
    // Those that at most fourteen calls followed stay: stale is what more than eighteen follow, nearly stale what is four short of it.
    assert_eq!(folded(&shown), 100 - 15);
}

#[test]
fn another_model_other_tools_and_compaction_make_it_cold() {
    let mut messages = session(30);
    let now = next(&messages);
    let model = AssembleOptions { model: Some("other".into()), ..options() };
    let tools = AssembleOptions { available_tools: Some(vec!["fetch_original_data".into()]), ..options() };
    for (asked, expected) in [(&model, "cold: model changed"), (&tools, "cold: tools changed")] {
        let dir = TempDir::new().unwrap();
        let (engine, _) = played(&dir, &messages);
        assert_eq!(reason(&engine.assemble(&scope(), &messages, asked, now)), Some(expected));
    }
    let dir = TempDir::new().unwrap();
    let (engine, _) = played(&dir, &messages);
    messages.splice(1..9, [json!({ "role": "compactionSummary", "summary": "four steps", "timestamp": now })]);
    assert_eq!(reason(&engine.assemble(&scope(), &messages, &options(), now + 1)), Some("cold: compacted"));
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
        let prices = Some(Prices { read, write: 1.25, cache_ttl_ms: 300_000 });
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
    engine.inherit(&scope(), &child, None, next(&messages)).unwrap();
    let forked = engine.assemble(&child, &messages, &options(), next(&messages));
    assert_eq!(forked.rewrite.apply(&messages), sent);
}
