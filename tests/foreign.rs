//! A text that crashes the process inside foreign code, or during which a user ends the process, does so only once. The
//! process is this test's own, started again.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use concertina::foreign::{TimedOut, call_foreign};
use concertina::store::{SqliteStore, Store, StoreOptions};

const DIR: &str = "CONCERTINA_TEST_DIR";

/// Starts this test in a separate process with `dir` in the environment.
fn again(test: &str, dir: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test]).env(DIR, dir).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

fn open(dir: &Path) -> SqliteStore {
    SqliteStore::open(dir, StoreOptions::default()).unwrap()
}

#[test]
fn a_crash_happens_once() {
    if let Some(dir) = std::env::var_os(DIR) {
        let _store = open(Path::new(&dir));
        assert_eq!(
            call_foreign("a deadly parser", b"text", || -> Result<(), TimedOut> { std::process::abort() }),
            None
        );
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let runs = || again("a_crash_happens_once", dir.path()).wait().unwrap().success();
    assert!(!runs());
    assert!(runs() && runs());
    let names =
        || std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!names().any(|name| name.contains("running")));
    assert!(open(dir.path()).notices().is_empty(), "the second process said so");
}

#[test]
fn a_text_whose_hanging_parser_a_user_ended_is_not_parsed_again() {
    if let Some(dir) = std::env::var_os(DIR) {
        let _store = open(Path::new(&dir));
        call_foreign("an endless parser", b"text", || -> Result<(), TimedOut> {
            loop {
                std::thread::park();
            }
        });
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut child = again("a_text_whose_hanging_parser_a_user_ended_is_not_parsed_again", dir.path());
    let notes = || {
        std::fs::read_dir(dir.path()).unwrap().any(|entry| {
            std::fs::read(entry.unwrap().path())
                .is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains("an endless parser"))
        })
    };
    while !notes() {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let store = open(dir.path());
    assert_eq!(call_foreign("an endless parser", b"text", || Ok(())), None);
    assert_eq!(call_foreign("an endless parser", b"another", || Ok(())), Some(()));
    let notices = store.notices();
    assert!(notices.len() == 1 && notices[0].starts_with("an endless parser crashed the process"), "{notices:?}");
}
