//! The words with which tools say that something is not well, as the whole value of a status or the cell of a table.

const FAILURE_WORDS: &[&str] = &[
    "aborted",
    "blocked",
    "broken",
    "canceled",
    "cancelled",
    "crash",
    "crashed",
    "crashloopbackoff",
    "critical",
    "degraded",
    "delayed",
    "denied",
    "down",
    "err",
    "errimagepull",
    "error",
    "errored",
    "evicted",
    "expired",
    "fail",
    "failed",
    "failure",
    "fatal",
    "imagepullbackoff",
    "invalid",
    "killed",
    "notready",
    "oomkilled",
    "panic",
    "refused",
    "rejected",
    "timed_out",
    "timedout",
    "timeout",
    "unhealthy",
    "unreachable",
];

/// Whether a whole status value means failure: one of these words, or what docker says of a container,
/// `Exited (137) …`.
pub(super) fn is_failure_word(status: &str) -> bool {
    let exit = status.strip_prefix("Exited (").and_then(|rest| rest.split_once(')'));
    exit.is_some_and(|(code, _)| code != "0")
        || status.len() <= 16 && FAILURE_WORDS.binary_search(&&*status.to_ascii_lowercase()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_sorted_and_found_in_any_case() {
        assert!(FAILURE_WORDS.is_sorted());
        assert!(is_failure_word("CrashLoopBackOff") && is_failure_word("FAILED"));
        assert!(is_failure_word("Exited (137) 2 hours ago") && !is_failure_word("Exited (0) 2 hours ago"));
        assert!(!is_failure_word("Running") && !is_failure_word("failed over to the second node"));
    }
}
