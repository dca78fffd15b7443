//! Tests of moving a store from one directory into another.

use concertina::reference::Original;
use concertina::store::copy::copy;
use concertina::store::{SqliteStore, Store};

use crate::copied::{a_failure_leaves_nothing, fill, is_copied_whole};
use crate::hosts;
use crate::suite::{START, options, put, scope};

#[test]
fn a_store_moves_from_one_directory_into_another_and_nothing_changes() {
    let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let [from, to, other] = dirs.each_ref().map(|dir| SqliteStore::open(dir.path(), options()).unwrap());
    fill(&from, &SqliteStore::open(dirs[0].path(), hosts::options("\0")).unwrap());
    is_copied_whole(&from, &to);
    a_failure_leaves_nothing(&from, &other);
}

#[test]
fn an_original_that_is_damaged_already_is_named_and_goes_along() {
    let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [from, to] = dirs.each_ref().map(|dir| SqliteStore::open(dir.path(), options()).unwrap());
    let ids =
        put(&from, &scope("main", "s"), vec![Original::text("one", "test"), Original::text("two", "test")], START);
    let file = rusqlite::Connection::open(dirs[0].path().join("concertina.sqlite")).unwrap();
    file.execute("UPDATE originals SET payload = x'00' WHERE ref_id = ?1", [ids[0].as_str()]).unwrap();
    let copied = copy(&from, &to, |_| ()).unwrap();
    assert_eq!((copied.damaged, copied.rows["originals"]), (vec![ids[0].to_string()], 2));
    assert!(to.get(&ids[0], "main", START).is_err());
    assert!(to.get(&ids[1], "main", START).unwrap().is_some());
}
