//! Prose and rules as JavaScript sees them. Slow functions also have a version that runs on a worker. Offsets are in
//! UTF-16 units. `node/lib` has checked the words among the options.

use concertina::config::rules_level;
use concertina::error::{Error, Result};
use concertina::prose::{self, Intensity};
use concertina::rules::{self, Dictionary, Objective, RulesLevel};
use napi::Env;
use napi::bindgen_prelude::PromiseRaw;
use napi_derive::napi;
use serde_json::Value;

use crate::guard::guard;
use crate::pure::utf16_units;
use crate::work::heavy;

/// The options of shortening prose.
#[napi(object, object_to_js = false)]
pub struct ProseOptions {
    /// The amount of shortening; `full` by default.
    #[napi(ts_type = "\"lite\" | \"full\" | \"ultra\"")]
    pub intensity: Option<String>,
    /// The unit to reduce; tokens by default. Abbreviations save characters but no tokens, so they are used only with
    /// `chars`.
    #[napi(ts_type = "\"tokens\" | \"chars\"")]
    pub objective: Option<String>,
}

/// A short form and the longer one that it replaced.
#[napi(object)]
pub struct Substitution {
    /// The replaced form.
    pub long: String,
    /// The short form.
    pub short: String,
    /// The number of replacements.
    pub count: u32,
}

/// The report of shortening a text. It is never part of the text.
#[napi(object, object_from_js = false)]
pub struct ProseReceipt {
    /// o200k tokens of the input.
    #[napi(js_name = "tokens_before")]
    pub tokens_before: u32,
    /// o200k tokens of the output.
    #[napi(js_name = "tokens_after")]
    pub tokens_after: u32,
    /// The difference. Negative if saving characters costs tokens.
    #[napi(js_name = "saved_tokens")]
    pub saved_tokens: i64,
    /// `saved_tokens` divided by `tokens_before`: at most 1, and negative if `saved_tokens` is.
    #[napi(js_name = "saved_ratio")]
    pub saved_ratio: f64,
    /// The intensity that was used.
    #[napi(js_name = "compression_intensity", ts_type = "\"lite\" | \"full\" | \"ultra\"")]
    pub compression_intensity: String,
    /// The replacements. `expand` undoes exactly these.
    pub substitutions: Vec<Substitution>,
}

/// A shortened text and its receipt.
#[napi(object, object_from_js = false)]
pub struct CompressedProse {
    /// The shortened text.
    pub text: String,
    /// The report.
    pub receipt: ProseReceipt,
}

/// Implements `compressProse(text, options)`.
#[napi]
pub fn compress_prose(text: String, options: ProseOptions) -> napi::Result<CompressedProse> {
    guard(|| Ok(compressed_prose(&text, &options)))
}

/// Does the same as `compressProse` on a worker.
#[napi]
pub fn compress_prose_on_worker(
    env: &Env,
    text: String,
    options: ProseOptions,
) -> napi::Result<PromiseRaw<'_, CompressedProse>> {
    heavy(env, move || Ok(compressed_prose(&text, &options)))
}

fn compressed_prose(text: &str, options: &ProseOptions) -> CompressedProse {
    let intensity = options.intensity.as_deref().and_then(Intensity::parse).unwrap_or(Intensity::Full);
    let objective = options.objective.as_deref().and_then(Objective::parse).unwrap_or(Objective::Tokens);
    let (text, receipt) = prose::compress_prose(text, intensity, objective);
    let substitutions = receipt.substitutions.into_iter().map(|one| Substitution {
        long: one.long,
        short: one.short,
        count: one.count as u32,
    });
    let receipt = ProseReceipt {
        tokens_before: receipt.tokens_before as u32,
        tokens_after: receipt.tokens_after as u32,
        saved_tokens: receipt.saved_tokens,
        saved_ratio: receipt.saved_ratio,
        compression_intensity: receipt.compression_intensity.as_str().to_owned(),
        substitutions: substitutions.collect(),
    };
    CompressedProse { text, receipt }
}

/// Implements `expand(text, receipt)`. If a receipt is given, only its substitutions are undone.
#[napi]
pub fn expand(text: String, substitutions: Option<Vec<Substitution>>) -> napi::Result<String> {
    guard(|| {
        let Some(rows) = substitutions else { return Ok(prose::expand(&text)) };
        let listed: Vec<_> = rows
            .into_iter()
            .map(|row| prose::Substitution { long: row.long, short: row.short, count: row.count as usize })
            .collect();
        Ok(prose::expand_listed(&text, &listed))
    })
}

/// A part of a text.
#[napi(object, object_from_js = false)]
pub struct TextPart {
    /// The kind of protected span, or `prose`.
    pub kind: String,
    /// The length in UTF-16 units.
    pub length: u32,
}

/// Implements `tokenize(text)`.
#[napi]
pub fn tokenize(text: String) -> napi::Result<Vec<TextPart>> {
    guard(|| {
        let tokens = prose::tokenize(&text);
        let part = |token: &prose::Token| TextPart {
            kind: token.kind.as_str().to_owned(),
            length: text[token.range.clone()].encode_utf16().count() as u32,
        };
        Ok(tokens.iter().map(part).collect())
    })
}

/// Implements `redactPrivate(text)`.
#[napi]
pub fn redact_private(text: String) -> napi::Result<String> {
    guard(|| Ok(prose::redact_private(&text)))
}

/// A part of a rule file that shortening may not alter. Offsets are in UTF-16 units.
#[napi(object, object_from_js = false)]
pub struct ProtectedSpan {
    /// The offset of the first unit.
    pub start: u32,
    /// The offset behind the last unit.
    pub end: u32,
    /// A kind of `tokenize`, or `negation`, `assertion`, `action`.
    pub category: String,
}

/// Implements `protectedSpans(text)`.
#[napi]
pub fn protected_spans(text: String) -> napi::Result<Vec<ProtectedSpan>> {
    guard(|| {
        let mut to_units = utf16_units(&text);
        let spans = rules::protected_spans(&text).into_iter().map(|span| ProtectedSpan {
            start: to_units(span.range.start),
            end: to_units(span.range.end),
            category: span.category.to_owned(),
        });
        Ok(spans.collect())
    })
}

/// The options of shortening rule files.
#[napi(object, object_to_js = false)]
pub struct RulesOptions {
    /// The level of shortening; 2 by default.
    #[napi(ts_type = "RulesLevel")]
    pub level: Option<Value>,
    /// The maximum length of the result in UTF-16 units.
    pub max_chars: Option<f64>,
    /// The unit to reduce; characters by default. The result never has more tokens than the files.
    #[napi(ts_type = "\"chars\" | \"tokens\"")]
    pub objective: Option<String>,
    /// Abbreviations in addition to the built-in ones, which they override.
    #[napi(ts_type = "{ entries: Record<string, string> }")]
    pub abbreviations: Option<Value>,
}

impl TryFrom<RulesOptions> for rules::RulesOptions {
    type Error = Error;

    fn try_from(given: RulesOptions) -> Result<Self> {
        let level = given.level.as_ref().map_or(Ok(RulesLevel::Standard), rules_level)?;
        let whole = |chars: f64| match chars >= 0.0 && chars.trunc() == chars {
            true => Ok(chars as usize),
            false => Err(Error::bad_argument("maxChars", chars, "a whole number of at least 0")),
        };
        let max_chars = given.max_chars.map(whole).transpose()?;
        let dictionary = given.abbreviations.as_ref().map_or_else(|| Ok(Dictionary::default()), Dictionary::merged)?;
        let objective = given.objective.as_deref().and_then(Objective::parse).unwrap_or(Objective::Chars);
        Ok(Self { level, objective, max_chars, dictionary })
    }
}

/// Implements `preprocess(text, level, options)`. The level is a field of `options` here.
#[napi]
pub fn preprocess(text: String, options: RulesOptions) -> napi::Result<String> {
    guard(|| Ok(rules::preprocess(&text, &options.try_into()?)))
}

/// Does the same as `preprocess` on a worker.
#[napi]
pub fn preprocess_on_worker(env: &Env, text: String, options: RulesOptions) -> napi::Result<PromiseRaw<'_, String>> {
    heavy(env, move || Ok(rules::preprocess(&text, &options.try_into()?)))
}

/// A rule file. `priority: N` in its front matter sets its place in the order.
#[napi(object, object_to_js = false)]
pub struct RuleFile {
    /// The name, for the report.
    pub name: String,
    /// The text.
    pub text: String,
}

/// The result for one rule file.
#[napi(object, object_from_js = false)]
pub struct RuleRow {
    /// The name of the file.
    pub name: String,
    /// The priority, which sets the place in the order.
    pub priority: i64,
    /// True if the text includes the file.
    pub included: bool,
    /// UTF-16 units of the file.
    pub chars_before: u32,
    /// UTF-16 units of the shortened file, also if the text does not include it.
    pub chars_after: u32,
    /// o200k tokens of the file.
    pub tokens_before: u32,
    /// o200k tokens of the shortened file, also if the text does not include it.
    pub tokens_after: u32,
}

/// The report of shortening rule files.
#[napi(object, object_from_js = false)]
pub struct RulesReport {
    /// The level that was used.
    pub level: u32,
    /// The unit to reduce.
    #[napi(ts_type = "\"chars\" | \"tokens\"")]
    pub objective: String,
    /// UTF-16 units of the included files before shortening.
    pub chars_before: u32,
    /// UTF-16 units of the resulting text.
    pub chars_after: u32,
    /// o200k tokens of the included files before shortening.
    pub tokens_before: u32,
    /// o200k tokens of the resulting text.
    pub tokens_after: u32,
    /// One row for each file, in order.
    pub files: Vec<RuleRow>,
}

/// Rule files, shortened and joined.
#[napi(object, object_from_js = false)]
pub struct CompressedRules {
    /// The resulting text.
    pub text: String,
    /// The names of the included files, in order.
    pub included: Vec<String>,
    /// The names of the files that did not fit.
    pub omitted: Vec<String>,
    /// The report.
    pub report: RulesReport,
}

/// Implements `compressRules(files, options)`.
#[napi]
pub fn compress_rules(files: Vec<RuleFile>, options: RulesOptions) -> napi::Result<CompressedRules> {
    guard(|| compressed_rules(files, options))
}

/// Does the same as `compressRules` on a worker.
#[napi]
pub fn compress_rules_on_worker(
    env: &Env,
    files: Vec<RuleFile>,
    options: RulesOptions,
) -> napi::Result<PromiseRaw<'_, CompressedRules>> {
    heavy(env, move || compressed_rules(files, options))
}

const DEFAULT_MAX_CHARS: f64 = 8000.0;

fn compressed_rules(files: Vec<RuleFile>, options: RulesOptions) -> Result<CompressedRules> {
    let files: Vec<_> = files.into_iter().map(|file| rules::RuleFile { name: file.name, text: file.text }).collect();
    let max_chars = options.max_chars.or(Some(DEFAULT_MAX_CHARS));
    let asked = RulesOptions { max_chars, ..options }.try_into()?;
    let done = rules::compress_rules(&files, &asked);
    let named = |included: bool| -> Vec<String> {
        done.files.iter().filter(|row| row.is_included == included).map(|row| row.name.clone()).collect()
    };
    let row = |row: &rules::FileRow| RuleRow {
        name: row.name.clone(),
        priority: row.priority,
        included: row.is_included,
        chars_before: row.chars_before as u32,
        chars_after: row.chars_after as u32,
        tokens_before: row.tokens_before as u32,
        tokens_after: row.tokens_after as u32,
    };
    let report = RulesReport {
        level: asked.level as u32,
        objective: asked.objective.as_str().to_owned(),
        chars_before: done.files.iter().filter(|row| row.is_included).map(|row| row.chars_before as u32).sum(),
        chars_after: done.text.encode_utf16().count() as u32,
        tokens_before: done.tokens_before as u32,
        tokens_after: done.tokens_after as u32,
        files: done.files.iter().map(row).collect(),
    };
    Ok(CompressedRules { included: named(true), omitted: named(false), text: done.text, report })
}
