//! Prints the duration of a commit, as a ratio to two lower bounds on the same server with the same settings, and the
//! number of round trips. One bound is an INSERT of the same originals as text, in one statement, by pgbench. The
//! other, which is lower, is a prepared binary INSERT of the packed bytes that a commit stores, from this process. Also
//! prints the duration of a search.

use std::fmt::Write as _;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Instant;

use concertina::store::payload::Packer;
use concertina::store::{Batch, Scope, Store};
use concertina_postgres::PostgresStore;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls, Statement};

use crate::cluster::{Cluster, options};
use crate::originals::{batch, print_search};
use crate::proxy::Proxy;

#[expect(dead_code, reason = "the tests of the store use the rest")]
#[path = "../tests/store/cluster.rs"]
mod cluster;
#[path = "../../benches/originals/mod.rs"]
mod originals;
#[expect(dead_code, reason = "the tests of the store use the rest")]
#[path = "../tests/store/proxy.rs"]
mod proxy;

const ROUNDS: usize = 41;
const SETUP: &str =
    "SET jit = off; CREATE TABLE plain (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payload BYTEA NOT NULL);
    ALTER TABLE plain ALTER payload SET STORAGE EXTERNAL;
    CREATE TABLE texts (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payload TEXT NOT NULL)";

/// A connection to a table without indexes for the lower bound.
struct Plain {
    runtime: Runtime,
    client: Client,
    statements: [Statement; 3],
}

impl Plain {
    fn open(url: &str) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (client, statements) = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("a connection");
            drop(tokio::spawn(connection));
            client.batch_execute(SETUP).await.expect("a table");
            let insert = "INSERT INTO plain (payload) SELECT * FROM unnest($1::bytea[])";
            let mut statements = Vec::new();
            for sql in ["BEGIN", insert, "COMMIT"] {
                statements.push(client.prepare(sql).await.expect("a statement"));
            }
            (client, statements)
        });
        Self { runtime, client, statements: statements.try_into().expect("three statements") }
    }

    fn insert(&self, payloads: &[&[u8]]) {
        let [begin, insert, commit] = &self.statements;
        self.runtime.block_on(async {
            self.client.execute(begin, &[]).await.expect("begins");
            self.client.execute(insert, &[&payloads]).await.expect("inserts");
            self.client.execute(commit, &[]).await.expect("commits");
        });
    }
}

/// Returns the milliseconds that pgbench takes for one INSERT of these originals as text, or `None` if it is not
/// installed.
fn pgbench(cluster: &Cluster, batch: &Batch) -> Option<f64> {
    let mut script = String::from("INSERT INTO texts (payload) VALUES ");
    for (at, (_, original)) in batch.originals.iter().enumerate() {
        let text = std::str::from_utf8(&original.bytes).expect("text");
        write!(script, "{}('{text}')", if at == 0 { "" } else { "," }).expect("a string takes all");
    }
    let file = cluster.file("insert.sql");
    std::fs::write(&file, script).expect("a script");
    let rounds = ROUNDS.to_string();
    let arguments = ["-n", "-t", &rounds, "-f", file.to_str()?, &cluster.url()];
    let said = cluster.command("pgbench").args(arguments).stdout(Stdio::piped()).output().ok()?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    said.lines().find_map(|line| line.strip_prefix("latency average = ")?.strip_suffix(" ms")?.parse().ok())
}

/// Returns the milliseconds that `work` takes.
fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e3
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    let Some(cluster) = Cluster::start() else { return };
    let store = cluster.open("bench");
    let plain = Plain::open(&cluster.url());
    let proxy = Proxy::to(cluster.port);
    let counted_url = cluster.url().replace(&cluster.port.to_string(), &proxy.port.to_string());
    let counted = PostgresStore::open(&counted_url, "bench", options()).expect("a store");
    let scope = Scope { agent_id: "main".into(), session_id: "bench".into() };
    let mut seed = 0;
    let mut make = |count: usize| batch(&store, count, &mut seed);
    for count in [1, 16, 256] {
        let (mut commits, mut floors, mut packs) = (Vec::new(), Vec::new(), Vec::new());
        // Alternately, so that other load on the machine affects both.
        for round in 0..ROUNDS + 3 {
            let batch = make(count);
            let mut payloads = Vec::new();
            let pack = timed(|| {
                let mut packer = Packer::default();
                payloads.extend(batch.originals.iter().map(|(_, original)| packer.pack(&original.bytes).bytes));
            });
            let payloads: Vec<&[u8]> = payloads.iter().map(Vec::as_slice).collect();
            let commit = timed(|| drop(store.commit(&scope, &batch, 1).expect("a commit")));
            let floor = timed(|| plain.insert(&payloads));
            // The first rounds include the preparation of statements.
            if round >= 3 {
                commits.push(commit);
                floors.push(floor);
                packs.push(pack);
            }
        }
        let mut trips = 0;
        for _ in 0..3 {
            let (batch, before) = (make(count), proxy.trips());
            counted.commit(&scope, &batch, 1).expect("a commit");
            trips = proxy.trips() - before;
        }
        let (commit, floor, pack) = (median(commits), median(floors), median(packs));
        let pgbench = pgbench(&cluster, &make(count));
        let pgbench = pgbench.map_or_else(
            || "not installed".to_owned(),
            |floor| format!("{floor:6.2} ms, {:5.2} x that", commit / floor),
        );
        println!(
            "commit {count:3} originals {commit:6.2} ms ({pack:5.2} ms packing), {trips} round trips  pgbench {pgbench}  packed bytes {floor:6.2} ms, {:5.2} x that",
            commit / floor,
        );
    }
    print_search(&(Arc::new(cluster.open("search")) as Arc<dyn Store>));
}
