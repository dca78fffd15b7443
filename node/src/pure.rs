//! Functions without a store. Each has a synchronous twin where the core's work is small enough to wait for.

use concertina::config::{Config, Encoding};
use concertina::content::{self, ContentType, Hints, Language};
use concertina::error::{Error, Result};
use concertina::history::measure;
use concertina::prose::approx_tokens;
use concertina::{squeeze, tokens};
use napi_derive::napi;
use serde_json::{Map, Value, json};

use crate::guard::guard;
use crate::handover::Handover;
use crate::work::{Outcome, to_json};

/// Reads an options object that crossed as JSON.
pub(crate) fn options(json: &str) -> Result<Map<String, Value>> {
    serde_json::from_str(json).map_err(|error| Error::bad_argument("options", error, "an object"))
}

/// Reads the name of a vocabulary.
fn encoding(name: Option<&str>) -> Result<Encoding> {
    match name {
        None => Ok(Encoding::O200kBase),
        Some(name) => Encoding::parse(name).ok_or_else(|| {
            Error::bad_argument("encoding", format!("{name:?}"), "one of \"o200k_base\", \"cl100k_base\"")
        }),
    }
}

/// `squeeze(messages, options)`.
#[napi(js_name = "squeeze")]
pub fn squeeze_messages(messages: &mut Handover, options_json: String) -> napi::Result<Outcome> {
    let slices = messages.take();
    guard(|| {
        let (config, _) = Config::from_json(&options(&options_json)?)?;
        let (rewrite, stats) = squeeze::squeeze(&slices.read()?, &config);
        Ok(Outcome::rewrite(&rewrite, &stats))
    })
}

/// `repairToolPairing(messages)`.
#[napi]
pub fn repair_tool_pairing(messages: &mut Handover) -> napi::Result<Outcome> {
    let slices = messages.take();
    guard(|| {
        let (rewrite, stats) = squeeze::repair_tool_pairing(&slices.read()?);
        Ok(Outcome::rewrite(&rewrite, &stats))
    })
}

/// `countTokens(text, { encoding })`.
#[napi]
pub fn count_tokens(text: String, encoding_name: Option<String>) -> napi::Result<u32> {
    guard(|| match encoding_name.as_deref() {
        // For receipts that are compared with published ones.
        Some("approx") => Ok(approx_tokens(&text) as u32),
        Some(name) => match Encoding::parse(name) {
            Some(encoding) => Ok(tokens::count(&text, encoding) as u32),
            None => Err(one_of("encoding", name, ["\"o200k_base\"", "\"cl100k_base\"", "\"approx\""].into_iter())),
        },
        None => Ok(tokens::count(&text, Encoding::O200kBase) as u32),
    })
}

/// `countMessageTokens(messages, { model, encoding })`.
#[napi]
pub fn count_message_tokens(
    messages: &mut Handover,
    model: Option<String>,
    encoding_name: Option<String>,
) -> napi::Result<u32> {
    let slices = messages.take();
    guard(|| {
        let encoding = encoding(encoding_name.as_deref())?;
        Ok(measure::message_tokens(&slices.read()?, model.as_deref(), encoding) as u32)
    })
}

/// What the agent needs to know about placeholders.
#[napi]
pub fn guidance() -> String {
    concertina::assemble::GUIDANCE.to_owned()
}

/// `summarize(text, { hints, maxChars })`.
#[napi]
pub fn summarize(text: String, hints_json: String, max_chars: u32) -> napi::Result<String> {
    guard(|| Ok(concertina::summarize::summarize(&text, &hints(&hints_json)?, max_chars as usize, true)))
}

/// `detect(text, hints)`, as JSON. Offsets are UTF-16 units.
#[napi]
pub fn detect(text: String, hints_json: String) -> napi::Result<String> {
    guard(|| {
        let detection = content::detect(&text, &hints(&hints_json)?);
        let (mut units, mut bytes) = (0, 0);
        let mut to_units = |byte: usize| {
            units += text[bytes..byte].encode_utf16().count();
            bytes = byte;
            units
        };
        let segments: Vec<Value> = detection
            .segments
            .iter()
            .map(|segment| {
                json!({
                    "start": to_units(segment.range.start), "end": to_units(segment.range.end),
                    "contentType": segment.content_type.as_str(),
                    "language": segment.language.map(Language::as_str),
                })
            })
            .collect();
        Ok(to_json(&json!({
            "contentType": detection.content_type.as_str(),
            "language": detection.language.map(Language::as_str),
            "segments": segments,
        })))
    })
}

/// Reads hints that crossed as JSON.
fn hints(json: &str) -> Result<Hints> {
    let given = options(json)?;
    let text = |name: &str| given.get(name).and_then(Value::as_str).map(str::to_owned);
    let content_type = text("contentType")
        .map(|word| {
            ContentType::parse(&word)
                .ok_or_else(|| one_of("contentType", &word, ContentType::ALL.iter().map(|kind| kind.as_str())))
        })
        .transpose()?;
    let language = text("language")
        .map(|word| {
            Language::parse(&word)
                .ok_or_else(|| one_of("language", &word, Language::ALL.iter().map(|kind| kind.as_str())))
        })
        .transpose()?;
    Ok(Hints { tool_name: text("toolName"), path: text("path"), command: text("command"), content_type, language })
}

fn one_of<'a>(name: &str, got: &str, words: impl Iterator<Item = &'a str>) -> Error {
    Error::bad_argument(name, format!("{got:?}"), format!("one of {}", words.collect::<Vec<_>>().join(", ")))
}

/// Panics on purpose, so that a test can see the guard at work. Not part of the JavaScript face.
#[napi(js_name = "__panic")]
pub fn panic_here() -> napi::Result<()> {
    guard(|| panic!("asked for by a test"))
}

/// The same on a worker thread.
#[napi(js_name = "__panicOnWorker")]
pub fn panic_on_worker() -> napi::bindgen_prelude::AsyncTask<crate::work::Work> {
    crate::work::Work::queue(|| panic!("asked for by a test"))
}
