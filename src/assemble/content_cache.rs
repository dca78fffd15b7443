//! The content hash, SHA-256 over the kind of a content and its bytes, and a cache of hashes and token counts by
//! content: most of a history is unchanged since the previous call.
//!
//! Cache keys are BLAKE3 hashes. BLAKE3 is several times faster than the SHA-256 of references and equally collision
//! resistant, so no tool output can be crafted to take the place of another.

use std::borrow::Cow;
use std::hash::Hash;

use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};

use crate::config::Encoding;
use crate::history::Meter;
use crate::reference::ContentHash;
use crate::tokens::count;
use crate::transcript::{Block, BlockKind};

/// The kind of a content, which is part of its hash: a text that equals the arguments of a call is a different block.
#[derive(Debug, Clone, Copy)]
pub(super) enum ContentKind {
    Text,
    Arguments,
    Image,
    Thinking,
}

impl ContentKind {
    /// Returns the bytes that are hashed before the content. They begin with 0xFF, which occurs in no UTF-8 text. Texts
    /// have no prefix: their hash is the plain SHA-256.
    fn prefix(self) -> &'static [u8] {
        match self {
            Self::Text => b"",
            Self::Arguments => b"\xFFarguments",
            Self::Image => b"\xFFimage",
            Self::Thinking => b"\xFFthinking",
        }
    }

    /// Returns the hash of a content of this kind.
    pub(super) fn hash(self, content: impl AsRef<[u8]>) -> ContentHash {
        ContentHash(Sha256::new().chain_update(self.prefix()).chain_update(content).finalize().into())
    }

    /// Returns the cache key of a content of this kind.
    pub(super) fn blake3(self, content: &str) -> [u8; 32] {
        *blake3::Hasher::new().update(self.prefix()).update(content.as_bytes()).finalize().as_bytes()
    }
}

/// Returns the hash of a block without caching it.
pub(super) fn hash_of(block: &Block) -> ContentHash {
    let (kind, content) = kind_and_content(block);
    match &block.exact {
        Some(exact) => kind.hash(exact),
        None => kind.hash(content.as_bytes()),
    }
}

/// Returns the kind of a block's content and what is hashed of it, except for lone surrogates: its text, its image
/// payload, or its arguments or thinking as JSON.
pub(super) fn kind_and_content<'a>(block: &Block<'a>) -> (ContentKind, Cow<'a, str>) {
    match block.kind {
        BlockKind::Text(text) => (ContentKind::Text, text.into()),
        BlockKind::Image(image) => (ContentKind::Image, image.base64.unwrap_or_default().into()),
        BlockKind::Call(call) => (ContentKind::Arguments, call.arguments.to_json().into()),
        BlockKind::Thinking(part) => (ContentKind::Thinking, part.to_string().into()),
        BlockKind::Other(_) => (ContentKind::Text, "".into()),
    }
}

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
