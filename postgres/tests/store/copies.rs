//! Tests of moving a store from a file into a database and back.

use concertina::store::{SqliteStore, Store};
use concertina_postgres::{PostgresOptions, PostgresStore};

use crate::cluster::{Cluster, options};
use crate::copied::{a_failure_leaves_nothing, everything, fill, is_copied_whole};
use crate::{hosts, suite};

#[test]
fn a_store_moves_between_a_file_and_a_database_and_nothing_changes() {
    let Some(cluster) = Cluster::shared() else { return };
    let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let [file, back, other] = dirs.each_ref().map(|dir| SqliteStore::open(dir.path(), suite::options()).unwrap());
    fill(&file, &SqliteStore::open(dirs[0].path(), hosts::options("\0")).unwrap());
    let rows = everything(&file);
    is_copied_whole(&file, &cluster.open("moved"));
    a_failure_leaves_nothing(&file, &cluster.open("failed"));
    let database = cluster.open("filled");
    let held = PostgresOptions { store: hosts::options("\0"), ..options() };
    fill(&database, &PostgresStore::open(&cluster.url(), "filled", held).unwrap());
    is_copied_whole(&database, &back);
    is_copied_whole(&database, &cluster.open("another"));
    a_failure_leaves_nothing(&database, &other);
    assert_eq!(everything(&file), rows);
    assert_eq!(file.stats(None).unwrap().originals, database.stats(None).unwrap().originals);
}
