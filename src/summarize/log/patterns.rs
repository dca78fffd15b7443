//! What levels, failures, verdicts and endings look like on a line.
//!
//! Each pattern is tried once on a line, most of them only on its front, so that a log stays linear.

use std::sync::LazyLock;

use regex::Regex;

use super::super::line_pattern;

/// The level that a line names, in the one group that takes part.
pub(super) static LEVEL: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(concat!(
        r"\b(FATAL|CRITICAL|CRIT|PANIC|SEVERE|EMERG|ALERT|ERROR|ERR|WARN|WARNING|NOTICE|INFO|INFORMATION|DEBUG|TRACE|VERBOSE)\b",
        r"|\[(fatal|crit|critical|panic|emerg|alert|error|err|warn|warning|notice|info|debug|trace)\]",
        r#"|\b(?:level|lvl|severity)"?\s?[=:]\s?"?([A-Za-z]+)"#,
        r"|^\s*(error|warning|fatal)(?:\[\w+\])?:",
        r"|: (?:fatal )?(error|warning)\b",
        r"|^\d[\d\-/:. ]+\s([VDIWEF])[ /]",
    ))
});

/// Words that tell of failure, whatever the level.
pub(super) static FAILURE: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(concat!(
        r"(?i)\b(?:error|failed|failure|fatal|traceback|panicked|aborted|segmentation fault|permission denied|not found",
        r"|no such file|cannot|refused|timed out|undefined reference|unhandled|out of memory)\b",
        r"|\bpanic:|npm err!|^not ok\b|^\s*[✗✘×✖✕]",
        r"|(?-i:\bFAIL\b|\w(?:Error|Exception)\b|^E {3})",
    ))
});

/// The same words where they deny it.
pub(super) static NO_FAILURE: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(r"(?i)\b(?:0|no|without|any) (?:errors?|failed|failures?)\b|\b(?:errors?|failed|failures?)[:=] ?0\b")
});

/// A line that is the verdict on one test.
pub(super) static VERDICT: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(concat!(
        r"^\s*--- (PASS|FAIL|SKIP)\b|\b(PASSED|FAILED|SKIPPED|XFAIL)(?:\s*\[\s*\d+%\])?\s*$",
        r"|^test[\w.]* .*\.\.\. (ok|FAIL|FAILED|ERROR|ignored|skipped)\b|^(ok|not ok) \d|^(ok|FAIL)\s+\S+\s+[\d(\[]",
        r"|^\s*([✓✔√✗✘×✖✕]) ",
    ))
});

/// A line that says how many of a run's tests went well or failed.
pub(super) static TOTALS: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(concat!(
        r"\b\d+ (?:tests? |specs? )?(?:passed|failed|passing|failing)\b|^test result:|^\s*Ran \d+ tests?\b",
        r"|^(?:FAILED|OK) \(|^[ℹ#] (?:tests|pass|fail) \d",
    ))
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
