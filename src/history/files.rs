//! `exec {"command": "sed -n '1,40p' a.rs"}` + its result -> shows lines 1 to 40 of `a.rs`
//!
//! Recognizes the file that a call reads or changes, if its name, its arguments and its result state it plainly. A tool
//! is known by its exact name and an argument by its exact key. Anything else (`query`, `pages`, a pipe in a command)
//! is not recognized, because a wrong guess would fold content that is still needed. A relative path is resolved
//! against the folder that the call names; without one it stays relative.

use serde_json::{Map, Value};

use super::command_output::{Prints, prints_of};
use super::path::{is_rooted, resolve};
use super::read_result::LineRange;
use super::shell::commands;
use crate::transcript::{Arguments, COMMAND_KEYS, Call, FILE_KEYS};

/// The effect of a call on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileEffect {
    /// It requests these lines.
    Read(LineRange),
    /// Its arguments hold the whole file.
    Write,
    /// Its arguments change a part. `keeps_lines` is true if it replaces each text by one of as many lines, so that
    /// line numbers stay valid.
    Edit { keeps_lines: bool },
}

/// A call that reads or changes a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileUse {
    pub(super) path: String,
    pub(super) effect: FileEffect,
    /// True if the path is relative to the working directory of a shell, which other calls may have changed.
    pub(super) is_in_shell: bool,
}

/// The keys under which tools take the working directory.
const FOLDER_KEYS: &[&str] = &["workdir", "cwd", "working_directory", "workingDirectory", "working_dir", "workingDir"];

/// Keys that do not affect which lines are read or written.
const NEUTRAL_KEYS: &[&str] = &["description", "explanation", "timeout", "encoding", "overwrite", "create_dirs"];

/// The keys that bound a read.
const RANGE_KEYS: &[&str] =
    &["offset", "limit", "start", "end", "start_line", "end_line", "startLine", "endLine", "view_range"];

/// The keys that hold a whole file.
const BODY_KEYS: &[&str] = &["content", "contents", "text", "file_text", "fileText"];

/// File tools by their exact names, with the keys that they may have beside [`FILE_KEYS`] and [`NEUTRAL_KEYS`]; an edit
/// may have any.
const FILE_TOOLS: &[(&[&str], FileEffect, &[&str])] = &[
    (
        &["read", "Read", "read_file", "readFile", "ReadFile", "view", "View", "view_file", "open_file", "cat"],
        FileEffect::Read(LineRange::ALL),
        RANGE_KEYS,
    ),
    (
        &["write", "Write", "write_file", "writeFile", "WriteFile", "create_file", "createFile"],
        FileEffect::Write,
        BODY_KEYS,
    ),
    (
        &[
            "edit",
            "Edit",
            "edit_file",
            "editFile",
            "MultiEdit",
            "multi_edit",
            "str_replace",
            "search_replace",
            "apply_patch",
            "replace_in_file",
            "insert",
        ],
        FileEffect::Edit { keeps_lines: false },
        &[],
    ),
];

/// Editors that are several tools in one, selected by the argument `command`.
const EDITORS: &[&str] = &["str_replace_editor", "str_replace_based_edit_tool", "text_editor"];

/// The keys under which edits take the old and the new text.
const REPLACEMENT_KEYS: &[(&str, &str)] = &[
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("oldText", "newText"),
    ("old_text", "new_text"),
    ("old_str", "new_str"),
    ("search", "replace"),
];

/// Returns the file that a call works on and the effect; `None` if that is not plain.
pub(super) fn file_use(call: &Call) -> Option<FileUse> {
    let arguments = call.arguments.value()?;
    let arguments = arguments.as_object()?;
    let folder = folder(arguments)?;
    let path = FILE_KEYS.iter().find_map(|key| arguments.get(*key)?.as_str());
    let Some(path) = path else { return shell_use(call.name, arguments, folder) };
    let (effect, keys) = if EDITORS.contains(&call.name) {
        match arguments.get("command")?.as_str()? {
            "view" => (FileEffect::Read(LineRange::ALL), RANGE_KEYS),
            "create" => (FileEffect::Write, BODY_KEYS),
            "str_replace" | "insert" => (FileEffect::Edit { keeps_lines: false }, &[][..]),
            _ => return None,
        }
    } else {
        let (_, effect, keys) = FILE_TOOLS.iter().find(|(names, ..)| names.contains(&call.name))?;
        (*effect, *keys)
    };
    let is_known = |key: &str| FILE_KEYS.contains(&key) || keys.contains(&key) || key == "command";
    let effect = match effect {
        FileEffect::Edit { .. } => FileEffect::Edit { keeps_lines: keeps_lines(arguments) },
        _ if !has_only(arguments, is_known) => return None,
        FileEffect::Read(_) => FileEffect::Read(requested_lines(arguments)?),
        FileEffect::Write => Some(FileEffect::Write)
            .filter(|_| BODY_KEYS.iter().any(|key| arguments.get(*key).is_some_and(Value::is_string)))?,
    };
    Some(FileUse { path: resolve(folder, path), effect, is_in_shell: false })
}

/// Returns the folder that the arguments name, if any. The outer `None` means that it is not plain.
fn folder(arguments: &Map<String, Value>) -> Option<Option<&str>> {
    let mut named = FOLDER_KEYS.iter().filter_map(|key| arguments.get(*key)).filter(|value| !value.is_null());
    match (named.next(), named.next()) {
        (None, _) => Some(None),
        (Some(Value::String(folder)), None) => Some(Some(folder)),
        _ => None,
    }
}

/// Returns true if the arguments have only known, neutral and folder keys. Arguments that are null or false are
/// ignored.
fn has_only(arguments: &Map<String, Value>, is_known: impl Fn(&str) -> bool) -> bool {
    arguments.iter().all(|(key, value)| {
        let key = key.as_str();
        is_known(key)
            || NEUTRAL_KEYS.contains(&key)
            || FOLDER_KEYS.contains(&key)
            || matches!(value, Value::Null | Value::Bool(false))
    })
}

/// Returns true if an edit replaces each text by one with as many lines.
fn keeps_lines(arguments: &Map<String, Value>) -> bool {
    let count = |value: &Value| value.as_str().map(|text| text.matches('\n').count());
    let is_even = |edit: &Map<String, Value>| {
        let replaced = REPLACEMENT_KEYS.iter().find_map(|(old, new)| Some((edit.get(*old)?, edit.get(*new)?)));
        replaced.is_some_and(|(old, new)| count(old).is_some() && count(old) == count(new))
    };
    match arguments.get("edits").and_then(Value::as_array) {
        Some(edits) => edits.iter().all(|edit| edit.as_object().is_some_and(is_even)),
        None => is_even(arguments),
    }
}

/// Returns the range that a read tool's arguments request; `None` if they count in another way, for instance from the
/// end.
fn requested_lines(arguments: &Map<String, Value>) -> Option<LineRange> {
    let given = |key: &str| arguments.get(key).filter(|value| !value.is_null());
    let number = |keys: &[&str]| match keys.iter().find_map(|key| given(key)) {
        Some(value) => value.as_u64().map(Some),
        None => Some(None),
    };
    let (first, last) = match given("view_range") {
        Some(range) => match (range.get(0)?.as_u64()?, range.get(1)?.as_i64()?) {
            (first, -1) => (first, None),
            (first, last) => (first, Some(u64::try_from(last).ok()?)),
        },
        None => {
            let first = number(&["offset", "start", "start_line", "startLine"])?.unwrap_or(1).max(1);
            match (number(&["limit"])?, number(&["end", "end_line", "endLine"])?) {
                (Some(count), None) => (first, Some(first.checked_add(count)?.saturating_sub(1))),
                (None, last) => (first, last),
                _ => return None,
            }
        }
    };
    Some(LineRange { first, last }).filter(|_| last.is_none_or(|last| last >= first))
}

/// The tools that run a command.
const SHELLS: &[&str] = &["exec", "bash", "Bash", "shell", "run_command", "run_terminal_cmd", "execute_command"];

/// Shell tools that keep their working directory between calls.
const STATEFUL_SHELLS: &[&str] = &["bash", "Bash", "run_terminal_cmd"];

/// Keys that do not affect what a command prints.
const RUN_KEYS: &[&str] = &["timeout_ms", "timeoutMs", "yieldMs", "title", "justification", "pty", "login"];

/// Returns true if a call may change the working directory of later commands in its shell.
pub(super) fn may_change_folder(call: &Call) -> bool {
    STATEFUL_SHELLS.contains(&call.name)
        && call.arguments.command().is_none_or(|command| {
            let mut words = command.split(|character: char| !character.is_alphanumeric() && character != '-');
            words.any(|word| matches!(word, "cd" | "pushd" | "popd"))
        })
}

fn shell_use(tool: &str, arguments: &Map<String, Value>, folder: Option<&str>) -> Option<FileUse> {
    let command = COMMAND_KEYS.iter().find_map(|key| arguments.get(*key)?.as_str())?;
    if !SHELLS.contains(&tool) || !has_only(arguments, |key| COMMAND_KEYS.contains(&key) || RUN_KEYS.contains(&key)) {
        return None;
    }
    let (other, command) = split_leading_cd(command);
    let folder = match other {
        Some(other) => Some(resolve(folder, plain(other)?)),
        None => folder.map(str::to_owned),
    };
    let (path, effect) = path_and_effect(command)?;
    let path = resolve(folder.as_deref(), plain(&path)?);
    let is_in_shell = STATEFUL_SHELLS.contains(&tool) && !is_rooted(&path);
    Some(FileUse { path, effect, is_in_shell })
}

/// Splits a leading `cd … &&` from a command: returns the folder, if any, and the rest.
fn split_leading_cd(command: &str) -> (Option<&str>, &str) {
    let command = command.trim();
    match command.strip_prefix("cd ").and_then(|rest| rest.split_once("&&")) {
        Some((folder, rest)) => (Some(folder.trim()), rest.trim()),
        None => (None, command),
    }
}

/// Returns the file that a call with these arguments opens, or the names of files that its command may print: where
/// other programs run beside, all of its words.
pub(super) fn opened_files(arguments: &Arguments) -> Vec<String> {
    if let Some(path) = arguments.file_path() {
        return vec![path];
    }
    let Some(command) = arguments.command() else { return Vec::new() };
    let is_between = |one: char| one.is_whitespace() || "'\"`;<>|&(){}=,".contains(one);
    match path_and_effect(split_leading_cd(&command).1) {
        Some((path, FileEffect::Read(_))) => vec![path],
        _ if prints_of(&command) != Prints::Files => Vec::new(),
        _ => {
            let words = command.split(is_between).filter(|word| !word.is_empty());
            // `git show REVISION:PATH`
            let names = words.flat_map(|word| [Some(word), word.split_once(':').map(|(_, path)| path)]);
            names.flatten().map(|name| name.replace('\\', "/")).collect()
        }
    }
}

/// Returns the path that a plain command reads or writes.
fn path_and_effect(command: &str) -> Option<(String, FileEffect)> {
    if let Some((path, body)) =
        command.strip_prefix("cat >").filter(|rest| !rest.starts_with('>')).and_then(|rest| rest.split_once("<<"))
    {
        return Some((path.trim().to_owned(), FileEffect::Write)).filter(|_| is_single_heredoc(body));
    }
    // `$` means the end of the file here, and the quotes keep the shell from expanding it.
    if command.replacen(",$p'", "", 1).contains(['|', ';', '&', '<', '>', '$', '`', '*', '?', '\n', '\\', '(', '{']) {
        return None;
    }
    let commands = commands(command);
    let words: Vec<&str> = commands.iter().flat_map(|command| &command.words).map(String::as_str).collect();
    let (path, lines) = match *words.as_slice() {
        ["cat" | "nl", path] | ["cat", "-n", path] | ["nl", "-ba", path] => (path, LineRange::ALL),
        ["sed", "-n", range, path] => {
            let (first, last) = range.strip_suffix('p')?.split_once(',')?;
            let last = if last == "$" { None } else { Some(last.parse().ok()?) };
            (path, LineRange { first: first.parse().ok()?, last })
        }
        ["head", "-n", count, path] => (path, LineRange { first: 1, last: Some(count.parse().ok()?) }),
        ["head", count, path] => (path, LineRange { first: 1, last: Some(count.strip_prefix('-')?.parse().ok()?) }),
        _ => return None,
    };
    Some((path.to_owned(), FileEffect::Read(lines)))
        .filter(|_| lines.first > 0 && lines.last.is_none_or(|last| last >= lines.first))
}

/// Returns true if nothing follows the here-document that a command feeds to `cat`.
fn is_single_heredoc(after: &str) -> bool {
    let Some((word, body)) = after.split_once('\n') else { return false };
    let end = word.trim_start_matches('-').trim().trim_matches(['\'', '"']);
    let is_word = !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_word
        && body
            .lines()
            .position(|line| line.trim() == end)
            .is_some_and(|at| body.lines().skip(at + 1).all(str::is_empty))
}

/// Returns a path or folder as a command names it; `None` for an option, a quoted word with blanks, or an expansion of
/// the shell.
fn plain(word: &str) -> Option<&str> {
    let word = word.trim_matches(['\'', '"']);
    let is_made = |character: char| character.is_whitespace() || "$`*?{(\\".contains(character);
    (!word.is_empty() && !word.starts_with('-') && !word.contains(is_made)).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use concertina_cases::check;

    fn used(call: &str) -> String {
        let (name, arguments) = call.split_once(' ').unwrap();
        let arguments = serde_json::from_str(arguments).unwrap();
        let arguments = Arguments::Value(&arguments);
        let call = Call { id: "c", name, arguments, is_typed: false, is_of_script: false };
        let Some(FileUse { path, effect, .. }) = file_use(&call) else { return "no file\n".to_owned() };
        match effect {
            FileEffect::Read(LineRange { first, last: Some(last) }) => format!("{path}: read {first}-{last}\n"),
            FileEffect::Read(LineRange { first, last: None }) => format!("{path}: read {first}-\n"),
            FileEffect::Write => format!("{path}: write\n"),
            FileEffect::Edit { keeps_lines: true } => format!("{path}: edit that keeps lines\n"),
            FileEffect::Edit { keeps_lines: false } => format!("{path}: edit\n"),
        }
    }

    #[test]
    fn file_uses_are_known_by_name_and_arguments() {
        check!("file_calls", |input, _| input.lines().map(used).collect());
    }
}
