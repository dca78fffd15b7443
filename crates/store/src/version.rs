//! The wording for schema versions in the errors of all backends.

use std::fmt::Display;

/// Returns a text that names a schema version and the known versions, 1 to `newest`.
pub fn with_known_versions(version: impl Display, newest: i32) -> String {
    match newest {
        1 => format!("{version} (known: 1)"),
        _ => format!("{version} (known: 1 to {newest})"),
    }
}
