//! What stands in the place of a folded block. The words never change once sent, and hold nothing that depends on the moment.

use serde_json::{Value, json};

use super::Engine;
use super::known::Known;
use crate::config::Config;
use crate::plan::{arguments, measure::Meter};
use crate::reference::{Marker, RefId};
use crate::summarize::{NamesInSight, salient_identifiers};
use crate::transcript::{Call, Kind};

/// An output of fewer characters has no room for words on how to get it back; the guidance has them.
const WORDY_CHARS: usize = 3000;

/// One name is kept for so many tokens of the original.
const TOKENS_PER_NAME: u64 = 12;

/// Of a long original one name more is kept for so many tokens.
const TOKENS_PER_FURTHER_NAME: u64 = 80;

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
            Self::Output { summary, characters, lines } => {
                let size = size(*characters, *lines);
                let rest = match *characters {
                    0..WORDY_CHARS => format!("[{size} folded]"),
                    _ => format!("[{size} of output folded; fetch_original_data returns all or part of it]"),
                };
                json!(format!("{marker} (Summary: {summary})\n{rest}"))
            }
            Self::Image { tokens } => {
                json!({ "type": "text", "text": format!("[image was here — {tokens} tokens] {marker}") })
            }
            Self::Arguments(call) => {
                engine.showable(arguments::shrink(call, engine.config(), meter, Some(&marker))?.value)?
            }
        })
    }
}

/// A summary, and after it the names of the text that are not in sight yet; from then on they are.
pub(super) fn with_names(
    summary: String,
    text: &str,
    tokens: u64,
    config: &Config,
    in_sight: &mut NamesInSight,
) -> String {
    let limit = usize::try_from(names_kept(tokens, config)).unwrap_or(usize::MAX);
    in_sight.add(&summary);
    let names = salient_identifiers(text, limit, in_sight);
    if names.is_empty() {
        return summary;
    }
    let names = names.join(" ");
    in_sight.add(&names);
    format!("{summary}\nnames: {names}")
}

/// How many names are kept of a text: a few of a short one, and of a long one some more than the option says.
fn names_kept(tokens: u64, config: &Config) -> u64 {
    match config.keep_names {
        0 => 0,
        names => (tokens / TOKENS_PER_NAME).min(names + tokens / TOKENS_PER_FURTHER_NAME),
    }
}

/// What folding a block would free, without writing its placeholder: an estimate for the plan. What is shown is counted.
pub(super) fn expected_savings(known: &Known, config: &Config) -> u64 {
    /// Marker and size.
    const FRAME_TOKENS: u64 = 30;
    const TOKENS_PER_KEPT_NAME: u64 = 5;
    const IMAGE_NOTE_TOKENS: u64 = 26;
    let cost = match known.block.kind {
        Kind::Text(_) => {
            let preview = (config.keep_preview_chars / 4).min(known.tokens / 4);
            FRAME_TOKENS + preview + TOKENS_PER_KEPT_NAME * names_kept(known.tokens, config)
        }
        Kind::Call(call) => return arguments::expected_savings(&call, known.tokens),
        Kind::Image(_) => IMAGE_NOTE_TOKENS,
        Kind::Thinking | Kind::Other => return 0,
    };
    known.tokens.saturating_sub(cost)
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
