//! Finds the comments of code without a grammar: for C with many macros and for SQL dialects, whose trees are mostly
//! errors.
//!
//! This works only for languages in which comments and strings can be told apart from left to right. It does not where
//! `/` may open a regex or where heredocs exist. If anything is ambiguous, [`Rules::comments`] returns `None`.

use std::ops::Range;

use crate::content::is_word_byte;

/// The syntax of a language's comments and strings.
#[derive(Debug)]
pub(in crate::pipeline) struct Rules {
    line_comment: &'static [u8],
    nested_blocks: bool,
    sql: bool,
}

impl Rules {
    /// C and C++.
    pub(super) const C: Self = Self { line_comment: b"//", nested_blocks: false, sql: false };
    /// SQL, with PostgreSQL's dollar quotes.
    pub(super) const SQL: Self = Self { line_comment: b"--", nested_blocks: true, sql: true };

    /// Returns the comments in order; `None` if comments and strings cannot be told apart for certain.
    pub(super) fn comments(&self, code: &str) -> Option<Vec<Range<usize>>> {
        let bytes = code.as_bytes();
        let mut comments = Vec::new();
        let mut body: Option<&[u8]> = None;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let rest = &bytes[at..];
            if let Some(len) = address_len(bytes, at) {
                at += len;
            } else if rest.starts_with(self.line_comment) {
                let end = self.line_end(bytes, at);
                comments.push(at..end);
                at = end;
            } else if rest.starts_with(b"/*") {
                let end = at + self.block_len(rest)?;
                comments.push(at..end);
                at = end;
            } else if byte == b'"' || byte == b'\'' || (byte == b'`' && self.sql) {
                at += if self.sql { quoted_len(rest)? } else { literal_len(bytes, at)? };
            } else if byte == b'$' && self.sql {
                at += match dollar_tag(bytes, at) {
                    None => 1,
                    Some(tag) if body == Some(tag) => {
                        body = None;
                        tag.len()
                    }
                    Some(tag) if body.is_none() && opens_body(&code[..at]) => {
                        body = Some(tag);
                        tag.len()
                    }
                    Some(tag) => 2 * tag.len() + memchr::memmem::find(&rest[tag.len()..], tag)?,
                };
            } else {
                at += 1;
            }
        }
        body.is_none().then_some(comments)
    }

    fn line_end(&self, bytes: &[u8], at: usize) -> usize {
        let mut end = at;
        loop {
            end += memchr::memchr(b'\n', &bytes[end..]).unwrap_or(bytes.len() - end);
            let line = bytes[at..end].strip_suffix(b"\r").unwrap_or(&bytes[at..end]);
            if end == bytes.len() || self.sql || !line.ends_with(b"\\") {
                return at + line.len();
            }
            // A backslash continues the comment on the next line.
            end += 1;
        }
    }

    fn block_len(&self, rest: &[u8]) -> Option<usize> {
        let (mut depth, mut at) = (0usize, 0);
        loop {
            at += memchr::memchr2(b'*', b'/', &rest[at..])?;
            if rest[at..].starts_with(b"/*") && (depth == 0 || self.nested_blocks) {
                depth += 1;
                at += 2;
            } else if rest[at..].starts_with(b"*/") {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Some(at);
                }
            } else {
                at += 1;
            }
        }
    }
}

/// Returns the length of the rest of an address such as `https://host/*` if `at` is at its slashes. Addresses are not
/// code, but occur in what tools print.
fn address_len(bytes: &[u8], at: usize) -> Option<usize> {
    let scheme = bytes[..at].strip_suffix(b":")?;
    let host = bytes[at..].strip_prefix(b"//")?;
    let is_address = scheme.last().is_some_and(u8::is_ascii_alphabetic)
        && host.first().is_some_and(|byte| !byte.is_ascii_whitespace());
    let len = || host.iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
    is_address.then(|| 2 + len())
}

/// Returns the length of a C literal. A quote without a closing quote on its line is an apostrophe, of length 1.
fn literal_len(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    let word = bytes[..at].iter().rev().take_while(|&&byte| is_word_byte(byte)).take(20).count();
    let prefix = &bytes[at - word..at];
    if rest[0] == b'"' && prefix.ends_with(b"R") {
        return raw_len(rest);
    }
    if rest[0] == b'\'' && word > 0 && !matches!(prefix, b"u" | b"U" | b"L" | b"u8") {
        // The quote separates digits.
        return Some(1);
    }
    let mut len = 1;
    while let Some(&byte) = rest.get(len) {
        match byte {
            b'\\' => len += 2,
            b'\n' => return Some(1),
            _ if byte == rest[0] => return Some(len + 1),
            _ => len += 1,
        }
    }
    Some(1)
}

/// Returns the length of a raw string: `"tag(…)tag"`.
fn raw_len(rest: &[u8]) -> Option<usize> {
    let open = rest.iter().take(20).position(|&byte| byte == b'(')?;
    let close = [b")", &rest[1..open], b"\""].concat();
    Some(open + memchr::memmem::find(&rest[open..], &close)? + close.len())
}

/// Returns the length of an SQL string or identifier. Returns `None` for a backslash before a quote, because it depends
/// on the dialect whether it escapes the quote.
fn quoted_len(rest: &[u8]) -> Option<usize> {
    let mut len = 1;
    loop {
        len += memchr::memchr(rest[0], &rest[len..])?;
        if rest[len - 1] == b'\\' {
            return None;
        }
        len += 1;
        if rest.get(len) != Some(&rest[0]) {
            return Some(len);
        }
        len += 1;
    }
}

fn dollar_tag(bytes: &[u8], at: usize) -> Option<&[u8]> {
    if at > 0 && is_word_byte(bytes[at - 1]) {
        return None;
    }
    let rest = &bytes[at + 1..];
    let len = rest.iter().take(64).take_while(|&&byte| is_word_byte(byte)).count();
    let is_tag = rest.get(len) == Some(&b'$') && !rest[0].is_ascii_digit();
    is_tag.then(|| &bytes[at..at + len + 2])
}

/// Returns true if a dollar quote after this code contains a function body, which is code and not a string.
fn opens_body(before: &str) -> bool {
    let before = before.trim_end();
    let word = &before[before.floor_char_boundary(before.len().saturating_sub(3))..];
    let word = word.trim_start_matches(|character: char| !character.is_ascii_alphabetic());
    word.eq_ignore_ascii_case("as") || word.eq_ignore_ascii_case("do")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(rules: &Rules, code: &'a str) -> Option<Vec<&'a str>> {
        rules.comments(code).map(|ranges| ranges.into_iter().map(|range| &code[range]).collect())
    }

    #[test]
    fn literals_of_c_hide_what_looks_like_a_comment() {
        let code = "char *s = \"// no\"; /* yes */ int c = '\"'; // a \\\nb\nint n = 1'000; x = '/'; r = R\"d(/* no */)d\";\n#error don't // c\n";
        assert_eq!(found(&Rules::C, code), Some(vec!["/* yes */", "// a \\\nb", "// c"]));
        assert_eq!(found(&Rules::C, "a /* never closed"), None);
        let printed = "--with-bugurl=file:///usr/share/doc/gcc/README --enable-shared\nhttps://*/*.h\ncase A: // c\ncase B:// d\n";
        assert_eq!(found(&Rules::C, printed), Some(vec!["// c", "// d"]));
        assert_eq!(found(&Rules::C, "\"\\"), Some(vec![]));
    }

    #[test]
    fn bodies_of_sql_functions_are_code_and_other_dollar_quotes_are_strings() {
        let code = "SELECT '-- no', \"--no\" -- yes\nAS $$ BEGIN -- in\n x := 'it''s'; END $$; y = $f$ -- no $f$ /* a /* b */ c */";
        assert_eq!(found(&Rules::SQL, code), Some(vec!["-- yes", "-- in", "/* a /* b */ c */"]));
        for doubtful in ["'it\\'s' -- x", "'open -- x", "AS $$ BEGIN -- x", "$a$ b"] {
            assert_eq!(found(&Rules::SQL, doubtful), None, "{doubtful}");
        }
        assert_eq!(found(&Rules::SQL, "a = $1 -- x"), Some(vec!["-- x"]));
    }

    #[test]
    fn many_quotes_and_slashes_are_strings_comments_or_in_doubt() {
        for (text, in_c, in_sql) in [
            ("'".repeat(2_001), Some(0), None),
            ("/*".repeat(1_000), None, None),
            ("/*".repeat(999), Some(333), None),
            ("$a$ ".repeat(1_000), Some(0), Some(0)),
            ("R\"".repeat(1_000), None, Some(0)),
            ("\"\n".repeat(1_000), Some(0), Some(0)),
        ] {
            let found = |rules: &Rules| rules.comments(&text).map(|comments| comments.len());
            assert_eq!((found(&Rules::C), found(&Rules::SQL)), (in_c, in_sql), "{}", &text[..4]);
        }
    }
}
