//! What was hashed and counted once is not hashed and counted again: most of a history is the history of the call before.
//!
//! Contents are looked up by BLAKE3, which is several times as fast as the SHA-256 of references and as safe: no output of a tool
//! can be made that takes another's place.

use std::borrow::Cow;
use std::hash::Hash;
use std::sync::Arc;

use quick_cache::sync::Cache;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::heard::Heard;
use super::replacement::Replacement;
use crate::config::Encoding;
use crate::error::Result;
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
        self.of_tagged(Tag::Text, text)
    }

    /// What a content of a kind is known by, and its tokens as a text.
    pub(super) fn of_tagged(&self, tag: Tag, content: &str) -> (ContentHash, u64) {
        remembered(&self.texts, tag.blake3(content), || (tag.hash(content), count(content, self.encoding) as u64))
    }

    /// What a block is known by, and what it costs.
    pub(super) fn of_block(&self, block: &Block, meter: &Meter) -> (ContentHash, u64) {
        match block.kind {
            Kind::Text(text) => match &block.exact {
                Some(exact) => (Tag::Text.hash(exact), self.of_text(text).1),
                None => self.of_text(text),
            },
            Kind::Call(call) => self.of_tagged(Tag::Arguments, &call.arguments.to_json()),
            Kind::Image(image) => (self.of_image(image.base64.unwrap_or_default()), meter.image(&image) as u64),
            Kind::Thinking(part) => self.of_thinking(part),
            Kind::Other(part) => (hash_of(block), meter.foreign(part) as u64),
        }
    }

    /// What a row of the ledger shows, which is JSON, of a store at `place`.
    pub(super) fn of_replacement(&self, json: &str, place: impl FnOnce() -> String) -> Result<Arc<Replacement>> {
        let make = || Ok(Arc::new(Replacement::read(json, place, self)?));
        self.replacements.get_or_insert_with(&Tag::Text.blake3(json), make)
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
        remembered(&self.thinking, Tag::Thinking.blake3(&json), || {
            let tokens = thinking_texts(part).map(|text| count(text, self.encoding) as u64).sum();
            (Tag::Thinking.hash(&json), tokens)
        })
    }

    fn of_image(&self, base64: &str) -> ContentHash {
        remembered(&self.images, Tag::Image.blake3(base64), || Tag::Image.hash(base64))
    }
}

/// The kind of a content, which is a part of what it is known by: a text that reads as the arguments of a call do is
/// another block.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tag {
    Text,
    Arguments,
    Image,
    Thinking,
}

impl Tag {
    /// What is hashed before the content. No text begins so, because 0xFF is in no UTF-8; a text is known by its own
    /// hash.
    fn prefix(self) -> &'static [u8] {
        match self {
            Self::Text => b"",
            Self::Arguments => b"\xFFarguments",
            Self::Image => b"\xFFimage",
            Self::Thinking => b"\xFFthinking",
        }
    }

    /// What a content of this kind is known by.
    pub(super) fn hash(self, content: impl AsRef<[u8]>) -> ContentHash {
        ContentHash(Sha256::new().chain_update(self.prefix()).chain_update(content).finalize().into())
    }

    fn blake3(self, content: &str) -> [u8; 32] {
        *blake3::Hasher::new().update(self.prefix()).update(content.as_bytes()).finalize().as_bytes()
    }
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
    tagged(block).1
}

/// What a block is known by, without remembering it.
pub(super) fn hash_of(block: &Block) -> ContentHash {
    let (tag, content) = tagged(block);
    match &block.exact {
        Some(exact) => tag.hash(exact),
        None => tag.hash(content.as_bytes()),
    }
}

fn tagged<'a>(block: &Block<'a>) -> (Tag, Cow<'a, str>) {
    match block.kind {
        Kind::Text(text) => (Tag::Text, text.into()),
        Kind::Image(image) => (Tag::Image, image.base64.unwrap_or_default().into()),
        Kind::Call(call) => (Tag::Arguments, call.arguments.to_json().into()),
        Kind::Thinking(part) => (Tag::Thinking, part.to_string().into()),
        Kind::Other(_) => (Tag::Text, "".into()),
    }
}
