//! Tests of what people protect and ask for: pins, the option `protect`, `<keep>`, folding and restoring at once, and
//! what an agent releases, in the four shapes of messages.

use concertina::assemble::{AssembleOptions, Engine, FETCH_TOOL, Fetch, FetchedBlock, FinishedTurn, Reply};
use concertina::config::{Config, Schedule};
use concertina::plan::prices::StatedPrices;
use concertina::reference::RefId;
use concertina::store::Scope;
use concertina::store::figures::FiguresQuery;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::engines::{self, directory, fetch, scope};
use crate::look_alikes::{SHAPES, exchange, noise, talk, user};

const SCHEDULES: [Schedule; 2] = [Schedule::EveryTurn, Schedule::CacheAware];

fn open(dir: &TempDir, schedule: Schedule, options: &Value) -> Engine {
    let (config, warnings) = Config::from_json(options.as_object().expect("an object")).expect("good options");
    assert!(warnings.is_empty(), "{warnings:?}");
    engines::open(dir, Config { schedule, min_tokens_to_squeeze: 50, min_tokens_to_fold: 50, ..config })
}

fn other_session(agent: &str, session: &str) -> Scope {
    Scope { agent_id: agent.into(), session_id: session.into() }
}

/// Assembles at prices at which folding pays at once.
fn assembled(engine: &Engine, scope: &Scope, messages: &[Value], now: i64) -> (String, Reply) {
    let prices = Some(StatedPrices::relative(1.0, 1.0, 300_000));
    let reply = engine.assemble(scope, messages, &AssembleOptions { prices, ..AssembleOptions::default() }, now);
    assert_eq!(reply.report.warning, None);
    (json!(reply.rewrite.apply(messages)).to_string(), reply)
}

/// Returns true if a text stands in messages, whatever their shape.
fn holds(messages: &str, text: &str) -> bool {
    messages.contains(json!(text).to_string().trim_matches('"'))
}

fn epoch(reply: &Reply) -> Option<&str> {
    reply.report.epoch.as_ref().map(|epoch| epoch.reason.as_str())
}

fn id_in(reply: &Reply) -> RefId {
    let ids: Vec<&String> = reply.report.actions.iter().filter_map(|action| action.ref_id.as_ref()).collect();
    assert_eq!(ids.len(), 1, "{:?}", reply.report.actions);
    RefId::parse(ids[0]).expect("an id of ours")
}

/// A turn whose command prints `text`.
fn turn_of(shape: &str, words: &str, text: &str) -> Vec<Value> {
    let arguments = json!({ "command": "make" });
    [vec![user(words)], exchange(shape, "c", "exec", &arguments, &json!(text), 10)].concat()
}

#[test]
fn a_pinned_result_is_never_folded_over_restart_fork_sub_agent_and_compaction() {
    let text = noise(80, 1);
    for (shape, schedule) in SHAPES.into_iter().flat_map(|shape| SCHEDULES.map(|schedule| (shape, schedule))) {
        for is_pinned in [true, false] {
            let dir = directory();
            let engine = open(&dir, schedule, &json!({}));
            let turn = turn_of(shape, "go", &text);
            assembled(&engine, &scope(), &turn, 20);
            if is_pinned {
                engine.pin_last(&scope(), 30).unwrap();
            }
            // A later result is not the last one at the time of the pin, where messages have times.
            let later = exchange(shape, "d", "exec", &json!({ "command": "ls" }), &json!(noise(80, 2)), 40);
            let then = if shape == "openclaw" { [&turn[..], &later].concat() } else { turn.clone() };
            assembled(&engine, &scope(), &then, 50);
            let old = [&then[..], &talk(9)].concat();
            let compacted = [&[user("Summary so far: it went well.")], &old[1..]].concat();
            let after = |name: &str, of: &Scope, messages: &[Value]| {
                let engine = open(&dir, schedule, &json!({}));
                let (shown, _) = assembled(&engine, of, messages, 60);
                assert_eq!(holds(&shown, &text), is_pinned, "{shape} {schedule:?} after {name}");
                assert!(!holds(&shown, &noise(80, 2)), "{shape} {schedule:?}: only the last result was pinned");
            };
            after("a restart", &scope(), &old);
            after("a compaction", &scope(), &compacted);
            let (fork, sub) = (other_session("main", "fork"), other_session("helper", "sub"));
            engine.store().inherit(&scope(), &fork, None, 70).unwrap();
            engine.store().inherit(&scope(), &sub, Some(&[]), 70).unwrap();
            after("a fork", &fork, &old);
            after("a sub-agent", &sub, &old);
            if is_pinned {
                assert_eq!(engine.unpin(&scope(), 80).unwrap(), 1);
                let (shown, _) = assembled(&engine, &scope(), &old, 90);
                assert!(!holds(&shown, &text), "{shape} {schedule:?}: what is unpinned is folded");
            }
        }
    }
}

#[test]
fn what_a_pattern_protects_stays_at_birth_and_later() {
    let text = noise(400, 3);
    for (protect, tool, arguments, expected) in [
        (json!([]), "read", json!({ "path": "/w/docs/spec/a.md" }), false),
        (json!(["docs/spec/*.md"]), "read", json!({ "path": "/w/docs/spec/a.md" }), true),
        (json!(["docs/spec/*.md"]), "exec", json!({ "command": "cat docs/spec/a.md" }), true),
        (json!(["docs/spec/*.md"]), "read", json!({ "path": "/w/docs/a.md" }), false),
        (json!(["tool:brow*"]), "browser", json!({}), true),
        (json!(["command:git log*"]), "exec", json!({ "command": "cd /w\ngit log -3" }), true),
        (json!(["content:unit_3 took"]), "exec", json!({ "command": "make" }), true),
        (json!(["content:unit_4 took"]), "exec", json!({ "command": "make" }), false),
        (json!(["tool:*", "!tool:exec"]), "exec", json!({ "command": "make" }), false),
        (json!([]), "read", json!({ "path": "/w/.cursor/rules/style.mdc" }), true),
        (json!([]), "skill", json!({ "name": "deploy" }), true),
        (json!(["!tool:skill"]), "skill", json!({ "name": "deploy" }), false),
    ] {
        for (shape, schedule) in SHAPES.into_iter().flat_map(|shape| SCHEDULES.map(|schedule| (shape, schedule))) {
            let dir = directory();
            let engine = open(&dir, schedule, &json!({ "protect": protect, "exactTools": [] }));
            let round = exchange(shape, "c", tool, &arguments, &json!(text), 10);
            let context = format!("{protect} {tool} {arguments} {shape} {schedule:?}");
            if shape != "responses" {
                let born = engine.admit(&scope(), Some(&round[0]), &round[1], 20);
                assert_eq!(born.rewrite.is_empty(), expected, "at birth: {context}");
            }
            let messages = [&[user("go")], &round[..], &talk(9)].concat();
            let (shown, _) = assembled(&engine, &scope(), &messages, 30);
            assert_eq!(holds(&shown, &text), expected, "{context}");
        }
    }
}

#[test]
fn an_older_copy_of_an_instruction_file_goes_and_the_newest_stays_for_as_long_as_the_options_say() {
    let [old, new] = [4, 5].map(|seed| noise(80, seed));
    for shape in SHAPES {
        let read = |text: &str, time| exchange(shape, "c", "read", &json!({ "path": "AGENTS.md" }), &json!(text), time);
        let messages = [&[user("go")], &read(&old, 10)[..], &read(&new, 20), &talk(9)].concat();
        for (options, expected) in [(json!({}), true), (json!({ "instructionTurns": 5 }), false)] {
            let dir = directory();
            let (shown, _) = assembled(&open(&dir, Schedule::EveryTurn, &options), &scope(), &messages, 30);
            assert_eq!([holds(&shown, &old), holds(&shown, &new)], [false, expected], "{shape} {options}");
        }
    }
}

#[test]
fn the_results_of_a_turn_stay_where_a_person_wrote_keep() {
    let text = noise(400, 6);
    for (shape, schedule) in SHAPES.into_iter().flat_map(|shape| SCHEDULES.map(|schedule| (shape, schedule))) {
        let dir = directory();
        let engine = open(&dir, schedule, &json!({}));
        let turn = turn_of(shape, "<keep> the build's output", &text);
        // A host that assembles once a turn passes the words that begin it.
        let begins = |prompt: &str| AssembleOptions {
            turn_begins: true,
            prompt: Some(prompt.into()),
            ..AssembleOptions::default()
        };
        let is_kept_at_birth = || engine.admit(&scope(), Some(&turn[1]), &turn[2], 20).rewrite.is_empty();
        for (prompt, expected) in [("go", false), ("<keep> it", true), ("and", false)] {
            engine.assemble(&scope(), &[], &begins(prompt), 15);
            assert!(shape == "responses" || is_kept_at_birth() == expected, "{shape}: {prompt}");
        }
        assembled(&engine, &scope(), &turn, 20);
        assert!(shape == "responses" || is_kept_at_birth(), "{shape}: among the messages");
        let old = [&turn[..], &talk(9)].concat();
        assert!(holds(&assembled(&engine, &scope(), &old, 30).0, &text), "{shape}");
        // A compaction removes the words, and not what they protect.
        let (shown, _) = assembled(&engine, &scope(), &[&[user("Summary.")], &old[1..]].concat(), 40);
        assert!(holds(&shown, &text), "{shape} after a compaction");
    }
}

#[test]
fn what_is_restored_is_in_sight_from_the_next_turn_on_as_an_epoch() {
    let text = noise(400, 7);
    for (shape, schedule) in SHAPES.into_iter().flat_map(|shape| SCHEDULES.map(|schedule| (shape, schedule))) {
        for is_folded_at_birth in [false, true] {
            if is_folded_at_birth && shape == "responses" {
                continue;
            }
            let dir = directory();
            let engine = open(&dir, schedule, &json!({}));
            let context = format!("{shape} {schedule:?} {is_folded_at_birth}");
            let mut turn = turn_of(shape, "go", &text);
            let born = if is_folded_at_birth {
                engine.admit(&scope(), Some(&turn[1]), &turn[2], 20)
            } else {
                Reply::default()
            };
            turn[2] = born.rewrite.apply(&turn[2..]).remove(0);
            let messages = [&turn[..], &talk(9)].concat();
            let (_, reply) = assembled(&engine, &scope(), &messages, 30);
            let id = id_in(if is_folded_at_birth { &born } else { &reply });
            let listed = || engine.folded(&scope()).unwrap().into_iter().map(|row| row.ref_id).collect::<Vec<_>>();
            assert_eq!(listed(), [id.to_string()], "{context}");
            // Another session was not shown it.
            let other = other_session("main", "other");
            assert_eq!(
                engine.restore(&other, std::slice::from_ref(&id), 35).unwrap().unknown,
                std::slice::from_ref(&id)
            );
            let done = engine.restore(&scope(), &[id.clone(), RefId::parse("0123456789abcdef").unwrap()], 40).unwrap();
            assert_eq!((&done.marked[..], done.unknown.len()), (&[id.clone()][..], 1));
            let (shown, reply) = assembled(&engine, &scope(), &messages, 50);
            assert!(holds(&shown, &text), "{context}");
            assert_eq!(epoch(&reply), Some("restored: it is pinned or protected"), "{context}");
            assert_eq!(listed(), [""; 0], "{context}");
            // It does not fold again, and nothing changes any more.
            let later = [&messages[..], &talk(3)].concat();
            let engine = open(&dir, schedule, &json!({}));
            let (again, reply) = assembled(&engine, &scope(), &later, 3_600_000);
            assert!(holds(&again, &text) && again.starts_with(shown.trim_end_matches(']')), "{context}");
            assert_eq!(epoch(&reply), None, "{context}");
            let asks: Vec<Value> = serde_json::from_str(&shown).unwrap();
            let back = engine.unfold(Some(&scope()), "main", &asks, 60).unwrap().rewrite.apply(&asks);
            assert!(holds(&json!(back).to_string(), &text), "{context}: unfolding leaves it in sight");
            engine.unpin(&scope(), 70).unwrap();
            let (shown, reply) = assembled(&engine, &scope(), &later, 7_200_000);
            assert!(!holds(&shown, &text) && epoch(&reply).is_some(), "{context}: unpinned");
            assert_eq!(fetch(&engine, id.as_str()), FetchedBlock::Text(text.clone()));
        }
    }
}

#[test]
fn a_twin_of_pinned_arguments_is_not_folded() {
    let body = noise(80, 7).replace('\n', " ");
    let arguments = json!({ "path": "/w/a.txt", "content": body });
    for (shape, schedule) in SHAPES.into_iter().flat_map(|shape| SCHEDULES.map(|schedule| (shape, schedule))) {
        let dir = directory();
        let engine = open(&dir, schedule, &json!({}));
        let written = exchange(shape, "c", "note", &arguments, &json!("noted"), 10);
        let (shown, reply) = assembled(&engine, &scope(), &[&[user("go")], &written[..], &talk(9)].concat(), 20);
        assert!(!holds(&shown, &body), "{shape} {schedule:?}");
        engine.restore(&scope(), &[id_in(&reply)], 30).unwrap();
        // The block that was folded has left the history before the pin was seen; another one has the same arguments.
        let twin = exchange(shape, "d", "note", &arguments, &json!("noted again"), 15);
        let messages = [&[user("go on")], &talk(3)[..], &twin, &talk(9)].concat();
        for now in [40, 7_200_000] {
            let (shown, reply) = assembled(&engine, &scope(), &messages, now);
            assert!(holds(&shown, &body), "{shape} {schedule:?} at {now}");
            assert_eq!(epoch(&reply), None, "{shape} {schedule:?} at {now}");
        }
    }
}

#[test]
fn all_that_may_fold_leaves_at_the_next_turn_if_a_person_asks() {
    for (shape, schedule) in SHAPES.into_iter().flat_map(|shape| SCHEDULES.map(|schedule| (shape, schedule))) {
        let dir = directory();
        let engine = open(&dir, schedule, &json!({ "protect": ["tool:note"] }));
        let round = |name: &str, seed: usize| {
            exchange(
                shape,
                &format!("c{seed}"),
                name,
                &json!({ "command": seed.to_string() }),
                &json!(noise(80, seed)),
                10,
            )
        };
        let rounds: Vec<Value> = (0..5).flat_map(|seed| round(if seed == 1 { "note" } else { "exec" }, seed)).collect();
        let messages = [&[user("go")], &rounds[..]].concat();
        let options =
            AssembleOptions { prices: Some(StatedPrices::relative(0.1, 1.25, i64::MAX)), ..AssembleOptions::default() };
        let assemble = |now| {
            let reply = engine.assemble(&scope(), &messages, &options, now);
            (json!(reply.rewrite.apply(&messages)).to_string(), epoch(&reply).map(str::to_owned))
        };
        let in_sight = |shown: &str| (0..5).map(|seed| holds(shown, &noise(80, seed))).collect::<Vec<_>>();
        assert_eq!(in_sight(&assemble(20).0), [true; 5], "{shape} {schedule:?}");
        engine.fold_all(&scope(), 30).unwrap();
        let (shown, reason) = assemble(40);
        let context = format!("{shape} {schedule:?} {reason:?}");
        assert!(reason.is_some(), "{context}");
        // The protected result stays, and so do the newest ones.
        assert_eq!(in_sight(&shown), [false, true, false, true, true], "{context}");
        let (again, reason) = assemble(50);
        assert_eq!((again, reason), (shown, None), "once: {context}");
    }
}

#[test]
fn an_agent_releases_only_what_its_session_was_shown() {
    let text = noise(80, 8);
    for shape in SHAPES {
        let dir = directory();
        let engine = open(&dir, Schedule::EveryTurn, &json!({}));
        let messages = [&turn_of(shape, "go", &text)[..], &talk(9)].concat();
        let (_, reply) = assembled(&engine, &scope(), &messages, 20);
        let id = id_in(&reply).to_string();
        let ask = |scope: &Scope, ref_ids: &[&str], done: &[&str]| {
            let words = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
            let asked = Fetch { ref_ids: words(ref_ids), done: words(done), max_chars: 100_000, ..Fetch::default() };
            let mut answer = engine.fetch(scope, &asked, 30).unwrap().blocks;
            let FetchedBlock::Text(answer) = answer.pop().expect("an answer") else { panic!("{answer:?}") };
            answer
        };
        assert_eq!(ask(&scope(), &[&id], &[]), text);
        let fetched = exchange(shape, "f", FETCH_TOOL, &json!({ "ref_ids": [id] }), &json!(text), 40);
        let history = [&messages[..], &[user("look")], &fetched].concat();
        let is_in_sight = || holds(&assembled(&engine, &scope(), &history, 50).0, &text);
        assert!(is_in_sight(), "{shape}: what was fetched is fresh");
        let refused = "[not released, because this session was not shown them before this call: ";
        for (scope, done) in [
            (other_session("main", "other"), &*id),
            (other_session("other", "s"), &id),
            (scope(), "0123456789abcdef"),
            (scope(), "no id"),
        ] {
            assert_eq!(ask(&scope, &[], &[done]), format!("{refused}{done}]"), "{shape}");
        }
        assert!(is_in_sight(), "{shape}: nothing was released");
        assert_eq!(ask(&scope(), &[], &[&id]), format!("[released: {id}]"));
        assert!(!is_in_sight(), "{shape}: it counts as stale");
        assert_eq!(ask(&scope(), &[&id], &[]), text);
        let again =
            [&history[..], &exchange(shape, "g", FETCH_TOOL, &json!({ "ref_ids": [id] }), &json!(text), 60)].concat();
        assert!(
            holds(&assembled(&engine, &scope(), &again, 70).0, &text),
            "{shape}: fetched again, it is needed again"
        );
        // A person's pin is above it.
        engine.pin_last(&scope(), 80).unwrap();
        ask(&scope(), &[], &[&id]);
        assert!(holds(&assembled(&engine, &scope(), &again, 90).0, &text), "{shape}: pinned");
    }
}

#[test]
fn the_figures_say_what_a_pin_costs() {
    let text = noise(80, 9);
    let dir = directory();
    let engine = open(&dir, Schedule::CacheAware, &json!({}));
    let messages = [&turn_of("openclaw", "go", &text)[..], &talk(9)].concat();
    let turn =
        [user("and"), json!({ "role": "assistant", "content": [{ "type": "text", "text": "yes" }], "timestamp": 60 })];
    let protected = |key: &str| {
        engine.assemble(&scope(), &messages, &AssembleOptions { turn_begins: true, ..AssembleOptions::default() }, 50);
        let turn = FinishedTurn { advancement_key: key, messages: &turn, ..FinishedTurn::default() };
        engine.commit_turn(&scope(), &turn, 70).unwrap();
        engine.store().figures(&FiguresQuery::default()).unwrap().total.protected_tokens
    };
    engine.assemble(&scope(), &messages[..3], &AssembleOptions::default(), 20);
    engine.pin_last(&scope(), 30).unwrap();
    let tokens = concertina::tokens::count(&text, concertina::config::Encoding::O200kBase) as u64;
    assert_eq!([protected("1"), protected("2")], [tokens, 2 * tokens]);
    engine.unpin(&scope(), 80).unwrap();
    assert_eq!(protected("3"), 2 * tokens);
    engine.pin_last(&scope(), 81).unwrap();
    assert_eq!(engine.unpin(&scope(), 82).unwrap(), 1, "a pin that waits for the next assembly counts");

    // A protected result that birth would replace counts from the beginning.
    let engine = open(&directory(), Schedule::CacheAware, &json!({ "protect": ["tool:exec"] }));
    let text = noise(800, 9);
    let messages = turn_of("openclaw", "go", &text);
    engine.assemble(&scope(), &messages, &AssembleOptions { turn_begins: true, ..AssembleOptions::default() }, 50);
    let turn = FinishedTurn { advancement_key: "1", messages: &turn, ..FinishedTurn::default() };
    engine.commit_turn(&scope(), &turn, 70).unwrap();
    let tokens = concertina::tokens::count(&text, concertina::config::Encoding::O200kBase) as u64;
    assert_eq!(engine.store().figures(&FiguresQuery::default()).unwrap().total.protected_tokens, tokens);
}
