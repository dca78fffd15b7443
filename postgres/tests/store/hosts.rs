//! Several hosts hold sessions in one database, and each lists its own only.

use std::collections::BTreeSet;

use concertina::reference::{Original, RefId};
use concertina::store::{Batch, Millis, Retention, Store, StoreOptions};
use concertina_postgres::{PostgresOptions, PostgresStore};

use crate::cluster::{Cluster, options};
use crate::suite::{START, put, scope};

const HOUR: Millis = 3_600_000;
const DAY: Millis = 24 * HOUR;

fn host(cluster: &Cluster, name: &str) -> PostgresStore {
    let store = StoreOptions { retention: Retention::Held, ttl_seconds: 86_400, ..options().store };
    let options = PostgresOptions { store, host: name.into(), ..options() };
    PostgresStore::open(&cluster.url(), "hosts", options).unwrap()
}

fn begin(store: &PostgresStore, session: &str) -> RefId {
    put(store, &scope("main", session), vec![Original::text(session, "test")], START).remove(0)
}

/// What a host's sweep does.
fn settle(store: &PostgresStore, alive: &[&str], now: Millis) -> u64 {
    let ended = store.settle(&alive.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>(), now).unwrap();
    store.sweep(now).unwrap();
    ended
}

#[test]
fn a_session_ends_when_the_last_host_that_had_it_no_longer_has_it() {
    let Some(cluster) = Cluster::start() else { return };
    let (one, two) = (host(&cluster, "one"), host(&cluster, "two"));
    let ids = ["first", "second", "both"].map(|name| begin(if name == "second" { &two } else { &one }, name));
    // It goes on at the other host, where nothing new is folded in it.
    let idle =
        Batch { in_context: Some(BTreeSet::new()), ..Batch::after(&two.ledger(&scope("main", "both")).unwrap()) };
    two.commit(&scope("main", "both"), &idle, START).unwrap();
    let is_there = |at: usize| one.get(&ids[at], "main", START).unwrap().is_some();

    // For weeks only one of them runs.
    for day in 1..30 {
        assert_eq!(settle(&one, &["first", "both"], START + day * DAY), 0, "on day {day}");
    }
    assert!((0..3).all(is_there));
    let later = START + 30 * DAY;
    assert_eq!(settle(&one, &["first"], later), 0, "the other one still has it");
    assert_eq!(settle(&two, &["second"], later), 1, "both");
    assert_eq!(settle(&one, &[], later + HOUR), 1, "first");
    assert_eq!(settle(&one, &[], later + 2 * DAY), 0);
    assert_eq!([0, 1, 2].map(is_there), [false, true, false]);
}

#[test]
fn a_session_that_a_host_lists_has_not_ended_whoever_ended_it() {
    let Some(cluster) = Cluster::start() else { return };
    let (one, two) = (host(&cluster, "one"), host(&cluster, "two"));
    let id = begin(&one, "moved");
    one.end_session("moved", START + HOUR).unwrap();
    assert_eq!(settle(&two, &["moved"], START + HOUR), 0);
    assert_eq!(settle(&one, &[], START + 9 * DAY), 0);
    assert!(two.get(&id, "main", START + 9 * DAY).unwrap().is_some());
    two.end_session("moved", START + 9 * DAY).unwrap();
    assert_eq!(settle(&one, &[], START + 11 * DAY), 0);
    assert!(two.get(&id, "main", START + 11 * DAY).unwrap().is_none());
}

#[test]
fn a_host_that_tells_nothing_for_ninety_days_is_gone() {
    let Some(cluster) = Cluster::start() else { return };
    let (one, two) = (host(&cluster, "one"), host(&cluster, "two"));
    let id = begin(&one, "lost");
    for day in 0..=90 {
        assert_eq!(settle(&two, &[], START + HOUR + day * DAY), 0, "on day {day}");
    }
    assert!(one.get(&id, "main", START).unwrap().is_some());
    assert_eq!(settle(&two, &[], START + 92 * DAY) + settle(&two, &[], START + 92 * DAY), 1);
    settle(&two, &[], START + 94 * DAY);
    assert!(one.get(&id, "main", START).unwrap().is_none());
}
