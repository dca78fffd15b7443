//! Calls into code that no guard reaches: parsers and compression written in C. A crash there ends the whole process, and a loop
//! there never ends.
//!
//! So a crash happens once. What such code is given is noted before and the note is cleared after ([`Journal`]); a note that is
//! found later names the text that ended a process inside that code. The text is not given to that code again, and after
//! [`CRASHES_MAX`] such texts none is, until another version, which may have it mended. What does not come back is given up
//! ([`apart`]) and counts as a crash.
//!
//! A process that is killed may have been in such code by chance. So what must not be lost needs another way than that code.

mod journal;
mod thread;

use std::collections::{HashMap, HashSet};
use std::sync::{PoisonError, RwLock};

use xxhash_rust::xxh3::xxh3_128;

pub use journal::Journal;
pub use thread::apart;

/// After so many texts that ended it, code is given none any more.
pub const CRASHES_MAX: usize = 3;

/// Which texts, by their hash, ended which code; of all directories that this process has opened.
static CRASHES: RwLock<Option<HashMap<String, HashSet<u128>>>> = RwLock::new(None);

/// Code that is given less than all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its name: a grammar's, or a library's.
    pub code: String,
    /// How many texts ended it.
    pub texts: usize,
    /// True if it is given none any more.
    pub is_off: bool,
}

/// Returns the code that ended a process, by name; of all directories that this process has opened.
pub fn skipped() -> Vec<Skipped> {
    let crashes = CRASHES.read().unwrap_or_else(PoisonError::into_inner);
    let of = |(code, texts): (&String, &HashSet<u128>)| Skipped {
        code: code.clone(),
        texts: texts.len(),
        is_off: texts.len() >= CRASHES_MAX,
    };
    let mut skipped: Vec<Skipped> = crashes.iter().flatten().map(of).collect();
    skipped.sort_by(|a, b| a.code.cmp(&b.code));
    skipped
}

/// Code that did not come back, and never may.
#[derive(Debug)]
pub struct Lost;

/// Gives a text to some code, with a note of that in every open journal meanwhile. `None` where that code must not have the text, or is lost with
/// it.
pub fn calling<T>(code: &str, text: &[u8], call: impl FnOnce() -> Result<T, Lost>) -> Option<T> {
    let hash = xxh3_128(text);
    if is_known(code, hash) {
        return None;
    }
    let _notes = journal::note(code, hash);
    let outcome = call();
    if outcome.is_err() {
        journal::add(code, hash);
        learn(code, hash);
    }
    outcome.ok()
}

fn is_known(code: &str, hash: u128) -> bool {
    let crashes = CRASHES.read().unwrap_or_else(PoisonError::into_inner);
    let texts = crashes.as_ref().and_then(|crashes| crashes.get(code));
    texts.is_some_and(|texts| texts.len() >= CRASHES_MAX || texts.contains(&hash))
}

fn learn(code: &str, hash: u128) {
    let mut crashes = CRASHES.write().unwrap_or_else(PoisonError::into_inner);
    crashes.get_or_insert_default().entry(code.to_owned()).or_default().insert(hash);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_come_back_is_not_called_again() {
        let call = |text: &str, outcome| calling("lost in tests", text.as_bytes(), || outcome);
        assert_eq!(call("a", Ok(1)), Some(1));
        assert_eq!(call("b", Err(Lost)), None);
        assert_eq!((call("b", Ok(2)), call("a", Ok(3))), (None, Some(3)));
        for text in ["c", "d"] {
            assert_eq!(call(text, Err(Lost)), None);
        }
        assert_eq!(call("a", Ok(4)), None);
        let of_tests = Skipped { code: "lost in tests".into(), texts: CRASHES_MAX, is_off: true };
        assert!(skipped().contains(&of_tests));
        assert_eq!(calling("other code", b"b", || Ok(5)), Some(5));
    }
}
