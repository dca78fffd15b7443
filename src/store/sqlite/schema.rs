//! Creates, recognises and migrates the database file.
//!
//! Nothing is written to a file before it is known to be ours or empty. The order of the pragmas matters: `auto_vacuum` set
//! after `journal_mode=WAL` is silently ignored and the file never shrinks.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::failure::{Failure, Outcome, unavailable};

/// `CNCT`: marks a database file as ours.
const APPLICATION_ID: i32 = 0x434e_4354;

/// The statements that lead from version n to n + 1.
const MIGRATIONS: [&str; 2] = [include_str!("version_1.sql"), include_str!("version_2.sql")];

/// How long one attempt at opening waits, and how long it is until the next.
const ATTEMPT: Duration = Duration::from_millis(10);

/// What a database file is.
enum Found {
    /// Nothing was ever written, or its creation was cut off before the first commit.
    Blank,
    /// Ours, of this version.
    Ours(usize),
}

/// Creates the directory and the empty file where they are missing, for the owner only.
pub(super) fn create_file(dir: &Path, path: &Path) -> Outcome<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    let mut options = fs::OpenOptions::new();
    // An existing file is never opened here: closing it would drop the locks that other connections of this process hold.
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        builder.mode(0o700);
        options.mode(0o600);
    }
    builder.create(dir).map_err(|error| unavailable(dir, &error))?;
    match options.open(path) {
        Ok(_) => sync_directory(dir),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => check_file(path),
        Err(error) => Err(unavailable(path, &error)),
    }
}

/// Makes the names of a new file and of its directory survive a loss of power.
#[cfg(unix)]
fn sync_directory(dir: &Path) -> Outcome<()> {
    let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
    for dir in parent.into_iter().chain([dir]) {
        fs::File::open(dir).and_then(|opened| opened.sync_all()).map_err(|error| unavailable(dir, &error))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn sync_directory(_: &Path) -> Outcome<()> {
    Ok(())
}

/// Checks what can be seen from outside, and takes the group's and others' rights off a file that someone widened; SQLite
/// gives its side files the same rights.
fn check_file(path: &Path) -> Outcome<()> {
    let found = fs::metadata(path).map_err(|error| unavailable(path, &error))?;
    // SQLite takes a file of one byte for an empty one.
    if (1..100).contains(&found.len()) {
        return Err(Failure::Damaged(format!("not a database: it has only {} bytes", found.len())));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if found.is_file() && found.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(|error| unavailable(path, &error))?;
        }
    }
    Ok(())
}

/// Opens an existing file, creating or migrating the schema as needed.
pub(super) fn connect(path: &Path, busy_timeout_ms: u64) -> Outcome<Connection> {
    let mut attempts = busy_timeout_ms / ATTEMPT.as_millis() as u64;
    loop {
        match prepare(path) {
            // Two processes that create one file at once fail without SQLite's own waiting.
            Err(failure) if failure.is_locked() && attempts > 0 => thread::sleep(ATTEMPT),
            Err(failure) => return Err(failure),
            Ok(connection) => {
                connection.busy_timeout(Duration::from_millis(busy_timeout_ms))?;
                return Ok(connection);
            }
        }
        attempts -= 1;
    }
}

fn prepare(path: &Path) -> Outcome<Connection> {
    let mut connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(ATTEMPT)?;
    let found = recognise(&connection.transaction()?)?;
    if matches!(found, Found::Blank) {
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
    }
    // In a write-ahead log only FULL syncs on every commit.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "secure_delete", "FAST")?;
    // Nothing that is stored may linger in a temporary file.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.set_prepared_statement_cache_capacity(64);
    migrate(&mut connection, &found)?;
    Ok(connection)
}

/// Says what a file is. One transaction, because another process may be creating it at this moment.
fn recognise(connection: &Transaction<'_>) -> Outcome<Found> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
    match (application, usize::try_from(version)) {
        (0, Ok(0)) if tables == 0 => Ok(Found::Blank),
        (APPLICATION_ID, Ok(version)) if (1..=MIGRATIONS.len()).contains(&version) => Ok(Found::Ours(version)),
        (APPLICATION_ID, _) => Err(Failure::Damaged(format!(
            "its version is {version}; this program knows versions 1 to {}",
            MIGRATIONS.len()
        ))),
        _ => Err(Failure::Damaged(format!(
            "it is another program's database, with application id {application:#010x} and {tables} tables and indexes"
        ))),
    }
}

/// Brings the schema to the newest version, in one transaction.
fn migrate(connection: &mut Connection, found: &Found) -> Outcome<()> {
    if matches!(found, Found::Ours(version) if *version == MIGRATIONS.len()) {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    let version = match recognise(&transaction)? {
        Found::Blank => 0,
        Found::Ours(version) => version,
    };
    if version < MIGRATIONS.len() {
        for statements in &MIGRATIONS[version..] {
            transaction.execute_batch(statements)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
    }
    Ok(transaction.commit()?)
}
