//! What was hashed and counted once is not hashed and counted again: most of a history is the history of the call before.
//!
//! Contents are looked up by BLAKE3, which is several times as fast as the SHA-256 of references and as safe: no output of a tool
//! can be made that takes another's place.

use std::borrow::Cow;
use std::hash::Hash;
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
        remembered(&self.texts, blake3_of(text), || {
            (ContentHash::of(text.as_bytes()), count(text, self.encoding) as u64)
        })
    }

    /// What a block is known by, and what it costs.
    pub(super) fn of_block(&self, block: &Block, meter: &Meter) -> (ContentHash, u64) {
        match block.kind {
            Kind::Text(text) => match &block.exact {
                Some(exact) => (ContentHash::of(exact), self.of_text(text).1),
                None => self.of_text(text),
            },
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
        let make = || Ok(Arc::new(Replacement::of(serde_json::from_str(json)?, self)));
        self.replacements.get_or_insert_with(&blake3_of(json), make)
    }

    /// Whether a block known by a hash may be stored, thinking as it is, which `judge` says of one that is new.
    pub(super) fn may_store(&self, block: ContentHash, judge: impl FnOnce() -> bool) -> bool {
        remembered(&self.storable, block, judge)
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
        remembered(&self.thinking, blake3_of(&json), || {
            let tokens = thinking_texts(part).map(|text| count(text, self.encoding) as u64).sum();
            (ContentHash::of(json.as_bytes()), tokens)
        })
    }

    fn of_image(&self, base64: &str) -> ContentHash {
        remembered(&self.images, blake3_of(base64), || ContentHash::of(base64.as_bytes()))
    }
}

fn blake3_of(content: &str) -> [u8; 32] {
    *blake3::hash(content.as_bytes()).as_bytes()
}

fn remembered<K: Copy + Eq + Hash, V: Copy>(cache: &Cache<K, V>, key: K, make: impl FnOnce() -> V) -> V {
    cache.get(&key).unwrap_or_else(|| {
        let made = make();
        cache.insert(key, made);
        made
    })
}

/// What of a block is hashed, but for lone surrogates: its text, its image payload, or its arguments or thinking as JSON.
pub(super) fn content_of<'a>(block: &Block<'a>) -> Cow<'a, str> {
    match block.kind {
        Kind::Text(text) => text.into(),
        Kind::Image(image) => image.base64.unwrap_or_default().into(),
        Kind::Call(call) => call.arguments.to_json().into(),
        Kind::Thinking(part) => part.to_string().into(),
        Kind::Other(_) => "".into(),
    }
}

/// What a block is known by, without remembering it.
pub(super) fn hash_of(block: &Block) -> ContentHash {
    match &block.exact {
        Some(exact) => ContentHash::of(exact),
        None => ContentHash::of(content_of(block).as_bytes()),
    }
}
