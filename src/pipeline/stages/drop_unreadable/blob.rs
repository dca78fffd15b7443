//! Finds base64 payloads in a text and decodes them.
//!
//! A payload is found by its first run of base64 characters. Further runs of the same width belong to it if only a line
//! end (real, or escaped as in JSON) and the same indentation separate them. Characters that cannot be decoded are not
//! a payload.

use std::ops::Range;

use memchr::memmem;

/// The minimum length, in characters, of a payload in a `data:` URI or between PEM lines.
const ANNOUNCED_MIN_CHARS: usize = 256;

/// The minimum length of any other payload. Keys, signatures and the parts of most tokens are shorter.
const BARE_MIN_CHARS: usize = 1024;

/// The minimum line length of a wrapped payload. The usual widths are 60, 64 and 76.
const LINE_MIN_CHARS: usize = 40;

/// A base64 payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Blob<'a> {
    /// The range of its characters in the text.
    pub(super) range: Range<usize>,
    /// The decoded bytes.
    pub(super) bytes: Vec<u8>,
    /// The type that a `data:` URI declares.
    pub(super) declared: Option<&'a str>,
}

/// Returns true if a text contains a run of base64 characters of at least [`LINE_MIN_CHARS`]. Reads only a few bytes of
/// most texts.
pub(super) fn has_long_run(text: &str) -> bool {
    next_run(text.as_bytes(), 0).is_some()
}

/// Returns all payloads, in order. The time is linear in the length of the text.
pub(super) fn blobs(text: &str) -> Vec<Blob<'_>> {
    let bytes = text.as_bytes();
    let secrets = private_keys(text);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(run) = next_run(bytes, at) {
        let place = place(text, &run);
        let block = block(bytes, run.clone());
        at = run.end.max(block.range.end);
        let first_secret = secrets.partition_point(|secret| secret.end <= block.range.start);
        let is_secret = secrets.get(first_secret).is_some_and(|secret| secret.start < block.range.end)
            || block.is_followed_by_private_key(text);
        if is_secret {
            continue;
        }
        let min = if place == Place::Bare { BARE_MIN_CHARS } else { ANNOUNCED_MIN_CHARS };
        if block.chars.len() < min {
            continue;
        }
        let (decoded, declared) = match place {
            Place::DataUri(mime) => (decode(&block.chars), Some(mime)),
            Place::Pem => (decode(&block.chars), None),
            Place::Bare if is_part_of_token(bytes, &block.range) || !is_mixed(&block.chars) => (None, None),
            Place::Bare => (decode(&block.chars), None),
        };
        if let Some(bytes) = decoded {
            found.push(Blob { range: block.range, bytes, declared });
        }
    }
    found
}

/// The text that precedes a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place<'a> {
    /// A `data:<mime>;base64,` head.
    DataUri(&'a str),
    /// A `-----BEGIN …-----` line.
    Pem,
    /// Any other text.
    Bare,
}

fn place<'a>(text: &'a str, run: &Range<usize>) -> Place<'a> {
    /// The maximum length in bytes of a `data:` head.
    const HEAD_MAX_BYTES: usize = 200;
    let before = &text[..run.start];
    if let Some(head) = before.strip_suffix(";base64,") {
        let head = &head[head.floor_char_boundary(head.len().saturating_sub(HEAD_MAX_BYTES))..];
        if let Some(start) = head.rfind("data:") {
            let media = &head[start + "data:".len()..];
            return Place::DataUri(media.split(';').next().unwrap_or_default());
        }
    }
    let line_end = before.trim_end_matches([' ', '\t', '\r', '\n']);
    let line_end = line_end.strip_suffix("\\n").map_or(line_end, |rest| rest.strip_suffix("\\r").unwrap_or(rest));
    if line_end.len() < before.len() && line_end.ends_with("-----") { Place::Pem } else { Place::Bare }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Returns the first run of at least [`LINE_MIN_CHARS`] base64 characters from `from` on.
fn next_run(bytes: &[u8], mut from: usize) -> Option<Range<usize>> {
    loop {
        // The window is searched backwards because in most windows the last byte already decides.
        let window = bytes.get(from..from + LINE_MIN_CHARS)?;
        match window.iter().rposition(|&byte| !is_base64(byte)) {
            Some(at) => from += at + 1,
            None => break,
        }
    }
    // The letter of an escaped line end does not belong to the payload.
    let start = from + usize::from(from > 0 && bytes[from - 1] == b'\\');
    let end = from + bytes[from..].iter().position(|&byte| !is_base64(byte)).unwrap_or(bytes.len() - from);
    Some(start..end)
}

/// A payload before it is decoded.
struct Block {
    range: Range<usize>,
    /// The characters without the line ends and indentation.
    chars: Vec<u8>,
}

/// Returns the payload that starts with a run.
fn block(bytes: &[u8], run: Range<usize>) -> Block {
    let width = run.len();
    let indent = bytes[..run.start].iter().rev().take(width).take_while(|&&byte| byte == b' ' || byte == b'\t').count();
    let indent = &bytes[run.start - indent..run.start];
    let mut block = Block { chars: bytes[run.clone()].to_vec(), range: run };
    let mut joint = None;
    let is_wrapped = width.is_multiple_of(4) && width <= 1024;
    while is_wrapped && !block.close(bytes) {
        let end = block.range.end;
        let Some(next) = line_end(&bytes[end..]).filter(|next| joint.is_none_or(|joint| joint == *next)) else { break };
        let Some(rest) = bytes[end + next.len()..].strip_prefix(indent) else { break };
        // One character more than the width is read to detect a longer run.
        let len = rest.iter().take(width + 1).take_while(|&&byte| is_base64(byte) && byte != b'-').count();
        let line = &rest[..len];
        let padding = rest[len..].iter().take(3).take_while(|&&byte| byte == b'=').count();
        let is_last = len < width;
        if len == 0 && padding == 0 || len > width || is_last && padding == 0 && !is_mixed(line) {
            break;
        }
        block.range.end = end + next.len() + indent.len() + len;
        block.chars.extend_from_slice(line);
        joint = Some(next);
        if is_last {
            break;
        }
    }
    block.close(bytes);
    block
}

impl Block {
    /// Adds the padding at the end to the block. Returns true if there is any.
    fn close(&mut self, bytes: &[u8]) -> bool {
        let padding = bytes[self.range.end..].iter().take(2).take_while(|&&byte| byte == b'=').count();
        self.range.end += padding;
        self.chars.extend(std::iter::repeat_n(b'=', padding));
        padding > 0
    }

    fn is_followed_by_private_key(&self, text: &str) -> bool {
        let after = text[self.range.end..].trim_start_matches(['\r', '\n', ' ', '\t', '\\', 'r', 'n', '=']);
        after.starts_with("-----END") && is_private(after)
    }
}

fn line_end(bytes: &[u8]) -> Option<&'static [u8]> {
    const LINE_ENDS: [&[u8]; 4] = [b"\n", b"\r\n", b"\\n", b"\\r\\n"];
    LINE_ENDS.into_iter().find(|end| bytes.starts_with(end))
}

/// Returns the ranges of private keys, from the first line to the last. A truncated key extends to the end of the text.
fn private_keys(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for start in memmem::find_iter(text.as_bytes(), "-----BEGIN ") {
        if found.last().is_some_and(|last| start < last.end) || !is_private(&text[start..]) {
            continue;
        }
        let end = memmem::find(&text.as_bytes()[start..], b"-----END").map_or(text.len(), |end| start + end);
        found.push(start..end);
    }
    found
}

/// Returns true if a text starts with the PEM line of a private key. The longest label is `ENCRYPTED PRIVATE KEY`.
fn is_private(text: &str) -> bool {
    let line = &text.as_bytes()[..text.len().min(64)];
    let label = line.strip_prefix(b"-----").unwrap_or_default();
    let label = &label[..memmem::find(label, b"-----").unwrap_or(label.len())];
    memmem::find(label, b" PRIVATE KEY").is_some()
}

/// Returns true if a run is one of the dot-separated parts of a token.
fn is_part_of_token(bytes: &[u8], range: &Range<usize>) -> bool {
    let is_at = |at: Option<usize>, is: fn(u8) -> bool| at.and_then(|at| bytes.get(at)).is_some_and(|&byte| is(byte));
    let is_dot = |byte| byte == b'.';
    let joins = |dot: Option<usize>, other: Option<usize>| is_at(dot, is_dot) && is_at(other, is_base64);
    joins(range.start.checked_sub(1), range.start.checked_sub(2)) || joins(Some(range.end), Some(range.end + 1))
}

/// Returns true if characters look like encoded bytes: upper and lower case, digits, and few slashes, of which paths
/// have many.
fn is_mixed(chars: &[u8]) -> bool {
    let (mut large, mut small, mut digits, mut slashes) = (0, 0, 0, 0);
    for byte in chars {
        match byte {
            b'A'..=b'Z' => large += 1,
            b'a'..=b'z' => small += 1,
            b'0'..=b'9' => digits += 1,
            b'/' => slashes += 1,
            _ => {}
        }
    }
    let least = 1.max(chars.len() / 100);
    large >= least && small >= least && digits >= least && slashes * 12 <= chars.len().max(24)
}

/// Decodes base64. Returns `None` if the characters mix two alphabets or their number is not valid.
fn decode(chars: &[u8]) -> Option<Vec<u8>> {
    if chars.iter().any(|byte| matches!(byte, b'-' | b'_')) {
        let end = chars.iter().rposition(|&byte| byte != b'=')? + 1;
        return base64_simd::URL_SAFE_NO_PAD.decode_to_vec(&chars[..end]).ok();
    }
    base64_simd::STANDARD.decode_to_vec(chars).ok()
}
