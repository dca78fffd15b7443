//! Originals, the hashes that address them, and the short ids that stand for them in text.
//!
//! An id is a lower-case hexadecimal prefix of the SHA-256 of the original bytes. It has 16 digits by default (a full
//! hash costs about 40 tokens) and more if two originals share a prefix. The store decides the length; other code only
//! prints and parses ids.

mod marker;
pub mod wtf8;

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

pub use marker::{Marker, find_markers, parse_ref};

/// The number of digits of an id without a collision.
pub const SHORT_ID_DIGITS: usize = 16;

/// The name of the tool that fetches an original by the id in its placeholder.
pub const FETCH_TOOL: &str = "fetch_original_data";

/// A SHA-256 hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash(pub [u8; 32]);

impl ContentHash {
    /// Returns the hash of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Returns all 64 hexadecimal digits.
    pub fn to_hex(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns the id with this many digits.
    ///
    /// # Panics
    /// If `digits` is not 16 to 64.
    pub fn to_ref_id(self, digits: usize) -> RefId {
        assert!((SHORT_ID_DIGITS..=64).contains(&digits), "an id has 16 to 64 digits");
        RefId(self.to_hex()[..digits].to_owned())
    }
}

/// A valid reference id: `^[0-9a-f]{16,64}$`. The store accepts no other.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RefId(String);

impl RefId {
    /// Validates an id.
    ///
    /// # Errors
    /// [`Error::BadRefId`] for anything but 16 to 64 lower-case hexadecimal digits.
    pub fn parse(text: &str) -> Result<Self> {
        let valid = (SHORT_ID_DIGITS..=64).contains(&text.len())
            && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if valid { Ok(Self(text.to_owned())) } else { Err(Error::BadRefId { got: text.chars().take(80).collect() }) }
    }

    /// Returns the digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if this id is a prefix of the hash.
    pub fn matches(&self, hash: ContentHash) -> bool {
        hash.to_hex().starts_with(&self.0)
    }
}

impl std::fmt::Display for RefId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The media type of an original's bytes, with which they are restored.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Media {
    /// Text: UTF-8, except for lone surrogates of JavaScript ([`wtf8`]).
    Text,
    /// An image of this MIME type; the bytes are the decoded image file.
    Image(String),
}

/// The exact bytes that a marker stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Original {
    /// SHA-256 of `bytes`.
    pub hash: ContentHash,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Their media type.
    pub media: Media,
    /// The source for display, for example `exec: npm test` or `read: src/lib.rs`.
    pub label: String,
}

impl Original {
    /// Creates an original from a text.
    pub fn text(text: &str, label: impl Into<String>) -> Self {
        Self::hashed(ContentHash::of(text.as_bytes()), text, label)
    }

    /// Creates an original from a text and its hash, which is not checked here. A store refuses a wrong hash.
    pub fn hashed(hash: ContentHash, text: &str, label: impl Into<String>) -> Self {
        Self { hash, bytes: text.as_bytes().to_vec(), media: Media::Text, label: label.into() }
    }

    /// Returns this original with the exact bytes of a text with lone surrogates, if it contains the whole stand-in of
    /// that text. Any other original, for example a masked one, is returned unchanged.
    #[must_use]
    pub fn exactly(self, stand_in: &str, exact: Option<&[u8]>) -> Self {
        match exact {
            Some(bytes) if self.bytes == stand_in.as_bytes() => {
                Self { hash: ContentHash::of(bytes), bytes: bytes.to_vec(), ..self }
            }
            _ => self,
        }
    }

    /// Returns the text, with U+FFFD for lone surrogates; `None` for an image.
    pub fn read_text(&self) -> Option<Cow<'_, str>> {
        if self.media == Media::Text { wtf8::stand_in(&self.bytes) } else { None }
    }

    /// Creates an original from an image.
    pub fn image(bytes: Vec<u8>, mime: impl Into<String>, label: impl Into<String>) -> Self {
        Self { hash: ContentHash::of(&bytes), bytes, media: Media::Image(mime.into()), label: label.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hexadecimal_ids_of_16_to_64_digits_parse() {
        let full = ContentHash::of(b"x").to_hex();
        for good in [&full[..16], &full[..17], &full] {
            assert_eq!(RefId::parse(good).unwrap().as_str(), good);
        }
        let long = format!("{full}0");
        for bad in [
            "",
            "../../x",
            "/etc/passwd",
            "%2e%2e",
            "0123456789abcdef\0",
            &full[..15],
            &long,
            "0123456789ABCDEF",
            "[REF_ID: 0123456789abcdef]",
            " 0123456789abcdef",
            "0123456789abcdef ",
            "0123456789abcde\u{ff10}",
        ] {
            assert!(matches!(RefId::parse(bad), Err(Error::BadRefId { .. })), "{bad:?}");
        }
    }

    #[test]
    fn an_id_is_a_prefix_of_its_hash() {
        let hash = ContentHash::of(b"x");
        assert_eq!(hash.to_hex(), "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881");
        assert!(hash.to_ref_id(20).matches(hash));
        assert!(!hash.to_ref_id(16).matches(ContentHash::of(b"y")));
    }
}
