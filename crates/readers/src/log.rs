//! Log lines: time stamps and levels.
//!
//! A date without a time is no stamp: tables are full of them.

use std::ops::Range;

use super::lines::head;
use super::severity::Severity;
use super::words::is_word_byte;

/// The time stamp of a log line: a date and a time as programs, syslog, ctime and access logs write them, a time alone, seconds or
/// milliseconds since 1970, or a counter in brackets at the line's start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// Its bytes in the line, without brackets and quotes around it.
    pub range: Range<usize>,
    /// Whether it only counts: it is none of the others, but a number in brackets.
    pub is_counter: bool,
}

/// Tokens before the stamp that are looked past: `- 1117838570`, `web_1 | 2024-...`, `10.0.0.1 - - [10/Oct/...`.
const TOKENS_BEFORE: usize = 3;
/// A stamp starts within this many bytes.
const REACH: usize = 160;

impl Stamp {
    /// Finds the stamp at the start of a line, or behind at most three words (host, container, file, `-`).
    pub fn find(line: &str) -> Option<Self> {
        let bytes = head(line, REACH + 64).as_bytes();
        if !bytes.iter().any(u8::is_ascii_digit) {
            return None;
        }
        let mut at = skip_escape(bytes, 0);
        for token in 0..=TOKENS_BEFORE {
            at = skip(bytes, at, |byte| byte == b' ' || byte == b'\t');
            if at >= bytes.len().min(REACH) {
                return None;
            }
            if let Some(stamp) = stamp_at(bytes, at, token) {
                return Some(stamp);
            }
            at = skip(bytes, at, |byte| byte != b' ' && byte != b'\t');
        }
        None
    }

    /// Whether a line begins with one.
    pub fn leads(line: &str) -> bool {
        Self::find(line).is_some_and(|stamp| line[..stamp.range.start].trim().is_empty())
    }
}

fn stamp_at(bytes: &[u8], token_at: usize, token: usize) -> Option<Stamp> {
    if token == 0 && bytes[token_at] == b'[' {
        let digits_at = skip(bytes, token_at + 1, |byte| byte == b' ');
        let end = skip(bytes, digits_at, |byte| byte.is_ascii_digit() || byte == b'.');
        // `[12] = 3` is code.
        if end > digits_at && bytes[end..].starts_with(b"] ") && bytes.get(end + 2) != Some(&b'=') {
            return Some(Stamp { range: digits_at..end, is_counter: true });
        }
    }
    let mut at = token_at;
    for key in [&b"time="[..], b"ts=", b"timestamp="] {
        if bytes[at..].starts_with(key) {
            at += key.len();
        }
    }
    at = skip(bytes, at, |byte| matches!(byte, b'[' | b'(' | b'"' | b'\'' | b'<'));
    at = skip_escape(bytes, at);
    // Numbers, or the letters of a month, a day or a level.
    bytes.get(at).filter(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())?;
    let found = |end: Option<usize>| {
        let end = end.filter(|&end| !bytes.get(end).is_some_and(u8::is_ascii_alphanumeric))?;
        Some(Stamp { range: at..end, is_counter: false })
    };
    found(date_time(bytes, at))
        .or_else(|| found(month_first(bytes, at)))
        .or_else(|| found(access(bytes, at)))
        .or_else(|| (token <= 1).then(|| found(time(bytes, at, true)).or_else(|| found(epoch(bytes, at)))).flatten())
}

fn skip(bytes: &[u8], from: usize, mut pass: impl FnMut(u8) -> bool) -> usize {
    from + bytes[from.min(bytes.len())..].iter().take_while(|&&byte| pass(byte)).count()
}

/// Past an ANSI colour sequence.
fn skip_escape(bytes: &[u8], from: usize) -> usize {
    if !bytes[from..].starts_with(b"\x1b[") {
        return from;
    }
    let end = skip(bytes, from + 2, |byte| byte.is_ascii_digit() || byte == b';');
    (end + 1).min(bytes.len())
}

/// Exactly `count` digits, or `None`.
fn digits(bytes: &[u8], at: usize, count: usize) -> Option<usize> {
    let end = at + count;
    bytes.get(at..end)?.iter().all(u8::is_ascii_digit).then_some(end)
}

fn one_of(bytes: &[u8], at: usize, set: &[u8]) -> Option<usize> {
    bytes.get(at).filter(|byte| set.contains(byte)).map(|_| at + 1)
}

/// `h:mm`, `hh:mm:ss`, with fraction and zone; `seconds` demands the seconds.
fn time(bytes: &[u8], at: usize, seconds: bool) -> Option<usize> {
    let hours = digits(bytes, at, 2).or_else(|| digits(bytes, at, 1))?;
    let minutes = digits(bytes, one_of(bytes, hours, b":.")?, 2)?;
    let most = |range: Range<usize>, most: &[u8]| range.len() < 2 || bytes[range] <= *most;
    if !most(at..hours, b"24") || !most(minutes - 2..minutes, b"59") {
        return None;
    }
    let Some(mut end) = one_of(bytes, minutes, b":.").and_then(|at| digits(bytes, at, 2)) else {
        return (!seconds).then_some(minutes);
    };
    if !most(end - 2..end, b"60") {
        return None;
    }
    if let Some(fraction) = one_of(bytes, end, b".,:") {
        let past = skip(bytes, fraction, |byte| byte.is_ascii_digit());
        // Pairs that go on are a fingerprint or an address.
        if bytes[end] == b':' && past == fraction + 2 {
            return None;
        }
        if past > fraction {
            end = past;
        }
    }
    (bytes.get(end) != Some(&b':') || !bytes.get(end + 1).is_some_and(u8::is_ascii_hexdigit)).then(|| zone(bytes, end))
}

fn zone(bytes: &[u8], at: usize) -> usize {
    let signed = one_of(bytes, at, b" ").unwrap_or(at);
    if bytes.get(at) == Some(&b'Z') {
        at + 1
    } else if let Some(hours) = one_of(bytes, signed, b"+-").and_then(|at| digits(bytes, at, 2)) {
        digits(bytes, one_of(bytes, hours, b":").unwrap_or(hours), 2).unwrap_or(hours)
    } else {
        at
    }
}

fn date_time(bytes: &[u8], at: usize) -> Option<usize> {
    // klog: I0102 15:04:05.123456
    if let Some(digits_at) = one_of(bytes, at, b"IWEF")
        && let Some(day) = digits(bytes, digits_at, 4)
    {
        return time(bytes, one_of(bytes, day, b" ")?, true);
    }
    // HDFS: 081109 203615
    for count in [6, 8] {
        if let Some(day) = digits(bytes, at, count)
            && let Some(end) = one_of(bytes, day, b" ").and_then(|at| digits(bytes, at, 6))
            && !bytes.get(end).is_some_and(u8::is_ascii_digit)
        {
            return Some(end);
        }
    }
    let long = digits(bytes, at, 4);
    let first = long.or_else(|| digits(bytes, at, 2))?;
    let second = digits(bytes, one_of(bytes, first, b"-/.")?, 2)?;
    let third = one_of(bytes, second, b"-/.")
        .and_then(|at| digits(bytes, at, 4).or_else(|| digits(bytes, at, 2)))
        .or_else(|| long.is_none().then_some(second))?;
    let separator = one_of(bytes, third, b"T _-,")?;
    time(bytes, skip(bytes, separator, |byte| byte == b' '), long.is_none())
}

/// `Jun 14 15:16:01`, `Jun 14 2024 15:16:01`, `14 Jun 2024 15:16:01`, `Sun Dec 04 04:47:44 2005`.
fn month_first(bytes: &[u8], at: usize) -> Option<usize> {
    const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    const DAYS: &[u8] = b"MonTueWedThuFriSatSun";
    let word = |at: usize, words: &[u8]| {
        let found = bytes.get(at..at + 3)?;
        words.chunks(3).any(|word| word == found).then_some(at + 3)
    };
    let blank = |at: usize| Some(skip(bytes, one_of(bytes, at, b" ")?, |byte| byte == b' '));
    let day = |at: usize| digits(bytes, at, 2).or_else(|| digits(bytes, at, 1));
    let mut at = at;
    if let Some(end) = word(at, DAYS) {
        at = blank(one_of(bytes, end, b",").unwrap_or(end))?;
    }
    let mut after = match word(at, MONTHS) {
        Some(month) => blank(day(blank(month)?)?)?,
        None => blank(word(blank(day(at)?)?, MONTHS)?)?,
    };
    if let Some(year) = digits(bytes, after, 4) {
        after = blank(year)?;
    }
    let end = time(bytes, after, true)?;
    let year = one_of(bytes, end, b" ").and_then(|at| digits(bytes, at, 4));
    Some(year.filter(|&end| !bytes.get(end).is_some_and(u8::is_ascii_alphanumeric)).unwrap_or(end))
}

fn access(bytes: &[u8], at: usize) -> Option<usize> {
    let month = one_of(bytes, digits(bytes, at, 2)?, b"/")?;
    bytes.get(month..month + 3)?.iter().all(u8::is_ascii_alphabetic).then_some(())?;
    let year = digits(bytes, one_of(bytes, month + 3, b"/")?, 4)?;
    time(bytes, one_of(bytes, year, b":")?, true)
}

fn epoch(bytes: &[u8], at: usize) -> Option<usize> {
    let end = skip(bytes, at, |byte| byte.is_ascii_digit());
    let plausible = matches!(end - at, 10 | 13) && bytes[at] == b'1';
    let fraction = one_of(bytes, end, b".").map_or(end, |at| skip(bytes, at, |byte| byte.is_ascii_digit()));
    (plausible && matches!(bytes.get(fraction), Some(b' ' | b'\t' | b']' | b':'))).then_some(fraction)
}

named! {
    /// How grave a line of a log says that it is; names in lower case.
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

/// The words of levels. Journals, JUL, zerolog and .NET each write their own.
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
    /// The level that a word names, in any case.
    pub fn named(word: &str) -> Option<Self> {
        let is_likely = (3..=11).contains(&word.len());
        LEVELS.iter().find(|(name, _)| is_likely && word.eq_ignore_ascii_case(name)).map(|(_, level)| *level)
    }

    /// The level for which klog and logcat write a letter.
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

    /// The level of a number of syslog, from 0 for an emergency to 7 for debugging.
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

    /// The level of a number of bunyan and pino, from 10 for a trace to 60 for a fatal error.
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

    /// How grave a line of this level is.
    pub fn severity(self) -> Severity {
        match self {
            Self::Trace | Self::Debug | Self::Info | Self::Notice => Severity::None,
            Self::Warn => Severity::Warning,
            Self::Error => Severity::Error,
            Self::Fatal => Severity::Fatal,
        }
    }
}

/// A level is looked for in this many bytes of a line.
const LEVEL_REACH: usize = 200;

/// Finds the level that a line of a log names, and the bytes that name it: a word in capitals, or in any case between
/// brackets, behind `level=`, or where a tool writes it (`error: …`, `a.c:3: warning: …`); a letter of klog or
/// logcat; a number of syslog or pino.
///
/// Looks at the first 200 bytes.
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

/// `[error]`, `<warn>`, `[core:error]`: a word between brackets, or the last part of one.
fn is_bracketed(bytes: &[u8], at: usize, end: usize) -> bool {
    let before = at.checked_sub(1).map(|before| bytes[before]);
    matches!(before, Some(b'[' | b'<' | b'(')) || before == Some(b':') && bytes.get(end) == Some(&b']')
}

/// `level=warn`, `"level": "warn"`, `severity: warn`.
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

/// `error: …`, `warning[E0425]: …` at the start of a line or behind `: ` or ` - `; `error TS2322: …` there; `  error
/// …` in a column of eslint's.
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
        Some(b':' | b'[') => is_first || [&b": "[..], b" - ", b": fatal "].iter().any(|sign| before.ends_with(sign)),
        Some(b' ') if after.starts_with(b"  ") => is_first || before.ends_with(b"  "),
        Some(b' ') => (before.ends_with(b": ") || before.ends_with(b" - ")) && is_coded(),
        _ => false,
    }
}

/// `E0102 15:04:05.123` of klog; `03-17 16:13:38.811  1702  2395 E Tag: …`, `E/Tag( 123): …` of logcat; `[E 15:04:05
/// …]` of tornado.
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
        // A date alone is no stamp, nor is a number.
        bytes[at - 1] == b' '
            && matches!(after.first(), Some(b' ' | b'/'))
            && bytes[..at].iter().filter(|byte| byte.is_ascii_digit()).count() >= 6
    };
    is_here.then_some((at..at + 1, level))
}

/// `<3>…` and `<131>1 …` of syslog.
fn level_number(line: &str) -> Option<(Range<usize>, Level)> {
    let (number, _) = line.strip_prefix('<')?.split_once('>')?;
    let number: u32 = number.parse().ok().filter(|number| *number < 192)?;
    Some((1..1 + number.to_string().len(), Level::of_syslog(number)))
}

/// Whether the line begins with a level: `ERROR: ...`, `[warn] ...`, `INFO  ...`.
pub(super) fn leads_with_level(line: &str) -> bool {
    let bare = line.trim_start_matches([' ', '[', '<', '(']);
    let first = &bare[..skip(bare.as_bytes(), 0, is_word_byte)];
    // Most lines do not, and a look at their start tells.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_of_many_programs_are_found() {
        for (line, stamp) in [
            ("2025-03-17T09:00:00.001Z [INFO ] x", "2025-03-17T09:00:00.001Z"),
            ("2015-10-18 18:01:47,978 INFO [main] a", "2015-10-18 18:01:47,978"),
            ("2026/01/23 17:58:54 INFO task", "2026/01/23 17:58:54"),
            ("[2024-01-02 03:04:05 +0100] a", "2024-01-02 03:04:05 +0100"),
            ("17/06/09 20:10:40 INFO x", "17/06/09 20:10:40"),
            ("03-17 16:13:38.811  1702  2395 D Win: x", "03-17 16:13:38.811"),
            ("081109 203615 148 INFO dfs", "081109 203615"),
            ("I0102 15:04:05.123456 1 main.go:1] x", "I0102 15:04:05.123456"),
            ("nova-api.log.1 2017-05-16 00:00:00.008 25746 INFO", "2017-05-16 00:00:00.008"),
            ("web_1  | 2024-01-02T03:04:05Z up", "2024-01-02T03:04:05Z"),
            ("\u{1b}[2m2024-01-02T03:04:05Z\u{1b}[0m up", "2024-01-02T03:04:05Z"),
            ("time=\"2024-01-02T03:04:05Z\" level=info", "2024-01-02T03:04:05Z"),
            ("Jun 14 15:16:01 combo sshd[1]: x", "Jun 14 15:16:01"),
            ("Jul  1 09:00:55 host kernel[0]: x", "Jul  1 09:00:55"),
            ("[Sun Dec 04 04:47:44 2005] [notice] x", "Sun Dec 04 04:47:44 2005"),
            ("10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /\"", "10/Oct/2000:13:55:36 -0700"),
            ("13:55:36.123 [main] x", "13:55:36.123"),
            ("- 1117838570 2005.06.03 R02-M1 x", "1117838570"),
            ("1700000000123 up", "1700000000123"),
            ("[0042] step", "0042"),
            ("[   12.345678] usb 1-1: new", "12.345678"),
        ] {
            let found = Stamp::find(line).unwrap_or_else(|| panic!("no stamp in {line}"));
            assert_eq!(&line[found.range], stamp, "{line}");
        }
    }

    #[test]
    fn dates_and_numbers_alone_are_no_stamps() {
        for line in [
            "",
            "2012-01-01,0.0,12.8,5.0",
            "released 2024-01-02",
            "1234 apples",
            "let x = 10:20",
            "a b c d 2024-01-02 03:04:05",
            "10.5.3 is out",
            "[link] text",
            "12:34:56:78:90:11:22:33:44:",
            "    12:34:56:78:95:69:91",
            "00:16:10:20:30:40 up",
            "10:20:30:ab:cd:ef",
            "86:60:10 of a dump",
            "25:00:00 up",
        ] {
            assert_eq!(Stamp::find(line), None, "{line}");
        }
    }

    #[test]
    fn levels_are_found_in_capitals_brackets_and_keys() {
        let word = |line: &'static str| level(line).map(|(range, _)| &line[range]);
        assert_eq!(word("2024 ERROR x"), Some("ERROR"));
        assert_eq!(word("[Sun] [warn] x"), Some("warn"));
        assert_eq!(word("time=1 level=info msg=x"), Some("info"));
        assert_eq!(word("an error happened"), None);
        assert!(
            leads_with_level("WARN  disk is full")
                && leads_with_level("ERROR: no")
                && !leads_with_level("ERROR handling is described below")
        );
    }
}
