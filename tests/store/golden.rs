//! A file of every released schema version can still be opened. The file of a version is written once, by
//! `write_the_golden_file`, and never again.

use std::fs;
use std::path::{Path, PathBuf};

use concertina::store::SqliteStore;

use crate::golden_contents::{self, fill, is_whole};
use crate::suite;

/// The newest version.
const VERSIONS: u32 = 1;

fn golden(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/store/version-{version}.sqlite"))
}

#[test]
#[ignore = "writes the file of the newest version, once, when there is a newer one"]
fn write_the_golden_file() {
    let dir = tempfile::tempdir().unwrap();
    // Small pages keep the file small.
    rusqlite::Connection::open(dir.path().join("concertina.sqlite"))
        .unwrap()
        .execute_batch("PRAGMA page_size = 1024; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
        .unwrap();
    let store = SqliteStore::open(dir.path(), golden_contents::options()).unwrap();
    fill(&store);
    store.close();
    let newest = golden(VERSIONS);
    assert!(!newest.exists(), "{} is never written again", newest.display());
    fs::copy(dir.path().join("concertina.sqlite"), newest).unwrap();
}

#[test]
fn a_file_of_every_version_opens_and_has_everything() {
    for version in 1..=VERSIONS {
        let dir = tempfile::tempdir().unwrap();
        fs::copy(golden(version), dir.path().join("concertina.sqlite")).unwrap();
        is_whole(&SqliteStore::open(dir.path(), suite::options()).unwrap());
    }
}
