//! Tests of failures that need direct access to the connection.

use std::sync::Arc;

use super::*;
use crate::cache::{ORIGINALS_BYTES, ReadCache};
use crate::options::Retention;

fn scope() -> Scope {
    Scope { agent_id: "main".into(), session_id: "s".into() }
}

fn batch(texts: &[&str]) -> Batch {
    let originals = texts.iter().map(|text| Original::text(text, "test"));
    Batch { originals: originals.map(|original| (original.hash.to_ref_id(16), original)).collect(), ..Batch::default() }
}

fn writer<T>(store: &SqliteStore, work: impl FnOnce(&mut Connection) -> Outcome<T>) -> Result<T> {
    store.with(LockMode::Exclusive, |connection, _| work(connection))
}

fn noise(length: usize) -> String {
    (0..length / 64).map(|i| ContentHash::of(&i.to_le_bytes()).to_hex()).collect()
}

#[test]
fn a_full_disk_is_an_error_and_leaves_nothing_half_written() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path(), StoreOptions::default()).unwrap();
    let limit = |pages: u64| {
        let set = |connection: &mut Connection| {
            Ok(connection.pragma_update_and_check(None, "max_page_count", pages as i64, |_| Ok(()))?)
        };
        writer(&store, set).unwrap();
    };
    store.commit(&scope(), &batch(&["before"]), 1).unwrap();
    limit(60);
    let (first, second) = ("small", noise(600_000));
    let error = store.commit(&scope(), &batch(&[first, &second]), 2).unwrap_err();
    assert!(matches!(error, Error::StoreFull { .. }), "{error}");
    let get = |text: &str| store.get(&ContentHash::of(text.as_bytes()).to_ref_id(16), "main", 3).unwrap();
    assert!(get("before").is_some());
    assert!(get(first).is_none());
    assert_eq!(store.stats(None).unwrap().originals, 1);
    limit(10_000);
    store.commit(&scope(), &batch(&[first, &second]), 3).unwrap();
    assert_eq!(get(&second).unwrap().1.bytes, second.as_bytes());
}

#[test]
fn a_database_that_cannot_be_written_is_unavailable_and_still_readable() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path(), StoreOptions::default()).unwrap();
    store.commit(&scope(), &batch(&["text"]), 1).unwrap();
    let read_only = |connection: &mut Connection| Ok(connection.pragma_update(None, "query_only", true)?);
    writer(&store, read_only).unwrap();
    let error = store.commit(&scope(), &batch(&["more"]), 2).unwrap_err();
    assert!(matches!(&error, Error::StoreUnavailable { reason, .. } if reason.contains("readonly")), "{error}");
    assert!(matches!(store.commit_turn(&scope(), &"1".into(), 2), Err(Error::StoreUnavailable { .. })));
    assert!(store.get(&ContentHash::of(b"text").to_ref_id(16), "main", 3).unwrap().is_some());
}

#[test]
fn a_panic_in_one_call_costs_only_that_call() {
    let dir = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(dir.path(), StoreOptions::default()).unwrap());
    let panicking = Arc::clone(&store);
    let panicked = thread::spawn(move || {
        panicking.write(|transaction, _| -> Outcome<()> {
            session::ensure_session(transaction, &scope(), 1)?;
            panic!("in the middle of a transaction");
        })
    });
    assert!(panicked.join().is_err());
    assert!(store.open_file.is_poisoned());
    assert_eq!(store.stats(None).unwrap().sessions, 0);
    store.commit(&scope(), &batch(&["text"]), 2).unwrap();
    assert_eq!(store.stats(None).unwrap().sessions, 1);
}

#[test]
fn a_warm_turn_does_not_write() {
    let dir = tempfile::tempdir().unwrap();
    let options = StoreOptions { ttl_seconds: 600, ..StoreOptions::default() };
    let store = SqliteStore::open(dir.path(), options).unwrap();
    store.commit(&scope(), &batch(&["one", "two"]), 0).unwrap();
    let writes = |texts: &[&str], now| {
        let count = |connection: &mut Connection| Ok(connection.total_changes());
        let in_context = texts.iter().map(|text| ContentHash::of(text.as_bytes())).collect();
        let batch = Batch { in_context: Some(in_context), ..Batch::after(&store.ledger(&scope()).unwrap()) };
        let before = writer(&store, count).unwrap();
        store.commit(&scope(), &batch, now).unwrap();
        writer(&store, count).unwrap() > before
    };
    let both = ["one", "two"];
    assert!(!writes(&both, 5_999));
    assert!(writes(&both, 6_000));
    assert!(!writes(&both, 6_001));
    assert!(writes(&["one"], 6_001));
    assert!(!writes(&["one"], 6_002));
    assert!(writes(&both, 6_002));
    // With a clock that was set back, no session was seen later.
    assert!(!writes(&both, -1_000_000));
}

#[test]
fn memory_is_bounded_by_entries_and_by_bytes() {
    let hold = |max_entries, length: usize, count: u32| {
        let held = ReadCache::new(max_entries).originals;
        for i in 0..count {
            let mut bytes = vec![0; length];
            bytes[..4].copy_from_slice(&i.to_le_bytes());
            let original = Original::image(bytes, "image/png", "");
            held.insert(original.hash, Arc::new(original));
        }
        (held.len(), held.iter().map(|(_, original)| original.bytes.len() as u64).sum::<u64>())
    };
    let (entries, _) = hold(50, 4, 200);
    assert!((40..=50).contains(&entries), "{entries}");
    let (entries, bytes) = hold(1_000, 4 << 20, 40);
    assert!((12..=16).contains(&entries) && bytes <= ORIGINALS_BYTES, "{entries} {bytes}");
}

#[test]
fn a_commit_at_the_limit_reads_no_grants_of_held_sessions() {
    let dir = tempfile::tempdir().unwrap();
    let options = StoreOptions { retention: Retention::Held, ..StoreOptions::default() };
    let store = SqliteStore::open(dir.path(), options).unwrap();
    let texts: Vec<String> = (0..200).map(|number| format!("text {number}")).collect();
    store.commit(&scope(), &batch(&texts.iter().map(String::as_str).collect::<Vec<_>>()), 1).unwrap();
    let steps = || {
        let count = |connection: &mut Connection| {
            let mut idle = connection.prepare(sweep::EVICTABLE)?;
            let found = idle.query_map((0, 1000), |row| row.get::<_, i64>(0))?.count();
            Ok((found, idle.get_status(rusqlite::StatementStatus::VmStep)))
        };
        writer(&store, count).unwrap()
    };
    let (found, while_held) = steps();
    store.end_session(&scope(), 2).unwrap();
    let (found_at_end, at_end) = steps();
    assert_eq!((found, found_at_end), (0, 200));
    assert!(while_held < 100 && at_end > 10 * while_held, "{while_held}, {at_end}");
}

#[test]
fn a_sweep_looks_once_and_takes_as_many_steps_as_there_is_to_remove() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path(), StoreOptions { ttl_seconds: 1, ..StoreOptions::default() }).unwrap();
    let sweep_of = |count: usize, now| {
        let texts: Vec<String> = (0..count).map(|number| format!("{now} {number}")).collect();
        store.commit(&scope(), &batch(&texts.iter().map(String::as_str).collect::<Vec<_>>()), now).unwrap();
        let looked = |status| {
            let read =
                |connection: &mut Connection, _| Ok(connection.prepare_cached(sweep::EXPIRED)?.get_status(status));
            store.with(LockMode::Shared, read).unwrap()
        };
        let status = [rusqlite::StatementStatus::Run, rusqlite::StatementStatus::VmStep];
        let before = status.map(looked);
        assert_eq!(store.sweep(now + 10_000).unwrap().originals, count as u64);
        let after = status.map(looked);
        (after[0] - before[0], after[1] - before[1])
    };
    let (runs, few) = sweep_of(2 * sweep::STEP_ROWS, 0);
    assert_eq!(runs, 1);
    let (runs, many) = sweep_of(8 * sweep::STEP_ROWS, 100_000);
    assert_eq!(runs, 1);
    assert!(many < 5 * few, "{few}, {many}");
}
