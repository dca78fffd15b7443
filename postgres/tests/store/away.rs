//! Tests with a server that crashes, is unreachable, or is silent.

use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use concertina::error::Error;
use concertina::reference::{Original, RefId};
use concertina::store::Store;
use concertina_postgres::{PostgresOptions, PostgresStore};

use crate::cluster::{Cluster, options};
use crate::suite::{START, batch_of, scope};

/// The variable with the number of crashes; 200 before a release.
const KILLS: &str = "CONCERTINA_KILLS";

#[test]
fn what_was_acknowledged_survives_a_server_that_crashes() {
    let kills: usize = std::env::var(KILLS).map_or(12, |kills| kills.parse().expect("CONCERTINA_KILLS is a number"));
    let Some(cluster) = Cluster::start() else { return };
    let store = cluster.open("crash");
    let me = scope("main", "s");
    let is_done = AtomicBool::new(false);
    let acknowledged: Vec<(RefId, Original)> = std::thread::scope(|threads| {
        let writer = threads.spawn(|| {
            let mut acknowledged = Vec::new();
            for number in 0.. {
                if is_done.load(Ordering::Relaxed) {
                    break;
                }
                let original = Original::text(&format!("{number} ").repeat(1 + number % 3000), "test");
                let Ok(ids) = store.ref_ids(&[original.hash]) else { continue };
                let batch =
                    concertina::store::Batch { originals: vec![(ids[0].clone(), original)], ..Default::default() };
                match store.commit(&me, &batch, START) {
                    Ok(_) => acknowledged.extend(batch.originals),
                    Err(error) => assert!(matches!(error, Error::StoreUnavailable { .. }), "{error}"),
                }
            }
            acknowledged
        });
        for round in 0..kills {
            std::thread::sleep(Duration::from_millis(60 + 13 * (round as u64 % 20)));
            // Every fourth time only one process is killed, and the server restarts itself.
            if round % 4 == 3 {
                cluster.kill_one();
            } else {
                cluster.kill();
                cluster.up();
            }
        }
        is_done.store(true, Ordering::Relaxed);
        writer.join().unwrap()
    });
    assert!(acknowledged.len() > kills, "{}", acknowledged.len());
    println!("{} commits were acknowledged between {kills} crashes", acknowledged.len());
    for (id, original) in acknowledged {
        assert_eq!(store.get(&id, "main", START).unwrap(), Some((id, original)));
    }
}

#[test]
fn a_restarted_server_costs_no_call() {
    let Some(cluster) = Cluster::start() else { return };
    let store = cluster.open("restart");
    let batch = batch_of(&store, vec![Original::text("text", "test")]);
    for _ in 0..3 {
        store.commit(&scope("main", "s"), &batch, START).unwrap();
        cluster.kill();
        cluster.up();
        assert!(store.get(&batch.originals[0].0, "main", START).unwrap().is_some());
        cluster.kill();
        cluster.up();
    }
}

#[test]
fn a_server_that_is_gone_is_an_error_that_names_it_at_once() {
    let Some(cluster) = Cluster::start() else { return };
    let store = cluster.open("gone");
    cluster.kill();
    let start = Instant::now();
    for error in [
        store.stats(None).map(drop).unwrap_err(),
        store.commit_turn(&scope("main", "s"), &"1".into(), START).map(drop).unwrap_err(),
        PostgresStore::open(&cluster.url(), "gone", options()).map(drop).unwrap_err(),
    ] {
        assert!(matches!(error, Error::StoreUnavailable { .. }), "{error}");
        assert!(error.to_string().contains(&format!("127.0.0.1:{}/postgres", cluster.port)), "{error}");
        assert!(!error.to_string().contains("hidden"), "{error}");
    }
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

#[test]
fn a_server_that_is_silent_is_an_error_in_time() {
    // Accepts connections through the system's queue and never sends anything.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgresql://me:hidden@{}/x?sslmode=disable", silent.local_addr().unwrap());
    let options = PostgresOptions { connect_timeout: Duration::from_millis(300), ..options() };
    let start = Instant::now();
    let error = PostgresStore::open(&url, "silent", options).map(drop).unwrap_err();
    assert!(matches!(error, Error::StoreUnavailable { .. }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(3));
}
