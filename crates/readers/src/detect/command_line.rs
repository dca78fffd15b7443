//! Lines between the outputs of several commands: rules with a title, prompts, file names printed by `head`, and `set
//! -x`.
//!
//! This module only proposes headings. Markdown, test runs and patches have lines of the same form, and
//! [`super::outputs`] decides by the text between them.

use crate::Hints;
use crate::hints::of_path;
use crate::lines::head;
use crate::test_report::is_totals;
use crate::time_stamp::Stamp;
use crate::word_set::is_word_byte;

/// The certainty that a line is a heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// Markdown, comments, tables and patches have lines of this form, too.
    Likely,
    /// Nothing else has this form.
    Sure,
}

/// A line that names the output below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Heading {
    /// The certainty that it is a heading.
    pub(super) strength: Strength,
    /// Its hints about the lines below.
    pub(super) hints: Hints,
}

/// The maximum length of a heading, in bytes.
const MAX_LINE: usize = 400;
/// The maximum length of a title between rules, in bytes.
const MAX_TITLE: usize = 200;
/// The characters of rules.
const RULES: &[char] = &['=', '-', '*', '#', '_', '~', '+', '─', '━', '═', '<', '>'];

impl Heading {
    /// Parses one line.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let line = line.trim_end();
        if line.is_empty() || line.len() > MAX_LINE || line.starts_with([' ', '\t']) {
            return None;
        }
        let sure = |hints| Some(Self { strength: Strength::Sure, hints });
        let likely = |hints| Some(Self { strength: Strength::Likely, hints });
        if let Some(path) = line.strip_prefix("==> ").and_then(|rest| rest.strip_suffix(" <==")) {
            return sure(of_file(path));
        }
        if let Some(command) = prompted(line) {
            return sure(of_command(command));
        }
        if let Some(title) = ruled(line) {
            return sure(of_title(title));
        }
        if let Some(command) = line.strip_prefix("# ").or_else(|| line.strip_prefix("## ")).filter(|rest| runs(rest)) {
            return likely(of_command(command));
        }
        if let Some(command) = traced(line) {
            return likely(of_command(command));
        }
        is_rule(line).then(|| likely(Hints::default())).flatten()
    }

    /// Reads a label such as `Running processes:` above a line that is neither blank nor indented.
    pub(super) fn of_label(line: &str, below: &str) -> Option<Self> {
        let label = line.trim_end().strip_suffix(':')?;
        let is_word = |word: &str| {
            word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'/' | b'.' | b'(' | b')'))
        };
        let is_label = label.starts_with(|c: char| c.is_ascii_uppercase())
            && label.len() <= 60
            && label.split(' ').all(|word| !word.is_empty() && is_word(word))
            && !below.is_empty()
            && !below.starts_with([' ', '\t']);
        is_label.then(|| Self { strength: Strength::Likely, hints: Hints::default() })
    }

    /// Reads a heading of three lines: a rule, a title, the same rule again.
    pub(super) fn of_banner(lines: [&str; 3]) -> Option<Self> {
        let [above, title, below] = lines.map(str::trim_end);
        let mark = above.chars().next()?;
        let bare = title.trim_matches(|c: char| c == mark || c.is_whitespace() || matches!(c, '|' | '#'));
        let is_title = !is_rule(title)
            && title.len() <= MAX_TITLE
            && bare.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '$'))
            && !is_of_test_run(bare);
        if !is_title || !is_rule(above) || !is_rule(below) || !below.starts_with(mark) {
            return None;
        }
        // Comments and Markdown have banners of the other marks.
        let strength =
            if matches!(mark, '=' | '─' | '━' | '═' | '~') { Strength::Sure } else { Strength::Likely };
        Some(Self { strength, hints: of_title(bare) })
    }
}

/// Returns true if a line is nothing but a rule: three marks or more, all the same.
pub(super) fn is_rule(line: &str) -> bool {
    let line = line.trim_end();
    let Some(mark) = line.chars().next().filter(|mark| RULES.contains(mark) && !matches!(mark, '<' | '>' | '+')) else {
        return false;
    };
    line.chars().nth(2).is_some() && line.chars().all(|c| c == mark)
}

/// Returns the title between two rules of one mark, `=== title ===`, or after `=== `.
fn ruled(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|mark| RULES.contains(mark))?;
    let close = match mark {
        '<' => '>',
        '>' => '<',
        other => other,
    };
    let rest = line.trim_start_matches(mark);
    let title = rest.trim_end_matches(close);
    let marks = |drawn: usize| drawn / mark.len_utf8();
    let (before, behind) = (marks(line.len() - rest.len()), marks(rest.len() - title.len()));
    let spaced = title.starts_with(' ') && (behind == 0 || title.ends_with(' '));
    let is_closed = before >= 2 && behind >= 2 && (spaced || before >= 3 && behind >= 3);
    // `=== title` without a closing rule. With other marks, it would be a list, a patch or a rule in comments.
    let is_open = behind == 0 && before >= 3 && spaced && matches!(mark, '=' | '━' | '═' | '─');
    let title = title.trim();
    let is_title = !title.is_empty()
        && title.len() <= MAX_TITLE
        && title.starts_with(|c: char| {
            c.is_alphanumeric() || matches!(c, '.' | '/' | '~' | '$' | '[' | '(' | '`' | '"' | '\'')
        })
        && !title.contains("  ")
        && !is_of_test_run(title);
    ((is_closed || is_open) && is_title).then_some(title)
}

/// Returns true if a test runner, a key file or a merge writes this title between rules within one output.
fn is_of_test_run(title: &str) -> bool {
    #[rustfmt::skip]
    const STARTS: &[&str] = &[
        "RUN ", "CONT ", "PAUSE ", "NAME ", "PASS", "FAIL", "SKIP", "ERROR", "BEGIN ", "END ", "test session starts",
        "short test summary", "warnings summary", "slowest ", "rerun test", "Captured ", "coverage:",
        "tests coverage", "live log",
    ];
    let is_case = title.ends_with(" stdout")
        || title.ends_with(" stderr")
        || title.starts_with("test_")
        || title.starts_with("Test");
    is_case || is_totals(title) || STARTS.iter().any(|start| title.starts_with(start))
}

/// Returns the command behind a prompt: `$ `, `me@host:~/a$ `, `[me@host a]# `, `PS C:\> `, `❯ `.
fn prompted(line: &str) -> Option<&str> {
    let bare = ["$ ", "❯ ", "λ "].iter().find_map(|prompt| line.strip_prefix(prompt));
    let command = bare.or_else(|| of_host(line)).or_else(|| of_windows(line))?.trim();
    (is_command(command) && !command.ends_with('$')).then_some(command)
}

/// Returns the command behind `me@host:~/a$ ` or `[me@host a]# `.
fn of_host(line: &str) -> Option<&str> {
    let searched = head(line, 120);
    let at = memchr::memchr(b'@', searched.as_bytes()).filter(|&at| at > 0)?;
    let is_user = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let (user, bracketed) = match searched[..at].strip_prefix('[') {
        Some(user) => (user, true),
        None => (searched[..at].rsplit(' ').next().unwrap_or_default(), false),
    };
    let place = &searched[at + 1..];
    let end = if bracketed {
        place.find("]$ ").or_else(|| place.find("]# "))? + 1
    } else {
        place.find("$ ").or_else(|| place.find("# "))?
    };
    let host = &place[..end];
    let is_place = host.starts_with(|c: char| c.is_ascii_alphanumeric()) && (bracketed || host.contains(':'));
    (!user.is_empty() && user.chars().all(is_user) && is_place).then(|| &line[at + 1 + end + 2..])
}

/// Returns the command behind `PS C:\a> ` or `C:\a>`.
fn of_windows(line: &str) -> Option<&str> {
    let bare = line.strip_prefix("PS ").unwrap_or(line);
    let drive = bare.as_bytes();
    let is_drive = drive.len() > 3 && drive[0].is_ascii_uppercase() && &drive[1..3] == b":\\";
    if is_drive { bare.split_once('>').map(|(_, command)| command) } else { None }
}

/// Returns the command that `set -x` prints behind `+ `.
fn traced(line: &str) -> Option<&str> {
    let command = line.trim_start_matches('+').strip_prefix(' ').filter(|_| line.starts_with('+'))?;
    let first = command.split(' ').next().unwrap_or_default();
    let is_builtin = matches!(
        first,
        "cd" | "echo" | "export" | "set" | "[" | "[[" | "test" | "source" | "." | "exit" | "printf" | "sleep"
    );
    let is_assignment = first.split_once('=').is_some_and(|(name, _)| is_variable(name));
    (runs(command) || is_builtin || is_assignment).then_some(command)
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.bytes().all(is_word_byte)
}

/// Returns true if words may be a command: the first one is the name or path of a program, or sets a variable for it.
fn is_command(words: &str) -> bool {
    let first = words.split_whitespace().next().unwrap_or_default();
    let name = first.split_once('=').map_or(first, |(name, _)| name);
    name.starts_with(|c: char| c.is_ascii_lowercase() || matches!(c, '.' | '/' | '~' | '_' | '[' | '(' | '"'))
        || is_variable(name) && name.len() < first.len()
}

/// Programs whose names are not English words.
#[rustfmt::skip]
const PROGRAMS: &[&str] = &[
    "apt", "apt-get", "awk", "aws", "bash", "bun", "cargo", "cat", "chmod", "chown", "cmake", "cp", "crontab", "curl", "dd", "deno", "df",
    "dig", "dmesg", "docker", "docker-compose", "dotnet", "dpkg", "du", "egrep", "env", "fd", "ffmpeg", "gcc", "gcloud", "gh", "git", "grep",
    "helm", "hexdump", "hostname", "hostnamectl", "id", "ifconfig", "ip", "iptables", "javac", "journalctl", "jq", "kubectl", "ls", "lsblk",
    "lscpu", "lsof", "mkdir", "mv", "mvn", "mypy", "mysql", "netstat", "nginx", "nl", "npm", "npx", "nproc", "nslookup", "openssl", "pip",
    "pip3", "pnpm", "podman", "printenv", "ps", "psql", "pwd", "pytest", "python", "python3", "redis-cli", "rg", "rm", "rsync", "ruff",
    "rustc", "scp", "sed", "sh", "sqlite3", "ss", "ssh", "stat", "sudo", "systemctl", "tar", "terraform", "tox", "traceroute", "tsc", "uname",
    "uptime", "vitest", "wc", "wget", "whoami", "xxd", "yarn",
];

/// Programs whose names are also English words. They need an argument that is not one.
const WORDS: &[&str] = &[
    "date", "diff", "file", "find", "free", "go", "head", "java", "less", "make", "node", "ping", "sort", "tail",
    "test", "time", "timeout", "top", "tree", "which",
];

/// Returns true if words run a known program or a path.
fn runs(words: &str) -> bool {
    let mut rest = words.split_whitespace();
    let Some(first) = rest.next() else { return false };
    let has_flag = rest.any(|word| {
        word.starts_with('-') && word.len() > 1
            || word.contains('/')
            || word.contains(['|', '*'])
            || of_path(word).is_some()
    });
    let is_path = first.starts_with("./") || first.starts_with("../") || first.starts_with('/') && first.len() > 1;
    let is_told = !has_flag && (words.ends_with(['.', ':', '!', '?']) || words.split_whitespace().nth(4).is_some());
    !is_told && (PROGRAMS.contains(&first) || WORDS.contains(&first) && has_flag || is_path)
}

fn of_command(command: &str) -> Hints {
    Hints { command: Some(command.trim().to_owned()), ..Hints::default() }
}

/// Returns the hints of a file name. `.txt` says nothing about the content.
fn of_file(path: &str) -> Hints {
    if path.ends_with(".txt") {
        return Hints::default();
    }
    Hints { path: Some(path.to_owned()), ..Hints::default() }
}

/// Returns the hints of a title: a file, a command, or none.
fn of_title(title: &str) -> Hints {
    let is_quote = |c: char| matches!(c, '[' | ']' | '`' | '"' | '\'' | '(' | ')');
    let bare = title.trim_matches(is_quote);
    if runs(bare.strip_prefix("$ ").unwrap_or(bare)) {
        return of_command(bare.strip_prefix("$ ").unwrap_or(bare));
    }
    let named = bare.rsplit_once(": ").map_or(bare, |(_, named)| named);
    let is_file = |word: &&str| of_path(word).is_some() && Stamp::find(word).is_none();
    match named.split_whitespace().map(|word| word.trim_matches(is_quote)).find(is_file) {
        Some(path) if named.split_whitespace().count() <= 4 => of_file(path),
        _ => Hints::default(),
    }
}
