//! Tests of transactions that conflict with others.

use std::time::Duration;

use concertina::error::Error;
use concertina::reference::Original;
use concertina::store::{Batch, Removed, Store};

use crate::cluster::{Cluster, Session};
use crate::suite::{EXPIRED, START, batch_of, projection, scope};

#[test]
fn a_conflicting_transaction_is_retried() {
    const REFUSE: &str = "CREATE SEQUENCE public.tried;
        CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF nextval('public.tried') <= TG_ARGV[0]::bigint THEN RAISE 'refused' USING ERRCODE = TG_ARGV[1]; END IF;
          RETURN NEW; END $$";
    let Some(cluster) = Cluster::start() else { return };
    let store = cluster.open("refused");
    cluster.sql(REFUSE);
    let me = scope("main", "s");
    for (number, state) in ["40001", "40P01"].into_iter().enumerate() {
        let refuse = |times: u32| {
            cluster.sql(&format!(
                "ALTER SEQUENCE public.tried RESTART; DROP TRIGGER IF EXISTS refuse ON refused.originals;
                 CREATE TRIGGER refuse BEFORE INSERT ON refused.originals
                   FOR EACH ROW EXECUTE FUNCTION public.refuse('{times}', '{state}')"
            ));
        };
        let batch = Batch {
            projections: vec![projection(state, "1", state)],
            since: store.ledger(&me).unwrap().version,
            ..batch_of(&store, vec![Original::text(state, "test")])
        };
        refuse(u32::MAX);
        let error = store.commit(&me, &batch, START).unwrap_err();
        assert!(matches!(error, Error::StoreLocked { .. }), "{error}");
        assert_eq!(store.stats(None).unwrap().originals, number as u64);
        refuse(5);
        assert_eq!(store.commit(&me, &batch, START).unwrap(), batch.projections);
        assert_eq!(cluster.sql("SELECT last_value FROM public.tried"), ["6"]);
    }
    assert_eq!(store.ledger(&me).unwrap().projections.len(), 2);
}

#[test]
fn the_store_retries_after_a_deadlock() {
    let Some(cluster) = Cluster::start() else { return };
    let store = cluster.open("deadlock");
    let me = scope("main", "s");
    store.commit(&me, &batch_of(&store, vec![Original::text("before", "test")]), START).unwrap();
    let batch = batch_of(&store, vec![Original::text("wanted", "test")]);
    let hash = batch.originals[0].1.hash.to_hex();
    // Locks the new original, then waits for the session, which the store has locked by then. Its deadlock timeout is
    // the longer one.
    let other = format!(
        "BEGIN; SET LOCAL deadlock_timeout = '1min'; SET LOCAL search_path TO deadlock;
         INSERT INTO originals (hash, ref_id, label, size, is_zstd, payload)
           VALUES (decode('{hash}', 'hex'), '{}', '', 1, false, 'x');
         SELECT pg_sleep(0.5);
         UPDATE sessions SET last_seen = last_seen; ROLLBACK",
        batch.originals[0].0
    );
    std::thread::scope(|threads| {
        let other = threads.spawn(|| cluster.sql(&other));
        std::thread::sleep(Duration::from_millis(200));
        store.commit(&me, &batch, START).unwrap();
        other.join().unwrap();
    });
    assert!(cluster.log().contains("deadlock detected"), "{}", cluster.log());
    let (id, original) = &batch.originals[0];
    assert_eq!(store.get(id, "main", START).unwrap().as_ref(), Some(&(id.clone(), original.clone())));
}

/// Simulates another machine that writes until it commits.
fn writer(cluster: &Cluster, namespace: &str) -> Session {
    let session = cluster.session();
    let lock = "pg_advisory_xact_lock_shared(1129202516, current_schema()::regnamespace::oid::bigint::integer)";
    session.run(&format!("BEGIN; SET LOCAL search_path TO {namespace}; SELECT {lock}"));
    session
}

#[test]
fn a_sweep_that_finds_nothing_does_not_wait_for_writers() {
    let Some(cluster) = Cluster::start() else { return };
    let store = cluster.open("looked");
    let me = scope("main", "s");
    store.commit(&me, &batch_of(&store, vec![Original::text("kept", "test")]), START).unwrap();
    let writer = writer(&cluster, "looked");
    assert_eq!(store.sweep(START).unwrap(), Removed::default());
    writer.run("COMMIT");
}

#[test]
fn an_original_that_is_referred_to_while_a_sweep_waits_stays() {
    let Some(cluster) = Cluster::start() else { return };
    let store = cluster.open("wanted");
    let me = scope("main", "s");
    let batch = batch_of(&store, ["wanted", "gone"].map(|text| Original::text(text, "test")).into());
    store.commit(&me, &batch, START).unwrap();
    let (later, wanted) = (START + EXPIRED, batch.originals[0].1.hash.to_hex());
    let writer = writer(&cluster, "wanted");
    std::thread::scope(|threads| {
        let sweep = threads.spawn(|| store.sweep(later).unwrap());
        while cluster.sql("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted").is_empty() {
            std::thread::sleep(Duration::from_millis(10));
        }
        writer.run(&format!(
            "UPDATE grants SET granted_at = {later}
             WHERE original = (SELECT id FROM originals WHERE hash = decode('{wanted}', 'hex')); COMMIT"
        ));
        assert_eq!(sweep.join().unwrap().originals, 1);
    });
    assert_eq!(cluster.sql("SELECT encode(hash, 'hex') FROM wanted.originals"), [wanted]);
}
