//! Functions without a store. They are synchronous because their work is short.

use concertina::config::{Config, Encoding};
use concertina::content::{self, ContentType, Language};
use concertina::error::{Error, Result};
use concertina::history::measure;
use concertina::prose::approx_tokens;
use concertina::{squeeze, tokens};
use napi::Env;
use napi::bindgen_prelude::PromiseRaw;
use napi_derive::napi;
use serde_json::{Map, Value};

use crate::guard::guard;
use crate::handover::{Change, Handover};
use crate::report::LeftAlone;
use crate::work::heavy;

/// Parses options from JSON. The core's table of settings checks their names and values.
///
/// Options cross as JSON because napi turns every number above 2^32 into a float, and the core needs whole bytes and
/// milliseconds.
pub(crate) fn options(json: &str) -> Result<Map<String, Value>> {
    serde_json::from_str(json).map_err(|error| Error::bad_argument("options", error, "an object"))
}

/// Parses the name of a token vocabulary, o200k_base if there is none. `accepted` is for the message.
fn encoding(name: Option<&str>, accepted: &str) -> Result<Encoding> {
    let parse = |name| Encoding::parse(name).ok_or_else(|| one_of("encoding", name, [accepted].into_iter()));
    name.map_or(Ok(Encoding::O200kBase), parse)
}

/// The report of `squeeze()`.
#[napi(object, object_from_js = false)]
pub struct SqueezeStats {
    /// Messages in the input.
    pub messages_processed: u32,
    /// Blocks that were replaced: stale or large results, calls and images.
    pub blocks_evicted: u32,
    /// Tokens that were saved: those of the replaced content less those of its placeholders.
    pub tokens_freed: i64,
    /// Images that were replaced.
    pub images_evicted: u32,
    /// Texts of stale tool results that were replaced.
    pub tool_results_evicted: u32,
    /// Tool calls whose arguments were shortened.
    pub tool_calls_evicted: u32,
    /// Heartbeats that were dropped. Each is a prompt with its answer.
    pub heartbeats_pruned: u32,
    /// Large results that were cut, whatever their age.
    pub large_results_truncated: u32,
    /// Parts that are left as they are because they cannot be read: instances of classes, lone surrogates, values
    /// that JSON does not have.
    pub left_alone: Option<Vec<LeftAlone>>,
}

/// A squeezed conversation.
#[napi(object, object_from_js = false)]
pub struct Squeezed {
    /// The changes to the messages.
    pub change: Change,
    /// The report.
    pub stats: SqueezeStats,
}

/// Implements `squeeze(messages, options)`.
#[napi(js_name = "squeeze")]
pub fn squeeze_messages(messages: &Handover, options_json: String) -> napi::Result<Squeezed> {
    guard(|| {
        let (config, _) = Config::from_json(&options(&options_json)?)?;
        let (rewrite, stats) = squeeze::squeeze(&messages.slices().read()?, &config);
        let stats = SqueezeStats {
            messages_processed: stats.messages_processed as u32,
            blocks_evicted: stats.blocks_evicted as u32,
            tokens_freed: stats.tokens_freed as i64,
            images_evicted: stats.images_evicted as u32,
            tool_results_evicted: stats.tool_results_evicted as u32,
            tool_calls_evicted: stats.tool_calls_evicted as u32,
            heartbeats_pruned: stats.heartbeats_pruned as u32,
            large_results_truncated: stats.large_results_truncated as u32,
            left_alone: None,
        };
        Ok(Squeezed { change: Change::from(&rewrite), stats })
    })
}

/// The report of `repairToolPairing()`.
#[napi(object, object_from_js = false)]
pub struct RepairStats {
    /// Error results that were inserted for calls without a result.
    pub synthetic_results_inserted: u32,
    /// Results that were dropped because no call has their id, or only calls in failed answers have it.
    pub orphan_results_dropped: u32,
    /// Results that were dropped because their call already has a result.
    pub duplicate_results_dropped: u32,
    /// True if anything changed, including the order.
    pub repaired: bool,
    /// The index of the first message that cannot be read and may be or contain a call or a result. If there is one,
    /// nothing is changed.
    pub unreadable: Option<u32>,
}

/// A repaired conversation.
#[napi(object, object_from_js = false)]
pub struct Repaired {
    /// The changes to the messages.
    pub change: Change,
    /// The report.
    pub stats: RepairStats,
}

/// Implements `repairToolPairing(messages)`.
#[napi]
pub fn repair_tool_pairing(messages: &Handover) -> napi::Result<Repaired> {
    guard(|| {
        let (rewrite, stats) = squeeze::repair_tool_pairing(&messages.slices().read()?);
        let stats = RepairStats {
            synthetic_results_inserted: stats.synthetic_results_inserted as u32,
            orphan_results_dropped: stats.orphan_results_dropped as u32,
            duplicate_results_dropped: stats.duplicate_results_dropped as u32,
            repaired: stats.repaired,
            unreadable: stats.unreadable.map(|index| index as u32),
        };
        Ok(Repaired { change: Change::from(&rewrite), stats })
    })
}

/// Implements `countTokens(text, { encoding })`.
#[napi]
pub fn count_tokens(text: String, encoding_name: Option<String>) -> napi::Result<u32> {
    guard(|| {
        let tokens = match encoding_name.as_deref() {
            // For receipts that are compared with published ones.
            Some("approx") => approx_tokens(&text),
            name => tokens::count(&text, encoding(name, r#""o200k_base", "cl100k_base", "approx""#)?),
        };
        Ok(tokens as u32)
    })
}

/// Implements `countMessageTokens(messages, { model, encoding })`.
#[napi]
pub fn count_message_tokens(
    messages: &Handover,
    model: Option<String>,
    encoding_name: Option<String>,
) -> napi::Result<u32> {
    guard(|| {
        let encoding = encoding(encoding_name.as_deref(), r#""o200k_base", "cl100k_base""#)?;
        Ok(measure::message_tokens(&messages.slices().read()?, model.as_deref(), encoding) as u32)
    })
}

/// The caller's knowledge about a text.
#[napi(object, object_to_js = false)]
#[derive(Default)]
pub struct Hints {
    /// The tool that produced the text.
    pub tool_name: Option<String>,
    /// The file that the text was read from.
    pub path: Option<String>,
    /// The command that printed the text.
    pub command: Option<String>,
    /// The content type, which overrides detection: code, json, log, diff, search, table, html or text.
    #[napi(ts_type = "ContentType | (string & {})")]
    pub content_type: Option<String>,
    /// The language, which overrides detection.
    #[napi(ts_type = "Language | (string & {})")]
    pub language: Option<String>,
}

impl TryFrom<Hints> for content::Hints {
    type Error = Error;

    fn try_from(given: Hints) -> Result<Self> {
        let kind = |word: &str| {
            ContentType::parse(word)
                .ok_or_else(|| one_of("contentType", word, ContentType::ALL.iter().map(|kind| kind.as_str())))
        };
        let language = |word: &str| {
            Language::parse(word)
                .ok_or_else(|| one_of("language", word, Language::ALL.iter().map(|kind| kind.as_str())))
        };
        Ok(Self {
            content_type: given.content_type.as_deref().map(kind).transpose()?,
            language: given.language.as_deref().map(language).transpose()?,
            tool_name: given.tool_name,
            path: given.path,
            command: given.command,
        })
    }
}

fn one_of<'a>(name: &str, got: &str, words: impl Iterator<Item = &'a str>) -> Error {
    Error::bad_argument(name, format!("{got:?}"), format!("one of {}", words.collect::<Vec<_>>().join(", ")))
}

/// Implements `summarize(text, { hints, maxChars })`.
#[napi]
pub fn summarize(text: String, hints: Hints, max_chars: u32) -> napi::Result<String> {
    guard(|| Ok(concertina::summarize::summarize(&text, &hints.try_into()?, max_chars as usize, true)))
}

/// A run of text of one type. Offsets are in UTF-16 units, as `String.prototype.slice` takes them.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct Segment {
    /// The offset of the first unit.
    pub start: u32,
    /// The offset behind the last unit.
    pub end: u32,
    /// The content type.
    #[napi(ts_type = "ContentType")]
    pub content_type: String,
    /// The language, if the type is code.
    #[napi(ts_type = "Language")]
    pub language: Option<String>,
}

/// The detected content type of a text.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct Detection {
    /// The type of most of the text.
    #[napi(ts_type = "ContentType")]
    pub content_type: String,
    /// The language, if the type is code.
    #[napi(ts_type = "Language")]
    pub language: Option<String>,
    /// The runs of one type, in order.
    pub segments: Vec<Segment>,
}

pub(crate) fn language_name(language: Option<Language>) -> Option<String> {
    language.map(|language| language.as_str().to_owned())
}

/// Returns a function that converts byte offsets to UTF-16 offsets. It must be called with ascending byte offsets.
pub(crate) fn utf16_units(text: &str) -> impl FnMut(usize) -> u32 {
    let (mut units, mut bytes) = (0, 0);
    move |byte| {
        units += text[bytes..byte].encode_utf16().count() as u32;
        bytes = byte;
        units
    }
}

/// Implements `detect(text, hints)`.
#[napi]
pub fn detect(text: String, hints: Hints) -> napi::Result<Detection> {
    guard(|| {
        let detection = content::detect(&text, &hints.try_into()?);
        let mut to_units = utf16_units(&text);
        let segments = detection.segments.iter().map(|segment| Segment {
            start: to_units(segment.range.start),
            end: to_units(segment.range.end),
            content_type: segment.content_type.as_str().to_owned(),
            language: language_name(segment.language),
        });
        Ok(Detection {
            segments: segments.collect(),
            content_type: detection.content_type.as_str().to_owned(),
            language: language_name(detection.language),
        })
    })
}

/// Panics so that a test can check the guard. Not part of the public interface.
#[napi(js_name = "__panic")]
pub fn panic_here() -> napi::Result<()> {
    guard(|| panic!("asked for by a test"))
}

/// Does the same as `__panic` on a worker.
#[napi(js_name = "__panicOnWorker")]
pub fn panic_on_worker(env: &Env) -> napi::Result<PromiseRaw<'_, ()>> {
    heavy(env, || -> Result<()> { panic!("asked for by a test") })
}
