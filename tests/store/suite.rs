//! The contract of every backend of the store, as functions over `&dyn Store`.

use std::collections::BTreeSet;

use concertina::error::Error;
use concertina::reference::{ContentHash, Media, Original, RefId};
use concertina::store::figures::{FiguresQuery, Request, Turn};
use concertina::store::{
    AskedAgain, Batch, BlockKey, Candidates, Epoch, FAILED, Ledger, MAX_CANDIDATES, Mark, MarkKind, Millis,
    PrintedKind, PrintedText, Probes, Projection, Receipt, Scope, Searched, Signature, Stats, Store, StoreOptions,
    TurnStatus,
};

use crate::corpus;

/// One requirement of the contract.
pub(crate) struct Case {
    /// The requirement in words.
    pub(crate) name: &'static str,
    /// A function that checks it on an empty store with [`options`].
    pub(crate) check: fn(&dyn Store),
}

macro_rules! cases {
    ($($case:ident),+ $(,)?) => {
        /// All requirements.
        pub(crate) const CASES: &[Case] = &[$(Case { name: stringify!($case), check: $case }),+];
    };
}

cases![
    what_was_committed_comes_back_byte_for_byte,
    images_come_back_as_images,
    real_inputs_come_back_byte_for_byte,
    the_issued_id_and_every_longer_prefix_resolve,
    unknown_ids_are_none,
    contents_of_one_batch_get_distinct_ids,
    a_second_put_keeps_the_first,
    another_agents_original_is_unknown,
    an_agent_sees_its_originals_from_every_session,
    sharing_takes_a_put_and_not_a_mention,
    a_projection_needs_its_original,
    a_failed_batch_leaves_nothing,
    an_original_that_is_not_what_it_says_is_refused,
    the_ledger_replays_what_was_decided,
    of_two_writers_the_first_wins,
    what_others_folded_meanwhile_is_in_the_context,
    what_the_ledger_says_already_is_written_now_and_then_only,
    a_withdrawn_block_is_decided_anew,
    a_child_session_inherits_what_its_parent_may_see,
    a_child_session_may_be_given_only_what_is_named,
    a_parent_may_fetch_what_its_child_was_granted_and_not_the_other_way_round,
    a_search_finds_what_its_session_was_granted_and_nothing_else,
    signatures_go_with_the_grants_of_their_session,
    a_search_names_the_newest_first_and_counts_the_rest,
    a_turn_is_committed_once_per_session,
    stats_add_up,
    figures_have_any_time_that_a_request_was_given,
    sessions_are_compared_once_one_was_left_untouched,
    what_left_the_context_expires,
    what_is_in_the_context_never_expires,
    a_clock_that_is_wrong_for_a_while_makes_nothing_old,
    a_put_is_young_even_in_an_old_session,
    an_expired_original_is_unknown_before_it_is_swept,
    a_shared_original_lives_as_long_as_its_last_session,
    a_sweep_takes_the_ledger_rows_along,
    totals_survive_the_sessions_that_a_sweep_forgets,
    a_session_that_is_off_stays_so,
    marks_stay_until_they_are_taken_back_and_pins_are_inherited,
    what_is_folded_is_listed_with_its_reason,
    a_purge_forgets_all_that_no_other_session_shares,
    a_session_of_the_same_name_is_another_agents_own,
    a_purge_of_nothing_removes_nothing,
];

/// Returns the record that a read was repeated.
pub(crate) fn asked_again(ref_id: &str, tokens: u64) -> AskedAgain {
    AskedAgain { ref_id: ref_id.into(), tool: "read".into(), tokens, is_rerun: true }
}

/// Returns options with a retention of ten minutes.
pub(crate) fn options() -> StoreOptions {
    StoreOptions { ttl_seconds: 600, ..StoreOptions::default() }
}

/// A time after which everything unreferenced has expired.
pub(crate) const EXPIRED: Millis = 610_000;

/// An arbitrary point in time.
pub(crate) const START: Millis = 1_700_000_000_000;

pub(crate) fn scope(agent: &str, session: &str) -> Scope {
    Scope { agent_id: agent.into(), session_id: session.into() }
}

/// Returns a batch of originals with the ids that the store proposes.
pub(crate) fn batch_of(store: &dyn Store, originals: Vec<Original>) -> Batch {
    let hashes: Vec<ContentHash> = originals.iter().map(|original| original.hash).collect();
    let ids = store.ref_ids(&hashes).unwrap();
    Batch { originals: ids.into_iter().zip(originals).collect(), ..Batch::default() }
}

/// Puts originals for a session and returns their ids.
pub(crate) fn put(store: &dyn Store, scope: &Scope, originals: Vec<Original>, now: Millis) -> Vec<RefId> {
    let batch = batch_of(store, originals);
    store.commit(scope, &batch, now).unwrap();
    batch.originals.into_iter().map(|(id, _)| id).collect()
}

fn put_text(store: &dyn Store, scope: &Scope, text: &str, now: Millis) -> RefId {
    put(store, scope, vec![Original::text(text, "test")], now).remove(0)
}

fn bytes(store: &dyn Store, id: &RefId, agent: &str) -> Option<Vec<u8>> {
    bytes_at(store, id, agent, START)
}

fn bytes_at(store: &dyn Store, id: &RefId, agent: &str, now: Millis) -> Option<Vec<u8>> {
    store.get(id, agent, now).unwrap().map(|(_, original)| original.bytes)
}

/// Returns a batch that only states what the context refers to.
pub(crate) fn context(texts: &[&str]) -> Batch {
    let hashes = texts.iter().map(|text| ContentHash::of(text.as_bytes())).collect();
    Batch { in_context: Some(hashes), ..Batch::default() }
}

pub(crate) fn projection(block: &str, replacement: &str, original: &str) -> Projection {
    Projection {
        block: BlockKey { hash: ContentHash::of(block.as_bytes()), place: 7 },
        replacement: replacement.into(),
        original: ContentHash::of(original.as_bytes()),
        reason: "superseded".into(),
    }
}

/// Returns a session's ledger without its generation, so that ledgers of different files are comparable.
fn known(store: &dyn Store, scope: &Scope) -> Ledger {
    let ledger = store.ledger(scope).unwrap();
    assert_ne!(ledger.generation, 0);
    Ledger { generation: 0, ..ledger }
}

fn receipt(before: u64, after: u64) -> Receipt {
    Receipt { kind: "assemble".into(), tokens_before: before, tokens_after: after, detail: "{}".into() }
}

fn what_was_committed_comes_back_byte_for_byte(store: &dyn Store) {
    let me = scope("main", "s");
    let originals = vec![
        Original::text("", "empty"),
        Original::text("\0", "nul"),
        Original::text("a\0b\r\n\u{feff}漢字\n", "mixed"),
        Original::text(&"line 17 of a log\n".repeat(650_000), "10 MB"),
        Original::text(&"x".repeat(1_000_000), "one line"),
    ];
    let ids = put(store, &me, originals.clone(), START);
    for _ in 0..2 {
        for (id, original) in ids.iter().zip(&originals) {
            assert_eq!(id.as_str().len(), 16);
            assert_eq!(
                store.get(id, "main", START).unwrap(),
                Some((id.clone(), original.clone())),
                "{}",
                original.label
            );
        }
    }
}

fn images_come_back_as_images(store: &dyn Store) {
    let image = Original::image((0..=255).cycle().take(70_000).collect(), "image/png", "screenshot");
    let ids = put(store, &scope("main", "s"), vec![image.clone()], START);
    let (_, found) = store.get(&ids[0], "main", START).unwrap().unwrap();
    assert_eq!(found, image);
    assert_eq!(found.media, Media::Image("image/png".into()));
}

fn real_inputs_come_back_byte_for_byte(store: &dyn Store) {
    let me = scope("main", "s");
    for kind in ["logs", "json", "images", "store"] {
        let originals: Vec<Original> = corpus::inputs(kind)
            .into_iter()
            .map(|input| match input.text() {
                Some(text) => Original::text(text, input.name.clone()),
                None => Original::image(input.bytes, "image/png", input.name),
            })
            .collect();
        let ids = put(store, &me, originals.clone(), START);
        for (id, original) in ids.iter().zip(&originals) {
            assert_eq!(bytes(store, id, "main").as_ref(), Some(&original.bytes), "{}", original.label);
        }
    }
}

fn the_issued_id_and_every_longer_prefix_resolve(store: &dyn Store) {
    let id = put_text(store, &scope("main", "s"), "text", START);
    let hash = ContentHash::of(b"text");
    for digits in 16..=64 {
        let (issued, original) = store.get(&hash.to_ref_id(digits), "main", START).unwrap().unwrap();
        assert_eq!((&issued, original.hash), (&id, hash));
    }
    let mut other = hash;
    other.0[31] ^= 1;
    assert_eq!(store.get(&other.to_ref_id(64), "main", START).unwrap(), None);
    assert!(store.get(&other.to_ref_id(63), "main", START).unwrap().is_some());
}

fn unknown_ids_are_none(store: &dyn Store) {
    for id in ["0000000000000000", "ffffffffffffffff", &"f".repeat(64)] {
        assert_eq!(store.get(&RefId::parse(id).unwrap(), "main", START).unwrap(), None);
    }
}

fn contents_of_one_batch_get_distinct_ids(store: &dyn Store) {
    let mut near = ContentHash::of(b"a");
    near.0[10] ^= 1;
    let hashes = [ContentHash::of(b"a"), near, ContentHash::of(b"a")];
    let ids = store.ref_ids(&hashes).unwrap();
    assert_eq!(ids[0], hashes[0].to_ref_id(16));
    assert_eq!(ids[1], near.to_ref_id(22));
    assert_eq!(ids[2], ids[0]);
    assert_eq!(store.ref_ids(&hashes).unwrap(), ids);
    assert_eq!(store.ref_ids(&[]).unwrap(), []);
}

fn a_second_put_keeps_the_first(store: &dyn Store) {
    let (me, other) = (scope("main", "s"), scope("main", "t"));
    let first = put(store, &me, vec![Original::text("same", "first")], START);
    let second = put(store, &other, vec![Original::text("same", "second")], START + 1);
    assert_eq!(first, second);
    assert_eq!(store.get(&first[0], "main", START).unwrap().unwrap().1.label, "first");
    assert_eq!(store.stats(None).unwrap().originals, 1);
}

fn another_agents_original_is_unknown(store: &dyn Store) {
    let id = put_text(store, &scope("main", "s"), "mine", START);
    assert_eq!(bytes(store, &id, "other"), None);
    assert_eq!(bytes(store, &ContentHash::of(b"mine").to_ref_id(64), "other"), None);
    assert_eq!(bytes(store, &id, ""), None);
    let theirs = put_text(store, &scope("other", "s"), "mine", START);
    assert_eq!(theirs, id);
    assert!(bytes(store, &id, "other").is_some());
}

fn an_agent_sees_its_originals_from_every_session(store: &dyn Store) {
    put_text(store, &scope("main", "one"), "text", START);
    // A session that refers to the original keeps it alive from then on.
    store.commit(&scope("main", "two"), &context(&["text"]), START + 500_000).unwrap();
    store.sweep(START + EXPIRED).unwrap();
    assert!(bytes(store, &ContentHash::of(b"text").to_ref_id(16), "main").is_some());
}

fn sharing_takes_a_put_and_not_a_mention(store: &dyn Store) {
    let id = put_text(store, &scope("main", "s"), "mine", START);
    store.commit(&scope("other", "s"), &context(&["mine", "never stored"]), START).unwrap();
    assert_eq!(bytes(store, &id, "other"), None);
    let thief = Batch { projections: vec![projection("block", "\"[REF_ID: x]\"", "mine")], ..Batch::default() };
    assert!(matches!(store.commit(&scope("other", "s"), &thief, START), Err(Error::BadArgument { .. })));
    assert_eq!(bytes(store, &id, "other"), None);
}

fn a_projection_needs_its_original(store: &dyn Store) {
    let me = scope("main", "s");
    let batch = Batch { projections: vec![projection("block", "\"short\"", "gone")], ..Batch::default() };
    let error = store.commit(&me, &batch, START).unwrap_err();
    assert!(error.to_string().contains(&ContentHash::of(b"gone").to_hex()), "{error}");
    assert_eq!(known(store, &me), Ledger::default());
}

fn a_failed_batch_leaves_nothing(store: &dyn Store) {
    let me = scope("main", "s");
    let batch = Batch {
        projections: vec![projection("block", "\"short\"", "kept"), projection("other", "\"short\"", "gone")],
        receipts: vec![receipt(10, 1)],
        ..batch_of(store, vec![Original::text("kept", "test")])
    };
    assert!(store.commit(&me, &batch, START).is_err());
    assert_eq!(store.stats(None).unwrap(), Stats::default());
    assert_eq!(bytes(store, &ContentHash::of(b"kept").to_ref_id(16), "main"), None);
}

fn an_original_that_is_not_what_it_says_is_refused(store: &dyn Store) {
    let me = scope("main", "s");
    let mut forged = Original::text("text", "test");
    forged.bytes = b"other".to_vec();
    let batch = Batch { originals: vec![(forged.hash.to_ref_id(16), forged)], ..Batch::default() };
    assert!(matches!(store.commit(&me, &batch, START), Err(Error::BadArgument { .. })));
    let foreign_id = ContentHash::of(b"else").to_ref_id(16);
    let batch = Batch { originals: vec![(foreign_id, Original::text("text", "test"))], ..Batch::default() };
    assert!(matches!(store.commit(&me, &batch, START), Err(Error::BadArgument { .. })));
    assert_eq!(store.stats(None).unwrap().originals, 0);
}

fn the_ledger_replays_what_was_decided(store: &dyn Store) {
    let me = scope("main", "s");
    let printed = |text: &str, kind| PrintedText {
        text: ContentHash::of(text.as_bytes()),
        kind,
        original: ContentHash::of(b"one"),
        saved: 0,
    };
    let batch = Batch {
        projections: vec![
            projection("z", "\"[REF_ID: 1]\\n\\u0000漢\"", "one"),
            projection("a", "{\"b\": 1.10}", "two"),
        ],
        printed: vec![printed("[REF_ID: 1]", PrintedKind::Placeholder), printed("answer", PrintedKind::Copy)],
        epoch: Some(Epoch { reason: "stale".into(), tokens_freed: 9, tokens_rebilled: 3, blocks: 2 }),
        ..batch_of(store, vec![Original::text("one", "test"), Original::text("two", "test")])
    };
    store.commit(&me, &batch, START).unwrap();
    let ledger = store.ledger(&me).unwrap();
    assert_eq!(*ledger.projections, batch.projections);
    assert_eq!(ledger.epochs, [(START, batch.epoch.clone().unwrap())]);
    let shown = |rows: &[PrintedText]| -> BTreeSet<(ContentHash, bool)> {
        rows.iter().map(|row| (row.text, row.kind == PrintedKind::Copy)).collect()
    };
    assert_eq!(shown(&ledger.printed), shown(&batch.printed));
    assert_eq!(known(store, &scope("other", "s")), Ledger::default());
    assert_eq!(known(store, &scope("main", "t")), Ledger::default());
}

/// Two stores at one place, each with a cache, show only what a third one reads there.
pub(crate) fn rows_in_memory_are_those_of_the_store<S: Store>(open: impl Fn() -> S) {
    let (stores, me) = ([open(), open()], scope("main", "s"));
    let mut dice: u64 = 7;
    let mut roll = |sides: u64| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) % sides
    };
    for round in 0..60 {
        let store = &stores[roll(2) as usize];
        let ledger = store.ledger(&me).unwrap();
        let (rows, since) = (ledger.projections, ledger.version);
        let text = format!("text {round}");
        let new = (0..roll(3)).map(|part| projection(&format!("{round} {part}"), "1", &text)).collect();
        let none = || Batch { since, ..context(&[]) };
        let written = match roll(8) {
            0 if !rows.is_empty() => {
                let block = rows[roll(rows.len() as u64) as usize].block;
                Batch { withdrawn: vec![block], ..none() }
            }
            1 if !rows.is_empty() => Batch { withdrawn: vec![rows[rows.len() - 1].block], projections: new, ..none() },
            2 => {
                store.purge(&scope("main", "s")).unwrap();
                Batch { projections: new, ..none() }
            }
            _ => Batch { projections: new, ..none() },
        };
        let batch = Batch { in_context: None, ..written };
        let originals = batch_of(store, vec![Original::text(&text, "test")]).originals;
        store.commit(&me, &Batch { originals, ..batch }, START).unwrap();
        let ledger = open().ledger(&me).unwrap();
        for store in &stores {
            let found = store.ledger(&me).unwrap();
            assert_eq!((found.version, &found.projections), (ledger.version, &ledger.projections), "round {round}");
        }
    }
}

fn of_two_writers_the_first_wins(store: &dyn Store) {
    let me = scope("main", "s");
    let epoch = Epoch { reason: "stale".into(), tokens_freed: 1, tokens_rebilled: 1, blocks: 1 };
    let batch = |projections: Vec<Projection>, original: &str| Batch {
        projections,
        receipts: vec![receipt(10, 1)],
        epoch: Some(epoch.clone()),
        printed: vec![PrintedText {
            text: ContentHash::of(b"shown"),
            kind: PrintedKind::Copy,
            original: ContentHash::of(original.as_bytes()),
            saved: 0,
        }],
        ..batch_of(store, vec![Original::text(original, "test")])
    };
    let (a, b, c) = (projection("a", "1", "one"), projection("b", "2", "two"), projection("c", "3", "two"));
    let first = store.commit(&me, &batch(vec![a.clone()], "one"), START).unwrap();
    assert_eq!(first, std::slice::from_ref(&a));
    // This batch is based on the same ledger as the first, so it returns what the first one decided, in the order of
    // writing.
    let second = store.commit(&me, &batch(vec![b.clone(), projection("a", "9", "two")], "two"), START).unwrap();
    assert_eq!(second, [a.clone(), b.clone()]);
    let ledger = store.ledger(&me).unwrap();
    assert_eq!(*ledger.projections, [a.clone(), b.clone()]);
    assert_eq!((ledger.epochs.len(), ledger.printed.len()), (2, 1));
    assert_eq!(ledger.printed[0].original, ContentHash::of(b"one"));
    // A batch that knows all rows gets none back, except those that it decides again.
    let none = store.commit(&me, &Batch { since: ledger.version, ..context(&["one"]) }, START).unwrap();
    assert_eq!(none, []);
    let again = Batch { since: ledger.version, ..batch(vec![c.clone(), projection("a", "9", "two")], "two") };
    assert_eq!(store.commit(&me, &again, START).unwrap(), [a.clone(), c.clone()]);
    // A batch that loses every decision logs nothing. What others folded is returned even if nothing is written.
    let lost = Batch { since: ledger.version, ..batch(vec![projection("c", "9", "one")], "one") };
    let before = store.stats(None).unwrap();
    assert_eq!(store.commit(&me, &lost, START).unwrap(), std::slice::from_ref(&c));
    let after = store.stats(None).unwrap();
    assert_eq!((after.receipts.len(), after.epochs.len()), (before.receipts.len(), before.epochs.len()));
    let warm = Batch { since: ledger.version, ..context(&["one", "two"]) };
    assert_eq!(store.commit(&me, &warm, START).unwrap(), std::slice::from_ref(&c));
    assert_eq!(store.commit(&me, &warm, START).unwrap(), [c]);
    assert_eq!(store.commit(&me, &Batch { since: i64::MAX, ..Batch::default() }, START).unwrap(), []);
}

fn what_others_folded_meanwhile_is_in_the_context(store: &dyn Store) {
    let me = scope("main", "s");
    let since = store.ledger(&me).unwrap().version;
    let theirs = Batch {
        projections: vec![projection("a", "1", "one")],
        in_context: Some(BTreeSet::from([ContentHash::of(b"one")])),
        ..batch_of(store, vec![Original::text("one", "test")])
    };
    store.commit(&me, &theirs, START).unwrap();
    let ours = Batch { since, ..context(&[]) };
    assert_eq!(store.commit(&me, &ours, START + 1000).unwrap(), theirs.projections);
    store.commit(&me, &Batch { since, ..context(&[]) }, START + 500_000).unwrap();
    assert_eq!(store.sweep(START + 1000 + EXPIRED).unwrap().originals, 0);
}

fn what_the_ledger_says_already_is_written_now_and_then_only(store: &dyn Store) {
    let me = scope("main", "s");
    put_text(store, &me, "one", START);
    let stands = || store.ledger(&me).unwrap().state.unwrap();
    let shows = |texts: &[&str], now| {
        let batch = Batch { in_context: context(texts).in_context, ..Batch::after(&store.ledger(&me).unwrap()) };
        assert_eq!(store.commit(&me, &batch, now).unwrap(), []);
        (stands().in_context.len(), stands().last_seen - START)
    };
    assert_eq!(shows(&["one"], START + 1000), (1, 0));
    assert_eq!(shows(&["one"], START + 60_000), (1, 60_000));
    assert_eq!(shows(&[], START + 61_000), (0, 61_000));
    assert_eq!(shows(&[], START + 62_000), (0, 61_000));
    assert_eq!(shows(&["one"], START + 63_000), (1, 63_000));
    // Grants since then count.
    let before = store.ledger(&me).unwrap();
    put_text(store, &me, "two", START + 64_000);
    assert_eq!(stands().in_context.len(), 2);
    assert_eq!(shows(&["one"], START + 65_000), (1, 65_000));
    // An ended session has no state until it continues.
    store.end_session(&scope("main", "s"), START + 66_000).unwrap();
    assert_eq!(store.ledger(&me).unwrap().state, None);
    assert_eq!(shows(&["one"], START + 67_000), (1, 67_000));
    // A batch that is based on an earlier ledger does not set the time back.
    let batch = Batch { in_context: context(&["one"]).in_context, ..Batch::after(&before) };
    assert_eq!(store.commit(&me, &batch, START + 63_500).unwrap(), []);
    assert_eq!(stands().last_seen - START, 67_000);
}

fn a_withdrawn_block_is_decided_anew(store: &dyn Store) {
    let me = scope("main", "s");
    let (a, b) = (projection("a", "1", "one"), projection("b", "2", "one"));
    let first =
        Batch { projections: vec![a.clone(), b.clone()], ..batch_of(store, vec![Original::text("one", "test")]) };
    store.commit(&me, &first, START).unwrap();
    let since = store.ledger(&me).unwrap().version;
    let epoch = Epoch { reason: "limit".into(), tokens_freed: 0, tokens_rebilled: 1, blocks: 1 };
    let back = Batch { withdrawn: vec![b.block], epoch: Some(epoch), since, ..Batch::default() };
    assert_eq!(store.commit(&me, &back, START).unwrap(), []);
    assert_eq!(*store.ledger(&me).unwrap().projections, std::slice::from_ref(&a));
    assert_eq!(store.ledger(&me).unwrap().epochs.len(), 1);
    // The second time there is nothing to withdraw and no epoch.
    store.commit(&me, &back, START).unwrap();
    assert_eq!(store.ledger(&me).unwrap().epochs.len(), 1);
    // The row of another block never gets the number of the removed one.
    let new = Batch { withdrawn: vec![a.block], projections: vec![projection("a", "3", "one"), b.clone()], ..first };
    let new = Batch { since, ..new };
    assert_eq!(store.commit(&me, &new, START).unwrap(), [projection("a", "3", "one"), b]);
    assert!(store.ledger(&me).unwrap().version > since + 1);
    // A concurrent caller did not know the new rows, so it gets them instead of removing them.
    let late = Batch { withdrawn: vec![new.projections[0].block], since, ..Batch::default() };
    assert_eq!(store.commit(&me, &late, START).unwrap(), new.projections);
    assert_eq!(*store.ledger(&me).unwrap().projections, new.projections);
}

fn a_child_session_inherits_what_its_parent_may_see(store: &dyn Store) {
    let (parent, child) = (scope("main", "p"), scope("sub", "c"));
    let expired = put_text(store, &parent, "expired", START - 2 * EXPIRED);
    store.commit(&parent, &context(&[]), START - 2 * EXPIRED).unwrap();
    let batch = Batch {
        projections: vec![projection("block", "\"short\"", "text")],
        printed: vec![PrintedText {
            text: ContentHash::of(b"short"),
            kind: PrintedKind::Copy,
            original: ContentHash::of(b"text"),
            saved: 0,
        }],
        ..batch_of(store, vec![Original::text("text", "test")])
    };
    store.commit(&parent, &batch, START).unwrap();
    let id = &batch.originals[0].0;
    assert_eq!(bytes(store, id, "sub"), None);
    store.inherit(&parent, &child, None, START).unwrap();
    store.inherit(&parent, &child, None, START).unwrap();
    assert_eq!(bytes(store, id, "sub").unwrap(), b"text");
    assert_eq!(bytes(store, &expired, "sub"), None);
    let (ours, theirs) = (known(store, &child), known(store, &parent));
    assert_eq!((ours.projections, ours.printed), (theirs.projections, theirs.printed));
    // Later originals are granted to the parent only.
    let later = put_text(store, &parent, "later", START);
    assert_eq!(bytes(store, &later, "sub"), None);
    // The child's grants do not depend on the parent.
    store.purge(&parent).unwrap();
    assert_eq!(bytes(store, id, "main"), None);
    assert_eq!(bytes(store, id, "sub").unwrap(), b"text");
    store.inherit(&scope("main", "never seen"), &child, None, START).unwrap();
    assert_eq!(*store.ledger(&child).unwrap().projections, batch.projections);
}

fn a_child_session_may_be_given_only_what_is_named(store: &dyn Store) {
    let (parent, child) = (scope("main", "p"), scope("sub", "c"));
    let printed = |text: &str, original: &str| PrintedText {
        text: ContentHash::of(text.as_bytes()),
        kind: PrintedKind::Copy,
        original: ContentHash::of(original.as_bytes()),
        saved: 0,
    };
    let batch = Batch {
        projections: vec![projection("a", "1", "one"), projection("b", "2", "two")],
        printed: vec![printed("answer one", "one"), printed("answer two", "two")],
        ..batch_of(store, vec![Original::text("one", "test"), Original::text("two", "test")])
    };
    store.commit(&parent, &batch, START).unwrap();
    let [one, two] = [0, 1].map(|at| batch.originals[at].0.clone());
    let elsewhere = put_text(store, &scope("main", "q"), "elsewhere", START);
    let unknown = ContentHash::of(b"unknown").to_ref_id(16);
    store.inherit(&parent, &child, Some(&[two.clone(), two.clone(), elsewhere.clone(), unknown]), START).unwrap();
    assert_eq!(bytes(store, &two, "sub").unwrap(), b"two");
    assert_eq!((bytes(store, &one, "sub"), bytes(store, &elsewhere, "sub")), (None, None));
    let ledger = store.ledger(&child).unwrap();
    assert_eq!(*ledger.projections, [projection("b", "2", "two")]);
    assert_eq!(ledger.printed, [printed("answer two", "two")]);
    store.inherit(&parent, &child, Some(&[]), START).unwrap();
    assert_eq!(bytes(store, &one, "sub"), None);
    // The full hash names it, too.
    store.inherit(&parent, &child, Some(&[ContentHash::of(b"one").to_ref_id(64)]), START).unwrap();
    assert!(bytes(store, &one, "sub").is_some());
}

fn a_parent_may_fetch_what_its_child_was_granted_and_not_the_other_way_round(store: &dyn Store) {
    let (parent, child, grandchild) = (scope("main", "p"), scope("sub", "c"), scope("subsub", "g"));
    store.inherit(&parent, &child, Some(&[]), START).unwrap();
    store.inherit(&child, &grandchild, Some(&[]), START).unwrap();
    let of_parent = put_text(store, &parent, "the parent's", START);
    let of_child = put_text(store, &child, "the child's", START);
    let of_grandchild = put_text(store, &grandchild, "the grandchild's", START);
    assert!(bytes(store, &of_child, "main").is_some());
    assert_eq!(bytes(store, &of_parent, "sub"), None);
    assert!(bytes(store, &of_grandchild, "sub").is_some());
    assert_eq!(bytes(store, &of_grandchild, "main"), None);
    assert_eq!(bytes(store, &of_child, "other"), None);
    // From then on, what the parent was shown is the parent's own.
    let shown = PrintedText {
        text: ContentHash::of(b"answer"),
        kind: PrintedKind::Copy,
        original: ContentHash::of(b"the child's"),
        saved: 0,
    };
    store.commit(&parent, &Batch { printed: vec![shown], ..Batch::default() }, START).unwrap();
    store.purge(&child).unwrap();
    assert!(bytes(store, &of_child, "main").is_some());
    // After the child between them is removed, the grandchild has no parent.
    assert_eq!(bytes(store, &of_grandchild, "sub"), None);
    assert!(bytes(store, &of_grandchild, "subsub").is_some());
}

/// Signs all originals of a session. Returns those that may contain a word.
fn likely(store: &dyn Store, scope: &Scope, word: &str, now: Millis) -> Vec<ContentHash> {
    let probes = Probes::of([word]);
    let unsigned = store.search(scope, &probes, now).unwrap().unsigned;
    let signature = |(hash, size): &(ContentHash, u64)| {
        let (_, original) = store.get(&hash.to_ref_id(64), &scope.agent_id, now).unwrap().unwrap();
        assert_eq!((original.hash, original.bytes.len() as u64), (*hash, *size));
        (*hash, original.read_text().map_or_else(Signature::of_no_text, |text| Signature::of(&text)))
    };
    let signatures: Vec<_> = unsigned.newest.iter().map(signature).collect();
    store.sign(scope, &signatures).unwrap();
    // A second time changes nothing.
    store.sign(scope, &signatures).unwrap();
    let Searched { likely, unsigned } = store.search(scope, &probes, now).unwrap();
    assert_eq!((unsigned, likely.older), (Candidates::default(), 0));
    likely.newest.into_iter().map(|(hash, _)| hash).collect()
}

fn hash_of(text: &str) -> ContentHash {
    ContentHash::of(text.as_bytes())
}

fn a_search_finds_what_its_session_was_granted_and_nothing_else(store: &dyn Store) {
    let (me, sibling, other) = (scope("main", "s"), scope("main", "t"), scope("other", "s"));
    let mine = ["a needle in a haystack", "another NEEDLE", "no such word"];
    for text in mine {
        put_text(store, &me, text, START);
    }
    put(store, &me, vec![Original::image(b"needle".to_vec(), "image/png", "needle")], START);
    put_text(store, &sibling, "the needle of a sibling", START);
    put_text(store, &other, "the needle of another agent", START);
    assert_eq!(likely(store, &me, "needle", START), [hash_of(mine[1]), hash_of(mine[0])]);
    assert_eq!(likely(store, &me, "Haystack", START), [hash_of(mine[0])]);
    assert_eq!(likely(store, &me, "sibling", START), []);
    assert_eq!(likely(store, &me, "x", START).len(), 4);
    assert_eq!(likely(store, &sibling, "needle", START), [hash_of("the needle of a sibling")]);
    assert_eq!(likely(store, &other, "needle", START), [hash_of("the needle of another agent")]);
    assert_eq!(likely(store, &scope("main", "unknown"), "needle", START), []);
    // Naming what the session may not see signs nothing.
    store.sign(&sibling, &[(hash_of(mine[0]), Signature::of_unknown())]).unwrap();
    assert_eq!(likely(store, &sibling, "haystack", START), []);
    // What is shared is found by both.
    put_text(store, &sibling, mine[0], START);
    store.inherit(&me, &scope("sub", "c"), None, START).unwrap();
    assert_eq!(likely(store, &sibling, "haystack", START), [hash_of(mine[0])]);
    assert_eq!(likely(store, &scope("sub", "c"), "haystack", START), [hash_of(mine[0])]);
}

fn signatures_go_with_the_grants_of_their_session(store: &dyn Store) {
    let (me, other) = (scope("main", "s"), scope("main", "t"));
    put_text(store, &me, "a needle", START);
    put_text(store, &other, "a needle", START);
    for session in [&me, &other] {
        assert_eq!(likely(store, session, "needle", START), [hash_of("a needle")]);
    }
    store.purge(&me).unwrap();
    assert_eq!(store.search(&me, &Probes::of(["needle"]), START).unwrap(), Searched::default());
    assert_eq!(likely(store, &other, "needle", START), [hash_of("a needle")]);
    put_text(store, &me, "a needle", START);
    assert_eq!(store.search(&me, &Probes::of(["needle"]), START).unwrap().unsigned.newest.len(), 1);
    // An expired original is not found, before and after it is swept.
    store.commit(&other, &context(&[]), START).unwrap();
    let later = START + 2 * EXPIRED;
    assert_eq!(likely(store, &other, "needle", later), []);
    store.commit(&me, &context(&["a needle"]), later).unwrap();
    store.sweep(later).unwrap();
    assert_eq!(likely(store, &me, "needle", later), [hash_of("a needle")]);
    assert_eq!(store.search(&other, &Probes::of(["needle"]), START).unwrap(), Searched::default());
}

fn a_search_names_the_newest_first_and_counts_the_rest(store: &dyn Store) {
    let me = scope("main", "s");
    let count = 2 * MAX_CANDIDATES + 10;
    let texts: Vec<String> = (0..count).map(|number| format!("{number} needle")).collect();
    // A backend may order the originals of one batch.
    let (older, newer) = texts.split_at(count - MAX_CANDIDATES);
    for texts in [older, newer] {
        put(store, &me, texts.iter().map(|text| Original::text(text, "test")).collect(), START);
    }
    let probes = Probes::of(["needle"]);
    let signature = |(hash, _): &(ContentHash, u64)| (*hash, Signature::of("needle"));
    let mut left = count as u64;
    while left > 0 {
        let Searched { likely, unsigned } = store.search(&me, &probes, START).unwrap();
        assert_eq!(unsigned.newest.len() as u64 + unsigned.older, left);
        assert_eq!(likely.newest.len() as u64 + likely.older, count as u64 - left);
        store.sign(&me, &unsigned.newest.iter().map(signature).collect::<Vec<_>>()).unwrap();
        left = unsigned.older;
    }
    let found = store.search(&me, &probes, START).unwrap().likely;
    let newest: BTreeSet<ContentHash> = newer.iter().map(|text| hash_of(text)).collect();
    assert_eq!(found.newest.iter().map(|(hash, _)| *hash).collect::<BTreeSet<_>>(), newest);
    assert_eq!(found.older, (count - MAX_CANDIDATES) as u64);
    assert_eq!(store.search(&me, &Probes::of(["absent"]), START).unwrap(), Searched::default());
}

fn a_turn_is_committed_once_per_session(store: &dyn Store) {
    let me = scope("main", "s");
    assert_eq!(store.commit_turn(&me, &"turn:1".into(), START).unwrap(), TurnStatus::Committed);
    assert_eq!(store.commit_turn(&me, &"turn:1".into(), START + 5).unwrap(), TurnStatus::Duplicate);
    assert_eq!(store.commit_turn(&me, &"turn:2".into(), START + 9).unwrap(), TurnStatus::Committed);
    assert_eq!(store.commit_turn(&scope("main", "t"), &"turn:1".into(), START).unwrap(), TurnStatus::Committed);
    assert_eq!(store.commit_turn(&scope("other", "s"), &"turn:1".into(), START).unwrap(), TurnStatus::Committed);
    assert_eq!(store.stats(Some(&scope("main", "s"))).unwrap().turns, 2);
    let copies = std::thread::scope(|threads| {
        let commits: Vec<_> =
            (0..8).map(|_| threads.spawn(|| store.commit_turn(&me, &"turn:3".into(), START).unwrap())).collect();
        commits.into_iter().map(|commit| commit.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(copies.iter().filter(|status| **status == TurnStatus::Committed).count(), 1);
}

fn stats_add_up(store: &dyn Store) {
    let text = "a line that shrinks\n".repeat(100);
    for (session, before) in [("s", 100), ("t", 50)] {
        let me = scope("main", session);
        let epoch = Epoch { reason: session.into(), tokens_freed: 1, tokens_rebilled: 2, blocks: 3 };
        let batch = Batch {
            receipts: vec![receipt(before, 10), receipt(1, 1)],
            epoch: Some(epoch),
            ..batch_of(store, vec![Original::text(&text, "test"), Original::text(session, "test")])
        };
        store.commit(&me, &batch, START).unwrap();
        store.commit_turn(&me, &"1".into(), START).unwrap();
    }
    let all = store.stats(None).unwrap();
    assert_eq!((all.sessions, all.originals, all.turns), (2, 3, 2));
    assert_eq!((all.tokens_before, all.tokens_after), (152, 22));
    assert_eq!(all.original_bytes, text.len() as u64 + 2);
    assert!(all.stored_bytes < 200, "{}", all.stored_bytes);
    assert_eq!(all.receipts.len(), 4);
    assert_eq!(all.epochs[0].1.reason, "t");
    let one = store.stats(Some(&scope("main", "s"))).unwrap();
    assert_eq!((one.sessions, one.originals, one.turns), (1, 2, 1));
    assert_eq!((one.tokens_before, one.tokens_after), (101, 11));
    assert_eq!(one.receipts, [(START, receipt(1, 1)), (START, receipt(100, 10))]);
    assert_eq!(store.stats(Some(&scope("main", "u"))).unwrap(), Stats::default());
    let many = Batch { receipts: (0..150).map(|i| receipt(i, 0)).collect(), ..Batch::default() };
    store.commit(&scope("main", "s"), &many, START).unwrap();
    assert_eq!(store.stats(None).unwrap().receipts.len(), 100);
    assert_eq!(store.stats(None).unwrap().receipts[0].1.tokens_before, 149);
}

fn figures_have_any_time_that_a_request_was_given(store: &dyn Store) {
    // The second session's time is in microseconds, and so beyond the year 9999.
    for (session, at) in [("s", START), ("t", 1_700_000_000_000_000)] {
        let turn = Turn { requests: vec![Request { at, sent: 9, ..Request::default() }], ..Turn::from("turn:1") };
        store.commit_turn(&scope("main", session), &turn, START).unwrap();
    }
    let days = |session_id: Option<&str>| {
        let session = session_id.map(|session_id| scope("main", session_id));
        let query = FiguresQuery { session, ..FiguresQuery::default() };
        let figures = store.figures(&query).unwrap();
        assert_eq!(figures.days.iter().map(|day| day.amount.requests).sum::<u64>(), figures.total.amount.requests);
        figures.days.into_iter().map(|day| day.day).collect::<Vec<_>>()
    };
    let [first, second] = ["s", "t"].map(|session| days(Some(session)).remove(0));
    assert_eq!(second, "55840-11-08");
    assert_eq!(days(None), [first, second]);
    assert!(days(Some("u")).is_empty());
}

fn sessions_are_compared_once_one_was_left_untouched(store: &dyn Store) {
    let outcomes = || store.figures(&FiguresQuery::default()).unwrap().outcomes;
    let turn = |name: &str, sent| Turn {
        session_key: Some(name.into()),
        requests: vec![Request { at: START, sent, without: sent, ..Request::default() }],
        ..Turn::from(name)
    };
    store.commit_turn(&scope("main", "s"), &turn("work", 9), START).unwrap();
    store.commit_turn(&scope("main", "s"), &turn("work again", 9), START).unwrap();
    assert!(outcomes().is_empty());
    let marked = vec![Mark::on_session(MarkKind::HeldOut)];
    store.commit(&scope("main", "t"), &Batch { marked, ..Batch::default() }, START).unwrap();
    store.commit_turn(&scope("main", "t"), &turn("play", 20), START).unwrap();
    let failed = Receipt { kind: FAILED.into(), ..receipt(0, 0) };
    let batch = Batch {
        receipts: vec![failed.clone(), failed, receipt(5, 1)],
        asked_again: vec![asked_again("0123456789abcdef", 3)],
        ..Batch::default()
    };
    store.commit(&scope("main", "s"), &batch, START).unwrap();
    let mut found: Vec<_> = outcomes()
        .into_iter()
        .map(|one| (one.is_held_out, one.turns, one.failures, one.total.fetches, one.total.amount.sent_tokens))
        .collect();
    found.sort();
    assert_eq!(found, [(false, 2, 2, 1, 18), (true, 1, 0, 0, 20)]);
    let figures = store.figures(&FiguresQuery::default()).unwrap().sessions;
    let marked = |id: &str| figures.iter().find(|one| one.session_id == id).unwrap().is_held_out;
    assert!(marked("t") && !marked("s"));
    assert!(store.sessions().unwrap().iter().all(|one| one.is_held_out == (one.session_id == "t")));
}

fn what_left_the_context_expires(store: &dyn Store) {
    let me = scope("main", "s");
    let id = put_text(store, &me, "text", START);
    store.commit(&me, &context(&["text"]), START).unwrap();
    store.commit(&me, &context(&[]), START + 1000).unwrap();
    // The session continues without it.
    store.commit(&me, &context(&[]), START + 590_000).unwrap();
    assert_eq!(store.sweep(START + 600_999).unwrap().originals, 0);
    assert!(bytes(store, &id, "main").is_some());
    assert_eq!(store.sweep(START + 1000 + EXPIRED).unwrap().originals, 1);
    assert_eq!(bytes(store, &id, "main"), None);
    assert_eq!(store.stats(None).unwrap().originals, 0);
}

fn what_is_in_the_context_never_expires(store: &dyn Store) {
    let me = scope("main", "s");
    let id = put_text(store, &me, "text", START);
    let mut now = START;
    for _ in 0..10 {
        // Just below the retention period, and once more within the interval in which times are not written.
        now += 597_000;
        store.commit(&me, &context(&["text"]), now).unwrap();
        now += 5_999;
        store.commit(&me, &context(&["text"]), now).unwrap();
        assert_eq!(store.sweep(now + 600_000).unwrap().originals, 0);
    }
    assert!(bytes(store, &id, "main").is_some());
    assert_eq!(store.sweep(now + EXPIRED).unwrap().originals, 1);
}

fn a_clock_that_is_wrong_for_a_while_makes_nothing_old(store: &dyn Store) {
    const HOUR: Millis = 3_600_000;
    let (me, other) = (scope("main", "s"), scope("main", "other"));
    for (round, wrong_by) in [-HOUR, -365 * 24 * HOUR, HOUR, 365 * 24 * HOUR].into_iter().enumerate() {
        let texts = [format!("before {round}"), format!("meanwhile {round}")];
        let shown = context(&[&texts[0], &texts[1]]);
        let now = START + (365 * 24 + round as i64) * HOUR;
        let before = put_text(store, &me, &texts[0], now);
        store.commit(&me, &context(&[&texts[0]]), now).unwrap();
        let meanwhile = put_text(store, &me, &texts[1], now + wrong_by);
        for at in [now + wrong_by, now + wrong_by + 1000, now + 2000] {
            store.commit(&me, &shown, at).unwrap();
            store.commit_turn(&other, &format!("{round} {at}").as_str().into(), at).unwrap();
            assert_eq!(store.sweep(at).unwrap().originals, 0, "{wrong_by} at {at}");
            for id in [&before, &meanwhile] {
                assert!(bytes_at(store, id, "main", at).is_some(), "{wrong_by} at {at}");
            }
        }
        // What it no longer shows is removed nevertheless.
        store.commit(&me, &context(&[]), now + 3000).unwrap();
        store.sweep(now + 3000 + EXPIRED).unwrap();
        assert_eq!(bytes_at(store, &before, "main", now + 3000), None, "{wrong_by}");
    }
}

fn a_put_is_young_even_in_an_old_session(store: &dyn Store) {
    let me = scope("main", "s");
    store.commit(&me, &context(&[]), START).unwrap();
    let id = put_text(store, &me, "text", START + 10 * EXPIRED);
    store.sweep(START + 10 * EXPIRED + 600_000).unwrap();
    assert!(bytes(store, &id, "main").is_some());
}

fn an_expired_original_is_unknown_before_it_is_swept(store: &dyn Store) {
    let me = scope("main", "s");
    let id = put_text(store, &me, "text", START);
    assert_eq!(bytes_at(store, &id, "main", START + EXPIRED), None);
    // A context that still refers to it restores it.
    store.commit(&me, &context(&["text"]), START + EXPIRED).unwrap();
    assert!(bytes_at(store, &id, "main", START + EXPIRED).is_some());
}

fn a_shared_original_lives_as_long_as_its_last_session(store: &dyn Store) {
    let id = put_text(store, &scope("main", "s"), "text", START);
    put_text(store, &scope("other", "t"), "text", START + 300_000);
    assert_eq!(store.sweep(START + EXPIRED).unwrap().originals, 0);
    assert_eq!(bytes(store, &id, "main"), None);
    assert!(bytes(store, &id, "other").is_some());
    assert_eq!(store.sweep(START + 300_000 + EXPIRED).unwrap().originals, 1);
}

fn a_sweep_takes_the_ledger_rows_along(store: &dyn Store) {
    let me = scope("main", "s");
    let batch = Batch {
        projections: vec![projection("a", "1", "one"), projection("b", "2", "two")],
        ..batch_of(store, vec![Original::text("one", "test"), Original::text("two", "test")])
    };
    store.commit(&me, &batch, START).unwrap();
    let two = Batch { since: store.ledger(&me).unwrap().version, ..context(&["two"]) };
    store.commit(&me, &two, START + 500_000).unwrap();
    store.commit(&me, &two, START + 1_000_000).unwrap();
    assert_eq!(store.sweep(START + 500_000 + EXPIRED).unwrap().originals, 1);
    assert_eq!(*store.ledger(&me).unwrap().projections, [projection("b", "2", "two")]);
}

fn totals_survive_the_sessions_that_a_sweep_forgets(store: &dyn Store) {
    let me = scope("main", "s");
    let batch = Batch { receipts: vec![receipt(100, 10)], ..batch_of(store, vec![Original::text("text", "test")]) };
    store.commit(&me, &batch, START).unwrap();
    store.commit_turn(&me, &"1".into(), START + 1).unwrap();
    assert_eq!(store.sweep(START + 600_000).unwrap().sessions, 0);
    assert_eq!(store.sweep(START + EXPIRED).unwrap().sessions, 1);
    let stats = store.stats(None).unwrap();
    assert_eq!((stats.sessions, stats.turns, stats.tokens_before, stats.tokens_after), (0, 1, 100, 10));
}

fn a_session_that_is_off_stays_so(store: &dyn Store) {
    let me = scope("main", "s");
    store.switch(&me, true, START).unwrap();
    assert_eq!(store.sweep(START + EXPIRED).unwrap().sessions, 0);
    assert!(store.is_off(&me).unwrap());
    store.switch(&me, false, START).unwrap();
    assert_eq!(store.sweep(START + EXPIRED).unwrap().sessions, 1);
}

fn marks_stay_until_they_are_taken_back_and_pins_are_inherited(store: &dyn Store) {
    let [me, child] = ["s", "child"].map(|session| scope("main", session));
    let content = |text: &str| projection(text, "", "").block.hash;
    let [pin, other] = ["a", "b"].map(|text| Mark::on(MarkKind::Pinned, content(text)));
    let released = Mark::on(MarkKind::Released, content("a"));
    let whole = Mark::on_session(MarkKind::PinLast);
    let batch = |marked: &[Mark], unmarked: &[Mark]| Batch {
        marked: marked.to_vec(),
        unmarked: unmarked.to_vec(),
        since: i64::MAX,
        ..Batch::default()
    };
    store.commit(&me, &batch(&[pin, other, released, whole], &[]), START).unwrap();
    store.commit(&me, &batch(&[whole, pin], &[other]), START + 1).unwrap();
    let mut marks = store.ledger(&me).unwrap().marks;
    marks.sort();
    let mut expected = vec![(pin, START + 1), (released, START), (whole, START + 1)];
    expected.sort();
    assert_eq!(marks, expected);
    store.inherit(&me, &child, Some(&[]), START + 2).unwrap();
    assert_eq!(store.ledger(&child).unwrap().marks, [(pin, START + 1)]);
    assert_eq!(store.ledger(&scope("other", "s")).unwrap().marks, []);
    store.purge(&me).unwrap();
    assert_eq!(store.ledger(&me).unwrap().marks, []);
}

fn what_is_folded_is_listed_with_its_reason(store: &dyn Store) {
    let me = scope("main", "s");
    let originals = ["stale", "born", "copied", "fetched"].map(|text| Original::text(text, text));
    let image = Original::image(vec![1], "image/png", "shot");
    let printed = |at: usize, kind, saved| PrintedText {
        text: projection(&format!("text {at}"), "", "").block.hash,
        kind,
        original: if at < 4 { originals[at].hash } else { image.hash },
        saved,
    };
    let batch = Batch {
        projections: vec![projection("a", "1", "stale")],
        printed: vec![
            printed(1, PrintedKind::Placeholder, 9),
            printed(2, PrintedKind::Copy, 9),
            printed(3, PrintedKind::Copy, 0),
            printed(4, PrintedKind::Copy, 9),
        ],
        ..batch_of(store, originals.iter().chain([&image]).cloned().collect())
    };
    store.commit(&me, &batch, START).unwrap();
    let folded = |session| store.figures(&FiguresQuery { session, ..FiguresQuery::default() }).unwrap().folded_now;
    let listed = |scope: &Scope| -> Vec<(String, String)> {
        let mut rows: Vec<_> = folded(Some(scope.clone())).into_iter().map(|row| (row.label, row.reason)).collect();
        rows.sort();
        rows
    };
    let expected = [("born", "large"), ("copied", "shortened"), ("shot", "shrunk"), ("stale", "superseded")];
    assert_eq!(listed(&me), expected.map(|(label, reason)| (label.to_owned(), reason.to_owned())));
    assert_eq!(listed(&scope("main", "t")), []);
    assert_eq!(folded(None), [], "it is a list of one session");
    let first = folded(Some(me.clone())).into_iter().find(|row| row.label == "stale").unwrap();
    assert_eq!((first.bytes, first.at, first.ref_id), (5, START, originals[0].hash.to_ref_id(16).to_string()));
    // What has left the context is no longer in sight in any form.
    let gone = Batch { since: store.ledger(&me).unwrap().version, ..context(&["born"]) };
    store.commit(&me, &gone, START + 1).unwrap();
    assert_eq!(listed(&me), [("born".to_owned(), "large".to_owned())]);
}

fn a_purge_forgets_all_that_no_other_session_shares(store: &dyn Store) {
    let (me, other) = (scope("main", "s"), scope("main", "t"));
    let batch = Batch {
        projections: vec![projection("a", "1", "mine")],
        receipts: vec![receipt(5, 1)],
        ..batch_of(store, vec![Original::text("mine", "test"), Original::text("ours", "test")])
    };
    store.commit(&me, &batch, START).unwrap();
    store.commit_turn(&me, &"1".into(), START).unwrap();
    let ours = put_text(store, &other, "ours", START);
    let mine = &batch.originals[0].0;
    assert!(bytes(store, mine, "main").is_some());
    let told = store.purgeable(&scope("main", "s")).unwrap();
    assert_eq!((told.originals, told.bytes, told.sessions), (1, 4, 1));
    assert!(bytes(store, mine, "main").is_some());
    let removed = store.purge(&scope("main", "s")).unwrap();
    assert_eq!((removed.originals, removed.sessions), (1, 1));
    assert_eq!(store.purgeable(&scope("main", "s")).unwrap().originals, 0);
    assert_eq!(bytes(store, mine, "main"), None);
    assert!(bytes(store, &ours, "main").is_some());
    assert_eq!(known(store, &me), Ledger::default());
    let stats = store.stats(None).unwrap();
    assert_eq!((stats.sessions, stats.turns, stats.tokens_before), (1, 0, 0));
    assert_eq!(store.commit_turn(&me, &"1".into(), START).unwrap(), TurnStatus::Committed);
}

/// Checks every call that names a session, for each of two agents that have a session of that name.
fn a_session_of_the_same_name_is_another_agents_own(store: &dyn Store) {
    let scopes = ["a", "b"].map(|agent| scope(agent, "work"));
    let originals = ["of a", "of b"].map(|text| Original::text(text, "test"));
    let turn =
        |sent| Turn { requests: vec![Request { at: START, sent, ..Request::default() }], ..Turn::from("turn:1") };
    let ids: Vec<RefId> = (scopes.iter().zip(&originals).zip(["of a", "of b"]))
        .map(|((scope, original), text)| {
            let batch = Batch {
                projections: vec![projection("block", text, text)],
                receipts: vec![receipt(5, 1)],
                ..batch_of(store, vec![original.clone(), Original::text("both", "test")])
            };
            store.commit(scope, &batch, START).unwrap();
            store.commit_turn(scope, &turn(text.len() as u64), START).unwrap();
            batch.originals[0].0.clone()
        })
        .collect();
    let [a, b] = &scopes;
    let counted = |scope: &Scope| {
        let stats = store.stats(Some(scope)).unwrap();
        let query = FiguresQuery { session: Some(scope.clone()), ..FiguresQuery::default() };
        let figures = store.figures(&query).unwrap();
        let in_sight = (figures.total.amount.requests, figures.store.originals, figures.sessions.len());
        (stats.sessions, stats.turns, stats.originals, stats.receipts.len(), in_sight)
    };
    for scope in &scopes {
        assert_eq!(counted(scope), (1, 1, 2, 1, (1, 2, 1)));
    }
    store.switch(a, true, START).unwrap();
    assert_eq!([a, b].map(|scope| store.is_off(scope).unwrap()), [true, false]);
    store.end_session(a, START).unwrap();
    assert_eq!((known(store, a).state, known(store, b).state.is_some()), (None, true));
    // A purge of one session must not remove what both hold.
    assert_eq!(store.purgeable(a).unwrap().originals, 1);
    let removed = store.purge(a).unwrap();
    assert_eq!((removed.originals, removed.sessions), (1, 1));
    assert_eq!((bytes(store, &ids[0], "a"), bytes(store, &ids[1], "b")), (None, Some(b"of b".to_vec())));
    assert_eq!((counted(a), counted(b)), ((0, 0, 0, 0, (0, 0, 0)), (1, 1, 2, 1, (1, 2, 1))));
    assert_eq!(known(store, b).projections.len(), 1);
    assert_eq!(store.purge(&scope("c", "work")).unwrap().sessions, 0);
}

fn a_purge_of_nothing_removes_nothing(store: &dyn Store) {
    put_text(store, &scope("main", "s"), "text", START);
    let removed = store.purge(&scope("main", "t")).unwrap();
    assert_eq!((removed.originals, removed.sessions), (0, 0));
    assert_eq!(store.stats(None).unwrap().originals, 1);
}
