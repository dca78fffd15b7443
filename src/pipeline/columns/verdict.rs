//! Words that report a result.

/// The words. Rows always write them, because a failure that is left out could be read as a success.
const VERDICTS: &[&str] = &[
    "ERROR", "FAIL", "FAILED", "OK", "PASS", "PASSED", "SKIP", "SKIPPED", "XFAIL", "ok", "×", "√", "✓", "✔", "✕", "✖",
    "✗", "✘",
];

/// Returns true if a value contains a verdict.
pub(in super::super) fn tells_verdict(value: &str) -> bool {
    let is_verdict = |word: &str| VERDICTS.contains(&word.trim_matches(['[', ']', '(', ')', ':', ',', '.']));
    value.split(' ').any(is_verdict)
}
