//! Classifies a chunk without blanks that is not a word, by its shape.
//!
//! The chunk is protected in any case, so a wrong kind does no harm.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use super::Kind;
use crate::lexicon::word_list;

static FILE_SUFFIXES: LazyLock<HashSet<&str>> =
    LazyLock::new(|| word_list(include_str!("../lexicon/file_suffixes.txt")));
static HOST_SUFFIXES: LazyLock<HashSet<&str>> =
    LazyLock::new(|| word_list(include_str!("../lexicon/host_suffixes.txt")));

/// Returns the range of a chunk without the punctuation around it. A bracket stays if its partner is inside.
pub(super) fn trimmed(chunk: &str) -> Range<usize> {
    let count = |byte: u8| memchr::memchr_iter(byte, chunk.as_bytes()).count();
    let mut end = chunk.len();
    let mut spare = [(b')', b'('), (b']', b'['), (b'}', b'{'), (b'>', b'<')]
        .map(|(close, open)| (close, count(close).saturating_sub(count(open))));
    while let Some(last) = chunk[..end].chars().next_back() {
        let is_mark = matches!(last, '.' | ',' | ';' | ':' | '!' | '?' | '*' | '\'' | '"' | '”' | '’' | '…');
        let bracket = spare.iter_mut().find(|(close, spare)| char::from(*close) == last && *spare > 0);
        match bracket {
            Some((_, spare)) => *spare -= 1,
            None if is_mark => {}
            None => break,
        }
        end -= last.len_utf8();
    }
    let start = chunk[..end].find(|c| !matches!(c, '(' | '*' | '“' | '‘' | '…')).unwrap_or(end);
    start..end
}

/// Returns the kind of a trimmed chunk with at least one letter or digit.
pub(super) fn classify(chunk: &str) -> Kind {
    let bytes = chunk.as_bytes();
    let has = |byte: u8| memchr::memchr(byte, bytes).is_some();
    if memchr::memmem::find(bytes, b"://").is_some() || chunk.starts_with("www.") || chunk.starts_with("mailto:") {
        return if ["/pull/", "/merge_requests/", "/issues/"].iter().any(|part| chunk.contains(part)) {
            Kind::PrUrl
        } else {
            Kind::Url
        };
    }
    if bytes[0] == b'-' && bytes.get(1).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'-') {
        return Kind::Flag;
    }
    if bytes[0] == b'<' || chunk.contains("</") {
        return Kind::Html;
    }
    if matches!(bytes[0], b'{' | b'[') {
        return Kind::Json;
    }
    if (bytes[0].is_ascii_digit()
        || matches!(bytes[0], b'v' | b'^' | b'~' | b'<' | b'>' | b'=' | b'$' | b'+' | b'.' | b'#'))
        && let Some(kind) = numeric(chunk)
    {
        return kind;
    }
    if let Some((name, _)) = chunk.split_once('=')
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    {
        let is_upper =
            name.bytes().any(|byte| byte.is_ascii_uppercase()) && !name.bytes().any(|byte| byte.is_ascii_lowercase());
        return if is_upper { Kind::EnvAssignment } else { Kind::Code };
    }
    if has(b'@') {
        return at_sign(chunk);
    }
    if has(b'/') || has(b'\\') || bytes[0] == b'~' {
        return slashed(chunk);
    }
    if is_row_id(bytes) {
        return Kind::RowId;
    }
    if has(b'(') || has(b'{') || has(b'[') || has(b'|') || has(b';') {
        return Kind::Code;
    }
    if let Some((stem, port)) = chunk.rsplit_once(':')
        && !stem.is_empty()
        && (2..=5).contains(&port.len())
        && port.bytes().all(|byte| byte.is_ascii_digit())
        && !stem.contains(':')
        && (stem == "localhost"
            || stem.contains('.')
            || stem.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'))
    {
        return Kind::Host;
    }
    if let Some((stem, suffix)) = chunk.rsplit_once('.') {
        if is_host(stem, suffix) {
            return Kind::Host;
        }
        if FILE_SUFFIXES.contains(&*suffix.to_ascii_lowercase()) {
            return Kind::FileName;
        }
    }
    Kind::Identifier
}

fn is_host(stem: &str, suffix: &str) -> bool {
    let suffix = suffix.split([':', '/']).next().unwrap_or_default();
    HOST_SUFFIXES.contains(suffix)
        && stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
}

fn at_sign(chunk: &str) -> Kind {
    let (name, host) = chunk.split_once('@').unwrap_or((chunk, ""));
    if name.is_empty() || host.is_empty() {
        return Kind::Identifier;
    }
    if host.contains([':', '/']) || !host.contains('.') {
        return if host.starts_with(|c: char| c.is_ascii_digit()) { Kind::Version } else { Kind::Host };
    }
    match host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        true => Kind::Version,
        false => Kind::Email,
    }
}

fn slashed(chunk: &str) -> Kind {
    const MIMES: &str = "application text image audio video multipart font model message";
    const BRANCHES: &str =
        "feature feat fix bugfix hotfix release chore refactor origin upstream refs dependabot renovate remotes";
    let is_one_of = |words: &str, first: &str| words.split(' ').any(|word| word == first);
    let Some((first, rest)) = chunk.split_once('/') else { return Kind::Path };
    let is_subtype = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-' | b'*');
    if is_one_of(MIMES, first) && !rest.is_empty() && rest.bytes().all(is_subtype) {
        Kind::Mime
    } else if is_one_of(BRANCHES, first) && !rest.is_empty() {
        Kind::Branch
    } else if numeric(chunk) == Some(Kind::Date) {
        Kind::Date
    } else {
        Kind::Path
    }
}

/// Returns true for `R12`, `ABC-123`, `§V.1`.
fn is_row_id(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix("§".as_bytes()).unwrap_or(bytes);
    let letters = bytes.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    let rest = &bytes[letters..];
    let digits = rest.strip_prefix(b"-").or_else(|| rest.strip_prefix(b".")).unwrap_or(rest);
    (1..=10).contains(&letters) && (1..=8).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit)
}

/// Recognises dates, times, versions and numbers; returns `None` if most of a chunk are letters.
fn numeric(chunk: &str) -> Option<Kind> {
    let bare = chunk.trim_start_matches(['^', '~', '>', '<', '=', '$', '+', '#']);
    let has_v = bare.starts_with('v') && bare.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    let bare = if has_v { &bare[1..] } else { bare };
    let bytes = bare.as_bytes();
    if !bytes.iter().take(2).any(u8::is_ascii_digit) {
        return None;
    }
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let groups = |separator: char| bare.split(separator).take_while(|group| starts_with_digit(group)).count();
    let joins_digits =
        |separator: u8| bytes.get(digits) == Some(&separator) && bytes.get(digits + 1).is_some_and(u8::is_ascii_digit);
    if (digits == 4 || digits == 2 || digits == 1) && !has_v && (joins_digits(b'-') || joins_digits(b'/')) {
        let separator = char::from(bytes[digits]);
        return Some(if groups(separator) >= 3 || digits == 4 { Kind::Date } else { Kind::Number });
    }
    if digits <= 2 && joins_digits(b':') {
        return Some(Kind::Date);
    }
    let dots = groups('.');
    if has_v || dots >= 3 || dots == 2 && chunk.starts_with(['^', '~', '>', '<', '=']) {
        let is_address = dots == 4 && bare.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b':');
        return Some(if is_address { Kind::Host } else { Kind::Version });
    }
    let letters = bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let is_number = letters <= 5 && !bytes.contains(&b'/') && !bytes.contains(&b'_');
    is_number.then_some(Kind::Number)
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}
