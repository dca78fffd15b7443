//! The standalone `squeeze()`: a drop-in for ClawSqueezer 1.0, pure and without a store.
//!
//! What leaves here is gone: the caller keeps the originals, or lets the plugin do the same with references. Every printed or
//! compared number of characters is in JavaScript's unit, the UTF-16 code unit.

mod cut;
mod excerpt;
mod heartbeat;
mod placeholder;
mod repair;

use serde_json::Value;

use crate::config::Config;
use crate::history::{Fate, FoldablePart, Meter, fates, is_cut, message_tokens, part};
use crate::plan::arguments;
use crate::transcript::{Block, BlockKind, Message, MessageSource, Patch, Rewrite, Role, Step, Transcript};

pub use repair::{RepairStats, repair_tool_pairing};

/// What `squeeze()` did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Messages given.
    pub messages_processed: usize,
    /// Blocks replaced: results, calls and images, stale or large.
    pub blocks_evicted: usize,
    /// Tokens that are no longer sent: what went, less the placeholders.
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
/// Recent messages, words of people and the model, thinking, small blocks and the structure of calls stay as they are. A
/// placeholder costs fewer tokens than what it stands for, is the same on every later turn, and is itself never replaced.
/// Images count by Anthropic's rule, whatever the model: the number is printed, and must not change with the model.
pub fn squeeze(messages: &[Value], config: &Config) -> (Rewrite, Stats) {
    let mut stats = Stats { messages_processed: messages.len(), ..Stats::default() };
    let meter = Meter::new(None, config.encoding);
    let mut transcript = Transcript::read(messages);
    let sequence = prune_heartbeats(&mut transcript, config, &mut stats);

    let fates = fates(&transcript, config);
    let mut patches = Vec::new();
    for (message_index, message) in transcript.messages.iter().enumerate() {
        for (block_index, block) in message.blocks.iter().enumerate() {
            let folded = cut_large(block, config, &meter)
                .or_else(|| fold(message, block, fates[message_index][block_index], config, &meter));
            if let Some(folded) = folded {
                stats.count(folded.part, folded.tokens_freed);
                patches.push(Patch { message: message_index, path: block.path.clone(), value: folded.value });
            }
        }
    }
    (Rewrite { patches, sequence, ..Rewrite::default() }, stats)
}

/// A block's replacement.
struct Folded {
    /// What stands at the block's path.
    value: Value,
    /// What the block was; `None` for a large result.
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

/// Drops heartbeats from the transcript; returns the messages that stay when some went.
fn prune_heartbeats(transcript: &mut Transcript, config: &Config, stats: &mut Stats) -> Option<Vec<MessageSource>> {
    if !config.prune_heartbeats {
        return None;
    }
    let found = heartbeat::find(transcript);
    let dropped: Vec<usize> = found.prompts.iter().flat_map(|&prompt| [prompt, prompt + 1]).collect();
    stats.heartbeats_pruned = found.prompts.len();
    for &index in &dropped {
        stats.tokens_freed +=
            message_tokens(std::slice::from_ref(transcript.messages[index].raw), None, config.encoding);
    }
    let mut drops = dropped.iter().copied().peekable();
    let sequence = (0..transcript.messages.len())
        .filter(|index| drops.next_if_eq(index).is_none())
        .map(MessageSource::Keep)
        .collect();
    transcript.forget(dropped.iter().copied().chain(found.pending));
    (!dropped.is_empty()).then_some(sequence)
}

/// Cuts a result of more than `largeResultThreshold` characters, unless the cut form would cost more.
fn cut_large(block: &Block, config: &Config, meter: &Meter) -> Option<Folded> {
    let BlockKind::Text(text) = block.kind else { return None };
    if !is_cut(block, config) || is_placeholder(block, config) {
        return None;
    }
    let tokens = meter.text(text);
    let is_bare = block.path.steps().last() == Some(&Step::Key("content"));
    let cut = cut::cut(text, tokens, is_bare, config.large_result_preview_chars as usize);
    let tokens_freed = saving(tokens, meter.text(&cut))?;
    Some(Folded { value: Value::String(cut), part: None, tokens_freed })
}

/// The placeholder of a stale block, unless it would cost as much as the block. What goes from here is gone, so what something later
/// holds stays until it is old.
fn fold(message: &Message, block: &Block, fate: Fate, config: &Config, meter: &Meter) -> Option<Folded> {
    let part = part(message, block)?;
    fate.may_go().filter(|may_go| may_go.is_old)?;
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
    let tokens_freed = saving(tokens, tokens_after)?;
    Some(Folded { value, part: Some(part), tokens_freed })
}

fn saving(before: usize, after: usize) -> Option<usize> {
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

    /// The messages, then so many turns of talk.
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
    fn a_stale_result_becomes_the_published_placeholder() {
        let text = output(100);
        for content in [json!(text), json!([text_block(&text)])] {
            let messages = then_turns(vec![user("go"), call("exec", &json!({})), result(&content)], 4);
            let (after, stats) = squeezed(&messages, &json!({}));
            let shown = after[2]["content"].as_str().or(after[2]["content"][0]["text"].as_str()).unwrap();
            let tokens = Meter::new(None, Config::default().encoding).text(&text);
            let header = format!("[tool result squeezed — was 2,490 chars, ~{tokens} tokens]\nPreview: ");
            assert_eq!(shown, header + &text[..200]);
            assert_eq!((stats.tool_results_evicted, stats.blocks_evicted, stats.messages_processed), (1, 1, 11));
        }
    }

    #[test]
    fn a_placeholder_is_the_same_on_every_later_turn() {
        let first = vec![
            user("go"),
            call("write", &json!({ "path": "a", "content": output(99) })),
            result(&json!(output(100))),
        ];
        let (once, _) = squeezed(&then_turns(first.clone(), 4), &json!({}));
        for turns in 5..40 {
            assert_eq!(squeezed(&then_turns(first.clone(), turns), &json!({})).0[..3], once[..3], "{turns} turns");
        }
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
    fn only_heavy_blocks_of_a_result_go_and_each_leaves_a_trace() {
        let content =
            json!([text_block("exit code 0"), text_block(&output(100)), png(20, 20), text_block(&output(200))]);
        let messages = then_turns(vec![user("go"), call("exec", &json!({})), result(&content)], 5);
        let (after, stats) = squeezed(&messages, &json!({}));
        let blocks = after[2]["content"].as_array().unwrap();
        assert_eq!((&blocks[0], &blocks[2]), (&content[0], &content[2]));
        for (at, chars) in [(1, "2,490"), (3, "5,090")] {
            let text = blocks[at]["text"].as_str().unwrap();
            assert!(text.starts_with(&format!("[tool result squeezed — was {chars} chars, ~")), "{text}");
        }
        assert_eq!(stats.tool_results_evicted, 2);
    }

    #[test]
    fn a_failed_result_keeps_its_last_lines() {
        let mut failed = result(&json!(output(300) + "the cause"));
        failed["isError"] = json!(true);
        let (after, _) = squeezed(&then_turns(vec![user("go"), failed], 5), &json!({}));
        let text = after[1]["content"].as_str().unwrap();
        assert!(text.contains("\nPreview: 0: some words") && text.ends_with("\nthe cause"), "{text}");
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
        assert_eq!(squeezed(&then_turns(messages.to_vec(), 9), &json!({})).0[2]["content"][0], after[2]["content"][0]);
    }

    #[test]
    fn a_message_that_only_carries_results_is_no_turn() {
        let mut messages = vec![user("go")];
        for id in 0..8 {
            messages.push(json!({ "role": "assistant", "content": [
                { "type": "tool_use", "id": id.to_string(), "name": "exec", "input": {} }] }));
            messages.push(json!({ "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": id.to_string(), "content": output(100) }] }));
        }
        assert_eq!(squeezed(&messages, &json!({})).0, messages);
        let (after, stats) = squeezed(&then_turns(messages, 4), &json!({}));
        let text = after[2]["content"][0]["content"].as_str().unwrap();
        assert!(text.starts_with("[tool result: 2,490 chars, ~"), "{text}");
        assert!(text.contains(" tokens — 0: some words of output]\nPreview: 0: some"), "{text}");
        assert_eq!(stats.tool_results_evicted, 8);
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
    fn shrunk_arguments_keep_their_shape_and_calls_their_identity() {
        let arguments = json!({ "path": "src/a.rs", "content": output(200), "mode": 420 });
        let as_string = arguments.to_string();
        let messages = then_turns(
            vec![
                user("go"),
                call("write", &arguments),
                json!({ "role": "assistant", "content": null, "tool_calls": [
                    { "id": "c", "type": "function", "function": { "name": "write", "arguments": as_string } }] }),
            ],
            5,
        );
        let (after, stats) = squeezed(&messages, &json!({}));
        let block = &after[1]["content"][0];
        assert_eq!((&block["type"], &block["id"], &block["name"]), (&json!("toolCall"), &json!("c"), &json!("write")));
        let shrunk = &block["arguments"];
        assert_eq!((&shrunk["path"], &shrunk["mode"]), (&arguments["path"], &arguments["mode"]));
        assert!(shrunk["content"].as_str().unwrap().starts_with("<<5,090 chars elided by concertina, never reproduce"));
        assert_eq!(after[2]["tool_calls"][0]["function"]["arguments"], json!(shrunk.to_string()));
        assert_eq!(stats.tool_calls_evicted, 2);

        let (after, _) = squeezed(&messages, &json!({ "compat": "clawsqueezer" }));
        assert_eq!(after[1]["content"][0]["arguments"], json!({ "_squeezed": true, "summary": "[write: src/a.rs]" }));
    }

    #[test]
    fn a_body_that_was_read_back_stays_until_it_is_old() {
        let messages = [
            user("go"),
            call("write", &json!({ "path": "a.rs", "content": output(100) })),
            result(&json!("ok")),
            call("read", &json!({ "path": "a.rs" })),
            result(&json!(output(100))),
        ];
        assert_eq!(squeezed(&messages, &json!({})).0, messages);
    }

    #[test]
    fn a_placeholder_never_costs_as_much_as_what_it_replaces() {
        let messages = then_turns(vec![user("go"), result(&json!(output(20))), result(&json!(" ".repeat(60_000)))], 5);
        let options =
            json!({ "minTokensToSqueeze": 50, "keepPreviewChars": 60_000, "largeResultPreviewChars": 60_000 });
        assert_eq!(squeezed(&messages, &options).0, messages);
    }

    #[test]
    fn heartbeats_go_and_age_nothing() {
        let heartbeat = [user("Read HEARTBEAT.md if it exists. Follow it strictly."), assistant("HEARTBEAT_OK")];
        let work = vec![user("go"), call("exec", &json!({})), result(&json!(output(100))), assistant("done")];
        let mut messages = work.clone();
        for _ in 0..9 {
            messages.extend(heartbeat.clone());
        }
        messages.push(heartbeat[0].clone());
        let (after, stats) = squeezed(&messages, &json!({}));
        assert_eq!(after, [work, vec![heartbeat[0].clone()]].concat());
        assert_eq!((stats.heartbeats_pruned, stats.blocks_evicted), (9, 0));
        assert_eq!(squeezed(&messages, &json!({ "pruneHeartbeats": false })).0.len(), messages.len());
    }

    #[test]
    fn a_heartbeat_that_waits_for_its_answer_ages_nothing() {
        let heartbeat = [user("[OpenClaw heartbeat poll]"), assistant("HEARTBEAT_OK")];
        let work = vec![user("go"), result(&json!(output(100))), assistant("done")];
        for (end, evicted) in [(vec![heartbeat[0].clone()], 0), (heartbeat.to_vec(), 0), (vec![user("next")], 1)] {
            let (_, stats) = squeezed(&[work.clone(), end].concat(), &json!({ "staleTurns": 1 }));
            assert_eq!(stats.tool_results_evicted, evicted);
        }
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
}
