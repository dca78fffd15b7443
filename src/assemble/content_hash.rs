//! The content hash: SHA-256 over the kind of a content and its bytes.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use crate::reference::ContentHash;
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
