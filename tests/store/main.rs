//! Tests of the store: one suite for every backend, and tests that need several processes or a killed one.

mod copied;
mod copies;
#[path = "../corpus/mod.rs"]
mod corpus;
mod crash;
mod file;
mod golden;
mod golden_contents;
mod hosts;
mod replaced;
mod retention;
mod suite;

use concertina::store::{SqliteStore, Store, StoreOptions};

/// Runs the suite on a backend. Each case gets a store of its own.
fn run_suite<S: Store>(open: impl Fn(StoreOptions) -> S) {
    for case in suite::CASES {
        println!("{}", case.name);
        (case.check)(&open(suite::options()));
    }
}

#[test]
fn sqlite_keeps_the_promises_of_a_store() {
    let dirs = std::cell::RefCell::new(Vec::new());
    run_suite(|options| {
        let dir = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(dir.path(), options).unwrap();
        dirs.borrow_mut().push(dir);
        store
    });
}

#[test]
fn several_hosts_hold_sessions_in_one_directory() {
    for check in hosts::CASES {
        let dir = tempfile::tempdir().unwrap();
        let [one, two] = ["one", "two"].map(|name| SqliteStore::open(dir.path(), hosts::options(name)).unwrap());
        check(&one, &two);
    }
}

#[test]
fn cached_rows_of_sqlite_equal_the_rows_that_others_wrote() {
    let dir = tempfile::tempdir().unwrap();
    suite::rows_in_memory_are_those_of_the_store(|| SqliteStore::open(dir.path(), suite::options()).unwrap());
}
