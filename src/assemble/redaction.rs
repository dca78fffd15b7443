//! The answers of the caller's redactor about texts that an assembly is about to store. A host may know secrets that
//! nobody else can recognize.
//!
//! The redactor runs in the caller, so it is asked between two attempts: the first stores nothing and returns what it
//! would store, the second has the answers. Answers are cached; only new content is asked about.

use std::borrow::Cow;

use quick_cache::sync::Cache;
use serde_json::Value;

use super::blocks::KeyedBlock;
use super::content_cache::kind_and_content;
use super::engine::Engine;
use crate::content::Hints;
use crate::reference::ContentHash;
use crate::transcript::{BlockKind, ToolResult};

/// The way in which the caller's redactor takes part in an assembly: the treatment of a block that it has not judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RedactorMode {
    /// There is no redactor: the block is folded like any other.
    #[default]
    Absent,
    /// The block is returned in [`super::Reply::questions`], and nothing is folded.
    Ask,
    /// The block stays as it is.
    Leave,
}

/// A question to the redactor about a block that is about to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The cache key of the answer.
    pub key: String,
    /// The text that would be stored.
    pub text: String,
    /// Text that the placeholder and the label may name, and strings that `text` holds escaped: arguments of the call,
    /// as JSON and as plain strings.
    pub beside: String,
}

/// The redactor's answer about a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RedactorAnswer {
    /// Nothing is masked.
    Unchanged,
    /// The masked text, which may be stored and shown in place of a tool's text.
    Masked(String),
    /// The block must not be stored.
    Withheld,
}

/// The number of answers cached, of some hundred bytes each. Chosen by judgement.
const MAX_ANSWERS: usize = 1 << 14;

/// Returns an empty cache of the caller's redactor's answers, by the keys of their questions.
pub(super) fn no_answers() -> Cache<String, RedactorAnswer> {
    Cache::new(MAX_ANSWERS)
}

impl Engine {
    /// Caches the caller's redactor's answer to a question.
    pub fn remember_redaction(&self, key: String, answer: RedactorAnswer) {
        self.redactor_answers.insert(key, answer);
    }

    /// Returns the redactor's answer for a block. `frames` are the fields that are stored with an image.
    ///
    /// # Errors
    /// The question, if it was not answered yet.
    pub(super) fn redaction_of(&self, block: &KeyedBlock, frames: &[Value]) -> Result<RedactorAnswer, Box<Question>> {
        let beside = text_beside(&block.block.kind, block.block.result.as_ref(), frames);
        let key = ContentHash::of(format!("{}{beside}", block.key.hash.to_hex()).as_bytes()).to_hex();
        if let Some(answer) = self.redactor_answers.get(&key) {
            let is_text = matches!(block.block.kind, BlockKind::Text(_));
            return Ok(if matches!(answer, RedactorAnswer::Masked(_)) && !is_text {
                RedactorAnswer::Withheld
            } else {
                answer
            });
        }
        let text = match block.block.kind {
            BlockKind::Image(_) => String::new(),
            _ => kind_and_content(block.block).1.into_owned(),
        };
        Err(Box::new(Question { key, text, beside }))
    }
}

/// Returns the text stored or shown beside a block's own, with the plain strings of JSON: a redactor knows secrets in
/// plain form, and JSON escapes quotes, backslashes and line ends.
fn text_beside(kind: &BlockKind, result: Option<&ToolResult>, frames: &[Value]) -> String {
    let arguments = match (kind, result) {
        (BlockKind::Call(call), _) => Some(call.arguments),
        (_, Some(result)) => result.arguments,
        _ => None,
    };
    let value = match kind {
        BlockKind::Thinking(part) => Some(Cow::Borrowed(*part)),
        _ => arguments.and_then(|arguments| arguments.value()),
    };
    let json = arguments.map(|arguments| arguments.to_json());
    let label = result.map(|result| Hints::from(result).label());
    let mut lines: Vec<Cow<str>> = json.into_iter().chain(label).map(Cow::Owned).collect();
    frames.iter().chain(value.as_deref()).for_each(|value| collect_strings(value, &mut lines));
    lines.join("\n")
}

/// Adds all strings of a value, keys included. The words of a list are also added joined.
fn collect_strings<'v>(value: &'v Value, strings: &mut Vec<Cow<'v, str>>) {
    match value {
        Value::String(text) => strings.push(text.into()),
        Value::Array(items) => {
            let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            if let Some(words) = words.filter(|words| words.len() > 1) {
                strings.push(words.join(" ").into());
            }
            items.iter().for_each(|item| collect_strings(item, strings));
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                strings.push(key.into());
                collect_strings(field, strings);
            }
        }
        _ => {}
    }
}
