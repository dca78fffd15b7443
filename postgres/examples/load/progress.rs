//! Reports progress on the standard error: in one line on a terminal, and as an occasional line otherwise.

use std::io::{IsTerminal as _, stderr};
use std::time::{Duration, Instant};

pub(crate) struct Progress {
    word: &'static str,
    every: Duration,
    is_terminal: bool,
    said: Instant,
}

impl Progress {
    pub(crate) fn new(word: &'static str) -> Self {
        let is_terminal = stderr().is_terminal();
        let every = Duration::from_secs(if is_terminal { 1 } else { 10 });
        Self { word, every, is_terminal, said: Instant::now() }
    }

    /// Prints a message if the last one is old enough.
    pub(crate) fn say(&mut self, words: impl FnOnce() -> String) {
        if self.said.elapsed() < self.every {
            return;
        }
        self.said = Instant::now();
        if self.is_terminal {
            eprint!("\r{}: {}        ", self.word, words());
        } else {
            eprintln!("{}: {}", self.word, words());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_terminal {
            eprint!("\r{:60}\r", "");
        }
    }
}
