//! The store, and the engine over it, on a disk of which one call fails.
//!
//! Of each kind of call in each kind of step (opening, committing, sweeping, ...) [`SAMPLE`] calls fail, one in each
//! run, spread from the first to the last one and over the kinds of fault. With `CONCERTINA_ALL_FAULTS=1` every call
//! fails in its turn.
//!
//! What was acknowledged is there after it, also after a power cut; the step that failed works the second time; and
//! what the store tells at the end is what it would have told without the fault.
#![cfg(unix)]

mod life;
#[path = "../suite/mod.rs"]
mod suite;
mod turns;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use concertina::error::Result;
use concertina_power_test::{Call, Disk, Fault, Mode};
use tempfile::TempDir;

/// A life on a disk that fails once.
struct Failing {
    disk: Disk,
    /// The number of the call that fails.
    at: usize,
    errors: usize,
    /// The steps so far: their names, and how many calls were made before each.
    steps: Vec<(&'static str, usize)>,
}

impl Failing {
    fn at(home: &Path, at: usize, fault: Fault) -> Self {
        // An empty file is not created again: that would sync the real directory, which takes longer than all the rest.
        fs::write(home.join("concertina.sqlite"), "").unwrap();
        let disk = Disk::at(home, Mode::Honest).unwrap();
        disk.fail_at(at, fault);
        Self { disk, at, errors: 0, steps: Vec::new() }
    }

    /// Begins a step; returns how many calls were made before it.
    fn begin(&mut self, step: &'static str) -> usize {
        let before = self.disk.calls().len();
        self.steps.push((step, before));
        before
    }

    /// Does it, and once more after an error. Only the fault may cause one, and the second time nothing is wrong.
    fn insist<T>(&mut self, step: &'static str, mut work: impl FnMut() -> Result<T>) -> T {
        let before = self.begin(step);
        work().unwrap_or_else(|error| {
            self.blame(step, before, &error.to_string());
            work().unwrap_or_else(|error| panic!("{step} after call {} failed: {error}", self.at))
        })
    }

    /// Panics unless the call that fails is one of those since `before`.
    fn blame(&mut self, step: &str, before: usize, error: &str) {
        let made = before..self.disk.calls().len();
        assert!(made.contains(&self.at), "{step}: {error}, though call {} is not of {made:?}", self.at);
        self.errors += 1;
    }
}

/// What a life came to.
struct Lived {
    calls: Vec<Call>,
    steps: Vec<(&'static str, usize)>,
    /// How many steps returned an error.
    errors: usize,
    /// What was told at its end.
    told: String,
}

/// A life of which one call fails.
type Life = fn(home: &Path, at: usize, fault: Fault) -> Lived;

fn live(life: Life, at: usize, fault: Fault) -> Lived {
    life(TempDir::new().unwrap().path(), at, fault)
}

/// How many calls of each kind fail in each kind of step, at most.
const SAMPLE: usize = 6;

/// The calls of a life that are to fail, each with its fault.
fn faults_of(usual: &Lived) -> Vec<(usize, Fault)> {
    let fault = |at: usize, turn: usize| usual.calls[at].faults()[turn % usual.calls[at].faults().len()];
    if std::env::var_os("CONCERTINA_ALL_FAULTS").is_some() {
        return (0..usual.calls.len()).map(|at| (at, fault(at, at))).collect();
    }
    let mut kinds = BTreeMap::<(&str, Call), Vec<usize>>::new();
    for (at, call) in usual.calls.iter().enumerate() {
        let begun = usual.steps.partition_point(|(_, before)| *before <= at);
        let step = begun.checked_sub(1).map_or("before the first step", |last| usual.steps[last].0);
        kinds.entry((step, *call)).or_default().push(at);
    }
    let spread = |calls: &Vec<usize>| -> Vec<(usize, Fault)> {
        let count = calls.len().min(SAMPLE);
        let chosen = (0..count).map(|turn| (calls[turn * (calls.len() - 1) / (count - 1).max(1)], turn));
        chosen.map(|(at, turn)| (at, fault(at, turn))).collect()
    };
    kinds.values().flat_map(spread).collect()
}

/// Lets calls of a life fail, each in a life of its own, on all cores. Returns how many faults that were.
fn fail_each(name: &str, life: Life) -> usize {
    let usual = live(life, usize::MAX, Fault::Io);
    assert_eq!(usual.errors, 0);
    let faults = faults_of(&usual);
    println!("{name}: {} of {} calls fail", faults.len(), usual.calls.len());
    let (next, quiet) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(&(at, fault)) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let lived = live(life, at, fault);
                    assert_eq!(lived.told, usual.told, "{name}, call {at}: {fault:?}");
                    if lived.errors == 0 {
                        quiet.lock().unwrap().push((usual.calls[at], fault));
                    }
                }
            });
        }
    });
    let mut kinds = BTreeMap::<Call, usize>::new();
    faults.iter().for_each(|(at, _)| *kinds.entry(usual.calls[*at]).or_default() += 1);
    let quiet = quiet.into_inner().unwrap();
    println!(
        "{name}: {} faults, {} of them without an error, in {} calls: {kinds:?}",
        faults.len(),
        quiet.len(),
        usual.calls.len()
    );
    // A log that is written back later, a lock that is tried again and a connection that only reads may hide one.
    assert!(quiet.len() < faults.len() / 2, "{quiet:?}");
    faults.len()
}

#[test]
fn a_call_may_fail_and_nothing_is_lost() {
    let faults = fail_each("a store's life", life::of_a_store)
        + fail_each("a copy", life::of_a_copy)
        + fail_each("turns", turns::life);
    assert!(faults >= 400, "{faults}");
}
