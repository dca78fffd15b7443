//! Determines where a fact of a text is after compression: in the output, or behind the marker, which is followed
//! through a real store.

#![allow(clippy::allow_attributes, dead_code, reason = "not every binary uses every part")]

pub(crate) mod reading;

use concertina::pipeline::{CompressOptions, Compressed, FusionEngine, restore};
use concertina::reference::{Marker, Original, find_markers};
use concertina::store::{Batch, Scope, SqliteStore, Store, StoreOptions};
use tempfile::TempDir;

/// The location of a fact after compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// It is in the output, unchanged.
    InSight,
    /// It can be restored from the output alone.
    Reformatted,
    /// It is in the fetched original, which is the input byte for byte.
    Addressable,
    Lost,
}

/// A store for originals.
pub(crate) struct Shelf {
    store: SqliteStore,
    scope: Scope,
    _dir: TempDir,
}

impl Shelf {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory for the store");
        let store = SqliteStore::open(dir.path(), StoreOptions::default()).expect("a store");
        Self { store, scope: Scope { agent_id: "main".into(), session_id: "probes".into() }, _dir: dir }
    }

    fn put(&self, originals: Vec<Original>) {
        let hashes: Vec<_> = originals.iter().map(|original| original.hash).collect();
        let ids = self.store.ref_ids(&hashes).expect("ids");
        let batch = Batch { originals: ids.into_iter().zip(originals).collect(), ..Batch::default() };
        self.store.commit(&self.scope, &batch, 0).expect("a durable put");
    }

    /// Compresses a text, stores its original, and follows its marker.
    pub(crate) fn show(&self, engine: &FusionEngine, text: &str, options: &CompressOptions) -> Shown {
        let compressed = engine.compress(text, options, &|| 0.0);
        let mut fetched = None;
        if !compressed.lossless {
            self.put(compressed.originals.clone());
            let marker = find_markers(&compressed.text).last();
            let Some((_, Marker::Rewind(id))) = marker else { panic!("a reversible text ends with its marker") };
            let (_, original) = self.store.get(&id, "main", 0).expect("a sound store").expect("the id resolves");
            assert!(original.bytes == text.as_bytes(), "the original is the text, byte for byte");
            fetched = Some(text.to_owned());
        }
        let unfolded = restore(&compressed.text, &[]);
        // A text that was folded already may be restored unfolded.
        let comes_back = || unfolded == text || unfolded == restore(text, &[]);
        assert!(!compressed.lossless || comes_back(), "a lossless text comes back from its output alone");
        Shown { compressed, unfolded, fetched }
    }
}

/// A compressed text, with its unfolded form and its fetched original.
pub(crate) struct Shown {
    pub(crate) compressed: Compressed,
    /// The output with every fold restored.
    pub(crate) unfolded: String,
    /// The original, fetched by the text's own marker.
    pub(crate) fetched: Option<String>,
}

impl Shown {
    /// Returns the location of the fact that `has` finds in a text.
    pub(crate) fn find(&self, has: impl Fn(&str) -> bool) -> Outcome {
        if has(&self.compressed.text) {
            Outcome::InSight
        } else if has(&self.unfolded) {
            Outcome::Reformatted
        } else if self.fetched.is_some() {
            Outcome::Addressable
        } else {
            Outcome::Lost
        }
    }
}

/// Returns true if a text contains these words, and not only as a part of longer ones.
pub(crate) fn has_words(text: &str, words: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let (first, last) = (words.chars().next(), words.chars().next_back());
    text.match_indices(words).any(|(at, _)| {
        let goes_on_before = is_word(first) && is_word(text[..at].chars().next_back());
        let goes_on_after = is_word(last) && is_word(text[at + words.len()..].chars().next());
        !goes_on_before && !goes_on_after
    })
}
