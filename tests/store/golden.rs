//! Files of every version that was ever written keep opening. A file of a version is never written again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use concertina::reference::{Media, Original};
use concertina::store::figures::{FiguresQuery, Request, Turn};
use concertina::store::{
    Batch, Epoch, Printed, PrintedText, Receipt, Retention, SqliteStore, Store, StoreOptions, TurnStatus,
};

use crate::copied::everything;
use crate::hosts;
use crate::suite::{START, batch_of, options, projection, scope};

/// The newest version.
const VERSIONS: u32 = 6;

fn golden(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/store/version-{version}.sqlite"))
}

/// Everything that a store can hold, once.
fn contents(store: &dyn Store) -> Batch {
    let text = Original::text(&"a line that compresses\n".repeat(50), "exec: make");
    Batch {
        projections: vec![projection("block", "\"[REF_ID: 1]\"", "short")],
        printed: vec![PrintedText {
            text: projection("answer", "", "").block.hash,
            printed: Printed::Copy,
            original: text.hash,
            saved: 0,
        }],
        receipts: vec![Receipt { kind: "admit".into(), tokens_before: 70, tokens_after: 7, detail: "{}".into() }],
        epoch: Some(Epoch { reason: "stale".into(), tokens_freed: 60, tokens_rebilled: 5, blocks: 1 }),
        tools: Some(projection("tools", "", "").block.hash),
        ..batch_of(
            store,
            vec![text, Original::text("short", "read: a"), Original::image(vec![0, 1, 2], "image/png", "screenshot")],
        )
    }
}

/// A turn with one request.
fn turn() -> Turn {
    let request =
        Request { at: START, is_measured: true, sent: 900, without: 2000, usd: Some(3e-6), ..Request::default() };
    Turn { session_key: Some("agent:main:work".into()), requests: vec![request], ..Turn::from("turn:1") }
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
    let held = StoreOptions { retention: Retention::Held, host: "a gateway".into(), ..options() };
    let store = SqliteStore::open(dir.path(), held).unwrap();
    store.settle(&BTreeSet::new(), START).unwrap();
    store.commit(&scope("main", "s"), &contents(&store), START).unwrap();
    store.commit_turn(&scope("main", "s"), &turn(), START).unwrap();
    store.inherit(&scope("main", "s"), &scope("sub", "c"), None, START).unwrap();
    store.close();
    let newest = golden(VERSIONS);
    assert!(!newest.exists(), "{} is never written again", newest.display());
    fs::copy(dir.path().join("concertina.sqlite"), newest).unwrap();
}

#[test]
fn whoever_has_a_session_that_was_held_before_hosts_had_names_keeps_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("concertina.sqlite");
    fs::copy(golden(4), &file).unwrap();
    rusqlite::Connection::open(&file).unwrap().execute_batch("UPDATE sessions SET held = 1").unwrap();
    let [one, two] = ["one", "two"].map(|name| SqliteStore::open(dir.path(), hosts::options(name)).unwrap());
    let later = START + 3_600_000;
    assert_eq!(one.settle(&BTreeSet::new(), later).unwrap(), 0);
    assert_eq!(two.settle(&BTreeSet::from(["s".to_owned(), "c".to_owned()]), later).unwrap(), 0);
    assert_eq!(two.settle(&BTreeSet::from(["c".to_owned()]), later).unwrap(), 1);
}

#[test]
fn a_file_of_every_version_opens_and_has_everything() {
    (1..=VERSIONS).for_each(opens_and_has_everything);
}

fn opens_and_has_everything(version: u32) {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(golden(version), dir.path().join("concertina.sqlite")).unwrap();
    let store = SqliteStore::open(dir.path(), options()).unwrap();
    let me = scope("main", "s");
    let mut expected = contents(&store);
    if version < 3 {
        // The one reason that there was.
        expected.projections[0].reason = "stale".into();
    }
    for (id, original) in &expected.originals {
        assert_eq!(store.get(id, "main", START).unwrap(), Some((id.clone(), original.clone())));
        assert_eq!(store.get(id, "sub", START).unwrap(), Some((id.clone(), original.clone())));
    }
    assert_eq!(expected.originals[2].1.media, Media::Image("image/png".into()));
    let ledger = store.ledger(&me).unwrap();
    assert_eq!(
        (&*ledger.projections, &ledger.printed, ledger.epochs.len()),
        (&expected.projections, &expected.printed, 1)
    );
    assert_eq!(ledger.tools, expected.tools.filter(|_| version >= 2));
    assert_eq!(*store.ledger(&scope("sub", "c")).unwrap().projections, expected.projections);
    let stats = store.stats(None).unwrap();
    assert_eq!((stats.sessions, stats.originals, stats.turns, stats.tokens_before), (2, 3, 1, 70));
    let figures = store.figures(&FiguresQuery::default()).unwrap();
    let known: Vec<_> = figures.sessions.iter().map(|session| session.session_key.as_deref()).collect();
    if version < 4 {
        assert_eq!((figures.total.amount.requests, known), (0, vec![]));
    } else {
        assert_eq!((figures.total.amount.sent_tokens, figures.unit), (900, "usd"));
        assert_eq!(known, [Some("agent:main:work")]);
    }
    let homes = everything(&store).into_iter().filter(|(table, _)| *table == "homes").count();
    assert_eq!(homes, if version < 5 { 0 } else { 2 });
    assert_eq!(store.commit_turn(&me, &"turn:1".into(), START).unwrap(), TurnStatus::Duplicate);
    store.commit(&me, &batch_of(&store, vec![Original::text("further", "test")]), START).unwrap();
    assert_eq!(store.stats(None).unwrap().originals, 4);
}
