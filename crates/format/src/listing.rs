//! The line numbers that `cat -n` and read tools print before the lines of a file, and listings that leave them out.

use std::borrow::Cow;

use memchr::memmem;

use crate::fold;
use crate::naive::{MOST_ADDED, unread};

/// The legend of a listing that leaves numbers out.
pub const LEGEND: &str = "a line without a number has the next one";

/// The longest prefix, in bytes. No tool pads numbers further, and the limit bounds how much an outside text can expand
/// to.
const MAX_PREFIX: usize = 24;

/// A line with the number that `cat -n` or a read tool put before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberedLine<'a> {
    /// The line number.
    pub number: u64,
    /// The prefix, separator included; `prefix` + `text` is the line.
    pub prefix: &'a str,
    /// The text after the prefix.
    pub text: &'a str,
}

impl<'a> NumberedLine<'a> {
    /// Reads `     1→text`, `     1<tab>text`, `12| text`, `12 │ text` or `12:text` (at most nine digits, blanks before
    /// them).
    pub fn parse(line: &'a str) -> Option<Self> {
        let digits_at = line.bytes().take_while(|&byte| byte == b' ').count();
        let digits = line[digits_at..].bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 || digits > 9 {
            return None;
        }
        let rest = &line[digits_at + digits..];
        let bare = rest.trim_start_matches(' ');
        let blanks = rest.len() - bare.len();
        let separator = match bare.chars().next()? {
            '→' | '\t' | ':' if blanks == 0 => bare.chars().next()?.len_utf8(),
            bar @ ('|' | '│') if blanks <= 1 => bar.len_utf8() + usize::from(bare[bar.len_utf8()..].starts_with(' ')),
            _ => return None,
        };
        let prefix_end = digits_at + digits + blanks + separator;
        let number = line[digits_at..digits_at + digits].parse().ok()?;
        Some(Self { number, prefix: &line[..prefix_end], text: &line[prefix_end..] })
    }
}

impl NumberedLine<'_> {
    /// Returns the prefix of the next line, with the number padded to the same width.
    pub fn next_prefix(&self) -> String {
        let separator = self.prefix.trim_start_matches(' ').trim_start_matches(|one: char| one.is_ascii_digit());
        let width = self.prefix.len() - separator.len();
        format!("{:>width$}{separator}", self.number + 1)
    }

    /// Returns true if the prefix is a line number. The first cell of a tab-separated table has no blanks before it.
    pub fn is_listed(&self) -> bool {
        self.prefix.len() <= MAX_PREFIX && (self.prefix.starts_with(' ') || !self.prefix.ends_with('\t'))
    }
}

/// Undoes [`without_expected_numbers`]; `None` if the first line has no number.
pub fn with_expected_numbers(bare: &str) -> Option<String> {
    with_numbers(bare, false)
}

/// Does the same as [`with_expected_numbers`], or as the naive reader does.
pub(crate) fn with_numbers(bare: &str, is_naive: bool) -> Option<String> {
    let mut above = 0;
    let mut listing = String::with_capacity(bare.len() * 2);
    let mut expected: Option<String> = None;
    for line in bare.split('\n') {
        let start = listing.len();
        above += 1;
        if NumberedLine::parse(line).is_none() {
            listing.push_str(expected.as_deref()?);
        } else {
            above = 0;
        }
        listing.push_str(line);
        let found = NumberedLine::parse(&listing[start..]).filter(NumberedLine::is_listed)?;
        expected = Some(found.next_prefix());
        if is_naive && above > MOST_ADDED {
            let read = unread(found.prefix) + found.text;
            listing.replace_range(start.., &read);
        }
        listing.push('\n');
    }
    listing.pop();
    Some(listing)
}

/// Restores the numbers that the listing folds of a text left out.
pub fn renumbered(text: &str) -> Cow<'_, str> {
    let mut whole = String::new();
    let mut copied = 0;
    for at in memmem::find_iter(text.as_bytes(), fold::OPENING) {
        if at < copied || !(at == 0 || text.as_bytes()[at - 1] == b'\n') {
            continue;
        }
        let header = text[at..].split('\n').next().and_then(fold::parse_header);
        if header.is_none_or(|(fold, _)| fold.legend != LEGEND) {
            continue;
        }
        let listing = fold::parse(&text[at..]).and_then(|(fold, len)| Some((with_expected_numbers(&fold.body?)?, len)));
        // If one listing is cut off, no complete one can follow.
        let Some((listing, len)) = listing else { break };
        whole.push_str(&text[copied..at]);
        whole.push_str(&listing);
        copied = at + len;
    }
    if copied == 0 { Cow::Borrowed(text) } else { Cow::Owned(whole + &text[copied..]) }
}
