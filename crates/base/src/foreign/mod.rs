//! Calls into parsers written in C, whose failures cannot be caught. A crash there ends the process, and an endless
//! loop never returns.
//!
//! Each crash happens at most once. Before a call, [`Journal`] writes a note with the name of the code and the hash of
//! the text; after the call, the note is cleared. A note that a later process finds names the text that ended the
//! earlier one. That text is never passed to that code again, and after [`MAX_CRASHES`] such texts the code is disabled
//! until the next version. A call that does not return in time is abandoned ([`run_with_timeout`]) and counts as a
//! crash.
//!
//! A process that is killed may have been inside such code by chance. Reading data back must therefore not depend on
//! such a call.

mod journal;
mod thread;

use std::collections::{HashMap, HashSet};
use std::sync::{PoisonError, RwLock};

use xxhash_rust::xxh3::xxh3_128;

pub use journal::Journal;
pub use thread::run_with_timeout;

/// The number of crashes after which code is disabled.
pub const MAX_CRASHES: usize = 3;

/// The hashes of the texts that crashed each code, for all directories that this process has opened.
static CRASHES: RwLock<Option<HashMap<String, HashSet<u128>>>> = RwLock::new(None);

/// A parser that some texts, or all, are not passed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The name of the code: a grammar.
    pub code: String,
    /// The number of texts on which it crashed.
    pub texts: usize,
    /// True if the code is disabled.
    pub is_off: bool,
}

/// Returns the code that crashed, by name, for all directories that this process has opened.
pub fn skipped() -> Vec<Skipped> {
    let crashes = CRASHES.read().unwrap_or_else(PoisonError::into_inner);
    let of = |(code, texts): (&String, &HashSet<u128>)| Skipped {
        code: code.clone(),
        texts: texts.len(),
        is_off: texts.len() >= MAX_CRASHES,
    };
    let mut skipped: Vec<Skipped> = crashes.iter().flatten().map(of).collect();
    skipped.sort_by(|a, b| a.code.cmp(&b.code));
    skipped
}

/// The error for code that did not return in time and may never return.
#[derive(Debug)]
pub struct TimedOut;

/// Passes a text to foreign code, with a note in every open journal during the call. Returns `None` if the text must
/// not be passed to the code or the code did not return.
pub fn call_foreign<T>(code: &str, text: &[u8], call: impl FnOnce() -> Result<T, TimedOut>) -> Option<T> {
    let hash = xxh3_128(text);
    if is_known(code, hash) {
        return None;
    }
    let _notes = journal::write_note(code, hash);
    let outcome = call();
    if outcome.is_err() {
        journal::record_crash(code, hash);
        add_crash(code, hash);
    }
    outcome.ok()
}

fn is_known(code: &str, hash: u128) -> bool {
    let crashes = CRASHES.read().unwrap_or_else(PoisonError::into_inner);
    let texts = crashes.as_ref().and_then(|crashes| crashes.get(code));
    texts.is_some_and(|texts| texts.len() >= MAX_CRASHES || texts.contains(&hash))
}

fn add_crash(code: &str, hash: u128) {
    let mut crashes = CRASHES.write().unwrap_or_else(PoisonError::into_inner);
    crashes.get_or_insert_default().entry(code.to_owned()).or_default().insert(hash);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_come_back_is_not_called_again() {
        let call = |text: &str, outcome| call_foreign("lost in tests", text.as_bytes(), || outcome);
        assert_eq!(call("a", Ok(1)), Some(1));
        assert_eq!(call("b", Err(TimedOut)), None);
        assert_eq!((call("b", Ok(2)), call("a", Ok(3))), (None, Some(3)));
        for text in ["c", "d"] {
            assert_eq!(call(text, Err(TimedOut)), None);
        }
        assert_eq!(call("a", Ok(4)), None);
        let of_tests = Skipped { code: "lost in tests".into(), texts: MAX_CRASHES, is_off: true };
        assert!(skipped().contains(&of_tests));
        assert_eq!(call_foreign("other code", b"b", || Ok(5)), Some(5));
    }
}
