//! The placeholders of results and images, in ClawSqueezer's published wording.
//!
//! A placeholder depends only on the content it replaces: an age in it would change the prompt's prefix on every turn.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::cut::{failures, last_lines, max_kept_chars};
use crate::content::cut_note::cut_text;
use crate::tokens::utf16;
use crate::transcript::{ToolResult, text_in_place};

/// The maximum number of UTF-16 units of the first line in the placeholder of a nested result, as in ClawSqueezer 1.0.
const FIRST_LINE_CHARS: usize = 80;

/// The maximum number of UTF-16 units of a header's words: its longest wording.
const HEADER_WORDS_CHARS: usize = 100;

/// The separator between the kept parts of a text.
pub(super) const GAP: &str = "\n[…]\n";

/// Returns the placeholder of a stale text of `tokens` tokens.
///
/// `nested` selects the wording for a text inside a `tool_result` block. A failed result keeps its last lines as well
/// as its head, because that is where the cause is; so does one whose last lines say that it was cut.
pub(super) fn stale_result(
    text: &str,
    tokens: usize,
    result: &ToolResult,
    nested: bool,
    preview_chars: usize,
) -> String {
    let (chars, tokens) = (utf16::thousands(utf16::len(text)), utf16::thousands(tokens));
    let header = if nested {
        let first_line = utf16::head(text.lines().next().unwrap_or_default(), FIRST_LINE_CHARS);
        format!("[tool result: {chars} chars, ~{tokens} tokens — {first_line}]")
    } else {
        format!("[tool result squeezed — was {chars} chars, ~{tokens} tokens]")
    };
    let head = utf16::head(text, preview_chars);
    let end = last_lines(text, preview_chars);
    let tells = result.is_error || failures(end).next().is_some() || !cut_text(end).notes.is_empty();
    if tells && head.len() + end.len() < text.len() && !end.is_empty() {
        format!("{header}\nPreview: {head}{GAP}{end}")
    } else {
        format!("{header}\nPreview: {head}")
    }
}

/// Returns the block that replaces an image.
pub(super) fn image(part: &Value, tokens: usize) -> Value {
    text_in_place(part, &format!("[image was here — {} tokens]", utf16::thousands(tokens)))
}

/// Returns true if a text is a placeholder written under these limits.
///
/// It must start like one and be no longer than the maximum, so that an output that quotes a placeholder is still
/// squeezed.
pub(super) fn is_placeholder(text: &str, preview_chars: usize, large_preview_chars: usize) -> bool {
    static HEADER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?x)\A\[(?:
            tool\ result\ squeezed\ —\ was\ [0-9,]+\ chars,\ ~[0-9,]+\ tokens
            | tool\ result:\ [0-9,]+\ chars,\ ~[0-9,]+\ tokens\ —\ [^\n]*
            | (large)\ result\ truncated\ —\ was\ [0-9,]+\ chars(?:,\ ~[0-9,]+\ tokens)?
            )\]\nPreview:\ ",
        )
        .expect("the header pattern is valid")
    });
    // The maximum header length: the first line twice, and its words.
    let start = utf16::head(text, 2 * FIRST_LINE_CHARS + HEADER_WORDS_CHARS);
    HEADER.captures(start).is_some_and(|found| {
        let header = utf16::len(&found[0]);
        let kept = match found.get(1) {
            Some(_) => max_kept_chars(large_preview_chars),
            None => 2 * preview_chars + utf16::len(GAP),
        };
        !utf16::exceeds(text, header + kept)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result(is_error: bool) -> ToolResult<'static> {
        ToolResult { is_error, ..ToolResult::default() }
    }

    #[test]
    fn a_failed_result_keeps_its_last_lines() {
        let text = format!("npm run build\n{}TypeError: x is not a function\n", "step\n".repeat(1000));
        for (text, is_error) in [(text.as_str(), false), (text.replace("TypeError", "Trouble").as_str(), true)] {
            let placeholder = stale_result(text, 1000, &result(is_error), false, 40);
            assert!(placeholder.contains("\nPreview: npm run build\n"), "{placeholder}");
            assert!(placeholder.ends_with(": x is not a function"), "{placeholder}");
        }
        for end in ["Segmentation fault (core dumped)", "curl: (7) connection refused", "Killed", "request timed out"] {
            let placeholder =
                stale_result(&format!("make\n{}{end}\n", "step\n".repeat(1000)), 1000, &result(false), false, 40);
            assert!(placeholder.ends_with(end), "{placeholder}");
        }
        assert!(stale_result(&text, 1000, &result(true), false, 0).ends_with("]\nPreview: "));
    }

    #[test]
    fn an_image_keeps_its_foreign_fields() {
        let part = json!({ "type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "low",
            "cache_control": { "type": "ephemeral" } });
        assert_eq!(
            image(&part, 85),
            json!({ "type": "input_text", "text": "[image was here — 85 tokens]",
            "cache_control": { "type": "ephemeral" } })
        );
    }

    #[test]
    fn own_placeholders_are_known_and_texts_that_quote_them_are_not() {
        let long = "世".repeat(3000);
        for nested in [false, true] {
            for is_error in [false, true] {
                for preview_chars in [0, 1, 200, 1000] {
                    let placeholder = stale_result(&long, 3000, &result(is_error), nested, preview_chars);
                    assert!(is_placeholder(&placeholder, preview_chars, 500), "{placeholder}");
                    let quoting = format!("{placeholder}{long}");
                    assert!(!is_placeholder(&quoting, preview_chars, 500));
                }
            }
        }
        for text in ["", "[tool result squeezed", "see [tool result squeezed — was 1 chars, ~1 tokens]\nPreview: "] {
            assert!(!is_placeholder(text, 200, 500), "{text}");
        }
    }
}
