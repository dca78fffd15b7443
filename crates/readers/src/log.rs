//! The levels of log lines.

use std::ops::Range;

use super::lines::head;
use super::severity::Severity;
use super::time_stamp::{digits, skip, time};
use super::word_set::is_word_byte;

named! {
    /// The level that a line of a log states. Names are in lower case.
    Level {
        Trace = "trace",
        Debug = "debug",
        Info = "info",
        Notice = "notice",
        Warn = "warn",
        Error = "error",
        Fatal = "fatal",
    }
}

/// The words for levels. journald, JUL, zerolog and .NET each have their own.
const LEVELS: &[(&str, Level)] = &[
    ("TRACE", Level::Trace),
    ("TRC", Level::Trace),
    ("TRCE", Level::Trace),
    ("VERBOSE", Level::Trace),
    ("FINEST", Level::Trace),
    ("DEBUG", Level::Debug),
    ("DBG", Level::Debug),
    ("DBUG", Level::Debug),
    ("FINE", Level::Debug),
    ("INFO", Level::Info),
    ("INF", Level::Info),
    ("INFORMATION", Level::Info),
    ("NOTICE", Level::Notice),
    ("WARN", Level::Warn),
    ("WARNING", Level::Warn),
    ("WRN", Level::Warn),
    ("ERROR", Level::Error),
    ("ERR", Level::Error),
    ("SEVERE", Level::Error),
    ("FATAL", Level::Fatal),
    ("FTL", Level::Fatal),
    ("CRITICAL", Level::Fatal),
    ("CRIT", Level::Fatal),
    ("ALERT", Level::Fatal),
    ("EMERG", Level::Fatal),
    ("PANIC", Level::Fatal),
];

/// Keys whose value is a level.
const LEVEL_KEYS: &[&[u8]] = &[b"level", b"lvl", b"severity", b"priority"];

impl Level {
    /// Returns the level that a word names, ignoring case.
    pub fn named(word: &str) -> Option<Self> {
        let is_likely = (3..=11).contains(&word.len());
        LEVELS.iter().find(|(name, _)| is_likely && word.eq_ignore_ascii_case(name)).map(|(_, level)| *level)
    }

    /// Returns the level for a letter of klog and logcat.
    fn lettered(letter: u8) -> Option<Self> {
        Some(match letter {
            b'V' => Self::Trace,
            b'D' => Self::Debug,
            b'I' => Self::Info,
            b'W' => Self::Warn,
            b'E' => Self::Error,
            b'F' => Self::Fatal,
            _ => return None,
        })
    }

    /// Returns the level for a number of syslog, from 0 for an emergency to 7 for debugging.
    fn of_syslog(number: u32) -> Self {
        match number % 8 {
            0..=2 => Self::Fatal,
            3 => Self::Error,
            4 => Self::Warn,
            5 => Self::Notice,
            6 => Self::Info,
            _ => Self::Debug,
        }
    }

    /// Returns the level for a number of bunyan and pino, from 10 for a trace to 60 for a fatal error.
    fn of_pino(number: &str) -> Option<Self> {
        Some(match number {
            "10" => Self::Trace,
            "20" => Self::Debug,
            "30" => Self::Info,
            "40" => Self::Warn,
            "50" => Self::Error,
            "60" => Self::Fatal,
            _ => return None,
        })
    }

    /// Returns the severity of a line of this level.
    pub fn severity(self) -> Severity {
        match self {
            Self::Trace | Self::Debug | Self::Info | Self::Notice => Severity::None,
            Self::Warn => Severity::Warning,
            Self::Error => Severity::Error,
            Self::Fatal => Severity::Fatal,
        }
    }
}

/// The part of a line that is searched for a level, in bytes.
const LEVEL_REACH: usize = 200;

/// Returns the level that a line of a log states, and the range of the bytes that state it. The level is a word in
/// capitals; or a word in any case between brackets, after `level=`, or in the position where a tool writes it (`error:
/// …`, `a.c:3: warning: …`); or a letter of klog or logcat; or a number of syslog or pino.
///
/// Examines the first 200 bytes.
pub fn level(line: &str) -> Option<(Range<usize>, Level)> {
    let line = head(line, LEVEL_REACH);
    let bytes = line.as_bytes();
    if let Some(found) = level_letter(bytes).or_else(|| level_number(line)) {
        return Some(found);
    }
    let mut at = 0;
    while at < bytes.len() {
        at = skip(bytes, at, |byte| !byte.is_ascii_alphanumeric());
        let end = skip(bytes, at, is_word_byte);
        let word = &line[at..end];
        if let Some(level) = Level::named(word) {
            let is_loud = word.bytes().all(|byte| byte.is_ascii_uppercase());
            if is_loud || is_bracketed(bytes, at, end) || is_keyed(bytes, at) || is_label(bytes, at, end) {
                return Some((at..end, level));
            }
        } else if matches!(bytes.get(at), Some(b'1'..=b'6'))
            && is_keyed(bytes, at)
            && let Some(level) = Level::of_pino(word)
        {
            return Some((at..end, level));
        }
        at = end;
    }
    None
}

/// Returns true if a word is between brackets, or the last part of a word that is: `[error]`, `<warn>`, `[core:error]`.
fn is_bracketed(bytes: &[u8], at: usize, end: usize) -> bool {
    let before = at.checked_sub(1).map(|before| bytes[before]);
    matches!(before, Some(b'[' | b'<' | b'(')) || before == Some(b':') && bytes.get(end) == Some(&b']')
}

/// Returns true if a word is the value of a level: `level=warn`, `"level": "warn"`, `severity: warn`.
fn is_keyed(bytes: &[u8], at: usize) -> bool {
    let before = |text: &[u8], set: &[u8]| text.len() - text.iter().rev().take_while(|byte| set.contains(byte)).count();
    let key = &bytes[..before(&bytes[..at], b"\" ")];
    let signs = before(key, b"=: ");
    let key = &key[..signs];
    let key = key.strip_suffix(b"\"").unwrap_or(key);
    signs < at
        && bytes[signs..at].iter().any(|byte| matches!(byte, b'=' | b':'))
        && LEVEL_KEYS
            .iter()
            .any(|name| key.len() >= name.len() && key[key.len() - name.len()..].eq_ignore_ascii_case(name))
}

/// Returns true if a word is a label: `error: …` or `warning[E0425]: …` at the start of a line or after `: ` or ` - `;
/// `error TS2322: …` in the same positions; `  error …` in a column of eslint's output.
fn is_label(bytes: &[u8], at: usize, end: usize) -> bool {
    let before = &bytes[..at];
    let after = &bytes[end..];
    let is_first = before.iter().all(|byte| matches!(byte, b' ' | b'\t'));
    let is_coded = || {
        after.len() > 2 && after[1].is_ascii_uppercase() && {
            let code = skip(after, 1, |byte| byte.is_ascii_uppercase());
            after.get(code).is_some_and(u8::is_ascii_digit)
        }
    };
    match after.first() {
        Some(b':' | b'[') => is_first || [&b": "[..], b" - "].iter().any(|sign| before.ends_with(sign)),
        Some(b' ') if after.starts_with(b"  ") => is_first || before.ends_with(b"  "),
        Some(b' ') => (before.ends_with(b": ") || before.ends_with(b" - ")) && is_coded(),
        _ => false,
    }
}

/// Returns the level letter of `E0102 15:04:05.123` (klog), `03-17 16:13:38.811  1702  2395 E Tag: …` or `E/Tag( 123):
/// …` (logcat), or `[E 15:04:05 …]` (tornado).
fn level_letter(bytes: &[u8]) -> Option<(Range<usize>, Level)> {
    let start = usize::from(bytes.first() == Some(&b'['));
    let at = if start == 0 { skip(bytes, 0, |byte| byte.is_ascii_digit() || b"-/:. ".contains(&byte)) } else { start };
    let level = Level::lettered(*bytes.get(at)?)?;
    let after = &bytes[at + 1..];
    let is_here = if start > 0 {
        after.first() == Some(&b' ') && after.get(1).is_some_and(u8::is_ascii_digit)
    } else if at == 0 {
        digits(bytes, 1, 4).is_some_and(|day| bytes.get(day) == Some(&b' ') && time(bytes, day + 1, true).is_some())
            || after.starts_with(b"/") && after.iter().take(64).any(|&byte| byte == b'(')
    } else {
        // Neither a date alone nor a number is a stamp.
        bytes[at - 1] == b' '
            && matches!(after.first(), Some(b' ' | b'/'))
            && bytes[..at].iter().filter(|byte| byte.is_ascii_digit()).count() >= 6
    };
    is_here.then_some((at..at + 1, level))
}

/// Returns the level of `<3>…` and `<131>1 …` (syslog).
fn level_number(line: &str) -> Option<(Range<usize>, Level)> {
    let (number, _) = line.strip_prefix('<')?.split_once('>')?;
    let number: u32 = number.parse().ok().filter(|number| *number < 192)?;
    Some((1..1 + number.to_string().len(), Level::of_syslog(number)))
}

/// Returns true if a line begins with a level: `ERROR: ...`, `[warn] ...`, `INFO  ...`.
pub(crate) fn leads_with_level(line: &str) -> bool {
    let bare = line.trim_start_matches([' ', '[', '<', '(']);
    let first = &bare[..skip(bare.as_bytes(), 0, is_word_byte)];
    // Most lines have none, which their start shows.
    let searched = head(line, LEVEL_REACH);
    let has_key = || memchr::memchr_iter(b'=', searched.as_bytes()).any(|at| searched[..at].ends_with("level"));
    if Level::named(first).is_none() && !has_key() {
        return false;
    }
    let Some((range, _)) = level(line) else { return false };
    let before = &line[..range.start];
    let after = line[range.end..].chars().next();
    before.trim_matches([' ', '[', '<', '(']).is_empty()
        && (after.is_none_or(|c| matches!(c, ':' | ']' | '>' | ')' | '\t')) || line[range.end..].starts_with("  "))
        || before.trim_end_matches('"').ends_with("level=")
}
