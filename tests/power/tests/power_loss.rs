//! The store's promise against a disk that loses power, one that lies, and one that fails.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::path::Path;

use concertina::error::{Error, Result};
use concertina::reference::{ContentHash, Original};
use concertina::store::{Batch, BlockKey, Millis, Projection, Scope, SqliteStore, Store, StoreOptions};
use concertina_power_test::{Call, Cut, Dice, Disk, Fault, Mode};
use tempfile::TempDir;

const START: Millis = 1_700_000_000_000;

/// How many cuts in a row one store lives through.
const CUTS_IN_A_LIFE: usize = 10;

fn scope(session: &str) -> Scope {
    Scope { agent_id: "main".into(), session_id: session.into() }
}

fn open(home: &Path) -> Result<SqliteStore> {
    SqliteStore::open(home, StoreOptions { ttl_seconds: 600, ..StoreOptions::default() })
}

/// Text that does not compress well.
fn text(dice: &mut Dice, length: u64) -> String {
    (0..length).map(|_| char::from(b' ' + dice.below(95) as u8)).collect()
}

fn projection(text: &str) -> Projection {
    let hash = ContentHash::of(text.as_bytes());
    Projection {
        block: BlockKey { hash, place: 7 },
        replacement: format!("\"{}\"", hash.to_hex()),
        original: hash,
        reason: "stale".into(),
    }
}

fn commit(store: &SqliteStore, session: &str, texts: &[String], now: Millis) -> Result<()> {
    let originals: Vec<Original> = texts.iter().map(|text| Original::text(text, "test")).collect();
    let ids = store.ref_ids(&originals.iter().map(|original| original.hash).collect::<Vec<_>>())?;
    let projections = texts.iter().map(|text| projection(text)).collect();
    let batch = Batch { originals: ids.into_iter().zip(originals).collect(), projections, ..Batch::default() };
    store.commit(&scope(session), &batch, now).map(drop)
}

/// Whether all texts are in the store of a directory, byte for byte and shown as they were; else what is wrong.
fn holds(store: &SqliteStore, home: &Path, texts: &[String]) -> std::result::Result<(), String> {
    let wrong = |error: &dyn std::fmt::Display| error.to_string();
    let connection = rusqlite::Connection::open(home.join("concertina.sqlite")).map_err(|error| wrong(&error))?;
    let check = connection.query_row("PRAGMA integrity_check", (), |row| row.get::<_, String>(0));
    match check.map_err(|error| wrong(&error))?.as_str() {
        "ok" => {}
        found => return Err(found.to_owned()),
    }
    let shown = store.ledger(&scope("session")).map_err(|error| wrong(&error))?.projections;
    for text in texts {
        let hash = ContentHash::of(text.as_bytes());
        match store.get(&hash.to_ref_id(16), "main", START).map_err(|error| wrong(&error))? {
            Some((_, original)) if original.bytes == text.as_bytes() => {}
            found => return Err(format!("{} bytes are lost: {:?}", text.len(), found.map(|(id, _)| id))),
        }
        if !shown.contains(&projection(text)) {
            return Err(format!("the projection of {} is lost", hash.to_hex()));
        }
    }
    Ok(())
}

/// Opens what a cut left, checks that it holds what was acknowledged, and works on until the next cut, adding what is
/// acknowledged before that.
fn live(home: &Path, mode: Mode, acknowledged: &mut Vec<String>, dice: &mut Dice) -> std::result::Result<Cut, String> {
    let disk = Disk::at(home, mode).unwrap();
    disk.cut_after(dice.below(300) as usize);
    let store = open(home).map_err(|error| error.to_string())?;
    holds(&store, home, acknowledged)?;
    loop {
        if let Some(cut) = disk.cut() {
            return Ok(cut);
        }
        // Now and then the log is written back into the file.
        if dice.below(6) == 0 {
            store.sweep(START).map_err(|error| error.to_string())?;
            continue;
        }
        let longest = if dice.below(8) == 0 { 200_000 } else { 8_000 };
        let texts: Vec<String> = (0..1 + dice.below(3))
            .map(|_| {
                let length = 32 + dice.below(longest);
                text(dice, length)
            })
            .collect();
        commit(&store, "session", &texts, START).map_err(|error| error.to_string())?;
        if let Some(cut) = disk.cut() {
            return Ok(cut);
        }
        acknowledged.extend(texts);
    }
}

/// What was wrong after some of that many cuts, and how many texts were acknowledged.
fn cut_power(cuts: usize, mode: Mode, seed: u64) -> (Vec<String>, usize) {
    let (mut losses, mut total) = (Vec::new(), 0);
    let mut dice = Dice::new(seed);
    for life in 0..cuts / CUTS_IN_A_LIFE {
        let mut home = TempDir::new().unwrap();
        let mut acknowledged = Vec::new();
        for number in 0..=CUTS_IN_A_LIFE {
            match live(home.path(), mode, &mut acknowledged, &mut dice) {
                Ok(cut) => {
                    home = TempDir::new().unwrap();
                    cut.write_to(home.path(), &mut dice).unwrap();
                }
                Err(wrong) => {
                    losses.push(format!("{mode:?} with seed {seed}, life {life}, cut {number}: {wrong}"));
                    break;
                }
            }
        }
        total += acknowledged.len();
    }
    (losses, total)
}

#[test]
fn a_power_cut_at_any_moment_loses_nothing_acknowledged() {
    let (losses, acknowledged) = cut_power(400, Mode::Honest, 0x5eed);
    assert!(losses.is_empty(), "{losses:#?}");
    assert!(acknowledged > 1000, "{acknowledged}");
    println!("400 power cuts, {acknowledged} originals acknowledged, none lost");
}

#[test]
fn a_disk_that_does_not_sync_is_found_out() {
    for ending in ["", "-wal", ".sqlite"] {
        let (losses, _) = cut_power(50, Mode::Lying(ending), 1);
        println!("{} losses without syncs of {ending:?}, for example {:?}", losses.len(), losses.first());
        assert!(!losses.is_empty(), "{ending:?}");
    }
}

/// A store on a disk that may fail once.
struct Failing {
    disk: Disk,
    /// The number of the call that fails.
    at: Option<usize>,
    /// What the step returned in which it failed; `None` where it took no notice.
    error: Option<Error>,
}

impl Failing {
    /// Does it, and once more after an error. Only the fault may cause one, and the second time nothing is wrong.
    fn insist<T>(&mut self, step: &str, work: impl Fn() -> Result<T>) -> T {
        let before = self.disk.calls().len();
        let done = work();
        let is_struck = self.at.is_some_and(|at| (before..self.disk.calls().len()).contains(&at));
        done.unwrap_or_else(|error| {
            assert!(is_struck, "{step}: {error}, though no call of it failed");
            self.error = Some(error);
            work().unwrap_or_else(|error| panic!("{step} after the fault: {error}"))
        })
    }
}

/// A short life of a store, whose `fault.0`th call fails. Returns its calls and the error that the fault became.
fn short_life(fault: Option<(usize, Fault)>) -> (Vec<Call>, Option<Error>) {
    let home = TempDir::new().unwrap();
    let mut dice = Dice::new(3);
    let mut life =
        Failing { disk: Disk::at(home.path(), Mode::Honest).unwrap(), at: fault.map(|(at, _)| at), error: None };
    if let Some((at, fault)) = fault {
        life.disk.fail_at(at, fault);
    }
    let store = life.insist("open", || open(home.path()));
    // Expired at once, so that the sweep has something to remove and makes the file shorter.
    let old = [text(&mut dice, 30_000)];
    life.insist("commit", || commit(&store, "old", &old, START - 1_000_000));
    let mut acknowledged = Vec::new();
    for length in [40, 4_000, 400, 9_000, 90] {
        let new = [text(&mut dice, length)];
        life.insist("commit", || commit(&store, "session", &new, START));
        acknowledged.extend(new);
    }
    let first = ContentHash::of(acknowledged[0].as_bytes()).to_ref_id(16);
    let (_, fetched) = life.insist("fetch", || store.get(&first, "main", START)).expect("was acknowledged");
    assert_eq!(fetched.bytes, acknowledged[0].as_bytes());
    life.insist("sweep", || store.sweep(START));
    let last = [text(&mut dice, 500)];
    life.insist("commit", || commit(&store, "session", &last, START));
    acknowledged.extend(last);
    assert_eq!(holds(&store, home.path(), &acknowledged), Ok(()), "{fault:?}");
    store.close();
    let calls = life.disk.calls();
    let left = TempDir::new().unwrap();
    life.disk.cut_now().write_to(left.path(), &mut dice).unwrap();
    let _disk = Disk::at(left.path(), Mode::Honest).unwrap();
    let store = open(left.path()).unwrap();
    assert_eq!(holds(&store, left.path(), &acknowledged), Ok(()), "after {fault:?} and a power cut");
    (calls, life.error)
}

#[test]
fn each_call_may_fail_once_and_nothing_is_lost() {
    let (calls, none) = short_life(None);
    assert!(none.is_none(), "{none:?}");
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    for (at, call) in calls.iter().enumerate() {
        for fault in call.faults() {
            let (_, error) = short_life(Some((at, *fault)));
            let code = error.as_ref().map_or("no error", Error::code);
            *outcomes.entry(format!("{call:?} {fault:?}: {code}")).or_default() += 1;
            if error.is_none() {
                println!("{at} {call:?} {fault:?}");
            }
        }
    }
    println!("{} calls: {outcomes:#?}", calls.len());
}
