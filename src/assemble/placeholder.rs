//! What stands in the place of a folded block. The words never change once sent, and hold nothing that depends on the moment.

use serde_json::{Value, json};

use super::Engine;
use crate::plan::{arguments, measure::Meter};
use crate::reference::{Marker, RefId};
use crate::transcript::Call;

/// A placeholder before its id is known.
#[derive(Debug)]
pub(super) enum Placeholder<'a> {
    /// A tool output: summary, and how much is behind it.
    Output { summary: String, characters: usize, lines: usize },
    /// An image, by its tokens.
    Image { tokens: u64 },
    /// Tool-call arguments, whose own shape says what is missing.
    Arguments(Call<'a>),
}

impl Placeholder<'_> {
    /// A placeholder for a text.
    pub(super) fn output(text: &str, summary: String) -> Self {
        Self::Output { summary, characters: text.chars().count(), lines: text.lines().count() }
    }

    /// The JSON value that takes the block's place; `None` for arguments that have nothing to shorten.
    pub(super) fn render(&self, id: &RefId, engine: &Engine, meter: &Meter) -> Option<Value> {
        let marker = Marker::Reference(id.clone());
        Some(match self {
            Self::Output { summary, characters, lines } => json!(format!(
                "{marker} (Summary: {summary})\n[{} of output folded; fetch_original_data returns all or part of it]",
                size(*characters, *lines)
            )),
            Self::Image { tokens } => {
                json!({ "type": "text", "text": format!("[image was here — {tokens} tokens] {marker}") })
            }
            Self::Arguments(call) => arguments::shrink(call, engine.config(), meter, Some(&marker))?.value,
        })
    }
}

fn size(characters: usize, lines: usize) -> String {
    match lines {
        0 | 1 => format!("{characters} characters"),
        _ => format!("{lines} lines, {characters} characters"),
    }
}

/// Tokens of a replacement as a provider is sent it: a string's own text, a text block's text, arguments as JSON.
pub(super) fn tokens_of(value: &Value, meter: &Meter) -> u64 {
    let tokens = match value.as_str().or_else(|| value["text"].as_str().filter(|_| value["type"] == "text")) {
        Some(text) => meter.text(text),
        None => meter.text(&value.to_string()),
    };
    tokens as u64
}
