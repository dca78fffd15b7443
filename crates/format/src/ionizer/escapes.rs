//! `"a\n\"b\""` <-> the text that it stands for, where its spelling is the usual one.

use std::borrow::Cow;

/// How a text's strings are escaped beyond what JSON asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Escapes {
    /// Everything beyond ASCII.
    pub ascii: bool,
    /// `<`, `>` and `&`, as Go does.
    pub html: bool,
}

impl Escapes {
    /// How the strings of a JSON text seem to be escaped.
    pub fn of(json: &str) -> Self {
        Self {
            ascii: json.is_ascii() && json.contains("\\u"),
            html: json.contains("\\u003c") || json.contains("\\u0026"),
        }
    }

    /// The words that name it in a legend.
    pub fn to_words(self) -> &'static str {
        match (self.ascii, self.html) {
            (false, false) => "",
            (true, false) => " ascii",
            (false, true) => " html",
            (true, true) => " ascii html",
        }
    }

    /// Takes the words from the start of a text.
    pub fn parse(text: &str) -> (Self, &str) {
        let (ascii, text) = text.strip_prefix(" ascii").map_or((false, text), |rest| (true, rest));
        let (html, text) = text.strip_prefix(" html").map_or((false, text), |rest| (true, rest));
        (Self { ascii, html }, text)
    }

    /// Escapes a text, without a copy where there is nothing to escape.
    pub fn spell(self, text: &str) -> Cow<'_, str> {
        match self == Self::default() && text.bytes().all(is_plain) {
            true => Cow::Borrowed(text),
            false => Cow::Owned(self.escape(text)),
        }
    }

    /// Escapes a text.
    pub fn escape(self, text: &str) -> String {
        if self == Self::default() && text.bytes().all(is_plain) {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len() + text.len() / 8);
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                '<' | '>' | '&' if self.html => push_hex(&mut out, c as u32),
                '\u{2028}' | '\u{2029}' if self.html => push_hex(&mut out, c as u32),
                c if c < ' ' => push_hex(&mut out, c as u32),
                c if self.ascii && !c.is_ascii() => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        push_hex(&mut out, u32::from(*unit));
                    }
                }
                c => out.push(c),
            }
        }
        out
    }

    /// The text that a string's inner spelling stands for, if escaping it gives the same spelling again.
    pub fn unescape(self, inner: &str) -> Option<String> {
        let text = meaning(inner)?.into_owned();
        (self.escape(&text) == inner).then_some(text)
    }
}

/// Whether a byte stands for itself in a string.
fn is_plain(byte: u8) -> bool {
    byte >= b' ' && byte != b'"' && byte != b'\\'
}

/// The text that a string's inner spelling stands for.
pub fn meaning(inner: &str) -> Option<Cow<'_, str>> {
    if inner.bytes().all(is_plain) {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str(&format!("\"{inner}\"")).ok().map(Cow::Owned)
}

fn push_hex(out: &mut String, unit: u32) {
    out.push_str(&format!("\\u{unit:04x}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_spellings_come_back_and_others_are_left_alone() {
        let plain = Escapes::default();
        let ascii = Escapes { ascii: true, html: false };
        let html = Escapes { ascii: false, html: true };
        for (escapes, inner, text) in [
            (plain, r#"a\n\t\"b\" \\ \u0001 é"#, "a\n\t\"b\" \\ \u{1} é"),
            (ascii, r"\u00e9\ud83d\ude00", "é😀"),
            (html, r"\u003cb\u003e \u0026", "<b> &"),
        ] {
            assert_eq!(escapes.unescape(inner).as_deref(), Some(text));
            assert_eq!(escapes.escape(text), inner);
        }
        for (escapes, inner) in
            [(plain, r"\/"), (plain, r"\u00e9"), (ascii, r"\u00E9"), (plain, r"\ud800"), (ascii, "é")]
        {
            assert_eq!(escapes.unescape(inner), None, "{inner}");
        }
    }
}
