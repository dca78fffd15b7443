//! Turns of an agent with a store that fails once: every turn succeeds, and what was shown does not change.

use std::path::Path;
use std::sync::Arc;

use concertina::assemble::{AssembleOptions, Engine, Fetch, FetchedBlock, FinishedTurn};
use concertina::config::Config;
use concertina::pipeline::restore;
use concertina::reference::{Marker, find_markers};
use concertina::store::SqliteStore;
use concertina_power_test::{Dice, Disk, Fault, Mode};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::suite::{START, open, scope};
use super::{Failing, Lived};

/// The number of turns of a conversation. A result is stale after three.
const TURNS: usize = 9;

fn engine(store: SqliteStore) -> Engine {
    let config = Config { stale_turns: 3, sccs_compress_threshold: 3_000, ..Config::default() };
    Engine::new(Arc::new(store), config).unwrap()
}

/// Returns the tool result of a turn. Every third result is oversize.
fn output(turn: usize) -> String {
    let lines = if turn % 3 == 2 { 600 } else { 240 };
    (0..lines).map(|line| format!("{turn}.{line} unit took {} ms\n", line * (7919 + turn) % 977)).collect()
}

fn result(turn: usize) -> Value {
    json!({ "role": "toolResult", "toolCallId": format!("c{turn}"), "toolName": "exec", "timestamp": START + 10 * turn as i64 + 2,
        "content": [{ "type": "text", "text": output(turn) }] })
}

/// Returns the messages before the tool result of a turn.
fn asked(turn: usize) -> [Value; 2] {
    let at = START + 10 * turn as i64;
    [
        json!({ "role": "user", "content": format!("turn {turn}"), "timestamp": at }),
        json!({ "role": "assistant", "timestamp": at + 1,
            "content": [{ "type": "toolCall", "id": format!("c{turn}"), "name": "exec", "arguments": { "command": format!("run {turn}") } }] }),
    ]
}

/// Returns the shown messages that differ from those of the history.
fn folded(history: &[Value], shown: &[Value]) -> Vec<(usize, Value)> {
    history
        .iter()
        .zip(shown)
        .enumerate()
        .filter(|(_, (held, shown))| held != shown)
        .map(|(at, (_, shown))| (at, shown.clone()))
        .collect()
}

/// Admits, assembles and commits each turn. Only the fault causes a warning, and then the host's own messages or the
/// earlier folds are shown. A fold is shown with the same bytes from then on, even after a power cut.
pub(crate) fn life(home: &Path, at: usize, fault: Fault) -> Lived {
    let mut life = Failing::at(home, at, fault);
    let engine = engine(life.insist("open", || open(home)));
    let me = scope("session");
    let mut history: Vec<Value> = Vec::new();
    let mut decided: Vec<(usize, Value)> = Vec::new();
    let mut has_failed = false;
    for turn in 0..TURNS {
        let now = START + 10 * turn as i64 + 3;
        let before = life.begin("admit");
        let admitted = engine.admit(&me, None, &result(turn), now);
        if let Some(warning) = &admitted.report.warning {
            life.blame("admit", before, &warning.message);
        }
        history.extend(asked(turn));
        history.extend(admitted.rewrite.apply(&[result(turn)]));
        let before = life.begin("assemble");
        let assembled = engine.assemble(&me, &history, &AssembleOptions::default(), now + 1);
        let shown = assembled.rewrite.apply(&history);
        let folds = folded(&history, &shown);
        has_failed = assembled.report.warning.is_some();
        match &assembled.report.warning {
            // Nothing new is shown.
            Some(warning) => {
                life.blame("assemble", before, &warning.message);
                assert!(folds.iter().all(|fold| decided.contains(fold)), "turn {turn}, call {at}: {fault:?}");
            }
            None => {
                assert!(decided.iter().all(|fold| folds.contains(fold)), "turn {turn}, call {at}: {fault:?}");
                decided = folds;
            }
        }
        let key = format!("turn {turn}");
        let messages = &history[3 * turn..];
        let finished = FinishedTurn {
            advancement_key: &key,
            session_key: None,
            messages,
            prices: None,
            tool: "{}",
            ..FinishedTurn::default()
        };
        life.insist("commit_turn", || engine.commit_turn(&me, &finished, now + 2));
    }
    assert!(decided.len() >= 4, "{}", decided.len());
    let (errors, calls, cut) = (life.errors, life.disk.calls(), life.disk.cut_now());
    drop(engine);
    let left = TempDir::new().unwrap();
    cut.write_to(left.path(), &mut Dice::new(at as u64)).unwrap();
    let _disk = Disk::at(left.path(), Mode::Honest).unwrap();
    let engine = self::engine(open(left.path()).unwrap());
    let again = engine.assemble(&me, &history, &AssembleOptions::default(), START + 10 * TURNS as i64);
    assert_eq!(again.report.warning, None);
    let mut folds = folded(&history, &again.rewrite.apply(&history));
    if has_failed {
        // A later turn may fold what this one did not.
        folds.retain(|(at, _)| decided.iter().any(|(known, _)| known == at));
    }
    assert_eq!(folds, decided, "call {at}: {fault:?}, and a power cut");
    for turn in 0..TURNS {
        let position = 3 * turn + 2;
        let shown = decided.iter().find(|(at, _)| *at == position).map_or(&history[position], |(_, shown)| shown);
        let shown = shown["content"][0]["text"].as_str().unwrap();
        let Some((_, Marker::Reference(id) | Marker::Rewind(id))) = find_markers(shown).next() else {
            assert_eq!(restore(shown, &[]), output(turn), "turn {turn}, call {at}: {fault:?}");
            continue;
        };
        let asked = Fetch { ref_ids: vec![id.to_string()], max_chars: usize::MAX, ..Fetch::default() };
        let found = engine.fetch(&me, &asked, START + 100).unwrap().blocks.remove(0);
        // A failed read may have hidden that a text was shortened at birth. Then the shortened text was stored, and it
        // can be unfolded by itself.
        let FetchedBlock::Text(found) = found else { panic!("a text was put") };
        assert_eq!(restore(&found, &[]), output(turn), "turn {turn}, call {at}: {fault:?}");
    }
    Lived { calls, steps: life.steps, errors, told: String::new() }
}
