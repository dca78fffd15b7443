//! Secrets in command lines: `curl -u user:password`, `mysql -ppassword`, `sshpass -p password`.
//!
//! An option means a password only for the commands in `data/commands.txt`: `mkdir -p` and `docker run -p` take none.

use std::ops::Range;

use crate::cursor::Cursor;
use crate::header::find_cookie_values;
use crate::password::is_password;
use crate::table::{fields, rows};
use crate::value::{is_random, is_word};

/// The form in which the value of an option contains a password.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The value is the password.
    Whole,
    /// The value is the password and follows the option without a blank; the option alone means something else.
    Joined,
    /// The password follows this sign; a user stands before it.
    After(char),
    /// The password follows `pass:`.
    Scheme,
    /// The value contains cookies.
    Cookies,
}

impl Form {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "whole" => Self::Whole,
            "joined" => Self::Joined,
            "scheme" => Self::Scheme,
            "cookies" => Self::Cookies,
            _ => Self::After(word.strip_prefix("after")?.parse().ok()?),
        })
    }
}

/// A row of the table: the options of one program that take a password.
pub(crate) struct Command {
    pub(crate) program: String,
    /// A subcommand that must stand between the program and the option.
    subcommand: Option<String>,
    options: Vec<String>,
    form: Form,
}

impl Command {
    fn read(row: &str) -> Option<Self> {
        let mut fields = fields(row);
        let form = Form::parse(&fields.pop()?)?;
        let first = fields.iter().position(|field| field.starts_with('-'))?;
        let options = fields.split_off(first);
        let mut words = fields.into_iter();
        let (program, subcommand) = (words.next()?, words.next());
        words.next().is_none().then_some(Self { program, subcommand, options, form })
    }
}

/// Parses the rows of the table.
///
/// # Panics
/// If a row is malformed.
pub(crate) fn read() -> Vec<Command> {
    let read = |row| Command::read(row).unwrap_or_else(|| panic!("no row of data/commands.txt: {row}"));
    rows(include_str!("../data/commands.txt")).map(read).collect()
}

/// The longest command line that is read, in bytes.
const MAX_LINE_BYTES: usize = 8192;

/// Adds the ranges of passwords that follow the program at `name`. `end` is the position after the blank behind that
/// name. Returns the end of the command line.
pub(crate) fn find(commands: &[Command], name: Cursor, end: Cursor, found: &mut Vec<Range<usize>>) -> usize {
    let is_command = name.previous().is_none_or(|byte| !is_word(byte) && !b"-.".contains(&byte));
    let program = name.shown(end).trim_end();
    let text = name.text();
    if !is_command && !name.is_start() {
        return name.at + program.len();
    }
    let (words, line_end) = words(text.as_bytes(), name.at + program.len());
    for (at, word) in words.iter().enumerate().filter(|(_, word)| text.as_bytes()[word.start] == b'-') {
        for command in commands.iter().filter(|command| command.program.eq_ignore_ascii_case(program)) {
            let is_meant = command.subcommand.as_ref().is_none_or(|subcommand| {
                words[..at].iter().any(|word| text.as_bytes()[word.clone()] == *subcommand.as_bytes())
            });
            if let (true, Some(value)) = (is_meant, value(text.as_bytes(), command, word, words.get(at + 1))) {
                find_password(text, value, command.form, found);
            }
        }
    }
    line_end
}

/// Returns the value of an option, in the same word or the next one.
fn value(bytes: &[u8], command: &Command, word: &Range<usize>, next: Option<&Range<usize>>) -> Option<Range<usize>> {
    let text = &bytes[word.clone()];
    let option = command.options.iter().find(|option| text.starts_with(option.as_bytes()))?;
    let rest = word.start + option.len()..word.end;
    let value = match (rest.is_empty(), command.form) {
        (true, Form::Joined) => return None,
        (true, _) => next?.clone(),
        (false, _) if option.starts_with("--") => match bytes[rest.start] {
            b'=' => rest.start + 1..rest.end,
            _ => return None,
        },
        // A longer word is another option: `-passin` is not `-pass` with a joined value.
        (false, _) if option.len() > 2 => return None,
        (false, _) => rest,
    };
    Some(unquote(bytes, value))
}

fn unquote(bytes: &[u8], range: Range<usize>) -> Range<usize> {
    let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'' | b'\\');
    let front = bytes[range.clone()].iter().take_while(|byte| is_quote(byte)).count();
    let start = range.start + front;
    let back = bytes[start..range.end].iter().rev().take_while(|byte| is_quote(byte)).count();
    start..range.end - back
}

/// Adds the password that the value of an option holds.
fn find_password(text: &str, value: Range<usize>, form: Form, found: &mut Vec<Range<usize>>) {
    let Some(shown) = text.get(value.clone()) else { return };
    let password = match form {
        Form::Whole | Form::Joined => Some(shown),
        Form::After(sign) => shown.split_once(sign).map(|(_, password)| password),
        Form::Scheme => shown.strip_prefix("pass:"),
        Form::Cookies => return find_cookie_values(text, value, found),
    };
    let is_one = |password: &&str| is_password(password) || is_random(password);
    found.extend(password.filter(is_one).map(|password| value.end - password.len()..value.end));
}

/// Returns the words of a command line from `start` on, with their quotes, and the end of the line. A backslash at the
/// end of a line continues it.
fn words(bytes: &[u8], start: usize) -> (Vec<Range<usize>>, usize) {
    let limit = bytes.len().min(start + MAX_LINE_BYTES);
    let (mut words, mut at) = (Vec::new(), start);
    while at < limit {
        match bytes[at] {
            b' ' | b'\t' => at += 1,
            b'\n' | b'\r' | b'|' | b';' => break,
            b'"' | b'\'' if at > start && !bytes[at - 1].is_ascii_whitespace() => break,
            b'&' if bytes.get(at + 1) == Some(&b'&') => break,
            // A continued line, also in a text that is escaped in JSON.
            b'\\' if matches!(bytes.get(at + 1), Some(b'\n')) => at += 2,
            b'\\' if bytes[at..].starts_with(b"\\\\\\n") => at += 4,
            b'\\' if matches!(bytes.get(at + 1), Some(b'n' | b'r')) => break,
            _ => {
                let end = word_end(bytes, at, limit);
                words.push(at..end);
                at = end;
            }
        }
    }
    (words, at)
}

fn word_end(bytes: &[u8], start: usize, limit: usize) -> usize {
    let (mut at, mut quote) = (start, None);
    while at < limit {
        let byte = bytes[at];
        match quote {
            Some(open) if byte == open => quote = None,
            Some(_) if byte == b'\n' => break,
            Some(_) => {}
            None if matches!(byte, b'"' | b'\'') => {
                // A single quote mark, or one inside a word, closes a quote that was opened before the command.
                if at > start + 2 && !matches!(bytes[at - 1], b'=' | b':' | b'\\') {
                    break;
                }
                if memchr::memchr2(byte, b'\n', &bytes[at + 1..limit])
                    .is_some_and(|found| bytes[at + 1 + found] == byte)
                {
                    quote = Some(byte);
                } else {
                    break;
                }
            }
            None if matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'|' | b';') => break,
            None if byte == b'\\' && matches!(bytes.get(at + 1), Some(b'n' | b'r' | b'\n')) => break,
            None => {}
        }
        at += 1;
    }
    at.max(start + 1)
}
