//! `[Sun Dec 04 04:47:44 2005] ` -> a layout and a count of ticks, and back, byte for byte.
//!
//! A stamp only counts as one when writing its ticks again gives the same bytes, so an impossible date, a wrong weekday or a
//! missing zero makes it plain text.

use std::fmt::{self, Write};

/// Field letters: Y year, y two digits of it, M month, b its name, D day, d day padded with a blank, a weekday, h m s time
/// of day, e seconds and E milliseconds since 1970, k seconds since boot. Any other character stands for itself. Earlier wins.
const PATTERNS: &[&str] = &[
    "Y-M-DTh:m:s",
    "Y-M-D h:m:s",
    "Y/M/D h:m:s",
    "Y-M-D-h.m.s",
    "D/b/Y:h:m:s",
    "a b D h:m:s Y",
    "a b d h:m:s Y",
    "b d h:m:s",
    "b D h:m:s",
    "y/M/D h:m:s",
    "yMD hms",
    "M-D h:m:s",
    "MD h:m:s",
    "h:m:s",
    "[k]",
    "E",
    "e",
];
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
/// A leap year, so that 29 February exists where stamps name no year.
const NO_YEAR: i64 = 2000;
const DAY: i64 = 86_400;
/// Stamps are looked for in this many bytes of a line.
const REACH: usize = 120;

/// How a log writes its stamps.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Layout {
    pattern: &'static str,
    /// The character before the fraction, and its digits.
    fraction: Option<(u8, u8)>,
    /// Punctuation before the stamp.
    before: String,
    /// Zone, punctuation and blanks after it.
    after: String,
}

/// A stamp in a line: its bytes, and its ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) ticks: i64,
}

impl Layout {
    /// The layout of most of some lines.
    pub(super) fn of_most<'a>(lines: impl Iterator<Item = &'a str> + Clone) -> Option<Self> {
        let mut seen: Vec<(Self, usize)> = Vec::new();
        for layout in lines.clone().filter_map(first_layout) {
            match seen.iter().position(|(known, _)| *known == layout) {
                Some(at) => seen[at].1 += 1,
                None => seen.push((layout, 1)),
            }
        }
        let most = seen.iter().map(|&(_, count)| count).max().filter(|&count| count > 1)?;
        let mut layout = seen.into_iter().find(|&(_, count)| count == most)?.0;
        layout.after += &shared_punctuation(lines, &layout);
        Some(layout)
    }

    /// The layout of a whole stamp, as a legend shows it.
    pub(super) fn of_sample(sample: &str) -> Option<Self> {
        let mut layout = first_layout(sample)?;
        let stamp = layout.find(sample).filter(|stamp| stamp.start == 0)?;
        layout.after += &sample[stamp.end..];
        Some(layout)
    }

    /// The first stamp of this layout near the start of a line.
    pub(super) fn find(&self, line: &str) -> Option<Stamp> {
        let bytes = line.as_bytes();
        let may_begin = |at: &usize| may_begin(self.pattern, bytes[*at]) && begins_word(bytes, *at);
        (0..bytes.len().min(REACH)).filter(may_begin).find_map(|at| {
            let (end, fraction, ticks) = read(self.pattern, bytes, at)?;
            if fraction != self.fraction || !line[..at].ends_with(&self.before) {
                return None;
            }
            let end = line[end..].starts_with(&self.after).then_some(end + self.after.len())?;
            Some(Stamp { start: at - self.before.len(), end, ticks })
        })
    }

    /// The stamp's bytes.
    pub(super) fn write(&self, ticks: i64) -> String {
        let mut out = String::with_capacity(self.before.len() + self.pattern.len() + 16 + self.after.len());
        self.write_to(&mut out, ticks);
        out
    }

    /// Adds the stamp's bytes to a text.
    pub(super) fn write_to(&self, out: &mut String, ticks: i64) {
        out.push_str(&self.before);
        write_to(out, self.pattern, self.fraction, ticks).expect("a string takes everything");
        out.push_str(&self.after);
    }

    /// Whether the time between two stamps is certain: a stamp without a date cannot tell a minute from a day and a minute.
    pub(super) fn is_certain(&self, gap: i64) -> bool {
        let limit = match self.pattern {
            pattern if pattern.contains(['Y', 'y', 'e', 'E', 'k']) => 3660 * DAY,
            pattern if pattern.contains(['D', 'd']) => DAY,
            _ => DAY / 2,
        };
        gap.checked_abs().is_some_and(|gap| gap / self.ticks_per_second() < limit)
    }

    /// The unit of ticks, for the legend.
    pub(super) fn unit(&self) -> String {
        match (self.pattern, self.fraction) {
            ("E", _) | (_, Some((_, 3))) => "ms".into(),
            (_, None) => "s".into(),
            (_, Some((_, 6))) => "µs".into(),
            (_, Some((_, 9))) => "ns".into(),
            (_, Some((_, digits))) => format!("1e-{digits} s"),
        }
    }

    fn ticks_per_second(&self) -> i64 {
        match self.pattern {
            "E" => 1000,
            _ => 10_i64.pow(u32::from(self.fraction.map_or(0, |(_, digits)| digits))),
        }
    }
}

/// What stands between the stamp and the text in all lines of a layout.
fn shared_punctuation<'a>(lines: impl Iterator<Item = &'a str>, layout: &Layout) -> String {
    let is_joint = |c: char| " \t:,-])|".contains(c);
    let mut shared: Option<&str> = None;
    for line in lines {
        let Some(stamp) = layout.find(line) else { continue };
        let rest = &line[stamp.end..];
        let joint = &rest[..rest.find(|c| !is_joint(c)).unwrap_or(rest.len())];
        let common =
            shared.map_or(joint.len(), |known| known.bytes().zip(joint.bytes()).take_while(|(a, b)| a == b).count());
        shared = Some(&joint[..common]);
    }
    shared.unwrap_or_default().to_owned()
}

/// The layout of the first stamp of any kind near the start of a line.
fn first_layout(line: &str) -> Option<Layout> {
    let bytes = line.as_bytes();
    let mut starts = [0; REACH];
    let mut count = 0;
    for at in (0..bytes.len().min(REACH)).filter(|&at| begins_word(bytes, at)) {
        starts[count] = at;
        count += 1;
    }
    PATTERNS.iter().find_map(|&pattern| {
        starts[..count].iter().filter(|&&at| may_begin(pattern, bytes[at])).find_map(|&at| {
            let (end, fraction, _) = read(pattern, bytes, at)?;
            let before = &line[..at];
            let is_punctuation = before.len() <= 4 && before.bytes().all(|b| b.is_ascii_punctuation() && b != b'`');
            Some(Layout {
                pattern,
                fraction,
                before: if is_punctuation { before.to_owned() } else { String::new() },
                after: zone(&line[end..]).to_owned(),
            })
        })
    })
}

/// A stamp starts at a digit, a capital or a bracket, not within a word or number; after the level letter of glog it may.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    (bytes[at].is_ascii_digit() || bytes[at].is_ascii_uppercase() || bytes[at] == b'[')
        && match at.checked_sub(1).map(|before| bytes[before]) {
            None => true,
            Some(b'I' | b'W' | b'E' | b'F') if at == 1 => true,
            Some(before) => !before.is_ascii_alphanumeric() && before != b'.' && before != b':',
        }
}

/// Whether the first field of a pattern may start with a byte.
fn may_begin(pattern: &str, byte: u8) -> bool {
    match pattern.as_bytes()[0] {
        b'a' | b'b' => byte.is_ascii_uppercase(),
        b'[' => byte == b'[',
        _ => byte.is_ascii_digit(),
    }
}

fn zone(rest: &str) -> &str {
    let bytes = rest.as_bytes();
    if bytes.first() == Some(&b'Z') && !bytes.get(1).is_some_and(u8::is_ascii_alphanumeric) {
        return &rest[..1];
    }
    let sign = usize::from(bytes.first() == Some(&b' '));
    let digits =
        |range: std::ops::Range<usize>| bytes.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    if !matches!(bytes.get(sign), Some(b'+' | b'-')) || !digits(sign + 1..sign + 3) {
        return "";
    }
    let colon = usize::from(bytes.get(sign + 3) == Some(&b':'));
    let end = sign + 5 + colon;
    if digits(sign + 3 + colon..end) && !bytes.get(end).is_some_and(u8::is_ascii_digit) { &rest[..end] } else { "" }
}

/// Reads a stamp at a position: its end, its fraction and its ticks.
#[expect(clippy::type_complexity, reason = "three plain facts for two callers")]
fn read(pattern: &str, bytes: &[u8], start: usize) -> Option<(usize, Option<(u8, u8)>, i64)> {
    let mut at = start;
    let number = |at: &mut usize, width: usize| -> Option<i64> {
        let digits = bytes.get(*at..*at + width)?;
        *at += width;
        digits.iter().try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0')))
    };
    let name = |at: &mut usize, names: &[&str]| -> Option<i64> {
        let word = bytes.get(*at..*at + 3)?;
        *at += 3;
        names.iter().position(|name| name.as_bytes() == word).and_then(|index| i64::try_from(index).ok())
    };
    let (mut year, mut month, mut day, mut seconds) = (NO_YEAR, 1, 1, 0);
    let mut fraction = None;
    let mut parts = 0;
    for field in pattern.bytes() {
        match field {
            b'Y' => year = number(&mut at, 4).filter(|&year| (1970..2200).contains(&year))?,
            b'y' => year = 2000 + number(&mut at, 2)?,
            b'M' => month = number(&mut at, 2)?,
            b'b' => month = 1 + name(&mut at, &MONTHS)?,
            b'D' => day = number(&mut at, 2)?,
            b'd' if bytes.get(at) == Some(&b' ') => {
                at += 1;
                day = number(&mut at, 1)?;
            }
            b'd' => day = number(&mut at, 2)?,
            // Checked when the stamp is written again.
            b'a' => drop(name(&mut at, &WEEKDAYS)?),
            b'h' => seconds += number(&mut at, 2).filter(|&hours| hours < 24)? * 3600,
            b'm' => seconds += number(&mut at, 2).filter(|&minutes| minutes < 60)? * 60,
            b's' => seconds += number(&mut at, 2).filter(|&seconds| seconds < 60)?,
            b'e' => seconds = number(&mut at, 10).filter(|seconds| (900_000_000..7_000_000_000).contains(seconds))?,
            b'E' => seconds = number(&mut at, 13).filter(|&millis| millis > 900_000_000_000)?,
            b'k' => {
                let width = bytes[at..].iter().take(12).position(|&b| b == b'.').filter(|&width| width >= 5)?;
                let blanks = bytes[at..].iter().take_while(|&&b| b == b' ').count();
                at += blanks;
                seconds = number(&mut at, width.checked_sub(blanks)?).filter(|&seconds| seconds < 1_000_000_000)?;
            }
            literal => {
                (bytes.get(at) == Some(&literal)).then_some(())?;
                at += 1;
            }
        }
        if matches!(field, b's' | b'e' | b'k')
            && let Some(separator @ (b'.' | b',')) = bytes.get(at)
        {
            let digits = bytes[at + 1..].iter().take(10).take_while(|b| b.is_ascii_digit()).count();
            if (1..=9).contains(&digits) {
                at += 1;
                parts = number(&mut at, digits)?;
                fraction = Some((*separator, u8::try_from(digits).ok()?));
            }
        }
    }
    if bytes.get(at).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let seconds = if pattern.contains('D') || pattern.contains('d') {
        seconds + DAY * days_from_civil(year, month, day)
    } else {
        seconds
    };
    let ticks = seconds * 10_i64.pow(u32::from(fraction.map_or(0, |(_, digits)| digits))) + parts;
    let mut rest = Expected(&bytes[start..at]);
    let is_same = write_to(&mut rest, pattern, fraction, ticks).is_ok() && rest.0.is_empty();
    is_same.then_some((at, fraction, ticks))
}

/// Takes what is written as long as it is what should be written.
struct Expected<'a>(&'a [u8]);

impl Write for Expected<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = self.0.strip_prefix(text.as_bytes()).ok_or(fmt::Error)?;
        Ok(())
    }

    fn write_char(&mut self, c: char) -> fmt::Result {
        match self.0.split_first() {
            Some((first, rest)) if char::from(*first) == c => {
                self.0 = rest;
                Ok(())
            }
            _ => Err(fmt::Error),
        }
    }
}

fn write_to(out: &mut impl Write, pattern: &str, fraction: Option<(u8, u8)>, ticks: i64) -> fmt::Result {
    let scale = 10_i64.pow(u32::from(fraction.map_or(0, |(_, digits)| digits)));
    let (seconds, parts) = (ticks.div_euclid(scale), ticks.rem_euclid(scale));
    let (days, time) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let (year, month, day) = civil_from_days(days);
    for field in pattern.chars() {
        match field {
            'Y' => digits(out, year, 4),
            'y' => digits(out, year - 2000, 2),
            'M' => digits(out, month as i64, 2),
            'b' => out.write_str(MONTHS[month - 1]),
            'D' => digits(out, day, 2),
            'd' => write!(out, "{day:2}"),
            'a' => out.write_str(WEEKDAYS[usize::try_from(days.rem_euclid(7)).expect("less than seven")]),
            'h' => digits(out, time / 3600, 2),
            'm' => digits(out, time / 60 % 60, 2),
            's' => digits(out, time % 60, 2),
            'e' => digits(out, seconds, 10),
            'E' => digits(out, seconds, 13),
            'k' => write!(out, "{seconds:5}"),
            literal => out.write_char(literal),
        }?;
        if let (Some((separator, width)), 's' | 'e' | 'k') = (fraction, field) {
            out.write_char(char::from(separator))?;
            digits(out, parts, usize::from(width))?;
        }
    }
    Ok(())
}

/// `{number:0width$}`, but a stamp has many of them: without what formatting costs.
fn digits(out: &mut impl Write, number: i64, width: usize) -> fmt::Result {
    let mut written = [b'0'; 20];
    let mut rest = number.unsigned_abs();
    for byte in written[..width].iter_mut().rev() {
        *byte = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    if number < 0 || rest > 0 {
        return write!(out, "{number:0width$}");
    }
    out.write_str(str::from_utf8(&written[..width]).expect("digits"))
}

/// Days since 1970-01-01 in the Gregorian calendar (H. Hinnant, chrono-compatible low-level date algorithms).
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, usize, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, usize::try_from(month).expect("one to twelve"), day_of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_of_real_logs_are_found_with_zone_and_punctuation() {
        for (line, sample, unit) in [
            ("2025-03-17T09:00:00.001Z [INFO ] x", "2025-03-17T09:00:00.001Z ", "ms"),
            ("2025-03-17T09:00:00+02:00 x", "2025-03-17T09:00:00+02:00 ", "s"),
            ("2015-10-18 18:01:47,978 INFO x", "2015-10-18 18:01:47,978 ", "ms"),
            ("[Sun Dec 04 04:47:44 2005] [notice] x", "[Sun Dec 04 04:47:44 2005] ", "s"),
            ("Jul  4 09:00:55 host x", "Jul  4 09:00:55 ", "s"),
            ("- 1117838570 R02 2005-06-03-15.42.50.675872 R02", "2005-06-03-15.42.50.675872 ", "µs"),
            ("081109 203615 148 INFO x", "081109 203615 ", "s"),
            ("17/06/09 20:10:40 INFO x", "17/06/09 20:10:40 ", "s"),
            ("03-17 16:13:38.811  1702 x", "03-17 16:13:38.811  ", "ms"),
            ("10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET", "10/Oct/2000:13:55:36 -0700] ", "s"),
            ("I0317 16:13:38.811234 1 x", "0317 16:13:38.811234 ", "µs"),
            ("[    5.123456] usb x", "[    5.123456] ", "µs"),
            ("1700000000123 x", "1700000000123 ", "ms"),
        ] {
            let lines = [line, line];
            let layout = Layout::of_most(lines.into_iter()).unwrap_or_else(|| panic!("{line}"));
            let stamp = layout.find(line).unwrap();
            assert_eq!(&line[stamp.start..stamp.end], sample, "{layout:?}");
            assert_eq!(layout.write(stamp.ticks), sample);
            assert_eq!(layout.unit(), unit);
            assert_eq!(Layout::of_sample(sample), Some(layout));
        }
    }

    #[test]
    fn what_would_not_be_written_the_same_is_no_stamp() {
        for line in [
            "2025-02-29T00:00:00 x",
            "2025-13-01T00:00:00 x",
            "[   5.1] x",
            "9999999999.999999999 x",
            "[99999999999.999999999] x",
            "24:00:00 x",
            "12:34:567 x",
            "Jul 04 09:00 x",
            "v2025-03-17T09:00:00x1:",
        ] {
            assert_eq!(Layout::of_most([line, line].into_iter()).map(|layout| layout.find(line)), None, "{line}");
        }
    }

    #[test]
    fn a_gap_that_the_stamps_cannot_tell_is_not_certain() {
        let layout = |line| Layout::of_most([line, line].into_iter()).unwrap();
        let syslog = layout("Feb 28 23:59:00 host");
        let gap = |layout: &Layout, a: &str, b: &str| layout.find(b).unwrap().ticks - layout.find(a).unwrap().ticks;
        assert!(!syslog.is_certain(gap(&syslog, "Feb 28 23:59:00 host", "Mar  1 00:01:00 host")));
        assert!(!syslog.is_certain(gap(&syslog, "Dec 31 23:59:00 host", "Jan  1 00:01:00 host")));
        assert!(syslog.is_certain(gap(&syslog, "Mar  1 23:59:00 host", "Mar  2 00:01:00 host")));
        let clock = layout("23:59:00 x");
        assert!(!clock.is_certain(gap(&clock, "23:59:00 x", "00:01:00 x")));
    }
}
