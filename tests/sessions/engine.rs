//! Tests of the engine's operations with a real store: nothing is lost, nothing changes without a logged epoch, and a
//! failing store never stops a turn.

use concertina::assemble::{AssembleOptions, Engine, FetchedBlock, FinishedTurn};
use concertina::config::{Config, RulesScope, Schedule};
use concertina::store::figures::FiguresQuery;
use concertina::store::{Scope, StoreOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::engines::{fetch, scope};
use crate::{corpus, engines};

fn open(dir: &TempDir) -> Engine {
    open_with(dir, Config::default())
}

fn open_with(dir: &TempDir, config: Config) -> Engine {
    engines::open_with(dir, config, StoreOptions { busy_timeout_ms: 50, ..StoreOptions::default() })
}

fn result(text: &str) -> Value {
    json!({ "role": "toolResult", "toolCallId": "c", "toolName": "exec", "content": [{ "type": "text", "text": text }] })
}

/// Appends six user turns to a message, so that it is stale.
fn aged(message: Value) -> Vec<Value> {
    let mut messages = vec![json!({ "role": "user", "content": "go", "timestamp": 1 }), message];
    messages
        .extend((0..6).map(|turn| json!({ "role": "user", "content": format!("t{turn}"), "timestamp": 10 + turn })));
    messages
}

#[test]
fn hostile_texts_come_back_byte_for_byte_at_birth_and_when_stale() {
    let nested = (0..100).fold("1".to_owned(), |inner, _| format!("{{\"nested\": {inner}}}"));
    let texts = [
        "x".repeat(80_000),
        " ".repeat(80_000),
        "\n".repeat(40_000),
        "a b c, 1.10 ".repeat(900_000),
        "line one\r\nline two\r\n".repeat(2_000),
        format!("nul \0 byte {}", "and more \u{feff}".repeat(2_000)),
        "漢字かな交じり文。".repeat(3_000),
        format!("{nested}{}", " ".repeat(4_000)),
        (0..60_000).map(|line| format!("{line} unit took {} ms\n", line * 7919 % 977)).collect(),
    ];
    for text in texts {
        let dir = TempDir::new().unwrap();
        let engine = open(&dir);
        let admitted = engine.admit(&scope(), None, &result(&text), 1);
        assert_eq!(admitted.report.warning, None);
        let id = admitted.report.actions[0].ref_id.clone().expect("an oversize output is shortened or replaced");
        assert_eq!(fetch(&engine, &id), FetchedBlock::Text(text.clone()), "{} bytes at birth", text.len());
        let messages = aged(result(&text));
        let folded = engine.assemble(&scope(), &messages, &AssembleOptions::default(), 2);
        let id = folded.report.actions[0].ref_id.clone().expect("a stale output is folded");
        assert_eq!(fetch(&engine, &id), FetchedBlock::Text(text.clone()), "{} bytes when stale", text.len());
    }
}

#[test]
fn a_result_shortened_at_birth_refers_to_its_original_when_stale() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir);
    let text = (0..120)
        .map(|line| format!("the very same paragraph of some length, line {}\n\n", line % 2))
        .collect::<String>();
    let admitted = engine.admit(&scope(), None, &result(&text), 1);
    assert_eq!(admitted.report.actions[0].reason, "shortened");
    let shown = admitted.rewrite.apply(&[result(&text)]).remove(0);
    let again = engine.admit(&scope(), None, &shown, 2);
    assert!(again.rewrite.is_empty(), "what is shortened is not shortened again");
    let mut messages = aged(shown.clone());
    messages[1]["content"][0]["text"] = json!(shown["content"][0]["text"]);
    let config = Config { min_tokens_to_squeeze: 50, ..Config::default() };
    let engine = engines::open(&dir, config);
    let folded = engine.assemble(&scope(), &messages, &AssembleOptions::default(), 3);
    if let Some(action) = folded.report.actions.first() {
        assert_eq!(action.ref_id, admitted.report.actions[0].ref_id, "nothing is stored twice");
    }
    assert_eq!(engine.store().stats(None).unwrap().originals, 1);
    assert_eq!(fetch(&engine, admitted.report.actions[0].ref_id.as_deref().unwrap()), FetchedBlock::Text(text));
}

#[test]
fn a_placeholder_that_was_printed_for_another_session_is_not_folded() {
    let text: String = (0..1500).map(|line| format!("unit {line} took {} ms\n", line * 7919 % 977)).collect();
    for schedule in [Schedule::EveryTurn, Schedule::CacheAware] {
        let dir = TempDir::new().unwrap();
        let engine = open_with(&dir, Config { schedule, fusion_enabled: false, ..Config::default() });
        let born = [result(&text)];
        let shown = engine.admit(&scope(), None, &born[0], 1).rewrite.apply(&born).remove(0);
        assert!(shown["content"][0]["text"].as_str().unwrap().starts_with("[REF_ID: "));
        let fork = Scope { session_id: "fork".into(), ..scope() };
        assert!(engine.assemble(&fork, &aged(shown), &AssembleOptions::default(), 20).rewrite.is_empty());
    }
}

#[test]
fn prose_in_results_is_shortened_only_where_the_scope_says_all() {
    // Sentences of one shape would be folded even without shortening.
    let text = "In order to run the checks, you will basically need to make use of the script that is located in `checks.sh`. \
                Please note that they are actually quite slow, due to the fact that each of them starts from scratch.\n\n\
                Prior to a release, it is absolutely necessary to carry out a review of the changes, in the event that one of \
                them is able to break what is already there for the purpose of older clients.\n\n\
                With regard to the reports, a large number of them are in close proximity to the limit of the disk. At this \
                point in time, the vast majority of teams simply delete whatever is older than a week.\n\n\
                Builds take the majority of an hour, despite the fact that most of the modules did not change at all. It is \
                possible to make use of the cache, provided that the lock file has not been changed in the meantime.\n"
        .to_owned();
    let shown = |rules_scope| {
        let dir = TempDir::new().unwrap();
        let engine = open_with(&dir, Config { rules_scope, ..Config::default() });
        let admitted = engine.admit(&scope(), None, &result(&text), 1);
        let shown = admitted.rewrite.apply(&[result(&text)]).remove(0);
        if let Some(action) = admitted.report.actions.first() {
            let id = action.ref_id.as_deref().expect("a shortened result has its original");
            assert_eq!(fetch(&engine, id), FetchedBlock::Text(text.clone()));
        }
        shown["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let [refresh, all] = [RulesScope::Refresh, RulesScope::All].map(shown);
    assert!(refresh.contains("due to the fact that"), "{refresh}");
    assert!(!all.contains("due to the fact that") && all.contains("`checks.sh`"), "{all}");
}

#[test]
fn options_of_a_model_apply_to_it_at_birth_and_when_stale() {
    let dir = TempDir::new().unwrap();
    let options = json!({ "sccsCompressThreshold": 100_000, "staleTurns": 90, "models": { "small-*": { "sccsCompressThreshold": 2000, "staleTurns": 4 } } });
    let (config, _) = Config::from_json(options.as_object().unwrap()).unwrap();
    let engine = open_with(&dir, Config { fusion_enabled: false, ..config });
    let text: String = (0..300).map(|line| format!("{line} unit took {} ms\n", line * 7919 % 977)).collect();
    let born =
        |model: Option<&str>| !engine.of_model(model).admit(&scope(), None, &result(&text), 1).rewrite.is_empty();
    assert_eq!([None, Some("large-2"), Some("small-2")].map(born), [false, false, true]);
    let folds = |model: &str| {
        let options = AssembleOptions { model: Some(model.into()), ..AssembleOptions::default() };
        !engine.assemble(&scope(), &aged(result(&text)), &options, 2).rewrite.is_empty()
    };
    assert_eq!(["large-2", "small-2"].map(folds), [false, true]);
}

#[test]
fn empty_and_null_content_is_left_alone() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir);
    for content in [json!(null), json!(""), json!([]), json!([{ "type": "text", "text": "" }]), json!([null, 7])] {
        let message = json!({ "role": "toolResult", "toolCallId": "c", "toolName": "exec", "content": content });
        assert!(engine.admit(&scope(), None, &message, 1).rewrite.is_empty());
        assert!(engine.assemble(&scope(), &aged(message), &AssembleOptions::default(), 2).rewrite.is_empty());
    }
}

/// Checks a turn with a stale output and a broken store: it returns the host's messages and one warning with this code.
fn turn_goes_on(engine: &Engine, code: &str) {
    let text = (0..300).map(|line| format!("{line} took {} ms\n", line * 31)).collect::<String>();
    let admitted = engine.admit(&scope(), None, &result(&text), 1);
    assert!(admitted.rewrite.is_empty());
    assert_eq!(admitted.report.warning.expect("a warning at birth").code, code);
    let folded = engine.assemble(&scope(), &aged(result(&text)), &AssembleOptions::default(), 2);
    assert!(folded.rewrite.is_empty());
    assert_eq!(folded.report.warning.expect("a warning at assembly").code, code);
    assert_eq!(folded.report.tokens_before, folded.report.tokens_after);
}

#[test]
fn a_locked_database_does_not_stop_the_turn() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir);
    let other = rusqlite::Connection::open(dir.path().join("concertina.sqlite")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    turn_goes_on(&engine, "CONCERTINA_STORE_LOCKED");
    other.execute_batch("ROLLBACK").unwrap();
    let admitted = engine.admit(&scope(), None, &result(&"all is well again ".repeat(400)), 3);
    assert_eq!(admitted.report.actions.len(), 1, "the next turn folds again");
}

#[test]
fn a_truncated_database_does_not_stop_the_turn() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir);
    engine.admit(&scope(), None, &result(&"something to store ".repeat(400)), 1);
    let file = dir.path().join("concertina.sqlite");
    rusqlite::Connection::open(&file).unwrap().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    std::fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(5_000).unwrap();
    turn_goes_on(&engine, "CONCERTINA_STORE_DAMAGED");
}

#[test]
fn a_turn_whose_assembly_failed_saves_nothing() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir);
    let messages = aged(result(&"the first output, soon stale ".repeat(100)));
    let saved = |key: &str, now| {
        let answer = json!({ "role": "assistant", "content": "done", "timestamp": now, "usage": { "input": 500 } });
        let turn = FinishedTurn { advancement_key: key, messages: &[answer], ..FinishedTurn::default() };
        engine.commit_turn(&scope(), &turn, now).unwrap();
        let total = engine.store().figures(&FiguresQuery::default()).unwrap().total.amount;
        total.without_tokens - total.sent_tokens
    };
    engine.assemble(&scope(), &messages, &AssembleOptions::default(), 20);
    let before = saved("1", 21);
    assert!(before > 0);
    let other = rusqlite::Connection::open(dir.path().join("concertina.sqlite")).unwrap();
    other.execute_batch("ALTER TABLE projections RENAME TO gone").unwrap();
    let failed = engine.assemble(&scope(), &messages, &AssembleOptions::default(), 30);
    assert!(failed.rewrite.is_empty() && failed.report.warning.is_some());
    other.execute_batch("ALTER TABLE gone RENAME TO projections").unwrap();
    assert_eq!(saved("2", 31), before);
}

#[test]
fn decisions_stay_in_force_while_the_store_is_locked() {
    let dir = TempDir::new().unwrap();
    let engine = open(&dir);
    let first = "the first output, soon stale ".repeat(100);
    let messages = aged(result(&first));
    let before = engine.assemble(&scope(), &messages, &AssembleOptions::default(), 2);
    assert_eq!(before.report.actions.len(), 1);
    let other = rusqlite::Connection::open(dir.path().join("concertina.sqlite")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let longer = [messages.clone(), aged(result(&"the second output, stale too ".repeat(100)))].concat();
    let after = engine.assemble(&scope(), &longer, &AssembleOptions::default(), 3);
    assert_eq!(after.report.warning.expect("a warning").code, "CONCERTINA_STORE_LOCKED");
    assert_eq!(after.rewrite.apply(&longer)[..messages.len()], before.rewrite.apply(&messages)[..]);
}

#[test]
fn earlier_bytes_change_only_in_a_logged_epoch() {
    let mut sessions = 0;
    for (name, messages) in corpus::sessions() {
        sessions += 1;
        let dir = TempDir::new().unwrap();
        let mut engine = open(&dir);
        let mut sent: Vec<Value> = Vec::new();
        let turns: Vec<usize> =
            (1..=messages.len()).filter(|&end| messages.get(end).is_none_or(|next| next["role"] == "user")).collect();
        // About twelve turns of a long session are enough to see every kind of change.
        for end in turns.iter().copied().step_by(turns.len().div_ceil(12)) {
            let history = &messages[..end];
            let reply = engine.assemble(&scope(), history, &AssembleOptions::default(), end as i64);
            assert_eq!(reply.report.warning, None, "{name}");
            let now = reply.rewrite.apply(history);
            if reply.report.epoch.is_none() {
                assert_eq!(now[..sent.len()], sent[..], "{name} at {end}");
            }
            // A restart changes nothing either.
            engine = open(&dir);
            let again = engine.assemble(&scope(), history, &AssembleOptions::default(), end as i64);
            assert_eq!(again.report.epoch, None, "{name} at {end}");
            assert_eq!(again.rewrite.apply(history), now, "{name} at {end}");
            sent = now;
        }
    }
    assert!(sessions > 0, "there is a session to look at");
}

#[test]
fn every_fold_of_a_session_brings_back_its_bytes() {
    for (name, messages) in corpus::sessions() {
        let dir = TempDir::new().unwrap();
        let engine = open(&dir);
        let reply = engine.assemble(&scope(), &messages, &AssembleOptions::default(), 1);
        for (action, patch) in reply.report.actions.iter().zip(&reply.rewrite.patches) {
            let was = patch.path.follow(&messages[patch.message]).expect("a patched value");
            let id = action.ref_id.as_deref().expect("a new fold has an id");
            match fetch(&engine, id) {
                FetchedBlock::Text(text) => {
                    assert_eq!(text, was.as_str().map_or_else(|| was.to_string(), str::to_owned))
                }
                FetchedBlock::Exact(_) => panic!("no text has lone surrogates"),
                FetchedBlock::Image(bytes, _) => {
                    let base64 = was["data"].as_str().or(was["source"]["data"].as_str()).expect("an inline image");
                    assert_eq!(base64_simd::STANDARD.decode_to_vec(base64).expect("base64"), bytes);
                }
            }
            assert!(action.tokens_after < action.tokens_before, "{name}");
        }
    }
}
