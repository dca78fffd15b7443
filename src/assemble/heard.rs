//! What a redactor of the caller's says of the texts that an assembly is about to store. A host knows for secrets what nobody else can.
//!
//! It works where the caller works, so it is asked between two attempts: the first one stores nothing and returns what it would
//! store, the second one knows the answers. They are remembered, and only what is new is asked about.

use super::Engine;
use super::identity::Known;
use super::memo::content_of;
use crate::reference::ContentHash;
use crate::transcript::Kind;

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
    /// What the placeholder may name: the arguments of the call.
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
        let given = || known.block.result.and_then(|result| result.arguments).map(|arguments| arguments.to_json());
        let beside = given().unwrap_or_default();
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
