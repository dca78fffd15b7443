//! What was hashed and counted once is not hashed and counted again: most of a history is the history of the call before.
//!
//! Contents are looked up by BLAKE3, which is several times as fast as the SHA-256 of references and as safe: no output of a tool
//! can be made that takes another's place.

use std::sync::Arc;

use quick_cache::sync::Cache;
use serde_json::Value;

use super::heard::Heard;
use super::replay::Replacement;
use crate::config::Encoding;
use crate::history::Meter;
use crate::history::measure::thinking_texts;
use crate::reference::ContentHash;
use crate::tokens::count;
use crate::transcript::{Block, Kind};

/// Texts remembered; about 100 bytes each.
const TEXTS: usize = 1 << 16;

/// Images remembered.
const IMAGES: usize = 1 << 10;

/// Thinking blocks remembered.
const THINKING: usize = 1 << 14;

/// Answers of a caller's redactor remembered.
const HEARD: usize = 1 << 14;

/// Replacements of the ledger remembered; about a kilobyte each.
const REPLACEMENTS: usize = 1 << 14;

/// Hashes and counts by content, under one vocabulary.
pub(super) struct Memo {
    texts: Cache<[u8; 32], (ContentHash, u64)>,
    images: Cache<[u8; 32], ContentHash>,
    thinking: Cache<[u8; 32], (ContentHash, u64)>,
    storable: Cache<ContentHash, bool>,
    heard: Cache<String, Heard>,
    replacements: Cache<[u8; 32], Arc<Replacement>>,
    encoding: Encoding,
}

impl Memo {
    pub(super) fn new(encoding: Encoding) -> Self {
        Self {
            texts: Cache::new(TEXTS),
            images: Cache::new(IMAGES),
            thinking: Cache::new(THINKING),
            storable: Cache::new(THINKING),
            heard: Cache::new(HEARD),
            replacements: Cache::new(REPLACEMENTS),
            encoding,
        }
    }

    /// What a text is known by, and its tokens.
    pub(super) fn of_text(&self, text: &str) -> (ContentHash, u64) {
        let key = *blake3::hash(text.as_bytes()).as_bytes();
        self.texts.get(&key).unwrap_or_else(|| {
            let known = (ContentHash::of(text.as_bytes()), count(text, self.encoding) as u64);
            self.texts.insert(key, known);
            known
        })
    }

    /// What a block is known by (its text, its image payload, or its arguments or thinking as JSON), and what it costs.
    pub(super) fn of_block(&self, block: &Block, meter: &Meter) -> (ContentHash, u64) {
        match block.kind {
            Kind::Text(text) => self.of_text(text),
            Kind::Call(call) => self.of_text(&call.arguments.to_json()),
            Kind::Image(image) => (self.of_image(image.base64.unwrap_or_default()), meter.image(&image) as u64),
            Kind::Thinking(part) => self.of_thinking(part),
            Kind::Other(part) => (hash_of(block), meter.foreign(part) as u64),
        }
    }

    /// What a replacement is known by when it comes back as a block, and its tokens as a provider is sent it: a string's own text, a
    /// text block's text, arguments as JSON.
    pub(super) fn of_shown(&self, value: &Value) -> (ContentHash, u64) {
        match value.as_str().or_else(|| value["text"].as_str().filter(|_| value["type"].is_string())) {
            Some(text) => self.of_text(text),
            None => self.of_text(&value.to_string()),
        }
    }

    /// What a replacement of the ledger, which is JSON, shows.
    pub(super) fn of_replacement(&self, json: &str) -> serde_json::Result<Arc<Replacement>> {
        let key = *blake3::hash(json.as_bytes()).as_bytes();
        self.replacements.get_or_insert_with(&key, || Ok(Arc::new(Replacement::of(serde_json::from_str(json)?, self))))
    }

    /// Whether a block known by a hash may be stored, thinking as it is, which `judge` says of one that is new.
    pub(super) fn may_store(&self, block: ContentHash, judge: impl FnOnce() -> bool) -> bool {
        self.storable.get(&block).unwrap_or_else(|| {
            let may = judge();
            self.storable.insert(block, may);
            may
        })
    }

    /// What a caller's redactor said.
    pub(super) fn heard(&self, key: &str) -> Option<Heard> {
        self.heard.get(key)
    }

    pub(super) fn hear(&self, key: String, heard: Heard) {
        self.heard.insert(key, heard);
    }

    fn of_thinking(&self, part: &Value) -> (ContentHash, u64) {
        let json = part.to_string();
        let key = *blake3::hash(json.as_bytes()).as_bytes();
        self.thinking.get(&key).unwrap_or_else(|| {
            let tokens = thinking_texts(part).map(|text| count(text, self.encoding) as u64).sum();
            let known = (ContentHash::of(json.as_bytes()), tokens);
            self.thinking.insert(key, known);
            known
        })
    }

    fn of_image(&self, base64: &str) -> ContentHash {
        let key = *blake3::hash(base64.as_bytes()).as_bytes();
        self.images.get(&key).unwrap_or_else(|| {
            let hash = ContentHash::of(base64.as_bytes());
            self.images.insert(key, hash);
            hash
        })
    }
}

/// What a block is known by, without remembering it: its text, its image payload, or its arguments or thinking as JSON.
pub(super) fn hash_of(block: &Block) -> ContentHash {
    match block.kind {
        Kind::Text(text) => ContentHash::of(text.as_bytes()),
        Kind::Image(image) => ContentHash::of(image.base64.unwrap_or_default().as_bytes()),
        Kind::Call(call) => ContentHash::of(call.arguments.to_json().as_bytes()),
        Kind::Thinking(part) => ContentHash::of(part.to_string().as_bytes()),
        Kind::Other(_) => ContentHash::of(b""),
    }
}
