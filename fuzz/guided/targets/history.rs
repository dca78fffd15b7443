//! A session whose messages are any JSON, in a store: its messages are admitted, assembled turn by turn, replayed, and
//! unfolded again.

use std::sync::LazyLock;

use concertina::assemble::{AssembleOptions, Engine, FinishedTurn};
use concertina::store::Scope;
use serde_json::Value;
use tempfile::TempDir;

use super::{engine, messages};

static ENGINE: LazyLock<(Engine, TempDir)> = LazyLock::new(|| engine(messages::config()));

pub(super) fn run(data: &[u8]) {
    let (engine, _) = &*ENGINE;
    let Ok(said) = serde_json::from_slice::<Vec<Value>>(data) else { return };
    let scope = Scope { agent_id: "main".into(), session_id: "s".into() };
    let born: Vec<Value> = (said.iter().enumerate())
        .flat_map(|(at, message)| {
            engine.admit(&scope, said[..at].last(), message, 1).rewrite.apply(std::slice::from_ref(message))
        })
        .collect();
    let mut shown = Vec::new();
    for turn in 1..=born.len() {
        let so_far = &born[..turn];
        let now = 1000 + turn as i64;
        let assembled = engine.assemble(&scope, so_far, &AssembleOptions::default(), now);
        shown = assembled.rewrite.apply(so_far);
        let again = engine.assemble(&scope, so_far, &AssembleOptions::default(), now).rewrite.apply(so_far);
        assert_eq!(shown, again, "what was sent is replayed");
        let key = turn.to_string();
        let finished = FinishedTurn { advancement_key: &key, messages: so_far, ..FinishedTurn::default() };
        let _ = engine.commit_turn(&scope, &finished, now);
    }
    let unfolded = engine.unfold(Some(&scope), "main", &shown, 5000).expect("a store that works");
    assert!(unfolded.missing.is_empty(), "{:?}", unfolded.missing);
    let _ = engine.store().purge(&scope);
}

pub(super) use super::messages::{seeds, words};
