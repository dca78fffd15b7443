//! The way back for whole messages: originals in the place of what stands for them.
//!
//! Where a session is named, its ledger alone says which blocks are ours: those that stand where their row says, and,
//! where the history was changed since, as many others with a row's words as rows are left. Otherwise the markers do,
//! in the places where this program prints them. Words of people are never ours, but for a part of a message that
//! stands for an image.
//!
//! Without a session an image comes back in the form of the messages' shape, without what left with it (a level of
//! detail).

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::birth::is_cut_at;
use super::fetch::AT_ONCE;
use super::identity::{Past, Placed};
use super::memo::hash_of;
use super::placeholder::{cut_of, without_cut};
use super::replacement::Kept;
use super::replay::{Decided, Row};
use super::thinking::{Return, returns};
use super::{Engine, FETCH_TOOL};
use crate::error::Result;
use crate::pipeline::restore;
use crate::reference::{ContentHash, Marker, Media, Original, RefId, SHORT_ID_DIGITS, find_markers};
use crate::store::{BlockKey, Ledger, Millis, Printed, Scope};
use crate::transcript::{
    Arguments, Block, Kind, Patch, Path, Rewrite, Step, ToolResult, Transcript, has_opaque, image_in_place, image_part,
    shape_at, text_value, with_payload,
};

/// What [`Engine::unfold`] did.
#[derive(Debug, Default)]
pub struct Unfolded {
    /// What to change.
    pub rewrite: Rewrite,
    /// How many blocks show their originals again.
    pub unfolded: u64,
    /// Ids that blocks name and that lead to nothing: expired, purged, or another agent's. Also those of thinking that
    /// has left messages like these, where the place of a message is not the one that it had.
    pub missing: Vec<RefId>,
}

/// What a block stands for.
struct Meaning {
    original: RefId,
    /// For all of it; a copy may be a part.
    is_whole: bool,
    /// What left with an image.
    frame: Option<Value>,
    /// Whether the session was shown it, where one is named. What it was not shown is somebody's own, whatever it
    /// names.
    is_ours: bool,
}

/// The work on one list of messages.
struct Unfolding<'a> {
    engine: &'a Engine,
    agent_id: &'a str,
    messages: &'a [Value],
    now: Millis,
    /// Whether a session is named.
    has_ledger: bool,
    fetched: HashMap<RefId, Option<Original>>,
    patches: Vec<Patch>,
    /// Notes to be taken out: message, content, index.
    notes: Vec<(usize, Path, usize)>,
    /// Parts to be put back: message, content, the index that each had, the part.
    returns: Vec<(usize, Path, usize, Value)>,
    unfolded: u64,
    missing: Vec<RefId>,
}

impl Engine {
    /// Puts originals back in the place of placeholders, in messages of any shape: those of a session, or, without one, those that
    /// the markers in the messages lead this agent to.
    ///
    /// Thinking that left comes back to the messages of a session only: nothing stands in its place.
    /// What was fetched stays as it is, unless it stands for a whole original. What leads to nothing stays, too, and is named.
    ///
    /// # Errors
    /// Those of the store.
    pub fn unfold(&self, scope: Option<&Scope>, agent_id: &str, messages: &[Value], now: Millis) -> Result<Unfolded> {
        let ledger = scope.map(|scope| self.store.ledger(scope)).transpose()?;
        let decided =
            ledger.as_ref().map(|ledger| Decided::of(ledger, || self.store.location(), &self.memo)).transpose()?;
        let mut work = Unfolding {
            engine: self,
            agent_id,
            messages,
            now,
            has_ledger: ledger.is_some(),
            fetched: HashMap::new(),
            patches: Vec::new(),
            notes: Vec::new(),
            returns: Vec::new(),
            unfolded: 0,
            missing: Vec::new(),
        };
        let transcript = Transcript::read(messages);
        let meanings = match (&ledger, &decided) {
            (Some(ledger), Some(decided)) => by_ledger(ledger, decided, &transcript),
            _ => transcript.blocks().map(|(_, block)| by_marker(block, true)).collect(),
        };
        work.fetch(meanings.iter().flatten().map(|meaning| meaning.original.clone()).collect())?;
        let mut meanings = meanings.into_iter();
        for (index, message) in transcript.messages.iter().enumerate() {
            let meanings: Vec<_> = meanings.by_ref().take(message.blocks.len()).collect();
            work.message(index, &message.blocks, &meanings);
        }
        if let Some(decided) = &decided {
            work.thinking(decided, &transcript)?;
        }
        let patches = work.merge_contents();
        Ok(Unfolded {
            rewrite: Rewrite { patches, ..Rewrite::default() },
            unfolded: work.unfolded,
            missing: work.missing,
        })
    }
}

/// What each block of a transcript stands for, by the ledger of its session.
fn by_ledger(ledger: &Ledger, decided: &Decided, transcript: &Transcript) -> Vec<Option<Meaning>> {
    let printed: HashMap<ContentHash, (ContentHash, bool)> =
        (ledger.printed.iter()).map(|row| (row.text, (row.original, row.printed == Printed::Placeholder))).collect();
    let mut past = Past::default();
    let mut placed: Vec<(ContentHash, Placed)> = Vec::new();
    for view in &transcript.messages {
        let hashes: Vec<ContentHash> = view.blocks.iter().map(hash_of).collect();
        placed.extend(hashes.iter().copied().zip(past.pass(view, &hashes, decided)));
    }
    let exact = placed.iter().filter_map(|(_, placed)| placed.row);
    let mut taken: HashSet<BlockKey> = exact.map(|row| row.projection.block).collect();
    // Images that could not be told apart share a row, and come back in order.
    let mut seen: HashMap<BlockKey, usize> = HashMap::new();
    let mut meanings = Vec::with_capacity(placed.len());
    for ((_, block), (hash, Placed { row, .. })) in transcript.blocks().zip(placed) {
        let row = row.filter(|row| may_show(row, block)).or_else(|| {
            let fits = |row: &&Row| may_show(row, block);
            decided.shown_as(&hash).filter(fits).find(|row| taken.insert(row.projection.block))
        });
        meanings.push(match (row, printed.get(&hash).filter(|_| block.result.is_some())) {
            (Some(row), _) => {
                let number = seen.entry(row.projection.block).or_default();
                let frame = match &row.replacement.kept {
                    Kept::Image { frames, .. } => frames.get(*number).or(frames.last()).cloned(),
                    _ => None,
                };
                *number += 1;
                let original = row.projection.original.to_ref_id(64);
                Some(Meaning { original, is_whole: true, frame, is_ours: true })
            }
            (None, Some((original, is_whole))) => {
                let original = original.to_ref_id(64);
                Some(Meaning { original, is_whole: *is_whole, frame: None, is_ours: true })
            }
            (None, None) => by_marker(block, false),
        });
    }
    meanings
}

/// Whether a block can be what a row shows.
fn may_show(row: &Row, block: &Block) -> bool {
    match (&row.replacement.kept, block.kind) {
        (Kept::Text(_), Kind::Text(_)) => block.result.is_some(),
        (Kept::Image { .. }, Kind::Text(_)) => is_part(block),
        (Kept::Arguments(_), Kind::Call(_)) => true,
        _ => false,
    }
}

/// What a block stands for by its marker alone.
fn by_marker(block: &Block, is_ours: bool) -> Option<Meaning> {
    let is_whole = matches!(block.kind, Kind::Text(text) if is_reference(text));
    named(block).map(|original| Meaning { original, is_whole, frame: None, is_ours })
}

impl Unfolding<'_> {
    fn message(&mut self, index: usize, blocks: &[Block], meanings: &[Option<Meaning>]) {
        let mut noted = Vec::new();
        for (block, meaning) in blocks.iter().zip(meanings) {
            let ours = meaning.as_ref().filter(|meaning| meaning.is_ours);
            let original = ours.and_then(|meaning| Some((meaning, self.fetched.get(&meaning.original)?.clone()?)));
            if let Some((meaning, original)) = original {
                self.show(index, block, &original, meaning, &mut noted);
            } else if let Kind::Text(text) = block.kind
                && !self.has_ledger
                && is_output(block)
                && let Some(restored) = restored_alone(text)
            {
                self.set_text(index, block, restored);
            }
        }
        if !self.has_ledger {
            self.noted_images(index, blocks, &noted);
        }
    }

    /// Fetches what is not fetched yet, several at once.
    fn fetch(&mut self, ids: Vec<RefId>) -> Result<()> {
        let mut known: HashSet<RefId> = self.fetched.keys().cloned().collect();
        let new: Vec<RefId> = ids.into_iter().filter(|id| known.insert(id.clone())).collect();
        for ids in new.chunks(AT_ONCE) {
            let found = self.engine.store.get_all(ids, self.agent_id, self.now)?;
            for (id, found) in ids.iter().zip(found) {
                if found.is_none() {
                    self.missing.push(id.clone());
                }
                self.fetched.insert(id.clone(), found.map(|(_, original)| original));
            }
        }
        Ok(())
    }

    /// Puts thinking back that left its message. Where it stands already, the message is the host's own.
    fn thinking(&mut self, decided: &Decided, transcript: &Transcript) -> Result<()> {
        let (returns, unclear) = returns(decided, transcript);
        self.missing.extend(unclear.iter().map(|hash| hash.to_ref_id(64)));
        self.fetch(returns.iter().map(|thinking| thinking.original.to_ref_id(64)).collect())?;
        let path = Path::new().key("content");
        for Return { message, index, original } in returns {
            let id = original.to_ref_id(64);
            let Some(Some(stored)) = self.fetched.get(&id) else { continue };
            let part: Option<Value> = serde_json::from_slice(&stored.bytes).ok();
            let content = path.follow(&self.messages[message]).and_then(Value::as_array);
            match (part, content) {
                (Some(part), Some(content)) if content.get(index) == Some(&part) => {}
                (Some(part), Some(_)) => {
                    self.unfolded += 1;
                    self.returns.push((message, path.clone(), index, part));
                }
                _ => self.missing.push(id),
            }
        }
        Ok(())
    }

    fn show(
        &mut self,
        message: usize,
        block: &Block,
        original: &Original,
        meaning: &Meaning,
        noted: &mut Vec<Original>,
    ) {
        let stored = || original.read_text();
        match (block.kind, &original.media) {
            (Kind::Text(text), Media::Text) => {
                let Some(stored) = stored() else { return };
                if (meaning.is_whole || restores(text, original, &stored))
                    && let Some(value) = text_value(&original.bytes)
                {
                    self.set(message, block.path.clone(), value);
                }
            }
            (Kind::Text(text), Media::Image(mime)) if text.starts_with(IMAGE_WAS_HERE) => {
                let path = block.path.clone().parent();
                let Some(shown) = path.follow(&self.messages[message]).filter(|part| !has_opaque(part)) else { return };
                let base64 = base64_simd::STANDARD.encode_to_string(&original.bytes);
                let of_shape = || image_part(shape_at(self.messages, message, &path), mime, "");
                let frame = meaning.frame.clone().unwrap_or_else(of_shape);
                if let Some(image) = image_in_place(&frame, shown, &base64) {
                    self.set(message, path, image);
                }
            }
            (Kind::Text(_), Media::Image(_)) if is_part(block) => {
                let part = block.path.clone().parent();
                if let Some(Step::Index(at)) = part.steps().last().copied() {
                    self.notes.push((message, part.parent(), at));
                    noted.push(original.clone());
                }
            }
            (Kind::Image(_), Media::Image(mime)) => self.set_image(message, block, &original.bytes, mime),
            (Kind::Call(call), Media::Text) => {
                let Some(stored) = stored() else { return };
                let value = match call.arguments {
                    Arguments::Json(_) => Some(Value::String(stored.into_owned())),
                    Arguments::Value(_) => serde_json::from_str(&stored).ok(),
                };
                if let Some(value) = value {
                    self.set(message, block.path.clone(), value);
                }
            }
            _ => {}
        }
    }

    /// Without a ledger only the notes at the end of a content say that images were made smaller; which ones, where all were.
    fn noted_images(&mut self, message: usize, blocks: &[Block], noted: &[Original]) {
        let images: Vec<&Block> = blocks.iter().filter(|block| matches!(block.kind, Kind::Image(_))).collect();
        if images.len() != noted.len() {
            self.notes.retain(|(of, ..)| *of != message);
            return;
        }
        for (block, original) in images.into_iter().zip(noted) {
            if let Media::Image(mime) = &original.media {
                self.set_image(message, block, &original.bytes, mime);
            }
        }
    }

    fn set_image(&mut self, message: usize, block: &Block, bytes: &[u8], mime: &str) {
        let Some(part) = block.path.follow(&self.messages[message]) else { return };
        if let Some(value) = with_payload(part, mime, &base64_simd::STANDARD.encode_to_string(bytes)) {
            self.set(message, block.path.clone(), value);
        }
    }

    fn set_text(&mut self, message: usize, block: &Block, text: String) {
        self.set(message, block.path.clone(), Value::String(text));
    }

    fn set(&mut self, message: usize, path: Path, value: Value) {
        if path.follow(&self.messages[message]) != Some(&value) {
            self.unfolded += 1;
            self.patches.push(Patch { message, path, value });
        }
    }

    /// The patches, with each content that loses notes or gets parts back as a whole: the outer ones first, because they hold the
    /// inner ones.
    fn merge_contents(&mut self) -> Vec<Patch> {
        let mut contents: Vec<(usize, Path)> = Vec::new();
        let noted = self.notes.iter().map(|(message, content, _)| (message, content));
        for (message, content) in noted.chain(self.returns.iter().map(|(message, content, ..)| (message, content))) {
            if !contents.iter().any(|known| known == &(*message, content.clone())) {
                contents.push((*message, content.clone()));
            }
        }
        contents.sort_by_key(|(_, content)| content.steps().len());
        let mut merged = Vec::new();
        for (message, content) in &contents {
            let patches: Vec<Patch> = self
                .patches
                .iter()
                .filter(|patch| patch.message == *message)
                .map(|patch| Patch { message: 0, ..patch.clone() })
                .collect();
            let changed =
                Rewrite { patches, ..Rewrite::default() }.apply(&self.messages[*message..=*message]).remove(0);
            let Some(Value::Array(parts)) = content.follow(&changed) else { continue };
            let out: HashSet<usize> = self
                .notes
                .iter()
                .filter(|(of, place, _)| of == message && place == content)
                .map(|(.., at)| *at)
                .collect();
            let kept = parts.iter().enumerate().filter(|(at, _)| !out.contains(at)).map(|(_, part)| part.clone());
            let mut parts: Vec<Value> = kept.collect();
            for (_, _, index, part) in self.returns.iter().filter(|(of, place, ..)| of == message && place == content) {
                parts.insert((*index).min(parts.len()), part.clone());
            }
            merged.push(Patch { message: *message, path: content.clone(), value: Value::Array(parts) });
        }
        let is_merged = |patch: &Patch| {
            contents
                .iter()
                .any(|(message, content)| *message == patch.message && patch.path.steps().starts_with(content.steps()))
        };
        merged.extend(self.patches.iter().filter(|patch| !is_merged(patch)).cloned());
        merged
    }
}

/// Whether a text that may be a part of an original, or was shortened at birth, restores all of it: alone, or with what
/// it names.
fn restores(text: &str, original: &Original, stored: &str) -> bool {
    let restores = |text: &str| restore(text, std::slice::from_ref(original)) == stored;
    let without_note = || text.strip_suffix(&format!("\n[{}]", cut_of(original)?));
    restores(text) || without_note().is_some_and(restores)
}

/// What folds in a text stand for that need nothing but themselves; `None` where it holds none. The note that a host
/// had cut the text is ours where that is so of what is before it.
fn restored_alone(text: &str) -> Option<String> {
    let unfolded = |text: &str| Some(restore(text, &[])).filter(|restored| restored != text);
    let of_cut = without_cut(text).and_then(|(text, units)| unfolded(text).filter(|text| is_cut_at(text, units)));
    of_cut.or_else(|| unfolded(text))
}

/// How the placeholder of an image begins.
const IMAGE_WAS_HERE: &str = "[image was here";

/// Whether a text begins as the placeholder of a whole output does.
pub(super) fn is_reference(text: &str) -> bool {
    marker_at_start(text).is_some()
}

fn marker_at_start(text: &str) -> Option<RefId> {
    let (range, marker) = text.starts_with("[REF_ID: ").then(|| find_markers(text).next())??;
    match marker {
        Marker::Reference(id) if range.start == 0 => Some(id),
        _ => None,
    }
}

/// Whether a block is a tool's output, and not what the model fetched on purpose.
pub(super) fn is_output(block: &Block) -> bool {
    block.result.is_some() && !is_fetched(block)
}

/// Whether a text is that of a part of a message's content, which another part may take the place of.
fn is_part(block: &Block) -> bool {
    matches!(block.path.steps(), [.., Step::Index(_), Step::Key("text")])
}

/// Whether a block is what the model fetched on purpose.
pub(super) fn is_fetched(block: &Block) -> bool {
    block.result.is_some_and(|result| result.tool_name == Some(FETCH_TOOL))
}

/// Whether a result that reads as an answer of the fetch tool did is one: its call, as far as it is known, names the original.
pub(super) fn may_be_fetched(result: &ToolResult, original: ContentHash) -> bool {
    asks_for(asked_by(result).as_deref(), original)
}

/// The arguments of the call that a result answers as JSON, as far as they are known.
pub(super) fn asked_by(result: &ToolResult) -> Option<String> {
    result.arguments.map(|arguments| arguments.to_json())
}

/// Whether a call with these arguments may have asked for an original: they name it, or say nothing.
pub(super) fn asks_for(arguments: Option<&str>, original: ContentHash) -> bool {
    let id = original.to_ref_id(SHORT_ID_DIGITS);
    arguments.is_none_or(|json| json == "{}" || json.to_ascii_lowercase().contains(id.as_str()))
}

/// The id that a block of ours names, by its form.
fn named(block: &Block) -> Option<RefId> {
    match block.kind {
        Kind::Text(text) if text.starts_with(IMAGE_WAS_HERE) && is_part(block) => {
            let (range, marker) = find_markers(text).next()?;
            match marker {
                Marker::Reference(id) if range.end == text.len() => Some(id),
                _ => None,
            }
        }
        Kind::Text(text) if is_output(block) => marker_at_start(text).or_else(|| {
            let last = without_cut(text).map_or(text, |(text, _)| text).rsplit('\n').next()?;
            let (range, marker) = find_markers(last).next()?;
            match marker {
                Marker::Rewind(id) if range.start == 0 && last[range.end..].starts_with(" original: ") => Some(id),
                _ => None,
            }
        }),
        Kind::Call(call) => elided(&call.arguments.to_value()?),
        _ => None,
    }
}

/// The id in the first note of shrunken arguments.
fn elided(value: &Value) -> Option<RefId> {
    match value {
        Value::String(text) => {
            let (_, rest) = text.strip_prefix("<<")?.split_once(" chars elided by concertina ")?;
            marker_at_start(rest)
        }
        Value::Array(items) => items.iter().find_map(elided),
        Value::Object(fields) => fields.values().find_map(elided),
        _ => None,
    }
}
