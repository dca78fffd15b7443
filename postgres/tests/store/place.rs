//! Tests with misconfigured servers, roles and addresses: each call works, or its error states the cause and the
//! remedy.

use std::path::Path;
use std::sync::Barrier;
use std::time::Duration;

use concertina::error::{Error, Result};
use concertina::reference::Original;
use concertina::store::figures::FiguresQuery;
use concertina::store::{Batch, Store};
use concertina_postgres::{PostgresOptions, PostgresStore};

use crate::cluster::{Cluster, options};
use crate::proxy::{Fault, Proxy};
use crate::suite::{START, scope};

/// A call of the store; the number is that of its previous calls.
type Called = fn(&PostgresStore, usize) -> Result<()>;

/// Calls of the store, made one after the other.
const CALLS: [(&str, Called); 9] = [
    ("commit", |store, number| {
        let original = Original::text(&format!("text {number}"), "test");
        let id = store.ref_ids(&[original.hash])?.remove(0);
        let batch = Batch { originals: vec![(id, original)], ..Batch::default() };
        store.commit(&scope("main", "s"), &batch, START).map(drop)
    }),
    ("get", |store, _| store.get(&Original::text("text", "test").hash.to_ref_id(16), "main", START).map(drop)),
    ("ledger", |store, _| store.ledger(&scope("main", "s")).map(drop)),
    ("turn", |store, number| {
        store.commit_turn(&scope("main", "s"), &number.to_string().as_str().into(), START).map(drop)
    }),
    ("switch", |store, _| store.switch(&scope("main", "s"), false, START)),
    ("figures", |store, _| store.figures(&FiguresQuery::default()).map(drop)),
    ("stats", |store, _| store.stats(None).map(drop)),
    ("sweep", |store, _| store.sweep(START).map(drop)),
    ("purge", |store, _| store.purge(&scope("main", "another")).map(drop)),
];

/// The error codes with which a server ends a connection: a shutdown, a crash, a start, a dropped database, the time
/// limits of an idle session, of an idle transaction and of any transaction, and connection failures.
const ENDS: [&str; 10] = ["57P01", "57P02", "57P03", "57P04", "57P05", "25P03", "25P04", "08006", "08P01", "XX000"];

/// Covers each message of each of nine calls, on an idle connection, within a transaction, and at its end. A commit
/// gets each of ten codes at each message; the other calls get the codes in turn.
#[test]
fn a_connection_that_the_server_ends_costs_no_call() {
    let Some(cluster) = Cluster::shared() else { return };
    let proxy = Proxy::to(cluster.port);
    let url = cluster.url().replace(&cluster.port.to_string(), &proxy.port.to_string());
    let store = PostgresStore::open(&url, "ended", options()).unwrap();
    let (mut number, mut ended) = (0, 0);
    for (index, (name, call)) in CALLS.into_iter().enumerate() {
        call(&store, number).unwrap();
        let rounds = if name == "commit" { ENDS.len() } else { 1 };
        for round in 0..rounds {
            for trip in 1.. {
                number += 1;
                let code = ENDS[(round + index + trip as usize) % ENDS.len()];
                proxy.at_trip(trip, Fault::End(code));
                call(&store, number).unwrap_or_else(|error| panic!("{name}, {code} at trip {trip}: {error}"));
                if proxy.take_plan() {
                    break;
                }
                ended += 1;
                assert!(trip < 20);
            }
        }
    }
    println!("{ended} connections were ended");
    assert!(ended >= CALLS.len() + 2 * ENDS.len(), "{ended}");
    // No row was lost, and none was written twice.
    let stored = store.stats(None).unwrap().originals;
    assert_eq!(cluster.sql("SELECT count(DISTINCT hash) FROM ended.originals"), [stored.to_string()]);
    assert_eq!(
        cluster.sql("SELECT count(*) FROM ended.turns"),
        cluster.sql("SELECT count(DISTINCT advancement) FROM ended.turns")
    );
}

/// Covers the same codes at the three messages of opening a connection.
#[test]
fn a_connection_that_ends_as_it_is_opened_is_an_error_with_the_servers_code() {
    let Some(cluster) = Cluster::shared() else { return };
    let proxy = Proxy::to(cluster.port);
    let url = cluster.url().replace(&cluster.port.to_string(), &proxy.port.to_string());
    for code in ENDS {
        for trip in 1..4 {
            proxy.at_trip(trip, Fault::End(code));
            match PostgresStore::open(&url, "opened", options()) {
                Ok(store) => store.stats(None).map(drop).unwrap(),
                Err(error) => {
                    assert!(
                        matches!(error, Error::StoreUnavailable { .. }) && error.to_string().contains(code),
                        "{error}"
                    );
                }
            }
            proxy.take_plan();
        }
    }
}

/// Covers each time limit that a role can have, and all of them together, as short as possible.
#[test]
fn a_roles_time_limits_cost_no_call() {
    let Some(cluster) = Cluster::shared() else { return };
    let limits = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "idle_session_timeout"];
    let sets = limits.iter().map(|limit| vec![*limit]).chain([limits.to_vec()]);
    cluster.sql("CREATE ROLE hurried LOGIN SUPERUSER");
    for (number, set) in sets.enumerate() {
        for limit in &set {
            cluster.sql(&format!("ALTER ROLE hurried SET {limit} = '20ms'"));
        }
        let store = PostgresStore::open(&cluster.url_of("hurried"), &format!("limits_{number}"), options()).unwrap();
        // The store raises the limit of an idle session to one second.
        let idle = if set.contains(&"idle_session_timeout") { 1300 } else { 100 };
        for pause in [0, idle] {
            std::thread::sleep(Duration::from_millis(pause));
            for (name, call) in CALLS {
                call(&store, number).unwrap_or_else(|error| panic!("{name}, {set:?}, after {pause} ms: {error}"));
            }
        }
        cluster.sql("ALTER ROLE hurried RESET ALL");
    }
}

/// Covers limits of 1 to 3 connections for six threads, and no free connection.
#[test]
fn a_limit_of_connections_is_waited_for_and_then_named() {
    let Some(cluster) = Cluster::start() else { return };
    drop(cluster.open("limited"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("roles.sql");
    cluster.psql(&script, &["namespace=limited", "role=worker"]);
    for limit in 1..4 {
        cluster.sql(&format!("ALTER ROLE worker LOGIN CONNECTION LIMIT {limit}"));
        // The server counts a connection until its process has ended.
        let store = PostgresStore::open(&cluster.url_of("worker"), "limited", options()).unwrap();
        let barrier = Barrier::new(6);
        std::thread::scope(|threads| {
            for thread in 0..6 {
                let (store, barrier) = (&store, &barrier);
                threads.spawn(move || {
                    barrier.wait();
                    for number in 0..5 {
                        CALLS[0].1(store, thread * 100 + number).unwrap();
                    }
                });
            }
        });
        // Other stores take all remaining connections.
        let brief = PostgresOptions { connect_timeout: Duration::from_millis(300), ..options() };
        let open = || PostgresStore::open(&cluster.url_of("worker"), "limited", brief.clone());
        let held: Vec<_> = (1..limit).map(|_| open()).collect();
        let error = open().map(drop).unwrap_err();
        assert!(matches!(error, Error::StoreUnavailable { .. }), "{error}");
        assert!(error.to_string().contains("(53300)") && error.to_string().ends_with("; waited 300 ms"), "{error}");
        drop(held);
    }
}

/// Covers each privilege on each table, on the schema and on each function, revoked while a store is open and before it
/// is opened.
#[test]
fn a_missing_privilege_is_reported_and_is_not_damage() {
    let Some(cluster) = Cluster::start() else { return };
    drop(cluster.open("rights"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("roles.sql");
    let grant = || cluster.psql(&script, &["namespace=rights", "role=worker"]);
    grant();
    cluster.sql("ALTER ROLE worker LOGIN; REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA rights FROM PUBLIC");
    let open = || PostgresStore::open(&cluster.url_of("worker"), "rights", options());
    let store = open().unwrap();
    let tables = cluster.sql("SELECT tablename FROM pg_tables WHERE schemaname = 'rights'");
    let rights = ["SELECT", "INSERT", "UPDATE", "DELETE"];
    let mut taken: Vec<String> =
        tables.iter().flat_map(|table| rights.map(|right| format!("{right} ON rights.{table}"))).collect();
    taken.extend(["USAGE ON SCHEMA rights", "EXECUTE ON ALL FUNCTIONS IN SCHEMA rights"].map(str::to_owned));
    let mut said = 0;
    for (number, right) in taken.iter().enumerate() {
        cluster.sql(&format!("REVOKE {right} FROM worker"));
        let opened = open();
        let mut failed: Vec<String> = opened.as_ref().err().map(ToString::to_string).into_iter().collect();
        for (_, call) in CALLS {
            for store in [Some(&store), opened.as_ref().ok()].into_iter().flatten() {
                if let Err(error) = call(store, number) {
                    assert!(matches!(error, Error::StoreUnavailable { .. }), "{right}: {error}");
                    failed.push(error.to_string());
                }
            }
        }
        for error in &failed {
            assert!(error.contains("postgres/roles.sql"), "{right}: {error}");
        }
        said += usize::from(!failed.is_empty());
        grant();
        for (name, call) in CALLS {
            call(&store, number).unwrap_or_else(|error| panic!("{name}, with {right} again: {error}"));
        }
    }
    println!("of {} rights {said} were missed", taken.len());
    assert!(said > 10, "{said}");
}

#[test]
fn a_role_that_may_not_create_or_migrate_a_schema_is_referred_to_its_owner() {
    let Some(cluster) = Cluster::start() else { return };
    drop(cluster.open("owned"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("roles.sql");
    cluster.psql(&script, &["namespace=owned", "role=worker"]);
    cluster.sql("ALTER ROLE worker LOGIN; CREATE SCHEMA empty; GRANT USAGE ON SCHEMA empty TO worker");
    for namespace in ["nowhere", "empty"] {
        let error = PostgresStore::open(&cluster.url_of("worker"), namespace, options()).map(drop).unwrap_err();
        assert!(matches!(error, Error::StoreUnavailable { .. }), "{namespace}: {error}");
        let told = format!("may not make or migrate the schema {namespace}: let its owner open the store once");
        assert!(error.to_string().contains(&told) && error.to_string().contains("postgres/roles.sql"), "{error}");
    }
    cluster.sql("ALTER ROLE postgres SET default_transaction_read_only = on");
    let store = cluster.open("made_by_a_role_that_reads_by_default");
    for (name, call) in CALLS {
        call(&store, 0).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// Covers single-byte and multi-byte encodings, and no encoding.
#[test]
fn a_database_in_another_encoding_is_reported() {
    let Some(cluster) = Cluster::shared() else { return };
    for encoding in ["LATIN1", "EUC_JP", "SQL_ASCII", "WIN1252"] {
        let name = format!("in_{}", encoding.to_lowercase());
        cluster.sql(&format!("CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"));
        let url = cluster.url().replace("/postgres?", &format!("/{name}?"));
        let error = PostgresStore::open(&url, "tenant", options()).map(drop).unwrap_err();
        assert!(matches!(error, Error::StoreUnavailable { .. }), "{error}");
        assert!(error.to_string().contains(&format!("encoding is {encoding}; it must be UTF8")), "{error}");
    }
}

/// Covers a socket in three forms of an address with five modes of TLS, which are ignored on a socket, and blanks
/// around an address.
#[test]
fn a_socket_works_in_each_form_of_an_address_and_blanks_around_it_do_not_count() {
    let Some(cluster) = Cluster::shared() else { return };
    let (dir, port) = (cluster.file(""), cluster.port);
    let dir = dir.display().to_string().trim_end_matches('/').to_owned();
    let escaped = dir.replace('/', "%2F");
    for mode in ["disable", "prefer", "require", "verify-ca", "verify-full"] {
        for address in [
            format!("postgresql://postgres@{escaped}:{port}/postgres?sslmode={mode}"),
            format!("postgresql:///postgres?host={dir}&port={port}&user=postgres&sslmode={mode}"),
            format!("host={dir} port={port} user=postgres dbname=postgres sslmode={mode}"),
        ] {
            let store = PostgresStore::open(&address, "socket", options()).unwrap();
            for (name, call) in CALLS {
                call(&store, 0).unwrap_or_else(|error| panic!("{name}, {address}: {error}"));
            }
            assert_eq!(store.server(), format!("{dir}:{port}/postgres"));
        }
    }
    let error = PostgresStore::open("host=/nowhere user=postgres", "socket", options()).map(drop).unwrap_err();
    assert!(error.to_string().contains("/nowhere:5432"), "{error}");
    for address in ["{}\n", "{}\r\n", " {}", "\t{}\n\n"].map(|around| around.replace("{}", &cluster.url())) {
        PostgresStore::open(&address, "socket", options()).unwrap().stats(None).unwrap();
    }
}
