//! Hashes and token counts by content, each computed once: most of a history is unchanged since the previous call.
//!
//! Cache keys are BLAKE3 hashes. BLAKE3 is several times faster than the SHA-256 of references and equally collision
//! resistant, so no tool output can be crafted to take the place of another.

use std::hash::Hash;

use quick_cache::sync::Cache;

use super::content_hash::{ContentKind, kind_and_content};
use crate::config::Encoding;
use crate::history::Meter;
use crate::reference::ContentHash;
use crate::tokens::count;
use crate::transcript::{Block, BlockKind};

/// The number of contents cached, of about 100 bytes each: several long sessions. This and the size below are chosen by
/// judgement.
const MAX_CONTENTS: usize = 1 << 16;

/// The number of blocks whose storability is cached.
const MAX_STORABLE_BLOCKS: usize = 1 << 14;

/// Hashes and token counts by content, for one encoding.
pub(super) struct ContentCache {
    contents: Cache<[u8; 32], (ContentHash, u64)>,
    storable: Cache<ContentHash, bool>,
    encoding: Encoding,
}

impl ContentCache {
    pub(super) fn new(encoding: Encoding) -> Self {
        Self { contents: Cache::new(MAX_CONTENTS), storable: Cache::new(MAX_STORABLE_BLOCKS), encoding }
    }

    /// Returns the hash of a text and its tokens.
    pub(super) fn of_text(&self, text: &str) -> (ContentHash, u64) {
        self.of_kind(ContentKind::Text, text)
    }

    /// Returns the hash of a content of the given kind and its tokens as text.
    pub(super) fn of_kind(&self, kind: ContentKind, content: &str) -> (ContentHash, u64) {
        self.of_content(kind, content, || count(content, self.encoding))
    }

    /// Returns the hash of a block and its tokens.
    pub(super) fn of_block(&self, block: &Block, meter: &Meter) -> (ContentHash, u64) {
        let (kind, content) = kind_and_content(block);
        let (hash, tokens) = match block.kind {
            BlockKind::Text(_) | BlockKind::Call(_) => self.of_kind(kind, &content),
            BlockKind::Thinking(_) => self.of_content(kind, &content, || meter.block(block)),
            // The tokens of an image depend on the model, those of other parts on what is not hashed.
            BlockKind::Image(_) | BlockKind::Other(_) => {
                (self.of_content(kind, &content, || 0).0, meter.block(block) as u64)
            }
        };
        (block.exact.as_ref().map_or(hash, |exact| kind.hash(exact)), tokens)
    }

    /// Returns true if the block with this hash may be stored unchanged. `check` is called only for a block that is not
    /// cached.
    pub(super) fn can_store(&self, block: ContentHash, check: impl FnOnce() -> bool) -> bool {
        get_or_compute(&self.storable, block, check)
    }

    fn of_content(&self, kind: ContentKind, content: &str, tokens: impl FnOnce() -> usize) -> (ContentHash, u64) {
        get_or_compute(&self.contents, kind.blake3(content), || (kind.hash(content), tokens() as u64))
    }
}

fn get_or_compute<K: Copy + Eq + Hash, V: Copy>(cache: &Cache<K, V>, key: K, compute: impl FnOnce() -> V) -> V {
    cache.get(&key).unwrap_or_else(|| {
        let value = compute();
        cache.insert(key, value);
        value
    })
}
