//! What a redactor of the caller's says of the texts that an assembly is about to store. A host knows for secrets what
//! nobody else can.
//!
//! It works where the caller works, so it is asked between two attempts: the first one stores nothing and returns what
//! it would store, the second one knows the answers. They are remembered, and only what is new is asked about.

use std::borrow::Cow;

use quick_cache::sync::Cache;
use serde_json::Value;

use super::blocks::KeyedBlock;
use super::content_hash::content_of;
use crate::content::Hints;
use crate::reference::ContentHash;
use crate::transcript::{BlockKind, ToolResult};

/// How a redactor of the caller's takes part in an assembly: what becomes of a block that it has not judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RedactorMode {
    /// There is no redactor: the block is folded like any other.
    #[default]
    Absent,
    /// It is returned in [`super::Reply::questions`], and nothing is folded.
    Ask,
    /// It stays as it is.
    Leave,
}

/// A block that is about to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What the answer is remembered by.
    pub key: String,
    /// What would be stored.
    pub text: String,
    /// What the placeholder and the label may name, and what the text holds escaped: arguments of the call, as JSON and
    /// as plain strings.
    pub beside: String,
}

/// What the redactor made of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RedactorAnswer {
    /// Nothing is masked.
    Unchanged,
    /// This is what may be stored and shown of a tool's text.
    Masked(String),
    /// It must not be stored.
    Withheld,
}

/// Answers remembered, of some hundred bytes each: chosen by judgement.
const ANSWERS: usize = 1 << 14;

/// The answers of the caller's redactor, by the key of their question.
pub(super) struct RedactorAnswers(Cache<String, RedactorAnswer>);

impl Default for RedactorAnswers {
    fn default() -> Self {
        Self(Cache::new(ANSWERS))
    }
}

impl RedactorAnswers {
    /// Remembers the answer to a question.
    pub(super) fn remember(&self, key: String, answer: RedactorAnswer) {
        self.0.insert(key, answer);
    }

    /// The answer for a block, or the question.
    pub(super) fn answer_for(&self, block: &KeyedBlock) -> Result<RedactorAnswer, Box<Question>> {
        let beside = shown_beside(&block.block.kind, block.block.result.as_ref());
        let key = ContentHash::of(format!("{}{beside}", block.key.hash.to_hex()).as_bytes()).to_hex();
        if let Some(answer) = self.0.get(&key) {
            let is_text = matches!(block.block.kind, BlockKind::Text(_));
            return Ok(if matches!(answer, RedactorAnswer::Masked(_)) && !is_text {
                RedactorAnswer::Withheld
            } else {
                answer
            });
        }
        let text = match block.block.kind {
            BlockKind::Image(_) => String::new(),
            _ => content_of(block.block).into_owned(),
        };
        Err(Box::new(Question { key, text, beside }))
    }
}

/// What of a block is stored or shown beside its text, and its strings where the text is JSON: a redactor knows a
/// secret as it is, and JSON escapes quotes, backslashes and line ends.
fn shown_beside(kind: &BlockKind, result: Option<&ToolResult>) -> String {
    let given = match (kind, result) {
        (BlockKind::Call(call), _) => Some(call.arguments),
        (_, Some(result)) => result.arguments,
        _ => None,
    };
    let value = match kind {
        BlockKind::Thinking(part) => Some(Cow::Borrowed(*part)),
        _ => given.and_then(|arguments| arguments.value()),
    };
    let json = given.map(|arguments| arguments.to_json());
    let label = result.map(|result| Hints::from(result).label());
    let mut lines: Vec<Cow<str>> = json.into_iter().chain(label).map(Cow::Owned).collect();
    if let Some(value) = &value {
        add_strings(value, &mut lines);
    }
    lines.join("\n")
}

/// All strings of a value, its keys too; of a list of words also what they are together.
fn add_strings<'v>(value: &'v Value, strings: &mut Vec<Cow<'v, str>>) {
    match value {
        Value::String(text) => strings.push(text.into()),
        Value::Array(items) => {
            let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            if let Some(words) = words.filter(|words| words.len() > 1) {
                strings.push(words.join(" ").into());
            }
            items.iter().for_each(|item| add_strings(item, strings));
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                strings.push(key.into());
                add_strings(field, strings);
            }
        }
        _ => {}
    }
}
