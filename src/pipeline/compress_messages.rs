//! Messages -> the changes that shorten them: repeats between messages first, then the pipeline on each tool result.
//!
//! Only tool results are replaced by references, and only if the copy that is referred to stands earlier and stays
//! visible. A file that was edited and read again is not a repeat: it becomes the difference to the earlier copy if
//! that is much shorter. Images in tool results are scaled down.

use serde_json::Value;

use super::earlier_blocks::{Block, BlockAction, EarlierBlocks};
use super::images::{patch_images, shrink_block};
use super::{FusionEngine, MessagesOptions, StageReport};
use crate::config::Preset;
use crate::content::Hints;
use crate::reference::{ContentHash, Original, SHORT_ID_DIGITS};
use crate::transcript::{self, BlockKind, Patch, Rewrite, Role, Transcript, is_cache_point};

/// A compressed conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CompressedMessages {
    /// The changes to apply to the messages.
    pub rewrite: Rewrite,
    /// The originals that must be stored before the changed messages may be shown, without duplicates.
    pub originals: Vec<Original>,
    /// One row for each changed block, in order.
    pub blocks: Vec<BlockReport>,
    /// The number of tokens of all blocks that were examined.
    pub tokens_before: usize,
    /// The number of tokens of these blocks after the change.
    pub tokens_after: usize,
}

/// The change of one block.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockReport {
    /// The index of the message.
    pub message: usize,
    /// The index of the block in its message.
    pub block: usize,
    /// The kind of change.
    pub action: BlockAction,
    /// The number of tokens before the change.
    pub tokens_before: usize,
    /// The number of tokens after the change.
    pub tokens_after: usize,
    /// The rows of the pipeline's stages; empty for a block that was replaced as a whole.
    pub stages: Vec<StageReport>,
    /// The hash of the block's original; `None` if the block can be restored from its text alone.
    pub original: Option<ContentHash>,
}

/// Proposes changes that let a conversation use fewer tokens.
///
/// Accepts messages of all four shapes. Text of users and of the system is not changed, nor is a block with a
/// prompt-cache breakpoint. Blocks of unknown form are not changed either.
pub fn compress_messages(
    engine: &FusionEngine,
    messages: &[Value],
    options: &MessagesOptions,
    clock: &dyn Fn() -> f64,
) -> CompressedMessages {
    let transcript = Transcript::read(messages);
    let blocks = text_blocks(&transcript);
    let mut earlier = EarlierBlocks::new(engine, options, clock, &blocks);
    let mut done = CompressedMessages::default();
    for (index, block) in blocks.iter().enumerate() {
        let at = &transcript.messages[block.message];
        if !options.roles.contains(&block.role) || !may_rewrite(at, &at.blocks[block.block]) {
            earlier.keep(index, block.text);
            continue;
        }
        let shown = earlier.show(index);
        earlier.keep(index, &shown.text);
        done.tokens_before += shown.tokens_before;
        done.tokens_after += shown.tokens_after;
        if shown.text == block.text {
            continue;
        }
        let original = shown.originals.first().map(|original| original.hash);
        for original in shown.originals {
            if done.originals.iter().all(|known| known.hash != original.hash) {
                done.originals.push(original);
            }
        }
        done.blocks.push(BlockReport {
            message: block.message,
            block: block.block,
            action: shown.action,
            tokens_before: shown.tokens_before,
            tokens_after: shown.tokens_after,
            stages: shown.stages,
            original,
        });
        let path = transcript.messages[block.message].blocks[block.block].path.clone();
        done.rewrite.patches.push(Patch { message: block.message, path, value: Value::String(shown.text) });
    }
    if options.compress.preset != Preset::Lossless && options.roles.contains(&Role::Tool) {
        shrink_images(&transcript, options, &mut done);
    }
    done
}

/// Adds the images of tool results that save tokens or bytes when they are scaled down.
///
/// The note about an image is appended to its content. If other blocks follow that content, it would move them, and
/// references name blocks by number; such images are left unchanged.
fn shrink_images(transcript: &Transcript, options: &MessagesOptions, done: &mut CompressedMessages) {
    let mut patches = Vec::new();
    for (index, message) in transcript.messages.iter().enumerate() {
        let Some(last) = message.blocks.last().map(|block| block.path.steps()) else { continue };
        let mut shown = Vec::new();
        for (number, block) in message.blocks.iter().enumerate() {
            let content = block.path.clone().parent();
            if block.result.is_none() || !last.starts_with(content.steps()) || !may_rewrite(message, block) {
                continue;
            }
            let Some(shrunk) =
                shrink_block(message.raw, block, hints(block).label(), options.provider, options.compress.preset)
            else {
                continue;
            };
            let id = shrunk.original.hash.to_ref_id(SHORT_ID_DIGITS);
            let Some((note, tokens_after)) = shrunk.note(&id, options.compress.encoding) else { continue };
            done.tokens_before += shrunk.tokens_before;
            done.tokens_after += tokens_after;
            done.blocks.push(BlockReport {
                message: index,
                block: number,
                action: BlockAction::Shrunk,
                tokens_before: shrunk.tokens_before,
                tokens_after,
                stages: Vec::new(),
                original: Some(shrunk.original.hash),
            });
            shown.push((&block.path, shrunk.value, note));
            if done.originals.iter().all(|known| known.hash != shrunk.original.hash) {
                done.originals.push(shrunk.original);
            }
        }
        patches.extend(patch_images(index, message.raw, &shown));
    }
    // Each of these patches replaces a whole content, so they must precede the patches of the texts in it.
    done.rewrite.patches.splice(0..0, patches);
    done.blocks.sort_by_key(|row| (row.message, row.block));
}

/// Returns true if the block is not parsed by a script of the model's and has no cache breakpoint.
fn may_rewrite(message: &transcript::Message, block: &transcript::Block) -> bool {
    !block.result.is_some_and(|result| result.is_for_script) && !is_cache_point(message.raw, &block.path)
}

fn text_blocks<'a>(transcript: &Transcript<'a>) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    for (message, read) in transcript.messages.iter().enumerate() {
        for (block, part) in read.blocks.iter().enumerate() {
            // For a text with lone surrogates, the stages would restore its substitute and not the exact text.
            let (BlockKind::Text(text), None) = (part.kind, &part.exact) else { continue };
            let role = if part.result.is_some() { Role::Tool } else { read.role };
            blocks.push(Block { message, block, text, role, hints: hints(part) });
        }
    }
    blocks
}

/// Returns what the conversation tells about a block.
fn hints(block: &transcript::Block) -> Hints {
    block.result.as_ref().map(Hints::from).unwrap_or_default()
}
#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::config::Preset;

    use super::*;
    use crate::pipeline::{FusionPipeline, StageOptions};

    fn config(port: u32) -> String {
        let lines = (0..40).map(|n| format!("    setting_{n}: int = read_setting(\"SETTING_{n}\", {})\n", n * port));
        format!("# configuration loader\nimport os\n\nclass Config:\n{}", lines.collect::<String>())
    }

    fn other_lines() -> String {
        (0..10).map(|n| format!("DEBUG probe {n} answered in {} ms\n", n * 13)).collect()
    }

    /// Returns calls of `read config.py` with their results, in each of the four message shapes.
    fn shapes(results: &[String]) -> [Vec<Value>; 4] {
        let mut shapes = [vec![], vec![], vec![], vec![]];
        for shape in &mut shapes {
            shape.push(json!({ "role": "user", "content": results[0] }));
        }
        for (index, text) in results.iter().enumerate() {
            let (id, arguments) = (format!("c{index}"), json!({ "path": "config.py" }));
            shapes[0].extend([
                json!({ "role": "assistant", "content": [{ "type": "toolCall", "id": id, "name": "read", "arguments": arguments }] }),
                json!({ "role": "toolResult", "toolCallId": id, "toolName": "read", "x": index,
                        "content": [{ "type": "text", "text": text, "y": 1 }] }),
            ]);
            shapes[1].extend([
                json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": id, "name": "read", "input": arguments }] }),
                json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": text }] }),
            ]);
            shapes[2].extend([
                json!({ "role": "assistant", "content": null, "tool_calls": [
                    { "id": id, "type": "function", "function": { "name": "read", "arguments": arguments.to_string() } }] }),
                json!({ "role": "tool", "tool_call_id": id, "content": text }),
            ]);
            shapes[3].extend([
                json!({ "type": "function_call", "call_id": id, "name": "read", "arguments": arguments.to_string() }),
                json!({ "type": "function_call_output", "call_id": id, "output": text }),
            ]);
        }
        shapes
    }

    /// Compresses messages without any stages, so that only repeats are replaced.
    fn compressed(messages: &[Value]) -> (CompressedMessages, Vec<String>) {
        let alone = FusionPipeline::only(Vec::new(), &StageOptions::default()).expect("no stage has no name twice");
        let done = compress_messages(&FusionEngine::new(alone), messages, &MessagesOptions::default(), &|| 0.0);
        let after = done.rewrite.apply(messages);
        let shown = Transcript::read(&after);
        let results =
            shown.blocks().filter(|(_, block)| block.result.is_some()).filter_map(|(_, block)| match block.kind {
                BlockKind::Text(text) => Some(text.to_owned()),
                _ => None,
            });
        (done, results.collect())
    }

    #[test]
    fn a_repeated_result_refers_to_the_first_copy_in_every_shape() {
        let results = ["other ".repeat(60), config(7), config(7)];
        for messages in shapes(&results) {
            let (done, shown) = compressed(&messages);
            assert_eq!(shown[1], results[1]);
            assert_eq!(shown[2], "[[DEDUP_REF:4:0]] same as read: config.py");
            let stored: Vec<&[u8]> = done.originals.iter().map(|original| &*original.bytes).collect();
            assert_eq!(stored, [results[0].as_bytes(), results[2].as_bytes()]);
            assert!(done.tokens_after < done.tokens_before);
            // The user's message already contains the text of the first result, so the result refers to it.
            assert_eq!(shown[0], "[[DEDUP_REF:0:0]] same as user message");
        }
    }

    #[test]
    fn an_edited_read_shows_the_change() {
        let edited = config(7).replace("setting_9: int", "setting_9: str");
        let results = ["x".to_owned(), config(7), edited.clone()];
        for messages in shapes(&results) {
            let (done, shown) = compressed(&messages);
            assert!(
                shown[2].starts_with("[[DEDUP_REF:4:0]] read: config.py, changed since as follows:\n@@ "),
                "{}",
                shown[2]
            );
            assert!(
                shown[2].contains("\n-    setting_9: int") && shown[2].contains("\n+    setting_9: str"),
                "{}",
                shown[2]
            );
            assert_eq!(crate::pipeline::restore(&shown[2], &done.originals), edited);
            assert_eq!(done.blocks[0].action, BlockAction::Delta);
        }
    }

    #[test]
    fn lines_of_an_earlier_block_become_a_reference_and_the_rest_stays() {
        let config = config(7);
        let (_, rest) = config.split_once('\n').unwrap();
        let second = rest.lines().next().unwrap().trim();
        for (again, reference) in [
            (config.as_str(), "first 44 lines of read: config.py".to_owned()),
            (rest, format!("43 lines as in read: config.py from \"{second}\"")),
        ] {
            let mixed = format!("The file was read again:\n{again}{}", other_lines());
            let mut messages = shapes(&["x".to_owned(), config.clone()])[0].clone();
            messages.push(json!({ "role": "toolResult", "toolCallId": "z", "toolName": "exec", "content": [{ "type": "text", "text": mixed }] }));
            let (done, shown) = compressed(&messages);
            let expected = format!("The file was read again:\n[[DEDUP_REF:4:0]] {reference}\nDEBUG probe 0");
            assert!(shown[2].starts_with(&expected), "{expected}\n{}", shown[2]);
            assert_eq!(crate::pipeline::restore(&shown[2], &done.originals), mixed);
            assert_eq!(done.blocks[0].action, BlockAction::Runs);
        }
    }

    #[test]
    fn the_lossless_preset_leaves_repeats_alone() {
        let messages = shapes(&["x".to_owned(), config(7), config(7)])[0].clone();
        let mut options = MessagesOptions::default();
        options.compress.preset = Preset::Lossless;
        let done = compress_messages(&FusionEngine::default(), &messages, &options, &|| 0.0);
        assert!(done.originals.is_empty());
        assert!(done.blocks.iter().all(|block| block.action == BlockAction::Compressed));
    }
}
