//! A position in a text, and the bounded moves over its bytes that all finders share.
//!
//! Every move is bounded, so a text that consists of nothing but prefixes of secrets is still read in linear time. A
//! position may be past the end of the text.

use std::ops::Range;

use crate::value::is_word;

/// The longest run of blanks between a name, its sign and its value, in bytes.
const MAX_BLANKS: usize = 8;

/// The longest run of blanks and line ends between two words, in bytes.
const MAX_LINE_GAP_BYTES: usize = 64;

/// The maximum number of backslashes before a quote: one for JSON inside a string, three or seven for deeper nesting.
const MAX_BACKSLASHES: usize = 7;

/// The longest escape sequence, in bytes: a 24-bit colour behind `\u001b`.
const MAX_ESCAPE_BYTES: usize = 26;

/// The longest value in quotes or on a line of its own, in bytes.
pub(crate) const MAX_VALUE_BYTES: usize = 256;

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

    /// Returns the bytes from this position on.
    pub(crate) fn rest(self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// Returns the bytes before this position.
    pub(crate) fn before(self) -> &'t [u8] {
        &self.text.as_bytes()[..self.at.min(self.text.len())]
    }

    pub(crate) fn peek(self) -> Option<u8> {
        self.rest().first().copied()
    }

    pub(crate) fn previous(self) -> Option<u8> {
        self.before().last().copied()
    }

    /// Returns the text between two positions, both of which must be character boundaries.
    pub(crate) fn shown(self, end: Self) -> &'t str {
        &self.text[self.at..end.at]
    }

    /// Returns the position this many bytes later.
    pub(crate) fn plus(self, bytes: usize) -> Self {
        Self { at: self.at + bytes, ..self }
    }

    /// Returns the position after at most `limit` bytes that `is_part` accepts.
    pub(crate) fn skip(self, limit: usize, is_part: impl Fn(u8) -> bool) -> Self {
        self.plus(self.rest().iter().take(limit).take_while(|&&byte| is_part(byte)).count())
    }

    /// Returns the position before at most `limit` bytes that `is_part` accepts and that end here.
    pub(crate) fn back(self, limit: usize, is_part: impl Fn(u8) -> bool) -> Self {
        let length = self.before().iter().rev().take(limit).take_while(|&&byte| is_part(byte)).count();
        Self { at: self.at - length, ..self }
    }

    /// Returns the position after a word, ignoring case.
    pub(crate) fn skip_word(self, word: &str) -> Option<Self> {
        let is_here = self.rest().get(..word.len()).is_some_and(|here| here.eq_ignore_ascii_case(word.as_bytes()));
        is_here.then(|| self.plus(word.len()))
    }

    /// Returns the end of the escape sequence that contains this position, or the position itself if none does.
    pub(crate) fn skip_escape(self) -> Self {
        let ends =
            (1..=MAX_ESCAPE_BYTES.min(self.at)).filter_map(|back| Self { at: self.at - back, ..self }.escape_end());
        ends.map(|end| end.at).find(|&end| end >= self.at).map_or(self, |at| Self { at, ..self })
    }

    /// Returns the position after the escape sequences that begin here.
    pub(crate) fn skip_escapes(self) -> Self {
        let mut end = self;
        while let Some(next) = end.escape_end() {
            end = next;
        }
        end
    }

    /// Returns the end of the escape sequence that begins here. It is a line end or a tab as JSON and shells write it
    /// (`\n`, `\u000a`, `\x0a`, `\012`), or a colour, whose first character may be written in the same way.
    fn escape_end(self) -> Option<Self> {
        let end = match *self.rest() {
            [0x1b, ..] => self.plus(1),
            [b'\\', b'u', ..] => self.plus(2).skip_digits(4, 16)?,
            [b'\\', b'x', ..] => self.plus(2).skip_digits(2, 16)?,
            [b'\\', b'0'..=b'3', ..] => self.plus(1).skip_digits(3, 8)?,
            [b'\\', b'n' | b'r' | b't' | b'b' | b'f' | b'v' | b'e', ..] => self.plus(2),
            _ => return None,
        };
        let parameters = end.plus(1).skip(MAX_ESCAPE_BYTES, |byte| byte.is_ascii_digit() || byte == b';');
        let is_colour = end.peek() == Some(b'[') && parameters.peek() == Some(b'm');
        Some(if is_colour { parameters.plus(1) } else { end })
    }

    /// Returns the position after exactly this many digits.
    fn skip_digits(self, count: usize, radix: u32) -> Option<Self> {
        let end = self.skip(count, |byte| char::from(byte).is_digit(radix));
        (end.at == self.at + count).then_some(end)
    }

    /// Returns true if a key can start here: at the start of a word, or after an escape sequence.
    pub(crate) fn is_start(self) -> bool {
        let is_inside = |before| is_word(before) || before == b'-';
        let is_behind_escape = || Self { at: self.at - 1, ..self }.skip_escape().at == self.at;
        !self.previous().is_some_and(is_inside) || is_behind_escape()
    }

    pub(crate) fn skip_blanks(self) -> Self {
        self.skip(MAX_BLANKS, |byte| matches!(byte, b' ' | b'\t'))
    }

    /// Returns the position after blanks and line ends, real or escaped.
    pub(crate) fn skip_lines(self) -> Self {
        let mut cursor = self;
        while cursor.at < self.at + MAX_LINE_GAP_BYTES {
            cursor = match cursor.rest() {
                [b' ' | b'\t' | b'\n' | b'\r', ..] => cursor.plus(1),
                [b'\\', b'n' | b'r' | b't', ..] => cursor.plus(2),
                _ => break,
            };
        }
        cursor
    }

    /// Returns the position after a quote and its backslashes, or the position itself if there is no quote.
    pub(crate) fn skip_quote(self) -> Self {
        let behind = self.skip(MAX_BACKSLASHES, |byte| byte == b'\\');
        if matches!(behind.peek(), Some(b'"' | b'\'' | b'`')) { behind.plus(1) } else { self }
    }

    /// Returns the position after `=`, `:`, `:=` or `=>` and its blanks. `==` and `::` are not accepted.
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

    /// Returns the text inside the quotes that open here.
    pub(crate) fn quoted(self) -> Option<Range<usize>> {
        let start = self.skip_quote();
        let quote = start.previous().filter(|_| start.at > self.at)?;
        let end = start.skip(MAX_VALUE_BYTES, |byte| byte != quote && byte != b'\\' && !byte.is_ascii_control());
        let behind = end.skip_quote();
        (end.at < start.at + MAX_VALUE_BYTES && behind.at > end.at && behind.previous() == Some(quote))
            .then_some(start.at..end.at)
    }
}
