//! The promises of a store, kept by PostgreSQL: the suite of every backend, and what only a server can show.

mod away;
mod cluster;
#[path = "../../../tests/store/copied.rs"]
mod copied;
mod copies;
#[path = "../../../tests/corpus/mod.rs"]
mod corpus;
mod hostile;
mod hosts;
mod plans;
mod shared;
#[path = "../../../tests/store/suite.rs"]
mod suite;

use cluster::Cluster;

#[test]
fn postgres_keeps_the_promises_of_a_store() {
    let Some(cluster) = Cluster::start() else { return };
    for (number, case) in suite::CASES.iter().enumerate() {
        println!("{}", case.name);
        (case.check)(&cluster.open(&format!("case_{number}")));
    }
}
