//! Tests the store's durability on a disk that loses power, and on one that does not sync.
//!
//! A cut consists of what SQLite synced and a random part of the rest. The store that wrote it continues and never sees
//! the cut. So acknowledged originals are checked in another directory, by another store.
#![cfg(unix)]

mod suite;

use std::path::Path;

use concertina::reference::Original;
use concertina::store::Store;
use concertina_power_test::{Cut, Dice, Disk, Mode};
use tempfile::TempDir;

use suite::{START, check, commit, open, original};

/// The number of successive cuts of one store.
const CUTS_IN_A_LIFE: usize = 10;

/// Checks what a cut left and continues until the next cut. Adds originals that are acknowledged before that.
fn live(home: &Path, mode: Mode, acknowledged: &mut Vec<Original>, dice: &mut Dice) -> Result<Cut, String> {
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
        // Sometimes the log is checkpointed.
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

/// Cuts the power `cuts` times. Returns the failures, each of which ends a store's run, and the number of acknowledged
/// originals.
fn cut_power(cuts: usize, mode: Mode, seed: u64) -> (Vec<String>, usize) {
    let (mut losses, mut total) = (Vec::new(), 0);
    let mut dice = Dice::new(seed);
    for life in 0..cuts / CUTS_IN_A_LIFE {
        let mut home = TempDir::new().unwrap();
        let mut acknowledged = Vec::new();
        // The result of the last cut is checked too.
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
fn a_disk_that_does_not_sync_is_detected() {
    for ending in ["", "-wal", ".sqlite"] {
        let (losses, _) = cut_power(50, Mode::Lying(ending), 1);
        println!("{} of 5 stores lost something without syncs of {ending:?}", losses.len());
        assert!(!losses.is_empty(), "{ending:?}");
    }
}
