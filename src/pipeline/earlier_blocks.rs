//! The earlier blocks of a conversation, and the choice of the best form for the next block: compressed alone, or as a
//! reference to an earlier block.
//!
//! References and comparisons use the text of earlier blocks as it is shown. The model cannot see anything else.

use std::collections::HashMap;

use imara_diff::{Algorithm, BasicLineDiffPrinter, Diff, InternedInput, UnifiedDiffConfig};
use xxhash_rust::xxh3::xxh3_128;

use super::repeats::{Lines, Repeat};
use super::restore::{is_marker_line, quote};
use super::{CompressOptions, Edit, FusionEngine, MessagesOptions, StageReport};
use crate::config::Preset;
use crate::content::Hints;
use crate::reference::{Marker, Original, find_markers};
use crate::tokens;
use crate::transcript::Role;

/// The minimum size in bytes of a block that is compared with others.
const BLOCK_MIN_BYTES: usize = 160;

/// The maximum number of earlier versions that a block is compared with.
const VERSIONS_MAX: usize = 3;

/// The kind of change of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockAction {
    /// The block was replaced by a reference to an identical earlier block.
    Repeat,
    /// The block was replaced by its difference to an earlier version.
    Delta,
    /// Some of its lines were replaced by references to the same lines in earlier blocks.
    Runs,
    /// The block was only compressed by the pipeline.
    Compressed,
    /// The image was scaled down.
    Shrunk,
}

/// A text block of the conversation.
pub(super) struct Block<'a> {
    pub(super) message: usize,
    pub(super) block: usize,
    pub(super) text: &'a str,
    pub(super) role: Role,
    pub(super) hints: Hints,
}

impl Block<'_> {
    fn marker(&self) -> Marker {
        Marker::Repeat { message: self.message, block: self.block }
    }

    /// Returns a description that helps a reader to find the block: the tool with its path or command, or else the
    /// author.
    fn words(&self) -> String {
        let words = match self.role {
            Role::Tool if self.hints == Hints::default() => "tool result".to_owned(),
            Role::Tool => self.hints.label(),
            Role::System => "system message".to_owned(),
            Role::User => "user message".to_owned(),
            _ => "assistant message".to_owned(),
        };
        let words = words.replace(['\n', '\r'], " ");
        quote(&words).to_owned()
    }

    /// Returns the tool and its path or command. Two tool results with the same source are versions of one thing.
    fn source(&self) -> Option<(&str, &str)> {
        let of = self.hints.path.as_deref().or(self.hints.command.as_deref())?;
        (self.role == Role::Tool).then_some((self.hints.tool_name.as_deref().unwrap_or_default(), of))
    }
}

/// The blocks so far, as they are shown.
///
/// Decisions about a block depend only on these blocks and the options. A form is shown only if it would not change
/// when it is compressed again, so compressing a conversation twice has no further effect.
pub(super) struct EarlierBlocks<'a> {
    engine: &'a FusionEngine,
    options: &'a MessagesOptions,
    clock: &'a dyn Fn() -> f64,
    blocks: &'a [Block<'a>],
    /// The index and shown text of each block of at least [`BLOCK_MIN_BYTES`].
    shown: Vec<(usize, String)>,
    by_text: HashMap<u128, usize>,
    by_source: HashMap<(&'a str, &'a str), Vec<usize>>,
    lines: Lines<'a>,
}

/// One form of a block, with its cost.
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) action: BlockAction,
    pub(super) tokens_before: usize,
    pub(super) tokens_after: usize,
    pub(super) stages: Vec<StageReport>,
    pub(super) originals: Vec<Original>,
}

impl<'a> EarlierBlocks<'a> {
    pub(super) fn new(
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

    /// Records the shown text of a block.
    pub(super) fn keep(&mut self, index: usize, text: &str) {
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

    /// Returns the best form of a block that stays unchanged when it is compressed again.
    pub(super) fn show(&mut self, index: usize) -> Shown {
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

    /// Returns a form that refers to earlier blocks and is shorter than the plain form.
    fn best(&mut self, index: usize, text: &str, plain: &Shown) -> Option<Shown> {
        let block = &self.blocks[index];
        let may_refer = block.role == Role::Tool && self.options.compress.preset != Preset::Lossless;
        if !may_refer || text.len() < BLOCK_MIN_BYTES {
            return None;
        }
        if let Some(repeat) = self.repeat(index, text, plain) {
            return Some(repeat);
        }
        // The difference has priority even if references to runs would cost less: it shows what was edited.
        let delta = self.delta(index, plain).map(|note| vec![Edit::note(0..text.len(), note)]);
        let forms = [(BlockAction::Delta, delta.unwrap_or_default()), (BlockAction::Runs, self.runs(text))];
        let forms = forms.into_iter().filter(|(_, edits)| !edits.is_empty());
        let mut forms = forms.map(|(action, edits)| Shown { action, ..self.compress(index, text, &edits) });
        forms.find(|form| form.tokens_after < plain.tokens_after)
    }

    /// Returns a reference to an earlier block whose shown text equals the plain form of this block.
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
            originals: vec![Original::text(text, self.blocks[index].hints.label())],
        })
    }

    /// Returns the difference to an earlier version if it takes at most half of the tokens.
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

    /// Returns edits that replace runs of lines in earlier blocks by references to them.
    fn runs(&mut self, text: &str) -> Vec<Edit> {
        let later = self.lines.add(text.to_owned());
        let repeats = self.lines.known_repeats(later);
        let edit = |repeat: Repeat| {
            let first = &self.blocks[self.shown[self.lines.text_of(repeat.earlier)].0];
            let count = repeat.lines.len();
            let unit = if count == 1 { "line" } else { "lines" };
            let (marker, words) = (first.marker(), first.words());
            let note = if self.lines.begins_text(repeat.earlier) {
                format!("{marker} first {count} {unit} of {words}")
            } else {
                format!("{marker} {count} {unit} as in {words} from \"{}\"", quote(self.lines.line(repeat.earlier)))
            };
            Edit::note(self.lines.range(&repeat.lines), note)
        };
        let edits = repeats.into_iter().map(edit).collect();
        self.lines.pop();
        edits
    }
}

/// Returns the changed lines as a unified diff with one context line and no file names. Returns `None` if nothing or
/// more than half of the lines changed.
fn hunks(earlier: &str, later: &str) -> Option<String> {
    let input = InternedInput::new(earlier, later);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let changed = (diff.count_additions() + diff.count_removals()) as usize;
    if changed == 0 || changed * 2 > later.lines().count() {
        return None;
    }
    let printer = BasicLineDiffPrinter(&input.interner);
    let mut config = UnifiedDiffConfig::default();
    // One context line is enough because the reader can see the whole earlier text.
    config.context_len(1);
    let hunks = diff.unified_diff(&printer, config, &input).to_string();
    Some(hunks.trim_end_matches('\n').to_owned())
}

/// Returns a shown text without the marker line at its end.
fn without_marker_line(text: &str) -> &str {
    match text.rsplit_once('\n') {
        Some((rest, line)) if is_marker_line(line) => rest,
        _ => text,
    }
}

/// Returns true if a text is the note that [`EarlierBlocks`] writes in place of a repeat.
pub(super) fn is_repeat(text: &str) -> bool {
    let first = text.starts_with("[[DEDUP_REF:").then(|| find_markers(text).next()).flatten();
    first.is_some_and(|(range, marker)| {
        range.start == 0 && matches!(marker, Marker::Repeat { .. }) && text[range.end..].starts_with(" same as ")
    })
}
