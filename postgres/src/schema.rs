//! Recognises and migrates a namespace.
//!
//! Every new connection looks: so a database that was dropped or replaced meanwhile gets its schema before anything is asked of it.

use crate::failure::{Failure, Outcome};
use crate::link::{Link, call};
use crate::row::{at, first};

/// The statements that lead from version n to n + 1.
const MIGRATIONS: [&str; 1] = [include_str!("version_1.sql")];

/// Held while a schema is made or migrated: of two that open at once, one waits.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('concertina ' || $1::text, 0))";

/// What a schema is.
enum Found {
    /// There is none, or an empty one.
    Blank,
    /// Ours, of this version.
    Ours(usize),
}

/// Creates or migrates the schema as needed. Where nothing is needed, nothing is written or locked.
pub(crate) fn prepare(link: &mut Link, namespace: &str) -> Outcome<()> {
    if matches!(recognise(link, namespace)?, Found::Ours(version) if version == MIGRATIONS.len()) {
        return Ok(());
    }
    link.batch("BEGIN")?;
    let migrated = migrate(link, namespace);
    let ended = link.batch(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" });
    migrated.and(ended)
}

fn migrate(link: &mut Link, namespace: &str) -> Outcome<()> {
    link.run(&[call!(LOCK, namespace)])?;
    // Another machine may have been faster.
    let version = match recognise(link, namespace)? {
        Found::Blank => {
            link.batch(&format!("CREATE SCHEMA IF NOT EXISTS \"{namespace}\""))?;
            0
        }
        Found::Ours(version) => version,
    };
    for statements in &MIGRATIONS[version..] {
        link.batch(statements)?;
    }
    link.batch(&format!("UPDATE store SET version = {}", MIGRATIONS.len()))
}

fn recognise(link: &mut Link, namespace: &str) -> Outcome<Found> {
    const LOOK: &str = "SELECT EXISTS (SELECT 1 FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
           WHERE relnamespace = pg_namespace.oid AND relname = 'store' AND attname = 'identity'),
         (SELECT count(*) FROM pg_class WHERE relnamespace = pg_namespace.oid),
         getdatabaseencoding()::text FROM pg_database LEFT JOIN pg_namespace ON nspname = $1::text WHERE datname = current_database()";
    let rows = link.run(&[call!(LOOK, namespace)])?.remove(0);
    let Some(row) = rows.first() else { return Ok(Found::Blank) };
    let (is_ours, tables, encoding): (bool, i64, String) = (at(row, 0)?, at(row, 1)?, at(row, 2)?);
    if encoding != "UTF8" {
        return Err(Failure::Damaged(format!("the database's encoding is {encoding}; it must be UTF8")));
    }
    if !is_ours {
        return match tables {
            0 => Ok(Found::Blank),
            _ => Err(Failure::Damaged(format!(
                "the schema {namespace} is another program's, with {tables} tables and indexes"
            ))),
        };
    }
    let rows = link.run(&[call!("SELECT version FROM store")])?.remove(0);
    let version: i32 =
        first(&rows)?.ok_or_else(|| Failure::Damaged(format!("the table {namespace}.store is empty")))?;
    match usize::try_from(version) {
        Ok(version) if (1..=MIGRATIONS.len()).contains(&version) => Ok(Found::Ours(version)),
        _ => Err(Failure::Damaged(format!(
            "the version of the schema {namespace} is {version}; this program knows versions 1 to {}",
            MIGRATIONS.len()
        ))),
    }
}
