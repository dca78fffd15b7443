//! AWS secret access keys: 40 characters that no word announces.
//!
//! Hashes are hexadecimal and paths are words, so a run of exactly this length that changes constantly between upper
//! case, lower case and digits is neither. The search reads one byte in 40 until one can be part of such a run.

use std::ops::Range;

use crate::cursor::Cursor;
use crate::value::{digit_changes, is_base64, is_placeholder, kind_changes};

/// The length of a key, in characters.
const LENGTH: usize = 40;

/// The minimum numbers of changes in a key, between letters and digits and between kinds of characters: either pair is
/// enough. Few random keys have fewer changes, and no path or identifier has as many.
const MIN_CHANGES: [(usize, usize); 2] = [(3, 15), (1, 18)];

/// The maximum number of slashes in a key: a path has more. Chosen by judgement.
const MAX_SLASHES: usize = 4;

/// Returns the ranges of what looks like a secret access key.
pub(crate) fn find(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut cursor = Cursor::new(text, LENGTH - 1);
    while let Some(byte) = cursor.peek() {
        if !is_base64(byte) {
            cursor = cursor.plus(LENGTH);
            continue;
        }
        let mut start = cursor.back(LENGTH, is_base64);
        let end = cursor.skip(usize::MAX, is_base64);
        if end.at - start.at > LENGTH {
            start = start.skip_escape();
        }
        if end.at - start.at == LENGTH && is_alone(start, end) && is_key(start.shown(end)) {
            found.push(start.at..end.at);
        }
        cursor = end.plus(LENGTH - 1);
    }
    found
}

/// Returns true if a run is not part of a longer one.
fn is_alone(start: Cursor, end: Cursor) -> bool {
    let joins = |byte: u8| b"_-.%:@~#?&".contains(&byte);
    let before = start.previous().is_none_or(|before| before == b':' || !joins(before));
    let is_hash = start.before().ends_with(b"sha1:") || start.before().ends_with(b"h1:");
    before && !is_hash && end.peek().is_none_or(|after| after == b'.' || !joins(after))
}

fn is_key(run: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| run.bytes().any(|byte| kind(&byte));
    let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    is_mixed
        && MIN_CHANGES.iter().any(|&(digits, kinds)| digit_changes(run) >= digits && kind_changes(run) >= kinds)
        && run.bytes().filter(|byte| *byte == b'/').count() <= MAX_SLASHES
        && !run.starts_with(['/', '='])
        && !is_placeholder(run)
}
