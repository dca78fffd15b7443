//! Versions that do not exist yet, migrated to as those that do.

use std::collections::BTreeSet;
use std::time::Duration;

use concertina::error::Error;
use concertina::reference::Original;
use concertina::store::{Batch, Scope, Store};

use super::*;
use crate::cluster::{Cluster, options};
use crate::server::Server;
use crate::store::PostgresStore;

const NEXT: &str =
    "ALTER TABLE originals ADD COLUMN origin TEXT; CREATE INDEX originals_by_origin ON originals (origin)";
const SECOND: Version = Version { statements: NEXT, oldest: 1 };
/// The release after it: what the first version's programs write is not enough any more.
const THIRD: Version = Version {
    statements: "ALTER TABLE warnings ADD COLUMN kind TEXT NOT NULL DEFAULT ''; ALTER TABLE warnings ALTER kind DROP DEFAULT",
    oldest: 2,
};

fn first_version() -> Version {
    let [first] = VERSIONS;
    first
}

fn program(cluster: &Cluster, namespace: &str, versions: &[Version]) -> Outcome<Link> {
    let server = Server::new(&cluster.url(), namespace, &options()).unwrap();
    let mut link = Link::open(&server)?;
    prepare_to(&mut link, namespace, versions)?;
    Ok(link)
}

fn versions(cluster: &Cluster, namespace: &str) -> Vec<String> {
    cluster.sql(&format!("SELECT version || ' ' || oldest FROM {namespace}.store"))
}

/// All that a program does at every turn, and what it does now and then.
fn work(store: &PostgresStore, number: usize) -> concertina::error::Result<()> {
    let me = Scope { agent_id: "main".into(), session_id: "s".into() };
    let original = Original::text(&format!("text {number}"), "test");
    let id = store.ref_ids(&[original.hash])?.remove(0);
    let in_context = Some(BTreeSet::from([original.hash]));
    let ledger = store.ledger(&me)?;
    let batch = Batch { originals: vec![(id.clone(), original.clone())], in_context, ..Batch::after(&ledger) };
    store.commit(&me, &batch, 1)?;
    assert_eq!(store.get(&id, "main", 1)?, Some((id, original)));
    store.commit_turn(&me, &number.to_string().as_str().into(), 1)?;
    store.warn("text", 1)?;
    store.sweep(1)?;
    store.purge("another").map(drop)
}

#[test]
fn programs_of_two_versions_work_on_one_database_for_one_release() {
    let Some(cluster) = Cluster::start() else { return };
    let old = cluster.open("two");
    work(&old, 0).unwrap();
    program(&cluster, "two", &[first_version(), SECOND]).unwrap();
    assert_eq!(versions(&cluster, "two"), ["2 1"]);
    // One that is open goes on, and one that is opened begins; neither takes anything back.
    work(&old, 1).unwrap();
    work(&cluster.open("two"), 2).unwrap();
    program(&cluster, "two", &[first_version(), SECOND]).unwrap();
    assert_eq!(versions(&cluster, "two"), ["2 1"]);
    let mut link = program(&cluster, "two", &[first_version(), SECOND]).unwrap();
    let rows = link.run(&[call!("SELECT count(*) FROM originals WHERE origin IS NULL")]).unwrap().remove(0);
    assert_eq!(at::<i64>(&rows[0], 0).unwrap(), 3);

    program(&cluster, "two", &[first_version(), SECOND, THIRD]).unwrap();
    assert_eq!(versions(&cluster, "two"), ["3 2"]);
    let error = work(&old, 3).unwrap_err();
    assert!(matches!(error, Error::StoreDamaged { .. }), "{error}");
    assert!(
        error.to_string().contains("needs a program that knows version 2; this program knows versions 1 to 1"),
        "{error}"
    );
    let error = PostgresStore::open(&cluster.url(), "two", options()).map(drop).unwrap_err();
    assert!(error.to_string().contains("is 3; this program knows versions 1 to 1"), "{error}");
    program(&cluster, "two", &[first_version(), SECOND]).unwrap();
}

#[test]
fn a_migration_that_is_interrupted_leaves_nothing_and_is_made_by_the_next() {
    const SLOW: &str = "ALTER TABLE originals ADD COLUMN origin TEXT; SELECT pg_sleep(20)";
    let Some(cluster) = Cluster::start() else { return };
    let sleeps = || cluster.sql("SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'").first().cloned();
    let interrupt = |namespace: &str, versions: &[Version], interruption: &dyn Fn(&str)| {
        std::thread::scope(|threads| {
            let migration = threads.spawn(|| program(&cluster, namespace, versions).map(drop));
            let process = loop {
                match sleeps() {
                    Some(process) => break process,
                    None => std::thread::sleep(Duration::from_millis(10)),
                }
            };
            interruption(&process);
            migration.join().unwrap().unwrap_err();
        });
    };
    let end = |process: &str| drop(cluster.sql(&format!("SELECT pg_terminate_backend({process})")));
    let crash = |_: &str| {
        cluster.kill();
        cluster.up();
    };
    let columns = "SELECT count(*) FROM information_schema.columns WHERE column_name = 'origin'";
    for (namespace, interruption) in [("ended", &end as &dyn Fn(&str)), ("crashed", &crash)] {
        // While it is made for the first time: the first version is there and the second is not, so neither is.
        interrupt(namespace, &[first_version(), Version { statements: SLOW, oldest: 1 }], interruption);
        assert_eq!(cluster.sql(&format!("SELECT count(*) FROM pg_namespace WHERE nspname = '{namespace}'")), ["0"]);
        let store = cluster.open(namespace);
        work(&store, 0).unwrap();
        interrupt(namespace, &[first_version(), Version { statements: SLOW, oldest: 1 }], interruption);
        assert_eq!(
            (versions(&cluster, namespace), cluster.sql(columns)),
            (vec!["1 1".to_owned()], vec!["0".to_owned()])
        );
        work(&store, 1).unwrap();
        program(&cluster, namespace, &[first_version(), SECOND]).unwrap();
        assert_eq!(
            (versions(&cluster, namespace), cluster.sql(columns)),
            (vec!["2 1".to_owned()], vec!["1".to_owned()])
        );
        work(&store, 2).unwrap();
        cluster.sql(&format!("DROP SCHEMA {namespace} CASCADE"));
    }
}
