//! What verdicts, totals and endings look like on a line.
//!
//! Each pattern is tried once on a line, most of them only on its front, so that a log stays linear.

use std::sync::LazyLock;

use regex::Regex;

use super::super::line_pattern;

/// A line that is the verdict on one test, or looks like one: builds and installers tick what they have done, too.
pub(super) static VERDICT: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(concat!(
        r"^\s*(--- (?:PASS|FAIL|SKIP))\b|\b(PASSED|FAILED|SKIPPED|XFAIL)(?:\s*\[\s*\d+%\])?\s*$",
        r"|^test[\w.]* .*\.\.\. (ok|FAIL|FAILED|ERROR|ignored|skipped)\b|^(ok|not ok) \d|^(ok|FAIL)\s+\S+\s+[\d(\[]",
        r"|^\s*([✓✔√✗✘×✖✕]) ",
    ))
});

/// A line in which a runner says how many of its tests went well or failed: the last word on them.
pub(super) static TOTALS: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(concat!(
        r"^[\s=─✔✘✖×✗✓]*(?:",
        // mocha, playwright, pytest, bun, ava: nothing but numbers with their words, and how long it took.
        r"(?:\d+ (?:tests? |specs? )?(?:pass(?:ed|ing)?|fail(?:ed|ing)?|pending|skipped|flaky|did not run|interrupted|cancelled",
        r"|todo|errors?|warnings?|xfailed|xpassed|deselected|reruns?|uncaught exceptions?)\b[,;|.]?\s*)+(?:in [\d.]+ ?\w+.*|\(.*)?[\s=]*$",
        r"|(?:Tests?|Test Suites|Test Files|Snapshots|Specs)(?:: *| {2,})(?:\d+ \w+|\d+, Assertions:)",
        r"|test result:|Summary \[.*\d tests? run|(?:FAILED|OK|ok) (?:\(|\| \d+ passed)|Ran \d+ tests?\b|DONE \d+ tests?\b",
        r"|Test run with \d+ tests?\b|Executed \d+ tests?\b|\d+ tests? completed, \d|\d+ examples?, \d+ failures?\b",
        r"|\d+ runs, \d+ assertions|(?:Passed|Failed)! +- +Failed: |Total tests: \d|\d+% tests passed|test cases: +\d",
        r"|OK, but |\[  (?:PASSED|FAILED)  \] \d+ tests?\b)",
        r"|^[ℹ#] (?:tests|pass|fail) \d|\bTests run: \d+, ",
    ))
});

/// What fails in a line of [`TOTALS`].
pub(super) static FAILING: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(concat!(
        r"(?i)\b[1-9]\d* (?:\w+ )?(?:fail(?:ed|ing|ures?)?|errors?|interrupted)\b",
        r"|\b(?:failed|failures?|errors?|fail)[:=]? ?[1-9]|(?-i:FAILED|Failed!)",
    ))
});

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
