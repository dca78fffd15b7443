//! Decides whether a command line prints files, by the structure that a shell gives it.
//!
//! Bash and PowerShell are read alike. Nothing here runs or expands anything: a word is used as written, without its
//! quotes.

use crate::content::ContentType;
use crate::content::hints::of_path;

/// The part of a command line's output that is file content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Prints {
    /// No file.
    Nothing,
    /// Lines of files, and something else at length.
    FilesAmongOther,
    /// Files, and at most a few lines beside them: what comes back is as good as a read's.
    FilesOnly,
}

/// The maximum depth of scripts nested in scripts. Chosen by judgement.
const DEPTH: usize = 4;

/// Classifies the output of a command line. Logs do not count as files, because nobody edits them.
pub(super) fn prints_of(line: &str) -> Prints {
    prints_at(line, DEPTH)
}

fn prints_at(line: &str, depth: usize) -> Prints {
    let (mut files, mut others) = (Prints::Nothing, false);
    for pipeline in pipelines(line) {
        match pipeline.iter().fold(CommandOutput::Brief, |before, command| part_of(command, before, depth)) {
            CommandOutput::Files => files = Prints::FilesOnly,
            CommandOutput::Lines => (files, others) = (files.max(Prints::FilesAmongOther), true),
            CommandOutput::Other => others = true,
            CommandOutput::Brief => {}
        }
    }
    if others { files.min(Prints::FilesAmongOther) } else { files }
}

/// The output of one command, or of a pipeline up to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommandOutput {
    /// Nothing, or a few lines of its own.
    Brief,
    /// A file, whole or by lines.
    Files,
    /// Some lines of files.
    Lines,
    Other,
}

/// Programs that print the files named in their arguments, or their input.
#[rustfmt::skip]
const PRINTERS: &[&str] = &[
    "awk", "bat", "batcat", "cat", "cut", "expand", "fold", "gawk", "gc", "get-content", "head", "iconv", "less", "more", "nl",
    "out-host", "out-string", "perl", "ruby", "sed", "select-object", "tac", "tail", "tee", "tr", "type",
];

/// Programs that search for lines.
const SEARCHERS: &[&str] = &["ack", "ag", "egrep", "fgrep", "grep", "rg", "select-string", "sls", "zgrep"];

/// Programs that print next to nothing, or lists that nobody edits.
#[rustfmt::skip]
const SHORT: &[&str] = &[
    "", ":", "[", "[[", "}", "basename", "break", "case", "cd", "chmod", "command", "continue", "cp", "date", "declare", "dirname", "du", "echo",
    "done", "esac", "exit", "export", "false", "fd", "fi", "file", "find", "for", "get-childitem", "hostname", "local", "ls", "md5sum", "mkdir", "mv",
    "popd", "printf", "pushd", "pwd", "read", "realpath", "return", "rm", "select", "set", "set-location", "sha256sum", "shift",
    "sleep", "source", "stat", "test", "touch", "tree", "true", "unset", "wc", "which", "whoami", "write-host", "write-output",
];

/// Programs that run the command in their arguments.
const WRAPPERS: &[&str] = &["builtin", "env", "exec", "nice", "nohup", "stdbuf", "sudo", "time", "timeout", "xargs"];

/// Shell keywords that may precede a command.
const KEYWORDS: &[&str] = &["!", "(", "do", "elif", "else", "if", "then", "until", "while", "{"];

fn part_of(command: &Command, before: CommandOutput, depth: usize) -> CommandOutput {
    if command.writes {
        return CommandOutput::Brief;
    }
    let mut words = &command.words[..];
    while let Some((first, rest)) = words.split_first()
        && (KEYWORDS.contains(&&**first) || is_assignment(first))
    {
        words = rest;
    }
    let is_fed = command.is_piped && before != CommandOutput::Brief;
    let mut is_named = command.reads;
    while let Some((first, rest)) = words.split_first()
        && WRAPPERS.contains(&&*name_of(first))
    {
        is_named |= command.is_piped && name_of(first) == "xargs";
        let is_run = |word: &&String| {
            !word.starts_with('-') && !is_assignment(word) && !word.starts_with(|c: char| c.is_ascii_digit())
        };
        words = &rest[rest.iter().position(|word| is_run(&word)).unwrap_or(rest.len())..];
    }
    let Some((program, arguments)) = words.split_first() else { return CommandOutput::Brief };
    let program = &*name_of(program);
    let operands = || arguments.iter().filter(|word| !word.starts_with('-'));
    let has = |wanted: &[&str]| arguments.iter().any(|word| wanted.contains(&&**word));
    let script = || arguments.iter().find(|word| word.contains([' ', '(', '.', ';']) && !word.starts_with('-'));
    match program {
        "bash" | "sh" | "zsh" | "dash" | "ksh" | "powershell" | "pwsh" | "cmd"
            if depth > 0 && !arguments.is_empty() =>
        {
            let is_option = |word: &&String| word.starts_with(['-', '/']);
            let inner = arguments.iter().skip_while(is_option).map(String::as_str).collect::<Vec<_>>().join(" ");
            match prints_at(&inner, depth - 1) {
                Prints::FilesOnly => CommandOutput::Files,
                Prints::FilesAmongOther => CommandOutput::Lines,
                Prints::Nothing => CommandOutput::Other,
            }
        }
        // `kubectl exec pod -- cat a`, `docker exec web cat a`, `ssh host cat a`.
        "docker" | "kubectl" | "podman" | "ssh" | "wsl" if depth > 0 => {
            let inner =
                arguments.iter().position(|word| PRINTERS.contains(&word.split(' ').next().unwrap_or_default()));
            match inner.map(|at| prints_at(&arguments[at..].join(" "), depth - 1)) {
                Some(Prints::FilesOnly | Prints::FilesAmongOther) => CommandOutput::Lines,
                _ => CommandOutput::Other,
            }
        }
        "find" | "fd" if has(&["-exec", "-x", "--exec", "-execdir"]) => {
            if arguments.iter().any(|word| PRINTERS.contains(&&**word) || SEARCHERS.contains(&&**word)) {
                CommandOutput::Files
            } else {
                CommandOutput::Other
            }
        }
        "git" => match operands().next().map_or("", String::as_str) {
            "show" | "cat-file" if arguments.iter().any(|word| word.contains(':') && !word.starts_with("--")) => {
                CommandOutput::Files
            }
            "blame" | "annotate" => CommandOutput::Lines,
            "cat-file" => CommandOutput::Files,
            "grep" => searched(arguments, before),
            "diff" | "show" if !has(&["--stat", "--name-only", "--name-status", "--shortstat"]) => CommandOutput::Other,
            "log" if has(&["-p", "--patch"]) => CommandOutput::Other,
            _ => CommandOutput::Brief,
        },
        _ if SEARCHERS.contains(&program) => searched(arguments, before),
        "node" | "python" | "python3" | "py" | "deno" | "bun" | "php" | "perl" | "ruby"
            if script().is_some_and(|script| reads_and_prints(script)) =>
        {
            CommandOutput::Files
        }
        "perl" | "ruby" if !arguments.iter().any(|word| is_loop(word)) => CommandOutput::Other,
        "sed" if arguments.iter().any(|word| word.starts_with("-i") || word == "--in-place") => CommandOutput::Brief,
        _ if PRINTERS.contains(&program) => {
            let needed = if has_program(program) && !has(&["-e", "-f"]) { 1 } else { 0 };
            let paths: Vec<&String> = operands().skip(needed).filter(|word| !is_count(word)).collect();
            let is_log =
                |path: &&String| of_path(path).is_some_and(|expected| expected.content_type == ContentType::Log);
            match () {
                () if !paths.is_empty() && paths.iter().all(is_log) => CommandOutput::Other,
                () if is_fed => before,
                () if program == "type" && !paths.iter().any(|path| path.contains(['.', '\\', '/'])) => {
                    CommandOutput::Brief
                }
                () if is_named || !paths.is_empty() => CommandOutput::Files,
                () => CommandOutput::Brief,
            }
        }
        _ if SHORT.contains(&program) => CommandOutput::Brief,
        _ => CommandOutput::Other,
    }
}

/// Classifies the output of a search. Context lines around hits are file content, and so are the lines that it passes
/// on from a file.
fn searched(arguments: &[String], before: CommandOutput) -> CommandOutput {
    let is_context = |word: &String| {
        let long = ["--context", "--after-context", "--before-context", "-context"];
        long.iter().any(|option| word.to_ascii_lowercase().starts_with(option))
            || word.strip_prefix('-').is_some_and(|flags| {
                !flags.starts_with('-') && flags.contains(['A', 'B', 'C'])
                    || flags.starts_with(|c: char| c.is_ascii_digit())
            })
    };
    let is_around = arguments.iter().any(is_context);
    if is_around || matches!(before, CommandOutput::Files | CommandOutput::Lines) {
        CommandOutput::Lines
    } else {
        CommandOutput::Brief
    }
}

/// Returns true if the first operand of a program is a script, not a file.
fn has_program(program: &str) -> bool {
    matches!(program, "awk" | "gawk" | "sed" | "perl" | "ruby" | "tr")
}

/// Returns true if flags make a program print its input line by line: `-ne`, `-pe`.
fn is_loop(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|flags| !flags.starts_with('-') && flags.contains(['n', 'p']))
}

/// Returns true if a script reads a file and prints.
fn reads_and_prints(script: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| script.contains(word));
    has(&[
        "readFile",
        "open(",
        "read_text",
        "read_bytes",
        "File.read",
        "IO.read",
        "file_get_contents",
        "readlines",
        "readTextFile",
    ]) && has(&["print", "console.log", "stdout", "puts", "echo"])
}

fn is_count(word: &str) -> bool {
    word.trim_start_matches('+').bytes().all(|byte| byte.is_ascii_digit())
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// `/usr/bin/Cat` -> `cat`.
fn name_of(word: &str) -> String {
    word.rsplit(['/', '\\']).next().unwrap_or(word).trim_end_matches(".exe").to_ascii_lowercase()
}

/// One program with its words.
#[derive(Debug, Default, PartialEq, Eq)]
struct Command {
    words: Vec<String>,
    /// True if its input is the output of the previous command.
    is_piped: bool,
    /// True if its output is redirected to a file, and if its input comes from one.
    writes: bool,
    reads: bool,
}

/// Splits a command line into its pipelines, in order.
fn pipelines(line: &str) -> Vec<Vec<Command>> {
    let mut pipelines: Vec<Vec<Command>> = vec![vec![Command::default()]];
    let mut awaited: Vec<String> = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let last = pipelines.last_mut().and_then(|pipeline| pipeline.last_mut()).expect("never empty");
        let operator = ["&&", "||", "|&", ";;", "&>>", "&>", "|", ";", "&", "\n", "(", ")"];
        if let Some(mark) = operator.iter().find(|mark| rest.starts_with(**mark)) {
            rest = &rest[mark.len()..];
            match *mark {
                "|" | "|&" => {
                    pipelines.last_mut().expect("never empty").push(Command { is_piped: true, ..Command::default() })
                }
                "&>" | "&>>" => last.writes |= !redirected(&mut rest).starts_with('&'),
                "\n" => {
                    for end in awaited.drain(..) {
                        rest = after_document(rest, &end);
                    }
                    pipelines.push(vec![Command::default()]);
                }
                _ => pipelines.push(vec![Command::default()]),
            }
        } else if first.is_whitespace() {
            rest = rest.trim_start_matches([' ', '\t', '\r']);
            rest = rest.strip_prefix("\\\n").unwrap_or(rest);
        } else if first == '#' {
            rest = rest.find('\n').map_or("", |at| &rest[at..]);
        } else if let Some(after) = rest.strip_prefix("<<<") {
            rest = after;
            redirected(&mut rest);
        } else if let Some(after) = rest.strip_prefix("<<") {
            rest = after.trim_start_matches('-');
            awaited.push(redirected(&mut rest));
        } else if let Some(after) = rest.strip_prefix('<') {
            rest = after;
            redirected(&mut rest);
            last.reads = true;
        } else if let Some((to_output, after)) = output_redirection(rest) {
            rest = after;
            let target = redirected(&mut rest);
            last.writes |= to_output && !target.starts_with('&');
        } else {
            let word = take_word(&mut rest);
            last.words.push(word);
        }
    }
    pipelines
}

/// Parses `>`, `>>`, `1>`, `2>`: returns whether it redirects standard output, and the rest.
fn output_redirection(rest: &str) -> Option<(bool, &str)> {
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = &rest[..rest.len() - after.len()];
    let target = after.strip_prefix('>')?;
    Some((matches!(number, "" | "1"), target.strip_prefix(['>', '|']).unwrap_or(target)))
}

/// Takes the target of a redirection.
fn redirected(rest: &mut &str) -> String {
    *rest = rest.trim_start_matches([' ', '\t']);
    let is_descriptor = rest.starts_with('&');
    *rest = rest.strip_prefix('&').unwrap_or(rest);
    let word = take_word(rest);
    if is_descriptor { format!("&{word}") } else { word }
}

/// Returns the text after the line that ends a here-document.
fn after_document<'t>(rest: &'t str, end: &str) -> &'t str {
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        at += line.len();
        if line.trim() == end {
            return &rest[at..];
        }
    }
    ""
}

/// Takes a word without its quotes. Substitutions in it stay as written.
fn take_word(rest: &mut &str) -> String {
    let mut word = String::new();
    let mut chars = rest.char_indices().peekable();
    let mut end = rest.len();
    let mut depth = 0usize;
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' | '"' => {
                while let Some((_, inner)) = chars.next() {
                    match inner {
                        _ if inner == c => break,
                        '\\' if c == '"' => word.extend(chars.next().map(|(_, escaped)| escaped)),
                        _ => word.push(inner),
                    }
                }
            }
            '\\' => word.extend(chars.next().map(|(_, escaped)| escaped)),
            '$' if chars.next_if(|(_, next)| *next == '(').is_some() => {
                depth += 1;
                word.push_str("$(");
            }
            '(' if depth > 0 => {
                depth += 1;
                word.push(c);
            }
            ')' if depth > 0 => {
                depth -= 1;
                word.push(c);
            }
            _ if depth == 0 && (c.is_whitespace() || "|&;()<>".contains(c)) => {
                end = at;
                break;
            }
            _ => word.push(c),
        }
    }
    // A lone metacharacter is no word, but it must be consumed.
    *rest = if end == 0 { &rest[rest.chars().next().map_or(0, char::len_utf8)..] } else { &rest[end..] };
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use concertina_cases::check;

    /// Commands that may stand around one that prints files, and that print little.
    const AROUND: &[(&str, &str)] = &[
        ("", ""),
        ("cd /w && ", ""),
        ("echo '=== a; b ==='; ", ""),
        ("ls src; ", ""),
        ("git status --short; ", "; echo done"),
        ("wc -l src/a.mjs\n", "\n"),
        ("grep -rn ORDER src | head -6; echo \"=== a ===\"; ", ""),
        ("# shows it; npm test\n", " && echo '---'"),
        ("", " || true"),
        ("set -e; F=src/a.mjs; ", "; cat src/b.mjs"),
    ];

    /// Each line of an input is a command, with its line ends as `\n` and its backslashes doubled.
    #[test]
    fn what_a_command_prints_of_files() {
        check!("commands", |input, _| {
            let written = |line: &str| line.replace("\\\\", "\0").replace("\\n", "\n").replace('\0', "\\");
            let commands = input.lines().filter_map(|line| line.strip_prefix("$ ")).map(written);
            commands.map(|command| format!("{:?}\n", printed_anywhere(&command))).collect()
        });
    }

    /// Classifies a command; one that prints only files must do so in every position.
    fn printed_anywhere(command: &str) -> Prints {
        let prints = prints_of(command);
        if prints == Prints::FilesOnly {
            for (before, after) in AROUND {
                let command = format!("{before}{command}{after}");
                assert_eq!(prints_of(&command), Prints::FilesOnly, "{command}");
            }
            for (before, after) in [("npm test; ", ""), ("", " && cargo build"), ("git diff; ", "")] {
                let command = format!("{before}{command}{after}");
                assert_eq!(prints_of(&command), Prints::FilesAmongOther, "{command}");
            }
        }
        prints
    }
}
