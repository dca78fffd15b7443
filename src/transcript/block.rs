//! A part of a message, with its kind and the call or result that it belongs to.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::patch::Path;
use crate::content::Hints;

/// One part of a message.
#[derive(Debug)]
pub struct Block<'a> {
    /// The path of the replaceable value in the message: the string of a text, the object of an image, the arguments of
    /// a call.
    pub path: Path,
    /// The kind.
    pub kind: BlockKind<'a>,
    /// Set on every block that is part of a tool result.
    pub result: Option<ToolResult<'a>>,
    /// The bytes of a text with lone surrogates; `kind` then holds a lossy stand-in ([`crate::reference::wtf8`]).
    pub exact: Option<Vec<u8>>,
}

impl<'a> Block<'a> {
    /// Returns the name of the tool whose call or result the block is, if it is known.
    pub fn tool_name(&self) -> Option<&'a str> {
        match (self.kind, self.result) {
            (_, Some(result)) => result.tool_name,
            (BlockKind::Call(call), None) => Some(call.name),
            _ => None,
        }
    }
}

/// The kind of a block, with its content.
#[derive(Debug, Clone, Copy)]
pub enum BlockKind<'a> {
    /// Text.
    Text(&'a str),
    /// An image.
    Image(Image<'a>),
    /// A tool call; `path` leads to its arguments.
    Call(Call<'a>),
    /// Thinking, signed or not, as the whole part: it stays byte-identical or leaves whole.
    Thinking(&'a Value),
    /// A part of an unknown type: never touched.
    Other(&'a Value),
}

/// The tool result that a block belongs to.
#[derive(Debug, Clone, Copy, Default)]
pub struct ToolResult<'a> {
    /// The id of the call that it answers. Providers rewrite and repeat ids, so nothing is keyed by it. Within a
    /// message it tells which blocks are of one result.
    pub call_id: &'a str,
    /// The tool's name, from the result or from its call.
    pub tool_name: Option<&'a str>,
    /// The arguments of its call, if the call is in the transcript.
    pub arguments: Option<Arguments<'a>>,
    /// True if the tool failed.
    pub is_error: bool,
    /// The position of its call: message and block index.
    pub call: Option<(usize, usize)>,
    /// True if a script of the model made the call (programmatic tool calling) and parses the result.
    pub is_for_script: bool,
}

/// A tool call.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The id that its result names.
    pub id: &'a str,
    /// The tool's name.
    pub name: &'a str,
    /// The arguments.
    pub arguments: Arguments<'a>,
    /// True if the provider defines the form of the arguments, as for a shell call; they are never changed.
    pub is_typed: bool,
    /// True if a script of the model made the call, not the model itself.
    pub is_of_script: bool,
}

/// The arguments of a call, in the form that the shape uses.
#[derive(Debug, Clone, Copy)]
pub enum Arguments<'a> {
    /// A JSON value, usually an object (OpenClaw, Anthropic).
    Value(&'a Value),
    /// JSON as a string (both of OpenAI's). It must stay a string.
    Json(&'a str),
}

/// Returns the string under the first of `keys` that holds one.
pub fn string_in<'v>(arguments: &'v Value, keys: &[&str]) -> Option<&'v str> {
    keys.iter().find_map(|key| arguments.get(key)?.as_str())
}

impl<'a> Arguments<'a> {
    /// Returns the arguments as a JSON value, borrowed if possible; `None` if a JSON string does not parse.
    pub fn value(&self) -> Option<Cow<'a, Value>> {
        match *self {
            Self::Value(value) => Some(Cow::Borrowed(value)),
            Self::Json(json) => serde_json::from_str(json).ok().map(Cow::Owned),
        }
    }

    /// Returns the arguments as an owned JSON value.
    pub fn to_value(&self) -> Option<Value> {
        self.value().map(Cow::into_owned)
    }

    /// Returns the arguments as JSON text, as sent to a provider.
    pub fn to_json(&self) -> String {
        match *self {
            Self::Value(value) => value.to_string(),
            Self::Json(json) => json.to_owned(),
        }
    }

    /// Returns the string under the first of `keys` that holds one.
    pub fn string(&self, keys: &[&str]) -> Option<String> {
        string_in(&*self.value()?, keys).map(str::to_owned)
    }

    /// Returns the path that a file tool works on.
    pub fn file_path(&self) -> Option<String> {
        self.string(FILE_KEYS)
    }

    /// Returns the command that a shell tool runs. For a list of words it is the script that they pass to a shell, or
    /// else the joined words. Several commands are one line each: those of `commands`, or those with which a program in
    /// the arguments calls a shell tool.
    pub fn command(&self) -> Option<String> {
        let Some(value) = self.value() else {
            return if let Self::Json(program) = self { commands_in_program(program) } else { None };
        };
        let in_program = || commands_in_program(string_in(&value, PROGRAM_KEYS)?);
        let several = || {
            let commands: Option<Vec<&str>> = value.get("commands")?.as_array()?.iter().map(Value::as_str).collect();
            commands.map(|commands| commands.join("\n"))
        };
        COMMAND_KEYS.iter().find_map(|key| command_in(value.get(*key)?)).or_else(several).or_else(in_program)
    }
}

/// Returns the commands of the calls of shell tools in a program that a model wrote:
/// `await tools.exec_command({"cmd": "make"})` -> `make`.
fn commands_in_program(program: &str) -> Option<String> {
    static CALL: LazyLock<Regex> = LazyLock::new(|| {
        let keys = COMMAND_KEYS.join("|");
        let call = format!(r#"\w\(\s*\{{[^{{}}]*?\b(?:{keys})["']?\s*:\s*("(?:[^"\\]|\\.)*")"#);
        Regex::new(&call).expect("the pattern of a call is valid")
    });
    let literals = CALL.captures_iter(program).map(|call| serde_json::from_str::<String>(&call[1]));
    let commands: Vec<String> = literals.collect::<Result<_, _>>().ok()?;
    (!commands.is_empty()).then(|| commands.join("\n"))
}

/// `["sudo", "bash", "-lc", "make -j"]` -> `make -j`, `["git", "log"]` -> `git log`; a string is itself.
fn command_in(value: &Value) -> Option<String> {
    let Value::Array(words) = value else { return value.as_str().map(str::to_owned) };
    let words: Vec<&str> = words.iter().map(Value::as_str).collect::<Option<_>>()?;
    match *words.as_slice() {
        [.., program, option, script] if runs_script(program, option) => Some(script.to_owned()),
        _ => Some(words.join(" ")),
    }
}

/// Returns true if a program is a shell and the option makes it run the next word.
fn runs_script(program: &str, option: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    matches!(name, "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish") && option.starts_with('-') && option.ends_with('c')
}

/// The keys under which file tools take their path.
pub const FILE_KEYS: &[&str] = &["path", "file_path", "filePath", "filename", "file", "target_file"];

/// The keys under which shells take their command.
pub const COMMAND_KEYS: &[&str] = &["command", "cmd", "script"];

/// The keys under which tools take a program of the model that calls other tools.
const PROGRAM_KEYS: &[&str] = &["input", "code"];

/// An image in a message.
#[derive(Debug, Clone, Copy)]
pub struct Image<'a> {
    /// Base64 payload, without a `data:` prefix; `None` for a remote URL.
    pub base64: Option<&'a str>,
    /// The MIME type, if stated.
    pub mime: Option<&'a str>,
    /// OpenAI's `detail`: `low`, `high` or `auto`.
    pub detail: Option<&'a str>,
}

impl From<&ToolResult<'_>> for Hints {
    /// Collects the hints that a conversation gives about a tool's output.
    fn from(result: &ToolResult) -> Self {
        Self {
            tool_name: result.tool_name.map(str::to_owned),
            path: result.arguments.and_then(|arguments| arguments.file_path()),
            command: result.arguments.and_then(|arguments| arguments.command()),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_in_words_is_what_they_run() {
        for (arguments, expected) in [
            (json!({ "command": "make -j" }), Some("make -j")),
            (json!({ "command": ["bash", "-lc", "make -j && ls"] }), Some("make -j && ls")),
            (json!({ "cmd": ["/bin/sh", "-c", "cat a.rs"] }), Some("cat a.rs")),
            (json!({ "command": ["sudo", "/bin/bash", "-lc", "cat a.rs | tr a b"] }), Some("cat a.rs | tr a b")),
            (json!({ "command": ["docker", "exec", "app", "sh", "-c", "cat a.rs"] }), Some("cat a.rs")),
            (json!({ "command": ["git", "-c", "log"] }), Some("git -c log")),
            (
                json!({ "input": r#"const r = await tools.exec_command({"cmd":"cat \"a b\"; ls {x}","workdir":"/w"});"# }),
                Some("cat \"a b\"; ls {x}"),
            ),
            (
                json!({ "code": "shell({ workdir: \"/w\", command: \"ls\" }); shell({cmd: \"cat a\"})" }),
                Some("ls\ncat a"),
            ),
            (json!({ "input": "the option \"cmd\": \"x\" of a tool" }), None),
            (json!({ "input": "run({ text: \"cmd\" })" }), None),
            (json!({ "command": ["sudo", "git", "-c", "log"] }), Some("sudo git -c log")),
            (json!({ "command": ["bash", "-c"] }), Some("bash -c")),
            (json!({ "command": ["bash", "x.sh"] }), Some("bash x.sh")),
            (json!({ "command": ["sleep", 4] }), None),
            (json!({ "command": 4 }), None),
            (json!({ "type": "exec", "command": ["bash", "-lc", "make -j"], "env": {} }), Some("make -j")),
            (json!({ "commands": ["make -j", "ls"], "timeout_ms": 5 }), Some("make -j\nls")),
            (json!({ "commands": ["make -j", 4] }), None),
            (json!("ls"), None),
        ] {
            assert_eq!(Arguments::Value(&arguments).command().as_deref(), expected, "{arguments}");
            assert_eq!(Arguments::Json(&arguments.to_string()).command().as_deref(), expected, "{arguments}");
        }
    }
}
