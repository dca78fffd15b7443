//! A store's file with changed bytes: it opens or is set aside, and each call returns.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use concertina::reference::{Original, RefId};
use concertina::store::figures::FiguresQuery;
use concertina::store::{Batch, Scope, SqliteStore, Store, StoreOptions};

use super::{corpus, directory, open};

/// The files that are changed: one of each version, and a new one.
static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let old = corpus::inputs("store").into_iter().filter(|input| input.name.ends_with(".sqlite"));
    old.map(|input| input.bytes).chain([new()]).collect()
});

fn scope() -> Scope {
    Scope { agent_id: "main".into(), session_id: "s".into() }
}

fn original() -> (RefId, Original) {
    let original = Original::text(&"a line that shrinks\n".repeat(1000), "test");
    (original.hash.to_ref_id(16), original)
}

fn new() -> Vec<u8> {
    let dir = directory();
    let store = open(&dir);
    store.commit(&scope(), &Batch { originals: vec![original()], ..Batch::default() }, 1).expect("a new store");
    store.close();
    std::fs::read(store.path()).expect("its file")
}

/// Applies changes to a file that the first byte selects. A change is three bytes with the offset, one byte with the
/// length, and that many bytes.
fn changed(data: &[u8]) -> Option<Vec<u8>> {
    let (&which, mut changes) = data.split_first()?;
    let mut file = FILES[usize::from(which) % FILES.len()].clone();
    while let Some((&[a, b, c, count], rest)) = changes.split_first_chunk() {
        let at = u32::from_le_bytes([a, b, c, 0]) as usize % file.len();
        let (bytes, rest) = rest.split_at(rest.len().min(count.into()).min(file.len() - at));
        file[at..at + bytes.len()].copy_from_slice(bytes);
        changes = rest;
    }
    Some(file)
}

pub(super) fn run(data: &[u8]) {
    let Some(file) = changed(data) else { return };
    let dir = directory();
    std::fs::write(dir.path().join("concertina.sqlite"), file).expect("room in memory");
    let options = StoreOptions { ttl_seconds: 1, busy_timeout_ms: 50, ..StoreOptions::default() };
    let Ok((store, _)) = SqliteStore::open_or_set_aside(dir.path(), options, "today") else { return };
    let (id, original) = original();
    let _ = store.ledger(&scope());
    if let Ok(Some((_, found))) = store.get(&id, "main", 2) {
        assert_eq!(found.bytes, original.bytes);
    }
    let _ = (store.stats(None), store.sessions(), store.recent(&scope(), 0));
    let _ = store.figures(&FiguresQuery::default());
    let _ = store.export(&mut |_, _| Ok(()));
    let _ = store.commit(&scope(), &Batch { originals: vec![(id, original)], ..Batch::default() }, 2);
    let _ = store.settle(&BTreeSet::new(), 10_000_000);
    let _ = store.sweep(1 << 50);
    let _ = store.purge(&scope());
}

/// Returns for each file changes of the first page's header, of the start of the schema, and of a page of each kind.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let places = [0, 16, 18, 24, 28, 40, 44, 60, 96, 100, 4096, 8192, 12_288, 20_480, 40_960_u32];
    let files = 0..FILES.len() as u8;
    let at = |file: u8, place: u32| {
        let [a, b, c, _] = place.to_le_bytes();
        let bytes = &FILES[usize::from(file)];
        let here = place as usize % bytes.len();
        [&[file, a, b, c, 16], &bytes[here..(here + 16).min(bytes.len())]].concat()
    };
    files.flat_map(|file| places.map(|place| at(file, place))).collect()
}

/// Returns words of a schema.
pub(super) fn words() -> Vec<String> {
    let words = [
        "CREATE TABLE ",
        "CREATE TRIGGER ",
        "CREATE VIEW ",
        "INTEGER",
        "BLOB",
        " COLLATE ",
        " DEFAULT ",
        "WITHOUT ROWID",
        "sqlite_",
    ];
    words.map(str::to_owned).to_vec()
}
