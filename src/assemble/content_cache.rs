//! Hashes and token counts by content, each computed once: most of a history is unchanged since the previous call.
//!
//! Cache keys are BLAKE3 hashes. BLAKE3 is several times faster than the SHA-256 of references and equally collision
//! resistant, so no tool output can be crafted to take the place of another.

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

/// The number of texts cached, of about 100 bytes each: several long sessions. This and the sizes below are chosen by
/// judgement.
const MAX_TEXTS: usize = 1 << 16;

/// The number of images cached.
const MAX_IMAGES: usize = 1 << 10;

/// The number of thinking blocks cached, and of blocks whose storability is cached.
const MAX_THINKING_BLOCKS: usize = 1 << 14;

/// Hashes and token counts by content, for one encoding.
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
            texts: Cache::new(MAX_TEXTS),
            images: Cache::new(MAX_IMAGES),
            thinking: Cache::new(MAX_THINKING_BLOCKS),
            storable: Cache::new(MAX_THINKING_BLOCKS),
            encoding,
        }
    }

    /// Returns the hash of a text and its tokens.
    pub(super) fn of_text(&self, text: &str) -> (ContentHash, u64) {
        self.of_kind(ContentKind::Text, text)
    }

    /// Returns the hash of a content of the given kind and its tokens as text.
    pub(super) fn of_kind(&self, kind: ContentKind, content: &str) -> (ContentHash, u64) {
        get_or_compute(&self.texts, kind.blake3(content), || (kind.hash(content), count(content, self.encoding) as u64))
    }

    /// Returns the hash of a block and its tokens.
    pub(super) fn of_block(&self, block: &Block, meter: &Meter) -> (ContentHash, u64) {
        match block.kind {
            BlockKind::Text(text) => match &block.exact {
                Some(exact) => (ContentKind::Text.hash(exact), self.of_text(text).1),
                None => self.of_text(text),
            },
            BlockKind::Call(call) => self.of_kind(ContentKind::Arguments, &call.arguments.to_json()),
            BlockKind::Image(image) => (self.of_image(image.base64.unwrap_or_default()), meter.image(&image) as u64),
            BlockKind::Thinking(part) => self.of_thinking(part),
            BlockKind::Other(part) => (hash_of(block), meter.foreign(part) as u64),
        }
    }

    /// Returns true if the block with this hash may be stored unchanged. `check` is called only for a block that is not
    /// cached.
    pub(super) fn can_store(&self, block: ContentHash, check: impl FnOnce() -> bool) -> bool {
        get_or_compute(&self.storable, block, check)
    }

    fn of_thinking(&self, part: &Value) -> (ContentHash, u64) {
        let json = part.to_string();
        get_or_compute(&self.thinking, ContentKind::Thinking.blake3(&json), || {
            let tokens = thinking_texts(part).map(|text| count(text, self.encoding) as u64).sum();
            (ContentKind::Thinking.hash(&json), tokens)
        })
    }

    fn of_image(&self, base64: &str) -> ContentHash {
        get_or_compute(&self.images, ContentKind::Image.blake3(base64), || ContentKind::Image.hash(base64))
    }
}

fn get_or_compute<K: Copy + Eq + Hash, V: Copy>(cache: &Cache<K, V>, key: K, compute: impl FnOnce() -> V) -> V {
    cache.get(&key).unwrap_or_else(|| {
        let value = compute();
        cache.insert(key, value);
        value
    })
}
