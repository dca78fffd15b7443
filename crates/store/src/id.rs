//! The rule by which ids resolve to originals.
//!
//! Digits resolve to the original whose hash starts with them *and* whose issued id is a prefix of them. The issued id,
//! all 64 digits and anything between resolve. An id that was issued never changes its meaning: a later original with
//! the same first digits gets a longer id.

use std::collections::HashMap;

use concertina_base::error::Error;
use concertina_base::reference::{ContentHash, RefId, SHORT_ID_DIGITS};

/// Returns the smallest and the largest hash that start with these digits.
///
/// # Panics
/// If the digits are not those of an id.
pub fn hash_range(digits: &str) -> (ContentHash, ContentHash) {
    let padded = |pad: u8| {
        let mut hash = [pad; 32];
        for (i, digit) in digits.chars().take(64).enumerate() {
            let value = digit.to_digit(16).expect("an id has only hexadecimal digits") as u8;
            let byte = &mut hash[i / 2];
            *byte = if i % 2 == 0 { (value << 4) | (pad & 0x0f) } else { (*byte & 0xf0) | value };
        }
        ContentHash(hash)
    };
    (padded(0x00), padded(0xff))
}

/// Returns the number of leading hexadecimal digits that two hashes share.
fn shared_digits(a: ContentHash, b: ContentHash) -> usize {
    match a.0.iter().zip(b.0).position(|(a, b)| *a != b) {
        Some(i) => 2 * i + usize::from(a.0[i] >> 4 == b.0[i] >> 4),
        None => 64,
    }
}

/// Returns the issued ids of stored contents and proposed ids for others, in the order of `hashes`. `stored` returns
/// the contents between two hashes, with their issued ids.
///
/// # Errors
/// Those of `stored`; [`Error::BadRefId`] if a stored id is invalid.
pub fn assign_ids<E: From<Error>>(
    hashes: &[ContentHash],
    mut stored: impl FnMut(ContentHash, ContentHash) -> Result<Vec<(ContentHash, String)>, E>,
) -> Result<Vec<RefId>, E> {
    // The ids proposed in this call, by their first digits.
    let mut proposed: HashMap<[u8; 8], Vec<(ContentHash, RefId)>> = HashMap::new();
    let mut ids = Vec::with_capacity(hashes.len());
    for &hash in hashes {
        let (first, last) = hash_range(hash.to_ref_id(SHORT_ID_DIGITS).as_str());
        let in_range = stored(first, last)?;
        if let Some((_, id)) = in_range.iter().find(|(other, _)| *other == hash) {
            ids.push(RefId::parse(id)?);
            continue;
        }
        let earlier = proposed.entry(*hash.0.first_chunk().expect("a hash has 32 bytes")).or_default();
        if let Some((_, id)) = earlier.iter().find(|(other, _)| *other == hash) {
            ids.push(id.clone());
            continue;
        }
        let others = in_range.iter().map(|(other, _)| *other).chain(earlier.iter().map(|(other, _)| *other));
        let unshared = others.map(|other| shared_digits(hash, other) + 1).max().unwrap_or(0);
        let id = hash.to_ref_id(unshared.max(SHORT_ID_DIGITS));
        earlier.push((hash, id.clone()));
        ids.push(id);
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_spans_exactly_the_hashes_that_start_with_the_digits() {
        let hash = ContentHash::of(b"x");
        for digits in 16..=64 {
            let id = hash.to_ref_id(digits);
            let (first, last) = hash_range(id.as_str());
            assert!(first <= hash && hash <= last);
            assert_eq!(first.to_hex(), format!("{:0<64}", id.as_str()));
            assert_eq!(last.to_hex(), format!("{:f<64}", id.as_str()));
        }
    }

    #[test]
    fn shared_digits_count_half_bytes() {
        let hash = ContentHash::of(b"x");
        for (byte, mask, expected) in [(0, 0x80, 0), (0, 0x01, 1), (8, 0x10, 16), (8, 0x01, 17), (31, 0x01, 63)] {
            let mut other = hash;
            other.0[byte] ^= mask;
            assert_eq!(shared_digits(hash, other), expected);
        }
        assert_eq!(shared_digits(hash, hash), 64);
    }
}
