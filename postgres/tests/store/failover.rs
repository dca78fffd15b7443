//! Tests of a failover: a server is lost permanently and its replica is promoted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use concertina::error::Error;
use concertina::reference::{Original, RefId};
use concertina::store::{Batch, Ledger, Projection, Store};
use concertina_postgres::{PostgresOptions, PostgresStore};

use crate::cluster::{Cluster, options};
use crate::suite::{START, projection, scope};

/// The variable with the number of lost servers; 20 before a release.
const FAILOVERS: &str = "CONCERTINA_FAILOVERS";

/// Everything that was acknowledged to a writer.
#[derive(Default)]
struct Told {
    originals: Vec<(RefId, Original)>,
    projections: Vec<Projection>,
    replaced: usize,
    away: usize,
}

/// Folds blocks one after the other, each based on the known ledger, as the engine does.
fn write(store: &PostgresStore, session: &str, is_done: &AtomicBool) -> Told {
    let me = scope("main", session);
    let (mut told, mut ledger) = (Told::default(), None::<Ledger>);
    let mut number = 0;
    while !is_done.load(Ordering::Relaxed) {
        let text = format!("{session} {number} ").repeat(1 + number % 1000);
        let original = Original::text(&text, "test");
        let step = || -> concertina::error::Result<_> {
            let known = match &ledger {
                Some(known) => known.clone(),
                None => store.ledger(&me)?,
            };
            let id = store.ref_ids(&[original.hash])?.remove(0);
            let batch = Batch {
                originals: vec![(id, original.clone())],
                projections: vec![projection(&text, &format!("\"{session} {number}\""), &text)],
                ..Batch::after(&known)
            };
            let in_force = store.commit(&me, &batch, START)?;
            Ok((known, batch, in_force))
        };
        match step() {
            Ok((known, batch, in_force)) => {
                // This holds even if the answer to the first attempt was lost.
                assert_eq!(in_force.last(), batch.projections.last());
                told.originals.extend(batch.originals);
                told.projections.extend(batch.projections);
                ledger = Some(known).filter(|_| !number.is_multiple_of(5));
                number += 1;
            }
            Err(Error::StoreReplaced { .. }) => (told.replaced, ledger) = (told.replaced + 1, None),
            Err(Error::StoreUnavailable { .. }) => {
                told.away += 1;
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(error) => panic!("{error}"),
        }
    }
    told
}

#[test]
fn a_replica_that_takes_over_has_all_that_was_acknowledged() {
    let rounds: u32 =
        std::env::var(FAILOVERS).map_or(1, |rounds| rounds.parse().expect("CONCERTINA_FAILOVERS is a number"));
    let Some(mut server) = Cluster::start() else { return };
    let mut sessions: Vec<(String, Told)> = Vec::new();
    for round in 0..rounds {
        let replica = server.follower();
        // An acknowledged commit is on both servers.
        server.sql("ALTER SYSTEM SET synchronous_standby_names = '*'");
        server.sql("SELECT pg_reload_conf()");
        while server.sql("SELECT sync_state FROM pg_stat_replication") != ["sync"] {
            std::thread::sleep(Duration::from_millis(20));
        }
        let hosts = format!("127.0.0.1:{},127.0.0.1:{}", replica.port, server.port);
        let url = server.url().replace(&format!("127.0.0.1:{}", server.port), &hosts);
        let options = PostgresOptions { statement_timeout: Duration::from_secs(5), ..options() };
        let store = PostgresStore::open(&url, "failover", options).unwrap();
        let is_done = AtomicBool::new(false);
        let told: Vec<(String, Told)> = std::thread::scope(|threads| {
            let writers: Vec<_> = (0..2)
                .map(|writer| {
                    let (store, is_done, session) = (&store, &is_done, format!("{round} {writer}"));
                    threads.spawn(move || (session.clone(), write(store, &session, is_done)))
                })
                .collect();
            std::thread::sleep(Duration::from_millis(500));
            server.kill();
            replica.promote();
            std::thread::sleep(Duration::from_millis(700));
            is_done.store(true, Ordering::Relaxed);
            writers.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        for (session, told) in &told {
            let (count, replaced, away) = (told.originals.len(), told.replaced, told.away);
            println!("session {session}: {count} acknowledged, {replaced} made again from a new ledger, {away} away");
            assert!(count > 5 && replaced <= 1);
        }
        assert_eq!(store.notices().len(), 1);
        sessions.extend(told);
        // The replica was made before the setting, so it does not wait for a standby.
        server = replica;
    }
    let store = server.open("failover");
    for (session, told) in &sessions {
        assert_eq!(*store.ledger(&scope("main", session)).unwrap().projections, told.projections);
        for (id, original) in &told.originals {
            assert_eq!(store.get(id, "main", START).unwrap(), Some((id.clone(), original.clone())));
        }
    }
}

#[test]
fn the_writable_one_of_two_servers_is_used_and_a_silent_one_is_skipped() {
    let Some(server) = Cluster::start() else { return };
    drop(server.open("two"));
    let replica = server.follower();
    // Accepts connections through the system's queue and never sends anything.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let ports = [silent.local_addr().unwrap().port(), replica.port, server.port];
    let hosts = ports.map(|port| format!("127.0.0.1:{port}")).join(",");
    let url = server.url().replace(&format!("127.0.0.1:{}", server.port), &hosts);
    let options = PostgresOptions { connect_timeout: Duration::from_millis(500), ..options() };
    let store = PostgresStore::open(&url, "two", options.clone()).unwrap();
    crate::suite::put(&store, &scope("main", "s"), vec![Original::text("text", "test")], START);
    assert!(store.server().contains(&hosts));
    server.kill();
    let error = store.stats(None).unwrap_err().to_string();
    assert!(
        error.contains("does not allow writes") && error.contains("refused") && error.contains("500 ms"),
        "{error}"
    );
    replica.promote();
    assert_eq!(store.stats(None).unwrap().originals, 1);
}
