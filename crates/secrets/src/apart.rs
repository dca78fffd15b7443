//! Values that no sign joins to their names: `<password>x</password>`, `define('DB_PASSWORD', 'x')`, `IDENTIFIED BY 'x'`, and
//! lists of variables, where a name and its value are two entries: `name: DB_PASSWORD`, `value: x`.
//!
//! Lists of words look alike (`["password", "username"]`), so each form counts only with what stands before the name.

use std::ops::Range;

use super::assignment::{skip_blanks, skip_quote};
use super::is_word;
use super::plain::read_quoted;

/// Longest name, and longest way from it to its value.
const NEAR: usize = 64;

/// Longest value, and how far before a password its statement begins.
const REACH: usize = 256;

/// The beginnings of the statements in which SQL has passwords.
const STATEMENTS: [&str; 6] = ["create user", "alter user", "create role", "alter role", "create login", "grant "];

/// The value of the name of which `name` is the end.
pub(super) fn find(text: &str, name: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_part = |byte: &&u8| is_word(**byte) || matches!(byte, b'-' | b'.' | b':');
    let start = name.start - bytes[..name.start].iter().rev().take(NEAR).take_while(is_part).count();
    match bytes.get(name.end)? {
        b'>' => find_in_element(text, start, name.end + 1),
        b' ' => find_in_statement(text, name.clone()).or_else(|| find_in_entry(text, start, name.end)),
        _ => find_in_define(text, start, name.end).or_else(|| find_in_entry(text, start, name.end)),
    }
}

/// `<password>x</password>`; the content begins at `content`.
fn find_in_element(text: &str, name: usize, content: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let end = content + bytes[content..].iter().take(REACH).position(|&byte| byte == b'<')?;
    (bytes[..name].ends_with(b"<") && bytes[end..].starts_with(b"</")).then_some(content..end)
}

/// `CREATE USER a IDENTIFIED BY 'x'`, `ALTER ROLE a PASSWORD 'x'`; `name` ends behind the last word but `BY`.
pub(super) fn find_in_statement(text: &str, name: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = skip_blanks(bytes, name.end);
    if bytes[at..].get(..3).is_some_and(|word| word.eq_ignore_ascii_case(b"by ")) {
        at = skip_blanks(bytes, at + 3);
    }
    let value = read_quoted(text, at)?;
    let from = text.ceil_char_boundary(name.start.saturating_sub(REACH));
    let before = text[from..name.start].to_ascii_lowercase();
    STATEMENTS.iter().any(|statement| before.contains(statement)).then_some(value)
}

/// `define('DB_PASSWORD', 'x')` of PHP.
fn find_in_define(text: &str, name: usize, end: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let comma = skip_quote(bytes, end);
    if bytes.get(comma) != Some(&b',') || !before_quote(bytes, name).ends_with(b"define(") {
        return None;
    }
    read_quoted(text, skip_blanks(bytes, comma + 1))
}

/// `"name": "DB_PASSWORD", "value": "x"`, and in YAML on two lines without quotes.
fn find_in_entry(text: &str, name: usize, end: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let before = before_quote(bytes, name).strip_suffix(b":")?;
    if !ends_with_word(before_quote(before, before.len()), &["name", "key"]) {
        return None;
    }
    let behind = skip_quote(bytes, end);
    let comma = behind + usize::from(bytes.get(behind) == Some(&b','));
    let key = skip_quote(bytes, skip_lines(bytes, comma));
    if !bytes.get(key..key + "value".len()).is_some_and(|word| word.eq_ignore_ascii_case(b"value")) {
        return None;
    }
    let sign = skip_blanks(bytes, skip_quote(bytes, key + "value".len()));
    if bytes.get(sign) != Some(&b':') {
        return None;
    }
    let value = skip_blanks(bytes, sign + 1);
    let is_yaml = comma == behind;
    read_quoted(text, value).or_else(|| read_bare(bytes, value).filter(|_| is_yaml))
}

/// A value without quotes that is all of its line.
fn read_bare(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    let is_part = |byte: &&u8| byte.is_ascii_graphic() && !b"\"'`,;()[]{}<>|&\\".contains(byte);
    let end = start + bytes[start..].iter().take(REACH).take_while(is_part).count();
    bytes.get(end).is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b'\\' | b'"')).then_some(start..end)
}

/// What stands before a position, without blanks and the quote that opens there.
fn before_quote(bytes: &[u8], at: usize) -> &[u8] {
    let is_between = |byte: &&u8| matches!(byte, b'"' | b'\'' | b'\\' | b' ');
    let length = bytes[..at].iter().rev().take(NEAR).take_while(is_between).count();
    &bytes[..at - length]
}

fn ends_with_word(before: &[u8], words: &[&str]) -> bool {
    let length = before.iter().rev().take(NEAR).take_while(|&&byte| is_word(byte)).count();
    words.iter().any(|word| before[before.len() - length..].eq_ignore_ascii_case(word.as_bytes()))
}

/// Behind blanks and line ends, real or escaped.
fn skip_lines(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while at < start + NEAR {
        match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b' ' | b'\t' | b'\n' | b'\r'), _) => at += 1,
            (Some(b'\\'), Some(b'n' | b'r' | b't')) => at += 2,
            _ => break,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::super::secrets_in;

    #[test]
    fn values_that_no_sign_joins_to_their_names_are_found() {
        for (text, expected) in [
            ("<user>app</user><password>summer</password>", "summer"),
            ("<db.password>Tr0ub4dor&9x</db.password>", "Tr0ub4dor&9x"),
            ("define( 'DB_PASSWORD', 'summer' );", "summer"),
            ("{\"content\":\"define(\\\"DB_PASSWORD\\\", \\\"summer\\\");\"}", "summer"),
            ("CREATE USER 'a'@'%' IDENTIFIED BY 'summer';", "summer"),
            ("alter user a identified with caching_sha2_password by 'summer'", "summer"),
            ("CREATE ROLE app\n  LOGIN PASSWORD 'summer';", "summer"),
            ("{\"name\": \"DB_PASSWORD\", \"value\": \"summer\"}", "summer"),
            ("{\"Value\":[{\"Name\":\"API_TOKEN\",\n  \"Value\":\"q8w7e6r5t4y3u2i1o0pA\"}]}", "q8w7e6r5t4y3u2i1o0pA"),
            ("env:\n  - name: DB_PASSWORD\n    value: summer\n  - name: X\n", "summer"),
            ("{\"content\":\"- name: DB_PASSWORD\\n  value: summer\\n\"}", "summer"),
            ("- name: DB_PASSWORD\n  value: 'summer'\n", "summer"),
            // A label has blanks for line ends.
            ("exec: - name: DB_PASSWORD   value: summer", "summer"),
        ] {
            assert_eq!(secrets_in(text), [expected], "{text}");
        }
    }

    #[test]
    fn words_in_lists_are_not_values_of_each_other() {
        for text in [
            "fields = ['password', 'summer']",
            "os.getenv('DB_PASSWORD', 'summer')",
            "each is identified by 'colour' and by 'size'",
            "no user with the password 'summer' was found",
            "<password>{{ password }}</password> <Password>Passwort</Password> <password></password>",
            "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db\n",
            "- name: DB_PASSWORD\n  value: \"$(DB_SECRET)\"\n",
            "[{ name: 'password', value: state.summer, onChange }]",
            "[{ name: 'password',\n value: winter\n }]",
            "{\"name\": \"password\", \"value\": \"string\"}",
            "username: password\nvalue: summer\n",
        ] {
            assert!(secrets_in(text).is_empty(), "{text}: {:?}", secrets_in(text));
        }
    }
}
