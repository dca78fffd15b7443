//! C code that crashes, hangs or overflows the stack receives its text only once. The store's journal and the threads
//! of the parsers ensure that. The processes that end are this test's own, started again.
#![cfg(unix)]

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use concertina::foreign::{MAX_CRASHES, Skipped, call_foreign, run_with_timeout, skipped};
use concertina::store::{SqliteStore, Store, StoreOptions};
use concertina_power_test::Deadly;

const DIR: &str = "CONCERTINA_TEST_DIR";
const TEXT: &str = "CONCERTINA_TEST_TEXT";

/// Scans the text in the environment, in a process with an open store. Returns `None` in the process that starts these
/// processes.
fn scanned(code: Deadly, patience: Duration) -> Option<()> {
    let dir = std::env::var_os(DIR)?;
    let text = std::env::var(TEXT).unwrap().into_bytes();
    let store = SqliteStore::open(Path::new(&dir), StoreOptions::default()).unwrap();
    let given = text.clone();
    let outcome = call_foreign(&format!("{code:?}"), &text, || run_with_timeout(patience, move || code.scan(&given)));
    assert_eq!(outcome, None);
    println!("{}", store.notices().join("\n"));
    Some(())
}

/// Runs a process that scans a text. Returns its status and its output.
fn scan(test: &str, dir: &Path, text: &str) -> (ExitStatus, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(DIR, dir).env(TEXT, text).stderr(Stdio::null());
    let output = command.output().unwrap();
    (output.status, String::from_utf8(output.stdout).unwrap())
}

/// Checks that each of three texts ends one process, and that no text ends one after that.
fn ends_three_processes(test: &str, code: Deadly) {
    if scanned(code, Duration::from_secs(60)).is_some() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for text in ["a", "b", "c"] {
        let (end, _) = scan(test, dir.path(), text);
        assert!(end.signal().is_some(), "{text}: {end}");
        let (end, said) = scan(test, dir.path(), text);
        assert!(end.success(), "{text}: {end}");
        assert!(said.contains(&format!("{code:?} crashed the process")), "{said}");
    }
    let (end, said) = scan(test, dir.path(), "d");
    assert!(end.success() && !said.contains("ended"), "{end}: {said}");
    let _store = SqliteStore::open(dir.path(), StoreOptions::default()).unwrap();
    let of_this = Skipped { code: format!("{code:?}"), texts: MAX_CRASHES, is_off: true };
    assert!(skipped().contains(&of_this));
}

#[test]
fn an_invalid_write_ends_one_process_for_each_text() {
    ends_three_processes("an_invalid_write_ends_one_process_for_each_text", Deadly::Write);
}

#[test]
fn a_stack_overflow_ends_one_process_for_each_text() {
    ends_three_processes("a_stack_overflow_ends_one_process_for_each_text", Deadly::Recursion);
}

#[test]
fn a_hanging_parser_is_abandoned_and_not_run_again() {
    const NAME: &str = "a_hanging_parser_is_abandoned_and_not_run_again";
    if scanned(Deadly::Loop, Duration::from_millis(300)).is_some() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (end, said) = scan(NAME, dir.path(), "a");
    assert!(end.success() && said.contains("Loop hung on a text"), "{end}: {said}");
    // The parser is not run again.
    let started = Instant::now();
    let (end, said) = scan(NAME, dir.path(), "a");
    assert!(end.success() && !said.contains("hung on a text"), "{end}: {said}");
    assert!(started.elapsed() < Duration::from_secs(60));
    let (end, said) = scan(NAME, dir.path(), "b");
    assert!(end.success() && said.contains("hung on a text"), "{end}: {said}");
}
