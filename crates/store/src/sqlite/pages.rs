//! The pages of the file: the number in use, and returning free pages to the system.

use rusqlite::Connection;

use super::failure::{Failure, Outcome};
use super::row::count;

/// The number of pages returned to the system in one transaction: 8 MB.
const VACUUM_PAGES: u32 = 2048;

/// Returns the number of free pages.
pub(super) fn free_pages(connection: &Connection) -> Outcome<u64> {
    pages(connection, "freelist_count")
}

/// Returns some free pages to the system, and the number of those left. Only the checkpoint makes the file shorter.
pub(super) fn vacuum(connection: &Connection) -> Outcome<u64> {
    let mut vacuum = connection.prepare(&format!("PRAGMA incremental_vacuum({VACUUM_PAGES})"))?;
    let mut rows = vacuum.query(())?;
    // Each step frees one page.
    while rows.next()?.is_some() {}
    free_pages(connection)
}

/// Writes the log back, which makes the file shorter. Returns its length in bytes.
pub(super) fn checkpoint(connection: &Connection) -> Outcome<u64> {
    // If another program is reading, SQLite reports this in the row, not as an error. Then the next checkpoint does it.
    let is_busy: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| row.get(0))?;
    let expected = file_bytes(connection)?;
    let found = connection.path().and_then(|path| std::fs::metadata(path).ok()).map(|file| file.len());
    match found {
        // The truncated pages may still be in the page cache of this connection.
        Some(found) if !is_busy && found < expected => {
            Err(Failure::Damaged(format!("the file ends too early: it has {found} of {expected} bytes")))
        }
        _ => Ok(expected),
    }
}

/// Returns the bytes of the file that are in use.
pub(super) fn used_bytes(connection: &Connection) -> Outcome<u64> {
    let used = pages(connection, "page_count")?.saturating_sub(pages(connection, "freelist_count")?);
    Ok(used * pages(connection, "page_size")?)
}

/// Returns the length of the file in bytes after the log is written back.
pub(super) fn file_bytes(connection: &Connection) -> Outcome<u64> {
    Ok(pages(connection, "page_count")? * pages(connection, "page_size")?)
}

fn pages(connection: &Connection, pragma: &str) -> Outcome<u64> {
    Ok(connection.pragma_query_value(None, pragma, |row| count(row, 0))?)
}
