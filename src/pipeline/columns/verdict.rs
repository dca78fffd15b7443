//! Values that each row states, because a reader who gets them wrong is misled.

/// Words that report a result. Rows always write them, because a failure that is left out could be read as a success.
const VERDICTS: &[&str] = &[
    "ERROR", "FAIL", "FAILED", "OK", "PASS", "PASSED", "SKIP", "SKIPPED", "XFAIL", "ok", "×", "√", "✓", "✔", "✕", "✖",
    "✗", "✘",
];

/// Returns true if a value contains a verdict.
pub(in super::super) fn tells_verdict(value: &str) -> bool {
    let is_verdict = |word: &str| VERDICTS.contains(&word.trim_matches(['[', ']', '(', ')', ':', ',', '.']));
    value.split(' ').any(is_verdict)
}

/// Returns true if each row states a value: a verdict, or a short word such as a level or a state, which costs no more
/// than a reference to the row above.
pub(in super::super) fn is_always_stated(value: &str) -> bool {
    let is_word = (1..=8).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_word || tells_verdict(value)
}
