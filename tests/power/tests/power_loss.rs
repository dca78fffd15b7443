//! The store's promise against a disk that loses power, one that does not sync, and one that fails.
//!
//! A cut is made of what SQLite synced and of a chance part of what it did not; the store that wrote it goes on meanwhile and never
//! sees it. So what was acknowledged before a cut is looked for in another directory, by another store.
#![cfg(unix)]

use std::fmt::Display;
use std::fs;
use std::ops::Range;
use std::path::Path;

use concertina::error::Result;
use concertina::reference::Original;
use concertina::store::{Batch, BlockKey, Millis, Projection, Scope, SqliteStore, Store, StoreOptions};
use concertina_power_test::{Call, Cut, Dice, Disk, Fault, Mode};
use rusqlite::Connection;
use tempfile::TempDir;

const START: Millis = 1_700_000_000_000;

/// How many cuts one store lives through, one after the other.
const CUTS_IN_A_LIFE: usize = 10;

fn scope(session: &str) -> Scope {
    Scope { agent_id: "main".into(), session_id: session.into() }
}

fn open(home: &Path) -> Result<SqliteStore> {
    SqliteStore::open(home, StoreOptions { ttl_seconds: 600, ..StoreOptions::default() })
}

/// An original that hardly compresses.
fn original(dice: &mut Dice, length: u64) -> Original {
    let text: String = (0..length).map(|_| char::from(b' ' + dice.below(95) as u8)).collect();
    Original::text(&text, "test")
}

fn projection(original: &Original) -> Projection {
    let block = BlockKey { hash: original.hash, place: 7 };
    Projection { block, replacement: "\"folded\"".into(), original: original.hash, reason: "stale".into() }
}

fn commit(store: &SqliteStore, session: &str, originals: &[Original], now: Millis) -> Result<()> {
    let ids = store.ref_ids(&originals.iter().map(|original| original.hash).collect::<Vec<_>>())?;
    let projections = originals.iter().map(projection).collect();
    let originals = ids.into_iter().zip(originals.iter().cloned()).collect();
    store.commit(&scope(session), &Batch { originals, projections, ..Batch::default() }, now).map(drop)
}

/// Says what is wrong with a store that should hold these originals byte for byte and show them as it did.
fn check(store: &SqliteStore, acknowledged: &[Original]) -> std::result::Result<(), String> {
    let words = |error: &dyn Display| error.to_string();
    let connection = Connection::open(store.path()).map_err(|error| words(&error))?;
    let found = connection.query_row("PRAGMA integrity_check", (), |row| row.get::<_, String>(0));
    match found.map_err(|error| words(&error))?.as_str() {
        "ok" => {}
        damage => return Err(damage.to_owned()),
    }
    let shown = store.ledger(&scope("session")).map_err(|error| words(&error))?.projections;
    for original in acknowledged {
        let id = original.hash.to_ref_id(16);
        match store.get(&id, "main", START).map_err(|error| words(&error))? {
            Some((_, found)) if found == *original => {}
            _ => return Err(format!("{id} of {} bytes is lost", original.bytes.len())),
        }
        if !shown.contains(&projection(original)) {
            return Err(format!("the projection of {id} is lost"));
        }
    }
    Ok(())
}

/// Checks what a cut left, and works on it until the next one; adds what is acknowledged before that.
fn live(
    home: &Path,
    mode: Mode,
    acknowledged: &mut Vec<Original>,
    dice: &mut Dice,
) -> std::result::Result<Cut, String> {
    let disk = Disk::at(home, mode).unwrap();
    disk.cut_after(dice.below(200) as usize);
    let store = open(home).map_err(|error| error.to_string())?;
    check(&store, acknowledged)?;
    let mut new = Vec::new();
    loop {
        if let Some(cut) = disk.cut() {
            return Ok(cut);
        }
        acknowledged.append(&mut new);
        // Now and then the log is written back into the file.
        if dice.below(6) == 0 {
            store.sweep(START).map_err(|error| error.to_string())?;
            continue;
        }
        let longest = if dice.below(12) == 0 { 60_000 } else { 5_000 };
        for _ in 0..1 + dice.below(3) {
            let length = 32 + dice.below(longest);
            new.push(original(dice, length));
        }
        commit(&store, "session", &new, START).map_err(|error| error.to_string())?;
    }
}

/// Cuts the power that often. Returns what was wrong, which ends a store's life, and how many originals were acknowledged.
fn cut_power(cuts: usize, mode: Mode, seed: u64) -> (Vec<String>, usize) {
    let (mut losses, mut total) = (Vec::new(), 0);
    let mut dice = Dice::new(seed);
    for life in 0..cuts / CUTS_IN_A_LIFE {
        let mut home = TempDir::new().unwrap();
        let mut acknowledged = Vec::new();
        // What the last cut left is looked at, too.
        for number in 0..=CUTS_IN_A_LIFE {
            match live(home.path(), mode, &mut acknowledged, &mut dice) {
                Ok(cut) => {
                    home = TempDir::new().unwrap();
                    cut.write_to(home.path(), &mut dice).unwrap();
                }
                Err(wrong) => {
                    losses.push(format!("{mode:?}, seed {seed}, life {life}, cut {number}: {wrong}"));
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
    let (losses, acknowledged) = cut_power(360, Mode::Honest, 0x5eed);
    assert!(losses.is_empty(), "{losses:#?}");
    assert!(acknowledged > 1000, "{acknowledged}");
    println!("360 power cuts, {acknowledged} originals acknowledged, none lost");
}

#[test]
fn a_disk_that_does_not_sync_is_found_out() {
    for ending in ["", "-wal", ".sqlite"] {
        let (losses, _) = cut_power(50, Mode::Lying(ending), 1);
        println!("{} of 5 stores lost something without syncs of {ending:?}", losses.len());
        assert!(!losses.is_empty(), "{ending:?}");
    }
}

/// A store on a disk that fails once.
struct Failing {
    disk: Disk,
    /// The number of the call that fails.
    at: usize,
    errors: usize,
}

impl Failing {
    /// Does it, and once more after an error. Only the fault may cause one, and the second time nothing is wrong.
    fn insist<T>(&mut self, step: &str, work: impl Fn() -> Result<T>) -> T {
        let before = self.disk.calls().len();
        work().unwrap_or_else(|error| {
            let made = before..self.disk.calls().len();
            assert!(made.contains(&self.at), "{step}: {error}, though call {} is not of {made:?}", self.at);
            self.errors += 1;
            work().unwrap_or_else(|error| panic!("{step} after call {} failed: {error}", self.at))
        })
    }
}

/// What a short life of a store puts: one that expires, and four that stay.
fn originals() -> (Vec<Original>, Vec<Original>) {
    let mut dice = Dice::new(3);
    (vec![original(&mut dice, 9_000)], [40, 5_000, 400, 90].map(|length| original(&mut dice, length)).into())
}

/// Opens a store, commits, sweeps, commits again and fetches, while one call fails; then cuts the power. Returns all calls up to
/// the last step, and how many steps returned an error.
fn short_life(at: usize, fault: Fault, (old, kept): &(Vec<Original>, Vec<Original>)) -> (Vec<Call>, usize) {
    let home = TempDir::new().unwrap();
    // An empty file is not created again: that would sync the real directory, which takes longer than all the rest.
    fs::write(home.path().join("concertina.sqlite"), "").unwrap();
    let mut life = Failing { disk: Disk::at(home.path(), Mode::Honest).unwrap(), at, errors: 0 };
    life.disk.fail_at(at, fault);
    let store = life.insist("open", || open(home.path()));
    // Expired already, so that the sweep removes it and makes the file shorter.
    life.insist("commit", || commit(&store, "old", old, START - 1_000_000));
    let (last, first) = kept.split_last().unwrap();
    for original in first {
        life.insist("commit", || commit(&store, "session", std::slice::from_ref(original), START));
    }
    life.insist("sweep", || store.sweep(START));
    life.insist("commit", || commit(&store, "session", std::slice::from_ref(last), START));
    for original in kept {
        let id = original.hash.to_ref_id(16);
        let found = life.insist("fetch", || store.get(&id, "main", START));
        assert_eq!(found.map(|(_, found)| found).as_ref(), Some(original), "call {at}: {fault:?}");
    }
    let (calls, cut) = (life.disk.calls(), life.disk.cut_now());
    drop(store);
    let left = TempDir::new().unwrap();
    cut.write_to(left.path(), &mut Dice::new(at as u64)).unwrap();
    let _disk = Disk::at(left.path(), Mode::Honest).unwrap();
    assert_eq!(check(&open(left.path()).unwrap(), kept), Ok(()), "call {at}: {fault:?}, and a power cut");
    (calls, life.errors)
}

/// Lets each call of a short life fail that `which` picks.
fn fail_each(which: impl Fn(&[Call]) -> Range<usize>) {
    let originals = originals();
    let (calls, errors) = short_life(usize::MAX, Fault::Io, &originals);
    assert_eq!(errors, 0);
    let (mut lives, mut unnoticed) = (0, Vec::new());
    for at in which(&calls) {
        for fault in calls[at].faults() {
            let (_, errors) = short_life(at, *fault, &originals);
            lives += 1;
            // The connection that only reads need not be able to write.
            if errors == 0 && *fault != Fault::ReadOnly {
                unnoticed.push((at, calls[at], *fault));
            }
        }
    }
    assert!(unnoticed.is_empty(), "these failed, and no step returned an error: {unnoticed:?}");
    println!("{lives} faults of {} calls", calls.len());
}

/// The call that opens the log, after the database file and the journals of the two transactions that make it one with a log.
fn opening_of_the_log(calls: &[Call]) -> usize {
    calls.iter().enumerate().filter(|(_, call)| **call == Call::Open).nth(3).expect("four files are opened").0
}

#[test]
fn while_the_file_is_made_each_call_may_fail_once_and_nothing_is_lost() {
    fail_each(|calls| 0..opening_of_the_log(calls));
}

#[test]
fn once_the_log_is_opened_each_call_may_fail_once_and_nothing_is_lost() {
    fail_each(|calls| opening_of_the_log(calls)..calls.len());
}
