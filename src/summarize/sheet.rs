//! The sheet on which a summary is written: facts are added by falling value until its room is used up.
//!
//! Nothing here fails: a fact that does not fit is cut at an item or word and marked `…`, or omitted. The order of the
//! calls is therefore the ranking. All quoted text passes through [`quote`] or is cleaned as it is written.

use std::borrow::Cow;

use super::identifiers::{Around, holds, salient_identifiers};
use crate::config::NameScorer;
use crate::content::escapes::control;
use crate::tokens::utf16;

const CUT: char = '…';

/// The fewest characters of a truncated piece that are useful.
const LEAST_PIECE: usize = 12;

/// A quoted line that would be cut to fewer characters than this is omitted.
const LEAST_LINE: usize = 40;

/// The words before the first fact on a text that was cut.
const PART_SHOWN: &str = "of the part shown:";

/// The most numbers among the names. A column of ids would displace the rest.
const MOST_NUMBERS: usize = 6;

/// The most items of a kind that are kept. A list of so many may lack some, so it does not count what it omits.
pub(super) const MOST_ITEMS: usize = 2_000;

/// The most names in a summary. None has room for more.
const MOST_NAMES: usize = 400;

/// A summary in the making.
pub(super) struct Sheet {
    text: String,
    left: usize,
}

impl Sheet {
    pub(super) fn new(max_chars: usize) -> Self {
        Self { text: String::new(), left: max_chars }
    }

    /// Returns the number of UTF-16 code units that are still free. All lengths here count those.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Returns `percent` of the room that is still free.
    pub(super) fn share(&self, percent: usize) -> usize {
        self.left / 100 * percent + self.left % 100 * percent / 100
    }

    /// Returns true if a line already ends with these words.
    pub(super) fn has_line(&self, words: &str) -> bool {
        self.text.lines().any(|line| line.ends_with(words))
    }

    /// Adds the notes that a text was cut. The facts that follow are on the part that is shown.
    pub(super) fn cut(&mut self, notes: &[impl AsRef<str>]) {
        if self.text.ends_with(PART_SHOWN) {
            return;
        }
        self.lines(notes, usize::MAX);
        if !notes.is_empty() && self.left > PART_SHOWN.len() + LEAST_PIECE {
            self.line(PART_SHOWN, usize::MAX);
        }
    }

    /// Adds lines as they are, given the number of characters that they may have, at most `room`.
    pub(super) fn head(&mut self, room: usize, lines: impl FnOnce(usize) -> String) {
        let separator = if self.text.is_empty() { "" } else { "\n" };
        let lines = lines(room.min(self.left.saturating_sub(separator.len())));
        self.text.push_str(separator);
        self.text.push_str(&lines);
    }

    /// Adds a fact, after a semicolon on the current line.
    pub(super) fn say(&mut self, fact: &str) {
        self.put(if self.text.ends_with(PART_SHOWN) { " " } else { "; " }, fact, usize::MAX);
    }

    /// Adds a line, cut to `room` characters, and returns false if it did not fit.
    pub(super) fn line(&mut self, words: &str, room: usize) -> bool {
        self.put("\n", words, room)
    }

    /// Adds lines, the most telling first, of at most `room` characters together.
    pub(super) fn lines(&mut self, lines: &[impl AsRef<str>], room: usize) {
        let floor = self.left.saturating_sub(room);
        for line in lines {
            let room = self.left.saturating_sub(floor + 1);
            let is_cut_short = room < LEAST_LINE && utf16::exceeds(line.as_ref(), room);
            if is_cut_short || !self.line(line.as_ref(), room) {
                break;
            }
        }
    }

    /// Adds `count` parts that name a failure, of which some are quoted, the most telling first.
    pub(super) fn failures(&mut self, count: usize, mut quoted: Vec<String>, room: usize) {
        if let Some(first) = quoted.first_mut() {
            *first = format!("{count} naming a failure: {first}");
        }
        self.lines(&quoted, room);
    }

    /// Adds a line `label item, item …+9` of at most `room` characters. The last number counts the omitted items, of
    /// fewer than [`MOST_ITEMS`].
    pub(super) fn list(&mut self, label: &str, items: &[impl AsRef<str>], room: usize) {
        let room = room.min(self.left.saturating_sub(usize::from(!self.text.is_empty())));
        let mut written = label.to_owned();
        let mut used = utf16::len(label);
        let mut shown = 0;
        for item in items {
            let item = clean(item.as_ref(), room);
            let separator = match (shown, label.is_empty()) {
                (0, true) => "",
                (0, false) => " ",
                _ => ", ",
            };
            let cost = utf16::len(&item) + separator.len();
            let rest = if shown + 1 == items.len() { 0 } else { utf16::len(&omission(items, 0)) };
            if used + cost + rest > room {
                break;
            }
            written.push_str(separator);
            written.push_str(&item);
            used += cost;
            shown += 1;
        }
        if shown == 0 {
            // A label with a few characters of an item is useless.
            if let Some(first) = items.first().filter(|_| room > used + LEAST_PIECE) {
                self.line(&format!("{label} {}", first.as_ref()), room);
            }
            return;
        }
        if shown < items.len() {
            written.push_str(&omission(items, shown));
        }
        self.line(&written, room);
    }

    /// Adds names, paths and numbers of `text` that the summary does not have yet, as many as fit.
    pub(super) fn names(&mut self, text: &str) {
        const LABEL: &str = "names:";
        let wanted = (self.left / 6).min(MOST_NAMES);
        if self.left < LABEL.len() + LEAST_PIECE {
            return;
        }
        let mut written = String::new();
        let mut room = self.left - LABEL.len() - 1;
        let mut numbers = 0;
        for name in salient_identifiers(text, wanted, &Around::default(), NameScorer::Rule) {
            let cost = utf16::len(name) + if written.is_empty() { 1 } else { 2 };
            let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
            // Skips `b/src/x.rs` if the summary has `src/x.rs`.
            let tail = name.split_once('/').map_or(name, |(_, tail)| if tail.is_empty() { name } else { tail });
            if cost > room || holds(&self.text, tail) || holds(&written, name) || (is_number && numbers >= MOST_NUMBERS)
            {
                continue;
            }
            numbers += usize::from(is_number);
            written.push_str(if written.is_empty() { " " } else { ", " });
            written.push_str(name);
            room -= cost;
        }
        if !written.is_empty() {
            self.line(&format!("{LABEL}{written}"), usize::MAX);
        }
    }

    /// Returns the summary. Marker syntax that was quoted from the text is defused.
    pub(super) fn finish(self) -> String {
        defuse(&self.text)
    }

    fn put(&mut self, separator: &str, piece: &str, room: usize) -> bool {
        let separator = if self.text.is_empty() { "" } else { separator };
        let room = room.min(self.left.saturating_sub(separator.len()));
        let piece = clean(piece, room.saturating_add(1));
        let chars = utf16::len(&piece);
        let kept = if chars <= room { Cow::Borrowed(&*piece) } else { Cow::Owned(shorten(&piece, room)) };
        let cost = utf16::len(&kept);
        if cost == 0 || (cost < chars && cost < LEAST_PIECE && !self.text.is_empty()) {
            return false;
        }
        self.text.push_str(separator);
        self.text.push_str(&kept);
        self.left -= separator.len() + cost;
        true
    }
}

fn omission<T>(items: &[T], shown: usize) -> String {
    if items.len() < MOST_ITEMS { format!(" {CUT}+{}", items.len() - shown) } else { format!(" {CUT}") }
}

/// Returns at most `room` characters of a text, the last one `…` if something is omitted. It cuts as [`prefix`] does.
pub(super) fn shorten(text: &str, room: usize) -> String {
    if !utf16::exceeds(text, room) {
        return text.to_owned();
    }
    if room == 0 {
        return String::new();
    }
    format!("{}{CUT}", prefix(text, room - 1))
}

/// Returns the longest prefix of at most `room` characters that ends neither inside a number nor, if avoidable, inside
/// a word.
fn prefix(text: &str, room: usize) -> &str {
    const WORD: usize = 48;
    let head = utf16::head(text, room);
    let Some(next) = text[head.len()..].chars().next() else { return text };
    if next.is_whitespace() {
        return head.trim_end();
    }
    let reach = head.char_indices().rev().nth(WORD.min(room / 2)).map_or(0, |(at, _)| at);
    if let Some(space) = head[reach..].rfind(char::is_whitespace) {
        return head[..reach + space].trim_end();
    }
    let in_word = |c: char| c.is_alphanumeric() || "_.,:-+".contains(c);
    let word_start = head.trim_end_matches(in_word);
    if word_start.len() > reach {
        return word_start;
    }
    head.trim_end_matches(|c: char| c.is_numeric() || ".,:-+".contains(c))
}

/// Returns the text as one printable line of at most `room` characters, which ends with `…` if it was cut.
pub(super) fn quote(text: &str, room: usize) -> String {
    shorten(&clean(text, room.saturating_add(1)), room)
}

/// Returns one line of printable text: runs of blanks become one space, and control characters and terminal colours are
/// removed.
///
/// The function reads no further than it needs for `most` characters.
fn clean(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    let mut blank = false;
    let mut rest = text;
    while let Some(c) = rest.chars().next().filter(|_| count < most) {
        rest = &rest[control(rest.as_bytes()).map_or(c.len_utf8(), |(_, len)| len)..];
        if c.is_whitespace() {
            blank = count > 0;
        } else if !c.is_control() && c != '\u{feff}' {
            if blank {
                out.push(' ');
                count += 1;
                blank = false;
            }
            out.push(c);
            count += c.len_utf16();
        }
    }
    out
}

/// Returns the text without marker syntax: the bracket that would open a marker becomes a parenthesis.
pub(super) fn defuse(text: &str) -> String {
    let mut out = text.to_owned();
    for (marker, defused) in
        [("[REF_ID", "(REF_ID"), ("[[REWIND", "([REWIND"), ("[[FOLD", "([FOLD"), ("[[DEDUP_REF", "([DEDUP_REF")]
    {
        if out.contains(marker) {
            out = out.replace(marker, defused);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_never_divides_a_number() {
        for (text, room, expected) in [
            ("took 12345 ms", 8, "took…"),
            ("took 12345 ms", 11, "took 12345…"),
            ("pi=3.14159", 6, "pi=…"),
            ("(a)1234567", 6, "(a)…"),
            ("12345678901234567890", 7, "…"),
            ("2026-01-02 03:04:05 x", 15, "2026-01-02…"),
        ] {
            assert_eq!(shorten(text, room), expected, "{text} {room}");
        }
    }

    #[test]
    fn a_cut_prefers_the_end_of_a_word_but_a_blob_is_cut_anywhere() {
        assert_eq!(shorten("the quick brown fox", 12), "the quick…");
        assert_eq!(shorten(&"a".repeat(500), 10), format!("{}…", "a".repeat(9)));
        assert_eq!(shorten("漢字漢字漢字漢字", 4), "漢字漢…");
        assert_eq!(shorten("whole", 5), "whole");
        assert_eq!(shorten("whole", 0), "");
    }

    #[test]
    fn a_name_is_said_where_it_stands_alone() {
        let mut sheet = Sheet::new(200);
        sheet.say("fn open_store_readonly in b/src/store.rs");
        sheet.names("open_store open_store_readonly src/store.rs");
        assert_eq!(sheet.finish(), "fn open_store_readonly in b/src/store.rs\nnames: open_store");
    }

    #[test]
    fn colours_and_control_characters_are_cleaned_away() {
        assert_eq!(clean("\u{feff}\u{1b}[31;1mred\u{1b}[0m\0 \t\r\n  text ", 99), "red text");
    }
}
