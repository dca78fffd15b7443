//! Recognises the database file, and creates its schema.
//!
//! Nothing is written to a file before it is known to be ours or empty. The order of the pragmas matters: `auto_vacuum`
//! is silently ignored after `journal_mode=WAL`, and then the file never shrinks.

use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::failure::{Failure, Outcome};

/// `CNCT`, which marks a database file as ours.
const APPLICATION_ID: i32 = 0x434e_4354;

/// The version of the schema.
///
/// A new version adds statements that migrate the one before it; statements of a released version are never changed.
/// A migration must be invisible to the previous version's queries, or make them fail, because a program that has the
/// file open while a newer one migrates it goes on reading. Each version also adds a golden file
/// (`tests/store/golden.rs`).
const VERSION: i32 = 1;

const SCHEMA: &str = include_str!("schema.sql");

/// The time that one attempt at opening waits, and the pause before the next one.
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// Opens an existing file, and creates the schema if the file is empty.
pub(super) fn connect(path: &Path, busy_timeout_ms: u64) -> Outcome<Connection> {
    let mut attempts = busy_timeout_ms / RETRY_INTERVAL.as_millis() as u64;
    loop {
        match prepare(path) {
            // If two processes create one file at the same time, one fails without SQLite's own waiting.
            Err(failure) if failure.is_locked() && attempts > 0 => thread::sleep(RETRY_INTERVAL),
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
    connection.busy_timeout(RETRY_INTERVAL)?;
    // SQLite writes the log back when the last connection closes, but it does not see another copy of SQLite in this
    // process.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Otherwise a statement is recompiled whenever a parameter changes.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    if is_blank(&connection.transaction()?)? {
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    enable_write_ahead_log(&connection)?;
    // With a write-ahead log, only FULL syncs on every commit.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "secure_delete", "FAST")?;
    // Stored data must not remain in a temporary file.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.set_prepared_statement_cache_capacity(64);
    create(&mut connection)?;
    Ok(connection)
}

/// Refuses a file of an unknown, newer version. Its schema is not examined, because this program may not be able to
/// read it.
pub(super) fn check_version(connection: &Connection) -> Outcome<()> {
    let version: i32 = connection.prepare_cached("PRAGMA user_version")?.query_row((), |row| row.get(0))?;
    if version <= VERSION {
        return Ok(());
    }
    let remedy = "update this program and start it again, or use another directory";
    Err(Failure::Newer(format!("its schema version is {version} (known: {VERSION}); {remedy}")))
}

/// Reads every page of a file and reports damage.
pub(super) fn check(connection: &Connection) -> Outcome<()> {
    let found: String = connection.query_row("PRAGMA quick_check(1)", (), |row| row.get(0))?;
    if found == "ok" { Ok(()) } else { Err(Failure::Damaged(found.trim().replace('\n', "; "))) }
}

/// Enables the write-ahead log if it is not enabled, also if an earlier opening failed to do so. The statement writes
/// after its first row, so its error is returned only when the next row is requested.
fn enable_write_ahead_log(connection: &Connection) -> Outcome<()> {
    let mut statement = connection.prepare("PRAGMA journal_mode = WAL")?;
    let mut rows = statement.query(())?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// Returns true if nothing was ever written to a file, or its creation was interrupted before the first commit, and
/// false if it is a store. One transaction, because another process may be creating the file at this moment.
fn is_blank(connection: &Transaction<'_>) -> Outcome<bool> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    if application == APPLICATION_ID {
        check_version(connection)?;
    }
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
    match (application, version) {
        (0, 0) if tables == 0 => Ok(true),
        (APPLICATION_ID, VERSION) => Ok(false),
        (APPLICATION_ID, _) => Err(Failure::Foreign(format!("unknown schema version {version} (known: {VERSION})"))),
        _ => Err(Failure::Foreign(format!(
            "it is another program's database, with application id {application:#010x} and {tables} tables and indexes"
        ))),
    }
}

/// Creates the schema in an empty file, in one transaction.
///
/// The transaction is begun even if nothing is to be done. SQLite opens a file or log that is not writable at this
/// moment as read-only, and it would stay so; beginning to write makes that an error now.
fn create(connection: &mut Connection) -> Outcome<()> {
    if connection.is_readonly("main")? {
        return Err(Failure::System(std::io::Error::other("the file can only be read")));
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have created it first.
    if is_blank(&transaction)? {
        transaction.execute_batch(SCHEMA)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    Ok(transaction.commit()?)
}
