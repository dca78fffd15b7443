//! Tests of several hosts that hold sessions in one store, where each lists only its own, for every backend.

use std::collections::BTreeSet;

use concertina::reference::{Original, RefId};
use concertina::store::{Batch, Millis, Retention, Store, StoreOptions};

use crate::suite::{self, START, put, scope};

const HOUR: Millis = 3_600_000;
const DAY: Millis = 24 * HOUR;

/// The checks on the stores of two hosts at one place.
pub(crate) const CASES: [fn(&dyn Store, &dyn Store); 4] = [
    a_session_ends_when_the_last_host_that_had_it_no_longer_has_it,
    a_session_that_a_host_lists_has_not_ended_whoever_ended_it,
    a_host_that_tells_nothing_for_ninety_days_is_gone,
    of_each_session_is_known_whether_the_host_has_it_and_which_others_do,
];

/// Returns the options of a host.
pub(crate) fn options(name: &str) -> StoreOptions {
    StoreOptions { retention: Retention::Held, host: name.into(), ttl_seconds: 86_400, ..suite::options() }
}

fn begin(store: &dyn Store, session: &str) -> RefId {
    put(store, &scope("main", session), vec![Original::text(session, "test")], START).remove(0)
}

/// Reports the sessions of a host and sweeps. Returns the number of sessions that ended.
fn settle(store: &dyn Store, alive: &[&str], now: Millis) -> u64 {
    let ended = store.settle(&alive.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>(), now).unwrap();
    store.sweep(now).unwrap();
    ended
}

fn a_session_ends_when_the_last_host_that_had_it_no_longer_has_it(one: &dyn Store, two: &dyn Store) {
    let ids = ["first", "second", "both"].map(|name| begin(if name == "second" { two } else { one }, name));
    // The session continues at the other host, where nothing new is folded in it.
    let idle =
        Batch { in_context: Some(BTreeSet::new()), ..Batch::after(&two.ledger(&scope("main", "both")).unwrap()) };
    two.commit(&scope("main", "both"), &idle, START).unwrap();
    let is_there = |at: usize| one.get(&ids[at], "main", START).unwrap().is_some();

    // Only one host runs for weeks.
    for day in 1..30 {
        assert_eq!(settle(one, &["first", "both"], START + day * DAY), 0, "on day {day}");
    }
    assert!((0..3).all(is_there));
    let later = START + 30 * DAY;
    assert_eq!(settle(one, &["first"], later), 0, "the other one still has it");
    assert_eq!(settle(two, &["second"], later), 1, "both");
    assert_eq!(settle(one, &[], later + HOUR), 1, "first");
    assert_eq!(settle(one, &[], later + 2 * DAY), 0);
    assert_eq!([0, 1, 2].map(is_there), [false, true, false]);
}

fn a_session_that_a_host_lists_has_not_ended_whoever_ended_it(one: &dyn Store, two: &dyn Store) {
    let id = begin(one, "moved");
    one.end_session(&scope("main", "moved"), START + HOUR).unwrap();
    assert_eq!(settle(two, &["moved"], START + HOUR), 0);
    assert_eq!(settle(one, &[], START + 9 * DAY), 0);
    assert!(two.get(&id, "main", START + 9 * DAY).unwrap().is_some());
    two.end_session(&scope("main", "moved"), START + 9 * DAY).unwrap();
    assert_eq!(settle(one, &[], START + 11 * DAY), 0);
    assert!(two.get(&id, "main", START + 11 * DAY).unwrap().is_none());
}

fn a_host_that_tells_nothing_for_ninety_days_is_gone(one: &dyn Store, two: &dyn Store) {
    let id = begin(one, "lost");
    for day in 0..=90 {
        assert_eq!(settle(two, &[], START + HOUR + day * DAY), 0, "on day {day}");
    }
    assert!(one.get(&id, "main", START).unwrap().is_some());
    assert_eq!(settle(two, &[], START + 92 * DAY) + settle(two, &[], START + 92 * DAY), 1);
    settle(two, &[], START + 94 * DAY);
    assert!(one.get(&id, "main", START).unwrap().is_none());
}

fn of_each_session_is_known_whether_the_host_has_it_and_which_others_do(one: &dyn Store, two: &dyn Store) {
    for (store, session) in [(one, "first"), (two, "second"), (one, "both"), (two, "both")] {
        begin(store, session);
    }
    let homes = |store: &dyn Store| -> Vec<String> {
        let mut sessions = store.sessions().unwrap();
        sessions.sort_by(|one, other| one.session_id.cmp(&other.session_id));
        sessions.iter().map(|known| format!("{}: {} {:?}", known.session_id, known.is_here, known.elsewhere)).collect()
    };
    assert_eq!(homes(one), [r#"both: true ["two"]"#, "first: true []", r#"second: false ["two"]"#]);
    assert_eq!(homes(two), [r#"both: true ["one"]"#, r#"first: false ["one"]"#, "second: true []"]);
}
