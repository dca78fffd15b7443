//! `"a\n\"b\""` <-> the text that it stands for, if it is escaped in the canonical way.

use std::borrow::Cow;

/// Returns the text escaped as the inside of a JSON string. Only what JSON requires is escaped.
pub fn escape(text: &str) -> Cow<'_, str> {
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let quoted = serde_json::to_string(text).expect("a string is JSON");
    Cow::Owned(quoted[1..quoted.len() - 1].to_owned())
}

/// Returns the text of a string's inside; `None` if escaping it does not give the same spelling again.
pub fn unescape(inner: &str) -> Option<String> {
    let text = meaning(inner)?.into_owned();
    (escape(&text) == inner).then_some(text)
}

/// Returns true if a byte needs no escape in a string.
fn is_plain(byte: u8) -> bool {
    byte >= b' ' && byte != b'"' && byte != b'\\'
}

/// Returns the text of a string's inside, in any spelling.
pub fn meaning(inner: &str) -> Option<Cow<'_, str>> {
    if inner.bytes().all(is_plain) {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str(&format!("\"{inner}\"")).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_spellings_come_back_and_others_are_left_alone() {
        let (inner, text) = (r#"a\n\t\r\b\f\"b\" \\ \u0001 \u001f é /"#, "a\n\t\r\u{8}\u{c}\"b\" \\ \u{1} \u{1f} é /");
        assert_eq!(unescape(inner).as_deref(), Some(text));
        assert_eq!(escape(text), inner);
        for inner in [r"\/", r"\u00e9", r"\u001F", r"\ud800"] {
            assert_eq!(unescape(inner), None, "{inner}");
        }
    }
}
