//! The contents of the golden store of a schema version, for every backend. They are written once and must stay
//! readable.

use std::collections::{BTreeMap, BTreeSet};

use concertina::reference::{Media, Original};
use concertina::store::figures::{FiguresQuery, Request, Turn};
use concertina::store::{
    Batch, Epoch, FoldedKind, Mark, MarkKind, PrintedKind, PrintedText, Receipt, Retention, Scope, Store, StoreOptions,
    TurnStatus,
};

use crate::suite::{self, START, batch_of, projection, scope};

/// Returns the options with which a golden store is written.
pub(crate) fn options() -> StoreOptions {
    StoreOptions { retention: Retention::Held, host: "a gateway".into(), ..suite::options() }
}

/// Returns a batch with one of everything that it can hold.
fn batch(store: &dyn Store) -> Batch {
    let text = Original::text(&"a line that compresses\n".repeat(50), "exec: make");
    Batch {
        projections: vec![projection("block", "\"[REF_ID: 1]\"", "short")],
        printed: vec![PrintedText {
            text: projection("answer", "", "").block.hash,
            kind: PrintedKind::Copy,
            original: text.hash,
            saved: 5,
        }],
        marked: vec![Mark::on(MarkKind::Pinned, text.hash), Mark::on_session(MarkKind::FoldAll)],
        receipts: vec![Receipt { kind: "admit".into(), tokens_before: 70, tokens_after: 7, detail: "{}".into() }],
        epoch: Some(Epoch { reason: "stale".into(), tokens_freed: 60, tokens_rebilled: 5, blocks: 1 }),
        folded: vec![(FoldedKind::Results, 9, 4)],
        asked_again: vec![suite::asked_again(text.hash.to_ref_id(16).as_str(), 3)],
        tools: Some(projection("tools", "", "").block.hash),
        ..batch_of(
            store,
            vec![text, Original::text("short", "read: a"), Original::image(vec![0, 1, 2], "image/png", "screenshot")],
        )
    }
}

/// Returns a turn with one request that has all its fields.
fn turn() -> Turn {
    let request = Request {
        at: START,
        is_measured: true,
        counted: Some(800),
        growth: Some((80, 70)),
        sent: 900,
        without: 2000,
        dropped: 100,
        overhead: 30,
        fetched: 40,
        protected: 50,
        sent_bill: 500.0,
        without_bill: 1500.0,
        without_under: 10.0,
        without_over: 20.0,
        answered: Some(60),
        answer_bill: Some(300.0),
        usd: Some(3e-6),
    };
    Turn { session_key: Some("agent:main:work".into()), requests: vec![request], ..Turn::from("turn:1") }
}

/// Fills a new store that was opened with [`options`].
pub(crate) fn fill(store: &dyn Store) {
    store.settle(&BTreeSet::new(), START).unwrap();
    store.commit(&scope("main", "s"), &batch(store), START).unwrap();
    store.commit_turn(&scope("main", "s"), &turn(), START).unwrap();
    store.inherit(&scope("main", "s"), &scope("sub", "c"), None, START).unwrap();
}

/// Checks that a store holds what [`fill`] wrote and is usable.
pub(crate) fn is_whole(store: &dyn Store) {
    let me = scope("main", "s");
    let expected = batch(store);
    for (id, original) in &expected.originals {
        for agent in ["main", "sub"] {
            assert_eq!(store.get(id, agent, START).unwrap(), Some((id.clone(), original.clone())));
        }
    }
    assert_eq!(expected.originals[2].1.media, Media::Image("image/png".into()));
    let ledger = store.ledger(&me).unwrap();
    assert_eq!((&*ledger.projections, &ledger.printed), (&expected.projections, &expected.printed));
    let pinned = |scope: &Scope| -> Vec<_> { store.ledger(scope).unwrap().marked(MarkKind::Pinned).collect() };
    assert_eq!(
        [pinned(&me), pinned(&scope("sub", "c"))],
        [[expected.originals[0].1.hash], [expected.originals[0].1.hash]]
    );
    assert_eq!(ledger.marked_at(MarkKind::FoldAll), Some(START));
    let epochs: Vec<_> = ledger.epochs.into_iter().map(|(_, epoch)| epoch).collect();
    assert_eq!((epochs, ledger.tools), (expected.epoch.into_iter().collect(), expected.tools));
    assert_eq!(ledger.asked_again, BTreeMap::from([("read".to_owned(), 1)]));
    assert_eq!(*store.ledger(&scope("sub", "c")).unwrap().projections, expected.projections);
    let stats = store.stats(None).unwrap();
    assert_eq!((stats.sessions, stats.originals, stats.turns, stats.tokens_before), (2, 3, 1, 70));
    assert_eq!(store.recent(&me, START).unwrap().last.as_ref(), turn().requests.first());
    let figures = store.figures(&FiguresQuery::default()).unwrap();
    assert_eq!((figures.total.amount.sent_tokens, figures.unit), (900, "usd"));
    assert_eq!((figures.fetched.len(), figures.kinds.len()), (1, 1));
    assert_eq!((figures.fetched[0].tool.as_str(), figures.fetched[0].is_rerun), ("read", true));
    let mut sessions = store.sessions().unwrap();
    sessions.sort_by(|one, other| one.session_id.cmp(&other.session_id));
    let known: Vec<_> = sessions.iter().map(|known| (known.session_key.as_deref(), &*known.elsewhere)).collect();
    let hosts = ["a gateway".to_owned()];
    assert_eq!(known, [(None, &hosts[..]), (Some("agent:main:work"), &hosts[..])]);
    assert_eq!(store.commit_turn(&me, &"turn:1".into(), START).unwrap(), TurnStatus::Duplicate);
    store.commit(&me, &batch_of(store, vec![Original::text("further", "test")]), START).unwrap();
    assert_eq!(store.stats(None).unwrap().originals, 4);
}
