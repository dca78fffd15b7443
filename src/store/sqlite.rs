//! The embedded store: one SQLite file.

/// The default [`super::Store`].
#[derive(Debug)]
pub struct SqliteStore;
