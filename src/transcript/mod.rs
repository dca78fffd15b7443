//! One typed view over the four message shapes: OpenClaw's, Anthropic's, and those of OpenAI's chat completions and Responses API.
//!
//! [`Transcript::read`] borrows from the JSON messages and never fails: what it does not understand is [`Kind::Other`] and
//! stays untouched. Blocks carry the [`Path`] of what may be replaced, so a change is a [`Patch`] and everything else in a
//! message (unknown fields, signatures, ids) comes back as it was.

mod links;
mod patch;
mod read;
mod shape;
mod time;

use std::borrow::Cow;

use serde_json::Value;

use crate::content::Hints;
pub use links::{CallLink, ResultLink, Shape, call_links, hides_links, is_result, result_links};
pub use patch::{Patch, Path, Rewrite, Slot, Step, part_of};
pub use read::{
    frame, has_opaque, image_in_place, is_cache_point, text_beside, text_in_place, text_value, with_payload,
};
pub use shape::{UNSTATED_MIME, image_part, shape_at};

impl From<&ToolResult<'_>> for Hints {
    /// What a conversation says about a tool's output.
    fn from(result: &ToolResult) -> Self {
        Self {
            tool_name: result.tool_name.map(str::to_owned),
            path: result.arguments.and_then(|arguments| arguments.file_path()),
            command: result.arguments.and_then(|arguments| arguments.command()),
            ..Self::default()
        }
    }
}

/// Who speaks. Spellings of the shapes are folded: `toolResult`, `tool`, `tool_result`, `function` and the outputs of the Responses API are
/// [`Role::Tool`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// `system` or `developer`.
    System,
    /// A person, another session, or an Anthropic message that carries tool results.
    User,
    /// The model.
    Assistant,
    /// A message that is a tool result.
    Tool,
    /// Anything else (compaction summaries, custom rows): never touched.
    Other,
}

/// A transcript: messages in order, oldest first.
#[derive(Debug)]
pub struct Transcript<'a> {
    /// The messages, one for each input value and in the same order.
    pub messages: Vec<Message<'a>>,
    /// Whether a user turn begins whose message is not among them.
    pub turn_begins: bool,
}

/// One message.
#[derive(Debug)]
pub struct Message<'a> {
    /// The message as it came.
    pub raw: &'a Value,
    /// Who speaks.
    pub role: Role,
    /// When it was made, in milliseconds since 1970, where the shape says so.
    pub timestamp: Option<i64>,
    /// The parts that Concertina understands, in order.
    pub blocks: Vec<Block<'a>>,
    /// Whether this message starts a user turn: a user message with words or images, and no tool results beside them.
    pub starts_turn: bool,
    /// Whether it is a further part of the answer that the message before it begins, as items of the Responses API are.
    pub goes_on: bool,
    /// Age in user turns: 1 from the newest turn start on, or 2 where a turn begins whose message is not here; messages before the
    /// first turn start are the oldest. 0 when no turn has started or begins: then only calls tell an age.
    pub turn_age: u64,
    /// How many model calls were made since.
    pub calls_after: u64,
}

impl Message<'_> {
    /// Whether a model call was made for it: not for what the host wrote itself, nor for an answer that failed before it was billed, nor for
    /// what goes on with an answer.
    pub fn is_call(&self) -> bool {
        let has_failed = || matches!(self.raw["stopReason"].as_str(), Some("error" | "aborted"));
        let was_sent = || !(self.raw["provider"] == "openclaw" || has_failed());
        self.role == Role::Assistant && !self.goes_on && (was_sent() || self.usage().is_some())
    }

    /// Whether it is the summary that a host put in the place of what it compacted.
    pub fn is_summary(&self) -> bool {
        matches!(self.raw["role"].as_str(), Some("compactionSummary" | "compaction"))
    }

    /// What the provider reported of the request behind an answer, if anything.
    pub fn usage(&self) -> Option<Usage> {
        let usage = Usage::read(&self.raw["usage"]);
        (usage.total() > 0).then_some(usage)
    }
}

/// What a provider says of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens at the plain price.
    pub input: u64,
    /// Tokens that its cache held.
    pub read: u64,
    /// Tokens that its cache took in.
    pub written: u64,
    /// Tokens of the answer, where it says so.
    pub output: Option<u64>,
}

impl Usage {
    /// Reads it as OpenClaw, Anthropic and OpenAI spell it.
    fn read(reported: &Value) -> Self {
        let tokens = |value: &Value| value.as_f64().map(|tokens| tokens.max(0.0) as u64);
        let first = |keys: [&str; 2]| keys.into_iter().find_map(|key| tokens(&reported[key]));
        let output = first(["output", "output_tokens"]).or_else(|| tokens(&reported["completion_tokens"]));
        // OpenAI's input holds what its cache held; the other ones' does not.
        let of_input = ["prompt_tokens", "input_tokens"].into_iter().find_map(|key| {
            let cached = tokens(&reported[format!("{key}_details")]["cached_tokens"]);
            let is_openai = key == "prompt_tokens" || cached.is_some();
            is_openai.then(|| Some((tokens(&reported[key])?, cached.unwrap_or(0))))?
        });
        if let Some((input, cached)) = of_input {
            return Self { input: input.saturating_sub(cached), read: cached, written: 0, output };
        }
        Self {
            input: first(["input", "input_tokens"]).unwrap_or(0),
            read: first(["cacheRead", "cache_read_input_tokens"]).unwrap_or(0),
            written: first(["cacheWrite", "cache_creation_input_tokens"]).unwrap_or(0),
            output,
        }
    }

    /// All tokens of the prompt.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.read).saturating_add(self.written)
    }
}

/// One part of a message.
#[derive(Debug)]
pub struct Block<'a> {
    /// Where the replaceable value lives in the message: the string of a text, the object of an image, the arguments of a call.
    pub path: Path,
    /// What it is.
    pub kind: Kind<'a>,
    /// Set on every block that is part of a tool result.
    pub result: Option<ToolResult<'a>>,
    /// The bytes of a text that has lone surrogates, of which its kind holds the stand-in ([`crate::reference::wtf8`]).
    pub exact: Option<Vec<u8>>,
}

/// What a block is.
#[derive(Debug, Clone, Copy)]
pub enum Kind<'a> {
    /// Words.
    Text(&'a str),
    /// A picture.
    Image(Image<'a>),
    /// A tool call; `path` leads to its arguments.
    Call(Call<'a>),
    /// Thinking, signed or not, as the whole part: it stays byte-identical or leaves whole.
    Thinking(&'a Value),
    /// Not understood, as the whole part: never touched.
    Other(&'a Value),
}

/// The result that a block belongs to.
#[derive(Debug, Clone, Copy)]
pub struct ToolResult<'a> {
    /// Id of the call that it answers; providers rewrite and repeat ids, so nothing is keyed by it.
    pub call_id: &'a str,
    /// The tool's name, from the result or from its call.
    pub tool_name: Option<&'a str>,
    /// The arguments of its call, where the call is in the transcript.
    pub arguments: Option<Arguments<'a>>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// Where its call stands: message and block index.
    pub call: Option<(usize, usize)>,
    /// Whether a script of the model's made the call (programmatic tool calling): it parses what the tool returned.
    pub is_for_script: bool,
}

/// A tool call.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The id that its result names.
    pub id: &'a str,
    /// The tool's name.
    pub name: &'a str,
    /// What the tool was given.
    pub arguments: Arguments<'a>,
    /// Whether the provider gives the arguments a form, as those of a shell call: they stay as they are.
    pub is_typed: bool,
    /// Whether a script of the model's made it, and not the model itself.
    pub is_of_script: bool,
}

/// Arguments of a call, in the form that the shape uses.
#[derive(Debug, Clone, Copy)]
pub enum Arguments<'a> {
    /// A JSON value, usually an object (OpenClaw, Anthropic).
    Value(&'a Value),
    /// JSON as a string (both of OpenAI's). It must stay a string.
    Json(&'a str),
}

/// The string under the first of `keys` that holds one.
pub fn string_in<'v>(arguments: &'v Value, keys: &[&str]) -> Option<&'v str> {
    keys.iter().find_map(|key| arguments.get(key)?.as_str())
}

impl<'a> Arguments<'a> {
    /// The arguments as a JSON value, without a copy where they are one; `None` when a string does not parse.
    pub fn value(&self) -> Option<Cow<'a, Value>> {
        match *self {
            Self::Value(value) => Some(Cow::Borrowed(value)),
            Self::Json(json) => serde_json::from_str(json).ok().map(Cow::Owned),
        }
    }

    /// The same as a value of its own.
    pub fn to_value(&self) -> Option<Value> {
        self.value().map(Cow::into_owned)
    }

    /// The arguments as JSON text, as a provider would be sent them.
    pub fn to_json(&self) -> String {
        match *self {
            Self::Value(value) => value.to_string(),
            Self::Json(json) => json.to_owned(),
        }
    }

    /// The string under the first of `keys` that holds one.
    pub fn string(&self, keys: &[&str]) -> Option<String> {
        string_in(&*self.value()?, keys).map(str::to_owned)
    }

    /// The path that a file tool works on.
    pub fn file_path(&self) -> Option<String> {
        self.string(FILE_KEYS)
    }

    /// The command that a shell tool runs. Of one in words it is what they tell a shell to run, or else the words; several
    /// (`commands`) are a line each.
    pub fn command(&self) -> Option<String> {
        let value = self.value()?;
        let several = || {
            let commands: Option<Vec<&str>> = value.get("commands")?.as_array()?.iter().map(Value::as_str).collect();
            commands.map(|commands| commands.join("\n"))
        };
        COMMAND_KEYS.iter().find_map(|key| command_in(value.get(*key)?)).or_else(several)
    }
}

/// `["bash", "-lc", "make -j"]` -> `make -j`, `["git", "log"]` -> `git log`; a string is itself.
fn command_in(value: &Value) -> Option<String> {
    let Value::Array(words) = value else { return value.as_str().map(str::to_owned) };
    let words: Vec<&str> = words.iter().map(Value::as_str).collect::<Option<_>>()?;
    match *words.as_slice() {
        [program, option, script] if runs_script(program, option) => Some(script.to_owned()),
        _ => Some(words.join(" ")),
    }
}

/// Whether a program is a shell that an option tells to run the next word.
fn runs_script(program: &str, option: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    matches!(name, "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish") && option.starts_with('-') && option.ends_with('c')
}

/// The keys under which file tools take their path.
pub const FILE_KEYS: &[&str] = &["path", "file_path", "filePath", "filename", "file", "target_file"];

/// The keys under which shells take their command.
pub const COMMAND_KEYS: &[&str] = &["command", "cmd", "script"];

/// A picture in a message.
#[derive(Debug, Clone, Copy)]
pub struct Image<'a> {
    /// Base64 payload, without a `data:` prefix; `None` for a remote URL.
    pub base64: Option<&'a str>,
    /// The MIME type, where stated.
    pub mime: Option<&'a str>,
    /// OpenAI's `detail`: `low`, `high` or `auto`.
    pub detail: Option<&'a str>,
}

impl<'a> Transcript<'a> {
    /// Reads messages of any of the four shapes.
    pub fn read(messages: &'a [Value]) -> Self {
        read::read(messages, false)
    }

    /// Reads the messages before a user turn that is about to begin: all of them are a turn older than without it.
    pub fn before_turn(messages: &'a [Value]) -> Self {
        read::read(messages, true)
    }

    /// The messages of the answer that begins with one of them.
    pub fn answer_at(&self, index: usize) -> &[Message<'a>] {
        let more = self.messages[index + 1..].iter().take_while(|message| message.goes_on).count();
        &self.messages[index..=index + more]
    }

    /// Forgets messages that are about to be dropped: they have no blocks, start no turn and age nothing.
    pub fn forget(&mut self, indexes: impl IntoIterator<Item = usize>) {
        for index in indexes {
            let message = &mut self.messages[index];
            message.role = Role::Other;
            message.blocks.clear();
            message.starts_turn = false;
        }
        read::set_ages(&mut self.messages, self.turn_begins);
    }

    /// All blocks with the index of their message, oldest first.
    pub fn blocks(&self) -> impl Iterator<Item = (usize, &Block<'a>)> {
        self.places().map(|(message, _, block)| (message, block))
    }

    /// All blocks with the index of their message and their own in it, oldest first.
    pub fn places(&self) -> impl Iterator<Item = (usize, usize, &Block<'a>)> {
        let messages = self.messages.iter().enumerate();
        messages
            .flat_map(|(at, message)| message.blocks.iter().enumerate().map(move |(index, block)| (at, index, block)))
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
            (json!({ "command": ["git", "-c", "log"] }), Some("git -c log")),
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

    #[test]
    fn usage_reads_as_each_provider_spells_it() {
        let usage = Usage { input: 100, read: 900, written: 50, output: Some(7) };
        for (reported, expected) in [
            (json!({ "input": 100, "cacheRead": 900, "cacheWrite": 50, "output": 7 }), usage),
            (
                json!({ "input_tokens": 100, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 50, "output_tokens": 7 }),
                usage,
            ),
            (
                json!({ "input_tokens": 100, "cache_read_input_tokens": null }),
                Usage { read: 0, written: 0, output: None, ..usage },
            ),
            (
                json!({ "prompt_tokens": 1000, "completion_tokens": 7, "prompt_tokens_details": { "cached_tokens": 900 } }),
                Usage { written: 0, ..usage },
            ),
            (
                json!({ "prompt_tokens": 100, "prompt_tokens_details": null }),
                Usage { read: 0, written: 0, output: None, ..usage },
            ),
            (
                json!({ "input_tokens": 1000, "input_tokens_details": { "cached_tokens": 900 } }),
                Usage { written: 0, output: None, ..usage },
            ),
        ] {
            let messages = [json!({ "role": "assistant", "content": "a", "usage": reported })];
            assert_eq!(Transcript::read(&messages).messages[0].usage(), Some(expected), "{messages:?}");
        }
        let silent = [json!({ "role": "assistant", "content": "a", "usage": { "output_tokens": 7 } })];
        assert_eq!(Transcript::read(&silent).messages[0].usage(), None);
    }
}
