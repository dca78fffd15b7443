//! Tests of the file of the SQLite store, and of unexpected files.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use concertina::error::{Error, Result};
use concertina::reference::{ContentHash, Original, RefId};
use concertina::store::{Batch, SqliteStore, Store, StoreOptions};
use rusqlite::Connection;

use crate::suite::{EXPIRED, START, batch_of, context, options, put, scope};

const FILE: &str = "concertina.sqlite";

fn open(dir: &Path) -> Result<SqliteStore> {
    SqliteStore::open(dir, StoreOptions { busy_timeout_ms: 50, ..options() })
}

fn sql(dir: &Path) -> Connection {
    Connection::open(dir.join(FILE)).unwrap()
}

/// Returns incompressible bytes.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        (0..).map(|i| ContentHash::of(format!("{seed} {i}").as_bytes()).0).take(length / 32).flatten().collect();
    bytes.extend(vec![0; length % 32]);
    bytes
}

fn image(seed: u64, length: usize) -> Original {
    Original::image(noise(seed, length), "image/png", seed.to_string())
}

fn exists(store: &SqliteStore, original: &Original) -> bool {
    store.get(&original.hash.to_ref_id(16), "main", START).unwrap().is_some()
}

#[cfg(unix)]
#[test]
fn directory_and_files_are_for_the_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("deep/store");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let store = open(&dir).unwrap();
    put(&store, &scope("main", "s"), vec![Original::text("text", "test")], START);
    assert_eq!(mode(&dir), 0o700);
    for name in [FILE, "concertina.sqlite-wal", "concertina.sqlite-shm", "concertina.lock"] {
        assert_eq!(mode(&dir.join(name)), 0o600, "{name}");
    }
    drop(store);
    let names = [FILE, "concertina.sqlite-wal", "concertina.sqlite-shm", "concertina.lock", "concertina.crashes"];
    fs::write(dir.join("concertina.crashes"), "").unwrap();
    for name in names {
        fs::set_permissions(dir.join(name), fs::Permissions::from_mode(0o644)).unwrap();
    }
    let store = open(&dir).unwrap();
    for name in names {
        assert_eq!(mode(&dir.join(name)), 0o600, "{name}");
    }
    let notices = store.notices();
    assert!(notices.len() == 1 && names.iter().all(|name| notices[0].contains(name)), "{notices:?}");
    drop(store);
    assert!(open(&dir).unwrap().notices().is_empty());
}

#[test]
fn the_file_syncs_every_commit_and_can_shrink() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()).unwrap());
    let read = |pragma| {
        sql(dir.path()).pragma_query_value(None, pragma, |row| row.get::<_, rusqlite::types::Value>(0)).unwrap()
    };
    assert_eq!(read("journal_mode"), "wal".to_owned().into());
    assert_eq!(read("auto_vacuum"), 2.into());
}

#[test]
fn a_directory_that_is_a_file_is_unavailable() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("taken");
    fs::write(&path, "text").unwrap();
    for dir in [path.clone(), path.join("below")] {
        let error = open(&dir).unwrap_err();
        assert!(matches!(&error, Error::StoreUnavailable { path, .. } if path.contains("taken")), "{error}");
    }
    assert_eq!(fs::read(&path).unwrap(), b"text");
    fs::create_dir_all(root.path().join("store").join(FILE)).unwrap();
    assert!(matches!(open(&root.path().join("store")), Err(Error::StoreUnavailable { .. })));
}

#[test]
fn a_file_that_is_not_ours_is_named_and_left_as_it_is() {
    let foreign = tempfile::tempdir().unwrap();
    sql(foreign.path()).execute_batch("CREATE TABLE t (x); PRAGMA user_version = 1").unwrap();
    let garbage = tempfile::tempdir().unwrap();
    fs::write(garbage.path().join(FILE), noise(1, 10_000)).unwrap();
    let text = tempfile::tempdir().unwrap();
    fs::write(text.path().join(FILE), "notes").unwrap();
    for (dir, found) in [
        (foreign, "another program's database, with application id 0x00000000 and 1 tables"),
        (garbage, "not a database"),
        (text, "not a database"),
    ] {
        let path = dir.path().join(FILE);
        let before = fs::read(&path).unwrap();
        match open(dir.path()) {
            Err(Error::StoreDamaged { path: named, reason }) => {
                assert_eq!(named, path.display().to_string());
                assert!(reason.contains(found), "{reason}");
            }
            other => panic!("{found}: {other:?}"),
        }
        assert_eq!(fs::read(&path).unwrap(), before, "{found}");
    }
}

#[test]
fn a_file_of_a_newer_version_is_said_to_be_one_and_never_set_aside() {
    let no_sql = "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES ('view', 'v', 'v', 0, 'CREATE VIEW v AS SELECT FROM')";
    // The schema of the second file cannot be read by this version.
    for further in ["", no_sql] {
        let dir = tempfile::tempdir().unwrap();
        drop(open(dir.path()).unwrap());
        let newer = format!("PRAGMA user_version = 8; PRAGMA journal_mode = DELETE; {further}");
        sql(dir.path()).execute_batch(&newer).unwrap();
        let before = fs::read(dir.path().join(FILE)).unwrap();
        let names =
            || fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect::<BTreeSet<_>>();
        let names_before = names();
        let aside = SqliteStore::open_or_set_aside(dir.path(), options(), "2026-01-31").map(drop);
        for opened in [open(dir.path()).map(drop), aside] {
            let error = opened.unwrap_err();
            assert_eq!(error.code(), "CONCERTINA_STORE_NEWER", "{error}");
            assert_eq!(
                error.to_string(),
                format!(
                    "the store at {} was written by a newer version: its schema version is 8 (known: 1); \
                     update this program and start it again, or use another directory",
                    dir.path().join(FILE).display()
                )
            );
        }
        assert_eq!(fs::read(dir.path().join(FILE)).unwrap(), before);
        assert_eq!(names(), names_before);
    }
}

#[test]
fn a_truncated_file_is_damaged_and_never_panics() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    let original = image(1, 200_000);
    put(&store, &scope("main", "s"), vec![original.clone()], START);
    drop(store);
    let whole = fs::read(dir.path().join(FILE)).unwrap();
    for length in [1, 99, 100, 511, 4095, 4096, whole.len() / 2, whole.len() - 1] {
        let cut = tempfile::tempdir().unwrap();
        fs::write(cut.path().join(FILE), &whole[..length]).unwrap();
        let read = open(cut.path()).and_then(|store| store.get(&original.hash.to_ref_id(16), "main", START));
        assert!(matches!(read, Err(Error::StoreDamaged { .. })), "{length}: {:?}", read.map(|_| "bytes"));
    }
}

#[test]
fn a_file_without_its_tables_is_damaged() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()).unwrap());
    sql(dir.path()).execute_batch("DROP TABLE printed").unwrap();
    let ledger = open(dir.path()).unwrap();
    let batch = batch_of(&ledger, vec![Original::text("text", "test")]);
    ledger.commit(&scope("main", "s"), &batch, START).unwrap();
    let error = ledger.ledger(&scope("main", "s")).unwrap_err();
    assert!(matches!(&error, Error::StoreDamaged { reason, .. } if reason.contains("printed")), "{error}");
}

#[test]
fn an_altered_original_is_reported_and_never_returned() {
    let dir = tempfile::tempdir().unwrap();
    let text = "a line that compresses\n".repeat(100);
    let (packed, raw) = (Original::text(&text, "test"), image(1, 5000));
    let ids = put(&open(dir.path()).unwrap(), &scope("main", "s"), vec![packed, raw], START);
    let connection = sql(dir.path());
    for id in &ids {
        let read = "SELECT payload FROM originals WHERE ref_id = ?1";
        let mut payload: Vec<u8> = connection.query_row(read, (id.as_str(),), |row| row.get(0)).unwrap();
        payload[19] ^= 1;
        connection.execute("UPDATE originals SET payload = ?2 WHERE ref_id = ?1", (id.as_str(), payload)).unwrap();
    }
    let store = open(dir.path()).unwrap();
    for id in ids {
        match store.get(&id, "main", START) {
            Err(Error::OriginalDamaged { ref_id, found }) => {
                assert_eq!(ref_id, id.as_str());
                assert!(!found.starts_with(id.as_str()));
            }
            other => panic!("{:?}", other.map(|_| "bytes")),
        }
    }
}

#[test]
fn a_lock_held_elsewhere_is_an_error_after_the_wait_and_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    let me = scope("main", "s");
    let known = put(&store, &me, vec![Original::text("known", "test")], START);
    let batch = batch_of(&store, vec![Original::text("text", "test")]);
    let other = sql(dir.path());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.commit(&me, &batch, START).unwrap_err();
    assert!(matches!(error, Error::StoreLocked { waited_ms: 50, .. }), "{error}");
    assert!(matches!(store.commit_turn(&me, &"1".into(), START), Err(Error::StoreLocked { .. })));
    // Reads still work, and so does a turn that changes nothing.
    assert!(store.get(&known[0], "main", START).unwrap().is_some());
    let same = Batch { in_context: context(&["known"]).in_context, ..Batch::after(&store.ledger(&me).unwrap()) };
    store.commit(&me, &same, START).unwrap();
    other.execute_batch("ROLLBACK").unwrap();
    store.commit(&me, &batch, START).unwrap();
    assert!(store.get(&batch.originals[0].0, "main", START).unwrap().is_some());
}

#[test]
fn a_closed_store_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    put(&store, &scope("main", "s"), vec![Original::text("text", "test")], START);
    store.close();
    store.close();
    assert!(matches!(store.stats(None), Err(Error::Closed)));
    assert!(matches!(store.commit(&scope("main", "s"), &Batch::default(), START), Err(Error::Closed)));
    assert_eq!(fs::metadata(dir.path().join("concertina.sqlite-wal")).unwrap().len(), 0);
    assert_eq!(open(dir.path()).unwrap().stats(None).unwrap().originals, 1);
}

#[test]
fn a_cut_off_creation_is_finished() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(FILE), "").unwrap();
    drop(open(dir.path()).unwrap());
    let dir = tempfile::tempdir().unwrap();
    sql(dir.path()).execute_batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL").unwrap();
    assert!(fs::metadata(dir.path().join(FILE)).unwrap().len() > 0);
    assert_eq!(open(dir.path()).unwrap().stats(None).unwrap().originals, 0);
}

/// Stores a row whose hash shares the first digits of `hash`, which no test can find by trial.
fn forge_neighbour(dir: &Path, hash: ContentHash, byte: usize, id_digits: usize) -> ContentHash {
    let mut near = hash;
    near.0[byte] ^= 1;
    sql(dir)
        .execute(
            "INSERT INTO originals (hash, ref_id, label, size, is_zstd, payload) VALUES (?1, ?2, '', 0, 0, x'')",
            (near.0, near.to_ref_id(id_digits).as_str()),
        )
        .unwrap();
    near
}

#[test]
fn a_collision_lengthens_the_later_id_and_keeps_the_earlier() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    let original = Original::text("text", "test");
    let near = forge_neighbour(dir.path(), original.hash, 8, 16);
    let id = original.hash.to_ref_id(18);
    assert_eq!(store.ref_ids(&[original.hash, near]).unwrap(), [id.clone(), near.to_ref_id(16)]);
    let ids = put(&store, &scope("main", "s"), vec![original.clone()], START);
    assert_eq!(ids, std::slice::from_ref(&id));
    // The short id was issued for the other original, which this agent may not see.
    for (digits, expected) in [(16, None), (17, None), (18, Some(&id)), (40, Some(&id)), (64, Some(&id))] {
        let found = store.get(&original.hash.to_ref_id(digits), "main", START).unwrap();
        assert_eq!(found.as_ref().map(|(id, _)| id), expected, "{digits}");
    }
    // The id stays when the other original is removed.
    sql(dir.path()).execute("DELETE FROM originals WHERE hash = ?1", (near.0,)).unwrap();
    assert_eq!(store.ref_ids(&[original.hash]).unwrap(), [id]);
}

#[test]
fn an_id_that_another_process_took_meanwhile_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    let me = scope("main", "s");
    let original = Original::text("text", "test");
    let batch = batch_of(&store, vec![original.clone()]);
    forge_neighbour(dir.path(), original.hash, 8, 16);
    assert!(matches!(store.commit(&me, &batch, START), Err(Error::BadArgument { .. })));
    assert!(!exists(&store, &original));
    let again = batch_of(&store, vec![original.clone()]);
    assert_eq!(again.originals[0].0.as_str().len(), 18);
    store.commit(&me, &again, START).unwrap();
    // An earlier id is now too short. A longer one still means the same original.
    assert!(store.commit(&me, &batch, START).is_err());
    let longer = Batch { originals: vec![(original.hash.to_ref_id(30), original.clone())], ..Batch::default() };
    store.commit(&me, &longer, START).unwrap();
    let full = RefId::parse(&original.hash.to_hex()).unwrap();
    assert_eq!(store.get(&full, "main", START).unwrap().unwrap().0, again.originals[0].0);
}

#[test]
fn a_sweep_makes_the_file_shorter() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    let size = || fs::metadata(dir.path().join(FILE)).unwrap().len();
    let me = scope("main", "s");
    // More rows than one step removes.
    let originals: Vec<Original> = (0..600).map(|i| image(i, 10_000)).collect();
    put(&store, &me, originals, START);
    store.sweep(START).unwrap();
    let full = size();
    assert!(full > 6_000_000);
    let removed = store.sweep(START + EXPIRED).unwrap();
    assert_eq!((removed.originals, removed.sessions), (600, 1));
    assert!(removed.bytes > 6_000_000, "{removed:?}");
    assert_eq!(size(), full - removed.bytes);
    assert!(size() < 200_000, "{}", size());
    assert_eq!(fs::metadata(dir.path().join("concertina.sqlite-wal")).unwrap().len(), 0);
}

#[test]
fn purged_bytes_are_gone_from_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    let secret = "correct horse battery staple";
    put(&store, &scope("main", "keep"), vec![image(1, 50_000)], START);
    put(&store, &scope("main", "s"), vec![Original::text(secret, "secret label")], START);
    let on_disk = |needle: &str| {
        ["", "-wal"].iter().any(|suffix| {
            let bytes = fs::read(dir.path().join(format!("{FILE}{suffix}"))).unwrap();
            bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
        })
    };
    assert!(on_disk(secret) && on_disk("secret label"));
    store.purge(&scope("main", "s")).unwrap();
    assert!(!on_disk(secret) && !on_disk("secret label"));
}

fn small(dir: &Path) -> SqliteStore {
    SqliteStore::open(dir, StoreOptions { max_bytes: 1_500_000, ..options() }).unwrap()
}

#[test]
fn above_the_limit_the_least_recently_referred_goes_first_and_what_is_shown_stays() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    let originals: Vec<Original> = (0..20).map(|i| image(i, 100_000)).collect();
    for (i, original) in (0..).zip(&originals) {
        let session = scope("main", &i.to_string());
        put(&store, &session, vec![original.clone()], START);
        // The oldest three stay in their contexts. The others left theirs, the later ones first.
        if i >= 3 {
            store.commit(&session, &context(&[]), START + 100_000 - i * 1000).unwrap();
        }
    }
    assert_eq!(store.sweep(START + 100_000).unwrap().originals, 0);
    drop(store);
    let removed = small(dir.path()).sweep(START + 100_000).unwrap();
    assert!((5..=8).contains(&removed.originals), "{removed:?}");
    let store = open(dir.path()).unwrap();
    let left: Vec<bool> = originals.iter().map(|original| exists(&store, original)).collect();
    let expected: Vec<bool> = (0..20).map(|i| i < 20 - removed.originals).collect();
    assert_eq!(left, expected);
    assert!(fs::metadata(dir.path().join(FILE)).unwrap().len() <= 1_500_000);
}

#[test]
fn a_put_at_the_limit_makes_room_or_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = small(dir.path());
    let (idle, busy) = (scope("main", "idle"), scope("main", "busy"));
    let gone: Vec<Original> = (0..10).map(|i| image(i, 100_000)).collect();
    put(&store, &idle, gone.clone(), START);
    store.commit(&idle, &context(&[]), START).unwrap();
    let shown: Vec<Original> = (10..22).map(|i| image(i, 100_000)).collect();
    for original in &shown {
        put(&store, &busy, vec![original.clone()], START + 1000);
    }
    assert!(gone.iter().filter(|original| exists(&store, original)).count() < 4);
    let more = image(100, 400_000);
    let batch = batch_of(&store, vec![more.clone()]);
    let error = store.commit(&busy, &batch, START + 2000).unwrap_err();
    assert!(matches!(&error, Error::StoreFull { reason, .. } if reason.contains("1500000")), "{error}");
    assert!(!exists(&store, &more));
    assert!(shown.iter().all(|original| exists(&store, original)));
    assert_eq!(store.sweep(START + 3000).unwrap().sessions, 0);
    assert!(shown.iter().all(|original| exists(&store, original)));
    // A commit that needs no space still succeeds.
    store.commit(&busy, &context(&["none"]), START + 100_000).unwrap();
    store.commit(&busy, &batch, START + 200_000).unwrap();
    assert!(exists(&store, &more));
}
