//! line -> how much it matters: alarms stay verbatim whatever they cost, failures while they are rare.
//!
//! A level word near the start outranks words in the message: `INFO ... parity error corrected` is no alarm.

use std::sync::LazyLock;

use regex::Regex;

use crate::content::{head, is_word_byte};

/// How loud a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Alarm {
    /// An ordinary line.
    None,
    /// A line that speaks of a failure, without the level of one.
    Failure,
    /// An error, a warning, an exception, or part of a stack trace.
    Error,
}

/// The part of a line that is looked at, in bytes.
const REACH: usize = 4096;
/// A level stands in this many bytes.
const LEVEL_REACH: usize = 160;

const ERROR_WORDS: &str = r"(?x: (?-u:\b)(?i:errors?|err|fatal|severe|critical|emerg|panic|panicked|warn|warnings?|exceptions?|traceback)(?-u:\b)
    | [A-Za-z](?:Exception|Error)(?-u:\b) | (?-u:\b)FAIL(?:ED|URE)?(?-u:\b) | ^\s+at\s\S+\s?\( | ^\s+at\s\S+:\d+ | ^\s+File\s\x22
    | Caused\sby: | ^goroutine\s\d+ | ^(?:\S{0,24}\s+){1,3}\d+\s+\d+\s[EFW]\s)";
const FAILURE_WORDS: &str =
    r"(?i:(?-u:\b)(?:fail|failed|fails|failing|failures?|denied|refused|aborted|unreachable|timed out)(?-u:\b))";

static ERROR: LazyLock<Regex> = LazyLock::new(|| compile(ERROR_WORDS));
/// An error or a failure: most lines are neither, and one look tells.
static EITHER: LazyLock<Regex> = LazyLock::new(|| compile(&format!("{ERROR_WORDS}|{FAILURE_WORDS}")));

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid pattern")
}

/// Judges a line. A note of what was left out is as loud as what it stands for may have been.
pub(in super::super) fn alarm(text: &str) -> Alarm {
    if text.starts_with("[… ") {
        return Alarm::Error;
    }
    let text = head(text, REACH);
    let level = head(text, LEVEL_REACH).as_bytes().split(|&byte| !is_word_byte(byte)).find_map(level);
    if level == Some(Alarm::Error) {
        Alarm::Error
    } else if !EITHER.is_match(text) {
        Alarm::None
    } else if level.is_none() && ERROR.is_match(text) {
        Alarm::Error
    } else {
        Alarm::Failure
    }
}

/// What a word says that is a level.
fn level(word: &[u8]) -> Option<Alarm> {
    match word {
        b"INFO" | b"DEBUG" | b"TRACE" | b"VERBOSE" | b"NOTICE" | b"Info" | b"Debug" | b"info" | b"debug"
        | b"notice" | b"trace" => Some(Alarm::None),
        b"ERROR" | b"ERR" | b"FATAL" | b"SEVERE" | b"CRITICAL" | b"CRIT" | b"ALERT" | b"EMERG" | b"PANIC" | b"WARN"
        | b"WARNING" | b"error" | b"fatal" | b"severe" | b"critical" | b"crit" | b"alert" | b"emerg" | b"warn"
        | b"warning" | b"Error" | b"Warning" => Some(Alarm::Error),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_words_and_traces_are_told_apart() {
        for (text, expected) in [
            ("[ERROR] test-runner  BUILD FAILED", Alarm::Error),
            ("WARN  [SendWorker:1] - Send worker leaving thread", Alarm::Error),
            ("java.io.IOException: broken pipe", Alarm::Error),
            ("    at com.example.Source.connect(Source.java:87)", Alarm::Error),
            ("  File \"a.py\", line 3, in f", Alarm::Error),
            ("Traceback (most recent call last):", Alarm::Error),
            ("--- FAIL: TestX (0.95s)", Alarm::Error),
            ("src/a.ts(9,52): error TS2353: no", Alarm::Error),
            (" 1702  2395 E Tag: x", Alarm::Error),
            ("03-17 16:13:38.811  1702  2395 E Tag: x", Alarm::Error),
            ("[mod_jk] [error] child 6", Alarm::Error),
            ("RAS KERNEL INFO cache parity error corrected", Alarm::Failure),
            ("sshd[1]: Failed password for root", Alarm::Failure),
            ("connection refused", Alarm::Failure),
            ("INFO Terror in errorless land", Alarm::None),
            ("ok  	entire.io/cli	3.146s", Alarm::None),
        ] {
            assert_eq!(alarm(text), expected, "{text}");
        }
    }
}
