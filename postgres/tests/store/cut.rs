//! Tests with a network that fails silently at any moment.

use std::sync::Arc;
use std::time::{Duration, Instant};

use concertina::assemble::{AssembleOptions, Engine};
use concertina::config::Config;
use concertina::error::Error;
use concertina::reference::{ContentHash, Original, RefId};
use concertina::store::figures::FiguresQuery;
use concertina::store::{Batch, FoldedKind, Ledger, Receipt, Store, TurnStatus};
use concertina_postgres::{PostgresOptions, PostgresStore};
use serde_json::json;

use crate::cluster::{Cluster, options};
use crate::proxy::{Fault, Proxy};
use crate::suite::{START, asked_again, batch_of, projection, scope};

/// The time after which a server counts as silent: one second more than the statement timeout.
const DEADLINE: Duration = Duration::from_millis(1400);
const CONNECT: Duration = Duration::from_millis(400);

fn open(cluster: &Cluster, proxy: &Proxy, namespace: &str) -> PostgresStore {
    let url = cluster.url().replace(&cluster.port.to_string(), &proxy.port.to_string());
    let statement_timeout = DEADLINE - Duration::from_secs(1);
    PostgresStore::open(&url, namespace, PostgresOptions { statement_timeout, connect_timeout: CONNECT, ..options() })
        .unwrap()
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    (work(), start.elapsed())
}

fn assert_away<T: std::fmt::Debug>((outcome, took): (concertina::error::Result<T>, Duration)) {
    let error = outcome.unwrap_err();
    assert!(matches!(error, Error::StoreUnavailable { .. }), "{error}");
    assert!(took < DEADLINE + CONNECT + Duration::from_millis(500), "{took:?}");
}

#[test]
fn after_a_network_failure_a_call_fails_at_its_deadline_and_the_next_one_succeeds() {
    let Some(cluster) = Cluster::shared() else { return };
    let proxy = Proxy::to(cluster.port);
    let store = open(&cluster, &proxy, "cut");
    let batch = batch_of(&store, vec![Original::text("text", "test")]);
    let id = &batch.originals[0].0;
    store.commit(&scope("main", "s"), &batch, START).unwrap();
    // Cut while the connection is idle. New connections are cut too.
    proxy.cut();
    assert_away(timed(|| store.get(id, "main", START)));
    assert_away(timed(|| store.stats(None)));
    proxy.heal();
    assert!(store.get(id, "main", START).unwrap().is_some());
    // A firewall has dropped all connections. The first call detects it for all of them.
    let all = std::sync::Barrier::new(4);
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                all.wait();
                for _ in 0..20 {
                    store.get(id, "main", START).unwrap();
                }
            });
        }
    });
    proxy.forget();
    assert_away(timed(|| store.get(id, "main", START)));
    for _ in 0..8 {
        let (found, took) = timed(|| store.get(id, "main", START).unwrap());
        assert!(found.is_some() && took < DEADLINE, "{took:?}");
    }
}

#[test]
fn a_commit_that_is_cut_off_is_atomic_and_leaves_no_locks() {
    let Some(cluster) = Cluster::start() else { return };
    let proxy = Proxy::to(cluster.port);
    let store = open(&cluster, &proxy, "middle");
    let me = scope("main", "s");
    let batch_number = |number: u64| {
        let text = format!("text {number}");
        let projections = vec![projection(&text, "1", &text)];
        let since = store.ledger(&me).unwrap().version;
        Batch { projections, since, ..batch_of(&store, vec![Original::text(&text, "test")]) }
    };
    // Statements are prepared once.
    store.commit(&me, &batch_number(0), START).unwrap();
    let mut committed = 1;
    for trip in 1.. {
        let batch = batch_number(trip);
        proxy.at_trip(trip, Fault::Lose);
        let outcome = timed(|| store.commit(&me, &batch, START));
        if proxy.take_plan() {
            assert_eq!(outcome.0.unwrap(), batch.projections);
            committed += 1;
            break;
        }
        println!("cut at trip {trip}: {:?} after {:?}", outcome.0.as_ref().map(Vec::len), outcome.1);
        if outcome.0.is_err() {
            assert_away(outcome);
            assert_eq!(cluster.sql("SELECT count(*) FROM middle.originals"), [committed.to_string()]);
            // The server holds the locks of the lost transaction until its process is terminated.
            assert_eq!(store.commit(&me, &batch, START).unwrap(), batch.projections);
        }
        committed += 1;
        assert!(trip < 20);
    }
    assert_eq!(store.ledger(&me).unwrap().projections.len(), committed);
}

#[test]
fn a_silently_broken_connection_leaves_no_locks() {
    let Some(cluster) = Cluster::start() else { return };
    let proxy = Proxy::to(cluster.port);
    let url = cluster.url().replace(&cluster.port.to_string(), &proxy.port.to_string());
    // The server would wait this long for the next statement of the transaction.
    let statement_timeout = Duration::from_secs(20);
    let store = PostgresStore::open(&url, "unheard", PostgresOptions { statement_timeout, ..options() }).unwrap();
    let me = scope("main", "s");
    store.commit(&me, &batch_of(&store, vec![Original::text("before", "test")]), START).unwrap();
    store.commit_turn(&me, &"before".into(), START).unwrap();
    for trip in 1..=4 {
        let batch = batch_of(&store, vec![Original::text(&format!("text {trip}"), "test")]);
        proxy.at_trip(1, Fault::Vanish);
        store.commit(&me, &batch, START).unwrap();
        assert!(!proxy.is_planned());
        proxy.at_trip(trip, Fault::Vanish);
        assert_eq!(store.commit_turn(&me, &trip.to_string().as_str().into(), START).unwrap(), TurnStatus::Committed);
        assert!(!proxy.is_planned());
    }
    let stats = store.stats(None).unwrap();
    assert_eq!((stats.originals, stats.turns), (5, 5));
}

#[test]
fn a_commit_whose_answer_is_lost_is_resolved() {
    let Some(cluster) = Cluster::start() else { return };
    let proxy = Proxy::to(cluster.port);
    let store = open(&cluster, &proxy, "answer");
    let me = scope("main", "s");
    store.commit_turn(&me, &"0".into(), START).unwrap();
    let mut ledger = Ledger::default();
    for (number, fault) in [Fault::Break, Fault::LoseAnswer, Fault::Lose].into_iter().enumerate() {
        let key = format!("{fault:?}");
        proxy.at_commit(fault);
        // A retry would be reported as a duplicate.
        let (status, took) = timed(|| store.commit_turn(&me, &key.as_str().into(), START).unwrap());
        assert_eq!(status, TurnStatus::Committed, "{fault:?}");
        assert!(took < 2 * DEADLINE && !proxy.is_planned(), "{took:?}");
        assert_eq!(store.commit_turn(&me, &key.as_str().into(), START).unwrap(), TurnStatus::Duplicate);

        // A retry would count either of them twice.
        let admitted = Batch {
            receipts: vec![Receipt { kind: "admit".into(), tokens_before: 7, tokens_after: 1, detail: key.clone() }],
            folded: vec![(FoldedKind::Other, 7, 1)],
            asked_again: vec![asked_again(&key, 1)],
            since: ledger.version,
            ..batch_of(&store, vec![Original::text(&key, "test")])
        };
        let decided =
            Batch { projections: vec![projection(&key, "1", &key)], since: ledger.version, ..admitted.clone() };
        for (batch, at) in [(&admitted, START), (&decided, START + 1)] {
            let at = at + 2 * number as i64;
            proxy.at_commit(fault);
            assert_eq!(store.commit(&me, batch, at).unwrap(), batch.projections);
            assert!(!proxy.is_planned());
        }
        ledger = store.ledger(&me).unwrap();
        assert_eq!(ledger.projections.len(), number + 1);
    }
    assert_eq!(ledger.projections.len(), 3);
    let (stats, figures) = (store.stats(None).unwrap(), store.figures(&FiguresQuery::default()).unwrap());
    assert_eq!((stats.turns, stats.receipts.len(), stats.tokens_before), (4, 6, 6 * 7));
    assert_eq!((figures.total.fetches, figures.kinds[0].before), (6, 6 * 7));
}

#[test]
fn a_transaction_id_that_was_reassigned_after_a_crash_proves_nothing() {
    // Written data reaches the disk only when somebody waits for it.
    let settings = "wal_writer_delay = 10s\nautovacuum = off\nwal_level = minimal\nmax_wal_senders = 0";
    let Some(cluster) = Cluster::start_with(settings) else { return };
    let proxy = Proxy::to(cluster.port);
    let url = cluster.url().replace(&cluster.port.to_string(), &proxy.port.to_string());
    let statement_timeout = Duration::from_secs(4);
    let store = PostgresStore::open(&url, "reused", PostgresOptions { statement_timeout, ..options() }).unwrap();
    let me = scope("main", "s");
    store.commit_turn(&me, &"before".into(), START).unwrap();
    cluster.sql("CREATE TABLE public.others (number xid8)");
    // Occasionally the server persists the transaction id in time, for reasons of its own.
    let is_given_again = (0..8).any(|attempt| {
        let turn = format!("lost {attempt}");
        let before: u64 = cluster.sql("SELECT pg_current_xact_id()")[0].parse().unwrap();
        proxy.at_commit(Fault::Lose);
        std::thread::scope(|threads| {
            let call = threads.spawn(|| store.commit_turn(&me, &turn.as_str().into(), START));
            while proxy.is_planned() {
                std::thread::sleep(Duration::from_millis(1));
            }
            cluster.kill();
            cluster.up();
            for _ in 0..5 {
                cluster.sql("INSERT INTO public.others SELECT pg_current_xact_id()");
            }
            assert_eq!(call.join().unwrap().unwrap(), TurnStatus::Committed);
        });
        assert_eq!(store.commit_turn(&me, &turn.as_str().into(), START).unwrap(), TurnStatus::Duplicate);
        let taken = format!("SELECT count(*) FROM public.others WHERE number = '{}'", before + 1);
        cluster.sql(&taken) == ["1"]
    });
    assert!(is_given_again);
}

#[test]
fn calls_take_few_round_trips() {
    let Some(cluster) = Cluster::shared() else { return };
    let proxy = Proxy::to(cluster.port);
    let store = open(&cluster, &proxy, "trips");
    let me = scope("main", "s");
    let warm = |round: usize| {
        let texts = [0, 1, 2].map(|part| format!("text {round} {part}"));
        let batch = batch_of(&store, texts.iter().map(|text| Original::text(text, "test")).collect());
        let decided = texts.iter().map(|text| projection(text, "1", text)).collect();
        (batch.clone(), Batch { projections: decided, ..batch })
    };
    let trips = |work: &dyn Fn()| {
        let before = proxy.trips();
        work();
        proxy.trips() - before
    };
    let mut counted = Vec::new();
    // The first round prepares statements.
    for round in 0..3 {
        let ((plain, _), (_, deciding)) = (warm(2 * round), warm(2 * round + 1));
        let turn = round.to_string();
        counted = vec![
            ("originals", trips(&|| drop(store.commit(&me, &plain, START).unwrap()))),
            ("originals and projections", trips(&|| drop(store.commit(&me, &deciding, START).unwrap()))),
            ("turn", trips(&|| assert!(store.commit_turn(&me, &turn.as_str().into(), START).is_ok()))),
            ("get", trips(&|| drop(store.get(&plain.originals[0].0, "main", START).unwrap()))),
            (
                "get all",
                trips(&|| {
                    let ids: Vec<RefId> = plain.originals.iter().map(|(id, _)| id.clone()).collect();
                    let found = store.get_all(&ids, "main", START).unwrap();
                    assert_eq!(found, plain.originals.iter().cloned().map(Some).collect::<Vec<_>>());
                }),
            ),
            ("ledger", trips(&|| drop(store.ledger(&me).unwrap()))),
        ];
        let showing = || {
            let ledger = store.ledger(&me).unwrap();
            let in_context = ledger.projections.iter().map(|row| row.original).collect();
            Batch { in_context: Some(in_context), ..Batch::after(&ledger) }
        };
        store.commit(&me, &showing(), START).unwrap();
        let idle = showing();
        counted.push(("idle", trips(&|| drop(store.commit(&me, &idle, START).unwrap()))));
    }
    println!("{counted:?}");
    let expected = [
        ("originals", 1),
        ("originals and projections", 1),
        ("turn", 4),
        ("get", 1),
        ("get all", 1),
        ("ledger", 1),
        ("idle", 0),
    ];
    assert_eq!(counted, expected);
}

#[test]
fn an_assembly_that_folds_nothing_new_takes_one_round_trip() {
    const CALLS: i64 = 70;
    let Some(cluster) = Cluster::shared() else { return };
    let proxy = Proxy::to(cluster.port);
    let store = Arc::new(open(&cluster, &proxy, "warm"));
    let engine = Engine::new(store.clone(), Config::default()).unwrap();
    let me = scope("main", "s");
    let mut messages = vec![json!({ "role": "user", "content": "go", "timestamp": START })];
    for at in 0..CALLS {
        let id = format!("call-{at}");
        let line = |number| format!("{at} unit_{number:x} took {} ms\n", number * 7919 % 977);
        let text: String = (at * 1000..at * 1000 + 300).map(line).collect();
        let call =
            json!({ "type": "toolCall", "id": id, "name": "exec", "arguments": { "command": format!("run {at}") } });
        let content = json!([{ "type": "text", "text": text }]);
        messages.push(json!({ "role": "assistant", "content": [call], "timestamp": START + 2 * at }));
        messages.push(json!({ "role": "toolResult", "toolCallId": id, "toolName": "exec", "content": content, "timestamp": START + 2 * at + 1 }));
    }
    let assemble = || engine.assemble(&me, &messages, &AssembleOptions::default(), START + 2 * CALLS);
    let first = assemble();
    assert_eq!(first.report.warning, None);
    assert!(first.report.tokens_before > 200_000, "{}", first.report.tokens_before);
    assert!(!store.ledger(&me).unwrap().projections.is_empty());
    let before = proxy.trips();
    assert!(assemble().rewrite == first.rewrite);
    assert_eq!(proxy.trips() - before, 1);
}

#[test]
fn the_bytes_of_an_original_cross_once() {
    const SIZE: u64 = 100_000;
    let Some(cluster) = Cluster::shared() else { return };
    let proxy = Proxy::to(cluster.port);
    let store = open(&cluster, &proxy, "once");
    let me = scope("main", "s");
    let noise: Vec<u8> = (0..SIZE / 32).flat_map(|part| ContentHash::of(&part.to_le_bytes()).0).collect();
    let batch = batch_of(&store, vec![Original::image(noise, "image/png", "noise")]);
    let (id, original) = batch.originals[0].clone();
    store.commit(&me, &batch, START).unwrap();
    let get = |id: &RefId, agent: &str, now| {
        let before = proxy.received();
        (store.get(id, agent, now).unwrap(), proxy.received() - before)
    };
    let found = Some((id.clone(), original.clone()));
    let (first, bytes) = get(&id, "main", START);
    assert!(first == found && bytes > SIZE, "{bytes}");
    let (second, bytes) = get(&id, "main", START);
    assert!(second == found && bytes < 1000, "{bytes}");
    // The same with all digits of the id. An altered payload in the database is not what the caller holds.
    cluster.sql("UPDATE once.originals SET payload = 'altered'");
    let (third, bytes) = get(&original.hash.to_ref_id(64), "main", START);
    assert!(third == found && bytes < 1000, "{bytes}");
    // The server decides who may see it and for how long.
    assert_eq!(get(&id, "other", START).0, None);
    store
        .commit(&me, &Batch { in_context: Some(std::collections::BTreeSet::new()), ..Batch::default() }, START)
        .unwrap();
    assert_eq!(get(&id, "main", START + crate::suite::EXPIRED).0, None);
    store.purge(&scope("main", "s")).unwrap();
    assert_eq!(get(&id, "main", START).0, None);
}

#[test]
fn a_stored_original_is_not_sent_again_unless_it_was_removed() {
    const SIZE: u64 = 100_000;
    let Some(cluster) = Cluster::shared() else { return };
    let proxy = Proxy::to(cluster.port);
    let store = open(&cluster, &proxy, "sent");
    let noise: Vec<u8> = (0..SIZE / 32).flat_map(|part| ContentHash::of(&part.to_le_bytes()).0).collect();
    let batch = batch_of(&store, vec![Original::image(noise, "image/png", "noise")]);
    let commit = |session: &str| {
        let before = proxy.sent();
        store.commit(&scope("main", session), &batch, START).unwrap();
        proxy.sent() - before
    };
    assert!(commit("one") > SIZE);
    let again = commit("two");
    assert!(again < SIZE / 10, "{again}");
    let (id, original) = batch.originals[0].clone();
    let other = cluster.open("sent");
    other.purge(&scope("main", "one")).unwrap();
    other.purge(&scope("main", "two")).unwrap();
    assert!(commit("three") > SIZE);
    assert_eq!(other.get(&id, "main", START).unwrap(), Some((id, original)));
}

#[test]
fn the_cache_of_a_replaced_database_is_cleared() {
    let Some(cluster) = Cluster::start() else { return };
    let store = cluster.open("forgotten");
    let me = scope("main", "s");
    let id = crate::suite::put(&store, &me, vec![Original::text("text", "test")], START).remove(0);
    store.ledger(&me).unwrap();
    assert!(store.get(&id, "main", START).unwrap().is_some());
    cluster.sql("DROP SCHEMA forgotten CASCADE");
    assert_eq!(store.get(&id, "main", START).unwrap(), None);
    store.ledger(&me).unwrap();
    crate::suite::put(&store, &me, vec![Original::text("text", "test")], START);
    cluster.sql("UPDATE forgotten.originals SET payload = 'texT'");
    assert_eq!(store.get(&id, "main", START).unwrap_err().code(), "CONCERTINA_ORIGINAL_DAMAGED");
}
