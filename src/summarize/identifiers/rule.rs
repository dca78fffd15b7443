//! A name and how it stands in its text -> a score, made by hand: shape, how often, whether it is defined here, how early, and how short.
//!
//! Over recorded sessions a name that occurs twice is named again three times as often as one that occurs once, a defined one twice
//! as often as a used one, and numbers of up to four digits hardly ever.

use super::Sighting;
use super::words::{DEFINING, LONGEST, has_file_extension};

/// Shorter words score nothing.
pub(super) const SHORTEST: usize = 3;

pub(super) fn score(word: &str, sighting: &Sighting, text: &str) -> u64 {
    let shape = shape_weight(word);
    let shape = if sighting.has_terms { shape / 3 } else { shape };
    let weight = if shape == 0 && sighting.defined && is_defined_name(word, text, sighting.first) { 25 } else { shape };
    let often = match sighting.count {
        1 => 10,
        2..=4 => 23,
        _ => 30,
    };
    let defined = if sighting.defined { 2 } else { 1 };
    let early = if sighting.first <= text.len() / 5 { 13 } else { 10 };
    let length = word.len() as u64 + 12;
    weight * often * defined * early * 1000 / length
}

/// A plain word is a name only where it looks like one: `class Foo`, `fn run(`; not "the function returns".
fn is_defined_name(word: &str, text: &str, at: usize) -> bool {
    let next = text.as_bytes().get(at + word.len());
    (SHORTEST..=LONGEST).contains(&word.len())
        && (word.starts_with(|c: char| c.is_ascii_uppercase()) || next.is_some_and(|byte| b"({:<=[;".contains(byte)))
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && !DEFINING.contains(&word)
}

/// How likely a word of this shape is to be named again, in thousandths; 0 for plain words and small numbers.
pub(super) fn shape_weight(word: &str) -> u64 {
    let bytes = word.as_bytes();
    if !(4..=LONGEST).contains(&bytes.len()) {
        return 0;
    }
    let has = |byte: u8| memchr::memchr(byte, bytes).is_some();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let starts_alphabetic = !bytes[0].is_ascii_digit();
    let has_inner_capital = bytes.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    if letters == 0 {
        return if digits >= 5 && !has(b'-') && !has(b'/') && !has(b'.') { 20 } else { 0 };
    }
    if has(b'/') || has(b'\\') {
        let is_path =
            bytes[0] == b'/' || has(b'.') || bytes.iter().filter(|&&byte| byte == b'/').count() > 1 || has(b'\\');
        return if is_path {
            40
        } else if bytes.len() > 6 {
            10
        } else {
            0
        };
    }
    if bytes.len() >= 7 && digits > 0 && digits + letters == bytes.len() && bytes.iter().all(u8::is_ascii_hexdigit) {
        return 40;
    }
    if !starts_alphabetic {
        return if has(b'-') || has(b'_') { 20 } else { 5 };
    }
    if has(b'.') && !has_file_extension(word) {
        // `fmt.Errorf`, `t.Fatal`: a library's member, seldom worth naming.
        return if bytes[..4].contains(&b'.') { 5 } else { 20 };
    }
    if has(b'.') || has(b':') {
        return 40;
    }
    if has(b'_') || has_inner_capital {
        return 45;
    }
    if has(b'-') {
        return if digits > 0 { 30 } else { 18 };
    }
    if digits > 0 { 30 } else { 0 }
}
