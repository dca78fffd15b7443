//! The characters that keys are made of.

/// A set of ASCII characters, one bit each.
#[derive(Clone, Copy)]
pub(crate) struct Alphabet(u128);

impl Alphabet {
    /// Letters, digits and the signs of base64url.
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

    /// Parses the name of an alphabet in `data/tokens.txt`.
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
            // Base64 without the padding sign.
            "unpadded" => Self::UNPADDED,
            // Base64 with percent escapes of URLs, such as `%2B`.
            "escaped" => Self::BASE64.and(b"%"),
            // Base64 and base64url.
            "both" => Self::BASE64.and(b"-_"),
            // Base64url with slashes and `@`, which separates the parts of an address.
            "path" => Self::URL.and(b"/@"),
            _ => return None,
        })
    }

    pub(crate) fn contains(self, byte: u8) -> bool {
        byte.is_ascii() && self.0 >> byte & 1 == 1
    }
}
