//! `{"path": "a.rs", "content": "<4,210 characters>"}` -> `{"path": "a.rs", "content": "<<4,210 chars elided …>>"}`
//!
//! Models imitate what they see: a stub of another shape is soon sent to a tool as if it were arguments. So the shape stays, only
//! long strings shrink, and each note says that it must not be written again.

use serde_json::{Value, json};

use super::utf16;
use crate::config::{Compat, Config};
use crate::history::Meter;
use crate::reference::Marker;
use crate::transcript::{Arguments, Call};

/// Strings of at most this many UTF-16 units stay: paths, commands, identifiers. Longer than any note, so that notes stay too.
const SHORT_CHARS: usize = 256;

/// How much of a long string its note shows, in UTF-16 units.
const HEAD_CHARS: usize = 80;

/// Values nested deeper than this are left alone.
const MAX_DEPTH: usize = 128;

/// Shrunk arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Shrunk {
    /// What stands at the path of the call's block.
    pub value: Value,
    /// What it costs.
    pub tokens: usize,
}

/// The arguments of a call as they stand once they are stale; `None` when nothing
/// becomes shorter.
///
/// Key order, numbers and short strings stay as they were; arguments that are a JSON string stay one, and one that does not parse
/// is left alone. `reference` is printed once, in the first note, and those behind it do without a beginning. Under `compat: "clawsqueezer"` the result is the published
/// `{ _squeezed, summary }` instead.
pub fn shrink(call: &Call, config: &Config, meter: &Meter, reference: Option<&Marker>) -> Option<Shrunk> {
    let before = meter.arguments(&call.arguments);
    let mut value = call.arguments.to_value()?;
    match config.compat {
        Compat::ClawSqueezer if value["_squeezed"] == true => return None,
        Compat::ClawSqueezer => value = json!({ "_squeezed": true, "summary": published_summary(call) }),
        Compat::None => {
            let head_chars = HEAD_CHARS.min(config.keep_preview_chars as usize);
            let mut notes = Notes { head_chars, meter, reference, written: 0 };
            notes.shrink_strings(&mut value, 0);
            if notes.written == 0 {
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
    (tokens < before).then_some(Shrunk { value, tokens })
}

/// What [`shrink`] would free of arguments that cost `tokens`, without writing anything: by the share of their long strings.
pub fn expected_savings(call: &Call, tokens: u64) -> u64 {
    /// Tokens of a note with its head, and with the id in it.
    const NOTE_TOKENS: u64 = 45;
    fn long_strings(value: &Value, depth: usize, total: &mut u64, found: &mut (u64, u64)) {
        match value {
            Value::String(text) => {
                *total += text.len() as u64;
                if text.len() > SHORT_CHARS {
                    *found = (found.0 + text.len() as u64, found.1 + 1);
                }
            }
            Value::Array(items) if depth < MAX_DEPTH => {
                items.iter().for_each(|item| long_strings(item, depth + 1, total, found));
            }
            Value::Object(fields) if depth < MAX_DEPTH => fields.iter().for_each(|(key, field)| {
                *total += key.len() as u64;
                long_strings(field, depth + 1, total, found);
            }),
            _ => *total += 1,
        }
    }
    let parsed;
    let value = match call.arguments {
        Arguments::Value(value) => value,
        Arguments::Json(json) => match serde_json::from_str(json) {
            Ok(value) => {
                parsed = value;
                &parsed
            }
            Err(_) => return 0,
        },
    };
    let (mut total, mut found) = (0, (0, 0));
    long_strings(value, 0, &mut total, &mut found);
    let (long, notes) = found;
    (tokens * long / total.max(1)).saturating_sub(NOTE_TOKENS * notes)
}

struct Notes<'a> {
    head_chars: usize,
    meter: &'a Meter,
    reference: Option<&'a Marker>,
    written: usize,
}

impl Notes<'_> {
    fn shrink_strings(&mut self, value: &mut Value, depth: usize) {
        match value {
            Value::String(text) if utf16::exceeds(text, SHORT_CHARS) => {
                let note = self.note(text);
                if self.meter.text(&note) < self.meter.text(text) {
                    *text = note;
                    self.written += 1;
                }
            }
            Value::Array(items) if depth < MAX_DEPTH => {
                items.iter_mut().for_each(|item| self.shrink_strings(item, depth + 1));
            }
            Value::Object(fields) if depth < MAX_DEPTH => {
                fields.values_mut().for_each(|field| self.shrink_strings(field, depth + 1));
            }
            _ => {}
        }
    }

    fn note(&self, text: &str) -> String {
        let chars = utf16::thousands(utf16::len(text));
        let reference = match self.reference {
            Some(marker) if self.written == 0 => format!(" {marker}"),
            _ => String::new(),
        };
        // What is fetched by the id of the first note has the beginnings of all.
        let head_chars = if self.reference.is_some() && self.written > 0 { 0 } else { self.head_chars };
        let head = match utf16::head(text, head_chars) {
            "" => String::new(),
            head => format!("; began: {head}…"),
        };
        format!("<<{chars} chars elided by concertina{reference}, never reproduce this note{head}>>")
    }
}

/// What ClawSqueezer 1.0 writes for a call, by tool.
fn published_summary(call: &Call) -> String {
    let string = |keys: &[&str], default: &str| call.arguments.string(keys).unwrap_or_else(|| default.to_owned());
    let path = || string(&["file_path", "path"], "file");
    match call.name {
        "exec" => format!("[exec: {}]", utf16::head(&string(&["command"], ""), 80)),
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

    fn shrunk(arguments: Arguments, config: &Config, reference: Option<&Marker>) -> Option<Value> {
        let call = Call { id: "c", name: "write", arguments };
        shrink(&call, config, &Meter::new(None, Encoding::O200kBase), reference).map(|shrunk| shrunk.value)
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
        let after = shrunk(Arguments::Value(&given), &Config::default(), Some(&marker)).unwrap().to_string();
        assert_eq!(after.matches("[REF_ID: 0123456789abcdef]").count(), 1, "{after}");
        assert_eq!(after.matches("; began: ").count(), 1, "{after}");
    }

    #[test]
    fn what_does_not_become_shorter_stays() {
        for given in [
            json!({ "command": "ls -la", "n": 5 }),
            json!({ "blank": " ".repeat(500) }),
            json!((0..5000).collect::<Vec<u32>>()),
            json!(null),
        ] {
            assert_eq!(shrunk(Arguments::Value(&given), &Config::default(), None), None, "{given}");
        }
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
            let call = Call { id: "c", name, arguments: Arguments::Value(&arguments) };
            let after = shrink(&call, &config, &meter, None).unwrap().value;
            assert_eq!(after, json!({ "_squeezed": true, "summary": summary }));
            let again = Call { id: "c", name, arguments: Arguments::Value(&after) };
            assert_eq!(shrink(&again, &config, &meter, None), None);
            let json = arguments.to_string();
            let as_string = Call { id: "c", name, arguments: Arguments::Json(&json) };
            assert_eq!(shrink(&as_string, &config, &meter, None).unwrap().value, json!(after.to_string()));
        }
    }
}
