//! Recognises and migrates a namespace.
//!
//! Every new connection checks the schema, so that a database that was dropped or replaced in the meantime gets its
//! schema before it is queried.
//!

#[cfg(test)]
mod tests;

use crate::connection::{Connection, call};
use crate::failure::{Failure, GRANTS, Outcome};
use crate::row::at;
use crate::version::{NEWEST, newer_schema_failure, program_too_old_failure};

/// A version of the schema.
pub(crate) struct Version {
    /// The statements that migrate the version before to this one.
    statements: &'static str,
    /// The oldest version whose programs can work on this one.
    oldest: usize,
}

/// All versions that this program knows, from 1 on.
///
/// The next version is one more row of this table; statements that were released are never changed. A migration must be
/// invisible to the previous version's queries, or make them fail. Machines are updated one after the other, and the
/// first one migrates, so a migration that is invisible (new tables, indexes, columns that may be NULL or have a
/// default) leaves `oldest` as it is, and programs of the previous version go on. A migration that makes queries fail
/// names its own version as `oldest`; older programs are then refused at the next thing that they ask. With the version
/// comes a golden file of it (`tests/store/golden.rs`).
const VERSIONS: [Version; NEWEST as usize] = [Version { statements: include_str!("schema.sql"), oldest: 1 }];

/// The lock that is held while a schema is created or migrated. If two programs open it at once, one waits.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('concertina ' || $1::text, 0))";

/// The state of a schema.
enum Found {
    /// The schema is missing or empty.
    Blank,
    /// The schema is ours and has this version, which may be a newer one that this program can work with.
    Ours(usize),
}

/// Creates or migrates the schema if needed. Otherwise nothing is written or locked.
pub(crate) fn prepare(connection: &mut Connection, namespace: &str) -> Outcome<()> {
    prepare_to(connection, namespace, &VERSIONS)
}

/// Refuses a schema whose `store.oldest` is newer than this program.
pub(crate) fn check_oldest(oldest: i32) -> Outcome<()> {
    match oldest {
        0..=NEWEST => Ok(()),
        _ => Err(program_too_old_failure(oldest)),
    }
}

fn prepare_to(connection: &mut Connection, namespace: &str, versions: &[Version]) -> Outcome<()> {
    if matches!(recognise(connection, namespace, versions)?, Found::Ours(version) if version >= versions.len()) {
        return Ok(());
    }
    connection.batch("BEGIN READ WRITE")?;
    let migrated = migrate(connection, namespace, versions).map_err(|failure| match failure.is_forbidden() {
        true => Failure::Misconfigured(format!(
            "{failure}; this role may not make or migrate the schema {namespace}: \
            let its owner open the store once, and then run \
             postgres/roles.sql for this role"
        )),
        false => failure,
    });
    let ended = connection.batch(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" });
    migrated.and(ended)
}

fn migrate(connection: &mut Connection, namespace: &str, versions: &[Version]) -> Outcome<()> {
    connection.run(&[call!(LOCK, namespace)])?;
    // Another machine may have done it while this one waited for the lock.
    let version = match recognise(connection, namespace, versions)? {
        Found::Blank => {
            connection.batch(&format!("CREATE SCHEMA IF NOT EXISTS \"{namespace}\""))?;
            0
        }
        Found::Ours(version) => version,
    };
    // The schema may have more versions than this program knows.
    let Some(missing) = versions.get(version..).filter(|missing| !missing.is_empty()) else { return Ok(()) };
    for version in missing {
        connection.batch(version.statements)?;
    }
    let (version, oldest) = (versions.len(), missing[missing.len() - 1].oldest);
    connection.batch(&format!("UPDATE store SET version = {version}, oldest = {oldest}"))
}

fn recognise(connection: &mut Connection, namespace: &str, versions: &[Version]) -> Outcome<Found> {
    const LOOK: &str = "SELECT EXISTS (SELECT 1 FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
           WHERE relnamespace = pg_namespace.oid AND relname = 'store' AND attname = 'identity'),
         (SELECT count(*) FROM pg_class WHERE relnamespace = pg_namespace.oid), getdatabaseencoding()::text,
         coalesce(has_schema_privilege(pg_namespace.oid, 'USAGE'), true) FROM pg_database LEFT JOIN pg_namespace ON
           nspname = $1::text WHERE datname = current_database()";
    let rows = connection.run(&[call!(LOOK, namespace)])?.remove(0);
    let Some(row) = rows.first() else { return Ok(Found::Blank) };
    let (is_ours, tables, encoding): (bool, i64, String) = (at(row, 0)?, at(row, 1)?, at(row, 2)?);
    if encoding != "UTF8" {
        return Err(Failure::Misconfigured(format!(
            "the database's encoding is {encoding}; it must be UTF8, \
            as of CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0"
        )));
    }
    if !at::<bool>(row, 3)? {
        return Err(Failure::Misconfigured(format!("this role may not use the schema {namespace}; {GRANTS}")));
    }
    if !is_ours {
        return match tables {
            0 => Ok(Found::Blank),
            _ => Err(Failure::Damaged(format!(
                "the schema {namespace} is another program's, with {tables} tables and indexes"
            ))),
        };
    }
    let rows = connection.run(&[call!("SELECT version, oldest FROM store")])?.remove(0);
    let row = rows.first().ok_or_else(|| Failure::Damaged(format!("the table {namespace}.store is empty")))?;
    let (version, oldest): (i32, i32) = (at(row, 0)?, at(row, 1)?);
    let known = 1..=i32::try_from(versions.len()).unwrap_or(i32::MAX);
    match usize::try_from(version) {
        Ok(found) if known.contains(&version) || version > 0 && known.contains(&oldest) => Ok(Found::Ours(found)),
        _ => Err(newer_schema_failure(&format!("the schema {namespace} has the version"), version, *known.end())),
    }
}
