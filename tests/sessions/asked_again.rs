//! Tests of what an agent asks for again after it was folded: by a fetch, or by running the tool again.

use concertina::assemble::{AssembleOptions, Engine, FinishedTurn, Reply};
use concertina::config::{Config, Schedule};
use concertina::store::figures::{FetchedOriginal, FiguresQuery};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::engines::{self, directory, scope};
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
