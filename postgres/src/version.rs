//! The version of the schema that this program knows, and what is said about one that it does not know.

use std::fmt::Display;

use concertina_store::version::beside_known;

use crate::failure::Failure;

/// The newest version that this program knows.
pub(crate) const NEWEST: i32 = 1;

/// The failure of a program that knows the versions 1 to `newest` only.
pub(crate) fn too_old(why: &str, version: impl Display, newest: i32) -> Failure {
    Failure::Newer(format!("{why} {}; install a newer release", beside_known(version, newest)))
}

/// The failure of this program where a schema's `store.oldest` leaves it out.
pub(crate) fn left_out(oldest: impl Display) -> Failure {
    too_old("it was migrated and now needs a program that knows schema version", oldest, NEWEST)
}
