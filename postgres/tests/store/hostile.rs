//! Tests with names and texts that TEXT or an index cannot hold.

use concertina::reference::{ContentHash, Original};
use concertina::store::figures::{FiguresQuery, Request, Turn};
use concertina::store::{Batch, Epoch, Receipt, Store, TurnStatus};

use crate::cluster::Cluster;
use crate::suite::{START, asked_again, batch_of, projection, scope};

#[test]
fn names_and_texts_with_nul_and_of_any_length_come_back() {
    let Some(cluster) = Cluster::shared() else { return };
    let store = cluster.open("hostile");
    let long = "x".repeat(100_000);
    for name in ["\0", "a\0b\u{1}\u{1}0", "'; DROP TABLE originals; --", "\u{feff}漢\\", &long, ""] {
        let me = scope(name, name);
        let text = format!("text of {name}");
        let batch = Batch {
            projections: vec![projection("block", name, &text)],
            receipts: vec![Receipt {
                kind: name.into(),
                tokens_before: u64::MAX,
                tokens_after: 0,
                detail: name.into(),
            }],
            epoch: Some(Epoch { reason: name.into(), tokens_freed: u64::MAX, tokens_rebilled: 0, blocks: 1 }),
            asked_again: vec![asked_again(name, 1)],
            tools: Some(ContentHash::of(b"tools")),
            ..batch_of(
                &store,
                vec![Original::text(&text, name), Original::image(text.bytes().rev().collect(), name, name)],
            )
        };
        assert_eq!(store.commit(&me, &batch, START).unwrap(), batch.projections);
        for (id, original) in &batch.originals {
            assert_eq!(store.get(id, name, START).unwrap(), Some((id.clone(), original.clone())));
        }
        let ledger = store.ledger(&me).unwrap();
        assert_eq!((&*ledger.projections, ledger.tools), (&batch.projections, batch.tools));
        assert_eq!(store.stats(Some(&me)).unwrap().receipts[0].1.detail, name);
        let turn = Turn {
            session_key: Some(name.into()),
            requests: vec![Request { at: START, sent: 7, ..Request::default() }],
            ..name.into()
        };
        assert_eq!(store.commit_turn(&me, &turn, START).unwrap(), TurnStatus::Committed);
        assert_eq!(store.commit_turn(&me, &turn, START).unwrap(), TurnStatus::Duplicate);
        assert_eq!(store.recent(&me, START).unwrap().last.unwrap().sent, 7);
        let figures = store.figures(&FiguresQuery { session: Some(me.clone()), ..FiguresQuery::default() }).unwrap();
        assert_eq!(
            (figures.sessions[0].session_key.as_deref(), figures.days[0].day.as_str()),
            (Some(name), "2023-11-14")
        );
        store.switch(&me, true, START).unwrap();
        assert!(store.is_off(&me).unwrap());
    }
    assert_eq!(store.sessions().unwrap().len(), 6);
}

#[test]
fn an_original_that_was_altered_in_the_database_is_never_returned() {
    let Some(cluster) = Cluster::shared() else { return };
    let store = cluster.open("altered");
    let batch = batch_of(&store, vec![Original::text("text", "test")]);
    store.commit(&scope("main", "s"), &batch, START).unwrap();
    cluster.sql("UPDATE altered.originals SET payload = 'texT'");
    let error = store.get(&batch.originals[0].0, "main", START).unwrap_err();
    assert_eq!(error.code(), "CONCERTINA_ORIGINAL_DAMAGED");
}
