//! Secrets among the words of a command line: `curl -u user:password`, `mysql -ppassword`, `sshpass -p password`.
//!
//! A flag means a password only behind the command that says so: `mkdir -p` and `docker run -p` take none.

use std::ops::Range;

use super::chosen::is_password;
use super::header::find_cookies;
use super::{is_random, is_word};

/// How the value of a flag holds a password.
#[derive(Clone, Copy)]
enum Form {
    /// It is one.
    Whole,
    /// It is one, and stands right behind the flag, which means something else alone.
    Joined,
    /// It follows after this sign; a user stands before.
    Behind(u8),
    /// It follows after `pass:`.
    Scheme,
    /// It holds cookies.
    Cookies,
}

/// What one program takes as a password.
struct Command {
    name: &'static str,
    flags: &'static [&'static str],
    form: Form,
    /// A word that must stand between.
    verb: Option<&'static str>,
}

const fn command(name: &'static str, flags: &'static [&'static str], form: Form) -> Command {
    Command { name, flags, form, verb: None }
}

const fn login(name: &'static str) -> Command {
    Command { name, flags: &["-p"], form: Form::Whole, verb: Some("login") }
}

const COMMANDS: &[Command] = &[
    command("curl", &["-u", "--user", "-U", "--proxy-user"], Form::Behind(b':')),
    command("curl", &["-b", "--cookie"], Form::Cookies),
    command("mysql", &["-p"], Form::Joined),
    command("mysqldump", &["-p"], Form::Joined),
    command("mysqladmin", &["-p"], Form::Joined),
    command("mysqlimport", &["-p"], Form::Joined),
    command("mysqlshow", &["-p"], Form::Joined),
    command("mysqlcheck", &["-p"], Form::Joined),
    command("mariadb", &["-p"], Form::Joined),
    command("mariadb-dump", &["-p"], Form::Joined),
    command("mariadb-admin", &["-p"], Form::Joined),
    command("sshpass", &["-p"], Form::Whole),
    command("redis-cli", &["-a", "--pass"], Form::Whole),
    command("mongo", &["-p"], Form::Whole),
    command("mongosh", &["-p"], Form::Whole),
    command("mongodump", &["-p"], Form::Whole),
    command("mongorestore", &["-p"], Form::Whole),
    command("mongoexport", &["-p"], Form::Whole),
    command("mongoimport", &["-p"], Form::Whole),
    command("ldapsearch", &["-w"], Form::Whole),
    command("ldapadd", &["-w"], Form::Whole),
    command("ldapmodify", &["-w"], Form::Whole),
    command("ldapwhoami", &["-w"], Form::Whole),
    command("smbclient", &["-U", "--user"], Form::Behind(b'%')),
    command("lftp", &["-u", "--user"], Form::Behind(b',')),
    command("openssl", &["-passin", "-passout", "-pass"], Form::Scheme),
    command("unzip", &["-P"], Form::Whole),
    command("7z", &["-p"], Form::Joined),
    command("sqlcmd", &["-P"], Form::Whole),
    command("keytool", &["-storepass", "-keypass"], Form::Whole),
    login("docker"),
    login("podman"),
    login("helm"),
    login("oras"),
];

/// Longest command line that is read.
const LONGEST: usize = 8192;

/// The names of the commands, each once.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let is_first = |&(at, command): &(usize, &Command)| COMMANDS[..at].iter().all(|other| other.name != command.name);
    COMMANDS.iter().enumerate().filter(is_first).map(|(_, command)| command.name)
}

/// Adds the ranges of passwords behind the command whose name stands at `name`; returns where its line ends.
pub(super) fn find(text: &str, name: Range<usize>, found: &mut Vec<Range<usize>>) -> usize {
    let bytes = text.as_bytes();
    let is_command = name.start.checked_sub(1).is_none_or(|at| !is_word(bytes[at]) && !b"-.".contains(&bytes[at]));
    if !(is_command || super::is_start(bytes, name.start)) || bytes.get(name.end) != Some(&b' ') {
        return name.end;
    }
    let (words, end) = words(bytes, name.end);
    for (at, word) in words.iter().enumerate() {
        let word_text = &bytes[word.clone()];
        if word_text.first() != Some(&b'-') {
            continue;
        }
        for command in COMMANDS.iter().filter(|command| command.name.eq_ignore_ascii_case(&text[name.clone()])) {
            let is_meant =
                command.verb.is_none_or(|verb| words[..at].iter().any(|word| bytes[word.clone()] == *verb.as_bytes()));
            if let (true, Some(value)) = (is_meant, value(bytes, command, word, words.get(at + 1))) {
                judge(text, value, command.form, found);
            }
        }
    }
    end
}

/// The value of a flag: in the same word, or the next one.
fn value(bytes: &[u8], command: &Command, word: &Range<usize>, next: Option<&Range<usize>>) -> Option<Range<usize>> {
    let text = &bytes[word.clone()];
    let flag = command.flags.iter().find(|flag| text.starts_with(flag.as_bytes()))?;
    let rest = word.start + flag.len()..word.end;
    let value = match (rest.is_empty(), command.form) {
        (true, Form::Joined) => return None,
        (true, _) => next?.clone(),
        (false, _) if flag.starts_with("--") => match bytes[rest.start] {
            b'=' => rest.start + 1..rest.end,
            _ => return None,
        },
        // `-passin` of another flag `-pass` is longer than a flag with its value.
        (false, _) if flag.len() > 2 => return None,
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

fn judge(text: &str, value: Range<usize>, form: Form, found: &mut Vec<Range<usize>>) {
    let bytes = &text.as_bytes()[value.clone()];
    let password = match form {
        Form::Whole | Form::Joined => value,
        Form::Behind(sign) => match memchr::memchr(sign, bytes) {
            Some(at) => value.start + at + 1..value.end,
            None => return,
        },
        Form::Scheme if bytes.starts_with(b"pass:") => value.start + "pass:".len()..value.end,
        Form::Scheme => return,
        Form::Cookies => return find_cookies(text, value, found),
    };
    let Some(shown) = text.get(password.clone()) else { return };
    if is_password(shown) || is_random(shown) {
        found.push(password);
    }
}

/// The words of a command line from `start` on, with their quotes, and where the line ends. A backslash at its end continues it.
fn words(bytes: &[u8], start: usize) -> (Vec<Range<usize>>, usize) {
    let limit = bytes.len().min(start + LONGEST);
    let (mut words, mut at) = (Vec::new(), start);
    while at < limit {
        match bytes[at] {
            b' ' | b'\t' => at += 1,
            b'\n' | b'\r' | b'|' | b';' => break,
            b'"' | b'\'' if at > start && !bytes[at - 1].is_ascii_whitespace() => break,
            b'&' if bytes.get(at + 1) == Some(&b'&') => break,
            // A line that goes on, also where the text is in JSON.
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
                // A lone quote, or one inside a word, closes what was opened before the command.
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

#[cfg(test)]
mod tests {
    use super::super::{find_secrets, secrets_in};

    #[test]
    fn passwords_among_the_words_of_a_command_are_found() {
        for (text, expected) in [
            ("curl -u admin:hunter2 https://h/", "hunter2"),
            ("exec: curl -s --user 'admin:correct-horse' https://h/", "correct-horse"),
            ("{\"command\":\"cd /tmp && curl -u \\\"ci:summer99\\\" https://h/\"}", "summer99"),
            ("curl \\\n  -X POST \\\n  -u ci:summer99 \\\n  https://h", "summer99"),
            ("{\"command\":\"curl \\\\\\n  -u ci:summer99 https://h/\"}", "summer99"),
            ("mysql -u root -psummer shop", "summer"),
            ("mysqldump --single-transaction -p'winter 9' x", ""),
            ("sshpass -p summer ssh root@h", "summer"),
            ("redis-cli -h cache -a summer ping", "summer"),
            ("docker login -u me -p summer registry", "summer"),
            ("openssl rsa -in k.pem -passin pass:summer", "summer"),
            ("unzip -P summer a.zip", "summer"),
        ] {
            let found = secrets_in(text);
            let expected: Vec<&str> = Some(expected).filter(|expected| !expected.is_empty()).into_iter().collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn flags_of_other_commands_take_no_password() {
        for text in [
            "mkdir -p build/output && docker run -p 8080:80 nginx",
            "mysql -p shop < dump.sql",
            "mysql -u root -P3306 shop",
            "curl -u \"$USER:$PASS\" https://h/",
            "curl -u admin:password https://h/",
            "the curl option -u takes user and password",
        ] {
            assert!(find_secrets(text).is_empty(), "{text}");
        }
    }
}
