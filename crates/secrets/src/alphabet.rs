//! The characters that keys are made of.

/// A set of ASCII characters: the bit of each that it has.
#[derive(Clone, Copy)]
pub(crate) struct Alphabet(u128);

impl Alphabet {
    /// Digits and letters, and the signs of base64url.
    pub(crate) const URL: Self = Self::ALNUM.and(b"_-");

    const DIGIT: Self = Self(0).and(b"0123456789");
    const HEX: Self = Self::DIGIT.and(b"abcdefABCDEF");
    pub(crate) const ALNUM: Self = Self::DIGIT.and(b"abcdefghijklmnopqrstuvwxyz").and(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    const UNPADDED: Self = Self::ALNUM.and(b"+/");
    const BASE64: Self = Self::UNPADDED.and(b"=");

    const fn and(self, signs: &[u8]) -> Self {
        let (mut set, mut at) = (self.0, 0);
        while at < signs.len() {
            set |= 1 << signs[at];
            at += 1;
        }
        Self(set)
    }

    /// Returns the alphabet of a row of `data/tokens.txt`.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "digit" => Self::DIGIT,
            "hex" => Self::HEX,
            "uuid" => Self::HEX.and(b"-"),
            "alnum" => Self::ALNUM,
            "url" => Self::URL,
            "dotted" => Self::URL.and(b"."),
            "tilde" => Self::URL.and(b".~"),
            "base64" => Self::BASE64,
            // Without the sign that fills it up.
            "unpadded" => Self::UNPADDED,
            // Also as a URL has them: `%2B`.
            "escaped" => Self::BASE64.and(b"%"),
            // Of base64 and of base64url.
            "both" => Self::BASE64.and(b"-_"),
            // Slashes, and the sign between two parts of an address.
            "path" => Self::URL.and(b"/@"),
            _ => return None,
        })
    }

    pub(crate) fn has(self, byte: u8) -> bool {
        byte.is_ascii() && self.0 >> byte & 1 == 1
    }
}
