//! The schema version of this program, and the errors for a version that it does not know.

use std::fmt::Display;

use concertina_store::version::beside_known;

use crate::failure::Failure;

/// The newest schema version that this program knows.
pub(crate) const NEWEST: i32 = 1;

/// Returns the failure of a program that knows only the versions 1 to `newest`.
pub(crate) fn too_old(why: &str, version: impl Display, newest: i32) -> Failure {
    Failure::Newer(format!("{why} {}; install a newer release", beside_known(version, newest)))
}

/// Returns the failure of this program for a schema whose `store.oldest` is newer.
pub(crate) fn left_out(oldest: impl Display) -> Failure {
    too_old("it was migrated and now needs a program that knows schema version", oldest, NEWEST)
}
