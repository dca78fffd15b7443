//! What a redactor of the caller's says of the texts that an assembly is about to store. A host knows for secrets what nobody else can.
//!
//! It works where the caller works, so it is asked between two attempts: the first one stores nothing and returns what it would
//! store, the second one knows the answers. They are remembered, and only what is new is asked about.

use std::borrow::Cow;

use serde_json::Value;

use super::Engine;
use super::identity::Known;
use super::memo::content_of;
use crate::content::Hints;
use crate::reference::ContentHash;
use crate::transcript::{Kind, ToolResult};

/// What becomes of a block that a redactor of the caller's has not seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unheard {
    /// It is folded like any other: there is no such redactor.
    #[default]
    Fold,
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
    /// What the placeholder and the label may name, and what the text holds escaped: arguments of the call, as JSON and as plain strings.
    pub beside: String,
}

/// What the redactor made of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// Nothing is masked.
    AsIs,
    /// This is what may be stored and shown of a tool's text.
    Masked(String),
    /// It must not be stored.
    Stays,
}

impl Engine {
    /// Remembers the answer to a question.
    pub fn hear(&self, key: String, heard: Heard) {
        self.memo.hear(key, heard);
    }

    /// The answer for a block, or the question.
    pub(super) fn heard(&self, known: &Known) -> Result<Heard, Box<Question>> {
        let beside = beside(&known.block.kind, known.block.result.as_ref());
        let key = ContentHash::of(format!("{}{beside}", known.key.hash.to_hex()).as_bytes()).to_hex();
        if let Some(heard) = self.memo.heard(&key) {
            let is_text = matches!(known.block.kind, Kind::Text(_));
            return Ok(if matches!(heard, Heard::Masked(_)) && !is_text { Heard::Stays } else { heard });
        }
        let text = match known.block.kind {
            Kind::Image(_) => String::new(),
            _ => content_of(known.block).into_owned(),
        };
        Err(Box::new(Question { key, text, beside }))
    }
}

/// What of a block is stored or shown beside its text, and its strings where the text is JSON: a redactor knows a secret as it is, and JSON
/// escapes quotes, backslashes and line ends.
fn beside(kind: &Kind, result: Option<&ToolResult>) -> String {
    let given = match (kind, result) {
        (Kind::Call(call), _) => Some(call.arguments),
        (_, Some(result)) => result.arguments,
        _ => None,
    };
    let value = match kind {
        Kind::Thinking(part) => Some(Cow::Borrowed(*part)),
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
