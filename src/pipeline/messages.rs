//! Messages -> what to change in them: first the repeats between messages, then the pipeline on each tool result.
//!
//! Only tool results are ever replaced, and only by a reference to a copy that stays in sight before them. An edited re-read is
//! not a repeat: it becomes the difference to the earlier copy where that is much shorter. Images of tool results become
//! smaller.

use std::collections::HashMap;
use std::ops::Range;

use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};
use serde_json::{Map, Value};
use xxhash_rust::xxh3::xxh3_128;

use super::engine::label;
use super::images::{patch_images, shrink_block};
use super::measure::saving;
use super::repeats::Lines;
use super::restore::quote;
use super::{CompressOptions, Edit, FusionEngine, StageOptions, StageReport};
use crate::config::{Encoding, Preset};
use crate::content::Hints;
use crate::error::{Error, Result};
use crate::reference::{Marker, Original, SHORT_ID_DIGITS};
use crate::tokens;
use crate::tokens::vision::Provider;
use crate::transcript::{self, Kind, Patch, Rewrite, Role, Transcript};

/// Shorter blocks are not compared with others, in bytes.
const BLOCK_MIN_BYTES: usize = 160;

/// How a conversation is compressed.
#[derive(Debug, Clone, PartialEq)]
pub struct MessagesOptions {
    /// For each block; its hints and role are set from the message.
    pub compress: CompressOptions,
    /// Whose blocks go through the pipeline.
    pub roles: Vec<Role>,
    /// Whose rule counts the images.
    pub provider: Provider,
}

impl Default for MessagesOptions {
    fn default() -> Self {
        Self { compress: CompressOptions::default(), roles: vec![Role::Tool], provider: Provider::default() }
    }
}

impl MessagesOptions {
    /// Reads the options of `compressMessages()` as JavaScript passes them: those of `compress()`, `roles` and `model`.
    ///
    /// # Errors
    /// [`Error::BadArgument`] for an unknown key or a bad value.
    pub fn from_json(options: &Map<String, Value>) -> Result<(Self, StageOptions)> {
        let mut options = options.clone();
        let mut read = Self::default();
        if let Some(roles) = options.remove("roles") {
            let role = |word: &Value| match word.as_str() {
                Some("system") => Some(Role::System),
                Some("assistant") => Some(Role::Assistant),
                Some("tool") => Some(Role::Tool),
                _ => None,
            };
            let known = roles.as_array().and_then(|roles| roles.iter().map(role).collect());
            read.roles = known.ok_or_else(|| {
                Error::bad_argument("roles", &roles, "an array of \"system\", \"assistant\" and \"tool\"")
            })?;
        }
        if let Some(model) = options.remove("model") {
            let name = model.as_str().ok_or_else(|| Error::bad_argument("model", &model, "the name of a model"))?;
            read.provider = Provider::of_model(name);
        }
        let (compress, stages) = CompressOptions::from_json(&options)?;
        read.compress = compress;
        Ok((read, stages))
    }
}

/// A compressed conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct CompressedMessages {
    /// What to change.
    pub rewrite: Rewrite,
    /// What must be stored before the change may be shown; each once.
    pub originals: Vec<Original>,
    /// One row for each block that changed, in order.
    pub blocks: Vec<BlockReport>,
    /// Tokens of the blocks that were looked at.
    pub tokens_before: usize,
    /// Tokens of these blocks after the change.
    pub tokens_after: usize,
}

/// What happened to one block.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockReport {
    /// Index of its message.
    pub message: usize,
    /// Index of the block among the message's blocks.
    pub block: usize,
    /// What was done.
    pub action: BlockAction,
    /// Tokens before.
    pub tokens_before: usize,
    /// Tokens after.
    pub tokens_after: usize,
    /// The pipeline's rows; none for a block that was replaced as a whole.
    pub stages: Vec<StageReport>,
}

/// What can happen to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockAction {
    /// The same block stands earlier; a reference stands here.
    Repeat,
    /// An earlier version stands earlier; the difference stands here.
    Delta,
    /// Lines of it stand earlier; references stand for them.
    Runs,
    /// Only the pipeline changed it.
    Compressed,
    /// It is an image, and smaller.
    Shrunk,
}

/// A text block in the conversation.
struct Block<'a> {
    message: usize,
    block: usize,
    text: &'a str,
    role: Role,
    hints: Hints,
}

impl Block<'_> {
    fn marker(&self) -> Marker {
        Marker::Repeat { message: self.message, block: self.block }
    }

    /// Words by which a reader finds it: tool and path or command, else who said it.
    fn words(&self) -> String {
        let words = match self.role {
            Role::Tool => label(&self.hints),
            Role::System => "system message".to_owned(),
            Role::User => "user message".to_owned(),
            _ => "assistant message".to_owned(),
        };
        let words = words.replace(['\n', '\r'], " ");
        quote(&words).to_owned()
    }

    /// What makes two tool results versions of one thing.
    fn source(&self) -> Option<(&str, &str)> {
        let of = self.hints.path.as_deref().or(self.hints.command.as_deref())?;
        (self.role == Role::Tool).then_some((self.hints.tool_name.as_deref().unwrap_or_default(), of))
    }
}

/// Proposes how to show a conversation in fewer tokens.
///
/// Words of users and of the system stay. Messages of any of the three shapes; what is not understood stays.
pub fn compress_messages(
    engine: &FusionEngine,
    messages: &[Value],
    options: &MessagesOptions,
    clock: &dyn Fn() -> f64,
) -> CompressedMessages {
    let transcript = Transcript::read(messages);
    let blocks = text_blocks(&transcript);
    let encoding = options.compress.encoding;
    let may_repeat = options.compress.preset != Preset::Lossless && options.roles.contains(&Role::Tool);
    let mut repeats = if may_repeat { find_repeats(&blocks, encoding) } else { HashMap::new() };
    let mut done = CompressedMessages {
        rewrite: Rewrite::default(),
        originals: Vec::new(),
        blocks: Vec::new(),
        tokens_before: 0,
        tokens_after: 0,
    };
    for (index, block) in blocks.iter().enumerate() {
        if !options.roles.contains(&block.role) {
            continue;
        }
        let (mut action, edits) = repeats.remove(&index).unwrap_or((BlockAction::Compressed, Vec::new()));
        let (text, originals, tokens, stages) = if action == BlockAction::Repeat {
            let text = edits[0].text.clone();
            let tokens = (tokens::count(block.text, encoding), tokens::count(&text, encoding));
            (text, vec![Original::text(block.text, label(&block.hints))], tokens, Vec::new())
        } else {
            let compress = CompressOptions { hints: block.hints.clone(), role: block.role, ..options.compress.clone() };
            let compressed = engine.compress_edited(block.text, &edits, &compress, clock);
            if compressed.originals.is_empty() {
                action = BlockAction::Compressed;
            }
            let tokens = (compressed.tokens_before, compressed.tokens_after);
            (compressed.text, compressed.originals, tokens, compressed.stages)
        };
        done.tokens_before += tokens.0;
        done.tokens_after += tokens.1;
        if text == block.text {
            continue;
        }
        for original in originals {
            if done.originals.iter().all(|known| known.hash != original.hash) {
                done.originals.push(original);
            }
        }
        let path = transcript.messages[block.message].blocks[block.block].path.clone();
        done.rewrite.patches.push(Patch { message: block.message, path, value: Value::String(text) });
        done.blocks.push(BlockReport {
            message: block.message,
            block: block.block,
            action,
            tokens_before: tokens.0,
            tokens_after: tokens.1,
            stages,
        });
    }
    if options.compress.preset != Preset::Lossless && options.roles.contains(&Role::Tool) {
        shrink_images(&transcript, options, &mut done);
    }
    done
}

/// Adds the images of tool results that pay when they are smaller.
///
/// A note at the end of a content moves the blocks after it, which references name by number: there, images stay.
fn shrink_images(transcript: &Transcript, options: &MessagesOptions, done: &mut CompressedMessages) {
    let mut patches = Vec::new();
    for (index, message) in transcript.messages.iter().enumerate() {
        let Some(last) = message.blocks.last().map(|block| block.path.steps()) else { continue };
        let mut shown = Vec::new();
        for (number, block) in message.blocks.iter().enumerate() {
            let content = block.path.clone().parent();
            if block.result.is_none() || !last.starts_with(content.steps()) {
                continue;
            }
            let Some(shrunk) =
                shrink_block(message.raw, block, label(&hints(block)), options.provider, options.compress.preset)
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
            });
            shown.push((&block.path, shrunk.value, note));
            if done.originals.iter().all(|known| known.hash != shrunk.original.hash) {
                done.originals.push(shrunk.original);
            }
        }
        patches.extend(patch_images(index, message.raw, &shown));
    }
    // Each shows a whole content, and the texts in it are set after that.
    done.rewrite.patches.splice(0..0, patches);
    done.blocks.sort_by_key(|row| (row.message, row.block));
}

fn text_blocks<'a>(transcript: &Transcript<'a>) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    for (message, read) in transcript.messages.iter().enumerate() {
        for (block, part) in read.blocks.iter().enumerate() {
            let Kind::Text(text) = part.kind else { continue };
            let role = if part.result.is_some() { Role::Tool } else { read.role };
            blocks.push(Block { message, block, text, role, hints: hints(part) });
        }
    }
    blocks
}

/// What the conversation says about a block.
fn hints(block: &transcript::Block) -> Hints {
    let mut hints = Hints::default();
    if let Some(result) = &block.result {
        hints.tool_name = result.tool_name.map(str::to_owned);
        hints.path = result.arguments.and_then(|arguments| arguments.file_path());
        hints.command = result.arguments.and_then(|arguments| arguments.command());
    }
    hints
}

/// For each tool result that repeats something before it: how, and the edits that say so.
fn find_repeats(blocks: &[Block], encoding: Encoding) -> HashMap<usize, (BlockAction, Vec<Edit>)> {
    let mut found = HashMap::new();
    let mut by_text: HashMap<u128, usize> = HashMap::new();
    let mut by_source: HashMap<(&str, &str), usize> = HashMap::new();
    let mut lines = Lines::default();
    let mut in_sight: Vec<(usize, Range<usize>)> = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        if block.text.len() < BLOCK_MIN_BYTES {
            continue;
        }
        let earlier = *by_text.entry(xxh3_128(block.text.as_bytes())).or_insert(index);
        let version = block.source().and_then(|source| by_source.get(&source)).copied();
        if block.role == Role::Tool && earlier < index && blocks[earlier].text == block.text {
            let first = &blocks[earlier];
            let note = format!("{} same as {}", first.marker(), first.words());
            let edit = Edit::note(0..block.text.len(), note);
            if saving(block.text, &edit, encoding) > 0 {
                found.insert(index, (BlockAction::Repeat, vec![edit]));
                continue;
            }
        } else if let Some(edit) = version.and_then(|version| delta(&blocks[version], block, encoding)) {
            found.insert(index, (BlockAction::Delta, vec![edit]));
            continue;
        }
        if let Some(source) = block.source() {
            by_source.insert(source, index);
        }
        in_sight.push((index, lines.add(block.text)));
    }
    for (index, edits) in repeated_runs(blocks, &lines, &in_sight) {
        found.insert(index, (BlockAction::Runs, edits));
    }
    found
}

/// The difference to an earlier version, where it takes less than half of the tokens.
fn delta(earlier: &Block, later: &Block, encoding: Encoding) -> Option<Edit> {
    let input = InternedInput::new(earlier.text, later.text);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let changed = (diff.count_additions() + diff.count_removals()) as usize;
    if changed * 2 > later.text.lines().count() {
        return None;
    }
    let printer = BasicLineDiffPrinter(&input.interner);
    let hunks = diff.unified_diff(&printer, UnifiedDiffConfig::default(), &input).to_string();
    let note = format!(
        "{} {}, changed since as follows:\n{}",
        earlier.marker(),
        earlier.words(),
        hunks.trim_end_matches('\n')
    );
    let edit = Edit::note(0..later.text.len(), note);
    (tokens::count(&edit.text, encoding) * 2 <= tokens::count(later.text, encoding)).then_some(edit)
}

/// For each tool result the runs of lines that stand in another block before it.
fn repeated_runs(blocks: &[Block], lines: &Lines, in_sight: &[(usize, Range<usize>)]) -> Vec<(usize, Vec<Edit>)> {
    let place = |line: usize| in_sight.partition_point(|(_, range)| range.end <= line);
    let is_tool: Vec<bool> =
        in_sight.iter().flat_map(|(index, range)| range.clone().map(|_| blocks[*index].role == Role::Tool)).collect();
    let mut found: Vec<(usize, Vec<Edit>)> = Vec::new();
    for repeat in lines.repeats(|line| is_tool[line]) {
        let (later, earlier) = (in_sight[place(repeat.lines.start)].0, &blocks[in_sight[place(repeat.earlier)].0]);
        if (blocks[later].message, blocks[later].block) == (earlier.message, earlier.block) {
            continue;
        }
        let count = repeat.lines.len();
        let unit = if count == 1 { "line" } else { "lines" };
        let first = quote(lines.text[repeat.earlier]);
        let note = format!("{} {count} {unit} as in {} from \"{first}\"", earlier.marker(), earlier.words());
        let edit = Edit::note(lines.range(&repeat.lines), note);
        match found.last_mut() {
            Some((index, edits)) if *index == later => edits.push(edit),
            _ => found.push((later, vec![edit])),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn config(port: u32) -> String {
        let lines = (0..40).map(|n| format!("    setting_{n}: int = read_setting(\"SETTING_{n}\", {})\n", n * port));
        format!("# configuration loader\nimport os\n\nclass Config:\n{}", lines.collect::<String>())
    }

    fn other_lines() -> String {
        (0..10).map(|n| format!("DEBUG probe {n} answered in {} ms\n", n * 13)).collect()
    }

    /// A conversation of calls of `read config.py` and what they gave, in each of the three shapes.
    fn shapes(results: &[String]) -> [Vec<Value>; 3] {
        let mut shapes = [vec![], vec![], vec![]];
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
        }
        shapes
    }

    fn compressed(messages: &[Value]) -> (CompressedMessages, Vec<String>) {
        let done = compress_messages(&FusionEngine::default(), messages, &MessagesOptions::default(), &|| 0.0);
        let after = done.rewrite.apply(messages);
        let shown = Transcript::read(&after);
        let results =
            shown.blocks().filter(|(_, block)| block.result.is_some()).filter_map(|(_, block)| match block.kind {
                Kind::Text(text) => Some(text.to_owned()),
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
            // The user said the first result's words first: they stay, and the result refers to them.
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
        let mixed = format!("The file was read again:\n{}{}", config(7), other_lines());
        let mut messages = shapes(&["x".to_owned(), config(7)])[0].clone();
        messages.push(json!({ "role": "toolResult", "toolCallId": "z", "toolName": "exec", "content": [{ "type": "text", "text": mixed }] }));
        let (done, shown) = compressed(&messages);
        let reference = "The file was read again:\n[[DEDUP_REF:4:0]] 44 lines as in read: config.py from \"# configuration loader\"\n";
        assert!(shown[2].starts_with(&format!("{reference}DEBUG probe 0")), "{}", shown[2]);
        assert_eq!(crate::pipeline::restore(&shown[2], &done.originals), mixed);
        assert_eq!(done.blocks[0].action, BlockAction::Runs);
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

    #[test]
    fn roles_are_read_and_users_cannot_be_asked_for() {
        let read = |options: Value| MessagesOptions::from_json(options.as_object().unwrap()).map(|(read, _)| read);
        let roles = read(json!({ "roles": ["tool", "system"], "preset": "max" })).unwrap();
        assert_eq!((roles.roles, roles.compress.preset), (vec![Role::Tool, Role::System], Preset::Max));
        assert!(
            read(json!({ "roles": ["user"] })).unwrap_err().to_string().starts_with("roles is [\"user\"]; it must be")
        );
    }
}
