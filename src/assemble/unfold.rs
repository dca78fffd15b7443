//! The way back for whole messages: originals in the place of what stands for them.
//!
//! Where a session is named, its ledger alone says which blocks are ours. Otherwise the markers do, in the places where this
//! program prints them; a marker that somebody quotes resolves to nothing and stays. Without a session an image comes back in the form
//! of the messages' shape, without what else its block said (a level of detail).

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::fetch::AT_ONCE;
use super::memo::hash_of;
use super::placeholder::without_cut;
use super::replay::Decided;
use super::thinking::{Return, returns};
use super::{Engine, FETCH_TOOL};
use crate::error::Result;
use crate::pipeline::restore;
use crate::reference::{ContentHash, Marker, Media, Original, RefId, SHORT_ID_DIGITS, find_markers};
use crate::store::{Ledger, Millis, Printed, Scope};
use crate::transcript::{
    Arguments, Block, Kind, Patch, Path, Rewrite, Step, ToolResult, Transcript, has_opaque, image_part, shape_at,
    with_payload,
};

/// What [`Engine::unfold`] did.
#[derive(Debug, Default)]
pub struct Unfolded {
    /// What to change.
    pub rewrite: Rewrite,
    /// How many blocks show their originals again.
    pub unfolded: u64,
    /// Ids that blocks name and that lead to nothing: expired, purged, or another agent's.
    pub missing: Vec<RefId>,
}

/// What a shown value stands for.
#[derive(Clone)]
struct Meaning {
    original: ContentHash,
    /// For all of it; a copy may be a part.
    is_whole: bool,
    /// What an image's block said beside the image.
    frame: Option<Value>,
}

/// The work on one list of messages.
struct Unfolding<'a> {
    engine: &'a Engine,
    agent_id: &'a str,
    messages: &'a [Value],
    now: Millis,
    /// What the session's texts, images and arguments stand for, by the hash of what is shown; `None` without a session.
    ledger: Option<HashMap<ContentHash, Meaning>>,
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
        let known = ledger.as_ref().map(|ledger| (ledger, Decided::of(ledger, &self.memo)));
        let mut work = Unfolding {
            engine: self,
            agent_id,
            messages,
            now,
            ledger: known.as_ref().map(|(ledger, decided)| shown_by(ledger, decided)),
            fetched: HashMap::new(),
            patches: Vec::new(),
            notes: Vec::new(),
            returns: Vec::new(),
            unfolded: 0,
            missing: Vec::new(),
        };
        let transcript = Transcript::read(messages);
        let named = transcript.blocks().filter_map(|(_, block)| work.meant(block).map(|(id, ..)| id)).collect();
        work.fetch(named)?;
        for (index, message) in transcript.messages.iter().enumerate() {
            work.message(index, &message.blocks);
        }
        if let Some((_, decided)) = &known {
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

/// What each shown value of a session stands for.
fn shown_by(ledger: &Ledger, decided: &Decided) -> HashMap<ContentHash, Meaning> {
    let rows = decided.rows.iter().filter_map(|row| {
        let frame = row.replacement.frame.clone();
        Some((row.replacement.shown?, Meaning { original: row.projection.original, is_whole: true, frame }))
    });
    let printed = ledger.printed.iter().map(|row| {
        let is_whole = row.printed == Printed::Placeholder;
        (row.text, Meaning { original: row.original, is_whole, frame: None })
    });
    printed.chain(rows).collect()
}

impl Unfolding<'_> {
    fn message(&mut self, index: usize, blocks: &[Block]) {
        let mut noted = Vec::new();
        for block in blocks {
            if let Some((original, is_whole)) = self.original_of(block) {
                self.show(index, block, &original, is_whole, &mut noted);
            } else if let Kind::Text(text) = block.kind
                && self.ledger.is_none()
                && is_output(block)
            {
                // A fold that needs nothing but itself.
                self.set_text(index, block, restore(without_cut(text), &[]));
            }
        }
        if self.ledger.is_none() {
            self.noted_images(index, blocks, &noted);
        }
    }

    /// What a block stands for, by the ledger or by its marker: the id, whether it is known to stand for all of it, and whether this
    /// session was shown it. A text that it was not shown is somebody's own, whatever it names.
    fn meant(&self, block: &Block) -> Option<(RefId, bool, bool)> {
        let by_ledger = self.ledger.as_ref().map(|ledger| ledger.get(&hash_of(block)));
        match by_ledger {
            Some(Some(meaning)) => Some((meaning.original.to_ref_id(64), meaning.is_whole, true)),
            Some(None) | None => {
                let is_whole = matches!(block.kind, Kind::Text(text) if is_reference(text));
                named(block).map(|id| (id, is_whole, by_ledger.is_none()))
            }
        }
    }

    /// The original that a block stands for, and whether for all of it.
    fn original_of(&self, block: &Block) -> Option<(Original, bool)> {
        let (id, is_whole, is_ours) = self.meant(block)?;
        let original = self.fetched.get(&id)?.clone().filter(|_| is_ours)?;
        Some((original, is_whole))
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
                (Some(part), Some(content)) if !content.iter().any(has_opaque) => {
                    self.unfolded += 1;
                    self.returns.push((message, path.clone(), index, part));
                }
                _ => self.missing.push(id),
            }
        }
        Ok(())
    }

    fn show(&mut self, message: usize, block: &Block, original: &Original, is_whole: bool, noted: &mut Vec<Original>) {
        let stored = || std::str::from_utf8(&original.bytes).ok();
        match (block.kind, &original.media) {
            (Kind::Text(text), Media::Text) => {
                let Some(stored) = stored() else { return };
                if is_whole || restore(without_cut(text), std::slice::from_ref(original)) == stored {
                    self.set_text(message, block, stored.to_owned());
                }
            }
            (Kind::Text(text), Media::Image(mime)) if text.starts_with(IMAGE_WAS_HERE) => {
                let part = block.path.clone().parent();
                let base64 = base64_simd::STANDARD.encode_to_string(&original.bytes);
                let frame = self.ledger.as_ref().and_then(|ledger| ledger.get(&hash_of(block))?.frame.as_ref());
                let own = frame.and_then(|frame| with_payload(frame, mime, &base64));
                let image = own.unwrap_or_else(|| image_part(shape_at(self.messages, message, &part), mime, &base64));
                self.set(message, part, image);
            }
            (Kind::Text(_), Media::Image(_)) => {
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
                    Arguments::Json(_) => Some(Value::String(stored.to_owned())),
                    Arguments::Value(_) => serde_json::from_str(stored).ok(),
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
        let Some(part) = block.path.follow(&self.messages[message]).filter(|part| !has_opaque(part)) else { return };
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
            let is_plain = content.follow(&self.messages[*message]).is_some_and(|content| !has_opaque(content));
            if is_plain && !contents.iter().any(|known| known == &(*message, content.clone())) {
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

/// Whether a block is what the model fetched on purpose.
pub(super) fn is_fetched(block: &Block) -> bool {
    block.result.is_some_and(|result| result.tool_name == Some(FETCH_TOOL))
}

/// Whether a result that reads as an answer of the fetch tool did is one: its call, as far as it is known, names the original.
pub(super) fn may_be_fetched(result: &ToolResult, original: ContentHash) -> bool {
    let id = original.to_ref_id(SHORT_ID_DIGITS);
    result.arguments.is_none_or(|arguments| {
        let json = arguments.to_json().to_ascii_lowercase();
        json == "{}" || json.contains(id.as_str())
    })
}

/// The id that a block of ours names, by its form.
fn named(block: &Block) -> Option<RefId> {
    match block.kind {
        Kind::Text(text) if text.starts_with(IMAGE_WAS_HERE) => {
            let (range, marker) = find_markers(text).next()?;
            match marker {
                Marker::Reference(id) if range.end == text.len() => Some(id),
                _ => None,
            }
        }
        Kind::Text(text) if is_output(block) => marker_at_start(text).or_else(|| {
            let last = without_cut(text).rsplit('\n').next()?;
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
