//! `exec {"command": "sed -n '1,40p' a.rs"}` + its result -> shows lines 1 to 40 of `a.rs`
//!
//! What a call did to which file, as far as its name, its arguments and its result say it plainly. A tool is known by its exact
//! name and an argument by its exact key: anything else (`query`, `pages`, a pipe in a command) is no file use, because a wrong
//! guess would fold what is still needed. What counts is what came back, not what was asked for: hosts cut reads, and say so.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use crate::reference::Marker;
use crate::transcript::{Arguments, Call};

/// Lines of a file, 1-based; `None` at the end means to the end of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lines {
    first: u64,
    last: Option<u64>,
}

impl Lines {
    /// All lines.
    pub(super) const ALL: Self = Self { first: 1, last: None };

    /// Whether every line of `other` is among these.
    pub(super) fn cover(self, other: Self) -> bool {
        let reaches = match (self.last, other.last) {
            (None, _) => true,
            (Some(last), Some(others)) => last >= others,
            (Some(_), None) => false,
        };
        self.first <= other.first && reaches
    }
}

/// What a call does to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It asks for these lines.
    Read(Lines),
    /// Its arguments hold the whole file.
    Write,
    /// Its arguments change a part.
    Edit,
}

/// The keys under which file tools take their path.
const PATH: &[&str] = &["path", "file_path", "filePath", "filename", "file", "target_file"];

/// Keys that say why or how, never what.
const ASIDE: &[&str] = &["description", "explanation", "timeout", "encoding", "overwrite", "create_dirs", "workdir"];

/// The keys that bound a read, by what they mean.
const RANGE: &[&str] =
    &["offset", "limit", "start", "end", "start_line", "end_line", "startLine", "endLine", "view_range"];

/// The keys that hold a whole file.
const BODY: &[&str] = &["content", "contents", "text", "file_text", "fileText"];

/// File tools by their exact names, with the keys that they may have beside [`PATH`] and [`ASIDE`]; an edit may have any.
const TOOLS: &[(&[&str], Use, &[&str])] = &[
    (
        &["read", "Read", "read_file", "readFile", "ReadFile", "view", "View", "view_file", "open_file", "cat"],
        Use::Read(Lines::ALL),
        RANGE,
    ),
    (&["write", "Write", "write_file", "writeFile", "WriteFile", "create_file", "createFile"], Use::Write, BODY),
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
        Use::Edit,
        &[],
    ),
];

/// One published editor is several tools in one, told apart by a word under `command`.
const EDITORS: &[&str] = &["str_replace_editor", "str_replace_based_edit_tool", "text_editor"];

/// The file that a call works on, with what it does to it; `None` where that is not plain.
pub(super) fn file_use(call: &Call) -> Option<(String, Use)> {
    let parsed;
    let arguments = match call.arguments {
        Arguments::Value(value) => value,
        Arguments::Json(json) => {
            parsed = serde_json::from_str::<Value>(json).ok()?;
            &parsed
        }
    };
    let arguments = arguments.as_object()?;
    let path = PATH.iter().find_map(|key| arguments.get(*key)?.as_str());
    let Some(path) = path else { return shell_use(call.name, arguments) };
    let (does, keys) = if EDITORS.contains(&call.name) {
        match arguments.get("command")?.as_str()? {
            "view" => (Use::Read(Lines::ALL), RANGE),
            "create" => (Use::Write, BODY),
            "str_replace" | "insert" => (Use::Edit, &[][..]),
            _ => return None,
        }
    } else {
        let (_, does, keys) = TOOLS.iter().find(|(names, ..)| names.contains(&call.name))?;
        (*does, *keys)
    };
    let is_known = |key: &str| PATH.contains(&key) || ASIDE.contains(&key) || keys.contains(&key) || key == "command";
    if does != Use::Edit && !arguments.keys().all(|key| is_known(key)) {
        return None;
    }
    let does = match does {
        Use::Read(_) => Use::Read(lines_asked(arguments)?),
        Use::Write if !BODY.iter().any(|key| arguments.get(*key).is_some_and(Value::is_string)) => return None,
        other => other,
    };
    Some((clean(path), does))
}

/// The range that a read tool's arguments ask for.
fn lines_asked(arguments: &Map<String, Value>) -> Option<Lines> {
    let number = |keys: &[&str]| keys.iter().find_map(|key| arguments.get(*key)?.as_u64());
    if let Some(range) = arguments.get("view_range").and_then(Value::as_array) {
        let last = range.get(1)?.as_i64()?;
        return Some(Lines { first: range[0].as_u64()?, last: u64::try_from(last).ok() });
    }
    let first = number(&["offset", "start", "start_line", "startLine"]).unwrap_or(1).max(1);
    let last = match number(&["limit"]) {
        Some(count) => Some(first.checked_add(count)?.saturating_sub(1)),
        None => number(&["end", "end_line", "endLine"]),
    };
    Some(Lines { first, last })
}

/// The tools that run a command.
const SHELLS: &[&str] = &["exec", "bash", "Bash", "shell", "run_command", "run_terminal_cmd", "execute_command"];

fn shell_use(tool: &str, arguments: &Map<String, Value>) -> Option<(String, Use)> {
    let command = ["command", "cmd", "script"].iter().find_map(|key| arguments.get(*key)?.as_str())?;
    if !SHELLS.contains(&tool) {
        return None;
    }
    let (folder, command) = match command.trim().strip_prefix("cd ").and_then(|rest| rest.split_once("&&")) {
        Some((folder, rest)) => (Some(folder.trim()), rest.trim()),
        None => (None, command.trim()),
    };
    if let Some((path, body)) =
        command.strip_prefix("cat >").filter(|rest| !rest.starts_with('>')).and_then(|rest| rest.split_once("<<"))
    {
        return Some((join(folder, path.trim())?, Use::Write)).filter(|_| is_one_heredoc(body));
    }
    if command.contains(['|', ';', '&', '<', '>', '$', '`', '*', '?', '\n', '\\', '(', '{']) {
        return None;
    }
    let words: Vec<&str> = command.split_whitespace().map(|word| word.trim_matches(['\'', '"'])).collect();
    let (path, lines) = match *words.as_slice() {
        ["cat" | "nl", path] | ["cat", "-n", path] | ["nl", "-ba", path] => (path, Lines::ALL),
        ["sed", "-n", range, path] => {
            let (first, last) = range.strip_suffix('p')?.split_once(',')?;
            let last = if last == "$" { None } else { Some(last.parse().ok()?) };
            (path, Lines { first: first.parse().ok()?, last })
        }
        ["head", "-n", count, path] => (path, Lines { first: 1, last: Some(count.parse().ok()?) }),
        ["head", count, path] => (path, Lines { first: 1, last: Some(count.strip_prefix('-')?.parse().ok()?) }),
        _ => return None,
    };
    Some((join(folder, path)?, Use::Read(lines)))
}

/// Whether nothing follows the end of the document that a command feeds to `cat`.
fn is_one_heredoc(after: &str) -> bool {
    let Some((word, body)) = after.split_once('\n') else { return false };
    let end = word.trim_start_matches('-').trim().trim_matches(['\'', '"']);
    let is_word = !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_word
        && body
            .lines()
            .position(|line| line.trim() == end)
            .is_some_and(|at| body.lines().skip(at + 1).all(str::is_empty))
}

/// A path in a folder that the command changed to; `None` for what is an option or quoted with blanks.
fn join(folder: Option<&str>, path: &str) -> Option<String> {
    let path = path.trim_matches(['\'', '"']);
    if path.is_empty() || path.starts_with('-') || path.contains(char::is_whitespace) {
        return None;
    }
    Some(match folder {
        Some(folder) if !path.starts_with('/') => {
            clean(&format!("{}/{}", folder.trim_end_matches('/'), path.trim_start_matches("./")))
        }
        _ => clean(path),
    })
}

fn clean(path: &str) -> String {
    path.trim().trim_start_matches("./").replace("/./", "/")
}

/// The lines that a read's result shows, given those that were asked for: the ones that came back, and the same with what lies
/// behind them where they reach the end of the file. `None` where its text does not say.
///
/// The end is reached when fewer lines came back than were asked for, without a word that there are more. A text that
/// stands for another one (a placeholder, a shortened output) shows nothing that can be counted.
pub(super) fn lines_shown(asked: Lines, text: &str) -> Option<(Lines, Lines)> {
    /// Hosts that cut a read without a word cut it at a round number of lines.
    const SILENT_CUT_LINES: u64 = 500;
    if text.starts_with("[REF_ID: ") || text.contains("[[FOLD:") || ends_in_marker(text) {
        return None;
    }
    let mut count = 0;
    let mut is_cut = false;
    for line in text.lines() {
        if line.starts_with("<system-reminder>") {
            break;
        }
        if is_cut {
            // Lines are missing in the middle.
            if !line.trim().is_empty() {
                return None;
            }
        } else if line.trim_start().starts_with(['[', '(', '<', '.', '…']) && CUT.is_match(line) {
            is_cut = true;
        } else {
            count += 1;
        }
    }
    let ends = asked.first.checked_add(count)?.checked_sub(1)?;
    let is_silent = count > 0 && count % SILENT_CUT_LINES == 0;
    let is_all = match asked.last {
        None => !is_silent,
        Some(last) => ends < last && !is_silent,
    };
    let came_back = Lines { first: asked.first, last: Some(ends) };
    Some((came_back, if is_cut || !is_all { came_back } else { Lines { last: None, ..came_back } }))
}

/// How hosts say that a read was cut: `[80 more lines in file. Use offset=41 to continue]`, `... (9 more lines not shown. …)`,
/// `[Showing lines 1-40 of 99 (50.0KB limit). …]`, `[... 4000 more characters truncated; …]`.
static CUT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\A\s*(?:\[|\(|<|\.\.\.|…).*(?:more (?:lines|characters|chars|bytes)|truncated|omitted|lines? not shown|showing lines|use offset|cut by the host)",
    )
    .expect("the pattern of cuts is valid")
});

fn ends_in_marker(text: &str) -> bool {
    text.lines().last().is_some_and(|line| {
        crate::reference::find_markers(line).any(|(_, marker)| !matches!(marker, Marker::Repeat { .. }))
    })
}

/// Whether a result tells of a failure of its call, in its first or last two lines: the words of shells and tools.
pub(super) fn tells_of_failure(text: &str) -> bool {
    static FAILURE: LazyLock<Regex> = LazyLock::new(|| {
        // Word boundaries of ASCII: with those of Unicode a line that is not ASCII is searched many times slower.
        Regex::new(
            r"(?ix)
            (?-u:\b) exit (?: ed )? (?: \s with )? \s (?: code | status ) :? \s [1-9]
            | permission\ denied | no\ such\ file | read-only\ file\ system | no\ space\ left | is\ a\ directory | not\ a\ directory
            | disk\ quota\ exceeded | operation\ not\ permitted | (?-u: \b (?: EACCES | ENOENT | EROFS | ENOSPC ) \b )
            | \A \s* (?: <tool_use_error> | (?: error | failed | could\ not | cannot | denied | aborted | cancelled ) (?-u:\b) )
            | exceeds\ maximum\ allowed",
        )
        .expect("the pattern of failures is valid")
    });
    let is_failure = |line: &str| FAILURE.is_match(&line[..line.floor_char_boundary(400)]);
    text.lines().take(2).any(is_failure) || text.lines().rev().take(2).any(is_failure)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn used(name: &str, arguments: &Value) -> Option<(String, Use)> {
        file_use(&Call { id: "c", name, arguments: Arguments::Value(arguments) })
    }

    fn lines(first: u64, last: Option<u64>) -> Use {
        Use::Read(Lines { first, last })
    }

    #[test]
    fn file_tools_are_known_by_name_and_arguments() {
        for (name, arguments, expected) in [
            ("read", json!({ "path": "./a.rs" }), lines(1, None)),
            ("Read", json!({ "file_path": "a.rs", "offset": 10, "limit": 5 }), lines(10, Some(14))),
            ("view_file", json!({ "path": "a.rs", "start_line": 3, "end_line": 9 }), lines(3, Some(9))),
            ("write", json!({ "path": "a.rs", "content": "x" }), Use::Write),
            ("MultiEdit", json!({ "file_path": "a.rs", "edits": [] }), Use::Edit),
            (
                "str_replace_based_edit_tool",
                json!({ "command": "view", "path": "a.rs", "view_range": [2, -1] }),
                lines(2, None),
            ),
            (
                "str_replace_based_edit_tool",
                json!({ "command": "create", "path": "a.rs", "file_text": "x" }),
                Use::Write,
            ),
        ] {
            assert_eq!(used(name, &arguments), Some(("a.rs".into(), expected)), "{name} {arguments}");
        }
        for (name, arguments) in [
            ("read", json!({ "path": "a.rs", "range": "1-4" })),
            ("read", json!({ "path": "a.pdf", "pages": "1-4" })),
            ("write", json!({ "path": "a.rs" })),
            ("write", json!({ "path": "a.rs", "content": "x", "mode": "a" })),
            ("spreadsheet_query", json!({ "path": "a.csv", "query": "read" })),
            ("review_code", json!({ "path": "a.rs" })),
            ("note", json!({ "command": "cat a.rs" })),
            ("grep", json!({ "path": "a.rs" })),
            ("exec", json!({ "timeout": 4 })),
        ] {
            assert_eq!(used(name, &arguments), None, "{name} {arguments}");
        }
    }

    #[test]
    fn only_plain_commands_use_files() {
        for (command, expected) in [
            ("cat a/b.rs", Some(("a/b.rs", lines(1, None)))),
            ("cd /w && cat -n ./b.rs", Some(("/w/b.rs", lines(1, None)))),
            ("sed -n '10,20p' b.rs", Some(("b.rs", lines(10, Some(20))))),
            ("sed -n 10,$p b.rs", None),
            ("head -n 4 b.rs", Some(("b.rs", lines(1, Some(4))))),
            ("head -40 b.rs", Some(("b.rs", lines(1, Some(40))))),
            ("cat > b.rs <<'EOF'\nx\nEOF", Some(("b.rs", Use::Write))),
            ("cat > b.rs <<'EOF'\nx\nEOF\nrm b.rs", None),
            ("cat > b.rs <<'EOF' && sed -i d b.rs\nx\nEOF", None),
            ("cat >> b.rs <<'EOF'\nx\nEOF", None),
            ("cat a.rs b.rs", None),
            ("cat a.rs | head", None),
            ("cat *.rs", None),
            ("cat -A", None),
            ("sed -i s/a/b/ b.rs", None),
            ("ls", None),
        ] {
            let found = used("exec", &json!({ "command": command }));
            assert_eq!(found, expected.map(|(path, does)| (path.to_owned(), does)), "{command}");
        }
    }

    #[test]
    fn a_range_covers_what_lies_in_it() {
        let of = |first, last| Lines { first, last };
        assert!(Lines::ALL.cover(of(5, Some(9))) && Lines::ALL.cover(Lines::ALL));
        assert!(of(2, Some(9)).cover(of(2, Some(9))) && !of(2, Some(9)).cover(of(1, Some(3))));
        assert!(!of(1, Some(900)).cover(Lines::ALL));
    }
}
