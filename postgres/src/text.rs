//! Converts text to SQL's TEXT, which cannot hold U+0000, and back.
//!
//! U+0000 becomes U+0001 and `0`, and U+0001 becomes U+0001 and `1`. All other text is stored unchanged, so that people
//! can read it.

use std::borrow::Cow;

use concertina_base::reference::ContentHash;

/// Returns the stored form of a text.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte > 1) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('\u{1}', "\u{1}1").replace('\0', "\u{1}0"))
}

/// Returns the text of a stored form.
pub(crate) fn unescaped(text: String) -> String {
    if !text.contains('\u{1}') {
        return text;
    }
    text.replace("\u{1}0", "\0").replace("\u{1}1", "\u{1}")
}

/// Returns the SHA-256 by which a name is looked up.
pub(crate) fn key(name: &str) -> Vec<u8> {
    ContentHash::of(name.as_bytes()).0.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back_and_none_is_stored_with_a_nul() {
        for text in ["", "a", "\0", "\u{1}", "\u{1}0", "\0\u{1}", "\u{1}\0\u{1}1\u{1}\u{1}0", "漢\0字", "\u{1}1\u{1}0"]
        {
            let stored = escaped(text);
            assert!(!stored.contains('\0'));
            assert_eq!(unescaped(stored.into_owned()), text);
        }
    }
}
