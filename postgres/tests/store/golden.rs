//! A dump of every released schema version can still be opened. The dump of a version is written once, by
//! `write_the_golden_dump`, and never again.

use std::path::{Path, PathBuf};

use concertina_postgres::{PostgresOptions, PostgresStore};

use crate::cluster::{Cluster, options};
use crate::golden_contents::{self, fill, is_whole};

/// The newest version.
const VERSIONS: u32 = 1;

fn golden(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../fixtures/store/version-{version}.sql"))
}

#[test]
#[ignore = "writes the dump of the newest version, once, when there is a newer one"]
fn write_the_golden_dump() {
    let Some(cluster) = Cluster::start() else { return };
    let options = PostgresOptions { store: golden_contents::options(), ..options() };
    fill(&PostgresStore::open(&cluster.url(), "golden", options).unwrap());
    let newest = golden(VERSIONS);
    assert!(!newest.exists(), "{} is never written again", newest.display());
    let dumped = cluster.file("golden.sql");
    let mut dump = cluster.command("pg_dump");
    dump.args(["--inserts", "--no-owner", "--no-privileges", "--schema=golden", "-f"]).arg(&dumped);
    assert!(dump.arg(cluster.url()).status().unwrap().success(), "pg_dump failed");
    std::fs::copy(dumped, newest).unwrap();
}

#[test]
fn a_dump_of_every_version_opens_and_has_everything() {
    let Some(cluster) = Cluster::shared() else { return };
    for version in 1..=VERSIONS {
        cluster.psql(&golden(version), &[]);
        is_whole(&cluster.open("golden"));
        cluster.sql("DROP SCHEMA golden CASCADE");
    }
}
