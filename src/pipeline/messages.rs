//! Messages -> what to change in them: first the repeats between messages, then the pipeline on each tool result.
//!
//! Only tool results are ever replaced, and only by a reference to a copy that stays in sight before them. An edited re-read is
//! not a repeat: it becomes the difference to the earlier copy where that is much shorter.

use std::collections::HashMap;

use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};
use serde_json::{Map, Value};
use xxhash_rust::xxh3::xxh3_128;

use super::engine::label;
use super::repeats::{Lines, Repeat};
use super::restore::{is_marker_line, quote};
use super::{CompressOptions, Edit, FusionEngine, StageOptions, StageReport};
use crate::config::Preset;
use crate::content::Hints;
use crate::error::{Error, Result};
use crate::reference::{Marker, Original};
use crate::tokens;
use crate::transcript::{Kind, Patch, Rewrite, Role, Transcript};

/// Shorter blocks are not compared with others, in bytes.
const BLOCK_MIN_BYTES: usize = 160;

/// How many earlier versions of a thing a block is compared with.
const VERSIONS_MAX: usize = 3;

/// How a conversation is compressed.
#[derive(Debug, Clone, PartialEq)]
pub struct MessagesOptions {
    /// For each block; its hints and role are set from the message.
    pub compress: CompressOptions,
    /// Whose blocks go through the pipeline.
    pub roles: Vec<Role>,
}

impl Default for MessagesOptions {
    fn default() -> Self {
        Self { compress: CompressOptions::default(), roles: vec![Role::Tool] }
    }
}

impl MessagesOptions {
    /// Reads the options of `compressMessages()` as JavaScript passes them: those of `compress()`, and `roles`.
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
            Role::Tool if self.hints == Hints::default() => "tool result".to_owned(),
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
    let mut sight = Sight::new(engine, options, clock, &blocks);
    let mut done = CompressedMessages {
        rewrite: Rewrite::default(),
        originals: Vec::new(),
        blocks: Vec::new(),
        tokens_before: 0,
        tokens_after: 0,
    };
    for (index, block) in blocks.iter().enumerate() {
        if !options.roles.contains(&block.role) {
            sight.keep(index, block.text);
            continue;
        }
        let shown = sight.show(index);
        sight.keep(index, &shown.text);
        done.tokens_before += shown.tokens_before;
        done.tokens_after += shown.tokens_after;
        if shown.text == block.text {
            continue;
        }
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
        });
        let path = transcript.messages[block.message].blocks[block.block].path.clone();
        done.rewrite.patches.push(Patch { message: block.message, path, value: Value::String(shown.text) });
    }
    done
}

fn text_blocks<'a>(transcript: &Transcript<'a>) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    for (message, read) in transcript.messages.iter().enumerate() {
        for (block, part) in read.blocks.iter().enumerate() {
            let Kind::Text(text) = part.kind else { continue };
            let role = if part.result.is_some() { Role::Tool } else { read.role };
            let mut hints = Hints::default();
            if let Some(result) = &part.result {
                hints.tool_name = result.tool_name.map(str::to_owned);
                hints.path = result.arguments.and_then(|arguments| arguments.file_path());
                hints.command = result.arguments.and_then(|arguments| arguments.command());
            }
            blocks.push(Block { message, block, text, role, hints });
        }
    }
    blocks
}

/// What a reader has in sight: the blocks so far, as they are shown.
///
/// Every decision on a block depends on nothing else, and a form that would be decided on differently when it came in from
/// outside is not shown: so going over a conversation twice changes nothing more.
struct Sight<'a> {
    engine: &'a FusionEngine,
    options: &'a MessagesOptions,
    clock: &'a dyn Fn() -> f64,
    blocks: &'a [Block<'a>],
    /// Blocks of some size, as they are shown.
    shown: Vec<(usize, String)>,
    by_text: HashMap<u128, usize>,
    by_source: HashMap<(&'a str, &'a str), Vec<usize>>,
    lines: Lines<'a>,
}

/// A form of a block.
struct Shown {
    text: String,
    action: BlockAction,
    tokens_before: usize,
    tokens_after: usize,
    stages: Vec<StageReport>,
    originals: Vec<Original>,
}

impl<'a> Sight<'a> {
    fn new(
        engine: &'a FusionEngine,
        options: &'a MessagesOptions,
        clock: &'a dyn Fn() -> f64,
        blocks: &'a [Block<'a>],
    ) -> Self {
        Self {
            engine,
            options,
            clock,
            blocks,
            shown: Vec::new(),
            by_text: HashMap::new(),
            by_source: HashMap::new(),
            lines: Lines::default(),
        }
    }

    /// Remembers how a block is shown.
    fn keep(&mut self, index: usize, text: &str) {
        if text.len() < BLOCK_MIN_BYTES {
            return;
        }
        let place = self.shown.len();
        self.by_text.entry(xxh3_128(text.as_bytes())).or_insert(place);
        if let Some(source) = self.blocks[index].source() {
            self.by_source.entry(source).or_default().push(place);
        }
        let lines = self.lines.add(text.to_owned());
        self.lines.learn(lines);
        self.shown.push((index, text.to_owned()));
    }

    /// The best form of a block that would stay if it came in as a block.
    fn show(&mut self, index: usize) -> Shown {
        let text = self.blocks[index].text;
        let plain = self.compress(index, text, &[]);
        let best = self.best(index, text, &plain);
        for form in best.into_iter().chain([plain]) {
            if form.text == text {
                return form;
            }
            let again = self.compress(index, &form.text, &[]);
            let changes = self.best(index, &form.text, &again).is_some_and(|again| again.text != form.text);
            if again.text == form.text && !changes {
                return form;
            }
        }
        let tokens = tokens::count(text, self.options.compress.encoding);
        Shown {
            text: text.to_owned(),
            action: BlockAction::Compressed,
            tokens_before: tokens,
            tokens_after: tokens,
            stages: Vec::new(),
            originals: Vec::new(),
        }
    }

    fn compress(&self, index: usize, text: &str, edits: &[Edit]) -> Shown {
        let block = &self.blocks[index];
        let options = CompressOptions { hints: block.hints.clone(), role: block.role, ..self.options.compress.clone() };
        let compressed = self.engine.compress_edited(text, edits, &options, self.clock);
        Shown {
            text: compressed.text,
            action: BlockAction::Compressed,
            tokens_before: compressed.tokens_before,
            tokens_after: compressed.tokens_after,
            stages: compressed.stages,
            originals: compressed.originals,
        }
    }

    /// The form that refers to blocks in sight and is shorter than the plain form.
    fn best(&mut self, index: usize, text: &str, plain: &Shown) -> Option<Shown> {
        let block = &self.blocks[index];
        let may_refer = block.role == Role::Tool && self.options.compress.preset != Preset::Lossless;
        if !may_refer || text.len() < BLOCK_MIN_BYTES {
            return None;
        }
        if let Some(repeat) = self.repeat(index, text, plain) {
            return Some(repeat);
        }
        // An edited re-read is no repeat: the change comes first, whatever costs least.
        let delta = self.delta(index, plain).map(|note| vec![Edit::note(0..text.len(), note)]);
        let forms = [(BlockAction::Delta, delta.unwrap_or_default()), (BlockAction::Runs, self.runs(text))];
        let forms = forms.into_iter().filter(|(_, edits)| !edits.is_empty());
        let mut forms = forms.map(|(action, edits)| Shown { action, ..self.compress(index, text, &edits) });
        forms.find(|form| form.tokens_after < plain.tokens_after)
    }

    /// A reference to a block that is shown as this one would be.
    fn repeat(&self, index: usize, text: &str, plain: &Shown) -> Option<Shown> {
        let earlier = *self.by_text.get(&xxh3_128(plain.text.as_bytes()))?;
        let (earlier, shown) = &self.shown[earlier];
        let first = &self.blocks[*earlier];
        let note = format!("{} same as {}", first.marker(), first.words());
        let tokens_after = tokens::count(&note, self.options.compress.encoding);
        let pays = *shown == plain.text && tokens_after < plain.tokens_after;
        pays.then(|| Shown {
            text: note,
            action: BlockAction::Repeat,
            tokens_before: plain.tokens_before,
            tokens_after,
            stages: Vec::new(),
            originals: vec![Original::text(text, label(&self.blocks[index].hints))],
        })
    }

    /// The difference to an earlier version in sight, where it takes less than half of the tokens.
    fn delta(&self, index: usize, plain: &Shown) -> Option<String> {
        let versions = self.by_source.get(&self.blocks[index].source()?)?;
        let deltas = versions.iter().rev().take(VERSIONS_MAX).filter_map(|&place| {
            let (earlier, shown) = &self.shown[place];
            let hunks = hunks(without_marker_line(shown), without_marker_line(&plain.text))?;
            let first = &self.blocks[*earlier];
            let note = format!("{} {}, changed since as follows:\n{hunks}", first.marker(), first.words());
            let tokens = tokens::count(&note, self.options.compress.encoding);
            (tokens * 2 <= plain.tokens_after).then_some((tokens, note))
        });
        deltas.min_by_key(|(tokens, _)| *tokens).map(|(_, note)| note)
    }

    /// References in place of the runs of lines that stand in blocks in sight.
    fn runs(&mut self, text: &str) -> Vec<Edit> {
        let later = self.lines.add(text.to_owned());
        let repeats = self.lines.known_repeats(later);
        let edit = |repeat: Repeat| {
            let first = &self.blocks[self.shown[self.lines.text_of(repeat.earlier)].0];
            let count = repeat.lines.len();
            let unit = if count == 1 { "line" } else { "lines" };
            let from = quote(self.lines.line(repeat.earlier));
            let note = format!("{} {count} {unit} as in {} from \"{from}\"", first.marker(), first.words());
            Edit::note(self.lines.range(&repeat.lines), note)
        };
        let edits = repeats.into_iter().map(edit).collect();
        self.lines.pop();
        edits
    }
}

/// The changed lines with three around them, as a unified diff without file names; `None` when more than half changed.
fn hunks(earlier: &str, later: &str) -> Option<String> {
    let input = InternedInput::new(earlier, later);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let changed = (diff.count_additions() + diff.count_removals()) as usize;
    if changed == 0 || changed * 2 > later.lines().count() {
        return None;
    }
    let printer = BasicLineDiffPrinter(&input.interner);
    let hunks = diff.unified_diff(&printer, UnifiedDiffConfig::default(), &input).to_string();
    Some(hunks.trim_end_matches('\n').to_owned())
}

/// A shown text without the last line that says where its original is.
fn without_marker_line(text: &str) -> &str {
    match text.rsplit_once('\n') {
        Some((rest, line)) if is_marker_line(line) => rest,
        _ => text,
    }
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
