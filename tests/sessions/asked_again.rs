//! Tests of what an agent asks for again after it was folded: by a fetch, or by running the tool again.

use std::ops::Range;

use concertina::assemble::{AssembleOptions, Engine, FinishedTurn, Reply};
use concertina::config::{Config, Schedule};
use concertina::reference::ContentHash;
use concertina::store::figures::{FetchedOriginal, FiguresQuery};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::engines::{self, directory, fetch, scope};
use crate::look_alikes::{SHAPES, exchange, noise, talk, user};

fn open(dir: &TempDir) -> Engine {
    let config = Config { schedule: Schedule::EveryTurn, min_tokens_to_squeeze: 50, ..Config::default() };
    engines::open(dir, Config { sccs_compress_threshold: 5000, ..config })
}

fn assembled(engine: &Engine, messages: &[Value], now: i64) -> Reply {
    let reply = engine.assemble(&scope(), messages, &AssembleOptions::default(), now);
    assert_eq!(reply.report.warning, None);
    reply
}

fn asked_again(engine: &Engine) -> Vec<FetchedOriginal> {
    engine.store().figures(&FiguresQuery { session: Some(scope()), ..FiguresQuery::default() }).unwrap().fetched
}

/// Neighbours: the four shapes; a file read again, whole and in part, and a command with the same output; what was
/// folded before, and what was still in sight; a restart between the two.
#[test]
fn a_rerun_of_a_folded_result_is_recorded_once_and_stays() {
    let text = noise(80, 1);
    let (first_half, read) = (noise(40, 1), json!({ "path": "/w/a.rs" }));
    for (tool, arguments, again, output) in [
        ("read", &read, &read, &text),
        ("read", &read, &json!({ "path": "/w/a.rs", "offset": 1, "limit": 40 }), &first_half),
        ("exec", &json!({ "command": "make" }), &json!({ "command": "make" }), &text),
        ("exec", &json!({ "command": "make" }), &json!({ "command": "make -s" }), &text),
    ] {
        for (shape, turns) in SHAPES.into_iter().flat_map(|shape| [(shape, 9), (shape, 1)]) {
            let what = format!("{tool} {again} in {shape} after {turns} turns");
            let dir = directory();
            let engine = open(&dir);
            let result = exchange(shape, "c", tool, arguments, &json!(text), 10);
            let old = [&[user("go")], &result[..], &talk(turns), &[user("once more")]].concat();
            let is_folded = turns == 9;
            assert_eq!(assembled(&engine, &old, 20).report.epoch.is_some(), is_folded, "{what}");
            let rerun = exchange(shape, "d", tool, again, &json!(output), 30);
            let then = [&old[..], &rerun].concat();
            assembled(&engine, &then, 40);
            for now in [50, 60] {
                let found = asked_again(&engine);
                assert_eq!(found.len(), usize::from(is_folded), "{what}");
                for one in found {
                    assert_eq!((one.tool.as_str(), one.is_rerun, one.at), (tool, true, 40), "{what}");
                }
                assembled(&open(&dir), &[&then[..], &talk(1)].concat(), now);
            }
        }
    }
}

#[test]
fn a_rerun_is_billed_and_the_fold_of_the_same_text_is_still_a_saving() {
    let dir = directory();
    let engine = open(&dir);
    let text = noise(80, 1);
    let run = |id, time| exchange("openclaw", id, "exec", &json!({ "command": "make" }), &json!(text), time);
    let old = [&[user("go")], &run("c", 10)[..], &talk(9), &[user("once more")]].concat();
    let folded = assembled(&engine, &old, 20).report;
    let then = [&old[..], &run("d", 30)].concat();
    let report = assembled(&engine, &then, 40).report;
    let answer = json!({ "role": "assistant", "content": "done", "timestamp": 50, "usage": { "input": 9000 } });
    let messages = [&[user("once more")], &run("d", 30)[..], &[answer]].concat();
    let turn = FinishedTurn { advancement_key: "1", messages: &messages, ..FinishedTurn::default() };
    engine.commit_turn(&scope(), &turn, 60).unwrap();
    let query = FiguresQuery { session: Some(scope()), ..FiguresQuery::default() };
    let last = engine.store().recent(&scope(), 0).unwrap().last.unwrap();
    let tokens = folded.actions[0].tokens_before;
    assert_eq!((last.fetched, report.actions.len()), (tokens, 1), "only the rerun is there because of the fold");
    assert_eq!(engine.store().figures(&query).unwrap().total.fetches, 1);
}

#[test]
fn a_file_that_changed_is_not_read_again() {
    let dir = directory();
    let engine = open(&dir);
    let read = json!({ "path": "/w/a.rs" });
    let of = |id, text: String, time| exchange("openclaw", id, "read", &read, &json!(text), time);
    let old = [&[user("go")], &of("c", noise(80, 1), 10)[..], &talk(9), &[user("once more")]].concat();
    assert!(assembled(&engine, &old, 20).report.epoch.is_some());
    let write = json!({ "path": "/w/a.rs", "content": noise(80, 2) });
    let written = exchange("openclaw", "w", "write", &write, &json!("Successfully wrote 2000 bytes"), 30);
    assembled(&engine, &[&old[..], &written, &of("d", noise(80, 2), 35)].concat(), 40);
    assert_eq!(asked_again(&engine), []);
}

/// The output of a command, so many user turns old.
fn aged(id: &str, tool: &str, seed: usize, turns: usize) -> Vec<Value> {
    let result = exchange("openclaw", id, tool, &json!({ "command": "make" }), &json!(noise(80, seed)), 10);
    [&[user("go")], &result[..], &talk(turns)].concat()
}

#[test]
fn results_of_a_tool_stay_longer_if_they_were_asked_for_again() {
    let turns_until_folded = |tool: &str, fetches: usize| {
        let dir = directory();
        let engine = open(&dir);
        let folded = assembled(&engine, &aged("c", "exec", 1, 9), 20);
        let id = folded.report.actions[0].ref_id.clone().unwrap();
        (0..fetches).for_each(|_| drop(fetch(&engine, &id)));
        let is_folded = |turns: &usize| {
            let history = [aged("c", "exec", 1, 9), aged("d", tool, 2, *turns)].concat();
            let reply = assembled(&engine, &history, 30);
            reply.report.actions.iter().any(|action| action.message == aged("c", "exec", 1, 9).len() + 2)
        };
        (1..60).find(is_folded)
    };
    let usual = turns_until_folded("exec", 0);
    assert_eq!(usual, Some(4));
    // Twice as long is 18 model calls longer. Each turn has one, and the first was made when the result became stale.
    assert_eq!(turns_until_folded("exec", 1), usual);
    assert_eq!(turns_until_folded("exec", 2), usual.map(|turns| turns + 17));
    assert_eq!(turns_until_folded("exec", 50), usual.map(|turns| turns + 17));
    assert_eq!(turns_until_folded("browser", 50), usual);
}

/// Returns the reasons for which the output of a command was rewritten at birth.
fn born(engine: &Engine, text: &str) -> Vec<&'static str> {
    let exchange = exchange("openclaw", "c", "exec", &json!({ "command": "make" }), &json!(text), 10);
    let reply = engine.admit(&scope(), exchange.first(), &exchange[1], 10);
    assert_eq!(reply.report.warning, None);
    reply.report.actions.iter().map(|action| action.reason).collect()
}

#[test]
fn larger_results_stay_whole_if_those_of_their_tool_were_asked_for_again() {
    let dir = directory();
    let engine = open(&dir);
    // Hashes cannot be shortened. Each line has 65 characters.
    let hash = |line: usize| ContentHash::of(&line.to_le_bytes()).to_hex();
    let hashes = |lines: Range<usize>| lines.map(|line| hash(line) + "\n").collect::<String>();
    let [first, second, huge] = [0..100, 100..240, 300..500].map(hashes);
    assert_eq!(born(&engine, &first), ["large"]);
    let folded = engine.folded(&scope()).unwrap();
    let id = &folded[0].ref_id;
    (0..2).for_each(|_| drop(fetch(&engine, id)));
    assert!(!born(&engine, &second).contains(&"large"));
    assert_eq!(born(&engine, &huge), ["large"], "twice the threshold is the most");
    assert_eq!(born(&engine, &first), ["large"], "what a request showed stays as it was when it is repeated");
}
