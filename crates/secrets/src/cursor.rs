//! A position in a text, and the moves over its bytes that all finders share.
//!
//! Each move is bounded, so that a text of nothing but beginnings is read in linear time. A position may lie behind the
//! end of the text, where nothing is.

use std::ops::Range;

use crate::value::is_word;

/// Longest run of blanks between a name, its sign and its value.
const BLANKS: usize = 8;

/// Longest run of blanks and line ends between two words.
const LINES: usize = 64;

/// Most backslashes before a quote: one in JSON inside a string, and three or seven where that stands in strings again.
const BACKSLASHES: usize = 7;

/// Longest escape sequence: a colour of 24 bits behind `\u001b`.
const LONGEST_ESCAPE: usize = 26;

/// Longest value in quotes or on a line of its own.
pub(crate) const LONGEST: usize = 256;

/// A position in a text.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    pub(crate) at: usize,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str, at: usize) -> Self {
        Self { text, at }
    }

    /// Returns the whole text.
    pub(crate) fn text(self) -> &'t str {
        self.text
    }

    /// Returns the bytes from here on.
    pub(crate) fn rest(self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// Returns the bytes before.
    pub(crate) fn before(self) -> &'t [u8] {
        &self.text.as_bytes()[..self.at.min(self.text.len())]
    }

    pub(crate) fn peek(self) -> Option<u8> {
        self.rest().first().copied()
    }

    pub(crate) fn previous(self) -> Option<u8> {
        self.before().last().copied()
    }

    /// Returns the text from here to there, which both have to be on character boundaries.
    pub(crate) fn shown(self, end: Self) -> &'t str {
        &self.text[self.at..end.at]
    }

    /// Returns the position so many bytes on.
    pub(crate) fn plus(self, bytes: usize) -> Self {
        Self { at: self.at + bytes, ..self }
    }

    /// Behind at most `limit` bytes of a kind.
    pub(crate) fn skip(self, limit: usize, is_part: impl Fn(u8) -> bool) -> Self {
        self.plus(self.rest().iter().take(limit).take_while(|&&byte| is_part(byte)).count())
    }

    /// Before at most `limit` bytes of a kind that end here.
    pub(crate) fn back(self, limit: usize, is_part: impl Fn(u8) -> bool) -> Self {
        let length = self.before().iter().rev().take(limit).take_while(|&&byte| is_part(byte)).count();
        Self { at: self.at - length, ..self }
    }

    /// Behind a word in any case.
    pub(crate) fn eat(self, word: &str) -> Option<Self> {
        let is_here = self.rest().get(..word.len()).is_some_and(|here| here.eq_ignore_ascii_case(word.as_bytes()));
        is_here.then(|| self.plus(word.len()))
    }

    /// Behind the escape sequence that this position is inside of, or here where it is inside of none.
    pub(crate) fn skip_escape(self) -> Self {
        let ends =
            (1..=LONGEST_ESCAPE.min(self.at)).filter_map(|back| Self { at: self.at - back, ..self }.escape_end());
        ends.map(|end| end.at).find(|&end| end >= self.at).map_or(self, |at| Self { at, ..self })
    }

    /// Behind the escape sequences that begin here.
    pub(crate) fn skip_escapes(self) -> Self {
        let mut end = self;
        while let Some(next) = end.escape_end() {
            end = next;
        }
        end
    }

    /// Behind the escape sequence that begins here: a line end or a tab as JSON and shells write it (`\n`, `\u000a`,
    /// `\x0a`, `\012`), or a colour, whose first character may be written so, too.
    fn escape_end(self) -> Option<Self> {
        let end = match *self.rest() {
            [0x1b, ..] => self.plus(1),
            [b'\\', b'u', ..] => self.plus(2).eat_digits(4, 16)?,
            [b'\\', b'x', ..] => self.plus(2).eat_digits(2, 16)?,
            [b'\\', b'0'..=b'3', ..] => self.plus(1).eat_digits(3, 8)?,
            [b'\\', b'n' | b'r' | b't' | b'b' | b'f' | b'v' | b'e', ..] => self.plus(2),
            _ => return None,
        };
        let parameters = end.plus(1).skip(LONGEST_ESCAPE, |byte| byte.is_ascii_digit() || byte == b';');
        let is_colour = end.peek() == Some(b'[') && parameters.peek() == Some(b'm');
        Some(if is_colour { parameters.plus(1) } else { end })
    }

    /// Behind so many digits.
    fn eat_digits(self, count: usize, radix: u32) -> Option<Self> {
        let end = self.skip(count, |byte| char::from(byte).is_digit(radix));
        (end.at == self.at + count).then_some(end)
    }

    /// Returns true if a key can start here: not inside a word, but behind an escape sequence.
    pub(crate) fn is_start(self) -> bool {
        let is_inside = |before| is_word(before) || before == b'-';
        let is_behind_escape = || Self { at: self.at - 1, ..self }.skip_escape().at == self.at;
        !self.previous().is_some_and(is_inside) || is_behind_escape()
    }

    pub(crate) fn skip_blanks(self) -> Self {
        self.skip(BLANKS, |byte| matches!(byte, b' ' | b'\t'))
    }

    /// Behind blanks and line ends, real or escaped.
    pub(crate) fn skip_lines(self) -> Self {
        let mut cursor = self;
        while cursor.at < self.at + LINES {
            cursor = match cursor.rest() {
                [b' ' | b'\t' | b'\n' | b'\r', ..] => cursor.plus(1),
                [b'\\', b'n' | b'r' | b't', ..] => cursor.plus(2),
                _ => break,
            };
        }
        cursor
    }

    /// Behind a quote and its backslashes, or here where none stands.
    pub(crate) fn skip_quote(self) -> Self {
        let behind = self.skip(BACKSLASHES, |byte| byte == b'\\');
        if matches!(behind.peek(), Some(b'"' | b'\'' | b'`')) { behind.plus(1) } else { self }
    }

    /// Behind `=`, `:`, `:=` or `=>` with its blanks, but not `==` or `::`.
    pub(crate) fn skip_sign(self) -> Option<Self> {
        let sign = self.skip_blanks();
        let length = match sign.rest() {
            [b'=', b'=', ..] | [b':', b':', ..] => return None,
            [b':', b'=', ..] | [b'=', b'>', ..] => 2,
            [b'=' | b':', ..] => 1,
            _ => return None,
        };
        Some(sign.plus(length).skip_blanks())
    }

    /// What stands in the quotes that open here.
    pub(crate) fn quoted(self) -> Option<Range<usize>> {
        let start = self.skip_quote();
        let quote = start.previous().filter(|_| start.at > self.at)?;
        let end = start.skip(LONGEST, |byte| byte != quote && byte != b'\\' && !byte.is_ascii_control());
        let behind = end.skip_quote();
        (end.at < start.at + LONGEST && behind.at > end.at && behind.previous() == Some(quote))
            .then_some(start.at..end.at)
    }
}
