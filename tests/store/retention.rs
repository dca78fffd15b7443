//! Tests of retention: until the host ends the session, or by age.

use std::collections::BTreeSet;

use concertina::error::Error;
use concertina::reference::{ContentHash, Original};
use concertina::store::{Batch, Millis, Retention, SqliteStore, Store, StoreOptions, TurnStatus};
use tempfile::TempDir;

use crate::suite::{EXPIRED, START, batch_of, context, options, projection, put, scope};

const HOUR: Millis = 3_600_000;

fn held(dir: &TempDir) -> SqliteStore {
    SqliteStore::open(dir.path(), StoreOptions { retention: Retention::Held, ..options() }).unwrap()
}

fn clock(dir: &TempDir) -> SqliteStore {
    SqliteStore::open(dir.path(), options()).unwrap()
}

fn is_there(store: &SqliteStore, text: &str, now: Millis) -> bool {
    let found = store.get(&ContentHash::of(text.as_bytes()).to_ref_id(16), "main", now).unwrap();
    found.is_some_and(|(_, original)| original.bytes == text.as_bytes())
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Creates a session that was shown three texts, of which one has left its context.
fn rest(store: &SqliteStore) -> [&'static str; 3] {
    let me = scope("main", "resting");
    let texts = ["in the context", "left the context", "folded"];
    let originals = texts.iter().map(|text| Original::text(text, "test")).collect();
    let batch = Batch { projections: vec![projection("block", "\"short\"", "folded")], ..batch_of(store, originals) };
    store.commit(&me, &batch, START).unwrap();
    let since = store.ledger(&me).unwrap().version;
    store.commit(&me, &Batch { since, ..context(&["in the context", "folded"]) }, START).unwrap();
    assert_eq!(store.commit_turn(&me, &"turn:1".into(), START).unwrap(), TurnStatus::Committed);
    texts
}

#[test]
fn a_held_session_rests_for_as_long_as_it_likes_whoever_sweeps() {
    let dir = TempDir::new().unwrap();
    let (host, other) = (held(&dir), clock(&dir));
    let texts = rest(&host);
    for hours in [1, 24, 72, 400 * 24] {
        let now = START + hours * HOUR;
        // Another conversation continues, and what it no longer shows expires.
        let busy = scope("main", &format!("busy {hours}"));
        put(&other, &busy, vec![Original::text(&format!("busy {hours}"), "test")], now - HOUR);
        let swept = if hours == 24 { host.sweep(now) } else { other.sweep(now) }.unwrap();
        assert_eq!((swept.originals, swept.sessions), (1, 1), "after {hours} hours");
        for text in texts {
            assert!(is_there(&host, text, now) && is_there(&other, text, now), "{text} after {hours} hours");
        }
        assert_eq!(other.ledger(&scope("main", "resting")).unwrap().projections.len(), 1);
        assert_eq!(host.commit_turn(&scope("main", "resting"), &"turn:1".into(), now).unwrap(), TurnStatus::Duplicate);
    }
}

#[test]
fn originals_of_ended_sessions_are_removed_after_the_time_to_live() {
    let dir = TempDir::new().unwrap();
    let host = held(&dir);
    let texts = rest(&host);
    assert_eq!(host.settle(&names(&["resting", "else"]), START + HOUR).unwrap(), 0);
    assert_eq!(host.settle(&names(&["else"]), START + 24 * HOUR).unwrap(), 1);
    assert_eq!(host.settle(&names(&["else"]), START + 25 * HOUR).unwrap(), 0, "it has ended");
    assert_eq!(host.sweep(START + 24 * HOUR + 600_000).unwrap().originals, 0);
    assert!(is_there(&host, texts[0], START + 24 * HOUR + 600_000));
    assert!(!is_there(&host, texts[0], START + 24 * HOUR + EXPIRED), "expired before it is swept");
    let swept = host.sweep(START + 24 * HOUR + EXPIRED).unwrap();
    assert_eq!((swept.originals, swept.sessions), (3, 1));
    assert_eq!(host.stats(None).unwrap().originals, 0);
}

#[test]
fn a_session_that_the_host_may_not_list_yet_is_left_alone() {
    let dir = TempDir::new().unwrap();
    let host = held(&dir);
    rest(&host);
    assert_eq!(host.settle(&names(&[]), START + 600_000).unwrap(), 0);
    assert_eq!(host.settle(&names(&[]), START + 600_001).unwrap(), 1);
}

#[test]
fn an_ended_session_is_reopened_by_the_hosts_list_or_by_use() {
    let dir = TempDir::new().unwrap();
    let host = held(&dir);
    let texts = rest(&host);
    let me = scope("main", "resting");
    let later = START + 100 * HOUR;
    host.end_session(&scope("main", "resting"), START).unwrap();
    host.end_session(&scope("main", "resting"), later).unwrap();
    assert!(!is_there(&host, texts[0], START + EXPIRED), "the first end counts");
    assert_eq!(host.settle(&names(&["resting"]), later).unwrap(), 0);
    assert!(is_there(&host, texts[0], later));
    // An assembly without changes, a turn, and an opener with another retention each count as activity.
    let since = host.ledger(&me).unwrap().version;
    let warm = Batch { since, ..context(&["in the context", "folded"]) };
    host.end_session(&scope("main", "resting"), START).unwrap();
    host.commit(&me, &warm, START + 1).unwrap();
    assert!(is_there(&host, texts[1], later));
    host.end_session(&scope("main", "resting"), START).unwrap();
    host.commit_turn(&me, &"turn:2".into(), START + 2).unwrap();
    assert!(is_there(&host, texts[1], later));
    host.end_session(&scope("main", "resting"), START).unwrap();
    clock(&dir).commit(&me, &warm, START + 3).unwrap();
    assert!(is_there(&host, texts[1], later));
    host.end_session(&scope("main", "never seen"), START).unwrap();
}

#[test]
fn a_session_of_the_clock_is_held_from_the_next_assembly_on() {
    let dir = TempDir::new().unwrap();
    let texts = rest(&clock(&dir));
    let host = held(&dir);
    let me = scope("main", "resting");
    let since = host.ledger(&me).unwrap().version;
    host.commit(&me, &Batch { since, ..context(&["in the context", "folded"]) }, START).unwrap();
    for text in texts {
        assert!(is_there(&host, text, START + 1000 * HOUR), "{text}");
    }
}

#[test]
fn at_the_limit_ended_sessions_go_first_and_held_ones_never() {
    let dir = TempDir::new().unwrap();
    let limited = |retention| {
        SqliteStore::open(dir.path(), StoreOptions { max_bytes: 1_000_000, retention, ..options() }).unwrap()
    };
    let noise = |seed: u64| -> Original {
        let bytes = (0..3_125_u64).flat_map(|i| ContentHash::of(format!("{seed} {i}").as_bytes()).0).collect();
        Original::image(bytes, "image/png", seed.to_string())
    };
    let is_there =
        |store: &SqliteStore, seed| store.get(&noise(seed).hash.to_ref_id(16), "main", START).unwrap().is_some();
    let host = limited(Retention::Held);
    for seed in 0..6 {
        put(&host, &scope("main", &seed.to_string()), vec![noise(seed)], START);
    }
    let other = limited(Retention::Clock);
    put(&other, &scope("main", "clock"), vec![noise(6)], START);
    other.commit(&scope("main", "clock"), &context(&[]), START - 1000).unwrap();
    // In the session with retention by age, the original left its context before these sessions end.
    host.end_session(&scope("main", "4"), START + 1).unwrap();
    host.end_session(&scope("main", "2"), START + 2).unwrap();
    let new = scope("main", "new");
    // The session that ended first, the next one, and what the session with retention by age no longer shows.
    let order = [4, 2, 6];
    let mut gone = BTreeSet::new();
    let error = (20..40).find_map(|seed| {
        let batch = batch_of(&other, vec![noise(seed)]);
        let refused = other.commit(&new, &batch, START + 1000 * HOUR).err();
        gone = (0..7).filter(|&seed| !is_there(&host, seed)).collect();
        assert_eq!(gone, order.into_iter().take(gone.len()).collect::<BTreeSet<u64>>());
        refused
    });
    assert!(matches!(error, Some(Error::StoreFull { .. })), "{error:?}");
    assert_eq!(gone.len(), order.len());
}

#[test]
fn every_opener_of_a_directory_has_its_own_options() {
    let dir = TempDir::new().unwrap();
    let short = clock(&dir);
    let long = SqliteStore::open(dir.path(), StoreOptions { ttl_seconds: 86_400, ..options() }).unwrap();
    put(&long, &scope("main", "s"), vec![Original::text("text", "test")], START);
    assert!(is_there(&long, "text", START + HOUR));
    assert!(!is_there(&short, "text", START + HOUR));
    // Each store has its own time.
    assert!(is_there(&short, "text", START));
    assert_eq!(long.sweep(START + HOUR).unwrap().originals, 0);
    short.close();
    assert!(is_there(&long, "text", START + HOUR));
    put(&long, &scope("main", "s"), vec![Original::text("more", "test")], START);
}
