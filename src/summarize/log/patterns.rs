//! What counts and endings look like on a line of a log.
//!
//! Each pattern is tried once on a line, most of them only on its front, so that a log stays linear.

use std::sync::LazyLock;

use regex::Regex;

use super::super::line_pattern;

/// A line in which a compiler, linter or runner says how many errors or tests there were: nobody else has to count them.
pub(super) static OWN_COUNT: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(
        r"(?i)\b\d+ (?:previous )?(?:errors?|warnings?|problems?|offenses?|failures?)\b|\b\d+ (?:error|warning)\(s\)",
    )
});

/// A line that says how it ended.
pub(super) static ENDING: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(concat!(
        r"(?i)\b\d+ (?:errors?|warnings?|skipped|problems?|failures|vulnerabilities|packages|files)\b",
        r"|exit (?:code|status)|exited with|\bin \d+(?:\.\d+)? ?(?:ms|s|seconds)\b",
        r"|^\s*(?:build|finished|done|summary|total|process exited|npm err!|make: \*\*\*)\b",
    ))
});

/// Names and codes of errors.
pub(super) static ERROR_TYPE: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(
        r"\b(?:[A-Za-z_][\w.]*(?:Error|Exception)|TS\d{4}|E\d{4}|ERR_[A-Z_]+|E(?:NOENT|ACCES|CONNREFUSED|CONNRESET|TIMEDOUT|ADDRINUSE|PERM|EXIST|PIPE)|[A-Z]{2,}_ERROR|SIG[A-Z]{3,})\b",
    )
});
