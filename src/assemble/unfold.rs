//! Unfolds whole messages: puts originals back in the place of their placeholders.
//!
//! If a session is named, its ledger alone decides which blocks are ours: those at the place of their row and, if the
//! history has changed since, as many others with a row's text as rows remain. Otherwise the markers decide, in the
//! places where this program prints them. Words of people are never ours, except for a part of a message that stands
//! for an image.
//!
//! Without a session an image is restored in the form of the messages' shape, without the fields that left with it
//! (such as the level of detail).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::Value;

use super::content_cache::hash_of;
use super::decisions::{Decision, Decisions};
use super::engine::Engine;
use super::fetch::ORIGINALS_AT_ONCE;
use super::fetch_answers::is_output;
use super::labels::{cut_note_of, is_cut_at, split_cut_note};
use super::markers::{IMAGE_PLACEHOLDER_START, is_content_element, is_reference, named_original};
use super::prefix::{PlacedBlock, Prefix};
use super::replacement::Replacement;
use super::unfold_thinking::{RemovedThinking, removed_thinking};
use crate::error::Result;
use crate::pipeline::restore;
use crate::reference::{ContentHash, Media, Original, RefId};
use crate::store::{BlockKey, Ledger, Millis, PrintedKind, Scope};
use crate::transcript::{
    Arguments, Block, BlockKind, Patch, Path, Rewrite, Role, Transcript, has_opaque, image_in_place, image_part,
    shape_at, text_value, with_payload,
};

/// The result of [`Engine::unfold`].
#[derive(Debug, Default)]
pub struct Unfolded {
    /// The change to the messages.
    pub rewrite: Rewrite,
    /// The number of blocks that show their originals again.
    pub unfolded: u64,
    /// Ids without an accessible original: expired, purged, or another agent's. It includes thinking that cannot be put
    /// back, because the place of its message has changed, is ambiguous, or has a message with other thinking.
    pub missing: Vec<RefId>,
}

/// The original that a block stands for.
struct Referent {
    original: RefId,
    /// True if it stands for the whole original; a copy may be a part.
    is_whole: bool,
    /// The fields that left with an image.
    frame: Option<Value>,
    /// True if the block is ours. With a session, that means that the session was shown it; any other text is not ours,
    /// whatever it names.
    is_ours: bool,
}

/// The work on one list of messages.
struct UnfoldJob<'a> {
    engine: &'a Engine,
    agent_id: &'a str,
    messages: &'a [Value],
    now: Millis,
    /// True if a session is named.
    has_ledger: bool,
    originals: HashMap<RefId, Option<Original>>,
    patches: Vec<Patch>,
    /// Notes of images to remove.
    removed: Vec<(usize, Path)>,
    /// Parts to put back into the content of messages, with their former indexes.
    restored_parts: BTreeMap<usize, Vec<(usize, Value)>>,
    unfolded: u64,
    missing: Vec<RefId>,
}

impl Engine {
    /// Puts originals back in the place of placeholders, in messages of any shape: those of a session or, without one,
    /// those that the markers lead to and this agent may see.
    ///
    /// Removed thinking is put back only if a session is named, because nothing stands in its place. Fetched text
    /// stays, unless it stands for a whole original. Placeholders without an original stay too and are listed as
    /// missing.
    ///
    /// # Errors
    /// Store errors.
    pub fn unfold(&self, scope: Option<&Scope>, agent_id: &str, messages: &[Value], now: Millis) -> Result<Unfolded> {
        let ledger = scope.map(|scope| self.store.ledger(scope)).transpose()?;
        let decisions = ledger
            .as_ref()
            .map(|ledger| Decisions::of(ledger, || self.store.location(), &self.replacements, &self.contents))
            .transpose()?;
        let mut job = UnfoldJob {
            engine: self,
            agent_id,
            messages,
            now,
            has_ledger: ledger.is_some(),
            originals: HashMap::new(),
            patches: Vec::new(),
            removed: Vec::new(),
            restored_parts: BTreeMap::new(),
            unfolded: 0,
            missing: Vec::new(),
        };
        let transcript = Transcript::read(messages);
        let (referents, unclear) = match (&ledger, &decisions) {
            (Some(ledger), Some(decisions)) => referents_by_ledger(ledger, decisions, &transcript),
            _ => (markers_in(&transcript).map(|block| referent_by_marker(block?, true)).collect(), BTreeSet::new()),
        };
        job.missing.extend(unclear);
        job.look_up(referents.iter().flatten().map(|referent| referent.original.clone()).collect())?;
        let mut referents = referents.into_iter();
        for (index, message) in transcript.messages.iter().enumerate() {
            let referents: Vec<_> = referents.by_ref().take(message.blocks.len()).collect();
            job.restore_message(index, &message.blocks, &referents);
        }
        if let Some(decisions) = &decisions {
            job.restore_thinking(decisions, &transcript)?;
        }
        Ok(Unfolded { rewrite: job.rewrite(), unfolded: job.unfolded, missing: job.missing })
    }
}

/// Returns what each block of a transcript stands for, by the ledger of its session, and the originals of images whose
/// fields are unknown.
fn referents_by_ledger(
    ledger: &Ledger,
    decisions: &Decisions,
    transcript: &Transcript,
) -> (Vec<Option<Referent>>, BTreeSet<RefId>) {
    let printed: HashMap<ContentHash, (ContentHash, bool)> =
        (ledger.printed.iter()).map(|row| (row.text, (row.original, row.kind == PrintedKind::Placeholder))).collect();
    let mut prefix = Prefix::default();
    let mut placed: Vec<(ContentHash, PlacedBlock)> = Vec::new();
    for message in &transcript.messages {
        let hashes: Vec<ContentHash> = message.blocks.iter().map(hash_of).collect();
        placed.extend(hashes.iter().copied().zip(prefix.add_message(message, &hashes, decisions)));
    }
    let exact = placed.iter().filter_map(|(_, placed)| placed.decision);
    let mut used_rows: HashSet<BlockKey> = exact.map(|row| row.projection.block).collect();
    let blocks = || markers_in(transcript).zip(&placed);
    let rows: Vec<Option<&Decision>> = blocks()
        .map(|(block, (hash, PlacedBlock { decision, .. }))| {
            let can_show_here = |row: &&Decision| block.is_some_and(|block| can_show(row, block));
            decision.filter(can_show_here).or_else(|| {
                let mut others = decisions.shown_as(hash).filter(can_show_here);
                others.find(|row| used_rows.insert(row.projection.block))
            })
        })
        .collect();
    // Images with equal keys share a row, and are restored in order. If some are gone, the others' fields are unknown.
    let mut images: HashMap<BlockKey, usize> = HashMap::new();
    rows.iter().flatten().for_each(|row| *images.entry(row.projection.block).or_default() += 1);
    let mut images_seen: HashMap<BlockKey, usize> = HashMap::new();
    let mut unclear = BTreeSet::new();
    let mut referents = Vec::with_capacity(rows.len());
    for ((block, (hash, _)), row) in blocks().zip(&rows) {
        let copied = block.filter(|block| block.result.is_some()).and_then(|_| printed.get(hash));
        referents.push(match (row, copied) {
            (Some(row), _) => {
                let original = row.projection.original.to_ref_id(64);
                let frames = match &row.stored.replacement {
                    Replacement::Image { frames, .. } => frames.as_slice(),
                    _ => &[],
                };
                let key = row.projection.block;
                let number = images_seen.entry(key).or_default();
                *number += 1;
                if images[&key] != frames.len() && frames.iter().any(|frame| *frame != frames[0]) {
                    unclear.insert(original);
                    None
                } else {
                    let frame = frames.get(*number - 1).or(frames.last()).cloned();
                    Some(Referent { original, is_whole: true, frame, is_ours: true })
                }
            }
            (None, Some((original, is_whole))) => {
                let original = original.to_ref_id(64);
                Some(Referent { original, is_whole: *is_whole, frame: None, is_ours: true })
            }
            (None, None) => block.and_then(|block| referent_by_marker(block, false)),
        });
    }
    (referents, unclear)
}

/// Returns the blocks of a transcript that can show an original; `None` in the place of the model's words.
fn markers_in<'t, 'a>(transcript: &'t Transcript<'a>) -> impl Iterator<Item = Option<&'t Block<'a>>> {
    transcript.blocks().map(|(message, block)| {
        let is_said = transcript.messages[message].role == Role::Assistant && block.result.is_none();
        Some(block).filter(|block| !(is_said && matches!(block.kind, BlockKind::Text(_))))
    })
}

/// Returns true if a block can be the shown form of a row.
fn can_show(row: &Decision, block: &Block) -> bool {
    match (&row.stored.replacement, block.kind) {
        (Replacement::Text(_), BlockKind::Text(_)) => block.result.is_some(),
        (Replacement::Image { .. }, BlockKind::Text(_)) => is_content_element(block),
        (Replacement::Arguments(_), BlockKind::Call(_)) => true,
        _ => false,
    }
}

/// Returns what a block stands for, by its marker alone.
fn referent_by_marker(block: &Block, is_ours: bool) -> Option<Referent> {
    let is_whole = matches!(block.kind, BlockKind::Text(text) if is_reference(text));
    named_original(block).map(|original| Referent { original, is_whole, frame: None, is_ours })
}

impl UnfoldJob<'_> {
    fn restore_message(&mut self, index: usize, blocks: &[Block], referents: &[Option<Referent>]) {
        let mut noted_originals = Vec::new();
        for (block, referent) in blocks.iter().zip(referents) {
            let ours = referent.as_ref().filter(|referent| referent.is_ours);
            let original = ours.and_then(|referent| Some((referent, self.originals.get(&referent.original)?.clone()?)));
            if let Some((referent, original)) = original {
                self.restore_block(index, block, &original, referent, &mut noted_originals);
            } else if let BlockKind::Text(text) = block.kind
                && !self.has_ledger
                && is_output(block)
                && let Some(restored) = restored_without_store(text)
            {
                self.set(index, block.path.clone(), Value::String(restored));
            }
        }
        if !self.has_ledger {
            self.restore_noted_images(index, blocks, &noted_originals);
        }
    }

    /// Looks up the originals that are not known yet, several at once.
    fn look_up(&mut self, ids: Vec<RefId>) -> Result<()> {
        let mut known: HashSet<RefId> = self.originals.keys().cloned().collect();
        let new: Vec<RefId> = ids.into_iter().filter(|id| known.insert(id.clone())).collect();
        for ids in new.chunks(ORIGINALS_AT_ONCE) {
            let found = self.engine.store.get_all(ids, self.agent_id, self.now)?;
            for (id, found) in ids.iter().zip(found) {
                if found.is_none() {
                    self.missing.push(id.clone());
                }
                self.originals.insert(id.clone(), found.map(|(_, original)| original));
            }
        }
        Ok(())
    }

    /// Puts removed thinking back into its messages.
    fn restore_thinking(&mut self, decisions: &Decisions, transcript: &Transcript) -> Result<()> {
        let (removed, unclear) = removed_thinking(decisions, transcript);
        self.missing.extend(unclear.iter().map(|hash| hash.to_ref_id(64)));
        self.look_up(removed.iter().map(|thinking| thinking.original.to_ref_id(64)).collect())?;
        for RemovedThinking { message_index: message, index, original } in removed {
            let id = original.to_ref_id(64);
            let Some(Some(stored)) = self.originals.get(&id) else { continue };
            let part: Option<Value> = serde_json::from_slice(&stored.bytes).ok();
            match part.filter(|_| self.messages[message]["content"].is_array()) {
                Some(part) => {
                    self.unfolded += 1;
                    self.restored_parts.entry(message).or_default().push((index, part));
                }
                None => self.missing.push(id),
            }
        }
        Ok(())
    }

    fn restore_block(
        &mut self,
        message: usize,
        block: &Block,
        original: &Original,
        referent: &Referent,
        noted_originals: &mut Vec<Original>,
    ) {
        let stored = || original.read_text();
        match (block.kind, &original.media) {
            (BlockKind::Text(text), Media::Text) => {
                let Some(stored) = stored() else { return };
                if (referent.is_whole || can_restore(text, original, &stored))
                    && let Some(value) = text_value(&original.bytes)
                {
                    self.set(message, block.path.clone(), value);
                }
            }
            (BlockKind::Text(text), Media::Image(mime)) if text.starts_with(IMAGE_PLACEHOLDER_START) => {
                let path = block.path.clone().parent();
                let Some(shown) = path.follow(&self.messages[message]).filter(|part| !has_opaque(part)) else { return };
                let base64 = base64_simd::STANDARD.encode_to_string(&original.bytes);
                let of_shape = || image_part(shape_at(self.messages, message, &path), mime, "");
                let frame = referent.frame.clone().unwrap_or_else(of_shape);
                if let Some(image) = image_in_place(&frame, shown, &base64) {
                    self.set(message, path, image);
                }
            }
            (BlockKind::Text(_), Media::Image(_)) if is_content_element(block) => {
                self.removed.push((message, block.path.clone().parent()));
                noted_originals.push(original.clone());
            }
            (BlockKind::Image(_), Media::Image(mime)) => self.set_image(message, block, &original.bytes, mime),
            (BlockKind::Call(call), Media::Text) => {
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

    /// Restores scaled images by the notes at the end of the content. Without a ledger nothing else marks them, so it
    /// is clear which images they are only if every image has a note.
    fn restore_noted_images(&mut self, message: usize, blocks: &[Block], noted_originals: &[Original]) {
        let images: Vec<&Block> = blocks.iter().filter(|block| matches!(block.kind, BlockKind::Image(_))).collect();
        if images.len() != noted_originals.len() {
            self.removed.retain(|(of, _)| *of != message);
            return;
        }
        for (block, original) in images.into_iter().zip(noted_originals) {
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

    fn set(&mut self, message: usize, path: Path, value: Value) {
        if path.follow(&self.messages[message]) != Some(&value) {
            self.unfolded += 1;
            self.patches.push(Patch { message, path, value });
        }
    }

    /// Returns the change. A content that gets parts back becomes one whole patch.
    fn rewrite(&mut self) -> Rewrite {
        let content = Path::new().key("content");
        let is_in = |message: usize, path: &Path, of: usize| of == message && path.steps().starts_with(content.steps());
        let mut merged = Vec::new();
        for (message, parts) in std::mem::take(&mut self.restored_parts) {
            let patches = self.patches.extract_if(.., |patch| is_in(patch.message, &patch.path, message));
            let patches = patches.map(|patch| Patch { message: 0, ..patch }).collect();
            let removed = self.removed.extract_if(.., |(of, path)| is_in(*of, path, message));
            let removed = removed.map(|(_, path)| (0, path)).collect();
            let changed =
                Rewrite { patches, removed, sequence: None }.apply(&self.messages[message..=message]).remove(0);
            let Some(Value::Array(kept)) = content.follow(&changed) else { continue };
            let mut value = kept.clone();
            for (index, part) in parts {
                value.insert(index.min(value.len()), part);
            }
            merged.push(Patch { message, path: content.clone(), value: value.into() });
        }
        merged.append(&mut self.patches);
        Rewrite { patches: merged, removed: std::mem::take(&mut self.removed), sequence: None }
    }
}

/// Returns true if a text, which may be a part of an original or shortened at birth, restores all of it: alone, or with
/// the original.
fn can_restore(text: &str, original: &Original, stored: &str) -> bool {
    let can_restore = |text: &str| restore(text, std::slice::from_ref(original)) == stored;
    let without_note = || text.strip_suffix(&format!("\n[{}]", cut_note_of(original)?));
    can_restore(text) || without_note().is_some_and(can_restore)
}

/// Restores the folds in a text that need no store; `None` if there are none. A cut note at the end is ours if the text
/// before it restores to exactly that length.
fn restored_without_store(text: &str) -> Option<String> {
    let restored = |text: &str| Some(restore(text, &[])).filter(|restored| restored != text);
    let of_cut = split_cut_note(text).and_then(|(text, units)| restored(text).filter(|text| is_cut_at(text, units)));
    of_cut.or_else(|| restored(text))
}
