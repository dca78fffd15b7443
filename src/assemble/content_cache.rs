//! Hashes and token counts by content, each computed once: most of a history is the history of the call before.
//!
//! Contents are looked up by BLAKE3, which is several times as fast as the SHA-256 of references and as safe: no output
//! of a tool can be made that takes another's place.

use std::hash::Hash;

use quick_cache::sync::Cache;
use serde_json::Value;

use super::content_hash::{ContentKind, hash_of};
use crate::config::Encoding;
use crate::history::Meter;
use crate::history::measure::thinking_texts;
use crate::reference::ContentHash;
use crate::tokens::count;
use crate::transcript::{Block, BlockKind};

/// Texts remembered, of about 100 bytes each: several long sessions, chosen by judgement as the sizes below.
const TEXTS: usize = 1 << 16;

/// Images remembered.
const IMAGES: usize = 1 << 10;

/// Thinking blocks remembered, and blocks of which it is known whether they may be stored.
const THINKING: usize = 1 << 14;

/// Hashes and counts by content, under one vocabulary.
pub(super) struct ContentCache {
    texts: Cache<[u8; 32], (ContentHash, u64)>,
    images: Cache<[u8; 32], ContentHash>,
    thinking: Cache<[u8; 32], (ContentHash, u64)>,
    storable: Cache<ContentHash, bool>,
    encoding: Encoding,
}

impl ContentCache {
    pub(super) fn new(encoding: Encoding) -> Self {
        Self {
            texts: Cache::new(TEXTS),
            images: Cache::new(IMAGES),
            thinking: Cache::new(THINKING),
            storable: Cache::new(THINKING),
            encoding,
        }
    }

    /// What a text is known by, and its tokens.
    pub(super) fn of_text(&self, text: &str) -> (ContentHash, u64) {
        self.of_tagged(ContentKind::Text, text)
    }

    /// What a content of a kind is known by, and its tokens as a text.
    pub(super) fn of_tagged(&self, tag: ContentKind, content: &str) -> (ContentHash, u64) {
        remembered(&self.texts, tag.blake3(content), || (tag.hash(content), count(content, self.encoding) as u64))
    }

    /// What a block is known by, and what it costs.
    pub(super) fn of_block(&self, block: &Block, meter: &Meter) -> (ContentHash, u64) {
        match block.kind {
            BlockKind::Text(text) => match &block.exact {
                Some(exact) => (ContentKind::Text.hash(exact), self.of_text(text).1),
                None => self.of_text(text),
            },
            BlockKind::Call(call) => self.of_tagged(ContentKind::Arguments, &call.arguments.to_json()),
            BlockKind::Image(image) => (self.of_image(image.base64.unwrap_or_default()), meter.image(&image) as u64),
            BlockKind::Thinking(part) => self.of_thinking(part),
            BlockKind::Other(part) => (hash_of(block), meter.foreign(part) as u64),
        }
    }

    /// Whether a block known by a hash may be stored, thinking as it is, which `judge` says of one that is new.
    pub(super) fn may_store(&self, block: ContentHash, judge: impl FnOnce() -> bool) -> bool {
        remembered(&self.storable, block, judge)
    }

    fn of_thinking(&self, part: &Value) -> (ContentHash, u64) {
        let json = part.to_string();
        remembered(&self.thinking, ContentKind::Thinking.blake3(&json), || {
            let tokens = thinking_texts(part).map(|text| count(text, self.encoding) as u64).sum();
            (ContentKind::Thinking.hash(&json), tokens)
        })
    }

    fn of_image(&self, base64: &str) -> ContentHash {
        remembered(&self.images, ContentKind::Image.blake3(base64), || ContentKind::Image.hash(base64))
    }
}

fn remembered<K: Copy + Eq + Hash, V: Copy>(cache: &Cache<K, V>, key: K, make: impl FnOnce() -> V) -> V {
    cache.get(&key).unwrap_or_else(|| {
        let made = make();
        cache.insert(key, made);
        made
    })
}
