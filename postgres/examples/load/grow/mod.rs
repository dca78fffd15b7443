//! Grows a store: fills in rows by SQL, and at each size measures every call that a host makes.
//!
//! Calls whose duration grows with the whole store, and not with the session, are the first to become too slow.

mod measure;
mod sql;

use std::time::Instant;

use crate::cluster::Cluster;
use crate::figures::{print_table, shown};
use crate::gateway::now;
use crate::place::Place;
use crate::progress::Progress;
use measure::{Call, Size};
use sql::Sql;

/// The numbers of originals at which calls are measured, a hundred per session.
const SIZES: [u64; 3] = [100_000, 1_000_000, 10_000_000];

/// The number of originals that one transaction fills in.
const STEP: u64 = 500_000;

/// The first id of the rows that the measurement itself adds.
const ADDED_FROM: u64 = 1_000_000_000;

const FILL: &str = include_str!("fill.sql");

/// Selects the sizes of tables with their TOAST, and of indexes, the largest first.
const TABLES: &str = "SELECT relname, pg_table_size(oid), pg_indexes_size(oid), reltuples::bigint FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND reltuples > 100 ORDER BY pg_total_relation_size(oid) DESC";

/// Settings that speed up writing, for a server that was started for this run. Another server's settings are not
/// changed.
const HURRY: [&str; 3] = ["max_wal_size = '16GB'", "checkpoint_timeout = '1h'", "full_page_writes = off"];

pub(crate) fn grow(place: &Place, most: u64, server: Option<&Cluster>) -> Result<(), String> {
    let Place::Postgres { url, namespace } = place else { return Err("--grow fills a namespace of PostgreSQL".into()) };
    if most < STEP / 5 {
        return Err(format!("--grow is {most}; it must be at least {}", STEP / 5));
    }
    // Opening the store creates the tables.
    drop(place.open().map_err(|error| error.to_string())?);
    let sql = Sql::connect(url, namespace)?;
    let filled = filled(&sql, namespace)?;
    // Rows that the measurement adds have ids beyond all that are filled in.
    for table in ["sessions", "originals"] {
        let beyond = format!("greatest({ADDED_FROM}, (SELECT max(id) FROM {table}))");
        sql.run(&format!("SELECT setval(pg_get_serial_sequence('{table}', 'id'), {beyond})"))?;
    }
    let mut measured = Vec::new();
    let grown = grow_by_steps(place, (filled, most), server, &sql, &mut measured);
    // Results are printed even if a larger size failed.
    print_calls(&measured);
    grown
}

/// Returns the number of originals that an earlier run has filled in. This run continues from there.
fn filled(sql: &Sql, namespace: &str) -> Result<u64, String> {
    let all = format!("SELECT count(*), coalesce(max(id), 0) FROM originals WHERE id < {ADDED_FROM}");
    let rows = sql.run(&all)?;
    match rows.first().map(|row| (row[0].clone(), row[1].parse::<u64>())) {
        Some((count, Ok(last))) if count == last.to_string() && last % 1000 == 0 => Ok(last),
        _ => Err(format!("the namespace {namespace} holds what --grow did not fill in; --namespace names another one")),
    }
}

fn grow_by_steps(
    place: &Place,
    (mut filled, most): (u64, u64),
    server: Option<&Cluster>,
    sql: &Sql,
    measured: &mut Vec<(Size, Vec<Call>)>,
) -> Result<(), String> {
    let sizes = SIZES.into_iter().filter(|size| *size < most).chain([most - most % 1000]);
    let sizes: Vec<u64> = sizes.filter(|size| *size >= filled).collect();
    for originals in sizes {
        let began = Instant::now();
        set(server, |setting| format!("ALTER SYSTEM SET {setting}"));
        fill(sql, filled, originals)?;
        set(server, |setting| format!("ALTER SYSTEM RESET {}", setting.split(' ').next().unwrap_or_default()));
        filled = originals;
        let took = began.elapsed().as_secs_f64();
        println!("{originals} originals in {} sessions, filled in {took:.0} s", originals / 100);
        measured.push(measure::measure(place, Size { originals })?);
        print_sizes(sql, originals)?;
    }
    Ok(())
}

fn set(server: Option<&Cluster>, statement: impl Fn(&str) -> String) {
    if let Some(server) = server {
        HURRY.iter().for_each(|setting| drop(server.sql(&statement(setting))));
        server.sql("SELECT pg_reload_conf()");
    }
}

fn fill(sql: &Sql, from: u64, to: u64) -> Result<(), String> {
    let mut progress = Progress::new("filling");
    let now = now().to_string();
    let mut done = from;
    while done < to {
        let next = (done + STEP).min(to);
        let script = FILL.replace(":from", &done.to_string()).replace(":to", &next.to_string()).replace(":now", &now);
        sql.run(&format!("BEGIN; {script} COMMIT"))?;
        done = next;
        progress.say(|| format!("{done} of {to} originals"));
    }
    // Filling may take longer than the retention period of sessions. The rest is the state in which the server's
    // maintenance leaves the tables sooner or later.
    sql.run("UPDATE sessions SET last_seen = moment(NULL)")?;
    sql.run("VACUUM ANALYZE").map(drop)?;
    sql.run("CHECKPOINT").map(drop)
}

fn print_sizes(sql: &Sql, originals: u64) -> Result<(), String> {
    let words = ["table", "rows", "MB", "indexes, MB", "KB for 1,000 originals", "indexes, KB"];
    let mut rows: Vec<Vec<String>> = vec![words.map(str::to_owned).to_vec()];
    let mut all = [0.0; 2];
    let row = |name: &str, count: &str, sizes: [f64; 2]| {
        let thousands = originals as f64 / 1e3;
        let megabytes = sizes.map(|size| shown(size / 1e6));
        let each = sizes.map(|size| shown(size / 1e3 / thousands));
        [name, count].map(str::to_owned).into_iter().chain(megabytes).chain(each).collect()
    };
    for found in sql.run(TABLES)? {
        let size = |column: usize| found[column].parse::<f64>().map_err(|error| format!("{}: {error}", found[column]));
        let sizes = [size(1)?, size(2)?];
        all = [all[0] + sizes[0], all[1] + sizes[1]];
        rows.push(row(&found[0], &found[3], sizes));
    }
    rows.push(row("all", "", all));
    print_table(&rows);
    println!();
    Ok(())
}

fn print_calls(measured: &[(Size, Vec<Call>)]) {
    let sizes = measured.iter().map(|(size, _)| [format!("{}", size.originals), String::new(), String::new()]);
    let words = measured.iter().map(|_| ["p50", "p99", "max"].map(str::to_owned));
    let mut rows: Vec<Vec<String>> = vec![
        ["originals".to_owned()].into_iter().chain(sizes.flatten()).collect(),
        ["milliseconds".to_owned()].into_iter().chain(words.flatten()).collect(),
    ];
    let Some((_, first)) = measured.first() else { return };
    for (index, call) in first.iter().enumerate() {
        let times = measured.iter().filter_map(|(_, calls)| calls.get(index)).flat_map(|call| call.times.three());
        rows.push([call.name.to_owned()].into_iter().chain(times).collect());
    }
    print_table(&rows);
}
