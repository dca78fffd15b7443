//! The schema version of this program, and the errors for a version that it does not know.

use std::fmt::Display;

use crate::failure::Failure;

/// The newest schema version that this program knows.
pub(crate) const NEWEST: i32 = 1;

/// Returns the failure of a program that knows no version after `newest`.
pub(crate) fn newer_schema_failure(why: &str, version: impl Display, newest: i32) -> Failure {
    Failure::Newer(format!("{why} {version} (known: {newest}); install a newer release"))
}

/// Returns the failure of this program for a schema whose `store.oldest` is newer.
pub(crate) fn program_too_old_failure(oldest: impl Display) -> Failure {
    newer_schema_failure("it was migrated and now needs a program that knows schema version", oldest, NEWEST)
}
