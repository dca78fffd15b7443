//! Token costs of blocks and messages.
//!
//! Only content is counted: texts, arguments (as their JSON), tool names, images, visible thinking. The few tokens that
//! providers add for each message and role differ between them and are left out.

use serde_json::Value;

use crate::config::Encoding;
use crate::tokens::count;
use crate::tokens::vision::Provider;
use crate::transcript::{Arguments, Block, BlockKind, Image, Role, Transcript};

/// Counts tokens with one encoding and one provider's image rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meter {
    provider: Provider,
    encoding: Encoding,
}

impl Meter {
    /// Creates a meter for a model. Without a name images count by Anthropic's rule.
    pub fn new(model: Option<&str>, encoding: Encoding) -> Self {
        Self { provider: model.map_or_else(Provider::default, Provider::of_model), encoding }
    }

    /// Returns the tokens of a text.
    pub fn text(&self, text: &str) -> usize {
        count(text, self.encoding)
    }

    /// Returns the tokens of an image by the provider's rule.
    pub fn image(&self, image: &Image) -> usize {
        self.provider.base64_tokens(image.base64, image.detail)
    }

    /// Returns the tokens of a call's arguments as JSON.
    pub fn arguments(&self, arguments: &Arguments) -> usize {
        match arguments {
            Arguments::Json(json) => self.text(json),
            Arguments::Value(value) => self.text(&value.to_string()),
        }
    }

    /// Returns the tokens of all texts in a part of an unknown type.
    pub fn foreign(&self, part: &Value) -> usize {
        match part {
            Value::String(text) if !is_payload(text) => self.text(text),
            Value::Array(items) => items.iter().map(|item| self.foreign(item)).sum(),
            Value::Object(fields) => fields.values().map(|value| self.foreign(value)).sum(),
            _ => 0,
        }
    }

    /// Returns the tokens of the value at a block's path: of a call, the arguments alone; of thinking, its visible
    /// words.
    pub fn block(&self, block: &Block) -> usize {
        match &block.kind {
            BlockKind::Text(text) => self.text(text),
            BlockKind::Image(image) => self.image(image),
            BlockKind::Call(call) => self.arguments(&call.arguments),
            BlockKind::Thinking(part) => thinking_texts(part).map(|text| self.text(text)).sum(),
            BlockKind::Other(part) => self.foreign(part),
        }
    }
}

/// Returns true if a text is a file or encrypted: only the provider knows the cost of those.
fn is_payload(text: &str) -> bool {
    /// A text without a blank in its first 512 bytes is a payload. Chosen by judgement.
    const WORD_BYTES: usize = 512;
    text.len() > WORD_BYTES && !text.as_bytes()[..WORD_BYTES].iter().any(|byte| matches!(byte, b' ' | b'\n' | b'\t'))
}

/// Returns the visible words of a thinking part. Signatures and encrypted thinking are excluded: only the provider
/// knows their cost.
pub fn thinking_texts(part: &Value) -> impl Iterator<Item = &str> {
    ["thinking", "text"].into_iter().filter_map(|key| part.get(key)?.as_str())
}

/// Returns the tokens of the content of messages, as a model would be billed for it.
///
/// Thinking counts with its visible words. Signatures, encrypted thinking and files in blocks of unknown types count
/// nothing. Of rows that are no messages (compaction summaries, shell runs) the texts under `summary`, `content`,
/// `command` and `output` count.
pub fn message_tokens(messages: &[Value], model: Option<&str>, encoding: Encoding) -> usize {
    let meter = Meter::new(model, encoding);
    let text_under = |value: &Value, keys: &[&str]| -> usize {
        keys.iter().filter_map(|key| value.get(key)?.as_str()).map(|text| meter.text(text)).sum()
    };
    let transcript = Transcript::read(messages);
    let rows = transcript.messages.iter().filter(|message| message.role == Role::Other);
    let rows: usize = rows.map(|message| text_under(message.raw, &["summary", "content", "command", "output"])).sum();
    let blocks: usize = transcript
        .blocks()
        .map(|(_, block)| match &block.kind {
            BlockKind::Call(call) => meter.text(call.name) + meter.block(block),
            _ => meter.block(block),
        })
        .sum();
    rows + blocks
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tokens(messages: &Value) -> usize {
        message_tokens(messages.as_array().unwrap(), None, Encoding::O200kBase)
    }

    #[test]
    fn every_part_that_is_billed_counts_alike_in_all_shapes() {
        let words = count("hello world", Encoding::O200kBase);
        let call = count("read", Encoding::O200kBase) + count(r#"{"path":"a.rs"}"#, Encoding::O200kBase);
        let assistant = |content: Value| json!({ "role": "assistant", "content": content });
        for (message, expected) in [
            (assistant(json!("hello world")), words),
            (assistant(json!([{ "type": "text", "text": "hello world" }])), words),
            (
                assistant(
                    json!([{ "type": "thinking", "thinking": "hello world", "thinkingSignature": "AAAA".repeat(100) }]),
                ),
                words,
            ),
            (json!({ "role": "compactionSummary", "summary": "hello world" }), words),
            (
                assistant(json!([{ "type": "toolCall", "id": "c", "name": "read", "arguments": { "path": "a.rs" } }])),
                call,
            ),
            (assistant(json!([{ "type": "tool_use", "id": "c", "name": "read", "input": { "path": "a.rs" } }])), call),
            (
                json!({ "role": "assistant", "content": null, "tool_calls": [
                    { "id": "c", "function": { "name": "read", "arguments": r#"{"path":"a.rs"}"# } }] }),
                call,
            ),
            (json!({ "role": "user", "content": null }), 0),
            (json!({}), 0),
            (json!(7), 0),
        ] {
            assert_eq!(tokens(&json!([message])), expected, "{message}");
        }
    }

    #[test]
    fn the_words_of_foreign_blocks_count_and_their_files_do_not() {
        let words = count("hello world", Encoding::O200kBase);
        for block in [
            json!({ "type": "document", "source": { "type": "text", "data": "hello world" } }),
            json!({ "type": "search_result", "citations": { "enabled": true }, "content": [{ "type": "text", "text": "hello world" }] }),
            json!({ "type": "mcp_tool_result", "content": [{ "type": "text", "text": "hello world" }] }),
        ] {
            let counted = tokens(&json!([{ "role": "user", "content": [block] }]));
            assert!(counted >= words && counted < words + 8, "{counted} {block}");
        }
        let file = json!({ "type": "file", "file": { "file_data": format!("data:application/pdf;base64,{}", "JVBE".repeat(9000)) } });
        assert!(tokens(&json!([{ "role": "user", "content": [file] }])) < 8);
    }

    #[test]
    fn an_image_counts_by_its_model_not_by_its_length() {
        let messages =
            [json!({ "role": "user", "content": [{ "type": "image", "data": "A".repeat(400_000), "mimeType": "x" }] })];
        assert_eq!(
            message_tokens(&messages, Some("gemini-2.5-pro"), Encoding::O200kBase),
            crate::tokens::vision::UNREADABLE_IMAGE_TOKENS
        );
    }
}
