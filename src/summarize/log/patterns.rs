//! The patterns of counts and endings on a line of a log.
//!
//! Each pattern is matched once for each line, most of them only at its front, so that the time is linear in the log.

use std::sync::LazyLock;

use regex::Regex;

use super::super::line_pattern;

/// Matches a line that states the number of errors or tests, so that the summary need not count them.
pub(super) static OWN_COUNT: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(
        r"(?i)\b\d+ (?:previous )?(?:errors?|warnings?|problems?|offenses?|failures?)\b|\b\d+ (?:error|warning)\(s\)",
    )
});

/// Matches a line that tells how a run ended.
pub(super) static ENDING: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(concat!(
        r"(?i)\b\d+ (?:errors?|warnings?|skipped|problems?|failures|vulnerabilities|packages|files)\b",
        r"|exit (?:code|status)|exited with|\bin \d+(?:\.\d+)? ?(?:ms|s|seconds)\b",
        r"|^\s*(?:\[\w+\] )?(?:build|finished|done|summary|total|process exited|npm err!|make: \*\*\*)\b",
    ))
});

/// Matches a place in a file: `at a.spec.ts:43:20`, `(Cart.java:41)`, `File "a.py", line 7`, `Cart.cs:line 27`.
pub(super) static PLACE: LazyLock<Regex> =
    LazyLock::new(|| line_pattern(r#"(?:^|[\s("/\\])[\w.@-]*[\w-]\.[a-z]{1,5}(?::|:line |", line |\()\d+"#));

/// Matches frames in libraries and runtimes.
pub(super) static FOREIGN: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(r"node_modules|\bnode:|/rustc/|site-packages|/vendor/|\bat (?:java|jdk|sun|org\.junit|org\.testng)\.")
});

/// Matches names and codes of errors.
pub(super) static ERROR_TYPE: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(
        r"\b(?:[A-Za-z_][\w.]*(?:Error|Exception)|TS\d{4}|E\d{4}|ERR_[A-Z_]+|E(?:NOENT|ACCES|CONNREFUSED|CONNRESET|TIMEDOUT|ADDRINUSE|PERM|EXIST|PIPE)|[A-Z]{2,}_ERROR|SIG[A-Z]{3,})\b",
    )
});

/// Matches a failed test as mocha, RSpec, PHPUnit and Jasmine number it: `  1) Cart adds`.
pub(super) static NUMBERED: LazyLock<Regex> = LazyLock::new(|| line_pattern(r"^\s*\d+\) \S"));
