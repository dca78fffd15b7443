//! Tests of the server's query plans and of the duration of a commit.

use std::collections::BTreeSet;
use std::time::Duration;

use concertina::error::Error;
use concertina::reference::{ContentHash, Original};
use concertina::store::{Batch, Store, StoreOptions, TurnStatus};
use concertina_postgres::{PostgresOptions, PostgresStore};

use crate::cluster::{Cluster, options};
use crate::suite::{START, asked_again, batch_of, projection, scope};

/// Inserts 600 sessions with 100 rows in each table. Foreign keys are not checked, because the referenced rows exist.
const FILL: &str = "SET search_path TO plans; SET session_replication_role = replica;
INSERT INTO sessions (session, agent, session_id, agent_id, last_seen)
  SELECT sha256(convert_to('s' || i, 'UTF8')), sha256('main'), 's' || i, 'main', 1700000000000
    FROM generate_series(1, 600) i;
INSERT INTO originals (hash, ref_id, label, size, is_zstd, payload)
  SELECT hash, substr(encode(hash, 'hex'), 1, 16), 'x', length(text), false, text
  FROM (SELECT sha256(convert_to('o' || i, 'UTF8')) AS hash, convert_to('o' || i, 'UTF8') AS text
    FROM generate_series(1, 60000) i) AS all_of_them;
INSERT INTO grants SELECT 1 + id % 600, id, 1700000000000, NULL FROM originals;
INSERT INTO projections (session, block, place, replacement, original, reason)
  SELECT 1 + id % 600, hash, 7, '1', id, 'stale' FROM originals;
INSERT INTO printed SELECT 1 + id % 600, hash, true, id, 0 FROM originals;
INSERT INTO marks SELECT 1 + id % 600, 'pinned', hash, 1700000000000 FROM originals;
INSERT INTO receipts (session, at, kind, tokens_before, tokens_after, detail)
  SELECT 1 + id % 600, 1700000000000, 'admit', 2, 1, '{}' FROM originals;
INSERT INTO turns SELECT 1 + id % 600, hash, 'turn', 1700000000000 FROM originals;
INSERT INTO epochs (session, at, reason, tokens_freed, tokens_rebilled, blocks)
  SELECT 1 + id % 600, 1700000000000, 'stale', 2, 1, 1 FROM originals;
INSERT INTO requests (session, at, is_measured, counted, sent, without, dropped, overhead, fetched, protected, sent_bill,
    without_bill, without_under, without_over)
  SELECT 1 + id % 600, 1700000000000, true, 1, 1, 2, 0, 0, 0, 0, 1, 2, 0, 0 FROM originals;
INSERT INTO fetches (session, at, ref_id, tokens, tool, is_rerun)
  SELECT 1 + id % 600, 1700000000000, ref_id, 1, 'read', false FROM originals;
INSERT INTO folded SELECT 1 + id % 600, id / 600, 'result', 2, 1 FROM originals;
ANALYZE";

/// The number of calls of each kind: enough for the server to switch to generic plans.
const ROUNDS: u64 = 20;
/// The maximum number of blocks of a table and its indexes that the calls may read, with 100 rows of each: twice the
/// measured number, and for grants a third more.
const BLOCKS_MAX: [(&str, u64); 12] = [
    ("epochs", 200),
    ("fetches", 220),
    ("folded", 10),
    ("grants", 4000),
    ("marks", 1800),
    ("originals", 4300),
    ("printed", 2700),
    ("projections", 3400),
    ("receipts", 410),
    ("requests", 48),
    ("sessions", 1700),
    ("turns", 18),
];
/// The number of blocks that a scan of a whole table counts as.
const SCAN: u64 = 1_000_000;

/// Makes the server log the plan of each statement of further connections.
const EXPLAINED: &str = "ALTER ROLE postgres SET session_preload_libraries = 'auto_explain';
ALTER ROLE postgres SET auto_explain.log_min_duration = 0;
ALTER ROLE postgres SET auto_explain.log_nested_statements = on";

/// Fills a new namespace and then runs `removed`.
fn fill(cluster: &Cluster, namespace: &str, removed: &str) {
    drop(cluster.open(namespace));
    cluster.sql(&FILL.replace("plans", namespace));
    if !removed.is_empty() {
        cluster.sql(&format!("SET search_path TO {namespace}; {removed}"));
    }
}

/// Returns the tables that `call` scans: by the server's counters, and by its plans.
fn tables_read(cluster: &Cluster, namespace: &str, call: impl FnOnce(&PostgresStore)) -> [Vec<String>; 2] {
    let before = blocks_read(cluster, namespace);
    cluster.sql(EXPLAINED);
    let begin = cluster.log().len();
    call(&cluster.open(namespace));
    let plans = cluster.log().split_off(begin);
    cluster.sql("ALTER ROLE postgres RESET ALL");
    let after = blocks_read(cluster, namespace);
    assert_eq!((before.len(), after.len()), (BLOCKS_MAX.len(), BLOCKS_MAX.len()));
    let read = before.into_iter().zip(after).map(|((table, before), (_, after))| (table, (after - before) / ROUNDS));
    let read: Vec<(String, u64)> = read.collect();
    println!("blocks read in a round: {read:?}");
    let too_many = read.into_iter().zip(BLOCKS_MAX).filter(|((table, blocks), (name, most))| {
        assert_eq!(table, name);
        blocks > most
    });
    let counted = too_many.map(|((table, _), _)| table).collect();
    assert!(plans.contains("Query Text: "), "{plans}");
    let is_scanned = |table: &str| {
        plans.contains(&format!("Seq Scan on {table} ")) || plans.contains(&format!("Seq Scan on {namespace}.{table} "))
    };
    let planned =
        BLOCKS_MAX.iter().map(|(table, _)| *table).filter(|table| is_scanned(table)).map(str::to_owned).collect();
    [counted, planned]
}

/// Returns the number of blocks of each table and its indexes that were read so far, plus [`SCAN`] for each scan of the
/// table.
fn blocks_read(cluster: &Cluster, namespace: &str) -> Vec<(String, u64)> {
    // A session reports its counters when it ends, or after a second.
    std::thread::sleep(Duration::from_millis(1500));
    let rows = cluster.sql(&format!(
        "SELECT relname || ' ' || heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit + {SCAN} * seq_scan
         FROM pg_statio_user_tables JOIN pg_stat_user_tables USING (relid, relname)
           WHERE pg_stat_user_tables.schemaname = '{namespace}'
         AND relname IN ({}) ORDER BY relname",
        BLOCKS_MAX.map(|(table, _)| format!("'{table}'")).join(", ")
    ));
    rows.iter()
        .map(|row| row.split_once(' ').map(|(table, blocks)| (table.to_owned(), blocks.parse().unwrap())).unwrap())
        .collect()
}

#[test]
fn no_frequent_call_scans_a_whole_table() {
    let Some(cluster) = Cluster::start() else { return };
    fill(&cluster, "plans", "");
    assert_eq!(tables_read(&cluster, "plans", call_often), [[""; 0]; 2]);
    // Each check detects its fault: a scan, and a longer way through another index.
    let [_, planned] = tables_read(&cluster, "plans", |store| drop(store.stats(None).unwrap()));
    assert!(planned.contains(&"originals".to_owned()), "{planned:?}");
    fill(&cluster, "without", "DROP INDEX grants_by_original; DROP INDEX receipts_by_session");
    let [counted, _] = tables_read(&cluster, "without", call_often);
    assert_eq!(counted, ["grants", "receipts"]);
}

#[test]
fn a_commit_at_the_limit_reads_no_grants_of_held_sessions() {
    let Some(cluster) = Cluster::start() else { return };
    fill(&cluster, "held", "");
    cluster.sql(
        "SET search_path TO held; UPDATE sessions SET held = TRUE; INSERT INTO usage VALUES (60000, 1000000); ANALYZE",
    );
    let limited = PostgresOptions { store: StoreOptions { max_bytes: 1_000_000, ..options().store }, ..options() };
    let store = PostgresStore::open(&cluster.url(), "held", limited).unwrap();
    let refused = || {
        let batch = batch_of(&store, vec![Original::text("one more", "test")]);
        for _ in 0..ROUNDS {
            let error = store.commit(&scope("main", "s1"), &batch, START).unwrap_err();
            assert!(matches!(error, Error::StoreFull { .. }), "{error}");
        }
    };
    let of_grants = |blocks: Vec<(String, u64)>| blocks.into_iter().find(|(table, _)| table == "grants").unwrap().1;
    refused();
    let before = of_grants(blocks_read(&cluster, "held"));
    refused();
    let read = of_grants(blocks_read(&cluster, "held")) - before;
    // These are reads of rows that a commit writes before it is refused. All grants fill about 600 blocks.
    assert!(read <= 100 * ROUNDS, "{read}");
}

/// Makes the calls of every turn.
fn call_often(store: &PostgresStore) {
    for round in 0..ROUNDS {
        let me = scope("main", &format!("s{}", 1 + round));
        let hash = ContentHash::of(format!("o{}", 1 + round).as_bytes());
        assert!(store.get(&hash.to_ref_id(16), "main", START).unwrap().is_some());
        assert_eq!(store.get(&hash.to_ref_id(16), "other", START).unwrap(), None);
        assert_eq!(store.get_all(&[hash.to_ref_id(16), hash.to_ref_id(20)], "main", START).unwrap().len(), 2);
        assert!(!store.is_off(&me).unwrap());
        let ledger = store.ledger(&me).unwrap();
        assert_eq!(ledger.projections.len(), 100);
        let in_context: BTreeSet<_> = ledger.projections.iter().map(|row| row.original).collect();
        let warm = Batch { in_context: Some(in_context.clone()), ..Batch::after(&ledger) };
        store.commit(&me, &warm, START).unwrap();
        let text = format!("new {round}");
        let batch = Batch {
            projections: vec![projection(&text, "1", &text)],
            withdrawn: vec![ledger.projections[0].block],
            in_context: Some(in_context),
            since: ledger.version,
            asked_again: vec![asked_again(hash.to_ref_id(16).as_str(), 1)],
            ..batch_of(store, vec![Original::text(&text, "test")])
        };
        assert_eq!(store.commit(&me, &batch, START).unwrap(), batch.projections);
        let turn = format!("{round}").as_str().into();
        assert_eq!(store.commit_turn(&me, &turn, START).unwrap(), TurnStatus::Committed);
        store.recent(&me, START).unwrap();
        store.inherit(&me, &scope("main", &format!("child of s{}", 1 + round)), None, START).unwrap();
    }
}
