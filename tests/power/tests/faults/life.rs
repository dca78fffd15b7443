//! Runs of a store in which every method of [`Store`] is called.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use concertina::reference::{ContentHash, Original};
use concertina::store::figures::{FiguresQuery, Request, Turn};
use concertina::store::row::Cell;
use concertina::store::tables::Table;
use concertina::store::{
    AskedAgain, Batch, Epoch, FoldedKind, PrintedKind, PrintedText, Receipt, SqliteStore, Store, StoreOptions,
};
use concertina_power_test::{Dice, Disk, Fault, Mode};
use tempfile::TempDir;

use super::suite::{START, check, commit, open, options, original, scope};
use super::{Failing, Lived};

/// The size limit of a store, in bytes.
const MOST: u64 = 40_000;

fn capped(home: &Path) -> concertina::error::Result<SqliteStore> {
    SqliteStore::open(home, StoreOptions { max_bytes: MOST, ..options() })
}

fn originals() -> Vec<Original> {
    let mut dice = Dice::new(3);
    [40, 5_000, 400, 90].map(|length| original(&mut dice, length)).into()
}

/// Returns a batch as an assembly commits it.
fn assembled(originals: &[Original]) -> Batch {
    let [first, second, ..] = originals else { panic!("two originals") };
    Batch {
        printed: vec![PrintedText {
            text: ContentHash::of(b"shown"),
            kind: PrintedKind::Copy,
            original: first.hash,
            saved: 5,
        }],
        receipts: vec![Receipt { kind: "assemble".into(), tokens_before: 9, tokens_after: 4, detail: "{}".into() }],
        epoch: Some(Epoch { reason: "stale".into(), tokens_freed: 5, tokens_rebilled: 2, blocks: 1 }),
        folded: vec![(FoldedKind::Results, 9, 4)],
        asked_again: vec![AskedAgain {
            ref_id: first.hash.to_ref_id(16).to_string(),
            tool: "read".into(),
            tokens: 7,
            is_rerun: false,
        }],
        in_context: Some(BTreeSet::from([first.hash, second.hash])),
        tools: Some(ContentHash::of(b"tools")),
        ..Batch::default()
    }
}

fn turn(number: u64) -> Turn {
    let request = Request {
        at: START,
        sent: 100 * number,
        without: 150 * number,
        sent_bill: 10.0,
        without_bill: 15.0,
        ..Request::default()
    };
    Turn { session_key: Some("agent:main".into()), requests: vec![request], ..Turn::from(&*format!("turn {number}")) }
}

/// Runs several sessions, of which one expires, one ends, one is inherited and purged, and one exceeds the limit; calls
/// all queries; and reopens the store midway.
pub(crate) fn of_a_store(home: &Path, at: usize, fault: Fault) -> Lived {
    let kept = originals();
    let mut dice = Dice::new(4);
    let [old, done, bulk] = [9_000, 6_000, 60_000].map(|length| vec![original(&mut dice, length)]);
    let mut life = Failing::at(home, at, fault);
    let store = life.insist("open", || open(home));
    // Already expired, so that the sweep removes it and shortens the file.
    life.insist("commit", || commit(&store, "old", &old, START - 1_000_000));
    let (last, first) = kept.split_last().unwrap();
    for original in first {
        life.insist("commit", || commit(&store, "session", std::slice::from_ref(original), START));
    }
    life.insist("commit", || store.commit(&scope("session"), &assembled(&kept), START));
    for number in 1..3 {
        life.insist("commit_turn", || store.commit_turn(&scope("session"), &turn(number), START));
    }
    life.insist("commit", || commit(&store, "done", &done, START));
    life.insist("inherit", || store.inherit(&scope("session"), &scope("child"), None, START));
    life.insist("switch", || store.switch(&scope("session"), true, START));
    assert!(life.insist("is_off", || store.is_off(&scope("session"))));
    life.insist("switch", || store.switch(&scope("session"), false, START));
    life.insist("sweep", || store.sweep(START));
    life.insist("end_session", || store.end_session(&scope("done"), START));
    let alive = BTreeSet::from(["session".to_owned()]);
    life.insist("settle", || store.settle(&alive, START + 700_000));
    drop(store);
    let store = life.insist("open again", || open(home));
    life.insist("purgeable", || store.purgeable(&scope("child")));
    life.insist("purge", || store.purge(&scope("child")));
    // Over the limit, originals that no live session shows are evicted, and those in a context stay.
    life.insist("commit", || commit(&store, "bulk", &bulk, START - 1_000_000));
    let small = life.insist("open with a limit", || capped(home));
    life.insist("sweep", || small.sweep(START));
    drop(small);
    life.insist("commit", || commit(&store, "session", std::slice::from_ref(last), START));
    for original in &kept {
        let id = original.hash.to_ref_id(16);
        let found = life.insist("get", || store.get(&id, "main", START));
        assert_eq!(found.map(|(_, found)| found).as_ref(), Some(original), "call {at}: {fault:?}");
    }
    let mut told = Vec::new();
    told.push(format!("{:?}", life.insist("ledger", || store.ledger(&scope("session"))).projections));
    told.push(format!("{:?}", life.insist("stats", || store.stats(None))));
    told.push(format!("{:?}", life.insist("recent", || store.recent(&scope("session"), 0))));
    told.push(format!("{:?}", life.insist("figures", || store.figures(&FiguresQuery::default())).total));
    told.push(format!("{:?}", life.insist("sessions", || store.sessions())));
    let mut rows = 0;
    life.insist("export", || {
        rows = 0;
        store.export(&mut |_, _| {
            rows += 1;
            Ok(())
        })
    });
    told.push(format!("{rows} rows, {:?}", store.notices()));
    assert!(store.location().ends_with("concertina.sqlite"));
    ended(&life, store, &kept, &told)
}

/// The rows of a store that holds the originals.
static ROWS: LazyLock<Vec<(&'static Table, Vec<Cell>)>> = LazyLock::new(|| {
    let from = TempDir::new().unwrap();
    let _disk = Disk::at(from.path(), Mode::Honest).unwrap();
    let source = open(from.path()).unwrap();
    commit(&source, "session", &originals(), START).unwrap();
    let mut rows = Vec::new();
    source
        .export(&mut |table, row| {
            rows.push((table, row));
            Ok(())
        })
        .unwrap();
    rows
});

/// Fills a store from the rows of another one.
pub(crate) fn of_a_copy(home: &Path, at: usize, fault: Fault) -> Lived {
    let mut life = Failing::at(home, at, fault);
    let store = life.insist("open", || open(home));
    life.insist("import", || {
        store.import(&mut |put| ROWS.iter().cloned().try_for_each(|(table, row)| put(table, row)))
    });
    let told = vec![format!("{:?}", life.insist("ledger", || store.ledger(&scope("session"))).projections)];
    ended(&life, store, &originals(), &told)
}

/// Cuts the power and checks what is left.
fn ended(life: &Failing, store: SqliteStore, kept: &[Original], told: &[String]) -> Lived {
    let (at, errors, calls, cut) = (life.at, life.errors, life.disk.calls(), life.disk.cut_now());
    drop(store);
    let left = TempDir::new().unwrap();
    cut.write_to(left.path(), &mut Dice::new(at as u64)).unwrap();
    let _disk = Disk::at(left.path(), Mode::Honest).unwrap();
    assert_eq!(check(&open(left.path()).unwrap(), kept), Ok(()), "call {at}, and a power cut");
    Lived { calls, steps: life.steps.clone(), errors, told: told.join("\n") }
}
