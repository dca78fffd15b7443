//! Tests of calls and results of every harness: results for scripts and fetched originals are not folded while they are
//! fresh, whatever the tool is called, and equal parts of two originals are distinguished.

use concertina::assemble::{Engine, Fetch, FetchedBlock};
use concertina::config::{Config, Schedule};
use concertina::squeeze::squeeze;
use concertina::store::PrintedKind;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::engines::{self, scope};

/// Returns a log that every stage can fold.
fn log(lines: usize) -> String {
    (0..lines).map(|line| format!("2026-11-01 INFO worker {} took {} ms\n", line % 7, line * 7919 % 997)).collect()
}

/// Returns a call by `caller` and its result, in the shapes that have a caller, which is on the call or only on the
/// result.
fn called(caller: &Value, on_call: bool, text: &str) -> Vec<[Value; 2]> {
    let set = |mut part: Value, is_here: bool| {
        if is_here {
            part["caller"] = caller.clone();
        }
        part
    };
    vec![
        [
            json!({ "role": "assistant", "content": [
                set(json!({ "type": "tool_use", "id": "c", "name": "exec", "input": { "command": "x" } }), on_call)] }),
            json!({ "role": "user", "content": [
                set(json!({ "type": "tool_result", "tool_use_id": "c", "content": text }), !on_call)] }),
        ],
        [
            set(json!({ "type": "function_call", "call_id": "c", "name": "exec", "arguments": "{}" }), on_call),
            set(json!({ "type": "function_call_output", "call_id": "c", "output": text }), !on_call),
        ],
        [
            json!({ "role": "assistant", "content": [
                set(json!({ "type": "toolCall", "id": "c", "name": "exec", "arguments": {} }), on_call)] }),
            set(
                json!({ "role": "toolResult", "toolCallId": "c", "content": [{ "type": "text", "text": text }] }),
                !on_call,
            ),
        ],
    ]
}

/// Covers three shapes, with the caller on the call or on the result; absent, null and direct, two kinds of script, and
/// a plain word; at birth and in `squeeze()`.
#[test]
fn results_for_scripts_stay_while_they_are_fresh() {
    let text = log(2000);
    let (config, _) = Config::from_json(json!({ "largeResultThreshold": 30_000 }).as_object().unwrap()).unwrap();
    let mut tried = 0;
    for (caller, is_script) in [
        (json!(null), false),
        (json!({ "type": "direct" }), false),
        (json!({ "type": "code_execution_20250825", "tool_id": "srvtoolu_1" }), true),
        (json!({ "type": "program", "caller_id": "p" }), true),
        (json!("program"), true),
    ] {
        for on_call in [true, false] {
            for [call, result] in called(&caller, on_call, &text) {
                let dir = TempDir::new().unwrap();
                let engine = engines::open(&dir, Config::default());
                let born = engine.admit(&scope(), Some(&call), &result, 1);
                assert_eq!(born.rewrite.is_empty(), is_script, "{caller} {result:.80}");
                let messages = [json!({ "role": "user", "content": "go" }), call, result];
                let (cut, _) = squeeze(&messages, &config);
                assert_eq!(cut.is_empty(), is_script, "{caller}");
                tried += 1;
            }
        }
    }
    assert_eq!(tried, 5 * 2 * 3);
}

fn engine(dir: &TempDir) -> Engine {
    let (config, _) = Config::from_json(json!({ "sccsCompressThreshold": 2000 }).as_object().unwrap()).unwrap();
    engines::open(dir, Config { schedule: Schedule::EveryTurn, ..config })
}

fn fetched(engine: &Engine, asked: &str) -> String {
    let fetch = Fetch { ref_ids: vec![asked.to_owned()], max_chars: 100_000, ..Fetch::default() };
    match engine.fetch(&scope(), &fetch, 2).unwrap().blocks.remove(0) {
        FetchedBlock::Text(text) => text,
        FetchedBlock::Exact(_) | FetchedBlock::Image(..) => panic!("a text was stored"),
    }
}

fn stored(engine: &Engine, text: &str) -> String {
    let message = json!({ "role": "toolResult", "toolCallId": "c", "content": [{ "type": "text", "text": text }] });
    let born = engine.admit(&scope(), None, &message, 1);
    born.report.actions[0].ref_id.clone().expect("an id")
}

/// Covers the tool's own name, the name with a server's prefix, another name, and none; the whole original, lines,
/// characters and a pattern.
#[test]
fn fetched_answers_are_not_folded_whatever_the_name_of_the_tool() {
    for name in [Some("fetch_original_data"), Some("mcp__x__fetch_original_data"), Some("call_tool"), None] {
        for part in ["", ":1-300", ":c1-9000", ":/worker [1-6]/"] {
            let dir = TempDir::new().unwrap();
            let engine = engine(&dir);
            let id = stored(&engine, &log(400));
            let answer = fetched(&engine, &format!("{id}{part}"));
            let mut message =
                json!({ "role": "toolResult", "toolCallId": "f", "content": [{ "type": "text", "text": answer }] });
            if let Some(name) = name {
                message["toolName"] = json!(name);
            }
            assert!(engine.admit(&scope(), None, &message, 3).rewrite.is_empty(), "{name:?} {part}");
            let other = message.to_string().replace("worker", "walker");
            let other: Value = serde_json::from_str(&other).unwrap();
            let is_fetch_tool = name == Some("fetch_original_data");
            assert_eq!(engine.admit(&scope(), None, &other, 3).rewrite.is_empty(), is_fetch_tool, "{name:?} {part}");
        }
    }
}

/// Covers pages by lines, by characters and by pattern, and two pages in one call, in either order.
#[test]
fn equal_parts_of_two_originals_are_distinguished() {
    let versions = [log(400), log(400) + "one more line\n"];
    for part in [":1-40", ":c1-400", ":/worker [1-6]/", ":3-3"] {
        for order in [[0, 1], [1, 0]] {
            let dir = TempDir::new().unwrap();
            let engine = engine(&dir);
            let ids = versions.each_ref().map(|text| stored(&engine, text));
            let pages = order.map(|at| (at, fetched(&engine, &format!("{}{part}", ids[at]))));
            let printed = engine.store().ledger(&scope()).unwrap().printed;
            for (at, page) in &pages {
                let hash = concertina::reference::ContentHash::of(page.as_bytes());
                let row =
                    printed.iter().find(|row| row.text == hash && row.kind == PrintedKind::Copy).expect("a record");
                assert!(row.original.to_hex().starts_with(&ids[*at]), "{part} of {at}: {page:.200}");
            }
        }
    }
}
