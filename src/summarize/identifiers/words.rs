//! `see ./src/a.rs:12` -> the ranges of `see`, `./src/a.rs` and `12`; also the parts of a word that are used as names
//! by themselves.

use std::ops::Range;

use super::rule::shape_weight;
use crate::content::escapes::control;

/// The most bytes of a word that may be a name. Longer words are binary data.
pub(super) const LONGEST: usize = 160;

/// The keywords after which a name is defined, in any of the languages.
#[rustfmt::skip]
pub(crate) const DEFINING: &[&str] = &[
    "class", "const", "def", "enum", "fn", "fun", "func", "function", "impl", "interface", "let", "module",
    "namespace", "object", "protocol", "record", "static", "struct", "trait", "type", "val", "var",
];

/// Words that may precede a defining keyword.
pub(crate) const MODIFIERS: &[&str] =
    &["pub", "crate", "super", "export", "default", "public", "private", "protected", "async", "abstract", "final"];

/// Returns true if the first word of a line that is not a modifier is a defining keyword, and not the key of a value.
pub(crate) fn begins_definition(line: &str) -> bool {
    let first = words(line).find(|range| !MODIFIERS.contains(&&line[range.clone()]));
    line.trim_start().starts_with(char::is_alphabetic)
        && first.is_some_and(|range| DEFINING.contains(&&line[range.clone()]) && !line[range.end..].starts_with(':'))
}

/// Returns the byte ranges of the words of a text: letters, digits and `_`, joined by `.`, `-`, `/`, `::`, `://` and,
/// after a drive, `\`.
pub(crate) fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    // The end of the last control sequence of a terminal, which is not visible.
    let mut shown = 0;
    std::iter::from_fn(move || {
        let mut floor = at;
        while !is_word(*bytes.get(at)?) || is_escape(bytes, at) {
            if let Some((_, length)) = control(&bytes[at..]) {
                at += length;
                (floor, shown) = (at, at);
            } else {
                at += 1;
            }
        }
        let mut start = at;
        while start > floor && b"./~@".contains(&bytes[start - 1]) && at - start < 3 {
            start -= 1;
        }
        let body = at;
        while at < bytes.len() {
            match joint(bytes, body, at) {
                0 => break,
                step => at += step,
            }
        }
        let follows_name = start > shown && (is_word(bytes[start - 1]) || b")]".contains(&bytes[start - 1]));
        let is_rooted =
            !follows_name && leads(&bytes[start..body]) && bytes[body..at].iter().any(|byte| b"/.".contains(byte));
        let follows_tag = start > 0 && bytes[start - 1] == b'<';
        Some(if is_rooted && !follows_tag { start..at } else { body..at })
    })
}

/// Returns true if a word contains a name that is not next to a letter, digit or underscore.
pub(crate) fn holds(word: &str, name: &str) -> bool {
    let mut from = 0;
    while let Some(at) = memchr::memmem::find(&word.as_bytes()[from..], name.as_bytes()) {
        let start = from + at;
        if stands_apart(word, start..start + name.len()) {
            return true;
        }
        from = start + 1;
    }
    false
}

/// Returns true if no letter, digit or underscore is next to a part of a word.
pub(super) fn stands_apart(word: &str, part: Range<usize>) -> bool {
    let bytes = word.as_bytes();
    let is_word_at = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(|&byte| is_word(byte));
    !is_word_at(part.start.checked_sub(1)) && !is_word_at(Some(part.end))
}

/// Returns true for the letter of `\n`, `\r` or `\t` inside a JSON string.
fn is_escape(bytes: &[u8], at: usize) -> bool {
    at > 0 && bytes[at - 1] == b'\\' && b"nrt".contains(&bytes[at])
}

/// Returns true if these bytes before a word make it a path or a scoped package.
fn leads(lead: &[u8]) -> bool {
    matches!(lead, b"." | b"/" | b"./" | b"../" | b"~/" | b"@")
}

/// Returns the number of bytes at `at` that continue the word that starts at `body`, or 0 at its end.
fn joint(bytes: &[u8], body: usize, at: usize) -> usize {
    let byte = bytes[at];
    if is_word(byte) {
        return 1;
    }
    let rest = &bytes[at + 1..];
    let word_follows = |skip: usize| rest.get(skip).is_some_and(|&next| is_word(next));
    match byte {
        b'.' | b'-' if word_follows(0) => 1,
        b'/' if word_follows(0) || (rest.first().is_some_and(|next| b".@".contains(next)) && word_follows(1)) => 1,
        b':' if rest.starts_with(b"//") && word_follows(2) => 3,
        b':' if rest.starts_with(b":") && word_follows(1) => 2,
        b':' if at == body + 1 && rest.starts_with(b"\\") && word_follows(1) => 2,
        b':' if at == body + 1 && rest.starts_with(b"\\\\") && word_follows(2) => 3,
        b'\\' if bytes[body..].get(1) == Some(&b':') && rest.starts_with(b"\\") && word_follows(1) => 2,
        b'\\' if bytes[body..].get(1) == Some(&b':') && word_follows(0) => 1,
        _ => 0,
    }
}

fn is_word(byte: u8) -> bool {
    const WORD: [bool; 256] = {
        let mut word = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            word[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
            byte += 1;
        }
        word
    };
    WORD[usize::from(byte)]
}

/// Calls `term` with the parts of a word that are used as names by themselves: the file of a long path with its
/// directory, and the members of `a.b.c`.
pub(super) fn for_each_term(word: &str, mut term: impl FnMut(Range<usize>)) {
    const LONG_PATH: usize = 40;
    if memchr::memchr2(b'/', b'\\', word.as_bytes()).is_some() {
        let is_long = word.len() > LONG_PATH && !word.contains("://");
        let slashes = word.rmatch_indices(['/', '\\']).map(|(at, _)| at + 1);
        let start = if is_long { slashes.take(2).last().unwrap_or(0) } else { 0 };
        return term(start..word.len());
    }
    if !word.contains('.') || has_file_extension(word) {
        return term(0..word.len());
    }
    let mut found = false;
    let mut start = 0;
    for part in word.split('.') {
        if shape_weight(part) > 0 && !part.starts_with(|c: char| c.is_ascii_digit()) {
            found = true;
            term(start..start + part.len());
        }
        start += part.len() + 1;
    }
    if !found {
        term(0..word.len());
    }
}

pub(super) fn has_file_extension(word: &str) -> bool {
    const EXTENSIONS: &[&str] = &[
        "bash", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "diff", "env", "gif", "go", "gz", "h", "hpp",
        "html", "ini", "ipynb", "java", "jpg", "js", "json", "jsonl", "jsx", "kt", "lock", "log", "md", "mjs", "mod",
        "php", "png", "pub", "py", "rb", "rs", "scala", "sh", "so", "sql", "sum", "svg", "swift", "tar", "toml", "ts",
        "tsx", "txt", "xml", "yaml", "yml", "zip",
    ];
    word.rsplit_once('.').is_some_and(|(_, extension)| EXTENSIONS.binary_search(&extension).is_ok())
}

/// Returns the position at which the name after a defining keyword would start, past the receiver of a Go method.
pub(super) fn name_after(text: &str, keyword: &str, end: usize) -> usize {
    let bytes = text.as_bytes();
    let skip_blanks = |mut at: usize| {
        while bytes.get(at) == Some(&b' ') {
            at += 1;
        }
        at
    };
    let at = skip_blanks(end);
    if keyword == "func" && bytes.get(at) == Some(&b'(') {
        let reach = bytes.len().min(at + 80);
        return memchr::memchr(b')', &bytes[at..reach]).map_or(at, |close| skip_blanks(at + close + 1));
    }
    at
}
