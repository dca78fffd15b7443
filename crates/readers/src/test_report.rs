//! Parses the output of test runners: the verdict on one test, a mark before its name, and the totals of a run.
//!
//! Lists with ticks and lines with a number and `passed` occur elsewhere, too; callers decide by the rest of the text.
//! Each pattern is tried once per line, most of them only at its start.

use std::sync::LazyLock;

use regex::Regex;

use super::line_pattern;
use super::lines::head;

/// The part of a line that is searched for totals, in bytes.
const FRONT: usize = 240;

/// The outcome of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The test passed.
    Passed,
    /// The test failed.
    Failed,
    /// The test did not run, or was expected to fail.
    Skipped,
}

/// The marks that reporters print before names of tests.
const MARKS: [(&[char], Outcome); 3] = [
    (&['✔', '✓', '√'], Outcome::Passed),
    (&['✖', '✕', '×', '✗', '✘'], Outcome::Failed),
    (&['﹣', '○', '◯', '↓'], Outcome::Skipped),
];

/// Returns the outcome by the mark at the start of a line, and the text after the mark.
pub fn mark(line: &str) -> Option<(Outcome, &str)> {
    MARKS.iter().find_map(|(marks, outcome)| Some((*outcome, line.strip_prefix(*marks)?)))
}

static VERDICT: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(concat!(
        r"^\s*(--- (?:PASS|FAIL|SKIP))\b|\b(PASSED|FAILED|SKIPPED|XFAIL)(?:\s*\[\s*\d+%\])?\s*$",
        r"|^test[\w.]* .*\.\.\. (ok|FAIL|FAILED|ERROR|ignored|skipped)\b|^\s*(ok|not ok) \d|^(ok|FAIL)\s+\S+\s+[\d(\[]",
        r"|^\s*([✓✔√✗✘×✖✕]) |^\[ +(OK|FAILED|SKIPPED) +\] \D",
        r"|^:test-result: (PASS|FAIL|SKIP|XFAIL) |^(PASS|FAIL|SKIP|XFAIL): \S|^(PASSED|FAILED|ERROR) \S+::",
    ))
});

/// Returns the word or mark of a line that is, or looks like, the verdict on one test, and its outcome. Builds and
/// installers also print ticks. A build task is not a test, and totals are not a verdict on one.
pub fn verdict(line: &str) -> Option<(&str, Outcome)> {
    let found = VERDICT.captures(line).filter(|_| !line.trim_start().starts_with('>'))?;
    let word = found.iter().skip(1).flatten().next()?.as_str();
    let outcome = match word {
        "--- PASS" | "PASSED" | "PASS" | "ok" | "OK" => Outcome::Passed,
        "--- SKIP" | "SKIPPED" | "SKIP" | "skipped" | "ignored" | "XFAIL" => Outcome::Skipped,
        _ => mark(word).map_or(Outcome::Failed, |(outcome, _)| outcome),
    };
    (!is_totals(line)).then_some((word, outcome))
}

static OUTCOME: LazyLock<Regex> = LazyLock::new(|| line_pattern(r"(?i)\b(?:passed|failed|skipped|succeeded)\b"));

/// Returns true if the words of a line state the outcome of a test or a suite, such as `Suite "A" passed after 1 s`.
pub fn states_outcome(line: &str) -> bool {
    OUTCOME.is_match(head(line, FRONT))
}

static TOTALS: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(concat!(
        r"^[\s=─✔✘✖×✗✓]*(?:\[\w+\] )?(?:",
        // mocha, playwright, pytest, bun, ava: only counts with their words, and the duration.
        r"(?:\d+ (?:(?:sub)?tests? |specs? )?(?:pass(?:ed|ing)?|fail(?:ed|ing)?|pending|skipped|flaky|did not run",
        r"|interrupted|cancelled|todo|errors?|warnings?|xfailed|xpassed|deselected|reruns?|uncaught exceptions?)\b[,;|.]?\s*)+",
        r"(?:in [\d.]+ ?\w+.*|\(.*)?[\s=]*$",
        r"|(?:Tests?|Test Suites|Test Files|Snapshots|Specs)(?:: *| {2,})(?:\d+ \w+|\d+, Assertions:)",
        r"|test result:|Summary \[.*\d tests? run|(?:FAILED|OK|ok) (?:\(|\| \d+ passed)|Ran \d+ tests?\b|DONE \d+ tests?\b",
        r"|Test run with \d+ tests?\b|Executed \d+ tests?\b|\d+ tests? completed, \d|\d+ examples?, \d+ failures?\b",
        r"|\d+ (?:runs|tests), \d+ assertions|(?:Passed|Failed)! +- +Failed: |Total tests: \d|\d+% tests passed",
        r"|test cases: +\d|OK, but |\[  (?:PASSED|FAILED)  \] \d+ tests?\b)",
        r"|^[ℹ#] (?:tests|pass|fail) \d|\bTests run: \d+, ",
    ))
});

/// Problem counts of compilers and linters, which do not mention tests: the part of [`TOTALS`] that is not about tests.
static PROBLEMS: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(r"^[\s=─✔✘✖×✗✓]*(?:\d+ (?:errors?|warnings?|pending|skipped|todo)\b[,;|.]?\s*)+[\s=]*$")
});

/// Returns true if a line gives the final counts: of passed or failed tests by a runner, or of errors by a tool.
pub fn is_totals(line: &str) -> bool {
    TOTALS.is_match(head(line, FRONT))
}

/// Returns true if a runner states in a line how many tests passed or failed.
pub fn is_test_totals(line: &str) -> bool {
    is_totals(line) && !PROBLEMS.is_match(head(line, FRONT))
}

static FAILING: LazyLock<Regex> = LazyLock::new(|| {
    line_pattern(concat!(
        r"(?i)\b[1-9]\d* (?:\w+ )?(?:fail(?:ed|ing|ures?)?|errors?|interrupted)\b",
        r"|\b(?:failed|failures?|errors?|fail)[:=]? ?[1-9]|(?-i:FAILED|Failed!)",
    ))
});

/// Returns true if totals report a failure.
pub fn have_failures(totals: &str) -> bool {
    FAILING.is_match(head(totals, FRONT))
}
