//! Prints the results of a run.

use crate::args::Load;
use crate::cluster::Cluster;
use crate::figures::{Times, shown};
use crate::messages::{Compared, Job};
use crate::place::Place;
use crate::run::Outcome;

/// The maximum ratio of the 99th percentile of an admission to its median.
const SPREAD_MOST: f64 = 10.0;

/// Counters of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counts {
    transactions: f64,
    log_bytes: f64,
}

/// Reads the counters of a server that was started for this run.
pub(crate) fn server_counts(server: &Cluster) -> Result<Counts, String> {
    // A session of the server reports its counters when it ends, or after a second.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let count = |sql: &str| -> Result<f64, String> {
        let row = server.sql(sql).into_iter().next().ok_or("the server counts nothing")?;
        row.parse().map_err(|error| format!("the server counts {row}: {error}"))
    };
    Ok(Counts {
        transactions: count("SELECT sum(xact_commit + xact_rollback) FROM pg_stat_database")?,
        log_bytes: count("SELECT pg_current_wal_lsn() - '0/0'")?,
    })
}

/// Prints the numbers of rows of a store that was filled by this run.
pub(crate) fn print_rows(server: &Cluster, namespace: &str) -> Result<(), String> {
    const TABLES: [&str; 11] = [
        "originals",
        "sessions",
        "grants",
        "printed",
        "projections",
        "receipts",
        "requests",
        "turns",
        "epochs",
        "fetches",
        "folded",
    ];
    let mut originals = 0.0;
    let mut shares = Vec::new();
    for table in TABLES {
        let row = server.sql(&format!("SELECT count(*) FROM {namespace}.{table}")).into_iter().next();
        let count: f64 = row.unwrap_or_default().parse().map_err(|error| format!("{table}: {error}"))?;
        if table == "originals" {
            originals = count;
        } else {
            shares.push(format!("{:.0} {table}", 1e3 * count / f64::max(originals, 1.0)));
        }
    }
    let bytes = server.sql(&format!("SELECT avg(octet_length(payload))::bigint FROM {namespace}.originals"));
    println!("rows for each 1,000 of {originals} originals of {} bytes: {}", bytes.concat(), shares.join(", "));
    Ok(())
}

pub(crate) fn print(load: &Load, place: &Place, outcome: &Outcome, counts: Option<(Counts, Counts)>) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let store = match place {
        Place::Postgres { .. } => "PostgreSQL",
        Place::Sqlite { .. } => "SQLite",
    };
    let pause = if load.pause_ms == 0 { "no pauses".to_owned() } else { format!("pauses of {} ms", load.pause_ms) };
    println!(
        "{store}: {} sessions at once in {} gateways, {pause}, {} jobs at once in each, {cores} cores, {:.0} s, {} killed\n",
        load.gateways * load.sessions,
        load.gateways,
        load.jobs,
        outcome.seconds,
        outcome.kills
    );
    outcome.took.print(outcome.seconds);
    println!(
        "\ntimes in milliseconds; calls of the store, and processor time in them on the gateway's side, for each job"
    );

    if let Some((before, after)) = counts {
        let jobs: u64 = outcome.took.0.values().map(|took| took.whole.count()).sum();
        println!(
            "server, with the checks at the end: {:.0} transactions, {} MB of log, for {jobs} jobs",
            after.transactions - before.transactions,
            shown((after.log_bytes - before.log_bytes) / 1e6)
        );
    }
    let of = |compared| outcome.compared.get(&compared).copied().unwrap_or(0);
    println!(
        "fetched while playing: {} originals byte for byte, {} of them folded by another process",
        outcome.fetched.0, outcome.fetched.1
    );
    println!(
        "shown again with the same bytes: {} times in the same gateway, {} after it was killed, {} in another one; {} times under a newer epoch",
        of(Compared::Same),
        of(Compared::Restarted),
        of(Compared::Elsewhere),
        of(Compared::Epoch)
    );
    let several = outcome.shown.values().filter(|ways| ways.values().sum::<usize>() > 1).count();
    println!(
        "at the end: {} of {} acknowledged originals fetched elsewhere byte for byte; {several} of {} sessions shown by several gateways at once, all alike",
        outcome.kept,
        outcome.issued.len(),
        outcome.shown.len()
    );
    spread(outcome);
    println!("errors: {}", outcome.wrong.len());
    outcome.wrong.iter().take(20).for_each(|wrong| println!("  {wrong}"));
}

/// Prints which part makes slow admissions slow.
fn spread(outcome: &Outcome) {
    let Some(took) = outcome.took.0.get(&Job::AdmitFolded) else { return };
    let word = |times: &Times| if times.spread() <= SPREAD_MOST { "held" } else { "not held" };
    println!(
        "p99 of an admission that folds is {} times its p50 (at most {SPREAD_MOST}: {}); of its part in the store {} times ({}); of the engine's processor time {} times ({})",
        shown(took.whole.spread()),
        word(&took.whole),
        shown(took.store.spread()),
        word(&took.store),
        shown(took.engine.spread()),
        word(&took.engine)
    );
}
