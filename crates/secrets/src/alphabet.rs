//! The characters that keys are made of.

use super::{is_base64, is_word};

/// The characters of a part of a key.
#[derive(Clone, Copy)]
pub(super) enum Alphabet {
    Digit,
    Hex,
    /// Those of a UUID: hexadecimal digits and hyphens.
    Uuid,
    /// Letters and digits.
    Alnum,
    /// Those of base64url.
    Url,
    /// Those of base64url, and dots.
    Dotted,
    /// Those of base64url, dots and tildes.
    Tilde,
    /// Those of base64.
    Base64,
    /// Those of base64 without the sign that fills it up.
    Unpadded,
    /// Those of base64, also as a URL has them: `%2B`.
    Escaped,
    /// Those of base64 and of base64url.
    Both,
    /// Those of base64url, slashes, and the sign between two parts of an address.
    Path,
}

impl Alphabet {
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Self::Digit => byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Uuid => byte.is_ascii_hexdigit() || byte == b'-',
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Url => is_word(byte) || byte == b'-',
            Self::Dotted => is_word(byte) || matches!(byte, b'-' | b'.'),
            Self::Tilde => is_word(byte) || matches!(byte, b'-' | b'.' | b'~'),
            Self::Base64 => is_base64(byte),
            Self::Unpadded => is_base64(byte) && byte != b'=',
            Self::Escaped => is_base64(byte) || byte == b'%',
            Self::Both => is_base64(byte) || matches!(byte, b'-' | b'_'),
            Self::Path => is_word(byte) || matches!(byte, b'-' | b'/' | b'@'),
        }
    }

    /// Length of the run of these characters at the beginning of `bytes`, at most `limit`.
    pub(super) fn run(self, bytes: &[u8], limit: usize) -> usize {
        bytes.iter().take(limit).take_while(|&&byte| self.has(byte)).count()
    }

    /// Length of the run of these characters at the end of `bytes`, at most `limit`.
    pub(super) fn run_back(self, bytes: &[u8], limit: usize) -> usize {
        bytes.iter().rev().take(limit).take_while(|&&byte| self.has(byte)).count()
    }
}
