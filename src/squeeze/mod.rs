//! The standalone `squeeze()`: a drop-in for ClawSqueezer 1.0, pure and without a store.
//!
//! Removed content cannot be restored here: the caller keeps the originals, or uses the plugin, which does the same
//! with references. All printed and compared numbers of characters are UTF-16 code units, as in JavaScript.

mod cut;
mod heartbeat;
mod placeholder;
mod repair;

use serde_json::Value;

use crate::config::Config;
use crate::history::{Fate, FoldablePart, Meter, fates, foldable_part, is_truncated, kept_by_person, message_tokens};
use crate::plan::arguments;
use crate::transcript::{Block, BlockKind, Message, MessageSource, Patch, Rewrite, Role, Step, Transcript};

pub use repair::{RepairStats, repair_tool_pairing};

/// The statistics of one `squeeze()` call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Messages given.
    pub messages_processed: usize,
    /// Blocks replaced: results, calls and images, stale or large.
    pub blocks_evicted: usize,
    /// Tokens that are no longer sent: the removed content less its placeholders.
    pub tokens_freed: usize,
    /// Images replaced.
    pub images_evicted: usize,
    /// Texts of stale tool results replaced.
    pub tool_results_evicted: usize,
    /// Tool calls whose arguments shrank.
    pub tool_calls_evicted: usize,
    /// Heartbeats dropped, each a prompt with its answer.
    pub heartbeats_pruned: usize,
    /// Large results cut, whatever their age.
    pub large_results_truncated: usize,
}

/// Replaces stale and large content by placeholders and drops heartbeats.
///
/// Recent messages, turns with `<keep>`, words of people and the model, thinking, small blocks and the structure of
/// calls stay as they are. A placeholder costs fewer tokens than the content it replaces, is the same on every later
/// turn, and is itself never replaced. Images count by Anthropic's rule for every model: the number is printed and must
/// not change with the model.
pub fn squeeze(messages: &[Value], config: &Config) -> (Rewrite, Stats) {
    let mut stats = Stats { messages_processed: messages.len(), ..Stats::default() };
    let meter = Meter::new(None, config.encoding);
    let mut transcript = Transcript::read(messages);
    let sequence = prune_heartbeats(&mut transcript, config, &mut stats);

    let fates = fates(&transcript, config).by_message;
    let kept = kept_by_person(&transcript).blocks;
    let mut patches = Vec::new();
    for (message_index, message) in transcript.messages.iter().enumerate() {
        for (block_index, block) in message.blocks.iter().enumerate() {
            if kept.binary_search(&(message_index, block_index)).is_ok() {
                continue;
            }
            let eviction = truncate_large(message, block, config, &meter)
                .or_else(|| evict_stale(message, block, fates[message_index][block_index], config, &meter));
            if let Some(eviction) = eviction {
                stats.count(eviction.part, eviction.tokens_freed);
                patches.push(Patch { message: message_index, path: block.path.clone(), value: eviction.value });
            }
        }
    }
    (Rewrite { patches, sequence, ..Rewrite::default() }, stats)
}

/// A block's replacement.
struct Eviction {
    /// The value to set at the block's path.
    value: Value,
    /// The kind of the block; `None` for a large result.
    part: Option<FoldablePart>,
    /// Tokens saved, at least one.
    tokens_freed: usize,
}

impl Stats {
    fn count(&mut self, part: Option<FoldablePart>, tokens_freed: usize) {
        self.blocks_evicted += 1;
        self.tokens_freed += tokens_freed;
        *match part {
            None => &mut self.large_results_truncated,
            Some(FoldablePart::Result) => &mut self.tool_results_evicted,
            Some(FoldablePart::Arguments) => &mut self.tool_calls_evicted,
            Some(FoldablePart::Image) => &mut self.images_evicted,
        } += 1;
    }
}

/// Drops heartbeats from the transcript. Returns the remaining messages if any were dropped.
fn prune_heartbeats(transcript: &mut Transcript, config: &Config, stats: &mut Stats) -> Option<Vec<MessageSource>> {
    if !config.prune_heartbeats {
        return None;
    }
    let heartbeats = heartbeat::find(transcript);
    let dropped: Vec<usize> = heartbeats.prompts.iter().flat_map(|&prompt| [prompt, prompt + 1]).collect();
    stats.heartbeats_pruned = heartbeats.prompts.len();
    for &index in &dropped {
        stats.tokens_freed +=
            message_tokens(std::slice::from_ref(transcript.messages[index].raw), None, config.encoding);
    }
    let mut remaining_drops = dropped.iter().copied().peekable();
    let sequence = (0..transcript.messages.len())
        .filter(|index| remaining_drops.next_if_eq(index).is_none())
        .map(MessageSource::Keep)
        .collect();
    transcript.drop_messages(dropped.iter().copied().chain(heartbeats.pending));
    (!dropped.is_empty()).then_some(sequence)
}

/// Cuts a result of more than `largeResultThreshold` characters, unless the cut form would cost more.
fn truncate_large(message: &Message, block: &Block, config: &Config, meter: &Meter) -> Option<Eviction> {
    let BlockKind::Text(text) = block.kind else { return None };
    if !is_truncated(message, block, config) || is_placeholder(block, config) {
        return None;
    }
    let tokens = meter.text(text);
    let is_plain_string = block.path.steps().last() == Some(&Step::Key("content"));
    let truncated = cut::cut(text, tokens, is_plain_string, config.large_result_preview_chars as usize);
    let tokens_freed = tokens_saved(tokens, meter.text(&truncated))?;
    Some(Eviction { value: Value::String(truncated), part: None, tokens_freed })
}

/// Returns the placeholder of a stale block, unless it would cost as much as the block. Content cannot be restored
/// here, so superseded blocks stay until they are old.
fn evict_stale(message: &Message, block: &Block, fate: Fate, config: &Config, meter: &Meter) -> Option<Eviction> {
    let part = foldable_part(message, block)?;
    fate.permission().filter(|permission| permission.is_old)?;
    let tokens = meter.block(block);
    if (tokens as u64) < config.min_tokens_to_squeeze || is_placeholder(block, config) {
        return None;
    }
    let (value, tokens_after) = match (&block.kind, block.result) {
        (BlockKind::Text(text), Some(result)) => {
            let nested = message.role != Role::Tool;
            let text = placeholder::stale_result(text, tokens, &result, nested, config.keep_preview_chars as usize);
            let tokens_after = meter.text(&text);
            (Value::String(text), tokens_after)
        }
        (BlockKind::Image(_), _) => {
            let block = placeholder::image(block.path.follow(message.raw)?, tokens);
            let tokens_after = meter.text(block["text"].as_str().unwrap_or_default());
            (block, tokens_after)
        }
        (BlockKind::Call(call), _) => {
            let shrunk = arguments::shrink(call, config, meter, None)?;
            (shrunk.value, shrunk.tokens)
        }
        _ => return None,
    };
    let tokens_freed = tokens_saved(tokens, tokens_after)?;
    Some(Eviction { value, part: Some(part), tokens_freed })
}

fn tokens_saved(before: usize, after: usize) -> Option<usize> {
    before.checked_sub(after).filter(|&saved| saved > 0)
}

fn is_placeholder(block: &Block, config: &Config) -> bool {
    let (preview, large_preview) = (config.keep_preview_chars as usize, config.large_result_preview_chars as usize);
    matches!(block.kind, BlockKind::Text(text) if placeholder::is_placeholder(text, preview, large_preview))
}

#[cfg(test)]
mod tests {
    use image::{DynamicImage, ImageFormat};
    use serde_json::json;

    use super::*;
    use crate::tokens::utf16;
    use concertina_cases::{check, json_lines};

    fn squeezed(messages: &[Value], options: &Value) -> (Vec<Value>, Stats) {
        let (config, _) = Config::from_json(options.as_object().unwrap()).unwrap();
        let (rewrite, stats) = squeeze(messages, &config);
        (rewrite.apply(messages), stats)
    }

    fn user(text: &str) -> Value {
        json!({ "role": "user", "content": text })
    }

    fn assistant(text: &str) -> Value {
        json!({ "role": "assistant", "content": [{ "type": "text", "text": text }] })
    }

    fn call(name: &str, arguments: &Value) -> Value {
        json!({ "role": "assistant", "content": [{ "type": "toolCall", "id": "c", "name": name, "arguments": arguments }] })
    }

    fn result(content: &Value) -> Value {
        json!({ "role": "toolResult", "toolCallId": "c", "toolName": "exec", "content": content, "isError": false })
    }

    fn text_block(text: &str) -> Value {
        json!({ "type": "text", "text": text })
    }

    /// Appends this many turns of talk to the messages.
    fn then_turns(mut messages: Vec<Value>, turns: usize) -> Vec<Value> {
        for turn in 0..turns {
            messages.push(user(&format!("question {turn}")));
            messages.push(assistant("answer"));
        }
        messages
    }

    fn output(lines: usize) -> String {
        (0..lines).map(|line| format!("{line}: some words of output\n")).collect()
    }

    fn png(width: u32, height: u32) -> Value {
        let mut bytes = std::io::Cursor::new(Vec::new());
        DynamicImage::new_rgb8(width, height).write_to(&mut bytes, ImageFormat::Png).unwrap();
        let data = base64_simd::STANDARD.encode_to_string(bytes.into_inner());
        json!({ "type": "image", "data": data, "mimeType": "image/png" })
    }

    #[test]
    fn tokens_freed_is_what_is_no_longer_sent() {
        let messages = then_turns(
            vec![
                user("Read HEARTBEAT.md if it exists."),
                assistant("HEARTBEAT_OK"),
                json!({ "role": "user", "content": [text_block("look"), png(900, 800)] }),
                call("write", &json!({ "path": "a", "content": output(99) })),
                result(&json!([text_block(&output(100)), png(500, 500), text_block(&output(5000))])),
            ],
            6,
        );
        let (after, stats) = squeezed(&messages, &json!({}));
        let tokens = |messages: &[Value]| message_tokens(messages, None, Config::default().encoding);
        assert_eq!(stats.tokens_freed, tokens(&messages) - tokens(&after));
        let expected = Stats {
            messages_processed: 17,
            blocks_evicted: 5,
            tokens_freed: stats.tokens_freed,
            images_evicted: 2,
            tool_results_evicted: 1,
            tool_calls_evicted: 1,
            heartbeats_pruned: 1,
            large_results_truncated: 1,
        };
        assert_eq!(stats, expected);
    }

    #[test]
    fn an_image_counts_by_its_size() {
        let messages = then_turns(vec![json!({ "role": "user", "content": [text_block("look"), png(1000, 1000)] })], 2);
        let (after, stats) = squeezed(&messages, &json!({}));
        assert_eq!(after[0]["content"], json!([text_block("look"), text_block("[image was here — 1,334 tokens]")]));
        assert_eq!(
            stats.tokens_freed,
            1334 - Meter::new(None, Config::default().encoding).text("[image was here — 1,334 tokens]")
        );
        assert!(squeezed(&messages[..3], &json!({})).0 == messages[..3], "at age 2 it stays");
    }

    #[test]
    fn a_fresh_large_result_is_cut_and_a_fresh_image_stays() {
        let large = format!("$ build\n{}step 7 failed: disk full\n{}done\n", output(2000), output(2000));
        let image = png(2000, 2000);
        let messages = [user("go"), call("exec", &json!({})), result(&json!([text_block(&large), image]))];
        let (after, stats) = squeezed(&messages, &json!({}));
        let text = after[2]["content"][0]["text"].as_str().unwrap();
        let header = format!("[large result truncated — was {} chars, ~", utf16::thousands(large.len()));
        for part in [header.as_str(), "Preview: $ build\n", "\nstep 7 failed: disk full\n"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(text.ends_with("\ndone"), "{text}");
        assert_eq!((&after[2]["content"][1], stats.large_results_truncated), (&image, 1));
        assert_eq!(squeezed(&messages, &json!({ "largeResultThreshold": 0 })).0, messages);
        let kept = [&[user("go <keep>")], &messages[1..]].concat();
        assert_eq!(squeezed(&kept, &json!({})).0, kept);
        assert_eq!(squeezed(&then_turns(kept, 9), &json!({})).0[2]["content"][0], messages[2]["content"][0]);
        assert_eq!(squeezed(&then_turns(messages.to_vec(), 9), &json!({})).0[2]["content"][0], after[2]["content"][0]);
    }

    #[test]
    fn two_hundred_calls_in_one_turn_age() {
        let steps = (0..200).flat_map(|_| [call("exec", &json!({ "command": "x" })), result(&json!(output(100)))]);
        let messages: Vec<Value> = std::iter::once(user("go")).chain(steps).collect();
        let (after, stats) = squeezed(&messages, &json!({}));
        assert_eq!(stats.tool_results_evicted, 200 - 19);
        assert_eq!(after[messages.len() - 38..], messages[messages.len() - 38..]);
    }

    #[test]
    fn nothing_to_do_is_an_empty_rewrite() {
        for messages in
            [vec![], vec![user("hi")], vec![json!(null), json!(7), json!({})], vec![result(&json!(output(900)))]]
        {
            let (rewrite, stats) = squeeze(&messages, &Config::default());
            assert!(rewrite.is_empty());
            assert_eq!(stats, Stats { messages_processed: messages.len(), ..Stats::default() });
        }
    }

    /// The output lists the changed messages by index, or all if some were dropped, and the statistics.
    #[test]
    fn what_is_squeezed() {
        check!("squeezed", |input, options| {
            let options = if options.is_empty() { json!({}) } else { serde_json::from_str(options).unwrap() };
            let messages = json_lines(input);
            let (after, stats) = squeezed(&messages, &options);
            let is_changed =
                |(at, message): &(usize, &Value)| after.len() != messages.len() || messages[*at] != **message;
            let changed = after.iter().enumerate().filter(is_changed);
            let lines: String = changed.map(|(at, message)| format!("{at}: {message}\n")).collect();
            format!("{lines}{stats:?}")
        });
    }
}
