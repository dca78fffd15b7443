//! Prose and rules as JavaScript sees them. What takes long has a twin on a worker; offsets are UTF-16 units.

use concertina::error::{Error, Result};
use concertina::prose::{self, Intensity, Substitution};
use concertina::rules::{self, Dictionary, Objective, RuleFile, RulesLevel, RulesOptions};
use napi::bindgen_prelude::AsyncTask;
use napi_derive::napi;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::guard::guard;
use crate::pure::options;
use crate::work::{Outcome, Work, to_json};

/// One of a few words, or its default.
fn word<T>(
    given: &Map<String, Value>,
    name: &str,
    default: T,
    parse: impl Fn(&str) -> Option<T>,
    words: &str,
) -> Result<T> {
    match given.get(name) {
        None => Ok(default),
        Some(value) => {
            value.as_str().and_then(parse).ok_or_else(|| Error::bad_argument(name, value, format!("one of {words}")))
        }
    }
}

fn objective(given: &Map<String, Value>, default: Objective) -> Result<Objective> {
    word(given, "objective", default, Objective::parse, "\"tokens\", \"chars\"")
}

/// Refuses options that nobody reads.
fn only(given: &Map<String, Value>, known: &[&str]) -> Result<()> {
    match given.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(Error::bad_argument(name, "not an option", format!("one of {}", known.join(", ")))),
        None => Ok(()),
    }
}

/// `compressProse(text, options)`; the report is the receipt.
#[napi]
pub fn compress_prose(text: String, options_json: String) -> napi::Result<Outcome> {
    guard(|| compressed_prose(&text, &options_json))
}

/// The same on a worker.
#[napi]
pub fn compress_prose_on_worker(text: String, options_json: String) -> AsyncTask<Work> {
    Work::queue(move || compressed_prose(&text, &options_json))
}

fn compressed_prose(text: &str, options_json: &str) -> Result<Outcome> {
    let given = options(options_json)?;
    only(&given, &["intensity", "objective"])?;
    let intensity = word(&given, "intensity", Intensity::Full, Intensity::parse, "\"lite\", \"full\", \"ultra\"")?;
    let (text, receipt) = prose::compress_prose(text, intensity, objective(&given, Objective::Tokens)?);
    let substitutions: Vec<Value> = receipt
        .substitutions
        .iter()
        .map(|one| json!({ "long": one.long, "short": one.short, "count": one.count }))
        .collect();
    let report = json!({
        "tokens_before": receipt.tokens_before, "tokens_after": receipt.tokens_after,
        "saved_tokens": receipt.saved_tokens, "saved_ratio": receipt.saved_ratio,
        "compression_intensity": receipt.compression_intensity.as_str(), "substitutions": substitutions,
    });
    Ok(Outcome { text: Some(text), ..Outcome::report(&report) })
}

/// `expand(text, receipt)`: with the substitutions of a receipt, only those.
#[napi]
pub fn expand(text: String, substitutions_json: Option<String>) -> napi::Result<String> {
    #[derive(Deserialize)]
    struct Row {
        long: String,
        short: String,
    }
    guard(|| {
        let Some(json) = substitutions_json else { return Ok(prose::expand(&text)) };
        let rows: Vec<Row> = serde_json::from_str(&json)
            .map_err(|error| Error::bad_argument("receipt.substitutions", error, "an array of { long, short }"))?;
        let listed: Vec<Substitution> =
            rows.into_iter().map(|row| Substitution { long: row.long, short: row.short, count: 1 }).collect();
        Ok(prose::expand_listed(&text, &listed))
    })
}

/// `tokenize(text)`, as JSON `[kind, UTF-16 units]`.
#[napi]
pub fn tokenize(text: String) -> napi::Result<String> {
    guard(|| {
        let tokens = prose::tokenize(&text);
        let rows: Vec<(&str, usize)> = tokens
            .iter()
            .map(|token| (token.kind.as_str(), text[token.range.clone()].encode_utf16().count()))
            .collect();
        Ok(to_json(&rows))
    })
}

/// `redactPrivate(text)`.
#[napi]
pub fn redact_private(text: String) -> napi::Result<String> {
    guard(|| Ok(prose::redact_private(&text)))
}

/// `protectedSpans(text)`, as JSON.
#[napi]
pub fn protected_spans(text: String) -> napi::Result<String> {
    guard(|| {
        let (mut units, mut bytes) = (0, 0);
        let mut to_units = |byte: usize| {
            units += text[bytes..byte].encode_utf16().count();
            bytes = byte;
            units
        };
        let rows: Vec<Value> = rules::protected_spans(&text)
            .into_iter()
            .map(|span| json!({ "start": to_units(span.range.start), "end": to_units(span.range.end), "category": span.category }))
            .collect();
        Ok(to_json(&rows))
    })
}

/// `preprocess(text, level, options)`; the level comes with the options.
#[napi]
pub fn preprocess(text: String, options_json: String) -> napi::Result<String> {
    guard(|| Ok(rules::preprocess(&text, &rules_options(&options_json, None)?)))
}

/// The same on a worker.
#[napi]
pub fn preprocess_on_worker(text: String, options_json: String) -> AsyncTask<Work> {
    Work::queue(move || {
        let text = rules::preprocess(&text, &rules_options(&options_json, None)?);
        Ok(Outcome { text: Some(text), ..Outcome::default() })
    })
}

/// `compressRules(files, options)`; the files are JSON `[{ name, text }]`.
#[napi]
pub fn compress_rules(files_json: String, options_json: String) -> napi::Result<Outcome> {
    guard(|| compressed_rules(&files_json, &options_json))
}

/// The same on a worker.
#[napi]
pub fn compress_rules_on_worker(files_json: String, options_json: String) -> AsyncTask<Work> {
    Work::queue(move || compressed_rules(&files_json, &options_json))
}

const DEFAULT_MAX_CHARS: usize = 8000;

fn rules_options(json: &str, max_chars: Option<usize>) -> Result<RulesOptions> {
    let given = options(json)?;
    only(&given, &["level", "objective", "maxChars", "abbreviations"])?;
    let level = given.get("level").map_or(Ok(RulesLevel::Standard), |value| {
        RulesLevel::from_json(value).ok_or_else(|| Error::bad_argument("level", value, RulesLevel::expectation()))
    })?;
    let max_chars = match given.get("maxChars") {
        None => max_chars,
        Some(value) => {
            let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
            Some(number.ok_or_else(|| Error::bad_argument("maxChars", value, "a whole number of at least 0"))?)
        }
    };
    let dictionary = given.get("abbreviations").map_or_else(|| Ok(Dictionary::default()), Dictionary::merged)?;
    Ok(RulesOptions { level, objective: objective(&given, Objective::Chars)?, max_chars, dictionary })
}

fn compressed_rules(files_json: &str, options_json: &str) -> Result<Outcome> {
    #[derive(Deserialize)]
    struct File {
        name: String,
        text: String,
    }
    let files: Vec<File> = serde_json::from_str(files_json)
        .map_err(|error| Error::bad_argument("files", error, "an array of { name, text }"))?;
    let files: Vec<RuleFile> = files.into_iter().map(|file| RuleFile { name: file.name, text: file.text }).collect();
    let asked = rules_options(options_json, Some(DEFAULT_MAX_CHARS))?;
    let done = rules::compress_rules(&files, &asked);
    let named = |is_included: bool| -> Vec<&str> {
        done.files.iter().filter(|row| row.is_included == is_included).map(|row| row.name.as_str()).collect()
    };
    let rows: Vec<Value> = done
        .files
        .iter()
        .map(|row| {
            json!({
                "name": row.name, "priority": row.priority, "included": row.is_included, "charsBefore": row.chars_before,
                "charsAfter": row.chars_after, "tokensBefore": row.tokens_before, "tokensAfter": row.tokens_after,
            })
        })
        .collect();
    let chars_before: usize = done.files.iter().filter(|row| row.is_included).map(|row| row.chars_before).sum();
    let report = json!({
        "included": named(true), "omitted": named(false),
        "report": {
            "level": asked.level as u8, "objective": asked.objective.as_str(), "charsBefore": chars_before,
            "charsAfter": done.text.encode_utf16().count(), "tokensBefore": done.tokens_before,
            "tokensAfter": done.tokens_after, "files": rows,
        },
    });
    Ok(Outcome { text: Some(done.text), ..Outcome::report(&report) })
}
