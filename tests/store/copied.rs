//! Tests of copying one store into another, for every pair of backends.

use std::collections::BTreeSet;

use concertina::error::Error;
use concertina::reference::{ContentHash, Original};
use concertina::store::copy::{Copied, copy};
use concertina::store::figures::{FiguresQuery, Request, Turn};
use concertina::store::row::Cell;
use concertina::store::tables::TABLES;
use concertina::store::{
    Batch, Epoch, FoldedKind, Mark, MarkKind, PrintedKind, PrintedText, Receipt, Scope, Store, TurnStatus,
};

use crate::suite::{START, asked_again, batch_of, projection, scope};

/// Names and texts that are difficult for some backend.
const NAMES: [&str; 6] = ["s", "\0", "a\0b\u{1}\u{1}0", "'; DROP TABLE originals; --", "\u{feff}漢\\", ""];

const DAY: i64 = 86_400_000;

/// Fills a store with rows in every table. A second host has it open too.
pub(crate) fn fill(store: &dyn Store, host: &dyn Store) {
    // A swept session leaves totals behind.
    let gone = scope("main", "gone");
    store.commit(&gone, &batch_of(store, vec![Original::text("gone", "test")]), START - 9 * DAY).unwrap();
    let request =
        |at| Request { at, is_measured: true, sent: 900, without: 2000, usd: Some(3e-6), ..Request::default() };
    let turn =
        |name: &str, at| Turn { session_key: Some(name.into()), requests: vec![request(at)], ..Turn::from(name) };
    store.commit_turn(&gone, &turn("gone", START - 9 * DAY), START - 9 * DAY).unwrap();
    store.sweep(START).unwrap();
    for (number, name) in NAMES.into_iter().enumerate() {
        let me = scope("main", name);
        let text = format!("text of {name} ").repeat(1 + 900 * number);
        let batch = Batch {
            projections: (0..50).map(|block| projection(&format!("{block}"), name, &text)).collect(),
            printed: vec![PrintedText {
                text: ContentHash::of(name.as_bytes()),
                kind: PrintedKind::Copy,
                original: ContentHash::of(text.as_bytes()),
                saved: 5,
            }],
            receipts: vec![Receipt { kind: name.into(), tokens_before: 70, tokens_after: 7, detail: name.into() }],
            epoch: Some(Epoch { reason: name.into(), tokens_freed: 3, tokens_rebilled: 2, blocks: 1 }),
            folded: vec![(FoldedKind::Results, 9, 4), (FoldedKind::Images, 7, 0)],
            asked_again: vec![asked_again(name, 1)],
            marked: vec![Mark::on_session(MarkKind::KeepTurn)],
            tools: Some(ContentHash::of(b"tools")),
            in_context: Some(BTreeSet::new()),
            ..batch_of(
                store,
                vec![Original::text(&text, name), Original::image(vec![number as u8; 99], "image/png", name)],
            )
        };
        store.commit(&me, &batch, START).unwrap();
        store.commit_turn(&me, &turn(name, START), START).unwrap();
        // A child whose row is older than its parent's.
        store.commit(&scope("sub", name), &Batch::default(), START).unwrap();
        store.switch(&scope("sub", name), number % 2 == 0, START).unwrap();
        store.inherit(&me, &scope("sub", name), None, START).unwrap();
        store.inherit(&scope("late", name), &scope("sub", name), None, START).unwrap();
    }
    host.switch(&scope("main", "\0"), false, START).unwrap();
    store.end_session(&scope("main", "s"), START).unwrap();
}

/// Returns every row.
pub(crate) fn everything(store: &dyn Store) -> Vec<(&'static str, Vec<Cell>)> {
    let mut rows = Vec::new();
    let mut take = |table: &'static concertina::store::tables::Table, row| {
        rows.push((table.name, row));
        Ok(())
    };
    store.export(&mut take).unwrap();
    rows
}

/// Copies a filled store and continues to work with the copy.
pub(crate) fn is_copied_whole(from: &dyn Store, to: &dyn Store) {
    let before = everything(from);
    let filled: BTreeSet<&str> = before.iter().map(|(table, _)| *table).collect();
    assert_eq!(filled, TABLES.iter().map(|table| table.name).collect(), "every table has rows");
    let mut copied = 0;
    let Copied { rows, damaged } = copy(from, to, |originals| copied = originals).unwrap();
    assert_eq!((copied, damaged.len(), rows.values().sum::<u64>()), (12, 0, before.len() as u64));
    assert_eq!(everything(to), before);
    assert_eq!(everything(from), before);
    let query = FiguresQuery::default();
    let figures = |store: &dyn Store| format!("{:?}", store.figures(&query).unwrap().total);
    assert_eq!(figures(to), figures(from));
    for name in NAMES {
        let me: Scope = scope("main", name);
        let (old, new) = (from.ledger(&me).unwrap(), to.ledger(&me).unwrap());
        assert_eq!((old.projections, old.printed, old.version), (new.projections, new.printed, new.version));
        assert_eq!(to.commit_turn(&me, &Turn::from(name), START).unwrap(), TurnStatus::Duplicate);
        // New rows get ids after the old ones, in every table with generated ids.
        let text = format!("further {name}");
        let batch = Batch {
            since: new.version,
            projections: vec![projection("further", name, &text)],
            ..batch_of(to, vec![Original::text(&text, name)])
        };
        assert_eq!(to.commit(&me, &batch, START).unwrap(), batch.projections);
    }
    // The target is no longer empty.
    assert!(matches!(copy(from, to, |_| ()), Err(Error::BadArgument { .. })));
}

/// A copy that fails midway leaves the target empty, and the next attempt succeeds.
pub(crate) fn a_failure_leaves_nothing(from: &dyn Store, to: &dyn Store) {
    let begun = everything(to);
    let all = everything(from);
    let failed = to.import(&mut |put| {
        for (name, row) in all.iter().take(all.len() / 2) {
            let table = TABLES.iter().find(|table| table.name == *name).expect("it is one of ours");
            put(table, row.clone())?;
        }
        Err(Error::Closed)
    });
    assert!(matches!(failed, Err(Error::Closed)));
    assert_eq!(everything(to), begun);
    // A row whose references do not exist.
    let orphan = [Cell::Integer(7), Cell::Integer(8), Cell::Integer(START), Cell::Null];
    let grants = TABLES.iter().find(|table| table.name == "grants").expect("it is one of ours");
    assert!(to.import(&mut |put| put(grants, orphan.to_vec())).is_err());
    assert_eq!(everything(to), begun);
    copy(from, to, |_| ()).unwrap();
    assert_eq!(everything(to), all);
}
