//! Tests with processes that are killed, and with concurrent writers: this test binary runs itself as the writer.
//!
//! A child puts batches and prints one line per batch, each only after `commit` returned. So every line that the parent
//! has read names content that must exist, whenever the child was killed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use concertina::reference::{ContentHash, Original};
use concertina::store::{Batch, BlockKey, Projection, SqliteStore, Store, StoreOptions};

use crate::suite::{START, batch_of, scope};

const DIR: &str = "CONCERTINA_TEST_STORE_DIR";
const WRITER: &str = "CONCERTINA_TEST_STORE_WRITER";
const BATCHES: &str = "CONCERTINA_TEST_STORE_BATCHES";
/// The variable with the number of killed writers; a thousand before a release.
const KILLS: &str = "CONCERTINA_KILLS";
/// Set in the process that kills. What that process learns about crashes applies to the whole process, so other tests
/// must not run in it.
const ALONE: &str = "CONCERTINA_TEST_ALONE";

/// A Xorshift generator, so that a failing run can be repeated.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn patient() -> StoreOptions {
    StoreOptions { busy_timeout_ms: 30_000, ..StoreOptions::default() }
}

/// Returns the texts of one batch: some that compress and one that does not, from one byte to about 100 kB.
fn texts(writer: u64, batch: u64) -> Vec<String> {
    let mut dice = Dice((writer + 1) << 32 | (batch + 1));
    let mut texts: Vec<String> = (0..3)
        .map(|i| format!("{writer}.{batch}.{i} a line of output\n").repeat(1 + dice.below(300) as usize))
        .collect();
    let noise = 1 + dice.below(if batch.is_multiple_of(7) { 100_000 } else { 5_000 });
    let noise: String = (0..noise).map(|_| char::from(b' ' + dice.below(95) as u8)).collect();
    texts.push(format!("{writer}.{batch} {noise}"));
    texts
}

fn batch(store: &dyn Store, writer: u64, number: u64) -> Batch {
    let originals: Vec<Original> = texts(writer, number).iter().map(|text| Original::text(text, "test")).collect();
    let projections = originals
        .iter()
        .map(|original| Projection {
            block: BlockKey { hash: original.hash, place: 0 },
            replacement: format!("\"{writer}.{number}\""),
            original: original.hash,
            reason: "stale".into(),
        })
        .collect();
    Batch { projections, ..batch_of(store, originals) }
}

/// The code of the child process. It does nothing in an ordinary run of the tests.
#[test]
#[ignore = "runs only as a child of the tests below"]
fn write_until_killed() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let number = |name| std::env::var(name).unwrap().parse::<u64>().unwrap();
    let (writer, batches) = (number(WRITER), number(BATCHES));
    let store = SqliteStore::open(Path::new(&dir), patient()).unwrap();
    let me = scope("main", &format!("writer {writer}"));
    for i in 0..batches {
        let batch = batch(&store, writer, i);
        store.commit(&me, &batch, START).unwrap();
        store.commit_turn(&me, &i.to_string().as_str().into(), START).unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "\nacknowledged {writer} {i}").unwrap();
        out.flush().unwrap();
    }
}

/// Starts a writer and returns it with the numbers of the batches that it acknowledges.
fn spawn_writer(dir: &Path, writer: u64, batches: u64) -> (Child, Receiver<u64>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "crash::write_until_killed", "--nocapture", "--test-threads=1"])
        .env(DIR, dir)
        .env(WRITER, writer.to_string())
        .env(BATCHES, batches.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).split(b'\n');
    let (send, acknowledged) = channel();
    let prefix = format!("acknowledged {writer} ");
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned();
            // An incomplete last line may be truncated, for example "1" instead of "12". The writer acknowledged 1 long
            // before.
            if let Some(number) = line.strip_prefix(&prefix).and_then(|number| number.parse().ok())
                && send.send(number).is_err()
            {
                return;
            }
        }
    });
    (child, acknowledged)
}

fn assert_readable(store: &dyn Store, writer: u64, number: u64) {
    for text in texts(writer, number) {
        let hash = ContentHash::of(text.as_bytes());
        let (_, original) = store
            .get(&hash.to_ref_id(16), "main", START)
            .unwrap()
            .unwrap_or_else(|| panic!("batch {number} of writer {writer} was acknowledged and is lost"));
        assert_eq!(original.bytes, text.as_bytes());
    }
}

/// Reads the file without the store: all references exist, and all content matches its hash.
fn assert_consistent(dir: &Path) {
    let connection = rusqlite::Connection::open(dir.join("concertina.sqlite")).unwrap();
    let text = |sql: &str| connection.query_row(sql, (), |row| row.get::<_, String>(0)).unwrap();
    let count = |sql: &str| connection.query_row(sql, (), |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(text("PRAGMA integrity_check"), "ok");
    assert_eq!(count("SELECT count(*) FROM pragma_foreign_key_check"), 0);
    assert_eq!(count("SELECT count(*) FROM projections WHERE original NOT IN (SELECT id FROM originals)"), 0);
    assert_eq!(count("SELECT count(*) FROM originals WHERE id NOT IN (SELECT original FROM projections)"), 0);
    assert!(count("SELECT count(*) FROM projections") > 0);
}

#[test]
fn a_kill_at_any_moment_loses_nothing_acknowledged() {
    if std::env::var_os(ALONE).is_none() {
        let me = ["--exact", "crash::a_kill_at_any_moment_loses_nothing_acknowledged", "--nocapture"];
        assert!(Command::new(std::env::current_exe().unwrap()).args(me).env(ALONE, "").status().unwrap().success());
        return;
    }
    let kills: u64 = std::env::var(KILLS).map_or(60, |kills| kills.parse().expect("CONCERTINA_KILLS is a number"));
    let dir = tempfile::tempdir().unwrap();
    let mut dice = Dice(0x5eed);
    let mut acknowledged: Vec<(u64, u64)> = Vec::new();
    for round in 0..kills.div_ceil(2) {
        // Two writers work concurrently, and both are killed.
        let writers = [2 * round, 2 * round + 1].map(|writer| (writer, spawn_writer(dir.path(), writer, u64::MAX)));
        // Every fourth round they are killed at any time after their start, perhaps while they open the file; otherwise
        // while they write.
        if round % 4 != 0 {
            for (writer, (_, lines)) in &writers {
                let first = lines.recv_timeout(Duration::from_secs(60)).expect("a writer acknowledges its first batch");
                acknowledged.push((*writer, first));
            }
        }
        let earlier = acknowledged.len();
        for (writer, (mut child, lines)) in writers {
            std::thread::sleep(Duration::from_micros(dice.below(40_000)));
            child.kill().unwrap();
            child.wait().unwrap();
            acknowledged.extend(lines.into_iter().map(|number| (writer, number)));
        }
        let store = SqliteStore::open(dir.path(), patient()).unwrap();
        for &(writer, number) in &acknowledged[earlier.saturating_sub(2)..] {
            assert_readable(&store, writer, number);
        }
    }
    let store = SqliteStore::open(dir.path(), patient()).unwrap();
    for &(writer, number) in &acknowledged {
        assert_readable(&store, writer, number);
    }
    println!("{kills} kills, {} batches of 4 originals acknowledged, none lost", acknowledged.len());
    drop(store);
    assert_consistent(dir.path());
}

#[test]
fn processes_that_write_at_once_lose_nothing() {
    const WRITERS: u64 = 3;
    const EACH: u64 = 40;
    let dir = tempfile::tempdir().unwrap();
    // The file does not exist yet, so the writers race for its creation too.
    let writers: Vec<_> = (0..WRITERS).map(|writer| spawn_writer(dir.path(), writer, EACH)).collect();
    let store = SqliteStore::open(dir.path(), patient()).unwrap();
    for (writer, (mut child, lines)) in writers.into_iter().enumerate() {
        assert!(child.wait().unwrap().success());
        assert_eq!(lines.into_iter().collect::<Vec<_>>(), (0..EACH).collect::<Vec<_>>());
        for number in 0..EACH {
            assert_readable(&store, writer as u64, number);
        }
    }
    let stats = store.stats(None).unwrap();
    assert_eq!((stats.sessions, stats.turns, stats.originals), (WRITERS, WRITERS * EACH, WRITERS * EACH * 4));
    drop(store);
    assert_consistent(dir.path());
}
