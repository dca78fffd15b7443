//! Tests with a file or directory that was deleted, replaced or damaged, or is accessible to others.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use concertina::error::Error;
use concertina::reference::{ContentHash, Original};
use concertina::store::{Batch, SqliteStore, Store};
use rusqlite::Connection;

use crate::suite::{EXPIRED, START, batch_of, context, options, projection, put, scope};

const FILE: &str = "concertina.sqlite";

fn open(dir: &Path) -> SqliteStore {
    let store = SqliteStore::open(dir, options()).unwrap();
    // Directories of tests may be accessible to others.
    drop(store.notices());
    store
}

fn is_there(store: &SqliteStore, text: &str) -> bool {
    store.get(&ContentHash::of(text.as_bytes()).to_ref_id(16), "main", START).unwrap().is_some()
}

fn put_text(store: &SqliteStore, text: &str) {
    put(store, &scope("main", "s"), vec![Original::text(text, "test")], START);
}

fn is_sound(dir: &Path) -> bool {
    let connection = Connection::open(dir.join(FILE)).unwrap();
    connection.query_row("PRAGMA integrity_check", (), |row| row.get::<_, String>(0)).unwrap() == "ok"
}

#[test]
fn a_deleted_file_is_noticed_before_anything_is_written_to_it() {
    for names in [&[FILE][..], &[FILE, "concertina.sqlite-wal", "concertina.sqlite-shm", "concertina.lock"]] {
        let dir = tempfile::tempdir().unwrap();
        let (store, other) = (open(dir.path()), open(dir.path()));
        put_text(&store, "before");
        assert!(is_there(&other, "before"));
        names.iter().for_each(|name| fs::remove_file(dir.path().join(name)).unwrap());
        put_text(&store, "after");
        assert!(is_there(&store, "after") && !is_there(&store, "before"));
        assert!(is_there(&other, "after"));
        for noticed in [store.notices(), other.notices()] {
            assert_eq!(noticed.len(), 1, "{noticed:?}");
            assert!(noticed[0].contains("was deleted") || noticed[0].contains("was replaced"), "{noticed:?}");
        }
        assert_eq!(store.notices(), [""; 0]);
        drop((store, other));
        assert!(is_there(&open(dir.path()), "after") && is_sound(dir.path()));
    }
}

#[test]
fn a_deleted_directory_is_made_again() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("store");
    let store = open(&dir);
    put_text(&store, "before");
    fs::remove_dir_all(&dir).unwrap();
    assert!(!is_there(&store, "before"));
    put_text(&store, "after");
    assert_eq!(store.notices().len(), 1);
    drop(store);
    assert!(is_there(&open(&dir), "after"));
}

#[test]
fn a_backup_put_in_place_is_used_and_the_old_log_is_not_played_over_it() {
    let dir = tempfile::tempdir().unwrap();
    let backup = dir.path().join("backup");
    let store = open(dir.path());
    put_text(&store, "old");
    Connection::open(dir.path().join(FILE)).unwrap().execute("VACUUM INTO ?1", [backup.to_str().unwrap()]).unwrap();
    for i in 0..50 {
        put_text(&store, &format!("{i} after the backup ").repeat(500));
    }
    assert!(fs::metadata(dir.path().join("concertina.sqlite-wal")).unwrap().len() > 0, "the log is hot");
    fs::rename(&backup, dir.path().join(FILE)).unwrap();
    assert!(is_there(&store, "old"));
    assert!(!is_there(&store, &"0 after the backup ".repeat(500)));
    put_text(&store, "new");
    assert!(store.notices()[0].contains("was replaced"));
    drop(store);
    assert!(is_sound(dir.path()));
    assert!(is_there(&open(dir.path()), "new"));
}

#[test]
fn a_batch_made_from_another_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let me = scope("main", "s");
    put_text(&store, "text");
    let before = store.ledger(&me).unwrap();
    fs::remove_file(dir.path().join(FILE)).unwrap();
    let replay = |generation| Batch { generation, ..context(&["text"]) };
    let error = store.commit(&me, &replay(before.generation), START).unwrap_err();
    assert!(matches!(error, Error::StoreReplaced { .. }), "{error}");
    assert_eq!(error.code(), "CONCERTINA_STORE_REPLACED");
    assert_eq!(store.stats(None).unwrap().sessions, 0, "nothing was written");
    let after = store.ledger(&me).unwrap();
    assert_ne!(after.generation, before.generation);
    store.commit(&me, &replay(after.generation), START).unwrap();
    // A placeholder whose original was lost with the old file is refused as always.
    let orphan = Batch { projections: vec![projection("block", "\"short\"", "text")], ..replay(after.generation) };
    assert!(matches!(store.commit(&me, &orphan, START), Err(Error::BadArgument { .. })));
}

#[test]
fn a_file_that_a_newer_program_migrates_is_read_on_and_no_longer_written() {
    let dir = tempfile::tempdir().unwrap();
    let (store, me) = (open(dir.path()), scope("main", "s"));
    put_text(&store, "before");
    let sql = |statements: &str| Connection::open(dir.path().join(FILE)).unwrap().execute_batch(statements).unwrap();
    let batch = batch_of(&store, vec![Original::text("after", "test")]);
    sql("CREATE TABLE later (x); PRAGMA user_version = 2");
    for refused in [
        store.commit(&me, &batch, START).map(drop),
        store.commit_turn(&me, &"1".into(), START).map(drop),
        store.end_session(&scope("main", "s"), START),
        store.sweep(START + EXPIRED).map(drop),
        store.purge(&scope("main", "s")).map(drop),
    ] {
        let error = refused.unwrap_err();
        assert!(
            matches!(&error, Error::StoreNewer { reason, .. } if reason.starts_with("its schema version is 2 (known: 1); ")),
            "{error}"
        );
    }
    assert!(is_there(&store, "before") && !is_there(&store, "after"));
    let stats = store.stats(None).unwrap();
    assert_eq!((stats.originals, stats.turns), (1, 0));
    // Nothing is lost: the same batch succeeds after the newer program's change is undone.
    sql("PRAGMA user_version = 1");
    store.commit(&me, &batch, START).unwrap();
    assert!(is_there(&store, "after"));
}

#[test]
fn an_unreadable_newer_schema_is_not_damage() {
    const NO_SQL: &str = "INSERT INTO sqlite_schema VALUES ('view', 'v', 'v', 0, 'CREATE VIEW v AS SELECT FROM')";
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    put_text(&store, "before");
    let sql = |statements: &str| Connection::open(dir.path().join(FILE)).unwrap().execute_batch(statements).unwrap();
    sql("DROP TABLE printed; PRAGMA user_version = 2");
    let error = store.ledger(&scope("main", "s")).unwrap_err();
    assert!(matches!(error, Error::StoreNewer { .. }), "{error}");
    // Other connections reload the schema because of the new table.
    sql(&format!("PRAGMA writable_schema = ON; {NO_SQL}; CREATE TABLE later (x)"));
    let error = store.check(Some("2026-01-31")).unwrap_err();
    assert!(matches!(error, Error::StoreNewer { .. }), "{error}");
    assert!(
        fs::read_dir(dir.path()).unwrap().all(|entry| !entry.unwrap().path().to_str().unwrap().contains("damaged"))
    );
}

#[test]
fn a_log_that_was_deleted_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    put_text(&store, "before");
    fs::remove_file(dir.path().join("concertina.sqlite-wal")).unwrap();
    put_text(&store, "after");
    assert_eq!(store.notices().len(), 1);
    drop(store);
    assert!(is_there(&open(dir.path()), "after") && is_sound(dir.path()));
}

#[test]
fn a_damaged_file_is_set_aside_and_never_overwrites_another() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(FILE);
    let damaged = |length: usize| (0..length).map(|i| i as u8).collect::<Vec<u8>>();
    for (round, (name, length)) in [
        ("concertina.sqlite.damaged-2026-01-31", 10_000),
        ("concertina.sqlite.damaged-2026-01-31-2", 50),
        ("concertina.sqlite.damaged-2026-01-31-3", 8_192),
    ]
    .into_iter()
    .enumerate()
    {
        fs::write(&file, damaged(length)).unwrap();
        fs::write(dir.path().join("concertina.sqlite-wal"), format!("log {round}")).unwrap();
        assert!(matches!(SqliteStore::open(dir.path(), options()), Err(Error::StoreDamaged { .. })));
        let (store, line) = SqliteStore::open_or_set_aside(dir.path(), options(), "2026-01-31").unwrap();
        let line = line.unwrap();
        assert!(line.contains(name) && line.contains(file.to_str().unwrap()), "{line}");
        assert_eq!(fs::read(dir.path().join(name)).unwrap(), damaged(length));
        assert_eq!(fs::read(dir.path().join(format!("{name}-wal"))).unwrap(), format!("log {round}").as_bytes());
        put_text(&store, "after");
        drop(store);
        let (_, line) = SqliteStore::open_or_set_aside(dir.path(), options(), "2026-01-31").unwrap();
        assert_eq!(line, None);
        for ending in ["", "-wal", "-shm"] {
            drop(fs::remove_file(dir.path().join(format!("{FILE}{ending}"))));
        }
    }
    let bad = SqliteStore::open_or_set_aside(dir.path(), options(), "../x");
    assert!(matches!(bad, Err(Error::BadArgument { .. })));
}

#[test]
fn a_file_that_is_not_damaged_is_never_set_aside() {
    let foreign = tempfile::tempdir().unwrap();
    Connection::open(foreign.path().join(FILE)).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let newer = tempfile::tempdir().unwrap();
    drop(open(newer.path()));
    Connection::open(newer.path().join(FILE)).unwrap().execute_batch("PRAGMA user_version = 9").unwrap();
    let locked = tempfile::tempdir().unwrap();
    drop(open(locked.path()));
    let holder = Connection::open(locked.path().join(FILE)).unwrap();
    holder.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; SELECT 1").unwrap();
    let impatient = concertina::store::StoreOptions { busy_timeout_ms: 30, ..options() };
    for (dir, code) in [
        (foreign.path(), "CONCERTINA_STORE_DAMAGED"),
        (newer.path(), "CONCERTINA_STORE_NEWER"),
        (locked.path(), "CONCERTINA_STORE_LOCKED"),
    ] {
        let error = SqliteStore::open_or_set_aside(dir, impatient.clone(), "2026-01-31").unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(names.into_iter().all(|name| !name.contains("damaged")));
    }
}

#[test]
fn upkeep_of_a_file_that_was_cut_off_fails() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    put_text(&store, &"a line\n".repeat(20_000));
    put(&store, &scope("main", "t"), (0..200).map(|i| Original::text(&i.to_string(), "test")).collect(), START);
    store.sweep(START).unwrap();
    let file = fs::OpenOptions::new().write(true).open(dir.path().join(FILE)).unwrap();
    file.set_len(8_192).unwrap();
    let error = store.sweep(START).unwrap_err();
    assert!(matches!(error, Error::StoreDamaged { .. }), "cut off under an open store: {error}");
    drop(store);
    let error = SqliteStore::open(dir.path(), options()).unwrap_err();
    assert!(matches!(error, Error::StoreDamaged { .. }), "{error}");
}

#[test]
fn figures_of_a_damaged_file_fail() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    put(&store, &scope("main", "s"), (0..2_000).map(|i| Original::text(&i.to_string(), "test")).collect(), START);
    drop(store);
    let mut bytes = fs::read(dir.path().join(FILE)).unwrap();
    let from = bytes.len() / 2;
    bytes[from..].fill(0xa5);
    fs::write(dir.path().join(FILE), bytes).unwrap();
    let store = open(dir.path());
    for error in [store.stats(None).unwrap_err(), store.sweep(START + 100 * 600_000).unwrap_err()] {
        assert!(matches!(error, Error::StoreDamaged { .. }), "{error}");
    }
}

/// Overwrites the second half of the pages of an open store, whose log is empty.
fn overwrite_half(dir: &Path) {
    use std::io::{Seek, SeekFrom, Write};
    let mut file = fs::OpenOptions::new().write(true).open(dir.join(FILE)).unwrap();
    let length = file.metadata().unwrap().len();
    file.seek(SeekFrom::Start(length / 2)).unwrap();
    file.write_all(&vec![0xa5; usize::try_from(length - length / 2).unwrap()]).unwrap();
}

#[test]
fn a_file_that_was_damaged_while_it_was_open_is_set_aside_once() {
    let dir = tempfile::tempdir().unwrap();
    let name = dir.path().join("concertina.sqlite.damaged-2026-01-31");
    let many = || (0..2_000).map(|i| Original::text(&i.to_string(), "test")).collect();
    put(&open(dir.path()), &scope("main", "s"), many(), START);
    let (store, other) = (open(dir.path()), open(dir.path()));
    for store in [&store, &other] {
        assert!(!store.check(None).unwrap() && !store.check(Some("2026-01-31")).unwrap());
    }
    overwrite_half(dir.path());
    for store in [&store, &other] {
        assert!(matches!(store.check(None), Err(Error::StoreDamaged { .. })));
        assert!(!name.exists(), "nobody asked for that");
    }
    assert!(matches!(store.check(Some("../x")), Err(Error::BadArgument { .. })));
    assert!(store.check(Some("2026-01-31")).unwrap());
    let [line] = store.notices().try_into().unwrap();
    assert!(line.contains(name.to_str().unwrap()), "{line}");
    assert!(name.exists() && !other.check(Some("2026-01-31")).unwrap(), "what lies there now is sound");
    let [line] = other.notices().try_into().unwrap();
    assert!(line.contains("was replaced"), "{line}");
    put_text(&store, "after");
    assert!(is_there(&other, "after") && is_there(&store, "after"));
    drop((store, other));
    assert!(is_there(&open(dir.path()), "after") && is_sound(dir.path()));
}

#[cfg(unix)]
mod rights {
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_directory_that_others_may_use_is_mended_with_a_notice() {
        for wide in [0o777, 0o755, 0o750, 0o701, 0o1777] {
            let dir = tempfile::tempdir().unwrap();
            put_text(&open(dir.path()), "text");
            set(dir.path(), wide);
            let store = SqliteStore::open(dir.path(), options()).unwrap();
            assert_eq!(mode(dir.path()), 0o700);
            let notices = store.notices();
            assert!(notices.len() == 1 && notices[0].contains(&format!("{wide:04o}")), "{notices:?}");
            assert!(is_there(&store, "text"));
            assert_eq!(SqliteStore::open(dir.path(), options()).unwrap().notices(), [""; 0]);
        }
    }

    #[test]
    fn a_directory_with_other_files_keeps_its_rights_and_is_refused_where_others_may_write() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("notes.txt"), "mine").unwrap();
        set(dir.path(), 0o755);
        assert_eq!(SqliteStore::open(dir.path(), options()).unwrap().notices(), [""; 0]);
        assert_eq!(mode(dir.path()), 0o755);
        for wide in [0o777, 0o1777, 0o770, 0o733] {
            set(dir.path(), wide);
            let error = SqliteStore::open(dir.path(), options()).unwrap_err();
            assert!(matches!(&error, Error::StoreUnavailable { reason, .. } if reason.contains("files")), "{error}");
            assert_eq!(mode(dir.path()), wide);
        }
    }

    #[test]
    fn another_users_directory_is_refused_also_behind_a_link() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("theirs");
        fs::create_dir(&dir).unwrap();
        if chown(&dir, Some(12_345), None).is_err() {
            // Only root may give a directory away.
            return;
        }
        symlink(&dir, root.path().join("link")).unwrap();
        for path in [dir.clone(), root.path().join("link")] {
            let error = SqliteStore::open(&path, options()).unwrap_err();
            assert!(matches!(&error, Error::StoreUnavailable { reason, .. } if reason.contains("12345")), "{error}");
        }
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
        // A link to an own directory is as good as the directory.
        fs::create_dir(root.path().join("ours")).unwrap();
        symlink(root.path().join("ours"), root.path().join("link to ours")).unwrap();
        put_text(&open(&root.path().join("link to ours")), "text");
    }
}

#[test]
fn acknowledged_data_is_in_the_removed_file_or_in_the_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let is_done = AtomicBool::new(false);
    let (acknowledged, taken) = std::thread::scope(|threads| {
        // Removes the file, without its log, repeatedly while batches are written.
        let taking = threads.spawn(|| {
            let mut taken = 0;
            for _ in 0..100 {
                if is_done.load(Ordering::Relaxed) {
                    break;
                }
                taken += usize::from(fs::rename(dir.path().join(FILE), dir.path().join(format!("{taken}"))).is_ok());
                // Sometimes in the middle of a batch, sometimes after many. Creating a file alone may take longer than
                // the shortest of these pauses.
                std::thread::sleep(Duration::from_millis(4 + taken as u64 % 8 * 8));
            }
            taken
        });
        let mut acknowledged = Vec::new();
        for i in 0..400 {
            let original = Original::text(&format!("text {i}"), "test");
            let originals = vec![(original.hash.to_ref_id(16), original.clone())];
            match store.commit(&scope("main", "s"), &Batch { originals, ..Batch::default() }, START) {
                Ok(_) => acknowledged.push(original),
                Err(Error::StoreReplaced { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        is_done.store(true, Ordering::Relaxed);
        (acknowledged, taking.join().unwrap())
    });
    assert!(taken > 0 && !acknowledged.is_empty(), "{taken} {}", acknowledged.len());
    put_text(&store, "after");
    drop(store);
    let files: Vec<Connection> = (0..taken)
        .map(|number| dir.path().join(number.to_string()))
        .chain([dir.path().join(FILE)])
        .map(|path| Connection::open(path).unwrap())
        .collect();
    let holds = |file: &Connection, original: &Original| {
        // A file that was removed before it had tables holds nothing.
        file.prepare("SELECT 1 FROM originals WHERE hash = ?1")
            .is_ok_and(|mut rows| rows.exists([original.hash.0]).unwrap())
    };
    for original in &acknowledged {
        assert!(files.iter().any(|file| holds(file, original)), "{:?} is lost", original.bytes);
    }
    println!("{taken} files taken away, {} of 400 batches acknowledged", acknowledged.len());
}
