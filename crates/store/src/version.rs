//! The words for versions of a store's schema, for every backend.

use std::fmt::Display;

/// Names a schema version beside those that a program knows, which are 1 to `newest`.
pub fn beside_known(version: impl Display, newest: i32) -> String {
    match newest {
        1 => format!("{version} (known: 1)"),
        _ => format!("{version} (known: 1 to {newest})"),
    }
}
