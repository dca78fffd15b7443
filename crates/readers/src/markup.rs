//! Reads HTML and XML piece by piece. Nothing is corrected, and names and entities are as written.

use std::sync::LazyLock;

use regex::Regex;

use super::lines::line_pattern;

/// A piece of markup.
#[derive(Debug)]
pub enum Piece<'t> {
    /// The name in a start tag, and the text behind it: attributes, and `/` if the tag also ends its element.
    Open(&'t str, &'t str),
    /// The name in an end tag.
    Close(&'t str),
    /// Words outside tags, or those of a CDATA section.
    Words(&'t str),
    /// A document type or an instruction without its brackets: `!doctype html`, `?xml version="1.0"?`.
    Declaration(&'t str),
}

/// Returns the keys and values of the attributes in a tag whose values are in quotes.
pub fn attributes(tag: &str) -> impl Iterator<Item = (&str, &str)> {
    static ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| line_pattern(r#"([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')"#));
    ATTRIBUTE.captures_iter(tag).map(|found| found.extract::<2>().1.into())
}

/// Returns the pieces of a text up to its end or to a tag without an end. Comments, scripts and styles are omitted.
/// Linear in the text.
pub fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let start = next_tag(rest).unwrap_or(rest.len());
            if rest.is_empty() {
                return None;
            }
            if start > 0 {
                let (words, behind) = rest.split_at(start);
                rest = behind;
                return Some(Piece::Words(words));
            }
            let sections = [("<![CDATA[", "]]>"), ("<!--", "-->")];
            let (opening, closing) =
                sections.into_iter().find(|(opening, _)| rest.starts_with(opening)).unwrap_or(("<", ">"));
            let inner = &rest[opening.len()..];
            let end = if opening == "<" { tag_end(inner)? } else { inner.find(closing)? };
            let tag = &inner[..end];
            rest = &inner[end + closing.len()..];
            match (opening, tag.bytes().next()) {
                ("<![CDATA[", _) => return Some(Piece::Words(tag)),
                ("<!--", _) => continue,
                (_, Some(b'?' | b'!')) => return Some(Piece::Declaration(tag)),
                (_, Some(b'/')) => return Some(Piece::Close(tag[1..].trim_end())),
                _ => {}
            }
            let (name, behind) = tag.split_at(tag.find(|c: char| c.is_whitespace() || c == '/').unwrap_or(tag.len()));
            if ["script", "style"].iter().any(|raw| raw.eq_ignore_ascii_case(name)) && !behind.ends_with('/') {
                let is_end =
                    |at: &usize| rest[at + 2..].get(..name.len()).is_some_and(|end| end.eq_ignore_ascii_case(name));
                rest = &rest[memchr::memmem::find_iter(rest.as_bytes(), "</").find(is_end).unwrap_or(rest.len())..];
            }
            return Some(Piece::Open(name, behind));
        }
    })
}

/// Returns the start of the next tag or section. A bracket before a blank, a sign or a digit is a word.
fn next_tag(text: &str) -> Option<usize> {
    let opens = |byte: &u8| byte.is_ascii_alphabetic() || b"/!?_".contains(byte) || !byte.is_ascii();
    memchr::memchr_iter(b'<', text.as_bytes()).find(|at| text.as_bytes().get(at + 1).is_some_and(opens))
}

/// Returns the end of a tag: the first `>` outside quotes.
fn tag_end(tag: &str) -> Option<usize> {
    let mut quote = None;
    tag.bytes().position(|byte| {
        match quote {
            Some(open) if open == byte => quote = None,
            None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
            _ => {}
        }
        quote.is_none() && byte == b'>'
    })
}
