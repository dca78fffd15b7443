//! Passwords that are plain words: `password: correct horse`, `DB_PASSWORD=summer`, `--password summer`.
//!
//! `password = other` is code and `passwd = summer` is configuration, and the line alone does not tell them apart. The
//! neighbouring lines decide, and any other use of the word in the text.

use std::ops::Range;

use crate::cursor::{Cursor, MAX_VALUE_BYTES};
use crate::password::{is_bare_password, is_phrase, is_quoted_password};
use crate::table::word_list;
use crate::value::{is_mixed, is_word};

word_list!(CODE_WORDS, "code_words.txt");

/// An assignment of a value to a name that announces a password.
pub(crate) struct Assignment<'t> {
    /// The position of the announcing word in the name.
    pub(crate) name: Cursor<'t>,
    /// The position of the value or its opening quote.
    pub(crate) value: Cursor<'t>,
    /// True if no blanks separate name, sign and value.
    pub(crate) is_tight: bool,
    /// True if the name is an option of a command line.
    pub(crate) is_option: bool,
}

/// The longest line that is searched backwards, in bytes.
const MAX_LINE_BYTES: usize = 256;

/// Line ends, real and as JSON and shells escape them.
const LINE_ENDS: [&str; 6] = ["\n", "\\n", "\\r", "\\u000a", "\\x0a", "\\012"];

/// The distance within which another use of a word makes it a variable, in bytes.
const NEIGHBOURHOOD_BYTES: usize = 512;

/// Returns the password at a place.
pub(crate) fn find(assignment: &Assignment) -> Option<Range<usize>> {
    let text = assignment.name.text();
    let bytes = text.as_bytes();
    let value = assignment.value.skip_quote();
    if value.at > assignment.value.at {
        return assignment.value.quoted().filter(|value| is_quoted_password(&text[value.clone()]));
    }
    let (start, end) = (value.at, value.skip(MAX_VALUE_BYTES, |byte| !is_line_end(byte)).at);
    let line = line_start(bytes, assignment.name.at);
    let rest = without_comment(text.get(start..end)?);
    let word = rest.split([' ', '\t']).next().unwrap_or_default();
    if assignment.is_option {
        let is_password = (assignment.is_tight && is_bare_password(word)) || is_option_value(word, &rest[word.len()..]);
        return is_password.then(|| start..start + word.len());
    }
    let name =
        Cursor::new(text, line + name_start(&bytes[line..assignment.name.at])).skip_escape().at.min(assignment.name.at);
    let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'');
    let opens_string =
        bytes.get(name).is_some_and(is_quote) && !bytes[assignment.name.at..assignment.value.at].iter().any(is_quote);
    let front = Cursor::new(text, line).skip_escapes().at.min(name);
    let is_first = opens_string || is_prompt(&text[front..name]);
    if is_first && rest.len() > word.len() && !assignment.is_tight {
        let is_password = is_phrase(rest) && !is_among_code(text, line, end);
        return is_password.then(|| start..start + rest.len());
    }
    // `dbname=x password=y;`, `?password=y&z`
    let word = if assignment.is_tight { word.split(['&', ';']).next().unwrap_or_default() } else { word };
    let path = text[name..assignment.name.at].bytes().filter(|&byte| byte == b'.').count();
    let is_property = path == 1 || path > 1 && bytes.get(start + word.len()) == Some(&b';');
    let is_member = is_property || text[..name].ends_with(['(', '{', '[', '>', '$', '@']);
    let is_last = rest.len() == word.len();
    let is_value = match (is_first, assignment.is_tight) {
        (true, true) => path == 0 || !(has_code(&text[line..start]) || is_among_code(text, line, end)),
        (true, false) => is_last && !is_among_code(text, line, end),
        (false, true) => !is_member,
        (false, false) => {
            !is_member && !has_code(&text[line..name]) && (is_mixed(word) || is_last && !is_among_code(text, line, end))
        }
    };
    (is_value && is_bare_password(word) && !is_variable(text, start..start + word.len()))
        .then(|| start..start + word.len())
}

/// Returns true if the word behind `--password` is its value: the last word, a word before another option, or a word
/// that does not occur in sentences.
fn is_option_value(word: &str, behind: &str) -> bool {
    let behind = behind.trim_start();
    let ends = behind.is_empty() || behind.starts_with(['-', '|', '&', '>', ';', '<', '@']);
    let is_value = (ends || is_mixed(word)) && !word.starts_with('-') && word == word.trim_end_matches(['.', '?', '!']);
    is_value && is_bare_password(word)
}

/// Returns true if the word is used nearby other than as a value, so that it is a name.
fn is_variable(text: &str, word: Range<usize>) -> bool {
    let shown = &text[word.clone()];
    if !shown.bytes().all(is_word) {
        return false;
    }
    let bytes = text.as_bytes();
    let start = text.ceil_char_boundary(word.start.saturating_sub(NEIGHBOURHOOD_BYTES));
    let end = text.floor_char_boundary((word.end + NEIGHBOURHOOD_BYTES).min(text.len()));
    memchr::memmem::find_iter(&bytes[start..end], shown).map(|at| start + at).filter(|&at| at != word.start).any(|at| {
        let before = &bytes[..at];
        let is_whole = !before.last().is_some_and(|&byte| is_word(byte))
            && !bytes.get(at + shown.len()).is_some_and(|&byte| is_word(byte));
        let is_value = before.trim_ascii_end().ends_with(b"=")
            || before.trim_ascii_end().ends_with(b":")
            || before.ends_with(b"\"");
        is_whole && !is_value
    })
}

/// Returns true if a line, or the line before or after it, is code.
fn is_among_code(text: &str, line: usize, end: usize) -> bool {
    let bytes = text.as_bytes();
    let before = text[..line].trim_end_matches(['\n', '\r', ' ', 'n', '\\']);
    let before = &text[line_start(bytes, before.len())..before.len()];
    let after = text[end..].trim_start_matches(['\n', '\r', ' ', '\t']);
    let after = &after[..after.bytes().take(MAX_LINE_BYTES).take_while(|&byte| !is_line_end(byte)).count()];
    [before, after].into_iter().any(|line| has_code(line) || ends_like_code(line))
}

/// Returns true if a line contains something that only code contains.
fn has_code(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    CODE_WORDS.occur_in(line)
}

fn ends_like_code(line: &str) -> bool {
    line.trim_end().ends_with(['{', '(', ',', ';', ')', '}', '['])
}

/// Returns true if the text before a name on its line is a prompt, a number, a list mark, `export`, or a word of a
/// label.
fn is_prompt(before: &str) -> bool {
    let is_mark = |c: char| c.is_ascii_digit() || c.is_whitespace() || "-+#>*|:→$%.;\"'".contains(c);
    let word = before.trim_matches(is_mark);
    let is_label = before.trim_end().ends_with(':') && word.bytes().all(is_word);
    is_label || matches!(word, "" | "export" | "set" | "ENV" | "env" | "declare -x")
}

/// Returns the start of the name that ends at the end of `line`.
fn name_start(line: &[u8]) -> usize {
    let is_part = |byte: &&u8| is_word(**byte) || matches!(byte, b'-' | b'.' | b'"' | b'\'');
    line.len() - line.iter().rev().take_while(is_part).count()
}

/// Returns the start of the line of a position. Line ends may be escaped. Searches at most [`MAX_LINE_BYTES`] bytes.
fn line_start(bytes: &[u8], at: usize) -> usize {
    let first = at.saturating_sub(MAX_LINE_BYTES);
    let behind = |at: usize| LINE_ENDS.iter().any(|end| bytes[..at].ends_with(end.as_bytes()));
    let mut start = (first + 1..=at).rev().find(|&at| behind(at)).unwrap_or(first);
    while bytes.get(start).is_some_and(|byte| (128..192).contains(byte)) {
        start += 1;
    }
    start.min(at)
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r' | b'\\' | b'"' | b'\'' | b'`' | 128..)
}

fn without_comment(rest: &str) -> &str {
    rest.split(" #").next().unwrap_or_default().trim_end()
}
