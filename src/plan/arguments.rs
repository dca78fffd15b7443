//! `{"path": "a.rs", "content": "<4,210 characters>"}` -> `{"path": "a.rs", "content": "<<4,210 chars elided …>>"}`
//!
//! Models imitate what they see: a stub of another shape is soon sent to a tool as if it were arguments. So the shape
//! stays, only strings shrink, and a note says that it must not be reproduced. If the original can be fetched, only the
//! path, the size and the id are kept; otherwise long strings keep their beginnings.

use std::cmp::Reverse;

use serde_json::{Value, json};

use crate::config::{Compat, Config};
use crate::history::Meter;
use crate::reference::Marker;
use crate::tokens::utf16;
use crate::transcript::{Arguments, COMMAND_KEYS, Call, string_in};

/// The tokens above which fetchable arguments lose strings, the largest first. Chosen on the development corpus (`npm
/// run bench:replay`).
const MAX_TOKENS: usize = 60;

/// The divisor that limits the beginning shown in a note to a share of the removed tokens. Chosen by judgement.
const HEAD_DIVISOR: usize = 4;

/// The replacement of every further string after the first note.
const REPEATED_NOTE: &str = "<<elided, as above>>";

/// Without a reference, strings of at most this many UTF-16 units stay. It exceeds the length of any note, so that
/// notes stay too, and of a usual path.
const SHORT_CHARS: usize = 256;

/// The maximum number of UTF-16 units of a long string that its note shows: one line. Chosen by judgement.
const HEAD_CHARS: usize = 80;

/// The minimum number of UTF-16 units of a command that stay: an agent that does not see what it did repeats it. Chosen
/// by judgement.
const COMMAND_CHARS: usize = 70;

/// The nesting depth below which values are left alone: the limit of the JSON reader.
const MAX_DEPTH: usize = 128;

/// Shrunk arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct ShrunkArguments {
    /// The value to set at the path of the call's block.
    pub value: Value,
    /// Tokens of the value.
    pub tokens: usize,
}

/// Returns the shrunk form of a call's stale arguments; `None` if nothing becomes shorter.
///
/// Key order, numbers and paths stay; arguments that are a JSON string stay one, and one that does not parse is left
/// alone. `reference` is printed once, in the first note. The arguments then cost at most 60 tokens if their strings
/// permit it, and some more if they include a command, whose beginning stays. Under `compat: "clawsqueezer"` the result
/// is the published `{ _squeezed, summary }` instead.
pub fn shrink(call: &Call, config: &Config, meter: &Meter, reference: Option<&Marker>) -> Option<ShrunkArguments> {
    let before = meter.arguments(&call.arguments);
    let mut value = call.arguments.to_value()?;
    match config.compat {
        Compat::ClawSqueezer if value["_squeezed"] == true => return None,
        Compat::ClawSqueezer => value = json!({ "_squeezed": true, "summary": published_summary(call) }),
        Compat::None => {
            let head_chars = HEAD_CHARS.min(config.keep_preview_chars as usize);
            let is_shorter = match reference {
                Some(marker) => fold_strings(&mut value, before, marker, head_chars, meter),
                None => shrink_strings(&mut value, head_chars, meter),
            };
            if !is_shorter {
                return None;
            }
        }
    }
    let json = value.to_string();
    let tokens = meter.text(&json);
    let value = match call.arguments {
        Arguments::Value(_) => value,
        Arguments::Json(_) => Value::String(json),
    };
    (tokens < before).then_some(ShrunkArguments { value, tokens })
}

/// Estimates the tokens that [`shrink`] with a reference would free of arguments that cost `tokens`, without counting
/// any: by the share of their strings in the escaped JSON.
pub fn expected_savings(call: &Call, tokens: u64) -> u64 {
    /// Tokens of a note with the id and a beginning, and the bytes of a string that costs more; counted on its wording.
    const NOTE: (u64, u64) = (34, 100);
    /// The same for the replacement of a further string.
    const FURTHER_NOTE: (u64, u64) = (7, 28);
    /// The addition to both for the beginning of a command.
    const COMMAND_EXTRA: (u64, u64) = (18, 70);
    if tokens <= MAX_TOKENS as u64 {
        return 0;
    }
    let Some(mut value) = call.arguments.to_value() else { return 0 };
    let total = value.to_string().len() as u64;
    let command = string_in(&value, COMMAND_KEYS).is_some();
    let mut texts = Vec::new();
    collect_strings(&mut value, 0, &mut texts);
    let mut sizes: Vec<u64> = texts.iter().filter(|text| !is_kept(text)).map(|text| escaped_len(text)).collect();
    sizes.sort_unstable_by_key(|&size| Reverse(size));
    let mut remaining_tokens = tokens;
    for (at, size) in sizes.into_iter().enumerate() {
        let (cost, min_bytes) = match at {
            0 if command => (NOTE.0 + COMMAND_EXTRA.0, NOTE.1 + COMMAND_EXTRA.1),
            0 => NOTE,
            _ => FURTHER_NOTE,
        };
        if remaining_tokens <= MAX_TOKENS as u64 || size <= min_bytes {
            break;
        }
        remaining_tokens = (remaining_tokens + cost).saturating_sub(tokens * size / total.max(1));
    }
    tokens.saturating_sub(remaining_tokens)
}

/// Returns the length in bytes of a string within JSON, ignoring rare control characters.
fn escaped_len(text: &str) -> u64 {
    let escaped = text.bytes().filter(|byte| matches!(byte, b'"' | b'\\' | 0..b' ')).count();
    (text.len() + escaped) as u64
}

/// Folds the largest strings of arguments that cost `before` until few tokens are left. Returns false if none becomes
/// shorter.
fn fold_strings(value: &mut Value, before: usize, marker: &Marker, head_chars: usize, meter: &Meter) -> bool {
    let command = string_in(value, COMMAND_KEYS).map(str::to_owned);
    let mut texts = Vec::new();
    collect_strings(value, 0, &mut texts);
    let mut by_tokens: Vec<(usize, usize)> =
        texts.iter().enumerate().filter(|(_, text)| !is_kept(text)).map(|(at, text)| (meter.text(text), at)).collect();
    by_tokens.sort_by_key(|&(cost, at)| (Reverse(cost), at));
    let note = |chars: usize, head: &str| note(chars, &format!(" {marker}"), head);
    let (mut remaining_tokens, mut chars, mut folded) = (before, 0, Vec::new());
    for (cost, at) in by_tokens {
        let note_tokens =
            if folded.is_empty() { meter.text(&note(utf16::len(texts[at]), "")) } else { meter.text(REPEATED_NOTE) };
        if remaining_tokens <= MAX_TOKENS || cost <= note_tokens {
            break;
        }
        remaining_tokens = remaining_tokens + note_tokens - cost.min(remaining_tokens);
        chars += utf16::len(texts[at]);
        folded.push(at);
    }
    folded.sort_unstable();
    let Some((&first, further)) = folded.split_first() else { return false };
    let head_tokens =
        (before.saturating_sub(remaining_tokens) / HEAD_DIVISOR).min(MAX_TOKENS.saturating_sub(remaining_tokens));
    let is_command = command.as_deref() == Some(texts[first].as_str());
    let beginning = utf16::head(texts[first], if is_command { head_chars.max(COMMAND_CHARS) } else { head_chars });
    // The beginning is shown at full length or not at all, since half a name is useless. A command always shows its
    // own.
    let fits = || meter.text(&note(chars, beginning)) <= meter.text(&note(chars, "")) + head_tokens;
    let head = if is_command || fits() { beginning } else { "" };
    *texts[first] = note(chars, head);
    for &at in further {
        *texts[at] = REPEATED_NOTE.to_owned();
    }
    true
}

/// Collects every string of a value, in order.
fn collect_strings<'v>(value: &'v mut Value, depth: usize, texts: &mut Vec<&'v mut String>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) if depth < MAX_DEPTH => {
            items.iter_mut().for_each(|item| collect_strings(item, depth + 1, texts))
        }
        Value::Object(fields) if depth < MAX_DEPTH => {
            fields.values_mut().for_each(|field| collect_strings(field, depth + 1, texts));
        }
        _ => {}
    }
}

/// Returns true if a string is kept whatever it costs: a path, an address, a name, or one of our notes.
fn is_kept(text: &str) -> bool {
    let is_word = !text.contains(char::is_whitespace) && !utf16::exceeds(text, SHORT_CHARS);
    is_word || (text.starts_with("<<") && text.ends_with(">>") && text.contains(" chars elided by concertina"))
}

/// Shortens each long string of a value to a note with its beginning. Returns true if any was shortened.
fn shrink_strings(value: &mut Value, head_chars: usize, meter: &Meter) -> bool {
    let mut texts = Vec::new();
    collect_strings(value, 0, &mut texts);
    let mut is_shorter = false;
    for text in texts.into_iter().filter(|text| utf16::exceeds(text, SHORT_CHARS)) {
        let note = note(utf16::len(text), "", utf16::head(text, head_chars));
        if meter.text(&note) < meter.text(text) {
            *text = note;
            is_shorter = true;
        }
    }
    is_shorter
}

/// Returns the note that replaces this many UTF-16 units, with a reference to them and their beginning.
fn note(chars: usize, reference: &str, head: &str) -> String {
    let chars = utf16::thousands(chars);
    let head = if head.is_empty() { String::new() } else { format!("; began: {head}…") };
    format!("<<{chars} chars elided by concertina{reference}, never reproduce this note{head}>>")
}

/// Returns the summary that ClawSqueezer 1.0 writes for a call, by tool.
fn published_summary(call: &Call) -> String {
    let string = |keys: &[&str], default: &str| call.arguments.string(keys).unwrap_or_else(|| default.to_owned());
    let path = || string(&["file_path", "path"], "file");
    match call.name {
        "exec" => format!("[exec: {}]", utf16::head(&string(&["command"], ""), HEAD_CHARS)),
        "read" | "Read" => format!("[read: {}]", path()),
        "write" | "Write" => format!("[write: {}]", path()),
        "edit" | "Edit" => format!("[edit: {}]", path()),
        "web_fetch" => format!("[fetched: {}]", string(&["url"], "url")),
        "web_search" => format!("[searched: {}]", string(&["query"], "query")),
        "browser" => format!("[browser: {}]", string(&["action"], "action")),
        name => format!("[{name}]"),
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Encoding;
    use crate::reference::RefId;

    use super::*;

    fn call<'a>(name: &'a str, arguments: Arguments<'a>) -> Call<'a> {
        Call { id: "c", name, arguments, is_typed: false, is_of_script: false }
    }

    fn shrunk(arguments: Arguments, config: &Config, reference: Option<&Marker>) -> Option<Value> {
        let meter = Meter::new(None, Encoding::O200kBase);
        shrink(&call("write", arguments), config, &meter, reference).map(|shrunk| shrunk.value)
    }

    fn body() -> String {
        "fn main() { println!(\"hello\"); }\n".repeat(100)
    }

    #[test]
    fn long_strings_shrink_in_place_and_the_rest_stays() {
        let given = json!({ "path": "src/a.rs", "mode": 420, "rate": 0.1, "content": body(),
            "edits": [{ "old": body(), "new": "x" }, null, true] });
        let mut after = shrunk(Arguments::Value(&given), &Config::default(), None).unwrap();
        let note = "<<3,300 chars elided by concertina, never reproduce this note; began: \
                    fn main() { println!(\"hello\"); }\nfn main() { println!(\"hello\"); }\nfn main() { pr…>>";
        assert_eq!(after["content"], note);
        assert_eq!(after["edits"][0]["old"], note);
        after["content"] = given["content"].clone();
        after["edits"][0]["old"] = given["edits"][0]["old"].clone();
        assert_eq!(after.to_string(), given.to_string());
    }

    #[test]
    fn a_json_string_stays_one_with_its_key_order_and_numbers() {
        let json = format!("{{\"z\": 1.10, \"a\": 123456789012345678901234567890, \"b\": {}}}", json!(body()));
        let after = shrunk(Arguments::Json(&json), &Config::default(), None).unwrap();
        let text = after.as_str().unwrap();
        assert!(
            text.starts_with(r#"{"z":1.10,"a":123456789012345678901234567890,"b":"<<3,300 chars elided"#),
            "{text}"
        );
        assert_eq!(shrunk(Arguments::Json("{\"a\": \"not json"), &Config::default(), None), None);
    }

    #[test]
    fn shrinking_again_changes_nothing() {
        let config = Config::default();
        let full = RefId::parse(&"0123456789abcdef".repeat(4)).unwrap();
        for reference in [None, Some(&Marker::Reference(full))] {
            for text in [body(), "世".repeat(3000), "😀".repeat(3000)] {
                let given = json!({ "content": text });
                let once = shrunk(Arguments::Value(&given), &config, reference).unwrap();
                assert!(utf16::len(once["content"].as_str().unwrap()) <= SHORT_CHARS);
                assert_eq!(shrunk(Arguments::Value(&once), &config, reference), None);
            }
        }
    }

    #[test]
    fn a_reference_is_printed_once() {
        let marker = Marker::Reference(RefId::parse("0123456789abcdef").unwrap());
        let given = json!({ "old": body(), "new": body() });
        let after = shrunk(Arguments::Value(&given), &Config::default(), Some(&marker)).unwrap();
        assert_eq!(after["old"].as_str().unwrap().matches("[REF_ID: 0123456789abcdef]").count(), 1, "{after}");
        assert!(after["old"].as_str().unwrap().starts_with("<<6,600 chars elided"), "{after}");
        assert_eq!(after["new"], REPEATED_NOTE);
    }

    #[test]
    fn what_can_be_fetched_keeps_its_path_and_at_most_sixty_tokens() {
        let marker = Marker::Reference(RefId::parse("5edf6ff5d404ea83").unwrap());
        let meter = Meter::new(None, Encoding::O200kBase);
        let folded = |given: &Value| shrunk(Arguments::Value(given), &Config::default(), Some(&marker));
        let edits: Vec<Value> = (0..3).map(|_| json!({ "old": "a short line of code", "new": body() })).collect();
        // Strings shorter than a note stay, however many there are.
        let edits = json!({ "path": "src/plan/arguments.rs", "edits": edits });
        let rows: Vec<Value> = (0..200).map(|at| json!({ "sku": at * 37, "paid": at % 3 == 0 })).collect();
        for (given, most) in [
            (json!({ "path": "src/plan/arguments.rs", "content": body() }), MAX_TOKENS),
            // Many of its characters are escaped.
            (
                json!({ "path": "src/plan/arguments.rs", "content": serde_json::to_string_pretty(&rows).unwrap() }),
                MAX_TOKENS,
            ),
            (edits, 100),
            (json!({ "command": "cargo test --locked && ".repeat(20), "timeout": 60 }), MAX_TOKENS),
            (
                json!({ "first": "some words that are not long ".repeat(6), "second": "and as many of them again ".repeat(6) }),
                MAX_TOKENS,
            ),
        ] {
            let after = folded(&given).unwrap();
            let (before, cost) = (meter.text(&given.to_string()), meter.text(&after.to_string()));
            assert!(cost <= most && cost < before, "{cost} of {before}: {after}");
            assert_eq!(after["path"], given["path"]);
            let expected = expected_savings(&call("write", Arguments::Value(&given)), before as u64) as i64;
            assert!(
                (expected - (before - cost) as i64).abs() <= 20 + before as i64 / 32,
                "{expected} expected of {before} to {cost}"
            );
            assert_eq!(folded(&after), None, "{after}");
        }
        let short = json!({ "command": "ls -la", "why": "a few words ".repeat(12) });
        assert!(meter.text(&short.to_string()) <= MAX_TOKENS && folded(&short).is_none());
    }

    #[test]
    fn deep_nesting_is_walked_to_a_bound() {
        let nested = |depth: usize| (0..depth).fold(json!(body()), |inner, _| json!([inner]));
        assert!(shrunk(Arguments::Value(&nested(100)), &Config::default(), None).is_some());
        assert_eq!(shrunk(Arguments::Value(&nested(1000)), &Config::default(), None), None);
        let deep = format!("{}{}{}", "[".repeat(5000), json!(body()), "]".repeat(5000));
        assert_eq!(shrunk(Arguments::Json(&deep), &Config::default(), None), None);
    }

    #[test]
    fn compat_writes_the_published_object() {
        let config = Config { compat: Compat::ClawSqueezer, ..Config::default() };
        for (name, arguments, summary) in [
            ("exec", json!({ "command": body() }), format!("[exec: {}]", &body()[..80])),
            ("Read", json!({ "file_path": "a.rs", "x": body() }), "[read: a.rs]".into()),
            ("write", json!({ "path": "a.rs", "content": body() }), "[write: a.rs]".into()),
            ("edit", json!({ "content": body() }), "[edit: file]".into()),
            ("web_fetch", json!({ "url": "http://x", "y": body() }), "[fetched: http://x]".into()),
            ("web_search", json!({ "query": "q", "y": body() }), "[searched: q]".into()),
            ("browser", json!({ "action": "click", "y": body() }), "[browser: click]".into()),
            ("other", json!({ "y": body() }), "[other]".into()),
        ] {
            let meter = Meter::new(None, Encoding::O200kBase);
            let written = |arguments| shrink(&call(name, arguments), &config, &meter, None).map(|shrunk| shrunk.value);
            let after = written(Arguments::Value(&arguments)).unwrap();
            assert_eq!(after, json!({ "_squeezed": true, "summary": summary }));
            assert_eq!(written(Arguments::Value(&after)), None);
            let json = arguments.to_string();
            assert_eq!(written(Arguments::Json(&json)), Some(json!(after.to_string())));
        }
    }
}
