//! `exec {"command": "sed -n '1,40p' a.rs"}` -> reads lines 1 to 40 of `a.rs`
//!
//! What a call does to which file, as far as its name and arguments say it plainly. A shell command with anything beyond a plain
//! `cat`, `head`, `tail`, `nl` or `sed -n` is no file use: guessing wrong would fold what is still true.

use serde_json::Value;

use crate::config::Config;
use crate::transcript::Call;

/// Lines of a file, 1-based; `None` at the end means to the end of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    first: u64,
    last: Option<u64>,
}

impl Lines {
    /// All lines.
    pub const ALL: Self = Self { first: 1, last: None };

    /// Whether every line of `other` is among these.
    pub fn cover(self, other: Self) -> bool {
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
pub enum Use {
    /// Its result shows these lines.
    Read(Lines),
    /// Its arguments hold the whole file.
    Write,
    /// Its arguments change a part.
    Edit,
}

/// The file that a call works on, with what it does to it; `None` where that is not plain.
pub fn file_use(call: &Call, config: &Config) -> Option<(String, Use)> {
    if let Some(path) = call.arguments.file_path() {
        // One published editor is several tools in one, told apart by a word.
        let verb = call.arguments.string(&["command"]).unwrap_or_else(|| call.name.to_owned()).to_ascii_lowercase();
        let is = |words: &[&str]| words.iter().any(|word| verb.contains(word));
        let does = if is(&["write", "create"]) {
            Use::Write
        } else if is(&["edit", "replace", "insert", "patch"]) {
            Use::Edit
        } else if config.is_exact_tool(call.name) || is(&["read", "view"]) {
            // Arguments of a read are short; those of a write hold a whole file and are not copied.
            Use::Read(lines_asked(&call.arguments.to_value()?)?)
        } else {
            return None;
        };
        return Some((clean(&path), does));
    }
    shell_use(&call.arguments.command()?)
}

/// The range that a read tool's arguments ask for; `None` where they ask in an unknown way.
fn lines_asked(arguments: &Value) -> Option<Lines> {
    let number = |keys: &[&str]| keys.iter().find_map(|key| arguments[*key].as_u64());
    if let Some(range) = arguments["view_range"].as_array() {
        let last = range.get(1)?.as_i64()?;
        return Some(Lines { first: range[0].as_u64()?, last: u64::try_from(last).ok() });
    }
    let first = number(&["offset", "start", "start_line", "startLine"]).unwrap_or(1).max(1);
    let last = match number(&["limit"]) {
        Some(count) => Some(first.checked_add(count)?.saturating_sub(1)),
        None => number(&["end", "end_line", "endLine"]),
    };
    let known_elsewhere = ["line", "lines", "range"].iter().any(|key| !arguments[*key].is_null());
    (!known_elsewhere).then_some(Lines { first, last })
}

fn shell_use(command: &str) -> Option<(String, Use)> {
    let (folder, command) = match command.trim().strip_prefix("cd ").and_then(|rest| rest.split_once("&&")) {
        Some((folder, rest)) => (Some(folder.trim()), rest.trim()),
        None => (None, command.trim()),
    };
    if let Some((path, _)) =
        command.strip_prefix("cat >").filter(|rest| !rest.starts_with('>')).and_then(|rest| rest.split_once("<<"))
    {
        return Some((join(folder, path.trim())?, Use::Write));
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::transcript::Arguments;

    fn used(name: &str, arguments: &Value) -> Option<(String, Use)> {
        file_use(&Call { id: "c", name, arguments: Arguments::Value(arguments) }, &Config::default())
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
            ("str_replace_based_edit_tool", json!({ "command": "create", "path": "a.rs" }), Use::Write),
        ] {
            assert_eq!(used(name, &arguments), Some(("a.rs".into(), expected)), "{name} {arguments}");
        }
        for (name, arguments) in [
            ("read", json!({ "path": "a.rs", "range": "1-4" })),
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
