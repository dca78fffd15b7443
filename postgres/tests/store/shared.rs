//! Tests of several stores on one database.

use std::sync::Barrier;

use concertina::error::Error;
use concertina::reference::Original;
use concertina::store::{Batch, Projection, Store};
use concertina_postgres::{Clock, PostgresOptions, PostgresStore};

use crate::cluster::{Cluster, options};
use crate::suite::{START, batch_of, projection, put, rows_in_memory_are_those_of_the_store, scope};

#[test]
fn the_first_of_two_machines_decides_a_block() {
    let Some(cluster) = Cluster::shared() else { return };
    let stores = [cluster.open("race"), cluster.open("race")];
    for round in 0..30 {
        let me = scope("main", &format!("s{round}"));
        let barrier = Barrier::new(2);
        let decided: Vec<Vec<Projection>> = std::thread::scope(|threads| {
            let writers: Vec<_> = stores
                .iter()
                .enumerate()
                .map(|(number, store)| {
                    let (me, barrier) = (&me, &barrier);
                    threads.spawn(move || {
                        let own = format!("own {round} {number}");
                        let texts = [own.as_str(), "both", "shared"];
                        let originals = texts.map(|text| Original::text(text, "test")).to_vec();
                        let blocks =
                            (0..20).map(|block| projection(&format!("{block}"), &format!("\"{number}\""), &own));
                        let batch = Batch { projections: blocks.collect(), ..batch_of(store, originals) };
                        barrier.wait();
                        store.commit(me, &batch, START).unwrap()
                    })
                })
                .collect();
            writers.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        assert_eq!(decided[0], decided[1]);
        assert_eq!(decided[0].len(), 20);
        for store in &stores {
            assert_eq!(*store.ledger(&me).unwrap().projections, decided[0]);
        }
    }
}

#[test]
fn cached_rows_equal_the_rows_that_others_wrote() {
    let Some(cluster) = Cluster::shared() else { return };
    rows_in_memory_are_those_of_the_store(|| cluster.open("memory"));
}

#[test]
fn tenants_do_not_see_each_other() {
    let Some(cluster) = Cluster::shared() else { return };
    let (one, two) = (cluster.open("one"), cluster.open("two"));
    let me = scope("main", "s");
    let id = put(&one, &me, vec![Original::text("mine", "test")], START).remove(0);
    assert!(one.get(&id, "main", START).unwrap().is_some());
    assert_eq!(two.get(&id, "main", START).unwrap(), None);
    assert_eq!(two.stats(None).unwrap().originals, 0);
    assert_eq!(two.sessions().unwrap(), []);
    assert_ne!(one.ledger(&me).unwrap().generation, two.ledger(&me).unwrap().generation);
    two.purge(&scope("main", "s")).unwrap();
    assert!(one.get(&id, "main", START).unwrap().is_some());
}

#[test]
fn concurrent_openers_migrate_once() {
    let Some(cluster) = Cluster::shared() else { return };
    std::thread::scope(|threads| {
        for _ in 0..6 {
            threads.spawn(|| cluster.open("fresh").stats(None).unwrap());
        }
    });
    assert_eq!(cluster.sql("SELECT count(*) FROM fresh.store"), ["1"]);
}

#[test]
fn a_newer_version_and_another_programs_schema_are_refused() {
    let Some(cluster) = Cluster::shared() else { return };
    drop(cluster.open("newer"));
    cluster.sql(
        "UPDATE newer.store SET version = 7, oldest = 6; CREATE SCHEMA foreign_one;
         CREATE TABLE foreign_one.store (a int)",
    );
    let refused = |namespace: &str| PostgresStore::open(&cluster.url(), namespace, options()).map(drop).unwrap_err();
    let error = refused("newer");
    assert!(matches!(error, Error::StoreNewer { .. }));
    assert!(error.to_string().contains("has the version 7 (known: 1)"), "{error}");
    assert!(error.to_string().contains("install a newer release"), "{error}");
    assert!(refused("foreign_one").to_string().contains("another program's"));
}

#[test]
fn a_replaced_database_is_noticed() {
    let Some(cluster) = Cluster::start() else { return };
    let store = cluster.open("again");
    let me = scope("main", "s");
    let batch = Batch {
        generation: store.ledger(&me).unwrap().generation,
        ..batch_of(&store, vec![Original::text("text", "test")])
    };
    store.commit(&me, &batch, START).unwrap();
    cluster.sql("DROP SCHEMA again CASCADE");
    assert!(matches!(store.commit(&me, &batch, START), Err(Error::StoreReplaced { .. })));
    assert_eq!(store.notices().len(), 1);
    assert_eq!(store.notices().len(), 0);
    let batch = Batch { generation: store.ledger(&me).unwrap().generation, ..batch };
    store.commit(&me, &batch, START).unwrap();
    assert_eq!(store.stats(None).unwrap().originals, 1);
}

#[test]
fn a_role_with_the_least_rights_is_enough() {
    let Some(cluster) = Cluster::start() else { return };
    drop(cluster.open("tenant"));
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("roles.sql");
    cluster.psql(&script, &["namespace=tenant", "role=worker"]);
    cluster.sql("ALTER ROLE worker LOGIN");
    let store = PostgresStore::open(&cluster.url_of("worker"), "tenant", options()).unwrap();
    for case in
        crate::suite::CASES.iter().filter(|case| case.name == "a_purge_forgets_all_that_no_other_session_shares")
    {
        (case.check)(&store);
    }
    store.sweep(START).unwrap();
    assert!(PostgresStore::open(&cluster.url_of("worker"), "elsewhere", options()).is_err());
}

#[test]
fn the_databases_time_decides_ages() {
    let Some(cluster) = Cluster::shared() else { return };
    let store =
        PostgresStore::open(&cluster.url(), "clock", PostgresOptions { clock: Clock::Database, ..options() }).unwrap();
    let id = put(&store, &scope("main", "s"), vec![Original::text("text", "test")], 5).remove(0);
    assert!(store.get(&id, "main", i64::MAX).unwrap().is_some());
    assert_eq!(store.sweep(i64::MAX).unwrap().originals, 0);
    assert!(store.sessions().unwrap()[0].last_seen > START);
}
