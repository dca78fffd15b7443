//! Parses the time stamps of log lines.
//!
//! A date without a time is not a time stamp, because tables are full of dates.

use std::ops::Range;

use super::escapes::control;
use super::lines::head;

/// The time stamp of a log line: a date and a time as programs, syslog, ctime and access logs write them, a time alone,
/// seconds or milliseconds since 1970, or a counter in brackets at the start of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// Its byte range in the line, without surrounding brackets and quotes.
    pub range: Range<usize>,
    /// True if it is only a counter in brackets.
    pub is_counter: bool,
}

/// The maximum number of words before a stamp: `- 1117838570`, `web_1 | 2024-...`, `10.0.0.1 - - [10/Oct/...`.
const TOKENS_BEFORE: usize = 3;
/// The number of bytes within which a stamp must start.
const REACH: usize = 160;

impl Stamp {
    /// Returns the stamp at the start of a line, or after at most three words (host, container, file, `-`).
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

    /// Returns true if a line begins with a stamp.
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
    // A stamp begins with a digit, or with the letters of a month, a weekday or a level.
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

/// Returns the end of a run of bytes that pass.
pub(crate) fn skip(bytes: &[u8], from: usize, mut pass: impl FnMut(u8) -> bool) -> usize {
    from + bytes[from.min(bytes.len())..].iter().take_while(|&&byte| pass(byte)).count()
}

/// Returns the position after a control sequence, such as a colour.
fn skip_escape(bytes: &[u8], from: usize) -> usize {
    from + bytes.get(from..).and_then(control).map_or(0, |(_, length)| length)
}

/// Returns the position after exactly `count` digits, or `None`.
pub(super) fn digits(bytes: &[u8], at: usize, count: usize) -> Option<usize> {
    let end = at + count;
    bytes.get(at..end)?.iter().all(u8::is_ascii_digit).then_some(end)
}

fn one_of(bytes: &[u8], at: usize, set: &[u8]) -> Option<usize> {
    bytes.get(at).filter(|byte| set.contains(byte)).map(|_| at + 1)
}

/// Returns the end of `h:mm` or `hh:mm:ss` with fraction and zone. With `seconds`, the seconds are required.
pub(super) fn time(bytes: &[u8], at: usize, seconds: bool) -> Option<usize> {
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
        // More pairs make it a fingerprint or an address.
        if bytes[end] == b':' && past == fraction + 2 {
            return None;
        }
        if past > fraction {
            end = past;
        }
    }
    (bytes.get(end) != Some(&b':') || !bytes.get(end + 1).is_some_and(u8::is_ascii_hexdigit)).then(|| zone(bytes, end))
}

/// Returns true if each pair of digits is a number up to its limit.
fn are_pairs_at_most<const COUNT: usize>(digits: &[u8], most: [u8; COUNT]) -> bool {
    digits.chunks(2).zip(most).all(|(pair, most)| (pair[0] - b'0') * 10 + pair[1] - b'0' <= most)
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
            && are_pairs_at_most(&bytes[day - 4..day], [12, 31])
            && are_pairs_at_most(&bytes[end - 6..end], [23, 59, 60])
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

/// Returns the end of `Jun 14 15:16:01`, `Jun 14 2024 15:16:01`, `14 Jun 2024 15:16:01` or `Sun Dec 04 04:47:44 2005`.
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
