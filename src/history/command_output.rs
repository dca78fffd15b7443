//! Decides whether a command line prints files, by the structure that a shell gives it.
//!
//! Where it is not plain what a command prints, it counts as printing files: an output that stays exact without need
//! costs some tokens, while a comment that is dropped from a read costs an edit.

use super::shell::commands;
use crate::content::ContentType;
use crate::content::hints::of_path;

/// The part of an output that is text of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Prints {
    /// None.
    Nothing,
    /// Lines that a search found.
    Hits,
    /// Files, whole or by lines, perhaps beside other output.
    Files,
}

/// The maximum depth of scripts and programs nested in others. Chosen by judgement.
const DEPTH: usize = 4;

/// Programs that print the files named in their arguments, or their input.
#[rustfmt::skip]
const PRINTERS: &[&str] = &[
    "awk", "bat", "batcat", "cat", "cut", "expand", "fold", "gawk", "gc", "get-content", "head", "iconv", "less",
    "more", "nl", "rev", "sed", "sort", "tac", "tail", "type", "uniq",
];

/// Programs, and parts of a loop, that print their input only.
#[rustfmt::skip]
const FILTERS: &[&str] = &[
    "%", "?", "done", "foreach-object", "out-host", "out-string", "read", "select-object", "tee", "tr", "where-object",
];

/// Programs that search for lines.
const SEARCHERS: &[&str] = &["ack", "ag", "egrep", "fgrep", "grep", "rg", "select-string", "sls", "zgrep"];

/// Programs that run a script in their arguments or their input.
const INTERPRETERS: &[&str] =
    &["bun", "deno", "node", "perl", "php", "py", "python", "python3", "ruby", "ts-node", "tsx"];

/// Programs that run the commands or the script in their arguments.
#[rustfmt::skip]
const WRAPPERS: &[&str] = &[
    "%", "bash", "builtin", "bunx", "cmd", "command", "dash", "docker", "env", "exec", "fd", "find", "foreach-object",
    "ksh", "kubectl", "nice", "nohup", "npx", "podman", "poetry", "powershell", "pwsh", "rtk", "sh", "ssh", "stdbuf",
    "su", "sudo", "time", "timeout", "uv", "wsl", "xargs", "zsh",
];

/// Wrappers that name files to what they run.
const NAMING: &[&str] = &["%", "fd", "find", "foreach-object", "xargs"];

/// Shell keywords that may precede a command.
const KEYWORDS: &[&str] = &["!", "do", "elif", "else", "if", "then", "until", "while", "{"];

/// Returns what a command line prints of files. Logs do not count, because nobody edits them.
pub(super) fn prints_of(line: &str) -> Prints {
    prints_at(line, DEPTH)
}

fn prints_at(script: &str, depth: usize) -> Prints {
    let (mut most, mut last) = (Prints::Nothing, Prints::Nothing);
    for command in commands(script) {
        // A pipeline prints what its last command prints.
        if !command.is_piped {
            most = most.max(last);
        }
        let input = command.is_piped.then_some(last).or(command.reads.then_some(Prints::Files));
        let is_before = |word: &&String| KEYWORDS.contains(&word.as_str()) || is_assignment(word);
        let before = command.words.iter().take_while(is_before).count();
        last = if command.writes {
            Prints::Nothing
        } else {
            program_prints(&command.words[before..], &command.document, input, depth)
        };
    }
    most.max(last)
}

/// Returns what a program prints of files, given its words, its here-document, and the input that it has.
fn program_prints(words: &[String], document: &str, input: Option<Prints>, depth: usize) -> Prints {
    let Some((program, arguments)) = words.split_first().filter(|_| depth > 0) else { return Prints::Nothing };
    let name = &*name_of(program);
    let is_in_place = |word: &String| {
        word.starts_with("--in-place")
            || flags(word).is_some_and(|flags| flags.contains('i') && !flags.starts_with(['I', 'M']))
    };
    if WRAPPERS.contains(&name) {
        let scripts = arguments.iter().map(String::as_str).filter(|word| word.contains([' ', '\n', '(', ';', '|']));
        let script = scripts.chain([document]).map(|script| prints_at(script, depth - 1)).max();
        // A container may have the name of an interpreter.
        let first_of = |lists: &[&[&str]]| {
            arguments.iter().position(|word| lists.iter().any(|names| names.contains(&&*name_of(word))))
        };
        let program = first_of(&[PRINTERS, SEARCHERS, WRAPPERS, &["git"]]).or_else(|| first_of(&[INTERPRETERS]));
        let program = &arguments[program.unwrap_or(arguments.len())..];
        let given = if NAMING.contains(&name) { Some(Prints::Files) } else { input };
        let passed = input.filter(|_| FILTERS.contains(&name));
        let all = [Some(program_prints(program, document, given, depth - 1)), script, passed];
        return all.into_iter().flatten().max().unwrap_or(Prints::Nothing);
    }
    if INTERPRETERS.contains(&name) && arguments.iter().map(String::as_str).chain([document]).any(reads_and_prints) {
        return Prints::Files;
    }
    let is_loop = |word: &String| flags(word).is_some_and(|flags| flags.contains(['n', 'p']));
    match name {
        "git" => git_prints(arguments, input),
        "perl" | "ruby" if !arguments.iter().any(is_loop) || arguments.iter().any(is_in_place) => Prints::Nothing,
        "sed" if arguments.iter().any(is_in_place) => Prints::Nothing,
        "echo" | "printf" | "write-host" | "write-output" => {
            let scripts = arguments.iter().filter_map(|word| Some(word.split_once("$(")?.1.trim_end_matches(')')));
            scripts.map(|script| prints_at(script, depth - 1)).max().unwrap_or(Prints::Nothing)
        }
        _ if FILTERS.contains(&name) => input.unwrap_or(Prints::Nothing),
        _ if SEARCHERS.contains(&name) => search_prints(arguments, input),
        _ if PRINTERS.contains(&name) || matches!(name, "perl" | "ruby") => {
            let has_program = matches!(name, "awk" | "gawk" | "perl" | "ruby" | "sed");
            let is_path = |word: &&String| name != "type" || word.contains(['.', '/', '\\', ':']);
            let mut paths = files(arguments).skip(usize::from(has_program)).filter(is_path).peekable();
            // In PowerShell a path may be an expression.
            let names_files = match paths.peek() {
                None => matches!(name, "gc" | "get-content"),
                Some(_) => !paths.all(|path| is_log(path)),
            };
            input.unwrap_or(if names_files { Prints::Files } else { Prints::Nothing })
        }
        // `[IO.File]::ReadAllText(…)`
        _ if name.contains("]::read") => Prints::Files,
        _ => Prints::Nothing,
    }
}

/// Returns what a git command prints of files. A diff is none.
fn git_prints(arguments: &[String], input: Option<Prints>) -> Prints {
    let mut rest = arguments;
    while let Some((option, after)) = rest.split_first().filter(|(word, _)| word.starts_with('-')) {
        let has_value = matches!(option.as_str(), "-C" | "-c" | "--git-dir" | "--work-tree");
        rest = &after[usize::from(has_value).min(after.len())..];
    }
    let Some((command, arguments)) = rest.split_first() else { return Prints::Nothing };
    match command.as_str() {
        "show" | "cat-file" if arguments.iter().any(|word| word.contains(':') && !word.starts_with("--")) => {
            Prints::Files
        }
        "annotate" | "blame" => Prints::Files,
        "grep" => search_prints(arguments, input),
        _ => Prints::Nothing,
    }
}

/// Returns what a search prints. The surroundings of hits in a file are a part of the file.
fn search_prints(arguments: &[String], input: Option<Prints>) -> Prints {
    let is_around = |word: &String| {
        let long = ["--context", "--after-context", "--before-context", "-context"];
        let has_number =
            |flags: &str| flags.contains(['A', 'B', 'C']) || flags.starts_with(|c: char| c.is_ascii_digit());
        long.iter().any(|option| word.to_ascii_lowercase().starts_with(option)) || flags(word).is_some_and(has_number)
    };
    let searched = || files(arguments).skip(1);
    match input {
        Some(input) => input.min(Prints::Hits),
        None if searched().next().is_some() && searched().all(|path| is_log(path)) => Prints::Nothing,
        None if arguments.iter().any(is_around) && searched().any(|path| names_file(path)) => Prints::Files,
        None => Prints::Hits,
    }
}

/// Returns true if the last part of a path has a suffix, so that it is a file and no folder.
pub(super) fn names_file(path: &str) -> bool {
    path.rsplit(['/', '\\']).next().is_some_and(|name| name.trim_start_matches('.').contains('.'))
}

/// Returns true if a script reads a file and prints.
fn reads_and_prints(script: &str) -> bool {
    #[rustfmt::skip]
    const READS: &[&str] = &[
        "File.read", "IO.read", "file_get_contents", "open(", "readFile", "readTextFile", "read_bytes", "read_text",
        "readlines",
    ];
    let has = |words: &[&str]| words.iter().any(|word| script.contains(word));
    has(READS) && has(&["print", "console.log", "stdout", "puts", "echo"])
}

/// Returns the arguments that may be files: no options and no numbers.
fn files(arguments: &[String]) -> impl Iterator<Item = &String> {
    let is_count = |word: &str| word.trim_start_matches('+').bytes().all(|byte| byte.is_ascii_digit());
    arguments.iter().filter(move |word| !word.starts_with('-') && !is_count(word))
}

/// Returns true if programs append to a file, and nobody edits it.
fn is_log(path: &str) -> bool {
    path.ends_with(".jsonl")
        || path.ends_with(".ndjson")
        || of_path(path).is_some_and(|expected| expected.content_type == ContentType::Log)
}

/// `-pe` -> `pe`; `None` for a long option and for an operand.
fn flags(word: &str) -> Option<&str> {
    word.strip_prefix('-').filter(|flags| !flags.starts_with('-'))
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// `/usr/bin/Cat` -> `cat`.
fn name_of(word: &str) -> String {
    word.rsplit(['/', '\\']).next().unwrap_or(word).trim_end_matches(".exe").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use concertina_cases::check;

    /// Each line of an input is a command, with its line ends as `\n` and its backslashes doubled. The output is the
    /// class of all of them. `tests/sessions/reads.rs` composes them.
    #[test]
    fn what_a_command_prints_of_files() {
        check!("commands", |input, _| {
            let written = |line: &str| line.replace("\\\\", "\0").replace("\\n", "\n").replace('\0', "\\");
            let commands = input.lines().filter_map(|line| line.strip_prefix("$ ")).map(written);
            let mut classes: Vec<String> = commands.map(|command| format!("{:?}", prints_of(&command))).collect();
            classes.dedup();
            classes.join("\n")
        });
    }

    #[test]
    fn deeply_nested_commands_print_nothing() {
        for word in ["xargs ", "bash -c ", "echo $(", "cat <<a <<a\n", "a=\"$(", "find -exec "] {
            assert_eq!(prints_of(&word.repeat(20_000)), Prints::Nothing, "{word}");
        }
    }
}
