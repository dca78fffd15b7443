//! Texts of JavaScript as bytes in WTF-8: UTF-8 in which a lone surrogate is encoded like any other code point of its
//! size.
//!
//! A text without lone surrogates is plain UTF-8. For any other text, Rust code reads a stand-in that has U+FFFD in
//! place of each lone surrogate. Both are three bytes long, so every offset, line and character of the stand-in is that
//! of the text.

use std::borrow::Cow;

/// The character that replaces a lone surrogate.
pub const STAND_IN: char = char::REPLACEMENT_CHARACTER;

/// The first byte of an encoded surrogate. The second byte is at least [`SURROGATE_SECOND_BYTE_MIN`].
const SURROGATE_FIRST_BYTE: u8 = 0xED;
const SURROGATE_SECOND_BYTE_MIN: u8 = 0xA0;

/// Returns the bytes of the text with this stand-in. `units` are the UTF-16 units for every U+FFFD in it, in order.
pub fn encode(stand_in: &str, units: impl IntoIterator<Item = u16>) -> Vec<u8> {
    let mut bytes = stand_in.as_bytes().to_vec();
    for ((at, _), unit) in stand_in.match_indices(STAND_IN).zip(units) {
        let low = |bits: u16| 0x80 | (bits & 0x3F) as u8;
        bytes[at..at + 3].copy_from_slice(&[0xE0 | (unit >> 12) as u8, low(unit >> 6), low(unit)]);
    }
    bytes
}

/// Returns the text, or its stand-in if it has lone surrogates; `None` if the bytes are not text.
pub fn stand_in(bytes: &[u8]) -> Option<Cow<'_, str>> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(text.into());
    }
    let mut bytes = bytes.to_vec();
    for at in memchr::memchr_iter(SURROGATE_FIRST_BYTE, &bytes.clone()) {
        if bytes.get(at + 1).is_some_and(|second| *second >= SURROGATE_SECOND_BYTE_MIN) && at + 2 < bytes.len() {
            STAND_IN.encode_utf8(&mut bytes[at..at + 3]);
        }
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// Returns the UTF-16 units for every U+FFFD in the stand-in of a text.
pub fn units<'a>(bytes: &'a [u8], stand_in: &'a str) -> impl Iterator<Item = u16> + 'a {
    stand_in.match_indices(STAND_IN).map(|(at, _)| {
        let bits = |at: usize| u16::from(bytes[at] & 0x3F);
        u16::from(bytes[at] & 0x0F) << 12 | bits(at + 1) << 6 | bits(at + 2)
    })
}

/// Returns the UTF-16 units of a text, as JavaScript holds them; `None` if the bytes are not text.
pub fn utf16(bytes: &[u8]) -> Option<Vec<u16>> {
    let text = stand_in(bytes)?;
    let mut units = units(bytes, &text);
    let unit = |unit: u16| if unit == STAND_IN as u16 { units.next().unwrap_or(unit) } else { unit };
    Some(text.encode_utf16().map(unit).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns every text of up to three pieces. A piece is a surrogate of either half, U+FFFD, one of its neighbours
    /// in UTF-8, or another character. There are 1,111 texts; two pieces may form a pair.
    fn texts() -> Vec<Vec<u16>> {
        let pieces: [&[u16]; 10] = [
            &[0xD800],
            &[0xDBFF],
            &[0xDC00],
            &[0xDFFF],
            &[0xFFFD],
            &[0xD7FF],
            &[0xE000],
            &[0x61],
            &[0xE9],
            &[0xD83D, 0xDE00],
        ];
        let mut texts: Vec<Vec<u16>> = vec![Vec::new()];
        for from in [0, 1, 11] {
            let longer = texts[from..].iter().flat_map(|text| pieces.iter().map(|piece| [text, *piece].concat()));
            let longer: Vec<Vec<u16>> = longer.collect();
            texts.extend(longer);
        }
        texts
    }

    #[test]
    fn a_text_comes_back_unit_by_unit_and_keeps_its_offsets() {
        let texts = texts();
        assert_eq!(texts.len(), 1111);
        let mut lone = 0;
        for text in &texts {
            // The same as JavaScript's `toWellFormed`.
            let read = String::from_utf16_lossy(text);
            let replaced = read.encode_utf16().zip(text).filter(|(unit, _)| *unit == 0xFFFD).map(|(_, unit)| *unit);
            let bytes = encode(&read, replaced);
            assert_eq!(bytes.len(), read.len());
            assert_eq!(stand_in(&bytes).as_deref(), Some(&*read), "{text:x?}");
            assert_eq!(utf16(&bytes).as_ref(), Some(text));
            let is_plain = String::from_utf16(text).is_ok();
            assert_eq!(std::str::from_utf8(&bytes).is_ok(), is_plain);
            lone += usize::from(!is_plain);
        }
        assert!((500..1000).contains(&lone), "{lone}");
    }

    #[test]
    fn what_is_no_text_is_not_read() {
        for bytes in [&b"\xff"[..], b"a\xed\xa0", b"\xed", b"\xed\xa0\x80\xff", b"\xc3"] {
            assert_eq!(stand_in(bytes), None, "{bytes:x?}");
        }
    }
}
