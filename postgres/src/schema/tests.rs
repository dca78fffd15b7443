//! Tests of migrations to versions that do not exist yet.

use std::collections::BTreeSet;
use std::time::Duration;

use concertina_base::error::Error;
use concertina_base::reference::Original;
use concertina_store::{Batch, Scope, Store};

use super::*;
use crate::cluster::{Cluster, options};
use crate::server::Server;
use crate::store::PostgresStore;
use crate::version::NEWEST;

/// The next version, which is invisible to the programs of today.
const NEXT: Version = Version {
    statements: "ALTER TABLE originals ADD COLUMN origin TEXT; CREATE INDEX originals_by_origin ON originals (origin)",
    oldest: 1,
};
/// The version after that. The programs of today can no longer write to it.
const AFTER_NEXT: Version = Version {
    statements: "ALTER TABLE turns ADD COLUMN kind TEXT NOT NULL DEFAULT ''; ALTER TABLE turns ALTER kind DROP DEFAULT",
    oldest: VERSIONS.len() + 1,
};

/// Returns all existing versions followed by `further`.
fn and<const N: usize>(further: [Version; N]) -> Vec<Version> {
    VERSIONS.into_iter().chain(further).collect()
}

fn program(cluster: &Cluster, namespace: &str, versions: &[Version]) -> Outcome<Connection> {
    let server = Server::new(&cluster.url(), namespace, &options()).unwrap();
    let mut connection = Connection::open(&server)?;
    prepare_to(&mut connection, namespace, versions)?;
    Ok(connection)
}

/// Returns the version of a namespace relative to the newest existing one, and the oldest version whose programs work
/// on it.
fn versions(cluster: &Cluster, namespace: &str) -> Vec<String> {
    cluster.sql(&format!("SELECT version - {NEWEST} || ' ' || oldest FROM {namespace}.store"))
}

/// Does everything that a program does at every turn, and what it does occasionally.
fn work(store: &PostgresStore, number: usize) -> concertina_base::error::Result<()> {
    let me = Scope { agent_id: "main".into(), session_id: "s".into() };
    let original = Original::text(&format!("text {number}"), "test");
    let id = store.ref_ids(&[original.hash])?.remove(0);
    let in_context = Some(BTreeSet::from([original.hash]));
    let ledger = store.ledger(&me)?;
    let batch = Batch { originals: vec![(id.clone(), original.clone())], in_context, ..Batch::after(&ledger) };
    store.commit(&me, &batch, 1)?;
    assert_eq!(store.get(&id, "main", 1)?, Some((id, original)));
    store.commit_turn(&me, &number.to_string().as_str().into(), 1)?;
    store.sweep(1)?;
    store.purge(&Scope { agent_id: "main".into(), session_id: "another".into() }).map(drop)
}

#[test]
fn programs_of_two_versions_work_on_one_database_for_one_release() {
    let Some(cluster) = Cluster::start() else { return };
    let old = cluster.open("two");
    work(&old, 0).unwrap();
    program(&cluster, "two", &and([NEXT])).unwrap();
    assert_eq!(versions(&cluster, "two"), ["1 1"]);
    // The open program continues and a newly opened one works. Neither reverts the migration.
    work(&old, 1).unwrap();
    work(&cluster.open("two"), 2).unwrap();
    program(&cluster, "two", &and([NEXT])).unwrap();
    assert_eq!(versions(&cluster, "two"), ["1 1"]);
    let mut connection = program(&cluster, "two", &and([NEXT])).unwrap();
    let rows = connection.run(&[call!("SELECT count(*) FROM originals WHERE origin IS NULL")]).unwrap().remove(0);
    assert_eq!(at::<i64>(&rows[0], 0).unwrap(), 3);

    program(&cluster, "two", &and([NEXT, AFTER_NEXT])).unwrap();
    assert_eq!(versions(&cluster, "two"), [format!("2 {}", NEWEST + 1)]);
    let error = work(&old, 3).unwrap_err();
    assert!(matches!(error, Error::StoreNewer { .. }), "{error}");
    let needed = format!("needs a program that knows schema version {} (known: {NEWEST})", NEWEST + 1);
    assert!(error.to_string().contains(&needed), "{error}");
    let error = PostgresStore::open(&cluster.url(), "two", options()).map(drop).unwrap_err();
    assert!(error.to_string().contains(&format!("has the version {} (known: {NEWEST})", NEWEST + 2)), "{error}");
    program(&cluster, "two", &and([NEXT])).unwrap();
}

#[test]
fn a_role_that_may_not_migrate_a_schema_is_referred_to_its_owner() {
    let Some(cluster) = Cluster::start() else { return };
    drop(cluster.open("owned"));
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("roles.sql");
    cluster.psql(&script, &["namespace=owned", "role=worker"]);
    cluster.sql("ALTER ROLE worker LOGIN");
    let server = Server::new(&cluster.url_of("worker"), "owned", &options()).unwrap();
    let failure = prepare_to(&mut Connection::open(&server).unwrap(), "owned", &and([NEXT])).unwrap_err();
    assert!(matches!(failure, Failure::Misconfigured(_)), "{failure}");
    let told = "may not make or migrate the schema owned: let its owner open the store once";
    assert!(failure.to_string().contains(told), "{failure}");
}

#[test]
fn a_commit_after_a_migration_to_an_unsupported_version_writes_nothing() {
    let Some(cluster) = Cluster::start() else { return };
    let old = cluster.open("far");
    work(&old, 0).unwrap();
    program(&cluster, "far", &and([NEXT, AFTER_NEXT])).unwrap();
    let me = Scope { agent_id: "main".into(), session_id: "s".into() };
    let original = Original::text("another text", "test");
    let batch = Batch { originals: vec![(original.hash.to_ref_id(16), original)], ..Batch::default() };
    let error = old.commit(&me, &batch, 1).unwrap_err();
    assert!(
        error.to_string().contains(&format!("needs a program that knows schema version {}", NEWEST + 1)),
        "{error}"
    );
    assert_eq!(cluster.sql("SELECT count(*) FROM far.originals"), ["1"]);
}

#[test]
fn an_interrupted_migration_leaves_nothing_and_is_repeated_by_the_next_program() {
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
        // Interrupted during creation: the second version is missing, so the first one must be missing too.
        interrupt(namespace, &and([Version { statements: SLOW, oldest: 1 }]), interruption);
        assert_eq!(cluster.sql(&format!("SELECT count(*) FROM pg_namespace WHERE nspname = '{namespace}'")), ["0"]);
        let store = cluster.open(namespace);
        work(&store, 0).unwrap();
        interrupt(namespace, &and([Version { statements: SLOW, oldest: 1 }]), interruption);
        assert_eq!(
            (versions(&cluster, namespace), cluster.sql(columns)),
            (vec!["0 1".to_owned()], vec!["0".to_owned()])
        );
        work(&store, 1).unwrap();
        program(&cluster, namespace, &and([NEXT])).unwrap();
        assert_eq!(
            (versions(&cluster, namespace), cluster.sql(columns)),
            (vec!["1 1".to_owned()], vec!["1".to_owned()])
        );
        work(&store, 2).unwrap();
        cluster.sql(&format!("DROP SCHEMA {namespace} CASCADE"));
    }
}
