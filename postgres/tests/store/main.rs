//! Tests of the store in PostgreSQL: the suite of every backend, and tests that need a server.

mod away;
mod cluster;
mod conflict;
#[path = "../../../tests/store/copied.rs"]
mod copied;
mod copies;
#[path = "../../../tests/corpus/mod.rs"]
mod corpus;
mod cut;
mod failover;
mod full;
mod golden;
#[path = "../../../tests/store/golden_contents.rs"]
mod golden_contents;
mod hostile;
#[path = "../../../tests/store/hosts.rs"]
mod hosts;
mod place;
mod plans;
mod proxy;
mod shared;
#[path = "../../../tests/store/suite.rs"]
mod suite;
mod tls;

use cluster::{Cluster, options};
use concertina_postgres::{PostgresOptions, PostgresStore};

#[test]
fn postgres_keeps_the_promises_of_a_store() {
    let Some(cluster) = Cluster::shared() else { return };
    for (number, case) in suite::CASES.iter().enumerate() {
        println!("{}", case.name);
        let options = PostgresOptions { store: suite::options(), ..options() };
        (case.check)(&PostgresStore::open(&cluster.url(), &format!("case_{number}"), options).unwrap());
    }
}

#[test]
fn several_hosts_hold_sessions_in_one_database() {
    let Some(cluster) = Cluster::shared() else { return };
    for (number, check) in hosts::CASES.iter().enumerate() {
        let [one, two] = ["one", "two"].map(|name| {
            let options = PostgresOptions { store: hosts::options(name), ..options() };
            PostgresStore::open(&cluster.url(), &format!("hosts_{number}"), options).unwrap()
        });
        check(&one, &two);
    }
}
