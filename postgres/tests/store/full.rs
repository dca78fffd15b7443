//! Tests with a server that has no space on its disk, no free connection, or no space within the store's size limit.

use std::path::Path;
use std::process::Command;
use std::sync::Barrier;

use concertina::error::Error;
use concertina::reference::{ContentHash, Original, RefId};
use concertina::store::{Batch, Store, StoreOptions};
use concertina_postgres::{PostgresOptions, PostgresStore};

use crate::cluster::{Cluster, give_to_server, options};
use crate::suite::{START, batch_of, scope};

/// A small disk, which is unmounted at the end.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// Prints a line and returns `None` if mounting is not permitted.
    fn mount(megabytes: u32) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let size = format!("size={megabytes}m");
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(dir.path());
        if !command.output().is_ok_and(|output| output.status.success()) {
            println!("not run: {}: a small disk cannot be mounted", std::thread::current().name().unwrap_or("a test"));
            return None;
        }
        let disk = Self(dir);
        let data = disk.path();
        std::fs::create_dir(&data).unwrap();
        std::fs::set_permissions(&data, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        give_to_server(disk.0.path());
        give_to_server(&data);
        Some(disk)
    }

    /// Returns a folder on the disk.
    fn path(&self) -> std::path::PathBuf {
        self.0.path().join("data")
    }

    fn enlarge(&self, megabytes: u32) {
        let size = format!("remount,size={megabytes}m");
        assert!(Command::new("mount").args(["-o", &size]).arg(self.0.path()).status().unwrap().success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, because the server of a panicking test still uses it.
        let unmounted = Command::new("umount").arg("-l").arg(self.0.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()) || std::thread::panicking());
    }
}

/// Returns incompressible bytes.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    (0..length.div_ceil(32) as u64).flat_map(|part| ContentHash::of(format!("{seed} {part}").as_bytes()).0).collect()
}

fn original(seed: u64, length: usize) -> Original {
    Original::image(noise(seed, length), "image/png", "noise")
}

/// Commits until a commit fails. Returns the acknowledged originals and the error.
fn fill(store: &PostgresStore, from: u64) -> (Vec<(RefId, Original)>, Error) {
    let mut acknowledged = Vec::new();
    for seed in from..from + 5000 {
        let batch = match store.ref_ids(&[original(seed, 30_000).hash]) {
            Ok(mut ids) => Batch { originals: vec![(ids.remove(0), original(seed, 30_000))], ..Batch::default() },
            Err(error) => return (acknowledged, error),
        };
        match store.commit(&scope("main", "s"), &batch, START) {
            Ok(_) => acknowledged.extend(batch.originals),
            Err(error) => return (acknowledged, error),
        }
    }
    panic!("the disk does not fill up");
}

fn assert_there(store: &PostgresStore, acknowledged: &[(RefId, Original)]) {
    assert!(acknowledged.len() > 10, "{}", acknowledged.len());
    for (id, original) in acknowledged {
        assert_eq!(store.get(id, "main", START).unwrap(), Some((id.clone(), original.clone())));
    }
}

#[test]
fn a_full_disk_is_an_error_that_says_so_and_loses_nothing() {
    let Some(disk) = SmallDisk::mount(6) else { return };
    let Some(cluster) = Cluster::start() else { return };
    cluster.sql(&format!("CREATE TABLESPACE small LOCATION '{}'", disk.path().display()));
    cluster.sql("ALTER ROLE postgres SET default_tablespace = small");
    let store = cluster.open("full");
    let (acknowledged, error) = fill(&store, 0);
    println!("{} originals of 30 KB, then: {error}", acknowledged.len());
    assert!(matches!(error, Error::StoreFull { .. }), "{error}");
    assert!(error.to_string().contains("No space left on device"), "{error}");
    // Reads still work, and a refused commit leaves nothing behind.
    assert_there(&store, &acknowledged);
    assert_eq!(store.stats(None).unwrap().originals, acknowledged.len() as u64);
    disk.enlarge(64);
    store.commit(&scope("main", "s"), &batch_of(&store, vec![original(9_999, 30_000)]), START).unwrap();
    assert_there(&store, &acknowledged);
}

#[test]
fn a_full_disk_of_the_log_ends_the_server_and_loses_nothing() {
    let Some(disk) = SmallDisk::mount(10) else { return };
    let path = disk.path().display().to_string();
    let Some(mut cluster) = Cluster::make(&["-X", &path, "--wal-segsize=1"]) else { return };
    cluster.configure("max_wal_size = 1GB\ncheckpoint_timeout = 1h");
    cluster.first_up();
    let store = cluster.open("log");
    let (acknowledged, error) = fill(&store, 0);
    println!("{} originals of 30 KB, then: {error}", acknowledged.len());
    assert!(matches!(error, Error::StoreFull { .. } | Error::StoreUnavailable { .. }), "{error}");
    disk.enlarge(64);
    // The server recovers by itself or has ended.
    for _ in 0..100 {
        if cluster.is_up() || cluster.try_up() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_there(&store, &acknowledged);
    store.commit(&scope("main", "s"), &batch_of(&store, vec![original(u64::MAX, 30_000)]), START).unwrap();
}

#[test]
fn no_more_connections_than_allowed_is_an_error_that_says_so() {
    let Some(cluster) =
        Cluster::start_with("max_connections = 8\nsuperuser_reserved_connections = 3\nmax_wal_senders = 0")
    else {
        return;
    };
    drop(cluster.open("many"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("roles.sql");
    cluster.psql(&script, &["namespace=many", "role=worker"]);
    cluster.sql("ALTER ROLE worker LOGIN CONNECTION LIMIT 2");
    let patience = std::time::Duration::from_millis(500);
    let brief = PostgresOptions { connect_timeout: patience, ..options() };
    let open = || PostgresStore::open(&cluster.url_of("worker"), "many", brief.clone());
    let until_refused = |words: &str| {
        let mut stores = Vec::new();
        let error = loop {
            match open() {
                Ok(store) => stores.push(store),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, Error::StoreUnavailable { .. }), "{error}");
        assert!(error.to_string().contains(words) && !error.to_string().contains("hidden"), "{error}");
        assert!(error.to_string().ends_with("; waited 500 ms"), "{error}");
        let count = stores.len();
        stores.pop();
        // The server counts a connection until its process has ended.
        let again = (0..100).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            open().ok()
        });
        assert!(again.is_some());
        count
    };
    assert_eq!(until_refused("too many connections for role"), 2);
    cluster.sql("ALTER ROLE worker CONNECTION LIMIT -1");
    assert!(until_refused("connection slots") >= 3);
}

#[test]
fn commits_at_once_exceed_the_limit_by_no_more_than_they_hold() {
    const WRITERS: u64 = 4;
    const SIZE: usize = 50_000;
    const LIMIT: u64 = 1_000_000;
    let Some(cluster) = Cluster::start() else { return };
    let limited = PostgresOptions { store: StoreOptions { max_bytes: LIMIT, ..options().store }, ..options() };
    let open = || PostgresStore::open(&cluster.url(), "limit", limited.clone()).unwrap();
    let barrier = Barrier::new(WRITERS as usize);
    let acknowledged: Vec<(RefId, Original)> = std::thread::scope(|threads| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (barrier, store) = (&barrier, open());
                threads.spawn(move || {
                    let mut acknowledged = Vec::new();
                    barrier.wait();
                    for number in 0..20 {
                        let batch = batch_of(&store, vec![original(writer << 32 | number, SIZE)]);
                        match store.commit(&scope("main", &format!("s{writer}")), &batch, START) {
                            Ok(_) => acknowledged.extend(batch.originals),
                            Err(error) => assert!(matches!(error, Error::StoreFull { .. }), "{error}"),
                        }
                    }
                    acknowledged
                })
            })
            .collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let store = open();
    let stored = store.stats(None).unwrap().stored_bytes;
    println!("{} of {} commits fit: {stored} bytes", acknowledged.len(), WRITERS * 20);
    assert!(stored <= LIMIT + (WRITERS - 1) * SIZE as u64 + 10_000, "{stored}");
    assert!(stored > LIMIT - 2 * SIZE as u64, "{stored}");
    // Everything is shown, so nothing was evicted, and nothing more fits.
    assert_eq!(acknowledged.len() as u64, store.stats(None).unwrap().originals);
    assert_there(&store, &acknowledged);
    let batch = batch_of(&store, vec![original(u64::MAX, 2 * SIZE)]);
    assert!(matches!(store.commit(&scope("main", "s"), &batch, START), Err(Error::StoreFull { .. })));
    // Originals that the sessions no longer show can be evicted.
    let nothing = Batch { in_context: Some(std::collections::BTreeSet::new()), ..Batch::default() };
    for writer in 0..WRITERS {
        store.commit(&scope("main", &format!("s{writer}")), &nothing, START).unwrap();
    }
    store.commit(&scope("main", "s"), &batch, START).unwrap();
    assert!(store.stats(None).unwrap().stored_bytes <= LIMIT);
}
