//! Tests of the store, and of the engine with it, on a disk on which one call fails.
//!
//! Of each kind of call in each kind of step (opening, committing, sweeping, ...) [`SAMPLE`] calls fail, one per run,
//! spread from the first to the last one and over the kinds of fault. With `CONCERTINA_ALL_FAULTS=1` every call fails
//! in one run.
//!
//! Afterwards everything that was acknowledged is there, even after a power cut; the failed step succeeds on the second
//! attempt; and the final results of the store are the same as without the fault.
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

/// A run on a disk that fails once.
struct Failing {
    disk: Disk,
    /// The number of the call that fails.
    at: usize,
    errors: usize,
    /// The steps so far, with their names and the number of calls before each.
    steps: Vec<(&'static str, usize)>,
}

impl Failing {
    fn at(home: &Path, at: usize, fault: Fault) -> Self {
        // An existing empty file is not created again. Creating it would sync the real directory, which takes longer
        // than everything else.
        fs::write(home.join("concertina.sqlite"), "").unwrap();
        let disk = Disk::at(home, Mode::Honest).unwrap();
        disk.fail_at(at, fault);
        Self { disk, at, errors: 0, steps: Vec::new() }
    }

    /// Begins a step. Returns the number of calls before it.
    fn begin(&mut self, step: &'static str) -> usize {
        let before = self.disk.calls().len();
        self.steps.push((step, before));
        before
    }

    /// Runs a step, and once more after an error. Only the fault may cause an error, and the second attempt must
    /// succeed.
    fn insist<T>(&mut self, step: &'static str, mut work: impl FnMut() -> Result<T>) -> T {
        let before = self.begin(step);
        work().unwrap_or_else(|error| {
            self.blame(step, before, &error.to_string());
            work().unwrap_or_else(|error| panic!("{step} after call {} failed: {error}", self.at))
        })
    }

    /// Panics unless the failing call is one of those since `before`.
    fn blame(&mut self, step: &str, before: usize, error: &str) {
        let made = before..self.disk.calls().len();
        assert!(made.contains(&self.at), "{step}: {error}, though call {} is not of {made:?}", self.at);
        self.errors += 1;
    }
}

/// The results of a run.
struct Lived {
    calls: Vec<Call>,
    steps: Vec<(&'static str, usize)>,
    /// The number of steps that returned an error.
    errors: usize,
    /// The results of the queries at the end.
    told: String,
}

/// A run in which one call fails.
type Life = fn(home: &Path, at: usize, fault: Fault) -> Lived;

fn live(life: Life, at: usize, fault: Fault) -> Lived {
    life(TempDir::new().unwrap().path(), at, fault)
}

/// The maximum number of failing calls of each kind in each kind of step.
const SAMPLE: usize = 6;

/// Returns the calls of a run that shall fail, each with its fault.
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

/// Runs `life` once per fault, on all cores. Returns the number of faults.
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
    // A fault may stay hidden if a checkpoint happens later, a lock is retried, or a connection only reads.
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
