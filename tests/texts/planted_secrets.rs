//! Checks that no planted secret is in the store's files: not in an original, a label, a placeholder or a log of the
//! database, whether it was in an output, in a command or in arguments. With `secrets: "store"` the same search must
//! find all of them.

#[path = "../../crates/secrets/tests/reading/mod.rs"]
mod reading;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use concertina::assemble::{AssembleOptions, Engine, Fetch, FetchedBlock};
use concertina::config::{Config, Schedule, Secrets};
use concertina::secrets::find_secrets;
use concertina::store::{Scope, SqliteStore, StoreOptions};
use reading::{LETTERS, lines, noise, read};
use rusqlite::types::ValueRef;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A secret and the line that contains it.
struct Planted {
    value: String,
    line: String,
}

/// Returns secrets of people and of issuers, each in its usual context.
fn planted() -> Vec<Planted> {
    lines(include_str!("../../crates/secrets/tests/planted.txt"))
        .map(|line| {
            let (text, secrets) = read(line);
            Planted { value: text[secrets[0].clone()].to_owned(), line: text }
        })
        .collect()
}

/// Returns build output that is long enough to be folded.
fn surroundings(lines: usize, seed: usize) -> String {
    (0..lines)
        .map(|line| {
            let (unit, took) = (noise(LETTERS, 7, seed + line), (seed + line) * 7919 % 977);
            format!(
                "2026-11-21 10:{:02}:{:02} INFO [{unit}] step {line} finished in {took} ms\n",
                line / 60 % 60,
                line % 60
            )
        })
        .collect()
}

/// Returns a text with a line in its middle.
fn around(line: &str, seed: usize) -> String {
    format!("{}{line}\n{}", surroundings(12, seed), surroundings(12, seed + 1000))
}

fn call(id: &str, name: &str, arguments: &Value, at: usize) -> Value {
    json!({ "role": "assistant", "timestamp": at,
        "content": [{ "type": "toolCall", "id": id, "name": name, "arguments": arguments }] })
}

fn result(id: &str, name: &str, text: &str, at: usize) -> Value {
    json!({ "role": "toolResult", "toolCallId": id, "toolName": name, "timestamp": at,
        "content": [{ "type": "text", "text": text }] })
}

/// Returns for each secret an output that contains it, a command that contains it (its label is truncated in the middle
/// of the secret too), and arguments that contain it.
fn exchanges(planted: &[Planted]) -> Vec<(Value, Value)> {
    let mut exchanges = Vec::new();
    for (index, secret) in planted.iter().enumerate() {
        let at = 1000 + index * 100;
        let mut push = |name: &str, arguments: Value, output: String| {
            let id = format!("call_{at}_{}", exchanges.len());
            exchanges.push((call(&id, name, &arguments, at), result(&id, name, &output, at + 1)));
        };
        push("exec", json!({ "command": "cat build.log" }), around(&secret.line, at));
        push("exec", json!({ "command": secret.line }), surroundings(24, at + 20));
        // The label is truncated at 120 characters, here within the secret.
        let start = secret.line.find(&secret.value).unwrap_or(0);
        let lead = "cd /srv/shop/releases/current && ".len() + "exec: ".len();
        let padding = 120_usize.saturating_sub(lead + start + secret.value.len() / 2 + 2);
        let long = format!("cd /srv/shop/releases/current &&{} {}", " ".repeat(padding + 1), secret.line);
        push("exec", json!({ "command": long }), surroundings(24, at + 40));
        let script = format!("#!/bin/sh\n{}", around(&secret.line, at + 60));
        push("write", json!({ "path": format!("deploy-{index}.sh"), "content": script }), "written".into());
        let short = json!({ "note": secret.line, "content": surroundings(24, at + 80), "path": format!("n{index}") });
        push("write", short, "written".into());
    }
    exchanges
}

/// Returns every text of a store: the bytes of each file, the values of each row, and the unpacked payloads.
fn everything_in(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).expect("the store's directory") {
        let path = entry.expect("an entry").path();
        found.push((path.display().to_string(), std::fs::read(&path).expect("a readable file")));
    }
    let database = rusqlite::Connection::open(dir.join("concertina.sqlite")).expect("the store's file");
    let mut names = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").expect("a query");
    let tables: Vec<String> =
        names.query_map([], |row| row.get(0)).expect("tables").map(|name| name.expect("a name")).collect();
    for table in tables {
        let mut rows = database.prepare(&format!("SELECT * FROM {table}")).expect("a query");
        let columns: Vec<String> = rows.column_names().map(str::to_owned).collect();
        let mut rows = rows.query([]).expect("rows");
        while let Some(row) = rows.next().expect("a row") {
            for (index, column) in columns.iter().enumerate() {
                let (ValueRef::Text(bytes) | ValueRef::Blob(bytes)) = row.get_ref(index).expect("a value") else {
                    continue;
                };
                let is_packed = column == "payload" && row.get::<_, bool>("is_zstd").expect("a flag");
                let bytes = if is_packed {
                    let size: u32 = row.get("size").expect("a size");
                    zstd::bulk::decompress(bytes, size as usize).expect("a whole frame")
                } else {
                    bytes.to_vec()
                };
                found.push((format!("{table}.{column}"), bytes));
            }
        }
    }
    found
}

fn holds(bytes: &[u8], value: &str) -> bool {
    // A secret within JSON, and half of a secret, count as secrets.
    let half = value.char_indices().nth(value.chars().count() * 2 / 3).map_or(value.len(), |(at, _)| at);
    memchr::memmem::find(bytes, &value.as_bytes()[..half]).is_some()
}

/// The places where planted secrets were found in a store that has received all of them, and its number of originals.
struct Seen {
    leaks: BTreeSet<(String, String)>,
    originals: u64,
    labels: String,
}

fn live_through(secrets: Secrets, schedule: Schedule) -> Seen {
    let dir = TempDir::new().expect("a temporary directory");
    let store = SqliteStore::open(dir.path(), StoreOptions::default()).expect("a fresh directory opens");
    let config = Config { secrets, schedule, ..Config::default() };
    let engine = Engine::new(Arc::new(store), config).expect("the options are good");
    let scope = Scope { agent_id: "main".into(), session_id: "s".into() };
    let planted = planted();
    let mut messages = vec![json!({ "role": "user", "content": "go", "timestamp": 1 })];
    let mut ids = BTreeSet::new();
    for (call, result) in exchanges(&planted) {
        let admitted = engine.admit(&scope, Some(&call), &result, 1);
        assert_eq!(admitted.report.warning, None);
        ids.extend(admitted.report.actions.iter().filter_map(|action| action.ref_id.clone()));
        messages.push(call);
        messages.extend(admitted.rewrite.apply(&[result]));
    }
    for turn in 0..2 {
        let base = 1_000_000 + turn * 1000;
        messages.extend((0..6).map(|n| json!({ "role": "user", "content": format!("t{n}"), "timestamp": base + n })));
        let folded = engine.assemble(&scope, &messages, &AssembleOptions::default(), 86_400_000 * (turn as i64 + 1));
        assert_eq!(folded.report.warning, None);
        assert!(!folded.report.actions.is_empty(), "something is folded");
        ids.extend(folded.report.actions.iter().filter_map(|action| action.ref_id.clone()));
        if turn == 0 {
            for (index, id) in ids.iter().enumerate() {
                let asked = Fetch { ref_ids: vec![id.clone()], max_chars: usize::MAX, ..Fetch::default() };
                let fetched = engine.fetch(&scope, &asked, 5).expect("a fetch");
                for block in &fetched.blocks {
                    let FetchedBlock::Text(text) = block else { continue };
                    if secrets != Secrets::Store {
                        let known = planted.iter().find(|secret| holds(text.as_bytes(), &secret.value));
                        assert!(known.is_none(), "{:?} comes back by {id}", known.map(|secret| &secret.line));
                    }
                    let answer = format!("fetch_{index}");
                    messages.push(call_of(&answer, id));
                    messages.push(result(&answer, "fetch_original_data", text, 500_000 + index));
                }
            }
        }
    }
    let originals = engine.store().stats(None).expect("totals").originals;
    let mut leaks = BTreeSet::new();
    let mut labels = String::new();
    for (place, bytes) in everything_in(dir.path()) {
        if place == "originals.label" {
            labels += &format!("{}\n", String::from_utf8_lossy(&bytes));
        }
        let found = planted.iter().filter(|secret| holds(&bytes, &secret.value));
        leaks.extend(found.map(|secret| (secret.line.clone(), place.clone())));
    }
    Seen { leaks, originals, labels }
}

fn call_of(answer: &str, id: &str) -> Value {
    call(answer, "fetch_original_data", &json!({ "ref_ids": [id] }), 500_000)
}

fn none_is_stored(secrets: Secrets) {
    for schedule in [Schedule::EveryTurn, Schedule::CacheAware] {
        let seen = live_through(secrets, schedule);
        let leaks: Vec<&(String, String)> = seen.leaks.iter().filter(|(_, place)| !place.starts_with('/')).collect();
        assert!(seen.leaks.is_empty(), "{} of {}: {leaks:#?}", seen.leaks.len(), planted().len());
        assert!(seen.originals as usize > planted().len(), "outputs without secrets are stored: {}", seen.originals);
        assert!(seen.labels.contains("exec: cat build.log") || secrets == Secrets::KeepInline);
        assert!(seen.labels.matches("[REDACTED]").count() > planted().len() / 2, "{}", seen.labels);
    }
}

#[test]
fn kept_inline_no_planted_secret_is_in_any_file_of_the_store() {
    none_is_stored(Secrets::KeepInline);
}

#[test]
fn redacted_no_planted_secret_is_in_any_file_of_the_store() {
    none_is_stored(Secrets::Redact);
}

#[test]
fn stored_every_planted_secret_is_found_by_the_same_search() {
    let seen = live_through(Secrets::Store, Schedule::EveryTurn);
    for secret in planted() {
        for place in ["originals.payload", "originals.label"] {
            let found = seen.leaks.contains(&(secret.line.clone(), place.to_owned()));
            // The second line of a private key is beyond the limit of a label.
            let is_short = secret.line.find(&secret.value).is_some_and(|at| at + secret.value.len() < 110);
            assert!(found || (place == "originals.label" && !is_short), "{place}: {}", secret.line);
        }
    }
}

#[test]
fn each_planted_secret_is_found_in_its_line_and_alone_in_json() {
    let planted = planted();
    assert!(planted.len() >= 83);
    for secret in &planted {
        for text in [secret.line.clone(), json!({ "command": secret.line }).to_string(), around(&secret.line, 1)] {
            let found = find_secrets(&text);
            let blank = concertina::secrets::redact(&text, &found);
            assert!(!holds(blank.as_bytes(), &secret.value), "{text}: {found:?}");
            assert!(
                found.len() <= 3,
                "{text}: {:?}",
                found.iter().map(|range| &text[range.clone()]).collect::<Vec<_>>()
            );
        }
    }
}
